//! `alg:cf:1` beside the Oracle, number by number.

use super::grid::{DISCOUNT, HORIZON, STRENGTH, quadratics};
use crate::estimate::{FitSettings, fit};
use crate::kernel::learn::{Greedy, Policy};
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::{Stream, tolerance};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Augmented, Oracle, Preprocessor, Sequential, batch};
use crate::theory::theorems::{Found, Run, Worst};

/// People in the panel.
const PEOPLE: usize = 400;

/// States, rewards, weights of f̂ and actions of both, with true means as stated and with fitted means in the control.
pub(super) fn agreement(run: Run) -> Found {
    let mut worst = Worst::default();
    compare(&mut worst, "linear world", &Linear::new(STRENGTH), run);
    compare(&mut worst, "non-linear world", &Nonlinear::new(STRENGTH), run);
    worst.found()
}

fn compare<W: World + Clone>(worst: &mut Worst, place: &str, world: &W, run: Run) {
    let panel = simulate(world, &Exogenous::draw(world, PEOPLE, HORIZON, Stream::new(95).named(place)));
    let weights = world.level_probabilities().to_vec();
    let oracle = Made::by(Oracle::new(world.clone(), weights.clone()), &panel);
    let ours = match run {
        Run::Stated => Made::by(Sequential::new(world.clone(), weights), &panel),
        Run::Control => {
            let means = fit(&panel, &FitSettings::default()).expect("both levels have people");
            Made::by(Sequential::new(means, weights), &panel)
        }
    };
    // A state is ten steps of a few roundings; f̂ solves systems of condition below 1e4 and sums rewards over 1/(1 − γ) steps.
    let (few, solved) = (64.0 * tolerance::ROUNDING, 1e4 * tolerance::ROUNDING / (1.0 - DISCOUNT));
    for (what, a, b, within) in [
        ("states", &oracle.states, &ours.states, few),
        ("rewards", &oracle.rewards, &ours.rewards, few),
        ("weights of f̂", &oracle.weights, &ours.weights, solved),
        ("actions", &oracle.actions, &ours.actions, few),
    ] {
        for (i, (x, y)) in a.iter().zip(b).enumerate() {
            worst.equal(*x, *y, within, || format!("{place}: {what}, number {i}: {x} of the Oracle and {y}"));
        }
    }
}

/// What one preprocessor makes of a panel, and what is learned from it.
struct Made {
    states: Vec<f64>,
    rewards: Vec<f64>,
    weights: Vec<f64>,
    actions: Vec<f64>,
}

impl Made {
    fn by<P: Preprocessor<View = Augmented>>(reader: P, panel: &Panel) -> Self {
        let experience = batch(&reader, panel).expect("states of ordinary size");
        let q = quadratics(&reader, panel);
        let weights = q.weights().to_vec();
        let (states, width) = (experience.views().to_vec(), experience.width());
        let mut actions = vec![0; states.len() / width];
        Greedy(q).act(&states, width, &vec![0.0; actions.len()], &mut actions);
        let actions = actions.into_iter().map(f64::from).collect();
        Self { states, rewards: experience.rewards().to_vec(), weights, actions }
    }
}
