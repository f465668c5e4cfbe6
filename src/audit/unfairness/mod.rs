//! The CF metric from data, with what is not known about it.
//!
//! The mechanism under which people are followed in other worlds is estimated, and its error is of the size of what is measured: a
//! policy that reads counterfactual states is exactly fair under its own estimate. So the metric is computed under many mechanisms that
//! the data do not tell apart, and the answer is the law of what comes out.

mod cross_fitted;
mod histories;
mod parity;
#[cfg(test)]
mod tests;

pub use cross_fitted::{CrossFitted, HeldOut, cross_fitted_unfairness};
pub(in crate::audit) use histories::Histories;
pub(crate) use parity::wilson;
pub use parity::{ParityGap, parity_gap, parity_gap_of};

use super::panel_audit::check;
use super::{AuditError, PanelDraws};
use crate::estimate::{Certificate, RefitError, Refitter};
use crate::kernel::evaluate::PairShare;
use crate::kernel::learn::Agent;
use crate::kernel::model::{Blend, Mechanism};
use crate::kernel::numeric::{Law, Stream, person_weights};
use crate::kernel::people::Panel;
use rayon::prelude::*;

/// Under which mechanisms people are followed.
pub enum Yardstick<'a> {
    /// Those that the learning data do not tell apart, as the policy file keeps them.
    Certificate(&'a Certificate),
    /// For a policy without a certificate: those that the judged people do not tell apart, and, where the policy carries means of its
    /// own, the people behind those.
    Judged {
        /// Of the judged people.
        refitter: &'a Refitter,
        /// The means inside the policy, if it has any and if they were not fitted to the judged people.
        carried: Option<Carried<'a>>,
        /// B.
        replicates: usize,
        /// Behind the weights of people.
        seed: u64,
    },
}

/// The means that a policy carries, fitted to people who are not those judged.
///
/// # Equation
/// ```text
/// μ* = w μ̂_L + (1 − w) μ̂_J + √(1 − w) (μ̂*_J − μ̂_J),   w = n_L / (n_L + n_J)
/// ```
/// Both estimates are informative about one truth, with precisions as their transitions: the pooled estimate, and refits of the judged
/// people shrunk to the spread of the pooled one. Refits of the judged people alone are too far from the policy's means, because two
/// estimation errors lie between them: for n_L = n_J their CF metric is 1.4 to 1.7 times too high.
pub struct Carried<'a> {
    /// μ̂_L.
    pub mechanism: &'a dyn Mechanism,
    /// n_L, the transitions it was fitted to.
    pub transitions: usize,
}

/// What is known about the unfairness of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfairnessLaw {
    /// `eq:cf_metric` along the recorded histories: the largest share over pairs of levels, within each replicate.
    pub metric: Law,
    /// The levels whose share is the largest on average.
    pub pair: (usize, usize),
    /// The share of every pair z < z′, in order.
    pub pairs: Vec<((usize, usize), Law)>,
    /// The same with total variation for the share, which is exact for random policies.
    pub total_variation: Law,
    /// The lower bound that assumes no mechanism.
    pub parity_gap: ParityGap,
    /// The upper bound that holds for every number of judged people, given a confidence set for the mechanism; see
    /// `finite_sample_bound`. `None` when the policy was learned from the judged people, or from some of them.
    pub finite_sample_bound: Option<f64>,
    /// Share at which the parity gap's interval and the finite-sample bound hold.
    pub confidence: f64,
    /// The people judged.
    pub people: usize,
}

impl UnfairnessLaw {
    /// The estimate: the mean of the law.
    pub fn mean(&self) -> f64 {
        self.metric.mean()
    }

    /// The standard deviation of the law.
    pub fn standard_error(&self) -> f64 {
        self.metric.standard_error()
    }

    /// The equal-tailed interval.
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        self.metric.interval(confidence)
    }

    /// "At most this, with this confidence, if noise is as modelled."
    ///
    /// # Panics
    /// When `confidence` is not strictly between 0 and 1.
    pub fn upper(&self, confidence: f64) -> f64 {
        self.metric.upper(confidence)
    }

    /// B.
    pub fn replicates(&self) -> usize {
        self.metric.draws().len()
    }
}

/// Why there is no law.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UnfairnessError {
    /// Panel, mechanism and agent do not fit, or a history overflowed.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A refit failed.
    #[error(transparent)]
    Refit(#[from] RefitError),
    /// B = 0.
    #[error("the law of the CF metric needs at least one replicate")]
    NoReplicates,
}

