//! The policies whose intervals are tried: fixed rules, and what was learned from other people.

use super::bed::Bed;
use super::place::{Place, Until, record};
use counterfair::audit::probabilities_along;
use counterfair::estimate::{Basis, FitSettings, Pooling, fit};
use counterfair::fair::Method;
use counterfair::kernel::learn::{Agent, Deployed, Policy, UniformlyRandom};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;
use counterfair::kernel::preprocess::{Full, Sequential, StateAndLevel, StateOnly, Unaware, batch};
use counterfair::theory::plain_policy;

/// The states of all levels along a panel.
type Worlds = Box<dyn Fn(&Panel) -> Vec<f64> + Send + Sync>;

/// A policy that stays as it is while people are resampled.
pub struct FixedPolicy {
    pub name: &'static str,
    pub agent: Box<dyn Agent>,
    /// For a policy that reads the states of all levels.
    worlds: Option<Worlds>,
}

impl FixedPolicy {
    fn new(name: &'static str, agent: Box<dyn Agent>) -> Self {
        Self { name, agent, worlds: None }
    }

    /// π(a | history) along a panel, and the worlds' states when it reads them.
    pub fn along(&self, panel: &Panel) -> (Vec<f64>, Option<Vec<f64>>) {
        let coins = vec![0.5; panel.people()];
        let along = probabilities_along(panel, &*self.agent, &coins).expect("a policy for this world");
        (along, self.worlds.as_ref().map(|worlds| worlds(panel)))
    }
}

/// Action 1 where the first coordinate is above a bar that depends on the level. Of three actions the last and the first with the sign of the first
/// coordinate, none of them always.
struct ByState {
    actions: usize,
}

impl Policy<StateAndLevel> for ByState {
    fn actions(&self) -> usize {
        self.actions
    }

    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(self.actions)) {
            let (state, level) = (row[0], row[width - 1]);
            match (self.actions, state > 0.4 * level - 0.1, state > 0.2 * level) {
                (2, above, _) => out.copy_from_slice(if above { &[0.0, 1.0] } else { &[1.0, 0.0] }),
                (_, _, above) => out.copy_from_slice(if above { &[0.1, 0.2, 0.7] } else { &[0.6, 0.3, 0.1] }),
            }
        }
    }

    fn is_deterministic(&self) -> bool {
        self.actions == 2
    }
}

/// The same action for everybody.
struct Always {
    action: usize,
    actions: usize,
}

impl Policy<StateOnly> for Always {
    fn actions(&self) -> usize {
        self.actions
    }

    fn probabilities(&self, _rows: &[f64], _width: usize, out: &mut [f64]) {
        out.fill(0.0);
        out.iter_mut().skip(self.action).step_by(self.actions).for_each(|p| *p = 1.0);
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

/// An agent that gives everybody this action.
pub fn always(place: &dyn Place, action: usize) -> Box<dyn Agent> {
    let rule = Always { action, actions: place.actions().len() };
    Box::new(Deployed::new(Unaware { state_dim: place.state_dim() }, rule))
}

/// An agent that tosses a coin.
pub fn random(place: &dyn Place) -> Box<dyn Agent> {
    let rule = UniformlyRandom { actions: place.actions().len() };
    Box::new(Deployed::new(Unaware { state_dim: place.state_dim() }, rule))
}

/// Which policies are tried beside Random.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Rule, Full, Unaware and Ours.
    All,
    /// A rule on (s, z).
    Rule,
    /// Action 1 for everybody.
    Always,
}

/// These policies; the learned ones by the paper's quadratics on 300 people who never leave and are not judged.
pub fn policies(bed: &Bed, which: Which, stream: Stream) -> Vec<FixedPolicy> {
    let (state_dim, actions) = (bed.state_dim(), bed.actions().len());
    let rule = || FixedPolicy::new("Rule", Box::new(Deployed::new(Full { state_dim }, ByState { actions })));
    match which {
        Which::Rule => vec![rule()],
        Which::Always => vec![FixedPolicy::new("Always", always(bed, 1))],
        Which::All => {
            let panel = record(bed, &*bed.draw(300, 8, stream), Until::TheEnd);
            let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
            let means = fit(&panel, &settings).expect("means of a simulated panel");
            let learned = |method| plain_policy(method, &panel, &means);
            let (full, unaware, ours) = (learned(Method::Full), learned(Method::Unaware), learned(Method::Ours));
            let sequential = Sequential::new(means, panel.level_shares());
            let worlds: Worlds =
                Box::new(move |panel| batch(&sequential, panel).expect("finite states").views().to_vec());
            vec![
                rule(),
                FixedPolicy::new("Full", full),
                FixedPolicy::new("Unaware", unaware),
                FixedPolicy { worlds: Some(worlds), ..FixedPolicy::new("Ours", ours) },
                FixedPolicy::new("Random", random(bed)),
            ]
        }
    }
}
