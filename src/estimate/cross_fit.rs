//! Cross-fitting: every person is preprocessed with a mechanism that has not seen them.

use crate::estimate::{FitError, FitSettings, Fitted, fit};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Augmented, Experience, Sequential, StateOverflow, batch};
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
    use crate::estimate::{Basis, Pooling};
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::numeric::Stream;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn folds_are_contiguous_and_the_first_ones_are_longer() {
        assert_eq!(folds(11, 3), Ok(vec![0..4, 4..8, 8..11]));
        assert_eq!(folds(4, 4), Ok(vec![0..1, 1..2, 2..3, 3..4]));
        assert_eq!(folds(5, 2), Ok(vec![0..3, 3..5]));
        assert_eq!(folds(4, 5), Err(CrossFitError::Folds { folds: 5, people: 4 }));
        assert_eq!(folds(4, 1), Err(CrossFitError::Folds { folds: 1, people: 4 }));
    }

    fn settings() -> FitSettings {
        FitSettings { basis: Basis::Polynomial(1), pooling: Pooling::PerLevel, ..FitSettings::default() }
    }

    /// Two states, three actions, three levels; histories of one to four decisions.
    fn panel(people: usize) -> Panel {
        let world = ThreeLevels::new(0.7);
        let whole = simulate(&world, &Exogenous::draw(&world, people, 4, Stream::new(21)));
        let mut builder = PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), 2).unwrap();
        for (i, person) in whole.iter().enumerate() {
            let t = 1 + i % 4;
            let (states, actions, rewards) =
                (&person.states[..2 * (t + 1)], &person.actions[..t], &person.rewards[..t]);
            builder.push(Person { id: &i.to_string(), level: person.level, states, actions, rewards }).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn everybody_is_processed_with_what_was_learned_from_the_other_folds() {
        let (panel, weights) = (panel(91), vec![0.2, 0.3, 0.5]);
        let found = cross_fitted_batch(&panel, &settings(), &weights, 4).unwrap();
        assert_eq!((found.people(), found.width()), (91, 6));
        // 91 = 23 + 23 + 23 + 22.
        let borders = [0, 23, 46, 69, 91];
        for i in [0, 22, 23, 45, 46, 68, 69, 90] {
            let fold = borders.iter().rposition(|&start| start <= i).unwrap();
            let others: Vec<usize> = (0..borders[fold]).chain(borders[fold + 1]..91).collect();
            let mechanism = fit(&panel.select(&others), &settings()).unwrap();
            let alone = batch(&Sequential::new(mechanism, weights.clone()), &panel.select(&[i])).unwrap();
            let views = found.views_of(i);
            assert_eq!(found.views()[6 * views.start..6 * views.end], *alone.views(), "views of person {i}");
            assert_eq!(found.rewards()[found.decisions_of(i)], *alone.rewards(), "rewards of person {i}");
            assert_eq!(found.actions()[found.decisions_of(i)], *alone.actions(), "actions of person {i}");
        }
    }

    #[test]
    fn the_fold_that_cannot_be_fitted_is_named() {
        // Only the second fold, people 2 and 3 of 6, has anybody of level 1.
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        for i in 0..6u32 {
            let (id, level, s) = (i.to_string(), u32::from(i / 2 == 1), f64::from(i * i));
            let person = Person { id: &id, level, states: &[s, 0.5 * s], actions: &[0], rewards: &[s] };
            builder.push(person).unwrap();
        }
        let error = cross_fitted_batch(&builder.finish(), &settings(), &[0.5, 0.5], 3).unwrap_err();
        assert!(matches!(error, CrossFitError::Fit { fold: 2, .. }), "{error}");
        assert!(matches!(
            cross_fitted_batch(&panel(5), &settings(), &[0.2, 0.3, 0.5], 6),
            Err(CrossFitError::Folds { .. })
        ));
    }

    #[test]
    fn the_fold_whose_states_overflow_is_named() {
        // Level 1 doubles its state, level 0 keeps it: the first person would go beyond every number in the world of level 1.
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        builder
            .push(Person { id: "a", level: 0, states: &[1.5e308, 1.5e308], actions: &[0], rewards: &[0.0] })
            .unwrap();
        for i in 1..8u32 {
            let (id, level, s) = (i.to_string(), i % 2, f64::from(i));
            let person =
                Person { id: &id, level, states: &[s, s * f64::from(1 + i % 2)], actions: &[0], rewards: &[s] };
            builder.push(person).unwrap();
        }
        let error = cross_fitted_batch(&builder.finish(), &settings(), &[0.5, 0.5], 4).unwrap_err();
        assert!(matches!(&error, CrossFitError::Overflow { fold: 1, source } if source.id == "a"), "{error}");
    }
}
