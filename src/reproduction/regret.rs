//! A cell of `fig:regret`: learn from one panel, and measure what each policy loses to the best fair one.

use super::policies::{Candidate, MethodLearner, NotLearned, Stages, timed};
use super::synthetic::shares;
use super::{CellError, DISCOUNT, Learner, Measured, Method, MethodOutcome, MethodResult, PaperWorld, Synthetic};
use crate::kernel::evaluate::{Evaluation, evaluate};
use crate::kernel::learn::{Agent, Deployed};
use crate::kernel::model::worlds::{Linear, Nonlinear};
use crate::kernel::model::{Exogenous, Mechanism, World, simulate};
use crate::kernel::numeric::{Estimate, Stream};
use crate::kernel::preprocess::Sequential;
use crate::theory::{BestRule, Mistaken, Regret, RegretMeter};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, Mutex};

/// One training panel in one of the paper's worlds, and what the policies learned from it lose to the best fair one.
///
/// The CF metric is that of the first [`METRIC_DECISIONS`] decisions, as in the paper; values and regret are over `evaluation_horizon`, which is
/// so long that later decisions hardly count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegretCell {
    /// The world.
    pub world: PaperWorld,
    /// δ.
    pub strength: f64,
    /// N, people in the training panel.
    pub people: usize,
    /// T, decisions a person in the training panel.
    pub horizon: usize,
    /// People followed to evaluate a policy, each at both levels.
    pub evaluation_people: usize,
    /// Decisions they are followed for.
    pub evaluation_horizon: usize,
    /// ε: means are the true ones, but for ε more at the second level; `None` for means fitted to the panel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Who is compared.
    pub methods: Vec<Method>,
    /// How means and action values are fitted.
    pub learner: Learner,
    /// The replicate.
    pub seed: u64,
}

/// Decisions over which the CF metric is taken, as in the paper.
pub const METRIC_DECISIONS: usize = 20;

impl RegretCell {
    /// The random numbers of the cell of `fig:sim_all` with the same world, δ, N, T and seed: one panel, two figures.
    pub fn stream(&self) -> Stream {
        Synthetic::address(self.world, self.strength, self.people, self.horizon, self.seed)
    }

    /// What becomes of each method, and where the time went.
    pub(super) fn run(&self, meter: &Arc<RegretMeter>) -> (Vec<MethodResult>, Stages) {
        match self.world {
            PaperWorld::Linear => self.run_in(&Linear::new(self.strength), meter),
            PaperWorld::Nonlinear => self.run_in(&Nonlinear::new(self.strength), meter),
        }
    }

    fn run_in<W: World + Clone + 'static>(&self, world: &W, meter: &Arc<RegretMeter>) -> (Vec<MethodResult>, Stages) {
        let (mut stages, stream) = (Stages::default(), self.stream());
        let test = stream.named("test");
        let (panel, long, short) = timed(&mut stages.simulate, || {
            let train = Exogenous::draw(world, self.people, self.horizon, stream.named("train"));
            let draw = |horizon| Exogenous::draw(world, self.evaluation_people, horizon, test);
            let short = draw(METRIC_DECISIONS.min(self.evaluation_horizon));
            (simulate(world, &train), draw(self.evaluation_horizon), short)
        });
        let mut learner = MethodLearner::new(&panel, self.learner, DISCOUNT, stream.named("learner"));
        let weights = world.level_probabilities().to_vec();
        let candidates: Vec<_> = self
            .methods
            .iter()
            .map(|&method| {
                let candidate = match (method, self.error) {
                    (Method::BestRule, None) => learner.preprocessor().map(|means| best(means, meter)),
                    (Method::BestRule, Some(error)) => {
                        Ok(best(Sequential::new(Mistaken::new(world.clone(), error), weights.clone()), meter))
                    }
                    (Method::TrueMeans, Some(error)) => {
                        learner.through(Sequential::new(Mistaken::new(world.clone(), error), weights.clone()))
                    }
                    _ => learner.learn_in(world, method),
                };
                (method, candidate)
            })
            .collect();
        stages += learner.stages;
        let results = timed(&mut stages.evaluate, || {
            let judge =
                |(method, candidate)| MethodResult { method, outcome: judge(world, candidate, meter, &long, &short) };
            candidates.into_iter().map(judge).collect()
        });
        (results, stages)
    }
}

