//! The CF metric of deployment from recorded people, with what is not known about it.
//!
//! The mechanism under which people are followed in other worlds is estimated, and its error is of the size of what is measured: a
//! policy that reads counterfactual states is exactly fair under its own estimate. So the metric is computed under many mechanisms that
//! the data do not tell apart, and the answer is the law of what comes out. Where states are recorded on scales a person's noise is known up to
//! a category; it is drawn within it, anew each time.

mod blend;
mod deployed;
mod histories;
mod parity;
#[cfg(test)]
mod tests;

pub(in crate::audit) use histories::Histories;
pub(crate) use parity::wilson;
pub use parity::{ParityGap, parity_gap, parity_gap_of};

use super::own_noise::{Recorded, noise_of, too_coarse};
use super::panel_audit::check;
use super::{AuditError, PanelDraws};
use crate::estimate::{Certificate, Fitted, RefitError, Refitter};
use crate::kernel::evaluate::PairShare;
use crate::kernel::learn::Agent;
use crate::kernel::model::{Mechanism, OnScales, Output, Scale};
use crate::kernel::numeric::{Law, Stream, person_weights};
use crate::kernel::people::Panel;
use blend::Blend;
use rayon::prelude::*;

/// People, the policy that is judged on them, and the mechanisms they are followed under.
#[derive(Clone, Copy)]
pub struct Judged<'a> {
    /// The policy.
    pub agent: &'a dyn Agent,
    /// The people.
    pub panel: &'a Panel,
    /// The draws behind what the policy does.
    pub draws: &'a PanelDraws,
    /// The mechanisms.
    pub yardstick: Yardstick<'a>,
    /// The scale on which each state is recorded; empty where none is.
    pub scales: &'a [Option<Scale>],
}

/// Under which mechanisms people are followed.
#[derive(Clone, Copy)]
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
#[derive(Clone, Copy)]
pub struct Carried<'a> {
    /// μ̂_L.
    pub mechanism: &'a dyn Mechanism,
    /// n_L, the transitions it was fitted to.
    pub transitions: usize,
}

/// What is known about the unfairness of a policy.
#[derive(Debug, Clone, PartialEq)]
pub struct UnfairnessLaw {
    /// `eq:cf_metric` of deployment: the largest share over pairs of levels, within each replicate.
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
    /// A coordinate that keeps its observed value does not say where other actions would have led it.
    #[error(
        "a state that keeps its observed value in every world does not say what other actions would have made of it"
    )]
    Kept,
    /// The law of a coordinate's noise cannot be told beside its steps.
    #[error(
        "state {} varies so little beside the steps of its scale that the law of its noise is not known, and people cannot be followed in other worlds",
        .state + 1
    )]
    TooCoarse {
        /// The coordinate, from 0.
        state: usize,
    },
}

/// A law, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossFitted {
    /// The law.
    pub law: UnfairnessLaw,
    /// The share of every pair of levels in each replicate, in the order in which replicates were drawn: `shares[b][pair]`. What several
    /// policies have in common is in what they do in the same replicate.
    pub shares: Vec<Vec<f64>>,
    /// For each fold and person, the share of their decisions that differ between two levels, averaged over the replicates.
    pub by_person: Vec<Vec<f64>>,
}

