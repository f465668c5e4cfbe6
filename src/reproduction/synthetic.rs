//! A cell of `fig:sim_all`: simulate, learn every method from the same panel, follow every one of them on the same draws.

use super::policies::{Candidate, MethodLearner, NotLearned, Stages, timed};
use super::{Learner, Measured, Method, MethodOutcome, MethodResult, PaperWorld, Synthetic};
use crate::kernel::evaluate::{ActionRates, Cohorts, Evaluation, Followed, follow};
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::Stream;

/// γ, in all of the paper's experiments.
pub const DISCOUNT: f64 = 0.9;

/// Panel, evaluation and methods of a comparison in a world that is known.
pub(super) struct Comparison<'a> {
    /// N and T of the panel.
    pub data: (usize, usize),
    /// People followed, and for how many decisions.
    pub evaluation: (usize, usize),
    /// Decisions for which those who learned something are followed once more.
    pub long_horizon: Option<usize>,
    pub methods: &'a [Method],
    pub learner: Learner,
    pub stream: Stream,
}

impl Synthetic {
    /// What becomes of each method, and where the time went.
    pub fn run(&self) -> (Vec<MethodResult>, Stages) {
        let comparison = Comparison {
            data: (self.people, self.horizon),
            evaluation: (self.evaluation_people, self.evaluation_horizon),
            long_horizon: self.long_horizon,
            methods: &self.methods,
            learner: self.learner,
            stream: self.stream(),
        };
        match self.world {
            PaperWorld::Linear => comparison.run(&Linear::new(self.strength)),
            PaperWorld::Nonlinear => comparison.run(&Nonlinear::new(self.strength)),
        }
    }
}

impl Comparison<'_> {
    /// Learns the methods from one panel and follows them all on the same draws.
    pub fn run<W: World + Clone + 'static>(&self, world: &W) -> (Vec<MethodResult>, Stages) {
        let mut stages = Stages::default();
        let (people, horizon) = self.evaluation;
        let test = self.stream.named("test");
        let (panel, cohorts) = timed(&mut stages.simulate, || {
            let train = Exogenous::draw(world, self.data.0, self.data.1, self.stream.named("train"));
            // Draws are made time by time, so the short evaluation is the beginning of the long one.
            let draws = Exogenous::draw(world, people, self.long_horizon.unwrap_or(0).max(horizon), test);
            (simulate(world, &train), Cohorts::new(&draws, world.levels()))
        });
        let mut learner = MethodLearner::new(&panel, self.learner, DISCOUNT, self.stream.named("learner"));
        let candidates: Vec<_> = self.methods.iter().map(|&m| (m, learner.learn_in(world, m))).collect();
        stages += learner.stages;
        let results = timed(&mut stages.evaluate, || {
            let result = |(method, candidate)| MethodResult {
                method,
                outcome: outcome(world, candidate, &cohorts, horizon, self.long_horizon),
            };
            candidates.into_iter().map(result).collect()
        });
        (results, stages)
    }
}

fn outcome(
    world: &dyn World,
    candidate: Result<Candidate, NotLearned>,
    cohorts: &Cohorts,
    horizon: usize,
    longer: Option<usize>,
) -> MethodOutcome {
    let Candidate { agent, learning, .. } = match candidate {
        Ok(candidate) => candidate,
        Err(reason) => return MethodOutcome::NotLearned(reason.to_string()),
    };
    let longer = longer.filter(|_| learning.is_some());
    let Followed { evaluation, fair_value, long_value } = follow(world, &*agent, cohorts, horizon, longer, DISCOUNT);
    let Evaluation { value, unfairness, rates } = evaluation;
    MethodOutcome::Evaluated(Measured {
        unfairness: unfairness.metric,
        value,
        long_value,
        fair: Some(fair_value.fair),
        gained: Some(fair_value.gained),
        regret: None,
        shares: shares(world, &rates),
        learning,
    })
}

/// The share of decisions that gave each action, by level; 0 for a level that nobody has.
pub(super) fn shares(world: &dyn World, rates: &ActionRates) -> Vec<Vec<f64>> {
    let share = |z: usize, a: usize| rates.overall(z, a).map_or(0.0, |estimate| estimate.mean);
    (0..world.levels()).map(|z| (0..world.actions()).map(|a| share(z, a)).collect()).collect()
}
