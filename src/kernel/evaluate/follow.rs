//! All that a comparison asks of a policy in a known world, from one pass over its people.

use super::disagreement::moved;
use super::one_world::OneWorld;
use super::rollout::BLOCK;
use super::{ActionRates, Disagreement, Evaluation, FairValue};
use crate::learn::Agent;
use crate::model::{Exogenous, World};
use crate::numeric::Estimate;
use std::ops::Range;

/// People sorted by level, for policies that are compared on the same draws.
///
/// People of one level have one factual world. Sorted, a policy can be followed there without carrying everybody through the worlds of
/// the other levels, and what one question needs of a world is what the next one needs.
#[derive(Debug, Clone, PartialEq)]
pub struct Cohorts {
    /// Where each person stood before sorting.
    order: Vec<usize>,
    draws: Exogenous,
    /// The people of each level.
    of_level: Vec<Range<usize>>,
}

impl Cohorts {
    /// Sorts people by level; within a level they keep their order.
    pub fn new(exogenous: &Exogenous, levels: usize) -> Self {
        let mut order: Vec<usize> = (0..exogenous.people()).collect();
        order.sort_by_key(|&i| exogenous.levels()[i]);
        let draws = exogenous.of_people(&order);
        let below = |z: usize| draws.levels().partition_point(|&level| (level as usize) < z);
        let of_level = (0..levels).map(|z| below(z)..below(z + 1)).collect();
        Self { order, draws, of_level }
    }

    /// Blocks of people of one level, with the level.
    fn blocks(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.of_level.iter().enumerate().flat_map(|(z, people)| {
            people.clone().step_by(BLOCK).map(move |first| (z, first..(first + BLOCK).min(people.end)))
        })
    }
}

/// What [`follow`] shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Followed {
    /// As [`evaluate`](super::evaluate()) on the first decisions.
    pub evaluation: Evaluation,
    /// As [`fair_value`](super::fair_value()) on the first decisions.
    pub fair_value: FairValue,
    /// The value over all decisions; `None` unless asked for.
    pub long_value: Option<Estimate>,
}

/// Follows an agent for `horizon` decisions, and for the value alone until `longer`.
///
/// [`evaluate`](super::evaluate()) and [`fair_value`](super::fair_value()) in one pass, equal to theirs in every bit. Let read_z be the decisions
/// for people at level z. Evaluation needs all worlds along read_z for people of level z, with the agent's answers in each; the fair value
/// needs all worlds along read_z for everybody, with the agent's answers in world z alone. So people of level z are followed along
/// read_z with an agent in every world, and along the readings of the other levels with an agent in one. Beyond `horizon` nothing
/// but the person's own world is left to follow.
///
/// # Panics
/// If `horizon` or `longer` is beyond what was drawn.
pub fn follow(
    world: &dyn World,
    agent: &dyn Agent,
    cohorts: &Cohorts,
    horizon: usize,
    longer: Option<usize>,
    discount: f64,
) -> Followed {
    let (n, levels, draws) = (cohorts.draws.people(), world.levels(), &cohorts.draws);
    assert!(horizon.max(longer.unwrap_or(0)) <= draws.horizon(), "decisions that were drawn");
    let mut pass = Pass {
        world,
        agent,
        draws,
        horizon,
        longer: longer.unwrap_or(horizon),
        discount,
        disagreement: Disagreement::new(n, levels, agent.actions()),
        rates: ActionRates::new(n, horizon, levels, agent.actions()),
        returns: vec![0.0; n],
        long_returns: vec![0.0; n],
        values: vec![0.0; n],
        fair: vec![0.0; n],
    };
    for (level, people) in cohorts.blocks() {
        for reading in 0..levels {
            if reading == level {
                pass.own_reading(level, people.clone());
            } else {
                pass.other_reading(reading, people.clone());
            }
        }
    }
    let estimate = |x: &[f64]| Estimate::of(&moved(x, &cohorts.order));
    let gained: Vec<f64> = pass.values.iter().zip(&pass.fair).map(|(j, v)| j - v).collect();
    Followed {
        evaluation: Evaluation {
            value: estimate(&pass.returns),
            unfairness: pass.disagreement.moved(&cohorts.order).summary(agent.is_deterministic()),
            rates: pass.rates.moved(&cohorts.order),
        },
        fair_value: FairValue { value: estimate(&pass.values), fair: estimate(&pass.fair), gained: estimate(&gained) },
        long_value: longer.map(|_| estimate(&pass.long_returns)),
    }
}

