//! Where a decision stands in a file, found out from the file.

use super::RowConvention;
use super::error::{DataError, Line};

/// The convention that people's first rows show, each with its line and whether it has an action or a reward: with incoming rows nothing led to the
/// first state, so that none has; with outgoing rows all have.
///
/// # Errors
/// [`DataError::UnclearRows`] where some have and some have not.
pub(super) fn of_first_rows(rows: impl Iterator<Item = (Line, bool)>, file: &str) -> Result<RowConvention, DataError> {
    let (with, without): (Vec<_>, Vec<_>) = rows.partition(|(_, filled)| *filled);
    match (with.first(), without.first()) {
        (None, _) => Ok(RowConvention::Incoming),
        (_, None) => Ok(RowConvention::Outgoing),
        (Some(&(with_line, _)), Some(&(without_line, _))) => {
            let (filled, blank) = (with.len(), without.len());
            let line = if filled <= blank { with_line } else { without_line };
            Err(DataError::UnclearRows { file: file.into(), line, filled, blank })
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
            of_first_rows(filled.iter().enumerate().map(|(i, &filled)| (Line::Text(i as u64 + 2), filled)), "f.csv")
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
