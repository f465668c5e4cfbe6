//! What can go wrong with a program.

/// Why a program's answers cannot be used. What it wrote on standard error was passed on as it came.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// No program is named.
    #[error("the command names no program")]
    Empty,
    /// It cannot be started.
    #[error("{program:?} cannot be started: {problem}")]
    NotStarted {
        /// Its name.
        program: String,
        /// What the system says.
        problem: String,
    },
    /// It ended while an answer was awaited.
    #[error("the policy's program ended before it answered ({status})")]
    Ended {
        /// How it ended.
        status: String,
    },
    /// It took too long; it was killed.
    #[error("the policy's program took more than {seconds} seconds {waiting}")]
    Slow {
        /// How long it had.
        seconds: f64,
        /// For what.
        waiting: &'static str,
    },
    /// A line that does not end.
    #[error("the policy's program wrote a line of more than {bytes} bytes")]
    TooLong {
        /// The most there may be.
        bytes: usize,
    },
    /// Not the line of JSON that was expected.
    #[error(
        "the policy's program wrote {line:?} where {expected} was expected: {problem}; remarks belong on its standard error"
    )]
    Rubbish {
        /// What it wrote, or the beginning of it.
        line: String,
        /// What should have come.
        expected: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// It speaks another version of the conversation.
    #[error("the policy's program speaks version {found} of the conversation, this build {}", super::PROGRAM_VERSION)]
    Version {
        /// Its version.
        found: u32,
    },
    /// The answer to another batch.
    #[error("the policy's program answered batch {found} when it was asked about batch {asked}")]
    Batch {
        /// The batch asked about.
        asked: u64,
        /// The batch answered.
        found: u64,
    },
    /// Not one answer for each view.
    #[error("batch {batch}: {found} answers of the policy's program to {asked} views")]
    Count {
        /// The batch.
        batch: u64,
        /// Views.
        asked: usize,
        /// Answers.
        found: usize,
    },
    /// An action that does not exist.
    #[error("batch {batch}, answer {row}: action {action} of the policy's program is none of {known:?}")]
    Action {
        /// The batch.
        batch: u64,
        /// The answer, from 1.
        row: usize,
        /// As it was written.
        action: String,
        /// The actions there are.
        known: Vec<String>,
    },
    /// Not one number ≥ 0 for each action, with sum one.
    #[error("batch {batch}, answer {row}: {probabilities:?} of the policy's program are no probabilities: {problem}")]
    Probabilities {
        /// The batch.
        batch: u64,
        /// The answer, from 1.
        row: usize,
        /// As they were written.
        probabilities: Vec<f64>,
        /// What is wrong.
        problem: String,
    },
    /// Two answers about one view.
    #[error(
        "asked twice about {view:?}, the policy's program answered {first:?} and then {second:?} (probabilities of the actions): an answer may \
         depend on the view alone; chance is for `probabilities`"
    )]
    Fickle {
        /// The view.
        view: Vec<f64>,
        /// The first answer.
        first: Vec<f64>,
        /// The second.
        second: Vec<f64>,
    },
    /// A view that cannot be written.
    #[error("a counterfactual state is {value}: it cannot be shown to the policy's program")]
    View {
        /// The number.
        value: f64,
    },
    /// A policy that is a program was to be saved.
    #[error(
        "a policy that is a program cannot be saved as a policy file: save its preprocessing, and keep the program"
    )]
    NotSaved,
}
