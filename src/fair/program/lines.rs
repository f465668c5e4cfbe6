//! The lines of the conversation: `schema/program.json` says what they hold.

use super::{Method, PROGRAM_VERSION, ProgramError};
use crate::kernel::people::Labels;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How far probabilities may be from sum one: single precision over many actions. They are divided by their sum.
const SUM_TOLERANCE: f64 = 1e-5;

/// Characters of a wrong line that are shown.
const SHOWN: usize = 120;

/// The first line to a program.
#[derive(Serialize)]
pub struct Hello<'a> {
    format: &'static str,
    version: u32,
    reads: Method,
    levels: &'a Labels,
    actions: &'a Labels,
    state_dim: usize,
    width: usize,
}

impl<'a> Hello<'a> {
    pub fn new(reads: Method, levels: &'a Labels, actions: &'a Labels, state_dim: usize, width: usize) -> Self {
        Self { format: "counterfair program", version: PROGRAM_VERSION, reads, levels, actions, state_dim, width }
    }
}

/// A batch of views.
#[derive(Serialize)]
pub struct Asked<'a> {
    pub batch: u64,
    pub views: Vec<&'a [f64]>,
}

/// What a program answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answers {
    Actions,
    Probabilities,
}

/// A line with its end.
pub fn line(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("names and finite numbers");
    line.push(b'\n');
    line
}

fn rubbish(line: &[u8], expected: &'static str, problem: impl ToString) -> ProgramError {
    let text = String::from_utf8_lossy(line);
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    ProgramError::Rubbish { line: shown, expected, problem: problem.to_string() }
}

/// The program's first line.
pub fn read_ready(line: &[u8]) -> Result<Answers, ProgramError> {
    #[derive(Deserialize)]
    struct Spoken {
        version: u32,
    }
    #[derive(Deserialize)]
    struct Ready {
        answers: Answers,
    }
    let expected = r#"{"version": 1, "answers": "actions" or "probabilities"}"#;
    let wrong = |error: serde_json::Error| rubbish(line, expected, error);
    let Spoken { version } = serde_json::from_slice(line).map_err(wrong)?;
    if version != PROGRAM_VERSION {
        return Err(ProgramError::Version { found: version });
    }
    let Ready { answers } = serde_json::from_slice(line).map_err(wrong)?;
    Ok(answers)
}

/// The answer to a batch of `asked` views, as |A| probabilities a view.
pub fn read_answer(
    line: &[u8],
    batch: u64,
    asked: usize,
    answers: Answers,
    known: &Labels,
) -> Result<Vec<f64>, ProgramError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Answer<'a> {
        batch: u64,
        #[serde(borrow)]
        actions: Option<Vec<&'a RawValue>>,
        probabilities: Option<Vec<Vec<f64>>>,
    }
    let expected = match answers {
        Answers::Actions => r#"{"batch": …, "actions": […]}"#,
        Answers::Probabilities => r#"{"batch": …, "probabilities": [[…], …]}"#,
    };
    let answer: Answer<'_> = serde_json::from_slice(line).map_err(|error| rubbish(line, expected, error))?;
    if answer.batch != batch {
        return Err(ProgramError::Batch { asked: batch, found: answer.batch });
    }
    let count = |found: usize| match found == asked {
        true => Ok(()),
        false => Err(ProgramError::Count { batch, asked, found }),
    };
    let mut out = vec![0.0; asked * known.len()];
    let rows = out.chunks_exact_mut(known.len()).enumerate();
    match (answers, answer.actions, answer.probabilities) {
        (Answers::Actions, Some(actions), None) => {
            count(actions.len())?;
            for ((row, out), action) in rows.zip(actions) {
                let action = code(action, known).ok_or_else(|| ProgramError::Action {
                    batch,
                    row: row + 1,
                    action: action.get().into(),
                    known: known.names().to_vec(),
                })?;
                out[action] = 1.0;
            }
        }
        (Answers::Probabilities, None, Some(probabilities)) => {
            count(probabilities.len())?;
            for ((row, out), probabilities) in rows.zip(probabilities) {
                distribution(&probabilities, out).map_err(|problem| ProgramError::Probabilities {
                    batch,
                    row: row + 1,
                    probabilities,
                    problem,
                })?;
            }
        }
        _ => return Err(rubbish(line, expected, "not what the program said it answers with")),
    }
    Ok(out)
}

/// The code of an action that is written as a string, or as a number, which is found by its value.
fn code(written: &RawValue, known: &Labels) -> Option<usize> {
    let text = written.get();
    match text.as_bytes().first()? {
        b'"' => known.code(&serde_json::from_str::<String>(text).ok()?),
        _ => known.code(text),
    }
}

