//! What of a policy's value does not come from treating levels differently.

use crate::learn::Agent;
use crate::model::noise::{Step, first_state};
use crate::model::{Exogenous, Mechanism, World};
use crate::numeric::Estimate;
use rayon::prelude::*;

/// J, Ṽ and their difference over a horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FairValue {
    /// J = E Σₜ γ^{t−1} Rₜ: people at each level receive the rewards of their own world.
    pub value: Estimate,
    /// Ṽ = Σ_z p_z E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ along the decisions read_z: the rewards of all worlds. Never above the best fair value.
    pub fair: Estimate,
    /// J − Ṽ, gained by unfairness; of either sign.
    pub gained: Estimate,
}

/// The value and the fair value of a policy in a known world (AUDIT §2.8).
///
/// read_z are the decisions the policy takes for a person at level z, as a function of the noise. Every person is followed at every level,
/// weighted by p_z, so that the draw of the level adds no noise; the levels in `exogenous` are not used.
///
/// # Equation
/// ```text
/// J = Σ_z p_z E Σₜ γ^{t−1} Rₜᶻ(read_z),      Ṽ = Σ_z p_z E Σₜ γ^{t−1} Σₖ pₖ Rₜᵏ(read_z)
/// ```
pub fn fair_value(world: &dyn World, agent: &dyn Agent, exogenous: &Exogenous, discount: f64) -> FairValue {
    follow_readings(world, agent, exogenous, discount, |_, _, _, _| {}).0
}

/// One decision for a block of people, all of them at one level.
pub struct Reading<'a> {
    /// t, from 0.
    pub t: usize,
    /// p_z γ^t.
    pub weight: f64,
    /// Where the people are in each level's world, row-major: the true counterfactual states along the decisions taken.
    pub worlds: &'a [Vec<f64>],
    /// What the policy decides.
    pub actions: &'a [u32],
}

/// People a block: the states of all worlds stay in cache.
const BLOCK: usize = 1024;

