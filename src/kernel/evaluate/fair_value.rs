//! What of a policy's value does not come from treating levels differently.

use super::one_world::OneWorld;
use super::rollout::BLOCK;
use super::walk::{Lengths, Moment, Taken, Walk, Watch};
use crate::learn::Agent;
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
    /// Where the people are in each level's world: the true counterfactual states along the decisions taken.
    pub worlds: &'a [OneWorld],
    /// What the policy decides.
    pub actions: &'a [u32],
}

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
    let walk = Walk { mechanism, agent, draws: exogenous };
    let lengths = Lengths { compared: 0, ..Lengths::all(exogenous.horizon()) };
    let mut sums = [vec![0.0; people.len()], vec![0.0; people.len()], vec![0.0; people.len()]];
    for z in 0..mechanism.levels() {
        let mut summed = Summed { z, shares, discount, visit, sums: &mut sums };
        walk.follow(people.clone(), Taken::At(z), lengths, &mut summed);
    }
    sums
}

/// J, Ṽ and what was visited, added up along read_z.
struct Summed<'a, V> {
    z: usize,
    shares: &'a [f64],
    discount: f64,
    visit: &'a V,
    sums: &'a mut [Vec<f64>; 3],
}

impl<V> Summed<'_, V> {
    /// p_z γ^t.
    fn weight(&self, t: usize) -> f64 {
        self.shares[self.z] * self.discount.powi(t as i32)
    }
}

impl<V: Fn(usize, usize, &Reading<'_>, &mut [f64])> Watch for Summed<'_, V> {
    fn decided(&mut self, moment: &Moment) {
        let (t, weight) = (moment.t, self.weight(moment.t));
        let reading = Reading { t, weight, worlds: moment.worlds, actions: moment.taken };
        (self.visit)(moment.people.start, self.z, &reading, &mut self.sums[2]);
    }

    fn walked(&mut self, moment: &Moment) {
        let weight = self.weight(moment.t);
        let [value, fair, _] = &mut *self.sums;
        for (i, (value, fair)) in value.iter_mut().zip(fair).enumerate() {
            let all: f64 = moment.worlds.iter().zip(self.shares).map(|(world, share)| share * world.rewards[i]).sum();
            *value += weight * moment.worlds[self.z].rewards[i];
            *fair += weight * all;
        }
    }
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
