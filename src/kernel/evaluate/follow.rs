//! All that a comparison asks of a policy in a known world, from one pass over its people.

use super::disagreement::moved;
use super::rollout::BLOCK;
use super::walk::{Lengths, Moment, Taken, Walk, Watch};
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
        shares: world.level_probabilities(),
        levels: draws.levels(),
        horizon,
        longer: longer.unwrap_or(horizon).max(horizon),
        discount,
        reading: 0,
        disagreement: Disagreement::new(n, levels, agent.actions()),
        rates: ActionRates::new(n, horizon, levels, agent.actions()),
        returns: vec![0.0; n],
        long_returns: vec![0.0; n],
        values: vec![0.0; n],
        fair: vec![0.0; n],
    };
    let walk = Walk { mechanism: world, agent, draws };
    let (alone, all) =
        (Lengths { compared: 0, ..Lengths::all(horizon) }, Lengths { own: pass.longer, ..Lengths::all(horizon) });
    for (level, people) in cohorts.blocks() {
        for reading in 0..levels {
            pass.reading = reading;
            walk.follow(people.clone(), Taken::At(reading), if reading == level { all } else { alone }, &mut pass);
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
    shares: &'a [f64],
    levels: &'a [u32],
    horizon: usize,
    longer: usize,
    discount: f64,
    /// z of the decisions read_z that people are followed along now.
    reading: usize,
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
    /// Whether people are followed along their own decisions: all people of a block have one level.
    fn is_own(&self, moment: &Moment) -> bool {
        self.levels[moment.people.start] as usize == self.reading
    }
}

impl Watch for Pass<'_> {
    fn decided(&mut self, moment: &Moment) {
        self.disagreement.decided(moment);
        if self.is_own(moment) && moment.t < self.horizon {
            self.rates.count(moment.t, moment.people.start, &self.levels[moment.people.clone()], moment.taken);
        }
    }

    fn walked(&mut self, moment: &Moment) {
        let (t, people) = (moment.t, moment.people.clone());
        if self.is_own(moment) {
            let rewards = &moment.worlds[self.reading].rewards;
            add_discounted(&mut self.long_returns[people.clone()], self.discount, t, rewards);
            if t < self.horizon {
                add_discounted(&mut self.returns[people.clone()], self.discount, t, rewards);
            }
        }
        if t >= self.horizon {
            return;
        }
        // p_z γ^t times the reward of world z, and times the mean reward of all worlds.
        let weight = self.shares[self.reading] * self.discount.powi(t as i32);
        let sums = self.values[people.clone()].iter_mut().zip(&mut self.fair[people]);
        for (i, (value, fair)) in sums.enumerate() {
            let all: f64 = moment.worlds.iter().zip(self.shares).map(|(side, share)| share * side.rewards[i]).sum();
            *value += weight * moment.worlds[self.reading].rewards[i];
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
