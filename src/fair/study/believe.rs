//! May one believe the counterfactuals? Noise models, tests with sizes and corrected p-values, support, gain.

use super::verdict::{SD_RATIO, SHAPE_DISTANCE, SUPPORT_OUTSIDE};
use crate::audit::holm;
use crate::audit::noise_check::{Equality, OutputCheck};
use crate::estimate::{FittedNoise, Nature};
use crate::fair::{About, People, Preprocessed, Reservation};
use serde::Serialize;

/// What is known about the counterfactual states.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Believe {
    /// Each output of the mechanism: coordinates of the first state, of later states, and the reward.
    pub outputs: Vec<OutputBelief>,
    /// How many tests the p-values are corrected for.
    pub tests: usize,
    /// Counterfactual states that lie where a level has no data.
    pub support: Vec<LevelSupport>,
    /// How much an error of a counterfactual state grows in one step; above 1 it may grow from step to step.
    pub gain: f64,
    /// Why counterfactuals are not to be believed, one reason each; empty where none was found.
    pub doubts: Vec<String>,
}

/// The noise of one output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputBelief {
    /// Its name, as `first NAME` for the first state.
    pub name: String,
    /// Which noise model was chosen and why.
    pub model: Option<String>,
    /// Residuals as they are.
    pub before: NoiseTests,
    /// Noise on the common scale of the model.
    pub after: NoiseTests,
    /// Whether its noise has something to be carried over: `false` for what is kept, has no noise, or is the reward of few values, of which
    /// only the mean is used.
    pub is_carried: bool,
    /// How many values it takes, where these are too few to determine noise.
    pub few_values: Option<usize>,
}

/// Equality of noise between levels: sizes, p-values, and p-values corrected by Holm's method for all tests of a study's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NoiseTests {
    /// Largest over smallest standard deviation of a level.
    pub sd_ratio: f64,
    /// Of equal variance.
    pub variance_p: f64,
    /// The same, corrected.
    pub variance_holm: f64,
    /// Largest Kolmogorov distance between two levels' standardised noise.
    pub shape_distance: f64,
    /// Of equal shape.
    pub shape_p: f64,
    /// The same, corrected.
    pub shape_holm: f64,
}

/// How many counterfactual states of a level lie outside what that level's own people show.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelSupport {
    /// The level.
    pub level: String,
    /// Counterfactual states made for it.
    pub states: usize,
    /// How many are outside.
    pub outside: usize,
}

/// A corrected p-value below this is a difference that chance does not explain. At 0.05 one sound study in twenty would be told not to be
/// believed; a simulated one of 150 people was.
const SIGNIFICANCE: f64 = 0.01;

impl Believe {
    /// Looks at a mechanism fitted to everybody, about which there may be reservations.
    pub(super) fn of(people: &People, done: &Preprocessed, reservations: &[Reservation]) -> Self {
        let names = people.state_names();
        let report = done.mechanism.fitted_noise().map(FittedNoise::report);
        let name = |check: &OutputCheck| match (check.is_reward, check.is_first) {
            (true, _) => "reward".to_string(),
            (false, true) => format!("first {}", names[check.output]),
            (false, false) => names[check.output].clone(),
        };
        let nature = |check: &OutputCheck| report.and_then(|r| r.outputs.get(check.output)).map(|output| output.nature);
        // What is left of an output that the fit explains entirely is rounding, of which nothing is to be tested.
        let noiseless = |check: &OutputCheck| matches!(nature(check), Some(Nature::Noiseless));
        let corrected = |of: fn(&OutputCheck) -> Equality| {
            let both = |c: &OutputCheck| if noiseless(c) { [f64::NAN; 2] } else { [of(c).variance_p, of(c).shape_p] };
            holm(&done.noise.outputs.iter().flat_map(both).collect::<Vec<f64>>())
        };
        let (before, after) = (corrected(|c| c.before), corrected(|c| c.after));
        let untested = NoiseTests {
            sd_ratio: f64::NAN,
            variance_p: f64::NAN,
            variance_holm: f64::NAN,
            shape_distance: f64::NAN,
            shape_p: f64::NAN,
            shape_holm: f64::NAN,
        };
        let tests = |equality: Equality, i: usize, corrected: &[f64]| NoiseTests {
            sd_ratio: equality.sd_ratio,
            variance_p: equality.variance_p,
            variance_holm: corrected[2 * i],
            shape_distance: equality.shape_distance,
            shape_p: equality.shape_p,
            shape_holm: corrected[2 * i + 1],
        };
        let outputs: Vec<OutputBelief> = done
            .noise
            .outputs
            .iter()
            .enumerate()
            .map(|(i, check)| {
                let few_values = match nature(check) {
                    Some(Nature::FewValues(count)) => Some(count),
                    _ => None,
                };
                let kept = matches!(nature(check), Some(Nature::Kept | Nature::Noiseless));
                OutputBelief {
                    name: name(check),
                    model: report.and_then(|r| r.outputs.get(check.output)).map(ToString::to_string),
                    before: if noiseless(check) { untested } else { tests(check.before, i, &before) },
                    after: if noiseless(check) { untested } else { tests(check.after, i, &after) },
                    is_carried: !(kept || check.is_reward && few_values.is_some()),
                    few_values,
                }
            })
            .collect();
        let level = |k: usize| people.panel().levels().name(k).to_string();
        let support: Vec<LevelSupport> = done
            .diagnostics
            .support
            .iter()
            .map(|s| LevelSupport { level: level(s.level), states: s.states, outside: s.outside })
            .collect();
        let categories = reservations.iter().filter(|r| r.about == About::RecordedSteps).map(|r| r.says.clone());
        let doubts =
            outputs.iter().flat_map(OutputBelief::doubts).chain(support.iter().filter_map(LevelSupport::doubt));
        Self {
            doubts: categories.chain(doubts).collect(),
            tests: after.iter().filter(|p| !p.is_nan()).count(),
            gain: done.mechanism.gain(),
            outputs,
            support,
        }
    }
}

