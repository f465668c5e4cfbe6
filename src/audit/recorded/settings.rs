//! What is asked, how, and why there may be no answer.

use super::Differences;
use super::behaviour::coefficients;
use crate::kernel::numeric::tolerance;
use crate::kernel::people::Panel;
use serde::{Serialize, Serializer};

/// A policy along the record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicyAlong<'a> {
    /// Its name in tables.
    pub name: &'a str,
    /// π(a | history) at every state row of the panel, |A| numbers each, as [`probabilities_along`](crate::audit::probabilities_along)
    /// gives them.
    pub probabilities: &'a [f64],
    /// [ŝ⁽¹⁾, …, ŝ⁽ᴷ⁾] at every state row, for a policy that reads the states of all levels: its value depends on them.
    pub worlds: Option<&'a [f64]>,
}

/// What is made of people who leave before the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropout {
    /// Horizons were fixed beforehand: each person is valued over their own.
    AsRecorded,
    /// Everybody was to have this many decisions (the longest recorded, when `None`), and those who stayed are weighted by the inverse
    /// of their probability of staying, given what was recorded until then.
    Weighted {
        /// The planned number of decisions.
        horizon: Option<usize>,
    },
}

/// How values over the recorded horizon are estimated.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedSettings {
    /// γ ∈ [0, 1].
    pub discount: f64,
    /// How often people are resampled.
    pub replicates: usize,
    /// Folds of people over which the doubly robust estimate is cross-fitted.
    pub folds: usize,
    /// What resamples and folds are derived from.
    pub seed: u64,
    /// Rows that the common centre of all regressions counts for in each of them.
    pub prior_rows: f64,
    /// The highest total degree of the polynomials in the state; 3 when `None`. Fewer rows carry less.
    pub degree: Option<usize>,
    /// How differences between worlds enter the value of a policy that reads them; chosen by the number of rows when `None`.
    #[doc(hidden)]
    pub differences: Option<Differences>,
    /// What is made of people who leave before the others.
    pub dropout: Dropout,
    /// The probability of the action that was taken, one number per decision in the order of the panel; estimated when `None`.
    pub propensities: Option<Vec<f64>>,
    /// The fewest effective people at any decision with which a weighted estimate is given.
    pub fewest_effective_people: f64,
}

impl Default for RecordedSettings {
    /// The paper's γ = 0.9, 400 replicates.
    fn default() -> Self {
        Self {
            discount: 0.9,
            replicates: 400,
            folds: 5,
            seed: 0,
            prior_rows: 0.5,
            degree: None,
            differences: None,
            dropout: Dropout::AsRecorded,
            propensities: None,
            fewest_effective_people: 50.0,
        }
    }
}

/// Why an estimate is not given. It is the data saying no, not a mistake of the caller.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum NoValue {
    /// All weights at a decision are 0.
    #[error("nobody's recorded actions follow the policy up to decision {decision}")]
    NobodyFollows {
        /// The first such decision, counted from 1.
        decision: usize,
    },
    /// The weights leave too few people for an interval that covers.
    #[error("weights leave {effective:.1} effective people at decision {decision}, and an interval needs {needed:.0}")]
    FewEffectivePeople {
        /// The decision with the fewest, counted from 1.
        decision: usize,
        /// (Σρ)² / Σρ² there.
        effective: f64,
        /// How many are needed.
        needed: f64,
    },
    /// The estimate is not between what anybody could have received.
    #[error("the estimate is outside {low:.4} to {high:.4}, which is all that rewards allow")]
    OutsideRewards {
        /// r_min times the discounted horizon.
        low: f64,
        /// r_max times the discounted horizon.
        high: f64,
    },
}

/// A reason is written as its sentence.
impl Serialize for NoValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A caller's mistake.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RecordedError {
    /// γ ∉ [0, 1].
    #[error("the discount is {0}, outside [0, 1]")]
    DiscountOutsideUnitInterval(f64),
    /// Nobody decided anything.
    #[error("there is no decision on record")]
    NoDecisions,
    /// The number of folds or replicates is below 2.
    #[error("{what} is {found}; at least 2 are needed")]
    TooFew {
        /// `folds` or `replicates`.
        what: &'static str,
        /// The number given.
        found: usize,
    },
    /// More coefficients than there is room and time for.
    #[error(
        "who received which action would be modelled with {coefficients} coefficients ({states} states, {levels} levels, {actions} actions), \
         whose matrix takes {needed:.1} GiB of memory; at most {limit} are fitted: leave out states, or join levels or actions"
    )]
    TooManyCoefficients {
        /// Coefficients.
        coefficients: usize,
        /// Numbers in a state.
        states: usize,
        /// Levels.
        levels: usize,
        /// Actions.
        actions: usize,
        /// Memory that a matrix of them takes, in GiB.
        needed: f64,
        /// Coefficients that are fitted at most.
        limit: usize,
    },
    /// λ ≤ 0.
    #[error("prior_rows is {0}; it must be positive")]
    PriorRows(f64),
    /// The planned horizon is shorter than what was recorded.
    #[error("the planned horizon is {planned}, and {recorded} decisions of a person are on record")]
    PlannedHorizon {
        /// The horizon given.
        planned: usize,
        /// The longest recorded.
        recorded: usize,
    },
    /// A table has another number of entries than the panel needs.
    #[error("{table} of {policy} has {found} numbers where the panel needs {needed}")]
    Shape {
        /// `probabilities`, `worlds` or `propensities`.
        table: &'static str,
        /// The policy's name, or `the record`.
        policy: String,
        /// Numbers needed.
        needed: usize,
        /// Numbers given.
        found: usize,
    },
    /// Σₐ π(a | s) ≠ 1, or a probability outside [0, 1].
    #[error("the probabilities of {policy} at row {row} are not a distribution: they sum to {sum}")]
    NotADistribution {
        /// The policy's name.
        policy: String,
        /// The state row of the panel, from 0.
        row: usize,
        /// Their sum.
        sum: f64,
    },
    /// A propensity outside (0, 1].
    #[error("the propensity of decision {decision} is {value}, outside (0, 1]")]
    Propensity {
        /// The decision in the order of the panel, from 0.
        decision: usize,
        /// The number given.
        value: f64,
    },
    /// A counterfactual state that is infinite or not a number.
    #[error("the worlds' states of {policy} at row {row} are not all finite")]
    NotFinite {
        /// The policy's name.
        policy: String,
        /// The state row of the panel, from 0.
        row: usize,
    },
}

