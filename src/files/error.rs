//! What can be wrong with a file of panel data, and where.

use super::WriteError;
use super::columns::ColumnProblems;
use crate::kernel::people::PanelError;
use std::fmt;
use std::io;

/// A cell of a file: printed as `panel.csv, line 7, column reward`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as the caller named it.
    pub file: String,
    /// The line or row.
    pub line: Line,
    /// The column, by its name in the header.
    pub column: String,
}

/// Where a row stands in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// The physical line of a text file on which the row begins, the header being line 1; line breaks within quotes count.
    Text(u64),
    /// The row of a Parquet file, counted from 1.
    Row(u64),
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Text(line) => write!(f, "line {line}"),
            Line::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}, column {}", self.file, self.line, self.column)
    }
}

/// Why a file is not a panel, or a panel cannot become a file. Long values are cut; ids, and text that may be one in the wrong column, are not in
/// the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// There is no file of that name.
    #[error("{file}: no such file")]
    NoSuchFile {
        /// The file.
        file: String,
    },
    /// The system refused to read the file.
    #[error("{file}: cannot be read: {source}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A Parquet file, in a build without Parquet.
    #[error("{file}: this build reads CSV only; rebuild with --features parquet")]
    CsvOnly {
        /// The file.
        file: String,
    },
    /// The file is not valid Parquet, or holds a type that has no meaning in a panel.
    #[error("{file}: {reason}")]
    Parquet {
        /// The file.
        file: String,
        /// What the Parquet library said.
        reason: String,
    },
    /// A file that is no text, or text in another encoding.
    #[error("{file}: this is {what}, not CSV; {advice}")]
    OtherFormat {
        /// The file.
        file: String,
        /// What it is.
        what: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// Not even a header.
    #[error("{file}: the file is empty")]
    Empty {
        /// The file.
        file: String,
    },
    /// A header and nothing else.
    #[error("{file}: there is a header but no row")]
    NoRows {
        /// The file.
        file: String,
    },
    /// Not one of the people who were to be a sample fits in the memory allowed.
    #[error(
        "{file}: there is memory for {rows} rows, and no sample of whole people is that small; allow more with --ram"
    )]
    NobodyFits {
        /// The file.
        file: String,
        /// Rows that there is memory for.
        rows: usize,
    },
    /// Every person was dropped by the repair that was asked for.
    #[error("{file}: nothing is left of {people} people: the first row of each has a missing cell")]
    NothingLeft {
        /// The file.
        file: String,
        /// How many people there were.
        people: usize,
    },
    /// No row has an action, so that the set of actions is unknown.
    #[error("{file}: column {column} is blank on every row that counts, so there is no decision to learn from")]
    NoDecisions {
        /// The file.
        file: String,
        /// The action column.
        column: String,
    },
    /// Columns that are not there, or there twice.
    #[error("{file}, line 1: {problems}")]
    Columns {
        /// The file.
        file: String,
        /// What is wrong with which.
        problems: Box<ColumnProblems>,
    },
    /// A column that would be written twice.
    #[error("{file}: the header would have column {column} twice")]
    RepeatedColumn {
        /// The file to be written.
        file: String,
        /// The repeated name.
        column: String,
    },
    /// A column named twice for one purpose, or for two that exclude each other.
    #[error("column {column} was named twice, as {first} and as {second}")]
    NamedTwice {
        /// The column.
        column: String,
        /// What it was named for.
        first: &'static str,
        /// And what else.
        second: &'static str,
    },
    /// The last row of the file has fewer cells than the header, or a quote that does not end.
    #[error("{file}, {line}: the file ends in the middle of this row ({cells} of {columns} cells): is it whole?")]
    EndsEarly {
        /// The file.
        file: String,
        /// The row.
        line: Line,
        /// Cells on the row.
        cells: usize,
        /// Cells of the header.
        columns: usize,
    },
    /// cells on the row ≠ cells of the header.
    #[error("{file}, {line}: {cells} cells, but the header has {columns}")]
    Ragged {
        /// The file.
        file: String,
        /// The row.
        line: Line,
        /// Cells on the row.
        cells: usize,
        /// Cells of the header.
        columns: usize,
    },
    /// A row without an end, in a file that does not fit in memory.
    #[error("{file}, {line}: no row ends within {bytes} bytes; is there a quote that never closes, or no line end?")]
    EndlessRow {
        /// The file.
        file: String,
        /// The row.
        line: Line,
        /// How far its end was looked for.
        bytes: usize,
    },
    /// Bytes that are not text.
    #[error(
        "{at}: the cell is not valid UTF-8; a file from Windows or an older program is often --encoding windows-1252"
    )]
    NotText {
        /// The cell.
        at: Box<Place>,
    },
    /// A blank cell (empty, `NA` or `NaN`) where a value is needed.
    #[error("{at}: the cell is missing (found {value:?})")]
    MissingCell {
        /// The cell.
        at: Box<Place>,
        /// How the blank is spelled.
        value: String,
    },
    /// Text where a number is needed.
    #[error("{at}: {} is not a number{advice}", told(value))]
    NotANumber {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
        /// What to do about it, where that can be guessed.
        advice: &'static str,
    },
    /// Text where a time is needed.
    #[error("{at}: {} is neither a number nor a date such as 2026-11-18 or 2026-11-18T09:30 (year first)", told(value))]
    NotATime {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
    },
    /// A date among numbers, or a number among dates.
    #[error("{at}: {value:?} is a {kind}, unlike the times before it")]
    MixedTimes {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
        /// `number` or `date`.
        kind: &'static str,
    },
    /// Decimal commas and decimal points in one file.
    #[error(
        "{at}: {value:?}, but {first} has {other:?}: is the comma or the point decimal? Say --decimal comma or --decimal point"
    )]
    MixedDecimals {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
        /// An earlier row.
        first: Line,
        /// What it holds.
        other: String,
    },
    /// |x| > [`LARGEST`](super::LARGEST).
    #[error("{at}: {value:?} is too large to compute with (beyond {limit:e}): is it a code for something missing?")]
    TooLarge {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
        /// The largest number allowed.
        limit: f64,
    },
    /// |x| = ∞, written out or by overflow.
    #[error("{at}: {value:?} is not a finite number")]
    NotFinite {
        /// The cell.
        at: Box<Place>,
        /// What it holds.
        value: String,
    },
    /// Two rows of one person at one time.
    #[error("{at}: the person of this row already has time {value}, on {first}")]
    DuplicateTime {
        /// The time cell of the later row.
        at: Box<Place>,
        /// The person.
        id: String,
        /// The time.
        value: String,
        /// The earlier row.
        first: Line,
    },
    /// Two rows of one person within one step of the length asked for.
    #[error(
        "{at}: the person of this row has time {value} here and {other} on {first}: within one step of {step}. A shorter --step keeps them apart; where \
         it does not matter how far visits are apart, number each person's visits 1, 2, … in a column of their own"
    )]
    SameStep {
        /// The time cell of the later row.
        at: Box<Place>,
        /// The person.
        id: String,
        /// Its time.
        value: String,
        /// The time of the earlier row.
        other: String,
        /// The earlier row.
        first: Line,
        /// The step.
        step: Box<str>,
    },
    /// A step in a unit that the times of the file do not have.
    #[error("{file}: --step {step}, but the times are {times}; {advice}")]
    StepUnit {
        /// The file.
        file: String,
        /// The step asked for.
        step: Box<str>,
        /// `numbers` or `dates`.
        times: &'static str,
        /// What to say instead.
        advice: &'static str,
    },
    /// tₖ₊₁ − tₖ is not the step of the file.
    #[error(
        "{at}: the person of this row jumps from time {previous} ({before}) to {value}; times go up in steps of {step}. --missing drop-tail ends \
         people at a gap; --step says how far visits are apart when they are not exactly regular"
    )]
    TimeGap {
        /// The time cell after the gap.
        at: Box<Place>,
        /// The person.
        id: String,
        /// The time after the gap.
        value: String,
        /// The time before the gap.
        previous: String,
        /// The row before the gap.
        before: Line,
        /// The common step, and the typical one where that is another.
        step: Box<str>,
    },
    /// One person at two levels.
    #[error(
        "{at}: the person of this row is in group {value:?} here and in {other:?} on {first}. A person has one group: make a column that holds each \
         person's first, say, and name it with --z"
    )]
    LevelChanges {
        /// The level cell of the later time.
        at: Box<Place>,
        /// The person.
        id: String,
        /// The level there.
        value: String,
        /// The level at the person's first time.
        other: String,
        /// The row of the person's first time.
        first: Line,
    },
    /// A level that the expected labels lack.
    #[error("{at}: {value:?} is not a known group; known are {known}")]
    UnknownLevel {
        /// The cell.
        at: Box<Place>,
        /// The level found.
        value: String,
        /// The levels expected.
        known: String,
    },
    /// An action that the expected labels lack.
    #[error("{at}: {value:?} is not a known action; known are {known}")]
    UnknownAction {
        /// The cell.
        at: Box<Place>,
        /// The action found.
        value: String,
        /// The actions expected.
        known: String,
    },
    /// More distinct names than [`MAX_LABELS`](super::MAX_LABELS).
    #[error(
        "{at}: {value:?} is distinct value number {count} of a column of names, more than {limit}: is the column continuous?"
    )]
    TooManyLabels {
        /// The cell.
        at: Box<Place>,
        /// The name that is one too many.
        value: String,
        /// Its number.
        count: usize,
        /// The most that is allowed.
        limit: usize,
    },
    /// With several attributes, `a×b`, `c` and `a`, `b×c` would get one name.
    #[error("{at}: {value:?} contains ×, which separates the attributes of a combined group")]
    SeparatorInLevel {
        /// The cell.
        at: Box<Place>,
        /// The attribute found.
        value: String,
    },
    /// An action whose reward cell is blank.
    #[error("{at}: the reward is missing beside action {value:?}")]
    ActionWithoutReward {
        /// The reward cell.
        at: Box<Place>,
        /// The action.
        value: String,
    },
    /// A reward whose action cell is blank.
    #[error("{at}: the action is missing beside reward {value}")]
    RewardWithoutAction {
        /// The action cell.
        at: Box<Place>,
        /// The reward.
        value: f64,
    },
    /// Incoming rows: nothing led to a person's first state.
    #[error(
        "{at}: {value:?} on the first row of a person; with incoming rows nothing leads to the first state (where a row holds what followed its state: --rows outgoing)"
    )]
    DecisionOnFirstRow {
        /// The action or reward cell.
        at: Box<Place>,
        /// The person.
        id: String,
        /// What the cell holds.
        value: String,
    },
    /// First rows that fit neither convention of rows.
    #[error(
        "{file}, {line}: {}; with --rows incoming (a row holds what led to its state) none has, with --rows outgoing (a row holds what followed its \
         state) all have: say which it is",
        first_rows(*filled, *blank)
    )]
    UnclearRows {
        /// The file.
        file: String,
        /// A first row of the rarer kind.
        line: Line,
        /// First rows with an action or a reward.
        filled: usize,
        /// First rows with neither.
        blank: usize,
    },
    /// Outgoing rows: only a person's last row may be a state without a decision.
    #[error(
        "{at}: the cell is blank, but the person of this row goes on at time {next}; with outgoing rows only the last may be blank"
    )]
    BlankBeforeEnd {
        /// The action cell.
        at: Box<Place>,
        /// The person.
        id: String,
        /// The time of the person's next row.
        next: String,
    },
    /// What was read does not form a panel.
    #[error("{file}: {source}")]
    Panel {
        /// The file.
        file: String,
        /// Why not.
        source: PanelError,
    },
    /// The file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Incoming rows cannot hold a last decision whose next state is unknown.
    #[error(
        "{file}: the state after the last decision of a person is unknown, so it has no incoming row; write outgoing rows"
    )]
    NoFinalState {
        /// The file to be written.
        file: String,
        /// The person.
        id: String,
    },
    /// A name that would read back as another: blank, padded with spaces, or without one part per attribute column.
    #[error("{file}, column {column}: {value:?} would not read back as written")]
    Unwritable {
        /// The file to be written.
        file: String,
        /// The column.
        column: String,
        /// The name.
        value: String,
    },
    /// The arrays do not fit the panel, or the columns do not fit its states.
    #[error("{file}: {found} {what} do not fit a panel that needs {expected}")]
    OutputShape {
        /// The file to be written.
        file: String,
        /// What does not fit.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A number to be written is infinite or not a number.
    #[error("{file}, column {column}: {value}, in the row of a person, is not a finite number")]
    NotFiniteOutput {
        /// The file to be written.
        file: String,
        /// The column.
        column: String,
        /// The person.
        id: String,
        /// The number.
        value: f64,
    },
    /// A column that must be kept has the name of a counterfactual state.
    #[error("{file}: column {column} is kept from the input, and a counterfactual state needs the same name")]
    ColumnTaken {
        /// The file to be written.
        file: String,
        /// The name.
        column: String,
    },
}

