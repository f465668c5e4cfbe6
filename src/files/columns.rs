//! Which column of a file means what.

use super::error::{DataError, columns_of, excerpt};
use crate::kernel::people::PRODUCT;
use serde::{Deserialize, Serialize};

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
    /// Finds each column in the header, once.
    pub fn find(columns: &Columns, header: &[String], file: &str) -> Result<Self, DataError> {
        let find = |name: &str| {
            let mut positions = (0..header.len()).filter(|&j| header[j] == name);
            match (positions.next(), positions.next()) {
                (Some(j), None) => Ok(j),
                (Some(_), Some(_)) => Err(DataError::RepeatedColumn { file: file.into(), column: excerpt(name) }),
                (None, _) => Err(DataError::MissingColumn {
                    file: file.into(),
                    column: excerpt(name),
                    found: columns_of(header),
                }),
            }
        };
        if columns.level.is_empty() {
            let column = "for the level (none was named)".to_string();
            return Err(DataError::MissingColumn { file: file.into(), column, found: columns_of(header) });
        }
        columns.each_named_once()?;
        let mut roles = Self {
            id: find(&columns.id)?,
            time: find(&columns.time)?,
            level: columns.level.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
            action: find(&columns.action)?,
            reward: find(&columns.reward)?,
            states: columns.states.iter().map(|name| find(name)).collect::<Result<_, _>>()?,
        };
        if columns.states.is_empty() {
            roles.states = roles.numbered_states(header, file)?;
        }
        Ok(roles)
    }

    /// `state1`, `state2`, … without the columns that have another role: an attribute called `state3` must not leak into
    /// the state.
    fn numbered_states(&self, header: &[String], file: &str) -> Result<Vec<usize>, DataError> {
        let free = |j: &usize| !self.names_or_times(*j) && *j != self.reward;
        let numbered = (0..header.len()).filter(free).filter_map(|j| Some((state_number(&header[j])?, j)));
        let mut numbered: Vec<(u64, usize)> = numbered.collect();
        numbered.sort_unstable();
        if let Some(pair) = numbered.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(DataError::RepeatedColumn { file: file.into(), column: header[pair[0].1].clone() });
        }
        if numbered.is_empty() {
            return Err(DataError::NoStates { file: file.into(), found: columns_of(header) });
        }
        Ok(numbered.into_iter().map(|(_, j)| j).collect())
    }

    /// Whether a column is the id, the time, an attribute or the action, which are written as they were read.
    pub fn names_or_times(&self, j: usize) -> bool {
        j == self.id || j == self.time || j == self.action || self.level.contains(&j)
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
        assert!(matches!(Roles::find(&columns, &header, "f"), Err(DataError::NoStates { .. })));
    }

    #[test]
    fn an_absent_column_is_named_beside_those_there_are() {
        let header = header(&["id", "timestamp", "z1", "action", "reward", "state1"]);
        let message = Roles::find(&Columns::default(), &header, "f.csv").unwrap_err().to_string();
        assert_eq!(
            message,
            "f.csv, line 1: there is no column ID; the columns are id, timestamp, z1, action, reward, state1"
        );
        let columns = Columns { id: "id".into(), states: vec!["math".into()], ..Columns::default() };
        assert!(Roles::find(&columns, &header, "f.csv").unwrap_err().to_string().contains("no column math"));
        let columns = Columns { id: "id".into(), level: vec![], ..Columns::default() };
        assert!(Roles::find(&columns, &header, "f.csv").unwrap_err().to_string().contains("none was named"));
    }

    #[test]
    fn a_column_in_use_may_not_occur_twice_but_another_may() {
        let twice = header(&["ID", "timestamp", "z1", "action", "reward", "state1", "note", "note"]);
        assert!(Roles::find(&Columns::default(), &twice, "f").is_ok());
        for name in ["reward", "state1"] {
            let mut twice = twice.clone();
            twice.push(name.into());
            let message = Roles::find(&Columns::default(), &twice, "f.csv").unwrap_err().to_string();
            assert_eq!(message, format!("f.csv, line 1: the header has column {name} twice"));
        }
    }

    #[test]
    fn a_header_without_states_is_refused() {
        let header = header(&["ID", "timestamp", "z1", "action", "reward", "state"]);
        let message = Roles::find(&Columns::default(), &header, "f.csv").unwrap_err().to_string();
        assert!(
            message.starts_with("f.csv, line 1: no state columns") && message.ends_with("reward, state"),
            "{message}"
        );
    }
}
