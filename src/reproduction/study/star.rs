//! Project STAR: the Tennessee class-size experiment, kindergarten to grade 3.

use super::{Attribute, Origin, Study};
use crate::kernel::people::{Labels, PanelBuilder, Person};
use std::collections::BTreeMap;

/// A file that is not the STAR extract.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StarError {
    /// The reader of comma-separated values refused.
    #[error("line {line}: {reason}")]
    Csv {
        /// Counted from 1.
        line: u64,
        /// What the reader said.
        reason: String,
    },
    /// A cell that cannot be what its column says.
    #[error("line {line}: {column} is `{value}`")]
    Value {
        /// Counted from 1.
        line: u64,
        /// The column.
        column: &'static str,
        /// What is there.
        value: String,
    },
}

/// A pupil in one grade.
struct Grade {
    grade: i32,
    class: String,
    scores: Option<[f64; 2]>,
}

/// A pupil over the years; attributes as first recorded.
#[derive(Default)]
struct Pupil {
    attributes: [Option<String>; 3],
    grades: Vec<Grade>,
}

const COLUMNS: [&str; 8] = ["student", "grade", "gender", "ethnicity", "free_lunch", "class_type", "read", "math"];
const SMALL: &str = "small";

impl Study {
    /// The study in the text of `star_long.csv`.
    ///
    /// State: reading and mathematics score, each in standard deviations from its mean over the grade, because scores grow from grade to
    /// grade, and whether the class was small. Action: the class type of the next grade. Reward: the mean of the two scores there. A pupil's trajectory is the longest run of successive
    /// grades with both scores; pupils without two such grades, or without an attribute, take no part. Ethnicity is Black or White; the
    /// other groups together are below one per cent. Free lunch is as first recorded.
    ///
    /// # Errors
    /// [`StarError`] with the line.
    pub fn star(text: &[u8]) -> Result<Self, StarError> {
        let pupils = read(text)?;
        let scales = scales(&pupils);
        let names = ["gender", "ethnicity", "free lunch"];
        let actions = Labels::new(["regular", "regular+aide", SMALL]);
        let mut builder = PanelBuilder::new(Labels::numbered(1), actions.clone(), 3).expect("three actions and states");
        let mut values: [Vec<String>; 3] = Default::default();
        let (mut kept, mut decisions) = ([0usize; 2], 0usize);
        for (id, pupil) in &pupils {
            let [Some(gender), Some(ethnicity), Some(lunch)] = &pupil.attributes else { continue };
            if ethnicity != "afam" && ethnicity != "cauc" {
                continue;
            }
            let run = longest_run(&pupil.grades);
            if run.len() < 2 {
                continue;
            }
            let scores = |g: &Grade| {
                let (raw, scale) = (g.scores.expect("a run has both scores"), &scales[&g.grade]);
                [0, 1].map(|j| (raw[j] - scale[j].0) / scale[j].1)
            };
            let small = |g: &Grade| f64::from(u8::from(g.class == SMALL));
            let states: Vec<f64> = run.iter().flat_map(|g| [scores(g)[0], scores(g)[1], small(g)]).collect();
            let taken: Vec<u32> =
                run[1..].iter().map(|g| actions.code(&g.class).expect("checked when read") as u32).collect();
            for pair in run.windows(2) {
                kept[0] += usize::from(pair[0].class == pair[1].class);
                kept[1] += usize::from((pair[0].class == SMALL) == (pair[1].class == SMALL));
            }
            decisions += taken.len();
            let rewards: Vec<f64> = run[1..].iter().map(|g| scores(g).iter().sum::<f64>() / 2.0).collect();
            let person = Person { id, level: 0, states: &states, actions: &taken, rewards: &rewards };
            builder.push(person).expect("finite scores, one more state than decisions, ids from a map");
            for (column, value) in values.iter_mut().zip([gender, ethnicity, lunch]) {
                column.push(value.clone());
            }
        }
        let attributes = names
            .iter()
            .zip(&values)
            .map(|(name, values)| {
                let levels = Labels::new(values.iter().cloned());
                let codes = values.iter().map(|v| levels.code(v).expect("among the levels") as u32).collect();
                Attribute { name: name.to_string(), levels, codes }
            })
            .collect();
        let share = |count: usize| 100.0 * count as f64 / decisions.max(1) as f64;
        let description = format!(
            "Project STAR, Tennessee 1985–1989 (R package AER, GPL-2). Class types were assigned at random. In the trajectories used here {:.0} % of \
             decisions kept the class type and {:.0} % stayed on the same side of small or not: a move into or out of a small class, which a policy \
             would order, is seldom seen. The study can show how far rules that read scores tell groups apart, and that the method runs on unequal \
             horizons and dropout. It cannot show that a rule would have raised scores by switching classes. Whether noise is additive, which \
             counterfactual states need, is tested below: where it is denied, take the unfairness of Ours with caution.",
            share(kept[0]),
            share(kept[1])
        );
        let states = ["reading", "mathematics", "small class"];
        Ok(Self::new("star", Origin::Public, &description, &states, attributes, builder.finish()))
    }
}

