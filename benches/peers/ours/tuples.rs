//! Fitted Q iteration by least squares, on tuples that the script wrote.

use super::measure::clock::timed;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Settings, fitted_q_iteration};
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{Experience, StateOnly, Unaware, batch};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};

/// `iterations` of fitted Q iteration, `repeat` times.
#[derive(Deserialize)]
pub struct FittedQ {
    tuples: Tuples,
    degree: usize,
    iterations: usize,
    repeat: usize,
}

/// The tuples last asked about.
#[derive(Default)]
pub struct Loaded(Option<(Tuples, Experience<StateOnly>)>);

impl FittedQ {
    pub fn answer(self, loaded: &mut Loaded) -> Result<Value, Box<dyn Error>> {
        let Self { tuples, degree, iterations, repeat } = self;
        let (p, levels) = (tuples.coordinates, tuples.levels);
        if loaded.0.as_ref().is_none_or(|(present, _)| *present != tuples) {
            loaded.0 = None;
            let experience = tuples.experience()?;
            loaded.0 = Some((tuples, experience));
        }
        let (_, experience) = loaded.0.as_ref().expect("just loaded");
        let features = Polynomial::standardised(degree, vec![0.0; p], vec![1.0; p], levels)?;
        let settings = Settings { iterations, ..Settings::default() };
        let (fit, time) = timed(repeat, || fitted_q_iteration(experience, &features, settings));
        let fit = fit?;
        Ok(json!({"time": time, "outcome": format!("{:?}", fit.outcome), "weights": fit.q.weights()}))
    }
}

/// Little-endian arrays in one folder: `states` (N·(T+1)·p), `actions` and `rewards` (N·T each), `levels` (N).
#[derive(Deserialize, PartialEq)]
pub struct Tuples {
    folder: PathBuf,
    horizon: usize,
    coordinates: usize,
    levels: usize,
    actions: usize,
}

impl Tuples {
    pub fn panel(&self) -> Result<Panel, Box<dyn Error>> {
        let (states, rewards) = (numbers(&self.folder, "states")?, numbers(&self.folder, "rewards")?);
        let codes = |name| numbers(&self.folder, name).map(|x| x.into_iter().map(|x| x as u32).collect::<Vec<_>>());
        let (actions, levels) = (codes("actions")?, codes("levels")?);
        let mut builder =
            PanelBuilder::new(Labels::numbered(self.levels), Labels::numbered(self.actions), self.coordinates)?;
        let (t, row) = (self.horizon, (self.horizon + 1) * self.coordinates);
        for (i, &level) in levels.iter().enumerate() {
            builder.push(Person {
                id: &i.to_string(),
                level,
                states: &states[i * row..(i + 1) * row],
                actions: &actions[i * t..(i + 1) * t],
                rewards: &rewards[i * t..(i + 1) * t],
            })?;
        }
        Ok(builder.finish())
    }

    fn experience(&self) -> Result<Experience<StateOnly>, Box<dyn Error>> {
        let (panel, state_dim) = (self.panel()?, self.coordinates);
        let states = batch(&Unaware { state_dim }, &panel)?;
        Ok(if self.levels > 1 { states.with_level(&panel) } else { states })
    }
}

/// A file of little-endian numbers.
pub fn numbers(folder: &Path, name: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let bytes = std::fs::read(folder.join(name))?;
    Ok(bytes.as_chunks::<8>().0.iter().map(|b| f64::from_le_bytes(*b)).collect())
}
