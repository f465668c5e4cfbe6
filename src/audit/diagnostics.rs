//! What to look at before trusting preprocessed data: residuals, support and whether noise depends on the level.

use crate::kernel::model::{Means, Mechanism, abduct_panel};
use crate::kernel::numeric::Estimate;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Augmented, Experience};
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Diagnostics of `alg:cf:1` on one panel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Residual mean and spread for each level, action and output.
    pub residuals: Vec<ResidualCell>,
    /// Whether the spread of the noise depends on the level, for each output.
    pub dependence: Vec<Dependence>,
    /// For each level, how many counterfactual states lie where that level has no data.
    pub support: Vec<Support>,
    /// Level–action pairs that nobody shows: the mechanism there is extrapolation alone.
    pub unseen: Vec<(usize, usize)>,
}

/// Residuals of one level and action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ResidualCell {
    /// The level.
    pub level: usize,
    /// The action.
    pub action: usize,
    /// The state coordinate, or p for the reward.
    pub output: usize,
    /// Mean residual, with people as units.
    pub mean: Estimate,
    /// Standard deviation.
    pub spread: f64,
}

/// A Brown–Forsythe test: is the mean absolute residual the same at all levels?
///
/// Under `asm:additive` one noise serves every level, so residuals have one distribution. Their means are near zero by
/// construction; their spread is not. The statistic is a Wald statistic with people as units, because residuals of one person need not be
/// independent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dependence {
    /// The state coordinate, or p for the reward.
    pub output: usize,
    /// Mean |residual| at each level.
    pub spread: Vec<Estimate>,
    /// Wald statistic, χ² with K − 1 degrees of freedom under additivity.
    pub statistic: f64,
    /// Its p-value.
    pub p_value: f64,
}

/// How far counterfactual states of a level leave that level's own data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Support {
    /// The level.
    pub level: usize,
    /// Counterfactual states made for it from people of other levels.
    pub states: usize,
    /// How many of them have a coordinate outside the range that the level's own people show.
    pub outside: usize,
}

/// Residuals of every output are zero to rounding below this share of the output's own spread; a test of them would test rounding.
const NOISELESS: f64 = 1e-9;

/// Looks at a mechanism, the panel it was fitted on, and what `alg:cf:1` made of it.
pub fn diagnose(mechanism: &impl Mechanism, panel: &Panel, preprocessed: &Experience<Augmented>) -> Diagnostics {
    let residuals = Residuals::new(mechanism, panel);
    let (levels, actions, outputs) = (panel.levels().len(), panel.action_names().len(), panel.state_dim() + 1);
    let mut cells = Vec::new();
    let mut unseen = Vec::new();
    for level in 0..levels {
        for action in 0..actions {
            if !residuals.rows.iter().any(|row| (row.level, row.action) == (level, action)) {
                unseen.push((level, action));
            }
            for output in 0..outputs {
                let (mean, spread) = residuals.cell(level, action, output);
                if mean.count > 0 {
                    cells.push(ResidualCell { level, action, output, mean, spread });
                }
            }
        }
    }
    let dependence = (0..outputs).filter_map(|output| residuals.dependence(levels, output)).collect();
    Diagnostics { residuals: cells, dependence, support: support(panel, preprocessed), unseen }
}

struct ResidualRow {
    person: usize,
    level: usize,
    action: usize,
    /// Whether the state after it is known; without it only the reward has a residual.
    has_next: bool,
}

struct Residuals {
    rows: Vec<ResidualRow>,
    /// p state residuals and the reward's for each row, flat.
    values: Vec<f64>,
    /// Largest absolute value of each output, the scale against which residuals may be rounding.
    scale: Vec<f64>,
}

