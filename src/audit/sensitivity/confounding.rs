//! Hidden confounding of actions: how far the odds of an action may be off before a value changes its sign.

use crate::kernel::people::Panel;

/// Discounted returns with the weights that policy and behaviour give them, ready to be shifted by Γ.
///
/// # Equation
/// The marginal sensitivity model: given what was recorded, the odds of the action that was taken are within a factor Γ of what they are
/// given everything (Tan, 2006). The inverse probability of decision t is then within
/// ```text
/// 1 + Γ⁻¹ (1/eₜ − 1)  ≤  1/e*ₜ  ≤  1 + Γ (1/eₜ − 1)
/// ```
/// and a person's weight Πₜ π(aₜ | h) / e*ₜ within the products of these. The value is bounded by the least and the greatest Σ w G / Σ w
/// over such weights. For one decision that is Zhao, Small and Bhattacharya's bound; for several it is valid and not sharp.
///
/// # Reference
/// Zhao, Small and Bhattacharya (2019), *Sensitivity analysis for inverse probability weighting estimators via the percentile bootstrap*.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// G, the discounted return of each person over the recorded horizon.
    returns: Vec<f64>,
    /// π(aₜ | h) of each decision, and 1/eₜ − 1, person after person.
    followed: Vec<f64>,
    inverse_odds: Vec<f64>,
    /// Person i has the decisions `start[i]..start[i + 1]`.
    start: Vec<usize>,
}

/// Why there are no bounds.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ConfoundingError {
    /// Not |A| numbers of the policy for every recorded state, or not one propensity for every decision.
    #[error("{found} probabilities were given where {needed} are needed")]
    Length {
        /// Numbers given.
        found: usize,
        /// State rows times actions, or decisions.
        needed: usize,
    },
    /// An action was taken that the behaviour policy never takes.
    #[error("decision {t} of a person: the action taken has probability {probability} under the behaviour policy")]
    Propensity {
        /// The person.
        id: String,
        /// The decision, counted from 1.
        t: usize,
        /// Its probability, which must be in (0, 1].
        probability: f64,
    },
    /// Γ < 1.
    #[error("Γ is {0}; it must be at least 1")]
    Gamma(f64),
    /// Every recorded history has an action that the policy would not take.
    #[error("nobody's recorded actions are those of the policy")]
    NobodyFollows,
}

impl Shift {
    /// From π along the recorded histories, |A| numbers per state row as
    /// [`probabilities_along`](crate::audit::probabilities_along) gives them, and e, the probability with which each recorded action
    /// was taken.
    ///
    /// # Errors
    /// [`ConfoundingError::Length`], [`ConfoundingError::Propensity`].
    pub fn new(panel: &Panel, policy: &[f64], taken: &[f64], discount: f64) -> Result<Self, ConfoundingError> {
        let actions = panel.action_names().len();
        for (given, needed) in [(policy, panel.state_rows() * actions), (taken, panel.decisions())] {
            if given.len() != needed {
                return Err(ConfoundingError::Length { found: given.len(), needed });
            }
        }
        let mut shift = Self { returns: vec![], followed: vec![], inverse_odds: vec![], start: vec![0] };
        for (i, person) in panel.iter().enumerate() {
            for (t, &action) in person.actions.iter().enumerate() {
                let at = (panel.states_of(i).start + t) * actions + action as usize;
                let probability = taken[panel.decisions_of(i).start + t];
                if !(probability > 0.0 && probability <= 1.0) {
                    return Err(ConfoundingError::Propensity { id: person.id.into(), t: t + 1, probability });
                }
                shift.followed.push(policy[at]);
                shift.inverse_odds.push(1.0 / probability - 1.0);
            }
            shift.returns.push(person.rewards.iter().rev().fold(0.0, |later, r| r + discount * later));
            shift.start.push(shift.followed.len());
        }
        Ok(shift)
    }

    /// The product of π/e* over a person's decisions with odds shifted by `factor`.
    fn weight(&self, person: usize, factor: f64) -> f64 {
        (self.start[person]..self.start[person + 1])
            .map(|at| self.followed[at] * (1.0 + factor * self.inverse_odds[at]))
            .product()
    }

    /// The mean of what people received, with these weights.
    fn received(&self, people: &[f64]) -> f64 {
        let sum: f64 = self.returns.iter().zip(people).map(|(g, w)| g * w).sum();
        sum / people.iter().sum::<f64>()
    }
}

