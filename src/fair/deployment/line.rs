//! Requests and decisions as lines of JSON: `schema/request.json` and `schema/answer.json` beside this folder say what they hold.

use super::{Decision, Deployment, Explain, MemoryError, Request, RequestError};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The answer, one line of JSON without its end.
    pub text: String,
    /// The person.
    pub id: String,
    /// The decision; `None` when the person was forgotten.
    pub decision: Option<Decision>,
}

/// A line that was not answered.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{problem}")]
pub struct LineError {
    /// The id as it was written, where it could be read.
    pub id: Option<Box<RawValue>>,
    /// What is wrong.
    pub problem: RequestError,
}

impl PartialEq for LineError {
    fn eq(&self, other: &Self) -> bool {
        let id = |error: &Self| error.id.as_ref().map(|id| id.get().to_string());
        id(self) == id(other) && self.problem == other.problem
    }
}

impl From<LineError> for RequestError {
    fn from(error: LineError) -> Self {
        error.problem
    }
}

impl LineError {
    /// The line of JSON that says so.
    pub fn to_json(&self, line: usize) -> String {
        #[derive(Serialize)]
        struct Refusal<'a> {
            line: usize,
            #[serde(skip_serializing_if = "Option::is_none")]
            id: Option<&'a RawValue>,
            error: String,
        }
        let refusal = Refusal { line, id: self.id.as_deref(), error: self.problem.to_string() };
        serde_json::to_string(&refusal).expect("numbers and strings")
    }
}

/// What to do after a line that cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// Answer the lines before it, and none after.
    Stop,
    /// Answer the others.
    GoOn,
}

impl Deployment {
    /// [`decide`](Self::decide) for one line of JSON, `{"id": …, "z": …, "state": […], "action": …, "time": …}`, or
    /// [`forget`](Self::forget) for `{"id": …, "forget": true}`, answered by another line.
    ///
    /// # Errors
    /// [`LineError`].
    #[doc(hidden)]
    pub fn answer(&mut self, line: &[u8]) -> Result<String, LineError> {
        let answered = self.stage_line(&Line::parse(line)?)?;
        self.commit().map_err(|error| LineError { id: written_id(line), problem: error.into() })?;
        Ok(answered.text)
    }

    /// The same for the first of many lines, up to the second about one person, of which all that is answered is kept at once: no answer
    /// is given before what it rests on is kept. Only a person's last request can be sent again; by the time that their next one is
    /// taken up, this one has been answered. The caller passes on the answers, then asks with the lines that are left. After
    /// [`OnError::Stop`] the last of the answers is an error, and later lines were not answered.
    ///
    /// # Errors
    /// [`MemoryError`] when nothing could be kept; then no answer may be given.
    #[doc(hidden)]
    pub fn answer_all<'a>(
        &mut self,
        lines: impl IntoIterator<Item = &'a [u8]>,
        on_error: OnError,
    ) -> Result<Vec<Result<Answered, LineError>>, MemoryError> {
        let mut answers = Vec::new();
        for text in lines {
            let line = Line::parse(text);
            if line.as_ref().is_ok_and(|line| self.staged.contains_key(line.asks.id())) {
                break;
            }
            let answer = line.and_then(|line| self.stage_line(&line));
            // A memory that cannot be read is nothing that the next line would cure.
            if let Err(LineError { problem: RequestError::Memory(error), .. }) = answer {
                self.staged.clear();
                return Err(error);
            }
            let stop = answer.is_err() && on_error == OnError::Stop;
            answers.push(answer);
            if stop {
                break;
            }
        }
        self.commit()?;
        Ok(answers)
    }

    fn stage_line(&mut self, line: &Line<'_>) -> Result<Answered, LineError> {
        let refused = |problem| LineError { id: Some(line.id.to_owned()), problem };
        match &line.asks {
            Asks::Forget { id } => {
                let forgotten = self.stage_forget(id).map_err(|error| refused(error.into()))?;
                let text = format!("{{\"id\":{},\"forgotten\":{forgotten}}}", line.id.get());
                Ok(Answered { text, id: id.clone(), decision: None })
            }
            Asks::Decide(request) => {
                let decision = self.stage(request).map_err(refused)?;
                let text = match self.explain {
                    Explain::InDecision => {
                        answer(line.id, request.time, &Decision { explanation: None, ..decision.clone() })
                    }
                    Explain::Never | Explain::InAnswer => answer(line.id, request.time, &decision),
                };
                Ok(Answered { text, id: request.id.clone(), decision: Some(decision) })
            }
        }
    }
}

