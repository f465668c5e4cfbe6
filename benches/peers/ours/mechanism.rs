//! What comes before any learning: reading a file, and fitting the default mechanism's regression.

use super::measure::clock::timed;
use super::tuples::Tuples;
use counterfair::estimate::{FitSettings, Pooling, fit};
use counterfair::files::{ReadOptions, read};
use counterfair::kernel::model::Mechanism;
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;

/// Reads a file in long form, `repeat` times.
#[derive(Deserialize)]
pub struct Read {
    csv: PathBuf,
    repeat: usize,
}

impl Read {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let (found, time) = timed(self.repeat, || read(&self.csv, &ReadOptions::default()));
        let panel = found?.panel;
        let states: f64 = panel.iter().flat_map(|person| person.states.to_vec()).sum();
        let rewards: f64 = panel.iter().flat_map(|person| person.rewards.to_vec()).sum();
        Ok(json!({"time": time, "people": panel.people(), "tuples": panel.transitions(), "sums": [states, rewards]}))
    }
}

/// Fits the default splines, levels together, `repeat` times. Answers the fitted values of each decision (next state, then reward) and
/// the degrees of freedom of each output.
#[derive(Deserialize)]
pub struct Splines {
    tuples: Tuples,
    repeat: usize,
}

impl Splines {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let panel = self.tuples.panel()?;
        let settings = FitSettings { pooling: Pooling::Pooled, ..FitSettings::default() };
        let (fitted, time) = timed(self.repeat, || fit(&panel, &settings));
        let fitted = fitted?;
        let p = panel.state_dim();
        let mut values = Vec::new();
        for person in panel.iter() {
            let n = person.actions.len();
            let (mut next, mut rewards) = (vec![0.0; n * p], vec![0.0; n]);
            fitted.mean(person.level as usize, &person.states[..n * p], person.actions, &mut next, &mut rewards);
            for (next, reward) in next.chunks_exact(p).zip(rewards) {
                values.extend_from_slice(next);
                values.push(reward);
            }
        }
        Ok(json!({"time": time, "fitted": values, "degrees": fitted.reports()[0].degrees}))
    }
}
