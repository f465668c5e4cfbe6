//! The fair value of a policy from recorded people: each is followed again with their own noise, under refits of the mechanism.

use super::AuditError;
use super::PanelDraws;
use super::panel_audit::check;
use crate::estimate::{Fitted, RefitError, Refitter, replicate_weights};
use crate::kernel::evaluate::fair_value_by_person;
use crate::kernel::learn::Agent;
use crate::kernel::model::{Exogenous, Mechanism, Output, PanelNoise, abduct_panel};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use rand::RngExt;
use rayon::prelude::*;

/// People who are followed, the policies that decide for them, and the people whose mechanism they are followed by.
pub struct Refitted<'a> {
    /// The policies, in the same order in every fold.
    pub agents: Vec<&'a dyn Agent>,
    /// The people who are followed.
    pub panel: &'a Panel,
    /// The draws behind what policies do, those of `panel`.
    pub draws: &'a PanelDraws,
    /// The mechanism of the people in `fitted`.
    pub refitter: &'a Refitter,
    /// The people it was fitted to.
    pub fitted: &'a Panel,
}

/// How people are followed.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulation {
    /// γ.
    pub discount: f64,
    /// B.
    pub replicates: usize,
    /// Behind the weights of people, as in a [`Certificate`](crate::estimate::Certificate).
    pub seed: u64,
    /// P(Z = z⁽ᵏ⁾); `None`: the shares among those followed, in each replicate its own.
    pub shares: Option<Vec<f64>>,
    /// Whether those who left early are followed as long as the others, with noise borrowed from somebody who was still there.
    pub completed: bool,
}

/// J and Ṽ of one policy in each replicate; what policies have in common is in what they do in the same replicate.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulatedValue {
    /// J.
    pub value: Vec<f64>,
    /// Ṽ.
    pub fair: Vec<f64>,
}

/// Why people cannot be followed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulationError {
    /// Panel, mechanism and agent do not fit.
    #[error(transparent)]
    Audit(#[from] AuditError),
    /// A refit failed.
    #[error(transparent)]
    Refit(#[from] RefitError),
    /// A coordinate that keeps its observed value does not say where other actions would have led it.
    #[error(
        "a coordinate that keeps its observed value in every world does not say what other actions would have made of it"
    )]
    Kept,
    /// States or rewards grew without end.
    #[error("people followed with the fitted mechanism overflowed")]
    Overflow,
}