/// What is asked, and what has been counted, person by person in sorted order.
struct Pass<'a> {
    world: &'a dyn World,
    agent: &'a dyn Agent,
    draws: &'a Exogenous,
    horizon: usize,
    longer: usize,
    discount: f64,
    disagreement: Disagreement,
    rates: ActionRates,
    /// Σ γ^{t−1} Rₜ over `horizon` and over `longer`.
    returns: Vec<f64>,
    long_returns: Vec<f64>,
    /// Each person's part in J and in Ṽ.
    values: Vec<f64>,
    fair: Vec<f64>,
}

impl Pass<'_> {
    /// People of level z along read_z, with the agent's answers in every world.
    fn own_reading(&mut self, z: usize, people: Range<usize>) {
        let (m, actions) = (people.len(), self.agent.actions());
        let begin = |k| OneWorld::begin(self.world, self.agent, self.draws, people.clone(), k);
        let mut sides: Vec<OneWorld> = (0..self.world.levels()).map(begin).collect();
        let mut chosen = vec![vec![0u32; m]; sides.len()];
        let random = if self.agent.is_deterministic() { 0 } else { sides.len() };
        let mut probabilities = vec![vec![0.0; m * actions]; random];
        for t in 0..self.horizon {
            for (side, chosen) in sides.iter_mut().zip(&mut chosen) {
                self.agent.act(&mut side.memory, &self.draws.uniforms(t)[people.clone()], chosen);
            }
            for (side, probabilities) in sides.iter_mut().zip(&mut probabilities) {
                self.agent.probabilities(&mut side.memory, probabilities);
            }
            self.disagreement.count(people.start, &chosen, &probabilities);
            self.rates.count(t, people.start, &self.draws.levels()[people.clone()], &chosen[z]);
            for (k, side) in sides.iter_mut().enumerate() {
                side.walk(self.world, self.draws, t, &chosen[z]);
                // After the last decision that is compared, the other worlds are done with.
                if t + 1 < if k == z { self.longer } else { self.horizon } {
                    side.see(self.agent, &chosen[z]);
                }
            }
            add_discounted(&mut self.returns[people.clone()], self.discount, t, &sides[z].rewards);
            self.add_values(t, z, &sides, people.clone());
        }
        self.long_returns[people.clone()].copy_from_slice(&self.returns[people.clone()]);
        let (own, taken) = (&mut sides[z], &mut chosen[z]);
        for t in self.horizon..self.longer {
            self.agent.act(&mut own.memory, &self.draws.uniforms(t)[people.clone()], taken);
            own.walk(self.world, self.draws, t, taken);
            if t + 1 < self.longer {
                own.see(self.agent, taken);
            }
            add_discounted(&mut self.long_returns[people.clone()], self.discount, t, &own.rewards);
        }
    }

    /// People of another level along read_z, with the agent's answers in world z.
    fn other_reading(&mut self, z: usize, people: Range<usize>) {
        let begin = |k| match k == z {
            true => OneWorld::begin(self.world, self.agent, self.draws, people.clone(), k),
            false => OneWorld::unseen(self.world, self.draws, people.clone(), k),
        };
        let mut sides: Vec<OneWorld> = (0..self.world.levels()).map(begin).collect();
        let mut taken = vec![0u32; people.len()];
        for t in 0..self.horizon {
            self.agent.act(&mut sides[z].memory, &self.draws.uniforms(t)[people.clone()], &mut taken);
            for side in &mut sides {
                side.walk(self.world, self.draws, t, &taken);
            }
            if t + 1 < self.horizon {
                sides[z].see(self.agent, &taken);
            }
            self.add_values(t, z, &sides, people.clone());
        }
    }

    /// p_z γ^t times the reward of world z, and times the mean reward of all worlds.
    fn add_values(&mut self, t: usize, z: usize, sides: &[OneWorld], people: Range<usize>) {
        let shares = self.world.level_probabilities();
        let weight = shares[z] * self.discount.powi(t as i32);
        let sums = self.values[people.clone()].iter_mut().zip(&mut self.fair[people]);
        for (i, (value, fair)) in sums.enumerate() {
            let all: f64 = sides.iter().zip(shares).map(|(side, share)| share * side.rewards[i]).sum();
            *value += weight * sides[z].rewards[i];
            *fair += weight * all;
        }
    }
}