/// A line that can be read; ids, levels and actions may be written as numbers.
struct Line<'a> {
    /// The id as it was written, for the answer.
    id: &'a RawValue,
    asks: Asks,
}

enum Asks {
    Decide(Request),
    Forget { id: String },
}

impl Asks {
    fn id(&self) -> &str {
        match self {
            Self::Decide(request) => &request.id,
            Self::Forget { id } => id,
        }
    }
}

impl<'a> Line<'a> {
    fn parse(text: &'a [u8]) -> Result<Self, LineError> {
        Self::read(text).map_err(|problem| LineError { id: written_id(text), problem })
    }

    fn read(text: &'a [u8]) -> Result<Self, RequestError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Written<'a> {
            #[serde(borrow)]
            id: &'a RawValue,
            #[serde(borrow)]
            z: Option<&'a RawValue>,
            state: Option<Vec<f64>>,
            #[serde(borrow)]
            action: Option<&'a RawValue>,
            time: Option<u64>,
            forget: Option<bool>,
        }
        let malformed = |problem: &dyn ToString| RequestError::Malformed(problem.to_string());
        // A list of the same values in the same order would be taken for an object.
        if text.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|first| *first == b'[') {
            return Err(malformed(
                &"a request is an object such as {\"id\": …, \"z\": …, \"state\": […]}, and this is a list",
            ));
        }
        let Written { id, z, state, action, time, forget } =
            serde_json::from_slice(text).map_err(|error| malformed(&error))?;
        let name_of_id = name(id).ok_or_else(|| RequestError::Id(id.get().into()))?;
        if forget == Some(true) {
            if z.is_some() || state.is_some() || action.is_some() || time.is_some() {
                return Err(malformed(&"a line that forgets a person holds nothing but `id` and `forget`"));
            }
            return Ok(Self { id, asks: Asks::Forget { id: name_of_id } });
        }
        let request = Request {
            id: name_of_id,
            level: z.map(name_or_text).ok_or_else(|| malformed(&"missing field `z`"))?,
            state: state.ok_or_else(|| malformed(&"missing field `state`"))?,
            action: action.filter(|action| action.get() != "null").map(name_or_text),
            time,
        };
        Ok(Self { id, asks: Asks::Decide(request) })
    }
}

/// The answer as one line of JSON, with the id as it was written, and the time if the request had one.
fn answer(id: &RawValue, time: Option<u64>, decision: &Decision) -> String {
    #[derive(Serialize)]
    struct Answer<'a> {
        id: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        time: Option<u64>,
        #[serde(flatten)]
        decision: &'a Decision,
    }
    serde_json::to_string(&Answer { id, time, decision }).expect("strings and finite numbers")
}

/// A string, or a number with its digits as they are written: 18446744073709551616 and …617 are two people.
fn name(value: &RawValue) -> Option<String> {
    let text = value.get();
    match text.as_bytes().first()? {
        b'"' => serde_json::from_str(text).ok(),
        b'-' | b'0'..=b'9' => Some(text.into()),
        _ => None,
    }
}

fn name_or_text(value: &RawValue) -> String {
    name(value).unwrap_or_else(|| value.get().into())
}

/// The id of a line that is JSON but no request.
fn written_id(text: &[u8]) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    struct Somebody {
        id: Box<RawValue>,
    }
    let is_object = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    serde_json::from_slice::<Somebody>(text).ok().filter(|_| is_object).map(|somebody| somebody.id)
}
