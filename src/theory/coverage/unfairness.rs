//! Coverage of the CF metric's law: learn on N people, judge on them and on N others, and compare with 8000 people seen in all worlds.

use crate::audit::{self, Carried, PanelDraws, UnfairnessLaw, Yardstick};
use crate::estimate::{Certificate, FitSettings, Fitted, Refitter};
use crate::kernel::evaluate::evaluate;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, LinearQ, Settings, UniformlyRandom, fitted_q_iteration};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Experience, Full, Sequential, Unaware, View, batch};
use serde::Serialize;

/// What is repeated.
pub struct Setting<'a> {
    /// The world. One whose noise is more than added is a control when the mechanism is fitted with additive noise.
    pub world: &'a dyn World,
    /// The name of the setting in tables.
    pub name: &'a str,
    /// N to learn from, and N others to judge.
    pub people: usize,
    /// T.
    pub horizon: usize,
    /// How the mechanism is fitted.
    pub fit: FitSettings,
    /// B.
    pub replicates: usize,
    /// People followed in all worlds for the truth.
    pub truth_people: usize,
}

/// Which policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Reads counterfactual states through means of its own.
    Ours,
    /// Reads state and level.
    Full,
    /// Reads the state alone.
    Unaware,
    /// Reads nothing.
    Random,
}

/// On whom, and under which mechanisms, a policy was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judged {
    /// The people it was learned from, with its certificate.
    Learned,
    /// Others, with its certificate.
    Fresh,
    /// Others, without one.
    FreshWithoutCertificate,
}

/// One law beside the truth.
pub struct Judgement {
    /// The policy.
    pub kind: Kind,
    /// On whom.
    pub judged: Judged,
    /// The CF metric of deployment, from people followed in all worlds.
    pub truth: f64,
    /// The same at the first decision alone.
    pub truth_at_first: f64,
    /// What was said about it.
    pub law: UnfairnessLaw,
}

/// Learns and judges once.
///
/// # Panics
/// If a mechanism cannot be fitted, as when a level has nobody: settings are chosen so that this does not happen.
pub fn judge_once(setting: &Setting<'_>, stream: Stream) -> Vec<Judgement> {
    let [learned, fresh] = ["learned", "fresh"].map(|name| {
        simulate(setting.world, &Exogenous::draw(setting.world, setting.people, setting.horizon, stream.named(name)))
    });
    let truth = Truth::new(setting, stream.named("truth"));
    let draws = |panel: &Panel| PanelDraws::draw(panel, stream.named("draws"));

    let refitter = Refitter::new(&learned, &setting.fit).expect("a panel that can be fitted");
    let certificate =
        Certificate::new(&refitter, &learned, setting.replicates, 1).expect("refits with positive weights");
    let fresh_refitter = Refitter::new(&fresh, &setting.fit).expect("a panel that can be fitted");
    let mut found = Vec::new();
    for kind in [Kind::Ours, Kind::Full, Kind::Unaware, Kind::Random] {
        let agent = plain_policy(kind, &learned, refitter.fitted());
        let (truth, truth_at_first) = truth.of(&*agent);
        let carried =
            (kind == Kind::Ours).then(|| Carried { mechanism: refitter.fitted(), transitions: learned.transitions() });
        let alone = Yardstick::Judged { refitter: &fresh_refitter, carried, replicates: setting.replicates, seed: 2 };
        for (judged, panel, yardstick) in [
            (Judged::Learned, &learned, Yardstick::Certificate(&certificate)),
            (Judged::Fresh, &fresh, Yardstick::Certificate(&certificate)),
            (Judged::FreshWithoutCertificate, &fresh, alone),
        ] {
            let draws = draws(panel);
            let people = audit::Judged { agent: &*agent, panel, draws: &draws, yardstick, scales: &[] };
            let law = audit::unfairness(&[people], 0.95).expect("people that stay finite").law;
            found.push(Judgement { kind, judged, truth, truth_at_first, law });
        }
    }
    found
}

/// The plain quadratic fitted Q of the paper on what each policy reads; `mechanism` is what Ours reads through.
///
/// # Panics
/// If counterfactual states overflow, or nobody was seen twice.
pub fn plain_policy(kind: Kind, panel: &Panel, mechanism: &Fitted) -> Box<dyn Agent> {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    match kind {
        Kind::Ours => {
            let sequential = Sequential::new(mechanism.clone(), panel.level_shares());
            let q = quadratic(&batch(&sequential, panel).expect("finite states"), p * levels, 1);
            Box::new(Deployed::new(sequential, Greedy(q)))
        }
        Kind::Full => {
            let full = Full { state_dim: p };
            let q = quadratic(&batch(&full, panel).expect("finite states"), p, levels.max(2));
            Box::new(Deployed::new(full, Greedy(q)))
        }
        Kind::Unaware => {
            let unaware = Unaware { state_dim: p };
            let q = quadratic(&batch(&unaware, panel).expect("finite states"), p, 1);
            Box::new(Deployed::new(unaware, Greedy(q)))
        }
        Kind::Random => {
            let actions = panel.action_names().len();
            Box::new(Deployed::new(Unaware { state_dim: p }, UniformlyRandom { actions }))
        }
    }
}