/// The least and the greatest value of the policy minus what people received, at Γ.
///
/// `people` are weights of people: 1 for everybody, or those of a resample. Percentiles of the ends over resamples are an interval for the
/// value's difference under any confounding up to Γ.
///
/// # Errors
/// [`ConfoundingError::Gamma`], [`ConfoundingError::NobodyFollows`].
pub fn value_bounds(shift: &Shift, people: &[f64], gamma: f64) -> Result<(f64, f64), ConfoundingError> {
    if gamma.is_nan() || gamma < 1.0 {
        return Err(ConfoundingError::Gamma(gamma));
    }
    let mut boxes: Vec<[f64; 3]> = (0..shift.returns.len())
        .map(|i| [shift.returns[i], people[i] * shift.weight(i, 1.0 / gamma), people[i] * shift.weight(i, gamma)])
        .filter(|[_, _, high]| *high > 0.0)
        .collect();
    if boxes.is_empty() {
        return Err(ConfoundingError::NobodyFollows);
    }
    boxes.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let received = shift.received(people);
    let least = least_mean(boxes.iter().copied());
    // The greatest mean of G is minus the least one of −G.
    let greatest = -least_mean(boxes.iter().rev().map(|[g, low, high]| [-g, *low, *high]));
    Ok((least - received, greatest - received))
}

/// min Σ w g / Σ w over low ≤ w ≤ high, of (g, low, high) with ascending g: large weights up to some g, small ones beyond.
fn least_mean(boxes: impl Iterator<Item = [f64; 3]> + Clone) -> f64 {
    let (mut sum, mut total) = boxes.clone().fold((0.0, 0.0), |(sum, total), [g, low, _]| (sum + g * low, total + low));
    let mut least = f64::INFINITY;
    for [g, low, high] in boxes {
        sum += g * (high - low);
        total += high - low;
        least = least.min(sum / total);
    }
    least
}

