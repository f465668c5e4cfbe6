//! What is measured of a policy, and the slope of it.

use super::grid::{DISCOUNT, ERRORS, Grid, Learned, Misread, SIZES};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::Agent;
use crate::kernel::model::Exogenous;
use crate::kernel::numeric::Stream;
use crate::theory::RegretMeter;
use crate::theory::optimum::PaperWorld;
use crate::theory::theorems::{Found, Slope};

/// People followed, each at both levels.
const FOLLOWED: usize = 400;
/// Decisions they are followed for: γ⁶⁰ is one part in five hundred, and what comes later is extrapolated.
const DECISIONS: usize = 60;
/// Decisions over which the CF metric is taken, as in the paper.
const METRIC_DECISIONS: usize = 20;

/// One policy, on people who were not learned from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// J*CF − Ṽ.
    regret: f64,
    /// J.
    value: f64,
    /// J − Ṽ.
    gained: f64,
    /// `eq:cf_metric`.
    metric: f64,
}

/// Who measures, on whom: all policies of a run meet the same people.
pub(super) struct Judge<'a> {
    meter: &'a RegretMeter,
    people: Exogenous,
    early: Exogenous,
}

impl<'a> Judge<'a> {
    pub fn new(meter: &'a RegretMeter, stream: Stream) -> Self {
        let draw = |decisions| Exogenous::draw(meter.world(), FOLLOWED, decisions, stream);
        Self { meter, people: draw(DECISIONS), early: draw(METRIC_DECISIONS) }
    }

    pub fn measure(&self, agent: &dyn Agent) -> Measured {
        let found = self.meter.measure(agent, &self.people);
        Measured {
            regret: found.lost(),
            value: found.values.value.mean,
            gained: found.values.gained.mean,
            metric: evaluate(self.meter.world(), agent, &self.early, DISCOUNT).unfairness.metric.mean,
        }
    }
}

/// What should fall.
#[derive(Debug, Clone, Copy)]
pub(super) enum Quantity {
    /// J*CF − Ṽ.
    Regret,
    /// |J − Ṽ|.
    Gained,
    /// `eq:cf_metric`.
    Metric,
    /// |J − J of the Oracle|.
    ValueFromOracle,
    /// |Ṽ − Ṽ of the Oracle|: the difference of the two regrets, whose terms are 0 wherever both act best.
    FairValueFromOracle,
}

impl Quantity {
    fn of(self, policy: Measured, oracle: Measured) -> f64 {
        match self {
            Self::Regret => policy.regret,
            Self::Gained => policy.gained.abs(),
            Self::Metric => policy.metric,
            Self::ValueFromOracle => (policy.value - oracle.value).abs(),
            Self::FairValueFromOracle => (policy.regret - oracle.regret).abs(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Regret => "J*CF − Ṽ",
            Self::Gained => "|J − Ṽ|",
            Self::Metric => "CF metric",
            Self::ValueFromOracle => "|J − J of the Oracle|",
            Self::FairValueFromOracle => "|Ṽ − Ṽ of the Oracle|",
        }
    }
}

/// The slope of a quantity against N, for one of the policies learned.
pub(super) fn against_n(world: PaperWorld, quantity: Quantity, policy: fn(&Learned) -> Measured) -> Found {
    let runs = Grid::of(world).learned(world).iter();
    let samples: Vec<Vec<f64>> =
        runs.map(|panels| panels.iter().map(|run| quantity.of(policy(run), run.oracle)).collect()).collect();
    Slope::measured(quantity.name(), "N", &SIZES.map(|n| n as f64), &samples, Stream::new(93))
}

/// The slope of a quantity against ε: of the best fair rule, which the Oracle is here.
pub(super) fn against_error(world: PaperWorld, quantity: Quantity, policies: &[fn(&Misread) -> Measured]) -> Found {
    slope_in_error(world, quantity, policies, &ERRORS)
}

/// The same, with the largest errors alone, of one sign, as a figure over a shorter range shows it.
pub(super) fn against_large_errors(world: PaperWorld, quantity: Quantity) -> Found {
    slope_in_error(world, quantity, &[|run| run.above], &ERRORS[..4])
}

fn slope_in_error(
    world: PaperWorld,
    quantity: Quantity,
    policies: &[fn(&Misread) -> Measured],
    errors: &[f64],
) -> Found {
    let runs = Grid::of(world).misread(world).iter().take(errors.len());
    let mean = |run: &Misread| {
        let each = policies.iter().map(|policy| quantity.of(policy(run), policy(run)));
        each.sum::<f64>() / policies.len() as f64
    };
    let samples: Vec<Vec<f64>> = runs.map(|crowds| crowds.iter().map(mean).collect()).collect();
    Slope::measured(quantity.name(), "ε", errors, &samples, Stream::new(94))
}