/// What is odd about the first row of a person that is unlike most.
fn first_rows(filled: usize, blank: usize) -> String {
    let all = filled + blank;
    if filled <= blank {
        format!("an action or a reward on the first row of a person, as on {filled} of {all}")
    } else {
        format!("neither action nor reward on the first row of a person, as on {blank} of {all}")
    }
}

/// The most characters of a value, or names of a list, that an error repeats.
pub const EXCERPT: usize = 60;

/// The beginning of a value, short enough for a message however long the cell was, and with nothing in it that moves a cursor.
pub(super) fn excerpt(value: &str) -> String {
    match value.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", visible(&value[..end])),
        None => visible(value),
    }
}

/// Text in which control characters, which a terminal obeys, and marks that turn the direction of writing are written out: `\u{1b}`.
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if is_treacherous(c) {
            out.extend(c.escape_default())
        } else {
            out.push(c)
        }
        out
    })
}

/// Whether a letter does something to a terminal or to the order of other letters instead of being seen.
pub fn is_treacherous(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// The most letters of text in place of a number that a message repeats, and the most signs of a number written in another way.
const WORD: usize = 7;
const WRITTEN: usize = 10;

/// What stands where a number should, so that it can be repaired: a short word (`missing`, `N/A`) or a number written in another way (`1;5`).
/// Other text may be somebody's id or name in the wrong column: then its length alone.
fn told(value: &str) -> String {
    let of = |is: fn(char) -> bool| value.chars().filter(|c| is(*c)).count();
    let (letters, capitals, digits) = (of(char::is_alphabetic), of(char::is_uppercase), of(char::is_numeric));
    let is_word = digits == 0 && letters <= WORD && [0, letters].contains(&capitals);
    let is_number = letters == 0 && value.chars().count() <= WRITTEN;
    if is_word || is_number { format!("{value:?}") } else { format!("a text of {} characters", value.chars().count()) }
}

/// Whether a first line seems to be somebody's data: then no message repeats it.
pub(super) fn seems_data(header: &[String]) -> bool {
    header.iter().any(|cell| cell.trim().is_empty() || cell.trim().parse::<f64>().is_ok())
}

/// The columns of a header; not of a first line that seems to be somebody's data.
pub(super) fn columns_of(header: &[String]) -> String {
    if seems_data(header) {
        return format!("{} without a header, it seems: the first line has blank cells or numbers", header.len());
    }
    listing(header)
}

/// Names one after another, as many as a message can bear.
pub(super) fn listing<S: AsRef<str>>(names: &[S]) -> String {
    let shown: Vec<String> = names.iter().take(EXCERPT).map(|name| excerpt(name.as_ref())).collect();
    let rest = if names.len() > EXCERPT { format!(" and {} more", names.len() - EXCERPT) } else { String::new() };
    shown.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(super::visible("a\u{1b}[31mb\n"), "a\\u{1b}[31mb\\n");
    }

    #[test]
    fn what_can_be_repaired_is_told_and_what_may_name_a_person_is_not() {
        for shown in ["N/A", "missing", "1,5", "1;5", "< 5", ".", "2024-13-01"] {
            assert_eq!(super::told(shown), format!("{shown:?}"));
        }
        for hidden in ["P0004", "Ann", "Ann Smith", "123-45-6789", "b7f3", "unanswered", "Müller"] {
            assert_eq!(super::told(hidden), format!("a text of {} characters", hidden.chars().count()));
        }
    }
}