/// The Γ at which the bounds first hold 0: 1 if they do without confounding, `None` if they do not at `most`.
///
/// # Errors
/// As for [`value_bounds`].
pub fn tipping_gamma(shift: &Shift, people: &[f64], most: f64) -> Result<Option<f64>, ConfoundingError> {
    let holds_zero = |gamma: f64| value_bounds(shift, people, gamma).map(|(low, high)| low <= 0.0 && 0.0 <= high);
    if holds_zero(1.0)? {
        return Ok(Some(1.0));
    }
    if !holds_zero(most)? {
        return Ok(None);
    }
    // Bounds widen with Γ: bisection on its logarithm, to a millionth.
    let (mut low, mut high) = (0.0, most.ln());
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        if holds_zero(middle.exp())? { high = middle } else { low = middle }
    }
    Ok(Some(high.exp()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// People with one decision: how many, the action, the reward.
    fn panel(people: &[(usize, u32, f64)]) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        for (i, &(count, action, reward)) in people.iter().enumerate() {
            for copy in 0..count {
                let id = format!("{i} {copy}");
                builder
                    .push(Person { id: &id, level: 0, states: &[0.0], actions: &[action], rewards: &[reward] })
                    .unwrap();
            }
        }
        builder.finish()
    }

    /// A hidden U, half and half: P(A = 1 | U) = ½ or ⅘, Y(1) = 1 + U, Y(0) = 1; a thousand people as they would fall.
    fn confounded() -> (Panel, Vec<f64>) {
        let panel = panel(&[(250, 1, 1.0), (250, 0, 1.0), (400, 1, 2.0), (100, 0, 1.0)]);
        let taken = panel.actions().iter().map(|&a| [0.35, 0.65][a as usize]).collect();
        (panel, taken)
    }

    #[test]
    fn bounds_at_the_true_confounding_hold_the_truth_and_the_naive_value_is_off() {
        let (panel, taken) = confounded();
        let treat = [0.0, 1.0].repeat(1000);
        let shift = Shift::new(&panel, &treat, &taken, 0.9).unwrap();
        let people = vec![1.0; 1000];
        let truth = 1.5 - 1.4;
        // Without confounding: mean of those treated, 1050/650.
        let (low, high) = value_bounds(&shift, &people, 1.0).unwrap();
        assert!((low - (1050.0 / 650.0 - 1.4)).abs() < 1e-12 && (high - low).abs() < 1e-12, "{low}, {high}");
        // Odds 13/7 against 1 and 4: Γ = 28/13. There treated people with U = 1 weigh 1 + 7/28 = 5/4 each, the others up to 1 + 28/13·7/13.
        let gamma = 28.0 / 13.0;
        let (low, high) = value_bounds(&shift, &people, gamma).unwrap();
        let (with, without) = (400.0 * 1.25, 250.0 * (1.0 + gamma * 7.0 / 13.0));
        assert!((low - ((2.0 * with + without) / (with + without) - 1.4)).abs() < 1e-12, "{low}");
        assert!(low <= truth && truth <= high, "{low}, {high}");
        // Half of the logarithm is not enough confounding to reach the truth.
        assert!(value_bounds(&shift, &people, gamma.powf(0.25)).unwrap().0 > truth);
    }

    #[test]
    fn bounds_are_the_extremes_over_all_corners() {
        let people = [(1, 1, 0.3), (1, 0, 1.1), (1, 1, -0.7), (1, 1, 2.0), (1, 0, -0.2), (1, 1, 0.9), (1, 1, -0.1)];
        let panel = panel(&people);
        let treated = |i: usize| 0.2 + 0.08 * i as f64;
        let taken: Vec<f64> = (0..7).map(|i| if people[i].1 == 1 { treated(i) } else { 1.0 - treated(i) }).collect();
        let policy: Vec<f64> = (0..7).map(|i| 0.9 - 0.1 * f64::from(i)).flat_map(|q| [1.0 - q, q]).collect();
        let shift = Shift::new(&panel, &policy, &taken, 0.7).unwrap();
        let (weights, gamma) = ([1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0], 1.8);
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        for corner in 0..128u32 {
            let (mut sum, mut total) = (0.0, 0.0);
            for i in 0..7 {
                let factor = if corner >> i & 1 == 1 { gamma } else { 1.0 / gamma };
                let w = weights[i] * shift.weight(i, factor);
                sum += w * people[i].2;
                total += w;
            }
            least = f64::min(least, sum / total);
            greatest = f64::max(greatest, sum / total);
        }
        let received = people.iter().zip(weights).map(|(p, w)| p.2 * w).sum::<f64>() / 9.5;
        let (low, high) = value_bounds(&shift, &weights, gamma).unwrap();
        assert!((low - (least - received)).abs() < 1e-12 && (high - (greatest - received)).abs() < 1e-12);
    }

    #[test]
    fn the_sign_is_lost_where_the_bound_is_zero() {
        let (panel, taken) = confounded();
        let shift = Shift::new(&panel, &[0.0, 1.0].repeat(1000), &taken, 0.9).unwrap();
        let people = vec![1.0; 1000];
        let gamma = tipping_gamma(&shift, &people, 20.0).unwrap().unwrap();
        // (2w + v)/(w + v) = 1.4 with w = 400 (1 + o/Γ), v = 250 (1 + oΓ), o = 7/13: 0.6 w = 0.4 v.
        let o = 7.0 / 13.0;
        let balance = 240.0 * (1.0 + o / gamma) - 100.0 * (1.0 + o * gamma);
        assert!(balance.abs() < 1e-3, "Γ = {gamma}: {balance}");
        assert_eq!(tipping_gamma(&shift, &people, 1.2).unwrap(), None);
        // What was done is what people received: nothing to lose.
        let same = Shift::new(&panel, &[0.35, 0.65].repeat(1000), &taken, 0.9).unwrap();
        let difference = value_bounds(&same, &people, 1.0).unwrap();
        assert!(difference.0.abs() < 1e-12 && difference.1.abs() < 1e-12, "{difference:?}");
    }

    #[test]
    fn weights_multiply_over_decisions_and_returns_are_discounted() {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
        let person = Person { id: "a", level: 0, states: &[0.0, 0.1, 0.2], actions: &[1, 0], rewards: &[2.0, 3.0] };
        builder.push(person).unwrap();
        let panel = builder.finish();
        let (policy, taken) = ([0.5, 0.5, 0.25, 0.75, 0.0, 1.0], [0.4, 0.8]);
        let shift = Shift::new(&panel, &policy, &taken, 0.7).unwrap();
        assert!((shift.returns[0] - 4.1).abs() < 1e-12);
        assert!((shift.weight(0, 2.0) - 0.5 * (1.0 + 2.0 * 1.5) * 0.25 * (1.0 + 2.0 * 0.25)).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_bounded_is_said() {
        let (panel, taken) = confounded();
        let treat = [0.0, 1.0].repeat(1000);
        let short = Shift::new(&panel, &treat[..5], &taken, 0.9);
        assert_eq!(short.err(), Some(ConfoundingError::Length { found: 5, needed: 2000 }));
        let short = Shift::new(&panel, &treat, &taken[..7], 0.9);
        assert_eq!(short.err(), Some(ConfoundingError::Length { found: 7, needed: 1000 }));
        let never = Shift::new(&panel, &treat, &[0.0; 1000], 0.9);
        assert_eq!(never.err(), Some(ConfoundingError::Propensity { id: "0 0".into(), t: 1, probability: 0.0 }));
        let shift = Shift::new(&panel, &treat, &taken, 0.9).unwrap();
        assert_eq!(value_bounds(&shift, &vec![1.0; 1000], 0.5).err(), Some(ConfoundingError::Gamma(0.5)));
        let nobody: Vec<f64> = panel.actions().iter().map(|&a| f64::from(1 - a)).collect();
        assert_eq!(value_bounds(&shift, &nobody, 2.0).err(), Some(ConfoundingError::NobodyFollows));
    }
}
