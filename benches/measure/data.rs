//! Panels of any shape: people whose coordinates wander and answer to the action.

use counterfair::kernel::numeric::Stream;
use counterfair::kernel::numeric::{fill_standard_normal, fill_uniform};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};

/// The shape of a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// N.
    pub people: usize,
    /// T.
    pub horizon: usize,
    /// p.
    pub coordinates: usize,
    /// K.
    pub levels: usize,
    /// |A|.
    pub actions: usize,
}

impl Shape {
    /// N·T.
    pub fn tuples(&self) -> usize {
        self.people * self.horizon
    }

    /// S′ = S/2 + (a − z)/4 + U, R = Σ S + a/2 + U, with everybody's action drawn evenly.
    pub fn panel(&self) -> Panel {
        let Self { people, horizon, coordinates: p, levels, actions } = *self;
        let (levels_names, actions_names) = (Labels::numbered(levels), Labels::numbered(actions));
        let mut builder = PanelBuilder::new(levels_names, actions_names, p).expect("a shape without zeros");
        let stream = Stream::new(7).named("bench");
        let mut states = vec![0.0; (horizon + 1) * p];
        let (mut uniforms, mut rewards) = (vec![0.0; horizon], vec![0.0; horizon]);
        for i in 0..people {
            let mut rng = stream.index(i as u64).rng();
            fill_standard_normal(&mut rng, &mut states);
            fill_uniform(&mut rng, &mut uniforms);
            fill_standard_normal(&mut rng, &mut rewards);
            let (level, taken): (u32, Vec<u32>) =
                ((i % levels) as u32, uniforms.iter().map(|u| (u * actions as f64) as u32).collect());
            for t in 0..horizon {
                let push = 0.25 * (f64::from(taken[t]) - f64::from(level));
                rewards[t] += states[t * p..(t + 1) * p].iter().sum::<f64>() + 0.5 * f64::from(taken[t]);
                for c in 0..p {
                    states[(t + 1) * p + c] += 0.5 * states[t * p + c] + push;
                }
            }
            let person = Person { id: &i.to_string(), level, states: &states, actions: &taken, rewards: &rewards };
            builder.push(person).expect("finite numbers");
        }
        builder.finish()
    }
}
