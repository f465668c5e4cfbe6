//! Where a decision stands in a file, found out from the file.

use super::RowConvention;
use super::error::{DataError, Line};

/// People's first rows: how many have an action or a reward, how many have neither, and the first line of each kind.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct FirstRows {
    filled: (usize, Option<u64>),
    blank: (usize, Option<u64>),
}

impl FirstRows {
    /// Meets the first row of a person.
    pub fn meet(&mut self, line: u64, is_filled: bool) {
        let (count, first) = if is_filled { &mut self.filled } else { &mut self.blank };
        *count += 1;
        *first = Some(first.map_or(line, |first| first.min(line)));
    }

    /// The convention that they show: with incoming rows nothing led to the first state, so that none is filled; with outgoing rows all are.
    ///
    /// # Errors
    /// [`DataError::UnclearRows`] where some are and some are not.
    pub fn convention(&self, file: &str, line: fn(u64) -> Line) -> Result<RowConvention, DataError> {
        match (self.filled, self.blank) {
            ((_, None), _) => Ok(RowConvention::Incoming),
            (_, (_, None)) => Ok(RowConvention::Outgoing),
            ((filled, Some(first_filled)), (blank, Some(first_blank))) => {
                let line = line(if filled <= blank { first_filled } else { first_blank });
                Err(DataError::UnclearRows { file: file.into(), line, filled, blank })
            }
        }
    }
}

/// What is said of rows that are not as they would be written by default.
pub(super) fn in_words(rows: RowConvention) -> Option<&'static str> {
    match rows {
        RowConvention::Incoming => None,
        RowConvention::Outgoing => Some(
            "its rows are read as outgoing (state, action, then reward), because every first row has an action or a reward; if that is wrong, say \
             --rows incoming",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_rows_show_the_convention_and_where_they_differ_both_are_named() {
        let found = |filled: &[bool]| {
            let mut firsts = FirstRows::default();
            filled.iter().enumerate().rev().for_each(|(i, &filled)| firsts.meet(i as u64 + 2, filled));
            firsts.convention("f.csv", Line::Text)
        };
        assert_eq!(found(&[false, false]).ok(), Some(RowConvention::Incoming));
        assert_eq!(found(&[true, true]).ok(), Some(RowConvention::Outgoing));
        let message = found(&[true, false, true]).unwrap_err().to_string();
        assert!(
            message.starts_with("f.csv, line 3: neither action nor reward") && message.contains("1 of 3"),
            "{message}"
        );
        let message = found(&[false, true, false]).unwrap_err().to_string();
        assert!(message.starts_with("f.csv, line 3: an action or a reward") && message.contains("1 of 3"), "{message}");
        assert!(message.contains("--rows incoming") && message.contains("--rows outgoing"), "{message}");
    }
}
