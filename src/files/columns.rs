//! Which column of a file means what.

use super::error::{DataError, columns_of, excerpt, seems_data};
use super::near::Purpose;
use super::wide::Wide;
use crate::kernel::people::PRODUCT;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The names of the columns that make a panel; other columns are carried along.
///
/// The default is `ID,timestamp,z1,action,reward` and every column `state1`, `state2`, ….
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Who: any text.
    pub id: String,
    /// When: a number that sorts the rows of a person.
    pub time: String,
    /// The sensitive attribute, or several whose combination is the level: `female×free` (the names joined by `×`).
    pub level: Vec<String>,
    /// The action: text or number, a name either way.
    pub action: String,
    /// The reward.
    pub reward: String,
    /// The state coordinates in order; empty stands for all columns `state1`, `state2`, … in the order of their numbers.
    pub states: Vec<String>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            id: "ID".into(),
            time: "timestamp".into(),
            level: vec!["z1".into()],
            action: "action".into(),
            reward: "reward".into(),
            states: Vec::new(),
        }
    }
}

impl Columns {
    /// The same with another column of the person.
    pub fn id(self, name: &str) -> Self {
        Self { id: name.into(), ..self }
    }

    /// The same with another column of the time.
    pub fn time(self, name: &str) -> Self {
        Self { time: name.into(), ..self }
    }

    /// The same with another column of the sensitive attribute.
    pub fn group(self, name: &str) -> Self {
        Self { level: vec![name.into()], ..self }
    }

    /// The same with another column of the action.
    pub fn action(self, name: &str) -> Self {
        Self { action: name.into(), ..self }
    }

    /// The same with another column of the reward.
    pub fn reward(self, name: &str) -> Self {
        Self { reward: name.into(), ..self }
    }

    /// The same with these columns of the state.
    pub fn states<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        Self { states: names.into_iter().map(Into::into).collect(), ..self }
    }
}

impl Columns {
    /// What to call the level in a message: the attribute, or `gender×lunch` for several.
    pub(super) fn level_name(&self) -> String {
        self.level.join(&PRODUCT.to_string())
    }
}

impl Columns {
    /// A column is one state, or one attribute, or has one other role; an attribute may be what decides (the action) but not a state.
    fn each_named_once(&self) -> Result<(), DataError> {
        let mut named: Vec<(&str, &'static str)> = vec![(&self.id, "id")];
        for (name, role) in std::iter::once((&self.time, "time"))
            .chain(self.level.iter().map(|name| (name, "attribute")))
            .chain([(&self.action, "action"), (&self.reward, "reward")])
            .chain(self.states.iter().map(|name| (name, "state")))
        {
            let clash = named.iter().find(|(other, first)| {
                let apart = matches!((*first, role), ("attribute", "action") | ("reward", "state"));
                *other == name && !apart
            });
            if let Some((_, first)) = clash {
                return Err(DataError::NamedTwice { column: excerpt(name), first, second: role });
            }
            named.push((name, role));
        }
        Ok(())
    }
}

/// The positions of [`Columns`] in a header.
#[derive(Debug, Clone)]
pub(super) struct Roles {
    pub id: usize,
    pub time: usize,
    pub level: Vec<usize>,
    pub action: usize,
    pub reward: usize,
    pub states: Vec<usize>,
}

impl Roles {
    /// Finds each column in the header, once; what is wrong with several columns is said of all of them.
    pub fn find(columns: &Columns, header: &[String], file: &str) -> Result<Self, DataError> {
        columns.each_named_once()?;
        let mut search = Search::new(columns, header);
        let (id, time) = (search.find(&columns.id, Purpose::ID), search.find(&columns.time, Purpose::TIME));
        if columns.level.is_empty() {
            search.problems.push(ColumnProblem::NoGroup);
        }
        let mut roles = Self {
            id,
            time,
            level: columns.level.iter().map(|name| search.find(name, Purpose::GROUP)).collect(),
            action: search.find(&columns.action, Purpose::ACTION),
            reward: search.find(&columns.reward, Purpose::REWARD),
            states: columns.states.iter().map(|name| search.find(name, Purpose::STATE)).collect(),
        };
        if columns.states.is_empty() {
            match roles.numbered_states(header) {
                Ok(states) => roles.states = states,
                Err(problem) => search.problems.push(problem),
            }
        }
        if search.problems.is_empty() {
            return Ok(roles);
        }
        let problems = Box::new(ColumnProblems {
            problems: search.problems,
            found: columns_of(header),
            wide: if seems_data(header) { None } else { Wide::find(header, &columns.id, file) },
        });
        Err(DataError::Columns { file: file.into(), problems })
    }

