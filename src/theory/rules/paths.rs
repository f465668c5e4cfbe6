//! Along which path a level reaches a decision: what the policy is told, or where the person is.

use crate::kernel::learn::{Agent, Deployed, Policy};
use crate::kernel::numeric::Estimate;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Augmented, Experience, Observed, Preprocessor};

/// How far a policy's distribution over actions moves, in total variation, when a level changes for a part of what it reads only.
///
/// Between two levels z and z′, averaged over everybody's recorded states, the largest over pairs of levels; people are the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paths {
    /// The policy is told z′ instead of z; the state stays as it was.
    pub direct: Estimate,
    /// The state is the one of world z′ instead of the one of world z; the policy is told the person's own level.
    pub indirect: Estimate,
    /// Both change: a person moved to another world.
    pub total: Estimate,
}

/// The direct and the indirect path of a policy that reads what is observed.
///
/// # Equation
/// ```text
/// direct   = E ½ ‖π(· | S, z′) − π(· | S, z)‖₁
/// indirect = E ½ ‖π(· | Sᶻ′, Z) − π(· | Sᶻ, Z)‖₁
/// total    = E ½ ‖π(· | Sᶻ′, z′) − π(· | Sᶻ, z)‖₁
/// ```
/// The two paths need not add up to the total, nor bound it from below: changes along them can cancel.
///
/// # Assumptions
/// The policy reads the present state, and perhaps the level, and remembers nothing. `worlds` are the states of all levels, from the
/// [`Oracle`](crate::kernel::preprocess::Oracle) or an estimate of it, of the people of `panel`.
///
/// # Panics
/// If `worlds` was not made from `panel`.
pub fn paths<P: Preprocessor<View: Observed>, Rule: Policy<P::View>>(
    policy: &Deployed<P, Rule>,
    worlds: &Experience<Augmented>,
    panel: &Panel,
) -> Paths {
    let (p, levels, rows) = (panel.state_dim(), panel.levels().len(), panel.state_rows());
    assert_eq!((worlds.width(), worlds.views().len()), (p * levels, rows * p * levels), "worlds of these people");
    let own: Vec<u32> = panel
        .level_codes()
        .iter()
        .enumerate()
        .flat_map(|(i, &z)| std::iter::repeat_n(z, panel.states_of(i).len()))
        .collect();
    let told = |z: usize| vec![z as u32; rows];
    let states = |z: usize| -> Vec<f64> {
        worlds.views().chunks_exact(p * levels).flat_map(|row| &row[z * p..(z + 1) * p]).copied().collect()
    };
    let asked = |levels: &[u32], states: &[f64]| {
        let mut memory = policy.begin(levels, states, &vec![0.5; rows]);
        let mut probabilities = vec![0.0; rows * policy.actions()];
        policy.probabilities(&mut memory, &mut probabilities);
        probabilities
    };
    let direct: Vec<_> = (0..levels).map(|z| asked(&told(z), panel.states())).collect();
    let indirect: Vec<_> = (0..levels).map(|z| asked(&own, &states(z))).collect();
    let total: Vec<_> = (0..levels).map(|z| asked(&told(z), &states(z))).collect();
    let [direct, indirect, total] = [direct, indirect, total].map(|worlds| largest(&worlds, policy.actions(), panel));
    Paths { direct, indirect, total }
}