impl Residuals {
    fn new(mechanism: &impl Mechanism, panel: &Panel) -> Self {
        let p = panel.state_dim();
        let (mut rows, mut scale) = (Vec::with_capacity(panel.decisions()), vec![0.0f64; p + 1]);
        let mut values = Vec::with_capacity(panel.decisions() * (p + 1));
        let noise = abduct_panel(&Means(mechanism), panel);
        for (i, person) in panel.iter().enumerate() {
            let (first, decisions) = (panel.states_of(i).start, panel.decisions_of(i));
            for (t, &action) in person.actions.iter().enumerate() {
                let after = person.states.get((t + 1) * p..(t + 2) * p);
                let row = (first + t + 1) * p;
                values.extend((0..p).map(|j| after.map_or(0.0, |_| noise.states[row + j])));
                values.push(noise.rewards[decisions.start + t]);
                for (j, scale) in scale.iter_mut().enumerate() {
                    let observed = if j < p { after.map_or(0.0, |s| s[j]) } else { person.rewards[t] };
                    *scale = scale.max(observed.abs());
                }
                let (level, action, has_next) = (person.level as usize, action as usize, after.is_some());
                rows.push(ResidualRow { person: i, level, action, has_next });
            }
        }
        Self { rows, values, scale }
    }

    /// (person, residual) of one output for the rows that pass, in the order of the panel.
    fn of(&self, output: usize, pass: impl Fn(&ResidualRow) -> bool) -> Vec<(usize, f64)> {
        let width = self.scale.len();
        let known = |row: &ResidualRow| row.has_next || output == width - 1;
        let rows = self.rows.iter().zip(self.values.chunks_exact(width)).filter(|(row, _)| known(row) && pass(row));
        rows.map(|(row, values)| (row.person, values[output])).collect()
    }

    fn cell(&self, level: usize, action: usize, output: usize) -> (Estimate, f64) {
        let values = self.of(output, |row| (row.level, row.action) == (level, action));
        let mean = by_person(&values);
        let squares: f64 = values.iter().map(|(_, x)| (x - mean.mean).powi(2)).sum();
        (mean, (squares / values.len().max(1) as f64).sqrt())
    }

    fn dependence(&self, levels: usize, output: usize) -> Option<Dependence> {
        let noiseless = NOISELESS * self.scale[output];
        let spread: Vec<Estimate> = (0..levels)
            .map(|level| {
                let mut values = self.of(output, |row| row.level == level);
                values.iter_mut().for_each(|(_, x)| *x = x.abs());
                by_person(&values)
            })
            .collect();
        if spread.iter().any(|s| s.count < 2) || spread.iter().all(|s| s.mean <= noiseless) {
            return None;
        }
        // Inverse-variance weighted common spread, then Σ ((spreadₖ − common) / seₖ)²: χ² with K − 1 degrees of freedom.
        let weights: Vec<f64> = spread.iter().map(|s| s.standard_error.max(f64::MIN_POSITIVE).powi(-2)).collect();
        let common = spread.iter().zip(&weights).map(|(s, w)| w * s.mean).sum::<f64>() / weights.iter().sum::<f64>();
        let statistic: f64 = spread.iter().zip(&weights).map(|(s, w)| w * (s.mean - common).powi(2)).sum();
        let chi = ChiSquared::new((levels - 1) as f64).ok()?;
        Some(Dependence { output, spread, statistic, p_value: chi.sf(statistic) })
    }
}

/// The mean of values that come in runs of one person.
fn by_person(values: &[(usize, f64)]) -> Estimate {
    let (mut sums, mut counts, mut last) = (Vec::new(), Vec::new(), None);
    for &(person, x) in values {
        if last != Some(person) {
            sums.push(0.0);
            counts.push(0.0);
            last = Some(person);
        }
        if let (Some(sum), Some(count)) = (sums.last_mut(), counts.last_mut()) {
            *sum += x;
            *count += 1.0;
        }
    }
    Estimate::clustered(&sums, &counts)
}