    /// `state1`, `state2`, … without the columns that have another role: an attribute called `state3` must not leak into
    /// the state.
    fn numbered_states(&self, header: &[String]) -> Result<Vec<usize>, ColumnProblem> {
        let free = |j: &usize| !self.names_or_times(*j) && *j != self.reward;
        let numbered = (0..header.len()).filter(free).filter_map(|j| Some((state_number(&header[j])?, j)));
        let mut numbered: Vec<(u64, usize)> = numbered.collect();
        numbered.sort_unstable();
        if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(ColumnProblem::Repeated { column: excerpt(&header[pair[0].1]) });
        }
        if numbered.is_empty() {
            return Err(ColumnProblem::NoStates);
        }
        Ok(numbered.into_iter().map(|(_, j)| j).collect())
    }

    /// Whether a column is the id, the time, an attribute or the action, which are written as they were read.
    pub fn names_or_times(&self, j: usize) -> bool {
        j == self.id || j == self.time || j == self.action || self.level.contains(&j)
    }
}

/// Looks names up in a header, and remembers what is wrong.
struct Search<'a> {
    header: &'a [String],
    /// Columns that nothing was asked of.
    free: Vec<&'a str>,
    problems: Vec<ColumnProblem>,
}

/// The position of a column that was not found; it is never used, because the problem is reported.
const NOWHERE: usize = usize::MAX;

impl<'a> Search<'a> {
    fn new(columns: &Columns, header: &'a [String]) -> Self {
        let Columns { id, time, level, action, reward, states } = columns;
        let asked: Vec<&String> = [id, time, action, reward].into_iter().chain(level).chain(states).collect();
        let known = if seems_data(header) { &[] } else { header };
        let free = known.iter().filter(|name| !asked.contains(name)).map(String::as_str).collect();
        Self { header, free, problems: vec![] }
    }

    fn find(&mut self, name: &str, purpose: Purpose) -> usize {
        let mut positions = (0..self.header.len()).filter(|&j| self.header[j] == name);
        match (positions.next(), positions.next()) {
            (Some(j), None) => return j,
            (Some(_), Some(_)) => self.problems.push(ColumnProblem::Repeated { column: excerpt(name) }),
            (None, _) => {
                let nearest = purpose.nearest(name, self.free.iter().copied()).map(excerpt);
                self.problems.push(ColumnProblem::Missing { column: excerpt(name), option: purpose.option, nearest });
            }
        }
        NOWHERE
    }
}

/// What is wrong with the columns of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnProblems {
    /// Each of them, in the order id, time, attribute, action, reward, states; at least one.
    pub problems: Vec<ColumnProblem>,
    /// What the header has.
    found: String,
    /// How the file could be made long, if it is wide.
    wide: Option<Wide>,
}

/// What is wrong with one column.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ColumnProblem {
    /// A column that was asked for is not in the header.
    #[error("there is no column {column} ({})", hint(option, nearest.as_deref()))]
    Missing {
        /// The column asked for.
        column: String,
        /// The option that names it.
        option: &'static str,
        /// The column that may have been meant.
        nearest: Option<String>,
    },
    /// No attribute was named.
    #[error("no column was named for the sensitive attribute (--z)")]
    NoGroup,
    /// No state columns were named and none is called `state1`, `state2`, ….
    #[error("no state columns were named (--states) and none is called state1, state2, …")]
    NoStates,
    /// A column in use has a name that occurs twice in the header.
    #[error("the header has column {column} twice")]
    Repeated {
        /// The repeated name.
        column: String,
    },
}

