//! Theorems and errata of one run, and reading them back: a run takes minutes, and its report can be made again without it.

use super::{Found, Row, theorems};
use crate::theory::errata::{ErratumRow, Witness, errata};
use serde::{Deserialize, Serialize};

/// Everything that was examined in one run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Examined {
    /// Theorems, lemmas and rates.
    pub theorems: Vec<Row>,
    /// Errata with their witnesses.
    pub errata: Vec<ErratumRow>,
}

/// What is wrong with a file of rows.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// Not what `counterfair verify --json` writes.
    #[error("not what `counterfair verify --json` writes: {0}")]
    Json(#[from] serde_json::Error),
    /// A statement that this version does not have.
    #[error("{list} {row}: there is no {label} that says \"{says}\"")]
    Unknown {
        /// `theorem` or `erratum`.
        list: &'static str,
        /// Its place, counted from 1.
        row: usize,
        /// Its label.
        label: String,
        /// What it says.
        says: String,
    },
}

#[derive(Deserialize)]
struct Stored {
    theorems: Vec<StoredRow>,
    errata: Vec<StoredErratum>,
}

#[derive(Deserialize)]
struct StoredRow {
    claim: Named,
    stated: Found,
    control: Found,
    seconds: f64,
}

#[derive(Deserialize)]
struct StoredErratum {
    erratum: Named,
    witness: Witness,
}

#[derive(Deserialize)]
struct Named {
    label: String,
    says: String,
}

impl Named {
    fn unknown(self, list: &'static str, place: usize) -> RowsError {
        RowsError::Unknown { list, row: place + 1, label: self.label, says: self.says }
    }
}

/// What an earlier run printed as JSON. Whether rows are as expected is judged anew and not taken from the file.
///
/// # Errors
/// [`RowsError`].
pub fn read(json: &str) -> Result<Examined, RowsError> {
    let Stored { theorems: rows, errata: witnesses } = serde_json::from_str(json)?;
    let (claims, known) = (theorems(), errata());
    let theorems =
        rows.into_iter().enumerate().map(|(place, StoredRow { claim: named, stated, control, seconds })| match claims
            .iter()
            .find(|claim| claim.label == named.label && claim.says == named.says)
        {
            Some(&claim) => Ok(Row { claim, stated, control, seconds }),
            None => Err(named.unknown("theorem", place)),
        });
    let errata =
        witnesses.into_iter().enumerate().map(|(place, StoredErratum { erratum: named, witness })| {
            match known.iter().find(|erratum| erratum.label == named.label && erratum.says == named.says) {
                Some(&erratum) => Ok(ErratumRow { erratum, witness }),
                None => Err(named.unknown("erratum", place)),
            }
        });
    Ok(Examined { theorems: theorems.collect::<Result<_, _>>()?, errata: errata.collect::<Result<_, _>>()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_back_and_judged_anew() {
        let some: Vec<_> = errata().into_iter().filter(|erratum| erratum.label == "D9").collect();
        let examined = Examined { theorems: vec![], errata: crate::theory::errata::recompute(&some) };
        let mut json = serde_json::to_value(&examined).unwrap();
        assert_eq!(read(&json.to_string()).unwrap().errata[0].witness, examined.errata[0].witness);
        json["errata"][0]["witness"]["printed"]["said"] = 1.0.into();
        assert!(!read(&json.to_string()).unwrap().errata[0].as_expected(), "the document's form holds at this witness");
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        assert!(matches!(read("[1]"), Err(RowsError::Json(_))));
        let named = r#"{"label": "D400", "says": "nothing"}"#;
        let row = format!(
            r#"{{"claim": {named}, "stated": {{"kind": "nothing", "reason": ""}}, "control": {{"kind": "nothing", "reason": ""}}, "seconds": 0}}"#
        );
        let error = read(&format!(r#"{{"theorems": [{row}], "errata": []}}"#)).unwrap_err();
        assert_eq!(error.to_string(), "theorem 1: there is no D400 that says \"nothing\"");
    }
}