/// J, Ṽ and their law, from recorded people.
///
/// A person's noise is what a refit leaves of their record. With it the person is followed at every level under the policy's own decisions, through
/// all worlds at once. There is no chance in it beyond people: a replicate is a refit with random weights on people, and the same weights on those
/// followed.
///
/// # Equation
/// ```text
/// J*_b = Σᵢ wᵢᵇ Σ_z p_z Σₜ γ^{t−1} Rₜᶻ(read_z; uᵢᵇ, μ*_b) / Σᵢ wᵢᵇ,    Ṽ*_b = Σᵢ wᵢᵇ Σ_z p_z Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ(read_z; uᵢᵇ, μ*_b) / Σᵢ wᵢᵇ
/// ```
/// where uᵢᵇ is the noise of person i under μ*_b and read_z the decisions that the policy takes at level z with that noise. A policy that does not look at
/// people has J = Ṽ in every replicate.
///
/// # Assumptions
/// Those of counterfactual states; means within the fitted class where the policy leads; noise independent over time, and of actions given the past.
///
/// # Errors
/// [`SimulationError`].
pub fn simulated_values(folds: &[Refitted<'_>], settings: &Simulation) -> Result<Vec<SimulatedValue>, SimulationError> {
    for Refitted { agents, panel, draws, refitter, .. } in folds {
        for agent in agents {
            check(panel, refitter.fitted(), *agent, draws)?;
        }
        if keeps(refitter.fitted()) {
            return Err(SimulationError::Kept);
        }
    }
    let policies = folds.first().map_or(0, |fold| fold.agents.len());
    let found: Vec<Vec<[f64; 2]>> = (0..settings.replicates)
        .into_par_iter()
        .map(|b| replicate(folds, policies, settings, b))
        .collect::<Result<_, SimulationError>>()?;
    let of = |policy: usize, which: usize| found.iter().map(|replicate| replicate[policy][which]).collect();
    Ok((0..policies).map(|policy| SimulatedValue { value: of(policy, 0), fair: of(policy, 1) }).collect())
}

/// J and Ṽ of every policy in the b-th replicate.
fn replicate(
    folds: &[Refitted<'_>],
    policies: usize,
    settings: &Simulation,
    b: usize,
) -> Result<Vec<[f64; 2]>, SimulationError> {
    let weights: Vec<Vec<f64>> = folds.iter().map(|fold| replicate_weights(fold.panel, settings.seed, b)).collect();
    let shares = settings.shares.clone().unwrap_or_else(|| weighted_shares(folds, &weights));
    let (mut sums, mut total) = (vec![[0.0; 2]; policies], 0.0);
    for (fold, weights) in folds.iter().zip(&weights) {
        let mechanism = fold.refitter.replicate(fold.fitted, settings.seed, b)?;
        for (people, exogenous) in own_noise(&mechanism, fold, settings) {
            for (agent, sums) in fold.agents.iter().zip(&mut sums) {
                let found = fair_value_by_person(&mechanism, &shares, *agent, &exogenous, settings.discount);
                for ((&i, j), v) in people.iter().zip(&found.value).zip(&found.fair) {
                    sums[0] += weights[i] * j;
                    sums[1] += weights[i] * v;
                }
            }
            total += people.iter().map(|&i| weights[i]).sum::<f64>();
        }
    }
    let means: Vec<[f64; 2]> = sums.into_iter().map(|sum| sum.map(|s| s / total)).collect();
    match means.iter().flatten().all(|x| x.is_finite()) {
        true => Ok(means),
        false => Err(SimulationError::Overflow),
    }
}

fn weighted_shares(folds: &[Refitted<'_>], weights: &[Vec<f64>]) -> Vec<f64> {
    let mut shares = vec![0.0; folds.first().map_or(0, |fold| fold.panel.levels().len())];
    for (fold, weights) in folds.iter().zip(weights) {
        fold.panel.level_codes().iter().zip(weights).for_each(|(&z, w)| shares[z as usize] += w);
    }
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

fn keeps(mechanism: &Fitted) -> bool {
    let outputs = (0..mechanism.state_dim()).flat_map(|j| [Output::First(j), Output::Next(j)]);
    mechanism.noise().is_some_and(|law| outputs.chain([Output::Reward]).any(|output| law.is_kept(output)))
}

/// The noise of the people who are followed, in groups that are followed equally long; people without a decision are nowhere.
fn own_noise(mechanism: &Fitted, fold: &Refitted<'_>, settings: &Simulation) -> Vec<(Vec<usize>, Exogenous)> {
    let (panel, p) = (fold.panel, mechanism.state_dim());
    let decisions = |i: usize| panel.decisions_of(i).len();
    let PanelNoise { states, rewards } = abduct_panel(mechanism, panel);
    let horizon = (0..panel.people()).map(decisions).max().unwrap_or(0);
    let mut groups = Vec::new();
    let horizons = if settings.completed { horizon..horizon + 1 } else { 1..horizon + 1 };
    for horizon in horizons.filter(|&horizon| horizon > 0) {
        let member = |&i: &usize| if settings.completed { decisions(i) > 0 } else { decisions(i) == horizon };
        let people: Vec<usize> = (0..panel.people()).filter(member).collect();
        if people.is_empty() {
            continue;
        }
        let n = people.len();
        let (mut all_states, mut all_rewards) = (vec![0.0; (horizon + 1) * n * p], vec![0.0; horizon * n]);
        let mut uniforms = vec![0.0; horizon * n];
        for t in 0..horizon {
            let there: Vec<usize> = people.iter().copied().filter(|&i| decisions(i) > t).collect();
            for (place, &i) in people.iter().enumerate() {
                let mut rng =
                    Stream::new(settings.seed).named("borrowed noise").index(t as u64).named(&panel.ids()[i]).rng();
                let from = if decisions(i) > t { i } else { there[rng.random_range(0..there.len())] };
                let (state, decision) = (panel.states_of(from).start + t, panel.decisions_of(from).start + t);
                let to = (t * n + place) * p;
                all_states[to..to + p].copy_from_slice(&states[state * p..(state + 1) * p]);
                all_rewards[t * n + place] = rewards[decision];
                uniforms[t * n + place] = if from == i { fold.draws.uniforms[decision] } else { rng.random() };
            }
        }
        // Where the last decision leads is computed and not looked at; the noise need only be possible.
        all_states.copy_within((horizon - 1) * n * p..horizon * n * p, horizon * n * p);
        let levels = people.iter().map(|&i| panel.level_codes()[i]).collect();
        let coins = people.iter().map(|&i| fold.draws.coins[i]).collect();
        groups.push((people, Exogenous::given(levels, coins, all_states, all_rewards, uniforms, p)));
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Basis, FitSettings};
    use crate::kernel::learn::{Deployed, Policy, UniformlyRandom};
    use crate::kernel::model::worlds::{Linear, ThreeLevels};
    use crate::kernel::model::{Noise, World, abduct, predict, simulate};
    use crate::kernel::preprocess::{StateOnly, Unaware};

    /// 1 where the first coordinate is above 0.4, else 0.
    struct Above(usize);

    impl Policy<StateOnly> for Above {
        fn actions(&self) -> usize {
            self.0
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(self.0)) {
                out.fill(0.0);
                out[usize::from(row[0] > 0.4)] = 1.0;
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    fn settings() -> Simulation {
        Simulation { discount: 0.7, replicates: 4, seed: 5, shares: None, completed: false }
    }

    /// People of a world, every third cut short, and their refitter.
    fn recorded(world: &impl World, people: usize) -> (Panel, PanelDraws, Refitter) {
        let whole = simulate(world, &Exogenous::draw(world, people, 5, Stream::new(41)));
        let p = whole.state_dim();
        let mut builder =
            crate::kernel::people::PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), p).unwrap();
        for (i, person) in whole.iter().enumerate() {
            let t = if i % 3 == 0 { 3 } else { 5 };
            let cut = crate::kernel::people::Person {
                states: &person.states[..(t + 1) * p],
                actions: &person.actions[..t],
                rewards: &person.rewards[..t],
                ..person
            };
            builder.push(cut).unwrap();
        }
        let panel = builder.finish();
        let refitter = Refitter::new(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).unwrap();
        let draws = PanelDraws::draw(&panel, Stream::new(42));
        (panel, draws, refitter)
    }

    #[test]
    fn who_does_not_look_at_people_gains_nothing_and_who_does_gains_something() {
        let world = ThreeLevels::new(0.9);
        let (panel, draws, refitter) = recorded(&world, 150);
        let random = Deployed::new(Unaware { state_dim: 2 }, UniformlyRandom { actions: 3 });
        let above = Deployed::new(Unaware { state_dim: 2 }, Above(3));
        let agents: Vec<&dyn Agent> = vec![&random, &above];
        let fold = Refitted { agents, panel: &panel, draws: &draws, refitter: &refitter, fitted: &panel };
        for completed in [false, true] {
            let found = simulated_values(std::slice::from_ref(&fold), &Simulation { completed, ..settings() }).unwrap();
            let gained =
                |of: &SimulatedValue| -> Vec<f64> { of.value.iter().zip(&of.fair).map(|(j, v)| j - v).collect() };
            assert!(gained(&found[0]).iter().all(|g| g.abs() < 1e-12), "{found:?}");
            // Of either sign and small in this world; orders above rounding all the same.
            assert!(gained(&found[1]).iter().any(|g| g.abs() > 1e-2), "{found:?}");
        }
    }

    /// One person at a time, by `abduct` and `predict` with the decisions taken at their level.
    #[test]
    fn people_are_followed_as_by_hand() {
        let world = Linear::new(1.0);
        let (panel, draws, refitter) = recorded(&world, 40);
        let agent = Deployed::new(Unaware { state_dim: 1 }, Above(2));
        let fold = Refitted { agents: vec![&agent], panel: &panel, draws: &draws, refitter: &refitter, fitted: &panel };
        let shares = vec![0.3, 0.7];
        let found = simulated_values(&[fold], &Simulation { shares: Some(shares.clone()), ..settings() }).unwrap();
        let (mechanism, weights) = (refitter.replicate(&panel, 5, 2).unwrap(), replicate_weights(&panel, 5, 2));
        let (mut value, mut fair) = (0.0, 0.0);
        for (person, w) in panel.iter().zip(&weights) {
            let noise: Noise = abduct(&mechanism, person);
            for (z, share) in shares.iter().enumerate() {
                let mut actions: Vec<u32> = vec![];
                for t in 0..person.actions.len() {
                    let mut so_far = actions.clone();
                    so_far.push(0);
                    let here = predict(&mechanism, &noise, &so_far, z).states[t];
                    actions.push(u32::from(here > 0.4));
                }
                for (k, other) in shares.iter().enumerate() {
                    let rewards = predict(&mechanism, &noise, &actions, k).rewards;
                    let sum = rewards.iter().rev().fold(0.0, |later, r| r + 0.7 * later);
                    fair += w * share * other * sum;
                    value += if k == z { w * share * sum } else { 0.0 };
                }
            }
        }
        let total: f64 = weights.iter().sum();
        assert!((found[0].value[2] - value / total).abs() < 1e-9, "{} and {}", found[0].value[2], value / total);
        assert!((found[0].fair[2] - fair / total).abs() < 1e-9, "{} and {}", found[0].fair[2], fair / total);
    }

    #[test]
    fn a_coordinate_that_is_kept_cannot_be_followed_under_other_actions() {
        let world = ThreeLevels::new(0.9);
        let (panel, draws, _) = recorded(&world, 60);
        let keep = crate::estimate::OutputSet::default().with(1).unwrap();
        let refitter =
            Refitter::new(&panel, &FitSettings { basis: Basis::Linear, keep, ..FitSettings::default() }).unwrap();
        let agent = Deployed::new(Unaware { state_dim: 2 }, Above(3));
        let fold = Refitted { agents: vec![&agent], panel: &panel, draws: &draws, refitter: &refitter, fitted: &panel };
        assert_eq!(simulated_values(&[fold], &settings()), Err(SimulationError::Kept));
    }
}