/// The law of a policy's CF metric on the people of a panel.
///
/// # Equation
/// ```text
/// θ*_b = max_{z, z′} Σᵢ wᵢᵇ Σₜ 1{ Aₜ^{z′}(hᵢₜ; μ*_b) ≠ Aₜ^z(hᵢₜ; μ*_b) } / Σᵢ wᵢᵇ Tᵢ,     b = 1 … B
/// ```
/// The policy, with whatever means it carries, stays as it is; μ*_b is the mechanism of the b-th replicate and wᵇ the weights of the judged
/// people in it. Judged on the people it was learned from, these are the weights of the refit itself.
///
/// # Assumptions
/// Additive noise, means within the fitted class, the judged people follow the mechanism that the yardstick describes. The estimate is
/// the mean of the law, its quantiles are bounds: for a policy that carries its own means θ(μ₀; μ̂) and θ(μ*; μ̂) have one limit law
/// (AUDIT §2.9); for one that does not, θ is smooth in μ and this is the percentile interval.
///
/// # Errors
/// [`UnfairnessError`].
pub fn unfairness(
    agent: &dyn Agent,
    panel: &Panel,
    yardstick: &Yardstick<'_>,
    draws: &PanelDraws,
    confidence: f64,
) -> Result<UnfairnessLaw, UnfairnessError> {
    let (replicates, fresh, plain): (usize, bool, &dyn Mechanism) = match yardstick {
        Yardstick::Certificate(certificate) => {
            (certificate.replicates(), !certificate.was_made_from(panel), certificate.mechanism())
        }
        Yardstick::Judged { refitter, carried, replicates, .. } => (*replicates, carried.is_some(), refitter.fitted()),
    };
    check(panel, plain, agent, draws)?;
    if replicates == 0 {
        return Err(UnfairnessError::NoReplicates);
    }
    let histories = Histories::new(panel, draws);
    let equal = vec![1.0; panel.people()];
    let follow = |mechanism: &dyn Mechanism, weights: &[f64]| -> Result<Replicate, UnfairnessError> {
        let counted = histories.disagreement(mechanism, agent).map_err(AuditError::from)?;
        let of = |weights: &[f64]| counted.weighted(&histories.in_order(weights), agent.is_deterministic());
        Ok(Replicate { weighted: of(weights), equal: largest(&of(&equal), |share| share.differ) })
    };
    let found: Vec<Replicate> = (0..replicates)
        .into_par_iter()
        .map(|b| match yardstick {
            Yardstick::Certificate(certificate) => follow(&certificate.replicate(b), &certificate.weights(panel, b)),
            Yardstick::Judged { refitter, carried, seed, .. } => {
                let stream = Stream::new(*seed).named("people").index(b as u64);
                let weights = person_weights(panel.ids(), stream);
                let refitted = refitter.draw(&weights, stream)?;
                match carried {
                    None => follow(&refitted, &weights),
                    Some(carried) => follow(&pooled(carried, refitter, &refitted, panel.transitions()), &weights),
                }
            }
        })
        .collect::<Result<_, UnfairnessError>>()?;

    let law = |of: &dyn Fn(&Replicate) -> f64| Law::of(found.iter().map(of).collect());
    let metric = law(&|replicate| largest(&replicate.weighted, |share| share.differ));
    let total_variation = law(&|replicate| largest(&replicate.weighted, |share| share.total_variation));
    let pairs: Vec<((usize, usize), Law)> = found[0]
        .weighted
        .iter()
        .enumerate()
        .map(|(i, share)| (share.pair, law(&|replicate| replicate.weighted[i].differ)))
        .collect();
    let pair = pairs.iter().reduce(|best, next| if next.1.mean() > best.1.mean() { next } else { best });
    let pair = pair.map_or((0, 0), |(pair, _)| *pair);
    let horizons: Vec<usize> = (0..panel.people()).map(|i| panel.decisions_of(i).len()).collect();
    let bound = || finite_sample_bound(&law(&|replicate| replicate.equal), &horizons, pairs.len(), confidence);
    Ok(UnfairnessLaw {
        finite_sample_bound: fresh.then(bound),
        parity_gap: parity_gap(panel, agent, &draws.coins, confidence),
        metric,
        pair,
        pairs,
        total_variation,
        confidence,
        people: panel.people(),
    })
}

/// What following people under one mechanism showed.
struct Replicate {
    /// Of every pair, with the replicate's weights.
    weighted: Vec<PairShare>,
    /// The metric with equal weights.
    equal: f64,
}

fn largest(shares: &[PairShare], of: impl Fn(&PairShare) -> f64) -> f64 {
    shares.iter().map(of).fold(0.0, f64::max)
}

/// The mechanism of [`Carried`]'s equation.
fn pooled<'a>(
    carried: &Carried<'a>,
    refitter: &'a Refitter,
    refitted: &'a dyn Mechanism,
    transitions: usize,
) -> Blend<'a> {
    let w = carried.transitions as f64 / (carried.transitions + transitions).max(1) as f64;
    let spread = (1.0 - w).sqrt();
    Blend::new(vec![(w, carried.mechanism), (1.0 - w - spread, refitter.fitted()), (spread, refitted)])
}

/// An upper bound of the CF metric that holds for any number of judged people.
///
/// # Equation
/// ```text
/// θ ≤ sup_{μ ∈ 𝓜} θ_N(μ) + √( log(C/α₂) Σᵢ Tᵢ² / (2 (Σᵢ Tᵢ)²) ),   with probability 1 − α₁ − α₂
/// ```
/// 𝓜 is a (1 − α₁) confidence set for the mechanism, C the number of pairs of levels (Hoeffding at the true mechanism, and a union bound).
/// Here 𝓜 are the mechanisms with θ_N(μ) below the (1 − α₁) quantile of the law with equal weights: its coverage is that of the law,
/// hence asymptotic in the *learning* data, while nothing is asymptotic in the judged people. α₁ = α₂ = α/2.
///
/// # Assumptions
/// The policy does not depend on the judged people; their horizons do not depend on their noise.
pub fn finite_sample_bound(equally_weighted: &Law, horizons: &[usize], pairs: usize, confidence: f64) -> f64 {
    let half = (1.0 - confidence) / 2.0;
    let total: f64 = horizons.iter().map(|&t| t as f64).sum();
    let squares: f64 = horizons.iter().map(|&t| (t as f64).powi(2)).sum();
    if total == 0.0 || pairs == 0 {
        return 0.0;
    }
    let deviation = ((pairs as f64 / half).ln() * squares / (2.0 * total * total)).sqrt();
    (equally_weighted.quantile(1.0 - half) + deviation).min(1.0)
}
