//! A policy that is a program: any offline learner, in any language.
//!
//! counterfair starts the program, tells it what it will read, and then asks in batches: views in, actions or probabilities out, one line of
//! JSON each. `schema/program.json` beside this folder has every line. A program that reads the fair view is told nothing but the states of
//! all worlds, so it is fair by construction, whatever it does with them.
//!
//! | idea | file |
//! |---|---|
//! | how it is started | [`ProgramCommand`] |
//! | the conversation, and what can go wrong in it | [`Program`], [`ProgramError`] |
//! | the process and its pipes | `child` |
//! | the lines | `lines` |

mod child;
mod command;
mod error;
mod lines;

pub use command::{ProgramCommand, UnclosedQuote};
pub use error::ProgramError;

use super::Method;
use crate::kernel::learn::Policy;
use crate::kernel::people::Labels;
use crate::kernel::preprocess::View;
use child::{Child, Heard};
use lines::{Answers, Asked, Hello};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The version of the conversation that this build speaks.
pub const PROGRAM_VERSION: u32 = 1;

/// Views asked about in one line: enough for a net to be quick, few enough for a line of a few megabytes.
const BATCH: usize = 4096;

/// Views of the first batch that are asked about a second time, in another order and company.
const ASKED_AGAIN: usize = 16;

/// How far two answers about one view may be apart: single precision with another order of summation.
const SAME_PROBABILITY: f64 = 1e-5;

/// A program that decides, running. Clones share it; when the last is dropped its input is closed, and if it does not end by itself it is
/// killed.
///
/// Its answer about a view must depend on that view alone: not on the order of questions, nor on chance. Someone who wants chance answers with
/// probabilities. Some views are asked about twice, and a program whose answers differ is refused.
#[derive(Clone)]
pub struct Program {
    shared: Arc<Shared>,
}

struct Shared {
    command: ProgramCommand,
    actions: Labels,
    width: usize,
    answers: Answers,
    state: Mutex<State>,
}

struct State {
    child: Option<Child>,
    batch: u64,
    failure: Option<ProgramError>,
}