fn judge(
    world: &dyn World,
    candidate: Result<Candidate, NotLearned>,
    meter: &RegretMeter,
    long: &Exogenous,
    short: &Exogenous,
) -> MethodOutcome {
    let Candidate { agent, learning } = match candidate {
        Ok(candidate) => candidate,
        Err(reason) => return MethodOutcome::NotLearned(reason.to_string()),
    };
    let Evaluation { unfairness, rates, .. } = evaluate(world, &*agent, short, DISCOUNT);
    let Regret { regret, tail, values } = meter.measure(&*agent, long);
    MethodOutcome::Evaluated(Measured {
        unfairness: unfairness.metric,
        value: values.value,
        long_value: None,
        fair: Some(values.fair),
        gained: Some(values.gained),
        regret: Some(Estimate { mean: regret.mean + tail, ..regret }),
        shares: shares(world, &rates),
        learning,
    })
}

/// The best fair rule read through some preprocessing.
fn best<M: Mechanism + 'static>(means: Sequential<M>, meter: &Arc<RegretMeter>) -> Candidate {
    let agent: Arc<dyn Agent> = Arc::new(Deployed::new(means, BestRule(Arc::clone(meter))));
    Candidate { agent, learning: None }
}

/// A meter and what it is for: the world, and δ by its bits.
type Known = ((PaperWorld, u64), Arc<RegretMeter>);

/// The meters that cells ask for, each solved for once.
#[derive(Default)]
pub(super) struct Meters(Mutex<Vec<Known>>);

impl fmt::Debug for Meters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Meters")
    }
}

impl Meters {
    /// The meter of a world at a strength.
    ///
    /// # Errors
    /// [`CellError::Optimum`].
    pub fn at(&self, world: PaperWorld, strength: f64) -> Result<Arc<RegretMeter>, CellError> {
        let wanted = (world, strength.to_bits());
        let mut known = self.0.lock().expect("solving does not panic");
        if let Some((_, meter)) = known.iter().find(|(of, _)| *of == wanted) {
            return Ok(Arc::clone(meter));
        }
        let meter = Arc::new(RegretMeter::new(world, strength, DISCOUNT)?);
        known.push((wanted, Arc::clone(&meter)));
        Ok(meter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Cell, Context, Record};

    fn cell(error: Option<f64>, methods: &[Method]) -> RegretCell {
        RegretCell {
            world: PaperWorld::Nonlinear,
            strength: 0.8,
            people: 150,
            horizon: 8,
            evaluation_people: 400,
            evaluation_horizon: 30,
            error,
            methods: methods.to_vec(),
            learner: Learner::LeastSquares,
            seed: 3,
        }
    }

    fn run(cell: RegretCell) -> Record {
        let (record, _) = Context::default().run(&Cell::Regret(cell)).expect("a cell that can be done");
        record.check().expect("numbers that can be");
        record
    }

    fn regret(record: &Record, method: Method) -> f64 {
        record.measured(method).and_then(|m| m.regret).expect("a policy").mean
    }

    #[test]
    fn without_an_error_the_best_rule_loses_nothing_and_true_means_are_the_oracle() {
        let record = run(cell(Some(0.0), &[Method::BestRule, Method::TrueMeans, Method::Oracle]));
        // Advantages are interpolated to 1e-6, summed with weights that add up to 10.
        assert!(regret(&record, Method::BestRule) < 1e-5);
        let (a, b) = (record.measured(Method::TrueMeans).unwrap(), record.measured(Method::Oracle).unwrap());
        assert!((a.regret.unwrap().mean - b.regret.unwrap().mean).abs() < 1e-9 && b.regret.unwrap().mean > 1e-4);
        assert!(a.gained.unwrap().mean.abs() < 1e-9 && a.unfairness.mean == 0.0, "exactly fair: {a:?}");
    }

    #[test]
    fn an_error_in_the_means_costs_more_than_twice_as_much_when_it_doubles() {
        let [small, large] = [0.1, 0.2].map(|error| run(cell(Some(error), &[Method::BestRule])));
        let [small, large] = [&small, &large].map(|record| regret(record, Method::BestRule));
        assert!(small > 1e-5 && large > 2.0 * small, "{small} and {large}: a first-order law would double");
    }

    #[test]
    fn panels_are_those_of_the_simulations_figure() {
        let regret = cell(None, &[Method::Ours]);
        let synthetic = Synthetic {
            world: regret.world,
            strength: regret.strength,
            people: regret.people,
            horizon: regret.horizon,
            evaluation_people: 10,
            evaluation_horizon: 5,
            long_horizon: None,
            methods: vec![],
            learner: regret.learner,
            seed: regret.seed,
        };
        assert_eq!(regret.stream(), synthetic.stream());
        let measured = run(regret);
        let ours = measured.measured(Method::Ours).unwrap();
        let (value, fair, gained) = (ours.value.mean, ours.fair.unwrap().mean, ours.gained.unwrap().mean);
        assert!((value - fair - gained).abs() < 1e-9 && gained.abs() > 1e-4, "{ours:?}");
    }
}
