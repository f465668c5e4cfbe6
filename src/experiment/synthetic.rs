//! A cell of `fig:sim_all`: simulate, learn every method from the same panel, follow every one of them on the same draws.

use super::policies::{Candidate, NotLearned, School, Stages, timed};
use super::{Measured, Method, MethodOutcome, MethodResult, Setting, Synthetic};
use crate::evaluate::{Evaluation, evaluate};
use crate::model::worlds::{Linear, Nonlinear};
use crate::model::{Exogenous, World, simulate};
use crate::numeric::Stream;

/// γ, in all of the paper's experiments.
pub const DISCOUNT: f64 = 0.9;

impl Synthetic {
    /// What becomes of each method, and where the time went.
    pub fn run(&self) -> (Vec<MethodResult>, Stages) {
        match self.world {
            Setting::Linear => self.run_in(&Linear::new(self.strength)),
            Setting::Nonlinear => self.run_in(&Nonlinear::new(self.strength)),
        }
    }

    fn run_in<W: World + Clone + 'static>(&self, world: &W) -> (Vec<MethodResult>, Stages) {
        let sizes = [(self.people, self.horizon), (self.evaluation_people, self.evaluation_horizon)];
        compare(world, sizes, &self.methods, self.stream(), |panel, stream| {
            School::new(panel, self.learner, DISCOUNT, stream)
        })
    }
}

/// Learns methods from a panel of a known world and follows them there; sizes are (people, decisions) of the panel and of the evaluation.
pub(super) fn compare<W: World + Clone + 'static>(
    world: &W,
    [(people, horizon), (evaluation_people, evaluation_horizon)]: [(usize, usize); 2],
    methods: &[Method],
    stream: Stream,
    school: impl for<'a> FnOnce(&'a crate::data::Panel, Stream) -> School<'a>,
) -> (Vec<MethodResult>, Stages) {
    let mut stages = Stages::default();
    let (panel, draws) = timed(&mut stages.simulate, || {
        let train = Exogenous::draw(world, people, horizon, stream.named("train"));
        let draws = Exogenous::draw(world, evaluation_people, evaluation_horizon, stream.named("test"));
        (simulate(world, &train), draws)
    });
    let mut school = school(&panel, stream.named("learner"));
    let candidates: Vec<_> = methods.iter().map(|&method| (method, school.learn_in(world, method))).collect();
    stages += school.stages;
    let results = timed(&mut stages.evaluate, || {
        candidates
            .into_iter()
            .map(|(method, candidate)| MethodResult { method, outcome: follow(world, candidate, &draws) })
            .collect()
    });
    (results, stages)
}

fn follow(world: &dyn World, candidate: Result<Candidate, NotLearned>, draws: &Exogenous) -> MethodOutcome {
    match candidate {
        Ok(Candidate { agent, learning }) => {
            let Evaluation { value, unfairness, rates } = evaluate(world, &*agent, draws, DISCOUNT);
            let share = |z: usize, a: usize| rates.overall(z, a).unwrap_or(0.0);
            let shares = (0..world.levels()).map(|z| (0..world.actions()).map(|a| share(z, a)).collect()).collect();
            MethodOutcome::Evaluated(Measured { unfairness: unfairness.metric, value, shares, learning })
        }
        Err(reason) => MethodOutcome::NotLearned(reason.to_string()),
    }
}