/// The law of a policy's CF metric in deployment, on the people of a panel; or of policies that were learned fold by fold, each on the people
/// of its own fold.
///
/// # Equation
/// ```text
/// θ*_b = max_{z, z′} Σ_f Σ_{i ∈ f} wᵢᵇ Σₜ 1{ Aₜ^{z′}(hᵢₜ; μ*_{f,b}) ≠ Aₜ^z(hᵢₜ; μ*_{f,b}) } / Σ_f Σ_{i ∈ f} wᵢᵇ Tᵢ,     b = 1 … B
/// ```
/// Each person is followed from their first recorded state under the policy's own decisions, for as long as they were recorded, with the noise
/// that μ*_{f,b} leaves of their record; in the worlds of all levels at once, and the policy is asked in each. The policy, with whatever means it
/// carries, stays as it is; wᵇ are the weights of the judged people in the b-th replicate. Judged on the people it was learned from, these are the
/// weights of the refit itself. Certificates with one seed give a person the same weight wherever the person is: in the refits of every fold that
/// learned from them, and among those judged. So a replicate is one resampling of the study, and what the folds have in common is in the spread
/// of the law.
///
/// # Assumptions
/// A person's noise is the same in every world, on the common scale of the noise model; means within the fitted class; the judged people follow
/// the mechanism that the yardstick describes. Where states are on a scale, the recorded score is the state, and noise is normal on that scale
/// within a category. The estimate is the mean of the law, its quantiles are bounds: for a policy that carries its own means θ(μ₀; μ̂) and
/// θ(μ*; μ̂) have one limit law (AUDIT §2.9); for one that does not, θ is smooth in μ and this is the percentile interval.
///
/// # Errors
/// [`UnfairnessError`]; folds whose certificates differ in their number of refits are followed as far as the shortest goes.
pub fn unfairness(folds: &[Judged<'_>], confidence: f64) -> Result<CrossFitted, UnfairnessError> {
    for Judged { agent, panel, draws, yardstick, .. } in folds {
        check(panel, yardstick.fitted(), *agent, draws)?;
        if keeps(yardstick.fitted()) {
            return Err(UnfairnessError::Kept);
        }
    }
    let replicates = folds.iter().map(|fold| fold.yardstick.replicates()).min().unwrap_or(0);
    if replicates == 0 {
        return Err(UnfairnessError::NoReplicates);
    }
    if let Some(state) = coarse(folds) {
        return Err(UnfairnessError::TooCoarse { state });
    }
    let found: Vec<Replicate> =
        (0..replicates).into_par_iter().map(|b| Replicate::of(folds, b)).collect::<Result<_, UnfairnessError>>()?;
    Ok(CrossFitted {
        shares: found.iter().map(|replicate| replicate.shares.iter().map(|share| share.differ).collect()).collect(),
        law: law(folds, &found, confidence),
        by_person: mean_by_person(folds, &found),
    })
}

impl<'a> Yardstick<'a> {
    /// The mechanism in the middle.
    fn fitted(&self) -> &'a Fitted {
        match self {
            Self::Certificate(certificate) => certificate.mechanism(),
            Self::Judged { refitter, .. } => refitter.fitted(),
        }
    }

    fn replicates(&self) -> usize {
        match self {
            Self::Certificate(certificate) => certificate.replicates(),
            Self::Judged { replicates, .. } => *replicates,
        }
    }

    /// Whether the policy does not depend on the people of the panel.
    fn is_fresh(&self, panel: &Panel) -> bool {
        match self {
            Self::Certificate(certificate) => !certificate.was_made_from(panel),
            Self::Judged { carried, .. } => carried.is_some(),
        }
    }

    /// The b-th mechanism, and the weights of the panel's people that go with it.
    fn replicate(&self, panel: &Panel, b: usize) -> Result<(Redrawn<'a>, Vec<f64>), UnfairnessError> {
        match *self {
            Self::Certificate(certificate) => {
                Ok((Redrawn { refitted: certificate.replicate(b), carried: None }, certificate.weights(panel, b)))
            }
            Self::Judged { refitter, carried, seed, .. } => {
                let stream = Stream::new(seed).named("people").index(b as u64);
                let weights = person_weights(panel.ids(), stream);
                let refitted = refitter.draw(&weights, stream)?;
                let carried = carried.map(|carried| (carried, refitter.fitted(), panel.transitions()));
                Ok((Redrawn { refitted, carried }, weights))
            }
        }
    }
}