fn support(panel: &Panel, preprocessed: &Experience<Augmented>) -> Vec<Support> {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let mut range = vec![vec![(f64::INFINITY, f64::NEG_INFINITY); p]; levels];
    for person in panel.iter() {
        for state in person.states.chunks_exact(p) {
            for (r, &s) in range[person.level as usize].iter_mut().zip(state) {
                *r = (r.0.min(s), r.1.max(s));
            }
        }
    }
    // A coordinate that is 0 or 1 comes back as 1 + 2e-16 when a regression reproduces it: that is rounding, not extrapolation.
    for (low, high) in range.iter_mut().flatten() {
        let slack = NOISELESS * low.abs().max(high.abs());
        (*low, *high) = (*low - slack, *high + slack);
    }
    let mut found: Vec<Support> = (0..levels).map(|level| Support { level, states: 0, outside: 0 }).collect();
    for (i, person) in panel.iter().enumerate() {
        for row in preprocessed.views_of(i) {
            let view = &preprocessed.views()[row * p * levels..(row + 1) * p * levels];
            for (k, world) in view.chunks_exact(p).enumerate().filter(|(k, _)| *k != person.level as usize) {
                found[k].states += 1;
                let leaves = world.iter().zip(&range[k]).any(|(s, (low, high))| s < low || s > high);
                found[k].outside += usize::from(leaves);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::{Sequential, batch};

    /// Means 0 everywhere: residuals are the data.
    struct Zero;

    impl Mechanism for Zero {
        fn state_dim(&self) -> usize {
            1
        }
        fn levels(&self) -> usize {
            2
        }
        fn actions(&self) -> usize {
            2
        }
        fn initial_mean(&self, level: usize) -> &[f64] {
            const MEANS: [[f64; 1]; 2] = [[0.0], [3.0]];
            &MEANS[level]
        }
        fn mean(&self, level: usize, _: &[f64], _: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            next.fill(level as f64);
            rewards.fill(0.0);
        }
    }

    /// Level, states, actions and rewards of one person.
    type Record<'a> = (u32, &'a [f64], &'a [u32], &'a [f64]);

    /// Level 0: two people with noise ±1 and ±2; level 1: two with noise ±3 and ±4, the last without a final state.
    fn panel() -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        let people: [Record; 4] = [
            (0, &[0.5, 1.0, -1.0], &[0, 1], &[2.0, -2.0]),
            (0, &[0.0, 2.0, -2.0], &[1, 1], &[1.0, 1.0]),
            (1, &[2.5, 4.0, -2.0], &[0, 0], &[0.5, 0.5]),
            (1, &[3.5, 5.0], &[0, 0], &[0.0, 1.0]),
        ];
        for (i, (level, states, actions, rewards)) in people.into_iter().enumerate() {
            builder.push(Person { id: &i.to_string(), level, states, actions, rewards }).unwrap();
        }
        builder.finish()
    }

    fn diagnostics() -> Diagnostics {
        let panel = panel();
        let views = batch(&Sequential::new(&Zero, vec![0.5, 0.5]), &panel).unwrap();
        diagnose(&Zero, &panel, &views)
    }

    #[test]
    fn residuals_are_gathered_by_level_action_and_output() {
        let cells = diagnostics().residuals;
        let find = |level, action, output| {
            cells.iter().find(|c| (c.level, c.action, c.output) == (level, action, output)).unwrap().clone()
        };
        // Level 0, action 1, next state: −1 of the first person, 2 and −2 of the second.
        let cell = find(0, 1, 0);
        assert_eq!((cell.mean.mean, cell.mean.count), (-1.0 / 3.0, 2));
        let spread = (((-1.0f64 + 1.0 / 3.0).powi(2) + (2.0f64 + 1.0 / 3.0).powi(2) + (-2.0f64 + 1.0 / 3.0).powi(2))
            / 3.0)
            .sqrt();
        approx::assert_relative_eq!(cell.spread, spread, max_relative = 1e-14);
        // Level 1, action 0: next states 4 − 1, −2 − 1, 5 − 1 (the last decision has none), rewards 0.5, 0.5, 0, 1.
        approx::assert_relative_eq!(find(1, 0, 0).mean.mean, 4.0 / 3.0, max_relative = 1e-14);
        assert_eq!(find(1, 0, 1).mean.mean, 0.5);
    }

    #[test]
    fn a_level_and_action_that_nobody_shows_is_listed() {
        assert_eq!(diagnostics().unseen, [(1, 1)]);
    }

    #[test]
    fn support_counts_counterfactual_states_outside_the_levels_own_range() {
        // Own ranges: level 0 in [−2, 2], level 1 in [−2, 5]. Level 1's people in world 0: −0.5, 3, −3 and 0.5, 4: three outside.
        let support = diagnostics().support;
        assert_eq!((support[0].states, support[0].outside), (5, 3));
        // Level 0's people in world 1: 3.5, 2, 0 and 3, 3, −1: all inside.
        assert_eq!((support[1].states, support[1].outside), (6, 0));
    }

    #[test]
    fn a_state_beyond_the_range_by_rounding_is_inside_and_by_a_millionth_is_not() {
        /// Moves level 0's first states to where level 1 has its largest, and a little further.
        struct Shifted(f64);
        impl Mechanism for Shifted {
            fn state_dim(&self) -> usize {
                1
            }
            fn levels(&self) -> usize {
                2
            }
            fn actions(&self) -> usize {
                2
            }
            fn initial_mean(&self, level: usize) -> &[f64] {
                if level == 0 { &[0.0] } else { std::slice::from_ref(&self.0) }
            }
            fn mean(&self, _: usize, _: &[f64], _: &[u32], next: &mut [f64], rewards: &mut [f64]) {
                next.fill(0.0);
                rewards.fill(0.0);
            }
        }
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        builder.push(Person { id: "a", level: 0, states: &[1.0], actions: &[0], rewards: &[0.0] }).unwrap();
        builder.push(Person { id: "b", level: 1, states: &[3.0], actions: &[0], rewards: &[0.0] }).unwrap();
        let panel = builder.finish();
        let outside = |shift: f64| {
            let made = batch(&Sequential::new(&Shifted(shift), vec![0.5, 0.5]), &panel).unwrap();
            diagnose(&Shifted(shift), &panel, &made).support[1].outside
        };
        assert_eq!((outside(2.0), outside(2.0 + 1e-14), outside(2.0 + 1e-6)), (0, 0, 1));
    }

    #[test]
    fn spread_that_differs_between_levels_is_found_by_the_wald_statistic() {
        let found = diagnostics().dependence;
        let state = &found[0];
        // Mean |residual| by person: level 0: 1 and 2; level 1: 3 (two rows) and 4 (one row), ratio estimate 10/3.
        assert_eq!(state.spread[0].mean, 1.5);
        approx::assert_relative_eq!(state.spread[1].mean, 10.0 / 3.0, max_relative = 1e-14);
        let (a, b) = (state.spread[0], state.spread[1]);
        let z = (a.mean - b.mean) / a.standard_error.hypot(b.standard_error);
        // With two levels the statistic is the square of the two-sample z.
        approx::assert_relative_eq!(state.statistic, z * z, max_relative = 1e-12);
        approx::assert_relative_eq!(
            state.p_value,
            2.0 * crate::kernel::numeric::quadrature::normal_cdf(-z.abs()),
            max_relative = 1e-9
        );
    }

    #[test]
    fn an_output_without_noise_is_not_tested() {
        struct Exact;
        impl Mechanism for Exact {
            fn state_dim(&self) -> usize {
                1
            }
            fn levels(&self) -> usize {
                2
            }
            fn actions(&self) -> usize {
                1
            }
            fn initial_mean(&self, _: usize) -> &[f64] {
                &[0.0]
            }
            fn mean(&self, _: usize, states: &[f64], _: &[u32], next: &mut [f64], rewards: &mut [f64]) {
                next.copy_from_slice(states);
                rewards.fill(7.0);
            }
        }
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
        for i in 0..4u32 {
            let states = [f64::from(i), f64::from(i) + 0.1 * f64::from(i % 3)];
            builder
                .push(Person { id: &i.to_string(), level: i % 2, states: &states, actions: &[0], rewards: &[7.0] })
                .unwrap();
        }
        let panel = builder.finish();
        let views = batch(&Sequential::new(&Exact, vec![0.5, 0.5]), &panel).unwrap();
        let outputs: Vec<usize> = diagnose(&Exact, &panel, &views).dependence.iter().map(|d| d.output).collect();
        assert_eq!(outputs, [0]);
    }

    /// Two coordinates and three levels; levels differ by where their people start, means are 0 afterwards.
    struct Flat;

    impl Mechanism for Flat {
        fn state_dim(&self) -> usize {
            2
        }
        fn levels(&self) -> usize {
            3
        }
        fn actions(&self) -> usize {
            1
        }
        fn initial_mean(&self, level: usize) -> &[f64] {
            const MEANS: [[f64; 2]; 3] = [[0.0, 0.0], [100.0, 0.0], [0.0, 1e4]];
            &MEANS[level]
        }
        fn mean(&self, _: usize, _: &[f64], _: &[u32], next: &mut [f64], rewards: &mut [f64]) {
            next.fill(0.0);
            rewards.fill(0.0);
        }
    }

    /// Level, states and rewards of each person.
    fn people(everybody: &[(u32, &[f64], &[f64])]) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(3), Labels::numbered(1), 2).unwrap();
        for (i, &(level, states, rewards)) in everybody.iter().enumerate() {
            let actions = vec![0; rewards.len()];
            builder.push(Person { id: &i.to_string(), level, states, actions: &actions, rewards }).unwrap();
        }
        builder.finish()
    }

    #[test]
    fn support_is_looked_up_in_the_world_of_its_level() {
        let none: &[f64] = &[0.0];
        // Where they start, less their level's mean: (1, 2), (−1, 0); (2, 1), (0, 3); (0, 0), (3, 4).
        let panel = people(&[
            (0, &[1.0, 2.0], none),
            (0, &[-1.0, 0.0], none),
            (1, &[102.0, 1.0], none),
            (1, &[100.0, 3.0], none),
            (2, &[0.0, 1e4], none),
            (2, &[3.0, 1e4 + 4.0 + 2e-6], none),
        ]);
        let views = batch(&Sequential::new(&Flat, vec![0.2, 0.3, 0.5]), &panel).unwrap();
        let support = diagnose(&Flat, &panel, &views).support;
        // Level 0 shows [−1, 1] × [0, 2]: of four others only (0, 0) is inside. Level 1 shows [0, 2] × [1, 3]: only (1, 2). Level 2 shows
        // [0, 3] × [0, 4]: all but (−1, 0).
        assert_eq!(support.iter().map(|s| (s.states, s.outside)).collect::<Vec<_>>(), [(4, 3), (4, 3), (4, 1)]);
    }

    #[test]
    fn rounding_is_a_share_of_the_size_of_what_is_observed() {
        // Level 1 shows (100, 0); somebody of level 0 would be at (100 + x, 0) there.
        let outside = |x: f64| {
            let panel = people(&[(0, &[x, 0.0], &[0.0]), (1, &[100.0, 0.0], &[0.0]), (2, &[0.0, 1e4], &[0.0])]);
            let views = batch(&Sequential::new(&Flat, vec![0.2, 0.3, 0.5]), &panel).unwrap();
            let support = diagnose(&Flat, &panel, &views).support;
            // The second is the one of level 2's person, who would be at the same place.
            support[1].outside
        };
        assert_eq!((outside(5e-8), outside(2e-7)), (0, 1), "a billionth of a hundred is 1e-7");
    }

    #[test]
    fn residuals_within_rounding_of_their_output_are_not_tested() {
        // Rewards near 1e6 with mean 0 are all residual; means that leave 1e-4 of them are exact to a billionth of a million, 1e-3.
        struct Nearly(f64);
        impl Mechanism for Nearly {
            fn state_dim(&self) -> usize {
                2
            }
            fn levels(&self) -> usize {
                3
            }
            fn actions(&self) -> usize {
                1
            }
            fn initial_mean(&self, level: usize) -> &[f64] {
                Flat.initial_mean(level)
            }
            fn mean(&self, _: usize, _: &[f64], _: &[u32], next: &mut [f64], rewards: &mut [f64]) {
                next.fill(0.0);
                rewards.fill(1e6 + self.0);
            }
        }
        let reward = |i: usize| [1e6 + 1e-4 * i as f64, 1e6 - 2e-4 * i as f64];
        let rewards: Vec<[f64; 2]> = (0..6).map(reward).collect();
        let everybody: Vec<(u32, &[f64], &[f64])> =
            rewards.iter().enumerate().map(|(i, r)| (i as u32 % 3, &[0.0; 4][..], &r[..])).collect();
        let tested = |panel: &Panel, off: f64| {
            let views = batch(&Sequential::new(&Flat, vec![0.2, 0.3, 0.5]), panel).unwrap();
            diagnose(&Nearly(off), panel, &views).dependence.iter().any(|d| d.output == 2)
        };
        assert!(!tested(&people(&everybody), 0.0));
        assert!(tested(&people(&everybody), 0.5));
        // A single person of a level shows no spread between people.
        assert!(!tested(&people(&everybody[..5]), 0.5));
    }
}
