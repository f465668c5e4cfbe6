//! Where a decision stands in a file, found out from the file.

use super::RowConvention;
use super::error::DataError;

/// The convention that people's first rows show: with incoming rows nothing led to the first state, so that none has an action or a reward;
/// with outgoing rows all have.
///
/// # Errors
/// [`DataError::UnclearRows`] where some have and some have not.
pub(super) fn of_first_rows(filled: impl Iterator<Item = bool>, file: &str) -> Result<RowConvention, DataError> {
    let (mut with, mut without) = (0, 0);
    for is_filled in filled {
        *(if is_filled { &mut with } else { &mut without }) += 1;
    }
    match (with, without) {
        (0, _) => Ok(RowConvention::Incoming),
        (_, 0) => Ok(RowConvention::Outgoing),
        (filled, blank) => Err(DataError::UnclearRows { file: file.into(), filled, blank }),
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
        let found = |filled: &[bool]| of_first_rows(filled.iter().copied(), "f.csv");
        assert_eq!(found(&[false, false]).ok(), Some(RowConvention::Incoming));
        assert_eq!(found(&[true, true]).ok(), Some(RowConvention::Outgoing));
        let message = found(&[true, false, true]).unwrap_err().to_string();
        assert!(message.contains("2 have") && message.contains("1 have neither"), "{message}");
        assert!(message.contains("--rows incoming") && message.contains("--rows outgoing"), "{message}");
    }
}