fn distribution(written: &[f64], out: &mut [f64]) -> Result<(), String> {
    if written.len() != out.len() {
        return Err(format!("{} numbers for {} actions", written.len(), out.len()));
    }
    if let Some(p) = written.iter().find(|p| !(0.0..=1.0 + SUM_TOLERANCE).contains(*p)) {
        return Err(format!("{p} is not between 0 and 1"));
    }
    let sum: f64 = written.iter().sum();
    if (sum - 1.0).abs() > SUM_TOLERANCE {
        return Err(format!("they sum to {sum}"));
    }
    out.iter_mut().zip(written).for_each(|(out, p)| *out = p / sum);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(line: &str, answers: Answers) -> Result<Vec<f64>, ProgramError> {
        read_answer(line.as_bytes(), 3, 2, answers, &Labels::new(["0", "1", "wait"]))
    }

    #[test]
    fn actions_are_names_or_numbers_that_spell_them() {
        let given = answered(r#"{"batch": 3, "actions": ["wait", 1.0]}"#, Answers::Actions);
        assert_eq!(given, Ok(vec![0.0, 0.0, 1.0, 0.0, 1.0, 0.0]));
        for wrong in ["2", "1.5", "\"Wait\"", "null", "[1]", "true"] {
            let line = format!(r#"{{"batch": 3, "actions": [0, {wrong}]}}"#);
            let error = answered(&line, Answers::Actions).unwrap_err();
            let is = matches!(&error, ProgramError::Action { row: 2, action, .. } if action == wrong);
            assert!(is && error.to_string().contains("wait"), "{error}");
        }
    }

    #[test]
    fn probabilities_are_divided_by_their_sum_and_must_nearly_have_sum_one() {
        let given = answered(
            r#"{"batch": 3, "probabilities": [[0.25, 0, 0.75], [0.2, 0.3, 0.500001]]}"#,
            Answers::Probabilities,
        );
        let (given, sum) = (given.unwrap(), 0.2 + 0.3 + 0.500001);
        assert_eq!(given, [0.25, 0.0, 0.75, 0.2 / sum, 0.3 / sum, 0.500001 / sum]);
        for (wrong, problem) in [
            ("[0.5, 0.5]", "2 numbers for 3 actions"),
            ("[0.5, 0.6, -0.1]", "-0.1 is not between 0 and 1"),
            ("[0.5, 0.2, 0.2]", "they sum to 0.8999"),
            ("[0, 0, 0]", "they sum to 0"),
            ("[1.1, 0, 0]", "1.1 is not"),
        ] {
            let line = format!(r#"{{"batch": 3, "probabilities": [[1, 0, 0], {wrong}]}}"#);
            let error = answered(&line, Answers::Probabilities).unwrap_err().to_string();
            assert!(error.contains(problem) && error.contains("batch 3, answer 2"), "{error}");
        }
    }

    #[test]
    fn an_answer_fits_its_question() {
        let wrong = |line: &str| answered(line, Answers::Actions).unwrap_err();
        assert_eq!(wrong(r#"{"batch": 2, "actions": [0, 1]}"#), ProgramError::Batch { asked: 3, found: 2 });
        for (actions, found) in [("[0]", 1), ("[0, 1, 0]", 3), ("[]", 0)] {
            let line = format!(r#"{{"batch": 3, "actions": {actions}}}"#);
            assert_eq!(wrong(&line), ProgramError::Count { batch: 3, asked: 2, found });
        }
        for line in [
            "",
            "hello",
            "{}",
            r#"{"batch": 3}"#,
            r#"{"batch": 3, "probabilities": [[1, 0, 0], [1, 0, 0]]}"#,
            r#"{"batch": 3, "actions": [0, 1], "probabilities": [[1, 0, 0], [1, 0, 0]]}"#,
            r#"{"batch": 3, "actions": [0, 1], "more": 1}"#,
            r#"{"batch": 3, "actions": [0, NaN]}"#,
        ] {
            assert!(matches!(wrong(line), ProgramError::Rubbish { .. }), "{line}");
        }
        let long = format!("{{\"batch\": {}", "x".repeat(5000));
        assert!(wrong(&long).to_string().len() < 500);
    }

    #[test]
    fn being_ready_has_a_version() {
        assert_eq!(read_ready(br#"{"version": 1, "answers": "actions"}"#), Ok(Answers::Actions));
        assert_eq!(
            read_ready(br#"{"version": 1, "answers": "probabilities", "name": "x"}"#),
            Ok(Answers::Probabilities)
        );
        assert_eq!(read_ready(br#"{"version": 2}"#), Err(ProgramError::Version { found: 2 }));
        for wrong in ["ready", "{}", r#"{"version": 1}"#, r#"{"version": 1, "answers": "votes"}"#] {
            assert!(matches!(read_ready(wrong.as_bytes()), Err(ProgramError::Rubbish { .. })), "{wrong}");
        }
    }
}
