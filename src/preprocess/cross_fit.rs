//! Cross-fitting: every person is preprocessed with a mechanism that has not seen them.

use super::{Augmented, Experience, Sequential, StateOverflow, batch};
use crate::data::Panel;
use crate::model::fitted::{FitError, FitSettings, Fitted, fit};
use std::ops::Range;

/// Why a panel cannot be cross-fitted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CrossFitError {
    /// Folds must be 2, …, N.
    #[error("{folds} folds cannot be made of {people} people")]
    Folds {
        /// Folds asked for.
        folds: usize,
        /// N.
        people: usize,
    },
    /// The people outside a fold do not determine a mechanism.
    #[error("without fold {fold}: {source}")]
    Fit {
        /// The fold, counted from 1.
        fold: usize,
        /// What went wrong.
        source: FitError,
    },
    /// The mechanism of a fold sends a state to infinity.
    #[error("fold {fold}: {source}")]
    Overflow {
        /// The fold, counted from 1.
        fold: usize,
        /// Where.
        source: StateOverflow,
    },
}

/// Contiguous blocks of people in file order; the first N mod K of them have one person more.
///
/// # Errors
/// [`CrossFitError::Folds`] unless 2 ≤ K ≤ N.
pub fn folds(people: usize, folds: usize) -> Result<Vec<Range<usize>>, CrossFitError> {
    if folds < 2 || folds > people {
        return Err(CrossFitError::Folds { folds, people });
    }
    let (size, longer) = (people / folds, people % folds);
    let start = |fold: usize| fold * size + fold.min(longer);
    Ok((0..folds).map(|fold| start(fold)..start(fold + 1)).collect())
}

/// `alg:cf:1` with cross-fitting: each fold is processed with the mechanism (and initial means) fitted on the others. The weights
/// P̂(Z) are given, and come from everybody.
///
/// # Errors
/// [`CrossFitError`].
pub fn cross_fitted_batch(
    panel: &Panel,
    settings: &FitSettings,
    weights: &[f64],
    count: usize,
) -> Result<Experience<Augmented>, CrossFitError> {
    let mut parts = Vec::new();
    for (index, fold) in folds(panel.people(), count)?.into_iter().enumerate() {
        let others: Vec<usize> = (0..panel.people()).filter(|i| !fold.contains(i)).collect();
        let mechanism: Fitted =
            fit(&panel.select(&others), settings).map_err(|source| CrossFitError::Fit { fold: index + 1, source })?;
        let sequential = Sequential::new(mechanism, weights.to_vec());
        let own: Vec<usize> = fold.collect();
        let part = batch(&sequential, &panel.select(&own))
            .map_err(|source| CrossFitError::Overflow { fold: index + 1, source })?;
        parts.push(part);
    }
    Ok(Experience::concatenate(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_contiguous_and_the_first_ones_are_longer() {
        assert_eq!(folds(11, 3), Ok(vec![0..4, 4..8, 8..11]));
        assert_eq!(folds(4, 4), Ok(vec![0..1, 1..2, 2..3, 3..4]));
        assert_eq!(folds(4, 5), Err(CrossFitError::Folds { folds: 5, people: 4 }));
        assert_eq!(folds(4, 1), Err(CrossFitError::Folds { folds: 1, people: 4 }));
    }
}
