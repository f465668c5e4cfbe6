//! Rows of an earlier run, read back: a full run takes long, and its report can be made again without it.

use super::claim::judge;
use super::{Kind, Row, Verdict, claims};
use serde::Deserialize;

/// What is wrong with a file of rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// Not what `counterfair verify --json` writes.
    #[error("not a list of examined claims: {0}")]
    Json(#[from] serde_json::Error),
    /// A claim that this version does not make.
    #[error("row {row}: there is no claim {label} that says \"{statement}\"")]
    UnknownClaim {
        /// Its place, counted from 1.
        row: usize,
        /// Its label.
        label: String,
        /// What it says.
        statement: String,
    },
}

#[derive(Deserialize)]
struct Stored {
    claim: Named,
    verdict: Verdict,
    control: Verdict,
    seconds: f64,
}

#[derive(Deserialize)]
struct Named {
    label: String,
    kind: Kind,
    statement: String,
}

/// Rows from the JSON that they serialise to. Whether they are as expected is judged anew and not taken from the file.
///
/// # Errors
/// [`RowsError`].
///
/// # Example
/// ```
/// use counterfair::theory::{Budget, claims, examine, read_rows};
/// let d4: Vec<_> = claims().into_iter().filter(|claim| claim.label == "D4").collect();
/// let rows = examine(&d4, Budget::Quick, |_| {});
/// let again = read_rows(&serde_json::to_string(&rows).unwrap()).unwrap();
/// assert_eq!(again[0].verdict, rows[0].verdict);
/// ```
pub fn read_rows(json: &str) -> Result<Vec<Row>, RowsError> {
    let stored: Vec<Stored> = serde_json::from_str(json)?;
    let known = claims();
    let one = |(i, Stored { claim, verdict, control, seconds }): (usize, Stored)| {
        let Named { label, kind, statement } = claim;
        let same = known.iter().find(|k| k.label == label && k.kind == kind && k.statement == statement);
        let claim = *same.ok_or(RowsError::UnknownClaim { row: i + 1, label, statement })?;
        let as_expected = judge(&claim, &verdict, &control);
        Ok(Row { claim, verdict, control, as_expected, seconds })
    };
    stored.into_iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::claims::{Budget, examine};

    fn rows() -> Vec<Row> {
        let some: Vec<_> = claims().into_iter().filter(|claim| claim.label == "D4").collect();
        examine(&some, Budget::Quick, |_| {})
    }

    #[test]
    fn a_file_that_calls_itself_expected_is_judged_anew() {
        let mut rows = rows();
        rows[0].verdict = Verdict::Exact { error: 0.0 };
        assert!(rows[0].as_expected, "the row still says so");
        let again = read_rows(&serde_json::to_string(&rows).unwrap()).unwrap();
        assert!(!again[0].as_expected && again[1].as_expected);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        assert!(matches!(read_rows("[1]").unwrap_err(), RowsError::Json(_)));
        let text = serde_json::to_string(&rows()).unwrap().replace("\"D4\"", "\"D400\"");
        let error = read_rows(&text).unwrap_err();
        assert!(error.to_string().starts_with("row 1: there is no claim D400"), "{error}");
    }
}
