//! Coverage of the CF metric's law: learn on N people, judge on them and on N others, and compare with 8000 people seen in all worlds.

use crate::audit::{Carried, PanelDraws, UnfairnessLaw, Yardstick, probabilities_along, unfairness};
use crate::estimate::{Certificate, FitSettings, Fitted, Refitter};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, LinearQ, Settings, UniformlyRandom, fitted_q_iteration};
use crate::kernel::model::noise::{Step, first_state};
use crate::kernel::model::{Exogenous, World, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, PanelBuilder, Person};
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
    /// The CF metric along recorded histories, from people followed in all worlds.
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
        let exogenous = Exogenous::draw(setting.world, setting.people, setting.horizon, stream.named(name));
        worlds(setting, &exogenous).swap_remove(0)
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
            (Judged::Learned, &learned, &Yardstick::Certificate(&certificate)),
            (Judged::Fresh, &fresh, &Yardstick::Certificate(&certificate)),
            (Judged::FreshWithoutCertificate, &fresh, &alone),
        ] {
            let law = unfairness(&*agent, panel, yardstick, &draws(panel), 0.95).expect("histories that stay finite");
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

/// People followed in the world of every level with their own noise and the recorded actions.
struct Truth {
    /// A panel for each level, in which everybody has that level.
    worlds: Vec<Panel>,
}

impl Truth {
    fn new(setting: &Setting<'_>, stream: Stream) -> Self {
        let exogenous = Exogenous::draw(setting.world, setting.truth_people, setting.horizon, stream);
        Self { worlds: worlds(setting, &exogenous).split_off(1) }
    }

    /// max over pairs of levels of the mean total variation between what a policy does in the two worlds: over all decisions, and
    /// over first ones. Of a deterministic policy it is the share of decisions that differ.
    fn of(&self, agent: &dyn Agent) -> (f64, f64) {
        let actions = agent.actions();
        let along: Vec<Vec<f64>> = self
            .worlds
            .iter()
            .map(|panel| probabilities_along(panel, agent, &vec![0.5; panel.people()]).expect("panels of one shape"))
            .collect();
        let panel = &self.worlds[0];
        let (mut all, mut first) = (0.0f64, 0.0f64);
        for a in 0..along.len() {
            for b in a + 1..along.len() {
                let (mut sum, mut at_first) = (0.0, 0.0);
                for i in 0..panel.people() {
                    for (t, row) in panel.states_of(i).take(panel.decisions_of(i).len()).enumerate() {
                        let at = row * actions..(row + 1) * actions;
                        let pairs = along[a][at.clone()].iter().zip(&along[b][at]);
                        let distance = 0.5 * pairs.map(|(p, q)| (p - q).abs()).sum::<f64>();
                        sum += distance;
                        at_first += if t == 0 { distance } else { 0.0 };
                    }
                }
                all = all.max(sum / panel.decisions() as f64);
                first = first.max(at_first / panel.people() as f64);
            }
        }
        (all, first)
    }
}

/// The panel as it was, then for each level what it would have been had everybody had that level: the same noise and the same actions.
fn worlds(setting: &Setting<'_>, exogenous: &Exogenous) -> Vec<Panel> {
    let world = setting.world;
    let (horizon, p) = (exogenous.horizon(), world.state_dim());
    let factual = simulate(world, exogenous);
    let mut all = vec![];
    for level in 0..world.levels() {
        let mut builder =
            PanelBuilder::new(factual.levels().clone(), factual.action_names().clone(), p).expect("the same shape");
        let (mut states, mut step) = (vec![0.0; (horizon + 1) * p], Step::default());
        for (i, own) in factual.iter().enumerate() {
            let noise = |t: usize| &exogenous.states(t)[i * p..(i + 1) * p];
            states[..p].copy_from_slice(noise(0));
            first_state(world, level, &mut states[..p]);
            for t in 0..horizon {
                let (before, after) = states[t * p..(t + 2) * p].split_at_mut(p);
                step.prepare(world, level, before, &own.actions[t..=t]);
                after.copy_from_slice(noise(t + 1));
                step.states(world, level, after);
            }
            builder.push(Person { level: level as u32, states: &states, ..own }).expect("finite states");
        }
        all.push(builder.finish());
    }
    all.insert(0, factual);
    all
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