/// The largest mean total variation between two of the distributions, people being the units.
fn largest(worlds: &[Vec<f64>], actions: usize, panel: &Panel) -> Estimate {
    let pairs = (0..worlds.len()).flat_map(|a| (a + 1..worlds.len()).map(move |b| (a, b)));
    let between = |(a, b): (usize, usize)| {
        let distance = |row: usize| {
            let cells = row * actions..(row + 1) * actions;
            let pairs = worlds[a][cells.clone()].iter().zip(&worlds[b][cells]);
            0.5 * pairs.map(|(p, q)| (p - q).abs()).sum::<f64>()
        };
        let sums: Vec<f64> = (0..panel.people()).map(|i| panel.states_of(i).map(distance).sum()).collect();
        let counts: Vec<f64> = (0..panel.people()).map(|i| panel.states_of(i).len() as f64).collect();
        Estimate::clustered(&sums, &counts)
    };
    pairs.map(between).reduce(|best, next| if next.mean > best.mean { next } else { best }).unwrap_or(Estimate::of(&[]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::learn::{Behaviour, UniformlyRandom};
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, World, simulate};
    use crate::kernel::numeric::Stream;
    use crate::kernel::numeric::tolerance::{ROUNDING, close};
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::{Full, Oracle, Unaware, batch};

    /// 1 when the state is above a half, read from a view of any width.
    struct Threshold;

    impl Policy<crate::kernel::preprocess::StateOnly> for Threshold {
        fn actions(&self) -> usize {
            2
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
                out[1] = f64::from(u8::from(row[0] > 0.5));
                out[0] = 1.0 - out[1];
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    #[test]
    fn each_path_is_seen_alone_where_only_it_is_open() {
        let world = Linear::new(0.7);
        let panel = simulate(&world, &Exogenous::draw(&world, 80, 5, Stream::new(4)));
        let worlds = batch(&Oracle::new(world.clone(), vec![0.5, 0.5]), &panel).unwrap();
        let state_only = paths(&Deployed::new(Unaware { state_dim: 1 }, Threshold), &worlds, &panel);
        assert_eq!(state_only.direct.mean, 0.0);
        assert!(state_only.total.mean > 0.05 && state_only.total == state_only.indirect);
        let level_only = paths(&Deployed::new(Full { state_dim: 1 }, Behaviour(world.clone())), &worlds, &panel);
        assert_eq!(level_only.indirect.mean, 0.0);
        let mut odds = [[0.0; 2]; 2];
        (0..2).for_each(|z| world.behaviour(z, &[0.0], &mut odds[z]));
        assert!(close(level_only.total.mean, odds[1][1] - odds[0][1], ROUNDING), "{level_only:?}");
        let neither = paths(&Deployed::new(Full { state_dim: 1 }, UniformlyRandom { actions: 2 }), &worlds, &panel);
        assert_eq!([neither.direct.mean, neither.indirect.mean, neither.total.mean], [0.0; 3]);
    }

    #[test]
    fn of_several_pairs_of_worlds_the_furthest_apart_counts() {
        let mut builder = PanelBuilder::new(Labels::numbered(3), Labels::numbered(2), 1).unwrap();
        builder.push(Person { id: "a", level: 0, states: &[0.0, 1.0], actions: &[0], rewards: &[0.0] }).unwrap();
        // Apart by 0.1 and 0, by 0.8 and 0.4, by 0.7 and 0.4: the first and the last world, which is neither the first pair nor the last.
        let worlds = [vec![1.0, 0.0, 1.0, 0.0], vec![0.9, 0.1, 1.0, 0.0], vec![0.2, 0.8, 0.6, 0.4]];
        assert!(close(largest(&worlds, 2, &builder.finish()).mean, 0.6, ROUNDING));
    }

    #[test]
    fn states_of_two_coordinates_are_those_of_their_world() {
        let world = ThreeLevels::new(0.9);
        let panel = simulate(&world, &Exogenous::draw(&world, 40, 3, Stream::new(9)));
        let worlds = batch(&Oracle::new(world.clone(), vec![0.2, 0.3, 0.5]), &panel).unwrap();
        let found = paths(&Deployed::new(Unaware { state_dim: 2 }, Threshold), &worlds, &panel);
        // The share of rows whose first coordinate is on one side of a half in one world and on the other in another.
        let differ = |a: usize, b: usize| {
            let rows = worlds.views().chunks_exact(6);
            let differing = rows.filter(|row| (row[2 * a] > 0.5) != (row[2 * b] > 0.5)).count();
            differing as f64 / panel.state_rows() as f64
        };
        let largest = differ(0, 1).max(differ(0, 2)).max(differ(1, 2));
        assert!(largest > 0.1 && close(found.indirect.mean, largest, ROUNDING), "{found:?} and {largest}");
    }
}