fn read(text: &[u8]) -> Result<BTreeMap<String, Pupil>, StarError> {
    let mut reader = csv::Reader::from_reader(text);
    let headers = reader.headers().map_err(|e| StarError::Csv { line: 1, reason: e.to_string() })?.clone();
    let position = |name: &'static str| {
        let missing =
            || StarError::Value { line: 1, column: name, value: headers.iter().collect::<Vec<_>>().join(",") };
        headers.iter().position(|h| h == name).ok_or_else(missing)
    };
    let mut at = [0; 8];
    for (at, name) in at.iter_mut().zip(COLUMNS) {
        *at = position(name)?;
    }
    let mut pupils: BTreeMap<String, Pupil> = BTreeMap::new();
    for row in reader.records() {
        let row = row
            .map_err(|e| StarError::Csv { line: e.position().map_or(0, csv::Position::line), reason: e.to_string() })?;
        let line = row.position().map_or(0, csv::Position::line);
        let cell = |column: usize| Some(&row[at[column]]).filter(|text| !text.is_empty() && *text != "NA");
        let wrong = |column: usize| StarError::Value { line, column: COLUMNS[column], value: row[at[column]].into() };
        let score = |column: usize| {
            cell(column)
                .map(|text| text.parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(|| wrong(column)))
                .transpose()
        };
        let id = format!("{:0>6}", cell(0).ok_or_else(|| wrong(0))?);
        let pupil = pupils.entry(id).or_default();
        for (attribute, column) in pupil.attributes.iter_mut().zip(2..) {
            if attribute.is_none() {
                *attribute = cell(column).map(Into::into);
            }
        }
        let grade = cell(1).and_then(|g| g.parse().ok()).ok_or_else(|| wrong(1))?;
        let Some(class) = cell(5) else { continue };
        if !["regular", "regular+aide", SMALL].contains(&class) {
            return Err(wrong(5));
        }
        let scores = score(6)?.zip(score(7)?).map(|(read, math)| [read, math]);
        pupil.grades.push(Grade { grade, class: class.into(), scores });
    }
    for pupil in pupils.values_mut() {
        pupil.grades.sort_by_key(|g| g.grade);
    }
    Ok(pupils)
}

/// Mean and standard deviation of the two scores in each grade, over all who have both.
fn scales(pupils: &BTreeMap<String, Pupil>) -> BTreeMap<i32, [(f64, f64); 2]> {
    let mut scores: BTreeMap<i32, Vec<[f64; 2]>> = BTreeMap::new();
    for grade in pupils.values().flat_map(|pupil| &pupil.grades) {
        scores.entry(grade.grade).or_default().extend(grade.scores);
    }
    let moments = |scores: &[[f64; 2]], j: usize| {
        let n = scores.len().max(1) as f64;
        let mean = scores.iter().map(|s| s[j]).sum::<f64>() / n;
        let variance = scores.iter().map(|s| (s[j] - mean).powi(2)).sum::<f64>() / n;
        (mean, if variance > 0.0 { variance.sqrt() } else { 1.0 })
    };
    scores.into_iter().map(|(grade, scores)| (grade, [0, 1].map(|j| moments(&scores, j)))).collect()
}

/// The longest run of successive grades with both scores; the first of equals.
fn longest_run(grades: &[Grade]) -> &[Grade] {
    let (mut best, mut start) = (&grades[..0], 0);
    for end in 0..grades.len() {
        let follows = end > start && grades[end].grade == grades[end - 1].grade + 1;
        if !follows {
            start = end;
        }
        if grades[end].scores.is_none() {
            start = end + 1;
        } else if end + 1 - start > best.len() {
            best = &grades[start..=end];
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three pupils in two grades, one of them in a third: scores and rewards by hand.
    #[test]
    fn scores_are_in_standard_deviations_of_the_grade_and_the_reward_is_that_of_the_next() {
        let text = "student,grade,gender,ethnicity,free_lunch,class_type,read,math\n\
                    1,0,male,cauc,free,small,400,500\n1,1,male,cauc,free,regular,530,520\n1,2,male,cauc,free,small,600,600\n\
                    2,0,female,afam,free,regular,430,560\n2,1,female,afam,free,regular,560,560\n\
                    3,0,male,cauc,non-free,small,460,500\n3,1,male,cauc,non-free,regular+aide,500,600\n";
        let study = Study::star(text.as_bytes()).expect("a sound file");
        let panel = study.panel("gender").expect("an attribute");
        let near = |found: &[f64], expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-12), "{found:?}, not {expected:?}");
        };
        // Kindergarten: reading 430 ± √600, mathematics 520 ± √800; grade 1: 530 ± √600 and 560 ± √(3200/3); of grade 2 one pupil.
        let (a, b, c) = (30.0 / 600f64.sqrt(), 20.0 / 800f64.sqrt(), 40.0 / (3200.0f64 / 3.0).sqrt());
        let [one, two, three] = [0, 1, 2].map(|i| panel.person(i));
        near(one.states, &[-a, -b, 1.0, 0.0, -c, 0.0, 0.0, 0.0, 1.0]);
        near(one.rewards, &[-c / 2.0, 0.0]);
        near(two.states, &[0.0, 2.0 * b, 0.0, a, 0.0, 0.0]);
        near(two.rewards, &[a / 2.0]);
        near(three.rewards, &[(c - a) / 2.0]);
        let taken = |person: &Person<'_>| -> Vec<String> {
            person.actions.iter().map(|&a| study.action_names().name(a as usize).to_string()).collect()
        };
        assert_eq!(taken(&one), ["regular", "small"]);
        assert_eq!(taken(&three), ["regular+aide"]);
    }
}