/// Adds γ^t Rₜ.
fn add_discounted(returns: &mut [f64], discount: f64, t: usize, rewards: &[f64]) {
    let weight = discount.powi(t as i32);
    returns.iter_mut().zip(rewards).for_each(|(sum, r)| *sum += weight * r);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::{evaluate, fair_value};
    use crate::learn::{Behaviour, Deployed, Policy};
    use crate::model::worlds::ThreeLevels;
    use crate::numeric::Stream;
    use crate::preprocess::{Augmented, Full, Oracle, Sequential};

    /// 0, 1 or 2 by where the first coordinates of two worlds are.
    struct Between;

    impl Policy<Augmented> for Between {
        fn actions(&self) -> usize {
            3
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
                out.fill(0.0);
                out[usize::from(row[0] > 0.2) + usize::from(row[4] > 0.5)] = 1.0;
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    #[test]
    fn one_pass_is_equal_in_every_bit_to_three() {
        let world = ThreeLevels::new(0.8);
        // Several blocks of the largest level, none of them full; both horizons are prefixes of what was drawn.
        let (stream, people) = (Stream::new(41), 4000);
        let cohorts = Cohorts::new(&Exogenous::draw(&world, people, 7, stream), 3);
        let [short, long] = [3, 6].map(|horizon| Exogenous::draw(&world, people, horizon, stream));
        let mistaken = ThreeLevels::new(0.3);
        let weights = world.level_probabilities().to_vec();
        let agents: [Box<dyn Agent>; 3] = [
            Box::new(Deployed::new(Sequential::new(mistaken, weights.clone()), Between)),
            Box::new(Deployed::new(Oracle::new(world.clone(), weights), Between)),
            Box::new(Deployed::new(Full { state_dim: 2 }, Behaviour(world.clone()))),
        ];
        for (i, agent) in agents.iter().enumerate() {
            let found = follow(&world, &**agent, &cohorts, 3, Some(6), 0.7);
            assert_eq!(found.evaluation, evaluate(&world, &**agent, &short, 0.7), "agent {i}");
            assert_eq!(found.fair_value, fair_value(&world, &**agent, &short, 0.7), "agent {i}");
            assert_eq!(found.long_value, Some(evaluate(&world, &**agent, &long, 0.7).value), "agent {i}");
            assert!(found.long_value != Some(found.evaluation.value));
            let alone = follow(&world, &**agent, &cohorts, 3, None, 0.7);
            assert_eq!(alone, Followed { long_value: None, ..found }, "agent {i}");
        }
    }

    #[test]
    fn a_level_without_people_has_no_cohort() {
        let world = ThreeLevels::new(0.8);
        let draws = Exogenous::draw(&world, 60, 4, Stream::new(5));
        let middle: Vec<usize> = (0..60).filter(|&i| draws.levels()[i] != 1).collect();
        let draws = draws.of_people(&middle);
        let agent = Deployed::new(Full { state_dim: 2 }, Behaviour(world.clone()));
        let found = follow(&world, &agent, &Cohorts::new(&draws, 3), 4, None, 0.9);
        assert_eq!(found.evaluation, evaluate(&world, &agent, &draws, 0.9));
        assert_eq!(found.fair_value, fair_value(&world, &agent, &draws, 0.9));
    }

    #[test]
    #[should_panic(expected = "decisions that were drawn")]
    fn nobody_is_followed_beyond_the_draws() {
        let world = ThreeLevels::new(0.8);
        let cohorts = Cohorts::new(&Exogenous::draw(&world, 6, 4, Stream::new(5)), 3);
        let agent = Deployed::new(Full { state_dim: 2 }, Behaviour(world.clone()));
        follow(&world, &agent, &cohorts, 3, Some(5), 0.9);
    }
}
