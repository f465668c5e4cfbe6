//! A study whose numbers all differ: three levels of unequal size, three actions of unequal use, people who leave.

use counterfair::estimate::{Basis, FitSettings, NoiseChoice};
use counterfair::fair::study::{Study, StudySettings, study};
use counterfair::fair::{Learner, Method, People, Preprocessing};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use rand::{Rng, RngExt};
use std::sync::LazyLock;

pub const DISCOUNT: f64 = 0.7;
pub const SEED: u64 = 5;
pub const FOLDS: usize = 4;
pub const REPLICATES: usize = 24;
pub const LEVELS: [&str; 3] = ["Asian", "Black", "White"];
pub const ACTIONS: [&str; 3] = ["brief", "counselor", "recorded"];

fn normal(rng: &mut impl Rng) -> f64 {
    let (u, v): (f64, f64) = (rng.random(), rng.random());
    (-2.0 * (1.0 - u).ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A counselor helps those who are badly off and harms the others; a recording helps everybody a little; who is of the second level is worse off.
pub fn panel() -> Panel {
    let mut rng = Stream::new(31).named("honest").rng();
    let mut builder = PanelBuilder::new(Labels::new(LEVELS), Labels::new(ACTIONS), 1).unwrap();
    for i in 0..260usize {
        let level = [2, 2, 1, 2, 0, 1][i % 6];
        let shift = [0.2, 0.9, -0.2][level as usize];
        let decisions = if i % 7 < 5 { 5 } else { 2 + i % 3 };
        let mut states = vec![shift + normal(&mut rng)];
        let (mut actions, mut rewards) = (vec![], vec![]);
        for _ in 0..decisions {
            let (s, u): (f64, f64) = (states[states.len() - 1], rng.random());
            let action = if u < 0.5 {
                0
            } else if u < 0.8 {
                1
            } else {
                2
            };
            let effect = [0.0, 1.1 * s, 0.25][action as usize];
            actions.push(action);
            rewards.push(1.0 - 0.5 * s + effect - 0.3 * shift + 0.7 * normal(&mut rng));
            states.push(0.5 * s + shift - [0.0, 0.2, 0.1][action as usize] + 0.8 * normal(&mut rng));
        }
        builder
            .push(Person { id: &format!("p{i:03}"), level, states: &states, actions: &actions, rewards: &rewards })
            .unwrap();
    }
    builder.finish()
}

pub fn settings() -> StudySettings {
    let mechanism = FitSettings { basis: Basis::Linear, noise: NoiseChoice::Additive, ..FitSettings::default() };
    let preprocessing = Preprocessing { mechanism, ..Preprocessing::default() };
    let learner = Learner {
        preprocessing,
        discount: DISCOUNT,
        seed: SEED,
        replicates: 20,
        splits: 0,
        ..Learner::new(Method::Ours)
    };
    StudySettings {
        learner,
        folds: FOLDS,
        replicates: REPLICATES,
        group_replicates: 60,
        dropout: Some(counterfair::audit::recorded::Dropout::AsRecorded),
        ..StudySettings::default()
    }
}

/// The study, made once.
pub fn honest() -> (&'static Panel, &'static Study) {
    static HONEST: LazyLock<(Panel, Study)> = LazyLock::new(|| {
        let panel = panel();
        let found = study(&People::from(panel.clone()), &settings(), &mut |_| {}).unwrap();
        (panel, found)
    });
    (&HONEST.0, &HONEST.1)
}
