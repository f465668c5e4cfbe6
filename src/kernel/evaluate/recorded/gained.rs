//! What of a policy's value over the recorded horizon is gained by treating levels differently.

use super::followed::Followed;
use super::iterates::Problem;
use super::resampled::{Resampled, person_counts};
use super::settings::{Dropout, PolicyAlong, RecordedError, RecordedSettings, check};
use super::staying::Staying;
use super::values::{Record, RecordedValues, mean_first};
use crate::kernel::data::Panel;
use crate::kernel::model::fitted::Refitter;
use crate::kernel::preprocess::{Sequential, batch};
use rayon::prelude::*;

/// J = Ṽ + what is gained by unfairness, of one policy.
#[derive(Debug, Clone, PartialEq)]
pub struct FairPart {
    /// The policy.
    pub name: String,
    /// Ṽ, the value in the rewards of all worlds.
    pub fair: Resampled,
    /// J − Ṽ, of either sign.
    pub gained: Resampled,
}

/// Splits the value of each policy into what is fair and what is gained by unfairness (AUDIT §2.8), along reconstructed worlds.
///
/// # Equation
/// ```text
/// J − Ṽ = E Σₜ γ^{t−1} (Rₜ − R̃ₜ),   r̃ₜ = Σₖ pₖ r̂ₜᵏ
/// ```
/// by the iterates of fitted Q evaluation with the reward rₜ − r̃ₜ on functions of the states of all worlds, on which it depends. Where
/// noise is added the noise of the reward drops out of rₜ − r̃ₜ = μ̂ᵣ(sₜ, aₜ, z) − Σₖ pₖ μ̂ᵣ(ŝₜᵏ, aₜ, k): what is left is a function of the worlds.
///
/// # Precision
/// The mechanism behind r̃ is estimated, and its error is as large as that of the value. So every replicate refits it with the same
/// resampled people, and only then the action values. `refits` replicates are made, the first ones of `values`, with which they are
/// paired; resamples that leave a level empty are passed over in both. Without `level_weights` the pₖ are the shares of the people who are
/// there, resampled with them: with shares held fixed the interval of a policy that treats everybody alike, for which J − Ṽ is 0, was as wide as
/// the levels are apart.
///
/// # Errors
/// [`RecordedError`]; [`RecordedError::NotFinite`] also where the worlds of the judged people overflow.
pub fn gained_by_unfairness(
    panel: &Panel,
    policies: &[PolicyAlong<'_>],
    values: &RecordedValues,
    refitter: &Refitter,
    level_weights: Option<&[f64]>,
    refits: usize,
    settings: &RecordedSettings,
) -> Result<Vec<FairPart>, RecordedError> {
    check(panel, policies, settings)?;
    let planned = match settings.dropout {
        Dropout::AsRecorded => None,
        Dropout::Weighted { horizon } => Some(horizon.unwrap_or(panel.horizon())),
    };
    let people = &Followed::new(panel, planned);
    let states = &people.gather(panel.states(), panel.state_dim());
    let staying = Staying::fit(panel, people, states, planned.unwrap_or(panel.horizon()));
    let record = Record { panel, people, settings, weighted: planned.and(staying.as_ref()) };
    let class = record.class(true);
    let n = people.people();
    let width = panel.state_dim() * panel.levels().len();
    let probabilities: Vec<Vec<f64>> =
        policies.iter().map(|policy| people.gather(policy.probabilities, people.action_count)).collect();

    // Of every policy, with people counted so often; `None` where the mechanism cannot be fitted to them.
    let gained = |counts: &[f64]| -> Option<Vec<f64>> {
        let mut weights = vec![1.0; panel.people()];
        people.order.iter().zip(counts).for_each(|(&i, c)| weights[i] = *c);
        let mechanism = refitter.refit(&weights).ok()?;
        let shares = level_weights.map_or_else(|| level_shares(panel, &weights), <[f64]>::to_vec);
        let experience = batch(&Sequential::new(&mechanism, shares), panel).ok()?;
        let worlds = people.gather(experience.views(), width);
        let apart = Followed { rewards: apart(panel, people, experience.rewards()), ..people.clone() };
        let features = class.features(people, states, Some(&worlds));
        let range = apart.reward_range();
        let rows = record.row_weights(counts);
        let of = |probabilities: &Vec<f64>| {
            let problem = Problem {
                people: &apart,
                features: &features,
                count: class.coefficients,
                probabilities,
                discount: settings.discount,
                range,
                prior: settings.prior_rows,
            };
            mean_first(people, &problem.fit(&rows).first, &rows, None)
        };
        Some(probabilities.iter().map(of).collect())
    };
    let itself =
        gained(&vec![1.0; n]).ok_or_else(|| RecordedError::NotFinite { policy: "the record".into(), row: 0 })?;
    let refits = refits.min(settings.replicates);
    let counts = person_counts(panel, people, settings.replicates, settings.seed);
    let found: Vec<(usize, Vec<f64>)> = counts[..refits * n]
        .par_chunks_exact(n)
        .enumerate()
        .filter_map(|(b, counts)| Some((b, gained(counts)?)))
        .collect();
    let part = |(i, policy): (usize, &PolicyAlong<'_>)| {
        let value = &values.policy(policy.name)?.value;
        let gained = found.iter().map(|(_, gained)| gained[i]).collect();
        let fair = found.iter().map(|(b, gained)| value.replicates[*b] - gained[i]).collect();
        Some(FairPart {
            name: policy.name.to_string(),
            fair: Resampled::new(value.mean - itself[i], fair, n),
            gained: Resampled::new(itself[i], gained, n),
        })
    };
    Ok(policies.iter().enumerate().filter_map(part).collect())
}

/// P̂(Z) of people counted so often.
fn level_shares(panel: &Panel, counts: &[f64]) -> Vec<f64> {
    let mut shares = vec![0.0; panel.levels().len()];
    panel.level_codes().iter().zip(counts).for_each(|(&z, c)| shares[z as usize] += c);
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

/// r − r̃ at every row with a decision, 0 elsewhere.
fn apart(panel: &Panel, people: &Followed, fair_rewards: &[f64]) -> Vec<f64> {
    let mut rows = vec![0.0; people.sources.len()];
    for person in 0..people.people() {
        let decisions = panel.decisions_of(people.order[person]);
        for (row, at) in people.decided(person).zip(decisions) {
            rows[row] = people.rewards[row] - fair_rewards[at];
        }
    }
    rows
}