impl OutputBelief {
    /// Why its counterfactuals are not to be believed.
    fn doubts(&self) -> Vec<String> {
        let NoiseTests { sd_ratio, variance_holm, shape_distance, shape_holm, .. } = self.after;
        let mut doubts = Vec::new();
        if !self.is_carried {
            return doubts;
        }
        if self.few_values.is_none() && variance_holm < SIGNIFICANCE && sd_ratio >= SD_RATIO {
            doubts.push(format!(
                "the residual spread of {} differs between levels beyond its noise model (ratio of standard deviations {sd_ratio:.2}, corrected \
                 p = {variance_holm:.1e})",
                self.name
            ));
        }
        if self.few_values.is_none() && shape_holm < SIGNIFICANCE && shape_distance >= SHAPE_DISTANCE {
            doubts.push(format!(
                "the residual shape of {} differs between levels beyond its noise model (Kolmogorov distance {shape_distance:.2}, corrected p = \
                 {shape_holm:.1e})",
                self.name
            ));
        }
        doubts
    }
}

impl LevelSupport {
    fn doubt(&self) -> Option<String> {
        let share = self.outside as f64 / self.states.max(1) as f64;
        (share >= SUPPORT_OUTSIDE).then(|| {
            format!(
                "{:.0} % of the counterfactual states for {} lie where nobody of {} was seen",
                100.0 * share,
                self.level,
                self.level
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tests(sd_ratio: f64, variance_holm: f64, shape_distance: f64, shape_holm: f64) -> NoiseTests {
        NoiseTests { sd_ratio, variance_p: 0.0, variance_holm, shape_distance, shape_p: 0.0, shape_holm }
    }

    fn output(after: NoiseTests) -> OutputBelief {
        let before = tests(3.0, 1e-9, 0.5, 1e-9);
        OutputBelief { name: "weight".into(), model: None, before, after, is_carried: true, few_values: None }
    }

    #[test]
    fn a_doubt_needs_a_size_and_a_corrected_p_value() {
        assert!(output(tests(1.24, 1e-9, 0.09, 1e-9)).doubts().is_empty(), "too small to matter");
        assert!(output(tests(2.0, 0.011, 0.3, 0.011)).doubts().is_empty(), "chance explains it");
        let both = output(tests(1.25, 0.009, 0.1, 0.009)).doubts();
        assert!(both.len() == 2 && both[0].contains("1.25") && both[1].contains("0.10"), "{both:?}");
        assert!(output(tests(f64::NAN, f64::NAN, f64::NAN, f64::NAN)).doubts().is_empty());
    }

    #[test]
    fn what_is_not_carried_over_and_what_takes_few_values_is_not_doubted_for_its_spread() {
        let far = tests(2.0, 1e-9, 0.3, 1e-9);
        assert!(OutputBelief { is_carried: false, ..output(far) }.doubts().is_empty());
        let few = OutputBelief { few_values: Some(2), ..output(far) };
        assert!(few.doubts().is_empty(), "it is doubted for its values");
    }

    #[test]
    fn support_is_doubted_from_a_fifth_on() {
        let of = |outside| LevelSupport { level: "f".into(), states: 100, outside }.doubt();
        assert!(of(19).is_none() && of(20).is_some_and(|text| text.contains("20 %")));
    }
}
