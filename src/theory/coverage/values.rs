//! How often the intervals of values over the recorded horizon hold the truth.

use super::Bed;
use super::policies::{FixedPolicy, always, policies, rule};
use crate::audit::recorded::{PolicyAlong, RecordedSettings, recorded_values};
use crate::kernel::numeric::Stream;
use std::collections::BTreeMap;

/// The confidence levels that are tried.
pub const CONFIDENCES: [f64; 3] = [0.5, 0.9, 0.95];

/// γ of all trials, the paper's.
pub const DISCOUNT: f64 = 0.9;

/// One world with a number of people and decisions.
pub struct Trial {
    /// The world.
    pub bed: Bed,
    /// N.
    pub people: usize,
    /// T.
    pub horizon: usize,
    /// Data sets drawn.
    pub repeats: usize,
    /// Which policies: all five, or one rule.
    pub which: Which,
    /// How values are estimated; discount and seed are the trial's own.
    pub settings: RecordedSettings,
    /// People followed for each truth.
    pub truth_people: usize,
}

/// The policies of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Rule, Full, Unaware, Ours and Random.
    All,
    /// The rule on (s, z) and Random.
    Rule,
    /// Action 1 for everybody, and Random.
    Always,
}

/// How one interval fared over the data sets of a trial.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// The truth.
    pub truth: f64,
    /// Data sets for which there was an interval.
    pub given: usize,
    /// In how many of them it held the truth, for each of [`CONFIDENCES`].
    pub covered: [usize; 3],
    /// The mean error of the estimate.
    pub bias: f64,
    /// The mean half-width at 95 %.
    pub half_width: f64,
    /// Data sets in which a warning named the policy, or the whole record.
    pub warned: usize,
}

/// The tallies of a trial by policy and quantity.
pub type Tallies = BTreeMap<(String, String), Tally>;

impl Trial {
    /// Runs all data sets; each has its own stream, so that more repeats leave the first ones as they were.
    pub fn run(&self, stream: Stream) -> Tallies {
        let chosen: Vec<FixedPolicy> = match self.which {
            Which::All => policies(&self.bed, DISCOUNT, stream.named("learn")),
            Which::Rule => vec![rule(&self.bed)],
            Which::Always => vec![always(&self.bed)],
        };
        let truths = self.truths(&chosen, stream.named("truth"));
        let received = self.bed.received(self.truth_people, self.horizon, DISCOUNT, stream.named("received")).mean;
        let mut tallies = Tallies::new();
        for repeat in 0..self.repeats as u64 {
            let panel = self.bed.panel(self.people, self.horizon, stream.named("people").index(repeat));
            let along: Vec<_> = chosen.iter().map(|policy| policy.along(&panel)).collect();
            let asked: Vec<PolicyAlong<'_>> = chosen
                .iter()
                .zip(&along)
                .map(|(policy, (probabilities, worlds))| PolicyAlong {
                    name: policy.name,
                    probabilities,
                    worlds: worlds.as_deref(),
                })
                .collect();
            let settings = RecordedSettings { discount: DISCOUNT, seed: repeat, ..self.settings.clone() };
            let values = recorded_values(&panel, &asked, &settings).expect("policies for this panel");
            let mut note = |policy: &str, quantity: &str, truth: f64, found: Option<Found<'_>>| {
                let tally = tallies.entry((policy.to_string(), quantity.to_string())).or_default();
                tally.truth = truth;
                let Some(Found { mean, interval }) = found else { return };
                tally.given += 1;
                for (covered, confidence) in tally.covered.iter_mut().zip(CONFIDENCES) {
                    let (low, high) = interval(confidence);
                    *covered += usize::from(low <= truth && truth <= high);
                }
                let (low, high) = interval(0.95);
                tally.half_width += (high - low) / 2.0;
                tally.bias += mean - truth;
                tally.warned += usize::from(values.warnings.iter().any(|words| about(words, policy)));
            };
            for value in &values.policies {
                let truth = truths[value.name.as_str()];
                let main = &value.value;
                note(&value.name, "value", truth, Some(Found { mean: main.mean, interval: &|c| main.interval(c) }));
                let weighted = value.doubly_robust.as_ref().ok();
                let interval = |c| weighted.map_or((0.0, 0.0), |found| found.interval(c));
                let found = weighted.map(|found| Found { mean: found.mean, interval: &interval });
                note(&value.name, "doubly robust", truth, found);
                for difference in &value.minus {
                    let other = truths.get(difference.from.as_str()).copied().unwrap_or(received);
                    if ["received", "Random", "Unaware"].contains(&difference.from.as_str()) {
                        let apart = &difference.value;
                        let found = Found { mean: apart.mean, interval: &|c| apart.interval(c) };
                        note(&value.name, &format!("minus {}", difference.from), truth - other, Some(found));
                    }
                }
            }
        }
        for tally in tallies.values_mut() {
            tally.bias /= tally.given.max(1) as f64;
            tally.half_width /= tally.given.max(1) as f64;
        }
        tallies
    }

    fn truths(&self, chosen: &[FixedPolicy], stream: Stream) -> BTreeMap<&'static str, f64> {
        let of = |agent| self.bed.truth(agent, self.truth_people, self.horizon, DISCOUNT, stream).mean;
        let mut truths: BTreeMap<_, _> = chosen.iter().map(|policy| (policy.name, of(policy.agent()))).collect();
        let random = crate::kernel::learn::Deployed::new(
            crate::kernel::preprocess::Unaware { state_dim: self.bed.world.state_dim() },
            crate::kernel::learn::UniformlyRandom { actions: self.bed.world.actions() },
        );
        truths.entry("Random").or_insert_with(|| of(&random));
        truths
    }

    /// The rows of a table: world, N, T, repeats, then what each interval did.
    pub fn csv_rows(&self, tallies: &Tallies) -> Vec<String> {
        let row = |((policy, quantity), tally): (&(String, String), &Tally)| {
            let Tally { truth, given, covered, bias, half_width, warned } = tally;
            let share = |c: usize| if *given == 0 { String::new() } else { format!("{:.3}", c as f64 / *given as f64) };
            let [half, ninety, ninety_five] = covered.map(share);
            format!(
                "{},{},{},{policy},{quantity},{truth:.4},{},{given},{half},{ninety},{ninety_five},{bias:.4},{half_width:.4},{warned}",
                self.bed.name, self.people, self.horizon, self.repeats
            )
        };
        tallies.iter().map(row).collect()
    }
}

/// The header of [`Trial::csv_rows`].
pub const HEADER: &str = "world,people,horizon,policy,quantity,truth,data_sets,intervals_given,covers_50,covers_90,covers_95,mean_error,half_width_95,warned";

/// An estimate and its interval at any confidence.
struct Found<'a> {
    mean: f64,
    interval: &'a dyn Fn(f64) -> (f64, f64),
}

/// Whether a warning is about this policy, or about the record as a whole.
fn about(words: &str, policy: &str) -> bool {
    match words.split_once(": ") {
        Some((name, _)) if ["Rule", "Full", "Unaware", "Ours", "Random", "Always"].contains(&name) => name == policy,
        _ => true,
    }
}
