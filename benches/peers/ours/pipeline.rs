//! The whole way from a file to a policy and its value.

use super::measure::clock::timed;
use counterfair::audit::{EvaluationSettings, fitted_q_evaluation, probabilities_along};
use counterfair::estimate;
use counterfair::estimate::{FitSettings, Fitted, Pooling, fit, fit_neural};
use counterfair::files::{Columns, ReadOptions, RowConvention, read, write_csv};
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Deployed, Greedy, Settings, fitted_q_iteration};
use counterfair::kernel::model::worlds::Linear;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;
use counterfair::kernel::preprocess::{Sequential, batch};
use counterfair::nets::Training;
use counterfair::nets::{NeuralSettings, neural_fitted_q_iteration};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;

/// A panel of the paper's linear world (δ = 1) as a file.
#[derive(Deserialize)]
pub struct Simulate {
    people: usize,
    horizon: usize,
    csv: PathBuf,
}

impl Simulate {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let world = Linear::new(1.0);
        let panel =
            simulate(&world, &Exogenous::draw(&world, self.people, self.horizon, Stream::new(1).named("peers")));
        write_csv(&self.csv, &panel, &Columns::default(), RowConvention::Incoming)?;
        Ok(json!({"people": panel.people(), "tuples": panel.transitions()}))
    }
}

/// Reads a file, preprocesses it (`alg:cf:1`), learns (`alg:cf:2`) and, by least squares, evaluates what was learned.
#[derive(Deserialize)]
pub struct Pipeline {
    csv: PathBuf,
    learner: Learner,
    repeat: usize,
}

/// What stands for means and action values.
#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Learner {
    /// The library's default.
    LeastSquares,
    /// The peer's default: a pooled net [64, 64] for 1000 epochs, then 100 iterations of 500 steps on a net [32].
    Neural,
}

/// γ, B and the epochs of the peer's default.
const DISCOUNT: f64 = 0.9;
const ITERATIONS: usize = 100;
const EPOCHS: usize = 1000;

impl Pipeline {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let (value, time) = timed(self.repeat, || -> Result<Option<f64>, Box<dyn Error>> {
            let panel = read(&self.csv, &ReadOptions::default())?.panel;
            match self.learner {
                Learner::LeastSquares => least_squares(&panel),
                Learner::Neural => neural(&panel),
            }
        });
        Ok(json!({"time": time, "value": value?}))
    }
}

fn sequential(panel: &Panel, means: Fitted) -> Sequential<Fitted> {
    Sequential::new(means, panel.level_shares())
}

fn least_squares(panel: &Panel) -> Result<Option<f64>, Box<dyn Error>> {
    let preprocessor = sequential(panel, fit(panel, &FitSettings::default())?);
    let experience = batch(&preprocessor, panel)?;
    let (levels, coordinates) = (panel.levels().len(), experience.width());
    let features = Polynomial::for_rows(experience.views(), coordinates, 1, 2)?;
    let settings = Settings { discount: DISCOUNT, iterations: ITERATIONS, ..Settings::default() };
    let q = fitted_q_iteration(&experience, &features, settings)?.q;
    let agent = Deployed::new(preprocessor, Greedy(q));
    let along = probabilities_along(panel, &agent, &vec![0.0; panel.people()])?;
    let judged = experience.with_level(panel);
    let features = Polynomial::for_rows(judged.views(), coordinates, levels, 2)?;
    let settings = EvaluationSettings { discount: DISCOUNT, iterations: ITERATIONS, tolerance: 0.0 };
    Ok(fitted_q_evaluation(&judged, &along, &features, settings)?.value.map(|value| value.mean))
}

fn neural(panel: &Panel) -> Result<Option<f64>, Box<dyn Error>> {
    let training = Training { epochs_max: EPOCHS, patience: EPOCHS + 1, ..Training::default() };
    let settings = estimate::NeuralSettings { hidden: vec![64, 64], training };
    let means = fit_neural(panel, Pooling::Pooled, &settings, Stream::new(1).named("means"))?;
    let experience = batch(&sequential(panel, means), panel)?;
    let settings = NeuralSettings { discount: DISCOUNT, iterations: ITERATIONS, ..NeuralSettings::default() };
    neural_fitted_q_iteration(&experience, 1, &settings, Stream::new(1).named("action values"))?;
    Ok(None)
}
