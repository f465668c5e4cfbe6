//! The CF metric of policies that were learned fold by fold, each judged on the people of its own fold.

use super::super::panel_audit::check;
use super::super::{AuditError, PanelDraws};
use super::parity::parity_gap_of;
use super::{Histories, UnfairnessError, UnfairnessLaw, largest};
use crate::estimate::Certificate;
use crate::kernel::evaluate::PairShare;
use crate::kernel::learn::Agent;
use crate::kernel::numeric::Law;
use crate::kernel::people::Panel;
use rayon::prelude::*;

/// People who were held out, and the policy that was learned from the others.
pub struct HeldOut<'a> {
    /// The policy.
    pub agent: &'a dyn Agent,
    /// The people it was not learned from.
    pub panel: &'a Panel,
    /// Refits of the mechanism with the people it was learned from.
    pub certificate: &'a Certificate,
    /// The draws behind what the policy does.
    pub draws: &'a PanelDraws,
}

/// The law of the CF metric over all folds, and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossFitted {
    /// The law.
    pub law: UnfairnessLaw,
    /// The share of every pair of levels in each replicate, in the order in which replicates were drawn: `shares[b][pair]`. What several
    /// policies have in common is in what they do in the same replicate.
    pub shares: Vec<Vec<f64>>,
    /// For each fold and person, the share of their decisions that differ between two levels, averaged over the refits.
    pub by_person: Vec<Vec<f64>>,
}

/// The law of the CF metric of fold policies on the people who were held out.
///
/// # Equation
/// ```text
/// θ*_b = max_{z, z′} Σ_f Σ_{i ∈ f} wᵢᵇ Σₜ 1{ Aₜ^{z′}(hᵢₜ; μ*_{f,b}) ≠ Aₜ^z(hᵢₜ; μ*_{f,b}) } / Σ_f Σ_{i ∈ f} wᵢᵇ Tᵢ,     b = 1 … B
/// ```
/// The truth is the same with the true mechanism and with everybody who might have been there, the fold policies as they are. Certificates
/// with one seed give a person the same weight wᵢᵇ wherever the person is: in the refits of every fold that learned from them, and among
/// those judged. So a replicate is one resampling of the study, and what the folds have in common is in the spread of the law.
///
/// # Errors
/// [`UnfairnessError`]; folds whose certificates differ in their number of refits are followed as far as the shortest goes.
pub fn cross_fitted_unfairness(folds: &[HeldOut<'_>], confidence: f64) -> Result<CrossFitted, UnfairnessError> {
    let replicates = folds.iter().map(|fold| fold.certificate.replicates()).min().unwrap_or(0);
    if replicates == 0 {
        return Err(UnfairnessError::NoReplicates);
    }
    for fold in folds {
        check(fold.panel, fold.certificate.mechanism(), fold.agent, fold.draws)?;
    }
    let histories: Vec<Histories<'_>> = folds.iter().map(|fold| Histories::new(fold.panel, fold.draws)).collect();
    let found: Vec<Replicate> = (0..replicates)
        .into_par_iter()
        .map(|b| {
            let mut replicate = Replicate { shares: vec![], total: 0.0, by_person: vec![] };
            for (fold, histories) in folds.iter().zip(&histories) {
                let counted =
                    histories.disagreement(&fold.certificate.replicate(b), fold.agent).map_err(AuditError::from)?;
                let weights = fold.certificate.weights(fold.panel, b);
                let decisions = |i: usize| fold.panel.decisions_of(i).len() as f64;
                let total: f64 = weights.iter().enumerate().map(|(i, w)| w * decisions(i)).sum();
                let shares = counted.weighted(&histories.in_order(&weights), fold.agent.is_deterministic());
                replicate.add(shares, total);
                replicate.by_person.push(histories.in_panel_order(&counted.by_person()));
            }
            Ok(replicate)
        })
        .collect::<Result<_, UnfairnessError>>()?;
    let shares = found.iter().map(|replicate| replicate.shares.iter().map(|s| replicate.of(s.differ)).collect());
    Ok(CrossFitted {
        shares: shares.collect(),
        law: law(folds, &found, confidence),
        by_person: mean_by_person(folds, &found),
    })
}

/// What following everybody under one refit of each fold showed.
struct Replicate {
    /// Of every pair, sums over folds of weighted decisions.
    shares: Vec<PairShare>,
    total: f64,
    by_person: Vec<Vec<f64>>,
}

impl Replicate {
    fn add(&mut self, mut shares: Vec<PairShare>, total: f64) {
        for share in &mut shares {
            share.differ *= total;
            share.total_variation *= total;
        }
        if self.shares.is_empty() {
            self.shares = shares;
        } else {
            for (sum, share) in self.shares.iter_mut().zip(shares) {
                sum.differ += share.differ;
                sum.total_variation += share.total_variation;
            }
        }
        self.total += total;
    }

    fn of(&self, sum: f64) -> f64 {
        if self.total > 0.0 { sum / self.total } else { 0.0 }
    }
}

fn law(folds: &[HeldOut<'_>], found: &[Replicate], confidence: f64) -> UnfairnessLaw {
    let law = |of: &dyn Fn(&Replicate) -> f64| Law::of(found.iter().map(of).collect());
    let pairs: Vec<((usize, usize), Law)> = found[0]
        .shares
        .iter()
        .enumerate()
        .map(|(i, share)| (share.pair, law(&|replicate| replicate.of(replicate.shares[i].differ))))
        .collect();
    let pair = pairs.iter().reduce(|best, next| if next.1.mean() > best.1.mean() { next } else { best });
    let (mut own, mut probabilities) = (vec![], vec![]);
    for HeldOut { agent, panel, draws, .. } in folds {
        let deciding: Vec<usize> = (0..panel.people()).filter(|&i| !panel.decisions_of(i).is_empty()).collect();
        if deciding.is_empty() {
            continue;
        }
        let p = panel.state_dim();
        let levels: Vec<u32> = deciding.iter().map(|&i| panel.level_codes()[i]).collect();
        let states: Vec<f64> = deciding.iter().flat_map(|&i| panel.person(i).states[..p].to_vec()).collect();
        let coins: Vec<f64> = deciding.iter().map(|&i| draws.coins[i]).collect();
        let mut out = vec![0.0; deciding.len() * agent.actions()];
        agent.probabilities(&mut agent.begin(&levels, &states, &coins), &mut out);
        own.extend(levels);
        probabilities.extend(out);
    }
    let (levels, actions) = (folds[0].panel.levels().len(), folds[0].agent.actions());
    UnfairnessLaw {
        metric: law(&|replicate| replicate.of(largest(&replicate.shares, |share| share.differ))),
        pair: pair.map_or((0, 0), |(pair, _)| *pair),
        total_variation: law(&|replicate| replicate.of(largest(&replicate.shares, |share| share.total_variation))),
        pairs,
        parity_gap: parity_gap_of(&own, levels, &probabilities, actions, confidence),
        finite_sample_bound: None,
        confidence,
        people: folds.iter().map(|fold| fold.panel.people()).sum(),
    }
}

fn mean_by_person(folds: &[HeldOut<'_>], found: &[Replicate]) -> Vec<Vec<f64>> {
    let mut means: Vec<Vec<f64>> = folds.iter().map(|fold| vec![0.0; fold.panel.people()]).collect();
    for replicate in found {
        for (mean, shares) in means.iter_mut().zip(&replicate.by_person) {
            mean.iter_mut().zip(shares).for_each(|(mean, share)| *mean += share / found.len() as f64);
        }
    }
    means
}