impl Program {
    /// Starts a program and waits until it says that it is ready.
    ///
    /// # Errors
    /// [`ProgramError`].
    pub(super) fn start(
        command: &ProgramCommand,
        reads: Method,
        levels: &Labels,
        actions: &Labels,
        state_dim: usize,
    ) -> Result<Self, ProgramError> {
        let width = reads.width(levels.len(), state_dim);
        let mut child = Child::start(command)?;
        let hello = Hello::new(reads, levels, actions, state_dim, width);
        let ready = exchange(&mut child, command.timeout, lines::line(&hello), "to say that it is ready")?;
        let answers = lines::read_ready(&ready)?;
        let state = Mutex::new(State { child: Some(child), batch: 0, failure: None });
        let shared = Shared { command: command.clone(), actions: actions.clone(), width, answers, state };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// How it was started.
    pub fn command(&self) -> &ProgramCommand {
        &self.shared.command
    }

    /// How many numbers a view has.
    pub(super) fn width(&self) -> usize {
        self.shared.width
    }

    /// How many actions it chooses from.
    pub(super) fn actions(&self) -> usize {
        self.shared.actions.len()
    }

    /// What went wrong, if anything did. An [`Agent`](crate::kernel::learn::Agent) cannot fail in the middle of its work; whoever had one at work
    /// asks here before using what came out.
    pub fn failure(&self) -> Option<ProgramError> {
        self.locked().failure.clone()
    }

    /// π(a | s̃ᵢ) for a block of rows, |A| numbers a row.
    ///
    /// # Errors
    /// [`ProgramError`]; the program is ended then, and asking again gives the same error.
    pub fn probabilities(&self, views: &[f64]) -> Result<Vec<f64>, ProgramError> {
        let mut probabilities = Vec::with_capacity(views.len() / self.shared.width * self.actions());
        for block in views.chunks(BATCH * self.shared.width) {
            let mut state = self.locked();
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            match self.ask(&mut state, block) {
                Ok(answers) => probabilities.extend(answers),
                Err(failure) => {
                    state.failure = Some(failure.clone());
                    state.child = None;
                    return Err(failure);
                }
            }
        }
        Ok(probabilities)
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, State> {
        // A thread that panicked in the middle left a conversation that the numbers of batches tell apart.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One batch, and after the first some of it again.
    fn ask(&self, state: &mut State, views: &[f64]) -> Result<Vec<f64>, ProgramError> {
        let (width, actions) = (self.shared.width, self.actions());
        let answers = self.ask_once(state, views)?;
        if state.batch == 1 {
            let some: Vec<&[f64]> = views.chunks_exact(width).take(ASKED_AGAIN).rev().collect();
            let again = self.ask_once(state, &some.concat())?;
            let before = answers.chunks_exact(actions).take(ASKED_AGAIN).rev();
            for ((view, one), two) in some.iter().zip(before).zip(again.chunks_exact(actions)) {
                if one.iter().zip(two).any(|(p, q)| (p - q).abs() > SAME_PROBABILITY) {
                    return Err(ProgramError::Fickle {
                        view: view.to_vec(),
                        first: one.to_vec(),
                        second: two.to_vec(),
                    });
                }
            }
        }
        Ok(answers)
    }

    fn ask_once(&self, state: &mut State, views: &[f64]) -> Result<Vec<f64>, ProgramError> {
        if let Some(value) = views.iter().find(|x| !x.is_finite()) {
            return Err(ProgramError::View { value: *value });
        }
        state.batch += 1;
        let rows: Vec<&[f64]> = views.chunks_exact(self.shared.width).collect();
        let asked = Asked { batch: state.batch, views: rows };
        let child = state.child.as_mut().ok_or(ProgramError::Ended { status: String::new() })?;
        let answer = exchange(child, self.shared.command.timeout, lines::line(&asked), "to answer")?;
        lines::read_answer(&answer, state.batch, asked.views.len(), self.shared.answers, &self.shared.actions)
    }
}

/// One line out, one line in.
fn exchange(
    child: &mut Child,
    timeout: Duration,
    line: Vec<u8>,
    waiting: &'static str,
) -> Result<Vec<u8>, ProgramError> {
    child.send(line);
    match child.hear(timeout) {
        Heard::Line(line) => Ok(line),
        Heard::TooLong => Err(ProgramError::TooLong { bytes: child::LONGEST_LINE }),
        Heard::Nothing => Err(ProgramError::Slow { seconds: timeout.as_secs_f64(), waiting }),
        Heard::End => Err(ProgramError::Ended { status: child.status() }),
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Program").field(&self.shared.command.words).finish()
    }
}

/// Two programs are the same when they were started alike, to choose from the same actions.
impl PartialEq for Program {
    fn eq(&self, other: &Self) -> bool {
        let Shared { command, actions, width, .. } = &*other.shared;
        (&self.shared.command, &self.shared.actions, &self.shared.width) == (command, actions, width)
    }
}

/// Where the program fails, every view gets the first action, and [`Program::failure`] tells.
impl<V: View> Policy<V> for Program {
    fn actions(&self) -> usize {
        self.shared.actions.len()
    }

    fn inputs(&self) -> Option<usize> {
        Some(self.shared.width)
    }

    fn probabilities(&self, rows: &[f64], _width: usize, out: &mut [f64]) {
        match Program::probabilities(self, rows) {
            Ok(probabilities) => out.copy_from_slice(&probabilities),
            Err(_) => out.chunks_exact_mut(self.actions()).for_each(|row| {
                row.fill(0.0);
                row[0] = 1.0;
            }),
        }
    }

    fn is_deterministic(&self) -> bool {
        self.shared.answers == Answers::Actions
    }
}
