//! The policies whose intervals are tried: a fixed rule, and what was learned from other people.

use super::Bed;
use crate::audit::probabilities_along;
use crate::estimate::{Basis, FitSettings, Pooling, fit};
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, Policy, Settings, UniformlyRandom, fitted_q_iteration};
use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Full, Preprocessor, Sequential, StateAndLevel, Unaware, batch};
use std::sync::Arc;

/// The states of all levels along a panel.
type Worlds = Box<dyn Fn(&Panel) -> Vec<f64> + Send + Sync>;

/// A policy that stays as it is while people are resampled.
pub struct FixedPolicy {
    /// Its name in tables.
    pub name: &'static str,
    agent: Box<dyn Agent>,
    /// The states of all levels along a panel, for a policy that reads them.
    worlds: Option<Worlds>,
}

impl FixedPolicy {
    /// What is followed to find the truth.
    pub fn agent(&self) -> &dyn Agent {
        &*self.agent
    }

    /// π(a | history) along a panel, and the worlds' states when it reads them.
    pub fn along(&self, panel: &Panel) -> (Vec<f64>, Option<Vec<f64>>) {
        let coins = vec![0.5; panel.people()];
        let along = probabilities_along(panel, self.agent(), &coins).expect("a policy for this world");
        (along, self.worlds.as_ref().map(|worlds| worlds(panel)))
    }
}

/// Action 1 when the first coordinate is above a bar that depends on the level.
struct Rule;

impl Policy<StateAndLevel> for Rule {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
            let above = row[0] > 0.4 * row[width - 1] - 0.1;
            out.copy_from_slice(if above { &[0.0, 1.0] } else { &[1.0, 0.0] });
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// Three actions, the last and the first with the sign of the first coordinate, none of them always.
struct SoftRule;

impl Policy<StateAndLevel> for SoftRule {
    fn actions(&self) -> usize {
        3
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(3)) {
            let above = row[0] > 0.2 * row[width - 1];
            out.copy_from_slice(if above { &[0.1, 0.2, 0.7] } else { &[0.6, 0.3, 0.1] });
        }
    }
    fn is_deterministic(&self) -> bool {
        false
    }
}

/// Action 1 for everybody.
struct Always;

impl Policy<StateAndLevel> for Always {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, _rows: &[f64], _width: usize, out: &mut [f64]) {
        out.chunks_exact_mut(2).for_each(|row| row.copy_from_slice(&[0.0, 1.0]));
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

fn reading_state<R: Policy<StateAndLevel> + 'static>(name: &'static str, p: usize, rule: R) -> FixedPolicy {
    FixedPolicy { name, agent: Box::new(Deployed::new(Full { state_dim: p }, rule)), worlds: None }
}

/// Action 1 for everybody, in a world of two actions.
pub fn always(bed: &Bed) -> FixedPolicy {
    reading_state("Always", bed.world.state_dim(), Always)
}

/// A rule on (s, z).
pub fn rule(bed: &Bed) -> FixedPolicy {
    let p = bed.world.state_dim();
    if bed.world.actions() == 2 { reading_state("Rule", p, Rule) } else { reading_state("Rule", p, SoftRule) }
}

/// Rule, Full, Unaware, Ours and Random; the learned ones by the paper's quadratics on 300 people who never leave and are not judged.
pub fn policies(bed: &Bed, discount: f64, stream: Stream) -> Vec<FixedPolicy> {
    let (p, levels) = (bed.world.state_dim(), bed.world.levels());
    let panel = bed.complete_panel(300, 8, stream);
    let pooling = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
    let means = Arc::new(fit(&panel, &pooling).expect("means of a simulated panel"));
    let sequential = Sequential::new(means, panel.level_shares());
    let ours = learned(&panel, sequential.clone(), p * levels, 1, discount);
    vec![
        rule(bed),
        FixedPolicy { name: "Full", agent: learned(&panel, Full { state_dim: p }, p, levels, discount), worlds: None },
        FixedPolicy { name: "Unaware", agent: learned(&panel, Unaware { state_dim: p }, p, 1, discount), worlds: None },
        FixedPolicy {
            name: "Ours",
            agent: ours,
            worlds: Some(Box::new(move |panel| {
                batch(&sequential, panel).expect("a mechanism that stays finite").views().to_vec()
            })),
        },
        FixedPolicy {
            name: "Random",
            agent: Box::new(Deployed::new(Unaware { state_dim: p }, UniformlyRandom { actions: bed.world.actions() })),
            worlds: None,
        },
    ]
}

/// Fitted Q iteration on quadratics of what a preprocessor makes of the panel.
fn learned<P: Preprocessor + 'static>(
    panel: &Panel,
    preprocessor: P,
    coordinates: usize,
    levels: usize,
    discount: f64,
) -> Box<dyn Agent> {
    let experience = batch(&preprocessor, panel).expect("a mechanism that stays finite");
    let features = Polynomial::for_rows(experience.views(), coordinates, levels, 2).expect("quadratics");
    let settings = Settings { discount, ..Settings::default() };
    let fitted = fitted_q_iteration(&experience, &features, settings).expect("people with transitions");
    Box::new(Deployed::new(preprocessor, Greedy(fitted.q)))
}