/// Follows the decisions of people at each level through all worlds at once, and shows them to `visit` (the person numbers of the block, the
/// reading, and a number for each of its people that it may add to). Gives the values, and those numbers by person.
pub fn follow_readings(
    world: &dyn World,
    agent: &dyn Agent,
    exogenous: &Exogenous,
    discount: f64,
    visit: impl Fn(usize, usize, &Reading<'_>, &mut [f64]) + Sync,
) -> (FairValue, Vec<f64>) {
    let found = follow(world, world.level_probabilities(), agent, exogenous, discount, visit);
    let gained: Vec<f64> = found.value.iter().zip(&found.fair).map(|(j, v)| j - v).collect();
    let values =
        FairValue { value: Estimate::of(&found.value), fair: Estimate::of(&found.fair), gained: Estimate::of(&gained) };
    (values, found.visited)
}

/// J and Ṽ of each person.
pub struct ByPerson {
    pub value: Vec<f64>,
    pub fair: Vec<f64>,
    visited: Vec<f64>,
}

/// The same under any mechanism, its levels with these shares, person by person.
pub fn fair_value_by_person(
    mechanism: &dyn Mechanism,
    shares: &[f64],
    agent: &dyn Agent,
    exogenous: &Exogenous,
    discount: f64,
) -> ByPerson {
    follow(mechanism, shares, agent, exogenous, discount, |_, _, _, _| {})
}

fn follow(
    mechanism: &dyn Mechanism,
    shares: &[f64],
    agent: &dyn Agent,
    exogenous: &Exogenous,
    discount: f64,
    visit: impl Fn(usize, usize, &Reading<'_>, &mut [f64]) + Sync,
) -> ByPerson {
    let n = exogenous.people();
    let blocks: Vec<[Vec<f64>; 3]> = (0..n.div_ceil(BLOCK))
        .into_par_iter()
        .map(|block| {
            let people = block * BLOCK..((block + 1) * BLOCK).min(n);
            follow_block(mechanism, shares, agent, exogenous, discount, people, &visit)
        })
        .collect();
    let of = |which: usize| -> Vec<f64> { blocks.iter().flat_map(|block| &block[which]).copied().collect() };
    ByPerson { value: of(0), fair: of(1), visited: of(2) }
}

/// J, Ṽ and what was visited, for each person of a block.
fn follow_block(
    mechanism: &dyn Mechanism,
    shares: &[f64],
    agent: &dyn Agent,
    exogenous: &Exogenous,
    discount: f64,
    people: std::ops::Range<usize>,
    visit: &impl Fn(usize, usize, &Reading<'_>, &mut [f64]),
) -> [Vec<f64>; 3] {
    let (p, m, levels) = (mechanism.state_dim(), people.len(), mechanism.levels());
    let mut sums = [vec![0.0; m], vec![0.0; m], vec![0.0; m]];
    let (mut rewards, mut actions, mut step) = (vec![vec![0.0; m]; levels], vec![0; m], Step::default());
    let noise = |t: usize| &exogenous.states(t)[people.start * p..people.end * p];
    for z in 0..levels {
        let mut worlds: Vec<Vec<f64>> = vec![noise(0).to_vec(); levels];
        worlds.iter_mut().enumerate().for_each(|(k, states)| first_state(mechanism, k, states));
        let mut memory = agent.begin(&vec![z as u32; m], &worlds[z], &exogenous.coins()[people.clone()]);
        for t in 0..exogenous.horizon() {
            agent.act(&mut memory, &exogenous.uniforms(t)[people.clone()], &mut actions);
            let weight = shares[z] * discount.powi(t as i32);
            visit(people.start, z, &Reading { t, weight, worlds: &worlds, actions: &actions }, &mut sums[2]);
            for (k, (states, rewards)) in worlds.iter_mut().zip(&mut rewards).enumerate() {
                step.prepare(mechanism, k, states, &actions);
                rewards.copy_from_slice(&exogenous.rewards(t)[people.clone()]);
                step.rewards(mechanism, k, rewards);
                states.copy_from_slice(noise(t + 1));
                step.states(mechanism, k, states);
            }
            for i in 0..m {
                let all: f64 = rewards.iter().zip(shares).map(|(r, share)| share * r[i]).sum();
                sums[0][i] += weight * rewards[z][i];
                sums[1][i] += weight * all;
            }
            if t + 1 < exogenous.horizon() {
                agent.advance(&mut memory, &actions, &worlds[z]);
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::evaluate;
    use crate::learn::{Deployed, Policy, UniformlyRandom};
    use crate::model::worlds::{ThreeLevels, three_levels_mixed};
    use crate::numeric::Stream;
    use crate::preprocess::{StateOnly, Unaware};

    /// 1 where the first coordinate is above 0.4, else 0.
    struct Above;

    impl Policy<StateOnly> for Above {
        fn actions(&self) -> usize {
            3
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
                out.fill(0.0);
                out[usize::from(row[0] > 0.4)] = 1.0;
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    #[test]
    fn what_does_not_look_at_people_gains_nothing_by_unfairness() {
        let world = ThreeLevels::new(0.9);
        let draws = Exogenous::draw(&world, 1500, 6, Stream::new(31));
        let random = Deployed::new(Unaware { state_dim: 2 }, UniformlyRandom { actions: 3 });
        let found = fair_value(&world, &random, &draws, 0.7);
        assert!(found.gained.mean.abs() < 1e-12, "{found:?}");
        let above = fair_value(&world, &Deployed::new(Unaware { state_dim: 2 }, Above), &draws, 0.7);
        assert!(above.gained.mean.abs() > 5.0 * above.gained.standard_error, "{above:?}");
    }

    #[test]
    fn the_value_is_that_of_the_rollout() {
        let world = ThreeLevels::new(0.9);
        let draws = Exogenous::draw(&world, 4000, 6, Stream::new(32));
        let agent = Deployed::new(Unaware { state_dim: 2 }, Above);
        let (found, rolled) =
            (fair_value(&world, &agent, &draws, 0.7).value, evaluate(&world, &agent, &draws, 0.7).value);
        // The rollout also draws levels: its error is the larger one. False alarm below 1e-4 at four standard errors; the seed is fixed.
        assert!((found.mean - rolled.mean).abs() < 4.0 * rolled.standard_error, "{found:?} and {rolled:?}");
        assert!(found.standard_error < rolled.standard_error);
    }

    #[test]
    fn noise_that_spreads_by_level_is_followed_as_the_rollout_follows_it() {
        let world = three_levels_mixed(0.9);
        let draws = Exogenous::draw(&world, 4000, 6, Stream::new(33));
        let agent = Deployed::new(Unaware { state_dim: 2 }, Above);
        let (found, rolled) =
            (fair_value(&world, &agent, &draws, 0.7).value, evaluate(&world, &agent, &draws, 0.7).value);
        // As above. Noise merely added is 0.2 away.
        assert!((found.mean - rolled.mean).abs() < 4.0 * rolled.standard_error, "{found:?} and {rolled:?}");
    }
}
