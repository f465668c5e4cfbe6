//! The runs that all laws read: policies learned from panels of six sizes, and the best fair rule with six errors in its means.
//!
//! Each world's runs are made once per process, when the first claim asks for them, and spread over all processors.

use super::measured::{Judge, Measured};
use crate::estimate::{Basis, FitSettings, Pooling, fit};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Deployed, FittedQ, Greedy, LinearQ, Settings, fitted_q_iteration};
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Oracle, Preprocessor, Sequential, SingleStage, Unaware, batch};
use crate::theory::optimum::PaperWorld;
use crate::theory::{BestRule, Mistaken, RegretMeter};
use rayon::prelude::*;
use std::sync::{Arc, OnceLock};

/// N, people in the panel that is learned from.
pub(super) const SIZES: [usize; 6] = [125, 250, 500, 1000, 2000, 4000];
/// Panels per size.
const PANELS: usize = 100;
/// ε, errors of the means: the last three are the smallest, where a law should show first.
pub(super) const ERRORS: [f64; 6] = [0.4, 0.2, 0.1, 0.05, 0.025, 0.0125];
/// Sets of people followed per error, who are followed with an error of either sign.
const CROWDS: usize = 40;
/// An error that stays when ε goes to 0: the control.
const STAYS: f64 = 0.4;

/// δ of the paper's first experiment, its discount, and the decisions per person in its data.
pub(super) const STRENGTH: f64 = 1.0;
pub(super) const DISCOUNT: f64 = 0.9;
pub(super) const HORIZON: usize = 10;

/// What was learned from one panel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Learned {
    /// `alg:cf:1` with splines for means, as shipped, then `alg:cf:2`.
    pub ours: Measured,
    /// The same with means in a class that holds the truth.
    pub known_form: Measured,
    /// Preprocessing each time alone.
    pub single_stage: Measured,
    /// No preprocessing, no level.
    pub unaware: Measured,
    /// From true counterfactual states and rewards.
    pub oracle: Measured,
}

/// The best fair rule on states made with wrong means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Misread {
    /// Means wrong by ε.
    pub above: Measured,
    /// Means wrong by −ε.
    pub below: Measured,
    /// Means wrong by ε and more that stays.
    pub stays: Measured,
}

/// All runs in one world.
pub(super) struct Grid {
    meter: Arc<RegretMeter>,
    learned: OnceLock<Vec<Vec<Learned>>>,
    misread: OnceLock<Vec<Vec<Misread>>>,
}

impl Grid {
    /// The runs in one of the paper's worlds.
    pub fn of(world: PaperWorld) -> &'static Self {
        static GRIDS: [OnceLock<Grid>; 2] = [const { OnceLock::new() }; 2];
        GRIDS[world as usize].get_or_init(|| {
            let meter = RegretMeter::new(world, STRENGTH, DISCOUNT).expect("both worlds are solved at δ = 1, γ = 0.9");
            Self { meter: Arc::new(meter), learned: OnceLock::new(), misread: OnceLock::new() }
        })
    }

    /// Policies learned from panels: by [`SIZES`], then by panel.
    pub fn learned(&self, world: PaperWorld) -> &[Vec<Learned>] {
        self.learned.get_or_init(|| {
            spread(SIZES.len(), PANELS, |k, seed| match world {
                PaperWorld::Linear => self.learn(&Linear::new(STRENGTH), SIZES[k], seed),
                PaperWorld::Nonlinear => self.learn(&Nonlinear::new(STRENGTH), SIZES[k], seed),
            })
        })
    }

    /// The best fair rule with wrong means: by [`ERRORS`], then by crowd.
    pub fn misread(&self, world: PaperWorld) -> &[Vec<Misread>] {
        self.misread.get_or_init(|| {
            spread(ERRORS.len(), CROWDS, |k, seed| match world {
                PaperWorld::Linear => self.misreading(&Linear::new(STRENGTH), ERRORS[k], seed),
                PaperWorld::Nonlinear => self.misreading(&Nonlinear::new(STRENGTH), ERRORS[k], seed),
            })
        })
    }

    /// One panel, and every method on it.
    fn learn<W: World + Clone + 'static>(&self, world: &W, people: usize, seed: usize) -> Learned {
        let stream = Stream::new(91).index(people as u64).index(seed as u64);
        let panel = simulate(world, &Exogenous::draw(world, people, HORIZON, stream.named("train")));
        let judge = Judge::new(&self.meter, stream.named("test"));
        let ours = |settings: FitSettings| {
            let means = fit(&panel, &settings).expect("both levels have people");
            judge.measure(&greedy(Sequential::new(means, panel.level_shares()), &panel))
        };
        // 1, s, sin s and cos s, with action and level: both worlds are made of these.
        let known = FitSettings { basis: Basis::Trigonometric, pooling: Pooling::Pooled, ..FitSettings::default() };
        let single_stage = SingleStage::fit_by_time(&panel).expect("both levels have people");
        let oracle = Oracle::new(world.clone(), world.level_probabilities().to_vec());
        Learned {
            ours: ours(FitSettings::default()),
            known_form: ours(known),
            single_stage: judge.measure(&greedy(single_stage, &panel)),
            unaware: judge.measure(&greedy(Unaware { state_dim: 1 }, &panel)),
            oracle: judge.measure(&greedy(oracle, &panel)),
        }
    }

    /// One crowd, followed with the same error of either sign.
    fn misreading<W: World + Clone + 'static>(&self, world: &W, error: f64, seed: usize) -> Misread {
        let judge = Judge::new(&self.meter, Stream::new(92).index(seed as u64));
        let by = |error: f64| {
            let means = Mistaken::new(world.clone(), error);
            let reader = Sequential::new(means, world.level_probabilities().to_vec());
            judge.measure(&Deployed::new(reader, BestRule(Arc::clone(&self.meter))))
        };
        Misread { above: by(error), below: by(-error), stays: by(STAYS + error) }
    }
}

/// What `alg:cf:2` learns.
pub(super) type Quadratics<V> = LinearQ<V, Polynomial>;

/// `alg:cf:2` on quadratics, deployed with the preprocessing it was learned through.
pub(super) fn greedy<P: Preprocessor>(reader: P, panel: &Panel) -> Deployed<P, Greedy<Quadratics<P::View>>> {
    let q = quadratics(&reader, panel);
    Deployed::new(reader, Greedy(q))
}

/// The action value of `alg:cf:2` on quadratics in what a preprocessor makes of a panel.
pub(super) fn quadratics<P: Preprocessor>(reader: &P, panel: &Panel) -> Quadratics<P::View> {
    let experience = batch(reader, panel).expect("states of ordinary size");
    let features = Polynomial::for_rows(experience.views(), experience.width(), 1, 2).expect("few coordinates");
    let settings = Settings { discount: DISCOUNT, ..Settings::default() };
    let FittedQ { q, .. } = fitted_q_iteration(&experience, &features, settings).expect("a panel with transitions");
    q
}

/// `run(place, seed)` for all places and seeds; the last places, which take longest, are begun first.
fn spread<T: Send>(places: usize, seeds: usize, run: impl Fn(usize, usize) -> T + Sync) -> Vec<Vec<T>> {
    let all = (0..places * seeds).into_par_iter().rev().with_max_len(1).map(|i| run(i / seeds, i % seeds));
    let mut all = all.collect::<Vec<T>>().into_iter().rev();
    (0..places).map(|_| all.by_ref().take(seeds).collect()).collect()
}