/// A mechanism that the data do not tell apart from the fitted one.
struct Redrawn<'a> {
    refitted: Fitted,
    /// The means that the policy carries, those fitted to the judged people, and the transitions of these.
    carried: Option<(Carried<'a>, &'a Fitted, usize)>,
}

impl Redrawn<'_> {
    /// The mechanism of [`Carried`]'s equation, where means are carried.
    fn mechanism(&self) -> Box<dyn Mechanism + '_> {
        let Some((carried, judged, transitions)) = self.carried else { return Box::new(&self.refitted) };
        let w = carried.transitions as f64 / (carried.transitions + transitions).max(1) as f64;
        let spread = (1.0 - w).sqrt();
        Box::new(Blend::new(vec![(w, carried.mechanism), (1.0 - w - spread, judged), (spread, &self.refitted)]))
    }
}

fn keeps(mechanism: &Fitted) -> bool {
    let states = (0..mechanism.state_dim()).flat_map(|j| [Output::First(j), Output::Next(j)]);
    mechanism.noise().is_some_and(|law| states.into_iter().any(|output| law.is_kept(output)))
}

/// The first state whose steps leave nothing to be known about its noise.
fn coarse(folds: &[Judged<'_>]) -> Option<usize> {
    let on_scales: Vec<OnScales<&dyn Mechanism>> =
        folds.iter().map(|fold| OnScales::new(fold.yardstick.fitted() as &dyn Mechanism, fold.scales)).collect();
    let equal: Vec<Vec<f64>> = folds.iter().map(|fold| vec![1.0; fold.panel.people()]).collect();
    let people = folds.iter().zip(&on_scales).zip(&equal);
    let people = people.map(|((fold, mechanism), weights)| Recorded { panel: fold.panel, mechanism, weights });
    too_coarse(&people.collect::<Vec<_>>())
}

/// What following everybody under one mechanism of each fold showed.
struct Replicate {
    /// Of every pair.
    shares: Vec<PairShare>,
    /// The metric with equal weights.
    equal: f64,
    by_person: Vec<Vec<f64>>,
}

impl Replicate {
    fn of(folds: &[Judged<'_>], b: usize) -> Result<Self, UnfairnessError> {
        let drawn = folds.iter().map(|fold| fold.yardstick.replicate(fold.panel, b));
        let drawn: Vec<(Redrawn, Vec<f64>)> = drawn.collect::<Result<_, UnfairnessError>>()?;
        let mechanisms: Vec<Box<dyn Mechanism + '_>> = drawn.iter().map(|(redrawn, _)| redrawn.mechanism()).collect();
        let on_scales: Vec<OnScales<&dyn Mechanism>> =
            folds.iter().zip(&mechanisms).map(|(fold, mechanism)| OnScales::new(&**mechanism, fold.scales)).collect();
        let people = folds.iter().zip(&on_scales).zip(&drawn);
        let people = people.map(|((fold, mechanism), (_, weights))| Recorded { panel: fold.panel, mechanism, weights });
        let people: Vec<Recorded> = people.collect();
        let noise = noise_of(&people, Stream::new(b as u64).named("noise within categories"));
        let (mut weighted, mut equal) = (Shares::default(), Shares::default());
        let mut by_person = Vec::new();
        for ((fold, own), noise) in folds.iter().zip(&people).zip(&noise) {
            let Judged { agent, panel, draws, .. } = *fold;
            let counted =
                deployed::disagreement(own.mechanism, agent, panel, draws, noise).map_err(AuditError::from)?;
            let is_deterministic = agent.is_deterministic();
            let decisions = |i: usize| panel.decisions_of(i).len() as f64;
            let total = |weights: &[f64]| weights.iter().enumerate().map(|(i, w)| w * decisions(i)).sum();
            let ones = vec![1.0; panel.people()];
            weighted.add(counted.weighted(own.weights, is_deterministic), total(own.weights));
            equal.add(counted.weighted(&ones, is_deterministic), total(&ones));
            by_person.push(counted.by_person());
        }
        Ok(Self { shares: weighted.means(), equal: largest(&equal.means(), |share| share.differ), by_person })
    }
}

/// Shares of every pair, summed over folds.
#[derive(Default)]
struct Shares {
    sums: Vec<PairShare>,
    total: f64,
}

impl Shares {
    fn add(&mut self, shares: Vec<PairShare>, total: f64) {
        if self.sums.is_empty() {
            self.sums = shares.iter().map(|share| PairShare { differ: 0.0, total_variation: 0.0, ..*share }).collect();
        }
        for (sum, share) in self.sums.iter_mut().zip(shares) {
            sum.differ += total * share.differ;
            sum.total_variation += total * share.total_variation;
        }
        self.total += total;
    }

    fn means(self) -> Vec<PairShare> {
        let of = |sum: f64| if self.total > 0.0 { sum / self.total } else { 0.0 };
        let mean =
            |s: &PairShare| PairShare { pair: s.pair, differ: of(s.differ), total_variation: of(s.total_variation) };
        self.sums.iter().map(mean).collect()
    }
}

fn largest(shares: &[PairShare], of: impl Fn(&PairShare) -> f64) -> f64 {
    shares.iter().map(of).fold(0.0, f64::max)
}

fn law(folds: &[Judged<'_>], found: &[Replicate], confidence: f64) -> UnfairnessLaw {
    let law = |of: &dyn Fn(&Replicate) -> f64| Law::of(found.iter().map(of).collect());
    let pairs: Vec<((usize, usize), Law)> = found[0]
        .shares
        .iter()
        .enumerate()
        .map(|(i, share)| (share.pair, law(&|replicate| replicate.shares[i].differ)))
        .collect();
    let pair = pairs.iter().reduce(|best, next| if next.1.mean() > best.1.mean() { next } else { best });
    let horizons = folds.iter().flat_map(|fold| (0..fold.panel.people()).map(|i| fold.panel.decisions_of(i).len()));
    let bound = |fold: &Judged<'_>| {
        let horizons: Vec<usize> = horizons.clone().collect();
        let bound = || finite_sample_bound(&law(&|replicate| replicate.equal), &horizons, pairs.len(), confidence);
        fold.yardstick.is_fresh(fold.panel).then(bound)
    };
    UnfairnessLaw {
        // Policies of several folds were learned from the others' people.
        finite_sample_bound: if let [only] = folds { bound(only) } else { None },
        metric: law(&|replicate| largest(&replicate.shares, |share| share.differ)),
        pair: pair.map_or((0, 0), |(pair, _)| *pair),
        total_variation: law(&|replicate| largest(&replicate.shares, |share| share.total_variation)),
        parity_gap: gap_of_folds(folds, confidence),
        confidence,
        people: folds.iter().map(|fold| fold.panel.people()).sum(),
        pairs,
    }
}

/// The parity gap over all folds.
fn gap_of_folds(folds: &[Judged<'_>], confidence: f64) -> ParityGap {
    let (mut own, mut probabilities) = (vec![], vec![]);
    for Judged { agent, panel, draws, .. } in folds {
        let (levels, rows) = parity::first_decisions(panel, *agent, &draws.coins);
        own.extend(levels);
        probabilities.extend(rows);
    }
    parity_gap_of(&own, folds[0].panel.levels().len(), &probabilities, folds[0].agent.actions(), confidence)
}

fn mean_by_person(folds: &[Judged<'_>], found: &[Replicate]) -> Vec<Vec<f64>> {
    let mut means: Vec<Vec<f64>> = folds.iter().map(|fold| vec![0.0; fold.panel.people()]).collect();
    for replicate in found {
        for (mean, shares) in means.iter_mut().zip(&replicate.by_person) {
            mean.iter_mut().zip(shares).for_each(|(mean, share)| *mean += share / found.len() as f64);
        }
    }
    means
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
