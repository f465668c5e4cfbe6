//! The whole method on the circle bed, from `alg:cf:1` to fitted Q iteration, at several sizes: one grid of runs for all rates and bounds.

use super::{Found, Run, Slope};
use crate::kernel::learn::Clipping;
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Oracle, Sequential, batch};
use crate::theory::beds::{Circle, CircleFit, Weights};
use rayon::prelude::*;
use std::sync::OnceLock;

/// T of all runs.
pub const HORIZON: usize = 6;
/// Steps of fitted Q iteration: 0.7²⁵ is one part in seven thousand.
const STEPS: usize = 25;
/// N.
const SIZES: [f64; 6] = [125.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0];
/// Seeds at each size.
const SEEDS: u64 = 40;
/// Seeds of a control, whose slope is far off.
const CONTROL_SEEDS: u64 = 20;

/// What the method made of one data set.
pub struct Made {
    pub people: usize,
    pub fit: CircleFit,
    /// Learned from estimated states and rewards.
    pub ours: Weights,
    /// Learned from true counterfactual states and rewards of the same people.
    pub oracle: Weights,
}

/// The bed and the means of a run.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// Means estimated in a class that holds the truth.
    Sound,
    /// Means at level 1 off by 0.3 however many people there are, and P(Z) read as (½, ½) by the Oracle.
    Wrong,
    /// Sound means on a bed in which both actions are worth the same.
    Tied,
}

impl Setting {
    fn bed(self) -> Circle {
        if matches!(self, Self::Tied) { Circle::tied() } else { Circle::default() }
    }

    /// All runs, made once.
    pub fn runs(self) -> &'static [Made] {
        static RUNS: [OnceLock<Vec<Made>>; 3] = [const { OnceLock::new() }; 3];
        RUNS[self as usize].get_or_init(|| {
            let seeds = if matches!(self, Self::Sound) { SEEDS } else { CONTROL_SEEDS };
            let all: Vec<(f64, u64)> = SIZES.iter().flat_map(|&n| (0..seeds).map(move |seed| (n, seed))).collect();
            all.into_par_iter().filter_map(|(n, seed)| self.run(n as usize, seed)).collect()
        })
    }

    /// One run; `None` when some level never saw some action.
    fn run(self, people: usize, seed: u64) -> Option<Made> {
        let bed = self.bed();
        let panel = bed.simulate(people, HORIZON, Stream::new(81).index(people as u64).index(seed));
        let (by, shares) = if matches!(self, Self::Wrong) { (0.3, [0.5; 2]) } else { (0.0, bed.level_law()) };
        let fit = CircleFit::from_panel(&panel)?.off_at_level_one(by);
        let oracle = batch(&Oracle::new(bed.truth(), shares.to_vec()), &panel).ok()?;
        let oracle = bed.learn(&oracle, STEPS, Clipping::Rewards(bed.reward_bound())).ok()?;
        Some(Made { people, ours: learned(&bed, &panel, &fit)?, fit, oracle })
    }

    /// How a number falls with N.
    pub fn rate(self, quantity: &str, of: impl Fn(&Circle, &Made) -> f64) -> Found {
        let bed = self.bed();
        let at =
            |n: f64| self.runs().iter().filter(|made| made.people == n as usize).map(|made| of(&bed, made)).collect();
        let samples: Vec<Vec<f64>> = SIZES.iter().map(|&n| at(n)).collect();
        Slope::measured(quantity, "N", &SIZES, &samples, Stream::new(82).named(quantity))
    }
}

/// How a number falls with N where means are sound, and in the control where they stay wrong.
pub fn rate(run: Run, quantity: &str, of: impl Fn(&Circle, &Made) -> f64) -> Found {
    run.pick(Setting::Sound, Setting::Wrong).rate(quantity, of)
}

/// The action value that the method learns from a panel with these means.
fn learned(bed: &Circle, panel: &Panel, means: &CircleFit) -> Option<Weights> {
    let experience = batch(&Sequential::new(means.clone(), panel.level_shares()), panel).ok()?;
    bed.learn(&experience, STEPS, Clipping::Rewards(bed.reward_bound())).ok()
}

/// How far the learned action value moves, on the same 200 people, when true means are made wrong by ε; in the control by √ε.
pub fn in_error(run: Run) -> Found {
    let bed = Circle::default();
    let sizes: Vec<f64> = (0..6).map(|k| 1e-4 * 2f64.powi(k)).collect();
    let moved = |seed: u64| -> Option<Vec<f64>> {
        let panel = bed.simulate(200, HORIZON, Stream::new(73).index(seed));
        let exact = learned(&bed, &panel, &bed.truth())?;
        let off = |ε: f64| {
            let wrong = bed.truth().off_at_level_one(run.pick(ε, ε.sqrt()));
            Some(bed.sup_distance(&exact, &learned(&bed, &panel, &wrong)?))
        };
        sizes.iter().map(|&ε| off(ε)).collect()
    };
    let by_seed: Vec<Vec<f64>> = (0..SEEDS / 2).into_par_iter().filter_map(moved).collect();
    let samples: Vec<Vec<f64>> = (0..sizes.len()).map(|k| by_seed.iter().map(|moved| moved[k]).collect()).collect();
    Slope::measured("‖f̂(ε) − f̂(0)‖∞", "ε", &sizes, &samples, Stream::new(74))
}