/// Coefficients of a model of who received which action: its matrix then takes 128 MiB, and each of some fifty factorisations of it seconds.
const MOST_COEFFICIENTS: usize = 4096;

pub(super) fn check(
    panel: &Panel,
    policies: &[PolicyAlong<'_>],
    settings: &RecordedSettings,
) -> Result<(), RecordedError> {
    if !(0.0..=1.0).contains(&settings.discount) {
        return Err(RecordedError::DiscountOutsideUnitInterval(settings.discount));
    }
    if panel.decisions() == 0 {
        return Err(RecordedError::NoDecisions);
    }
    for (what, found) in [("folds", settings.folds), ("replicates", settings.replicates)] {
        if found < 2 {
            return Err(RecordedError::TooFew { what, found });
        }
    }
    let (states, levels, actions) = (panel.state_dim(), panel.levels().len(), panel.action_names().len());
    let found = coefficients(states, levels, actions);
    if found > MOST_COEFFICIENTS {
        let needed = 8.0 * (found as f64).powi(2) / (1u64 << 30) as f64;
        let limit = MOST_COEFFICIENTS;
        return Err(RecordedError::TooManyCoefficients { coefficients: found, states, levels, actions, needed, limit });
    }
    if !(settings.prior_rows > 0.0 && settings.prior_rows.is_finite()) {
        return Err(RecordedError::PriorRows(settings.prior_rows));
    }
    if let Dropout::Weighted { horizon: Some(planned) } = settings.dropout
        && planned < panel.horizon()
    {
        return Err(RecordedError::PlannedHorizon { planned, recorded: panel.horizon() });
    }
    if let Some(given) = &settings.propensities {
        shape("propensities", "the record", panel.decisions(), given.len())?;
        if let Some(decision) = given.iter().position(|p| !(*p > 0.0 && *p <= 1.0)) {
            return Err(RecordedError::Propensity { decision, value: given[decision] });
        }
    }
    let (rows, actions) = (panel.state_rows(), panel.action_names().len());
    for &PolicyAlong { name, probabilities, worlds } in policies {
        shape("probabilities", name, rows * actions, probabilities.len())?;
        for (row, distribution) in probabilities.chunks_exact(actions).enumerate() {
            let sum: f64 = distribution.iter().sum();
            if !((sum - 1.0).abs() <= tolerance::PROBABILITY && distribution.iter().all(|p| *p >= 0.0)) {
                return Err(RecordedError::NotADistribution { policy: name.into(), row, sum });
            }
        }
        if let Some(worlds) = worlds {
            let width = panel.state_dim() * panel.levels().len();
            shape("worlds", name, rows * width, worlds.len())?;
            if let Some(at) = worlds.iter().position(|x| !x.is_finite()) {
                return Err(RecordedError::NotFinite { policy: name.into(), row: at / width });
            }
        }
    }
    Ok(())
}

fn shape(table: &'static str, policy: &str, needed: usize, found: usize) -> Result<(), RecordedError> {
    if needed == found { Ok(()) } else { Err(RecordedError::Shape { table, policy: policy.into(), needed, found }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    fn refused(width: usize, actions: usize) -> Option<RecordedError> {
        let mut builder = PanelBuilder::new(Labels::numbered(3), Labels::numbered(actions), width).unwrap();
        for (id, level) in [("a", 0), ("b", 1), ("c", 2)] {
            let states = vec![0.5; 2 * width];
            builder.push(Person { id, level, states: &states, actions: &[level % 2], rewards: &[0.5] }).unwrap();
        }
        check(&builder.finish(), &[], &RecordedSettings::default()).err()
    }

    #[test]
    fn a_model_that_there_is_no_room_for_is_refused_before_it_is_begun() {
        // 1 + 2p + 2(1 + p) + 2 regressors for one action beside the first.
        assert_eq!(refused(1022, 2), None);
        let error = refused(1023, 2).expect("a coefficient too many");
        let found = error.to_string();
        assert!(found.contains("4097 coefficients (1023 states, 3 levels, 2 actions)"), "{found}");
        assert!(found.contains("0.1 GiB") && found.contains("at most 4096"), "{found}");
        // Actions count twice: as what is chosen and as what was chosen before.
        assert_eq!(refused(1, 60), None);
        assert!(matches!(
            refused(1, 62),
            Some(RecordedError::TooManyCoefficients { coefficients: 4209, actions: 62, .. })
        ));
    }
}