fn quadratic<V: View>(experience: &Experience<V>, coordinates: usize, levels: usize) -> LinearQ<V, Polynomial> {
    let features = Polynomial::for_rows(experience.views(), coordinates, levels, 2).expect("few monomials");
    fitted_q_iteration(experience, &features, Settings::default()).expect("transitions to learn from").q
}

/// People who are followed in the world itself.
struct Truth<'a> {
    world: &'a dyn World,
    /// Over all decisions, and over first ones.
    draws: [Exogenous; 2],
}

impl<'a> Truth<'a> {
    fn new(setting: &Setting<'a>, stream: Stream) -> Self {
        let draw = |horizon| Exogenous::draw(setting.world, setting.truth_people, horizon, stream);
        Self { world: setting.world, draws: [setting.horizon, 1].map(draw) }
    }

    /// max over pairs of levels of the mean total variation between what a policy does in the two worlds: over all decisions, and
    /// over first ones. Of a deterministic policy it is the share of decisions that differ.
    fn of(&self, agent: &dyn Agent) -> (f64, f64) {
        let [all, first] =
            self.draws.each_ref().map(|draws| evaluate(self.world, agent, draws, 1.0).unfairness.total_variation.mean);
        (all, first)
    }
}

/// What a number of judgements add up to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Coverage {
    /// The setting.
    pub setting: String,
    /// T.
    pub horizon: usize,
    /// N.
    pub people: usize,
    /// The policy.
    pub policy: Kind,
    /// On whom.
    pub judged: Judged,
    /// Judgements.
    pub repetitions: usize,
    /// Mean truth.
    pub truth: f64,
    /// Mean estimate.
    pub estimate: f64,
    /// Share of 50 % intervals that cover.
    pub covers_50: f64,
    /// Of 90 % intervals.
    pub covers_90: f64,
    /// Of 95 % intervals.
    pub covers_95: f64,
    /// Of 95 % upper bounds.
    pub upper_95: f64,
    /// Mean width of 95 % intervals.
    pub width_95: f64,
    /// Share of finite-sample bounds that cover; none on learned people.
    pub finite_sample: Option<f64>,
    /// Share of 95 % intervals of the parity gap whose lower end is below the truth at the first decision.
    pub parity_below: f64,
}

/// Adds judgements up by policy and by whom it was judged on.
pub fn coverage(setting: &Setting<'_>, judgements: &[Judgement]) -> Vec<Coverage> {
    let mut rows = Vec::new();
    for policy in [Kind::Ours, Kind::Full, Kind::Unaware, Kind::Random] {
        for judged in [Judged::Learned, Judged::Fresh, Judged::FreshWithoutCertificate] {
            let own: Vec<&Judgement> = judgements.iter().filter(|j| j.kind == policy && j.judged == judged).collect();
            let mean = |of: &dyn Fn(&Judgement) -> f64| own.iter().map(|j| of(j)).sum::<f64>() / own.len() as f64;
            let covers = |level: f64| {
                mean(&|j| {
                    let (low, high) = j.law.interval(level);
                    f64::from(u8::from(low <= j.truth && j.truth <= high))
                })
            };
            let finite = own.iter().all(|j| j.law.finite_sample_bound.is_some());
            let bound = |j: &Judgement| j.law.finite_sample_bound.is_some_and(|bound| j.truth <= bound);
            rows.push(Coverage {
                setting: setting.name.into(),
                horizon: setting.horizon,
                people: setting.people,
                policy,
                judged,
                repetitions: own.len(),
                truth: mean(&|j| j.truth),
                estimate: mean(&|j| j.law.mean()),
                covers_50: covers(0.5),
                covers_90: covers(0.9),
                covers_95: covers(0.95),
                upper_95: mean(&|j| f64::from(u8::from(j.truth <= j.law.upper(0.95)))),
                width_95: mean(&|j| j.law.interval(0.95).1 - j.law.interval(0.95).0),
                finite_sample: finite.then(|| mean(&|j| f64::from(u8::from(bound(j))))),
                parity_below: mean(&|j| f64::from(u8::from(j.law.parity_gap.interval.0 <= j.truth_at_first))),
            });
        }
    }
    rows
}