/// How to name a column: `perhaps --time week`, or `name it with --time`.
fn hint(option: &str, nearest: Option<&str>) -> String {
    nearest.map_or(format!("name it with {option}"), |nearest| format!("perhaps {option} {nearest}"))
}

impl fmt::Display for ColumnProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let problems: Vec<String> = self.problems.iter().map(ColumnProblem::to_string).collect();
        write!(f, "{}; the columns are {}", problems.join("; "), self.found)?;
        self.wide.as_ref().map_or(Ok(()), |wide| write!(f, "{wide}"))
    }
}

/// n for `state`n, n ≥ 1.
pub(super) fn state_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("state")?;
    let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    fn refused(columns: &Columns, header: &[String]) -> String {
        Roles::find(columns, header, "f.csv").unwrap_err().to_string()
    }

    #[test]
    fn numbered_states_come_in_numeric_order_whatever_the_header_says() {
        let header = header(&[
            "state10",
            "ID",
            "timestamp",
            "z1",
            "state2",
            "action",
            "reward",
            "state1",
            "statement",
            "state01",
        ]);
        assert_eq!(Roles::find(&Columns::default(), &header, "f").unwrap().states, [7, 4, 0]);
    }

    #[test]
    fn a_column_with_another_role_is_no_state() {
        let header = header(&["ID", "timestamp", "action", "reward", "state1", "state2"]);
        let columns = Columns { level: vec!["state2".into()], ..Columns::default() };
        assert_eq!(Roles::find(&columns, &header, "f").unwrap().states, [4]);
        let columns = Columns { level: vec!["state2".into()], reward: "state1".into(), ..Columns::default() };
        assert!(refused(&columns, &header).contains("no state columns were named"));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once_with_the_names_that_may_be_meant() {
        let names = header(&["id", "week", "sex", "action", "action", "outcome", "pain"]);
        assert_eq!(
            refused(&Columns::default(), &names),
            "f.csv, line 1: there is no column ID (perhaps --id id); there is no column timestamp (perhaps --time week); there is no column z1 \
             (perhaps --z sex); the header has column action twice; there is no column reward (perhaps --reward outcome); no state columns \
             were named (--states) and none is called state1, state2, …; the columns are id, week, sex, action, action, outcome, pain"
        );
        let names = header(&["ID", "timestamp", "z1", "action", "reward", "pain"]);
        let columns = Columns { states: vec!["math".into(), "pian".into()], ..Columns::default() };
        let message = refused(&columns, &names);
        assert!(
            message.contains("no column math (name it with --states); there is no column pian (perhaps --states pain)")
        );
        let columns = Columns { level: vec![], states: vec!["pain".into()], ..Columns::default() };
        assert!(refused(&columns, &names).contains("no column was named for the sensitive attribute"));
    }

    #[test]
    fn a_wide_file_is_told_how_to_become_long() {
        let names = header(&["id", "sex", "pain_1", "pain_2", "reward_1", "reward_2"]);
        let message = refused(&Columns::default(), &names);
        assert!(message.contains("It looks wide") && message.contains("wide_to_long"), "{message}");
    }

    #[test]
    fn a_column_in_use_may_not_occur_twice_but_another_may() {
        let twice = header(&["ID", "timestamp", "z1", "action", "reward", "state1", "note", "note"]);
        assert!(Roles::find(&Columns::default(), &twice, "f").is_ok());
        for name in ["reward", "state1"] {
            let mut twice = twice.clone();
            twice.push(name.into());
            let message = refused(&Columns::default(), &twice);
            assert!(message.starts_with(&format!("f.csv, line 1: the header has column {name} twice;")), "{message}");
        }
    }

    #[test]
    fn a_header_without_states_is_refused() {
        let header = header(&["ID", "timestamp", "z1", "action", "reward", "state"]);
        let message = refused(&Columns::default(), &header);
        assert!(
            message.starts_with("f.csv, line 1: no state columns") && message.ends_with("reward, state"),
            "{message}"
        );
    }
}
