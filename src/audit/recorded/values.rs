//! The one call: policies in, values with intervals and differences out.

use super::behaviour::{Behaviour, CalibrationBin, SEPARATED};
use super::class::{Asked, FunctionClass};
use super::followed::{Followed, folds};
use super::iterates::{Problem, discounted_horizon};
use super::resampled::Resampled;
use super::settings::{Dropout, NoValue, PolicyAlong, RecordedError, RecordedSettings, check};
use super::stationarity::{Drift, drifts};
use super::staying::{Staying, StayingModel};
use super::weighting::{WeightDiagnostics, Weights};
use crate::estimate::replicate_weights;
use crate::kernel::numeric::Estimate;
use crate::kernel::people::Panel;
use rayon::prelude::*;
use serde::Serialize;

/// The name under which the uniform policy is compared.
const RANDOM: &str = "Random";

/// The name of what people received, in differences.
const RECEIVED: &str = "received";

/// Values of policies over the recorded horizon.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedValues {
    /// γ.
    pub discount: f64,
    /// People with at least one decision.
    pub people: usize,
    /// The longest horizon that anybody is valued over.
    pub horizon: usize,
    /// [r_min, r_max] times the discounted horizon, averaged over people: all that rewards allow.
    pub allowed: (f64, f64),
    /// What people received.
    pub received: Resampled,
    /// The same at each level; `None` where nobody of a level decided anything.
    pub received_by_level: Vec<Option<Resampled>>,
    /// One entry per policy in the order given; `Random` is added when it is not among them.
    pub policies: Vec<RecordedValue>,
    /// How people were treated.
    #[doc(hidden)]
    pub propensity: PropensityDiagnostics,
    /// Who left before the others; `None` when nobody did.
    #[doc(hidden)]
    pub staying: Option<StayingModel>,
    /// Whether rewards and states keep following the same means as time goes by.
    pub(crate) drifts: Vec<Drift>,
    /// The probability of the action that was taken at each decision of the panel, given or as fitted on other people.
    #[serde(skip)]
    pub(crate) taken: Vec<f64>,
    /// What a reader must know before using the numbers, in words.
    pub warnings: Vec<String>,
}

/// The value of one policy over the recorded horizon.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordedValue {
    /// The policy.
    pub name: String,
    /// Fitted Q evaluation with as many iterates as decisions: the main estimate.
    pub value: Resampled,
    /// The same for the people of each level; `None` where nobody of a level decided anything.
    pub by_level: Vec<Option<Resampled>>,
    /// The doubly robust estimate, or why there is none.
    #[serde(serialize_with = "estimate_or_reason")]
    pub doubly_robust: Result<Estimate, NoValue>,
    /// The main estimate minus that of `received`, `Random` and every other policy, paired over people.
    #[doc(hidden)]
    pub minus: Vec<Difference>,
    /// What weights leave of the people.
    #[doc(hidden)]
    pub weights: WeightDiagnostics,
    /// The functions that stand for action values.
    #[doc(hidden)]
    pub class: FunctionClass,
    /// Whether those functions are poorer than they should be, for want of rows.
    pub poor: bool,
    /// The share of action values that had to be held within what rewards allow. Above a few percent the regressions extrapolate.
    pub held: f64,
}

/// One policy minus another, or minus what people received.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// What is subtracted.
    pub from: String,
    /// The difference.
    #[serde(flatten)]
    pub value: Resampled,
}

/// How people were treated, as fitted on other people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PropensityDiagnostics {
    /// Whether the propensities were given.
    pub given: bool,
    /// The largest |log b̂(a)/b̂(a′)| at any decision.
    pub largest_log_odds: f64,
    /// Whether actions are told apart almost without error, so that small propensities are not estimates.
    pub separated: bool,
    /// Predicted and observed shares.
    pub calibration: Vec<CalibrationBin>,
}

impl RecordedValue {
    /// This policy minus the one of that name.
    pub fn minus(&self, name: &str) -> Option<&Resampled> {
        self.minus.iter().find(|difference| difference.from == name).map(|difference| &difference.value)
    }
}

impl RecordedValues {
    /// The policy of this name.
    pub fn policy(&self, name: &str) -> Option<&RecordedValue> {
        self.policies.iter().find(|policy| policy.name == name)
    }
}

fn estimate_or_reason<S: serde::Serializer>(
    value: &Result<Estimate, NoValue>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Given {
        mean: f64,
        standard_error: f64,
        interval: (f64, f64),
    }
    #[derive(Serialize)]
    struct Missing<'a> {
        problem: &'a NoValue,
    }
    match value {
        Ok(found) => {
            let Estimate { mean, standard_error, .. } = *found;
            Given { mean, standard_error, interval: found.interval(0.95) }.serialize(serializer)
        }
        Err(problem) => Missing { problem }.serialize(serializer),
    }
}

/// Estimates the value of each policy over the recorded horizon, and all differences, on one set of resampled people.
///
/// # Errors
/// [`RecordedError`] when the call makes no sense. Data that do not carry an estimate are a [`NoValue`], or a warning.
pub fn recorded_values(
    panel: &Panel,
    policies: &[PolicyAlong<'_>],
    settings: &RecordedSettings,
) -> Result<RecordedValues, RecordedError> {
    check(panel, policies, settings)?;
    let uniform = vec![1.0 / panel.action_names().len() as f64; panel.state_rows() * panel.action_names().len()];
    let mut policies = policies.to_vec();
    if policies.iter().all(|policy| policy.name != RANDOM) {
        policies.push(PolicyAlong { name: RANDOM, probabilities: &uniform, worlds: None });
    }
    let planned = match settings.dropout {
        Dropout::AsRecorded => None,
        Dropout::Weighted { horizon } => Some(horizon.unwrap_or(panel.horizon())),
    };
    let people = &Followed::new(panel, planned);
    let states = &people.gather(panel.states(), panel.state_dim());
    let staying = Staying::fit(panel, people, states, planned.unwrap_or(panel.horizon()));
    let record = Record { panel, people, settings, weighted: planned.and(staying.as_ref()) };

    // The same people in the same replicate as wherever else they are resampled.
    let resample = |b: usize| -> Vec<f64> {
        let weights = replicate_weights(panel, settings.seed, b);
        people.order.iter().map(|&i| weights[i]).collect()
    };
    let folds = folds(panel, people, settings.folds, settings.seed);
    let known = settings.propensities.as_ref().map(|given| record.by_row(given));
    let behaviour = Behaviour::fit(people, states, &folds, known.as_deref());
    let range = people.reward_range();
    let reach =
        people.horizons.iter().map(|&h| discounted_horizon(settings.discount, h)).sum::<f64>() / people.people() as f64;
    let allowed = (range.0 * reach, range.1 * reach);

    let tables: Vec<Tables> = policies.iter().map(|policy| record.tables(policy, states)).collect();
    let problems: Vec<Problem<'_>> = tables.iter().map(|tables| record.problem(tables, range)).collect();
    // One replicate at a time for all policies, so that weights of rows are held for the replicates at work alone; the last is the record itself.
    let ones = vec![1.0; people.people()];
    let groups: Vec<Option<u32>> = std::iter::once(None).chain((0..people.level_count as u32).map(Some)).collect();
    let replicates: Vec<Vec<f64>> = (0..settings.replicates)
        .into_par_iter()
        .map(resample)
        .chain(rayon::iter::once(ones.clone()))
        .map(|weights| {
            let rows = record.row_weights(&weights);
            let mut means: Vec<f64> = groups.iter().map(|&level| record.received(&rows, level)).collect();
            for problem in &problems {
                let first = problem.fit(&rows).first;
                means.extend(groups.iter().map(|&level| mean_first(people, &first, &rows, level)));
            }
            means
        })
        .collect();
    let itself = record.row_weights(&ones);
    // What was received stands first, then the policies; everybody before the levels.
    let resampled = |estimate: usize, group: usize| {
        let (mean, others) = replicates.split_last().expect("the record itself");
        let at = estimate * groups.len() + group;
        Resampled::new(mean[at], others.iter().map(|means| means[at]).collect(), people.people())
    };
    let by_level = |estimate: usize| -> Vec<Option<Resampled>> {
        let found = |z: usize| people.levels.contains(&(z as u32)).then(|| resampled(estimate, z + 1));
        (0..people.level_count).map(found).collect()
    };
    let (received, received_by_level) = (resampled(0, 0), by_level(0));
    let mut found: Vec<RecordedValue> = policies
        .iter()
        .enumerate()
        .map(|(k, policy)| {
            let (Tables { class, poor, probabilities, .. }, problem) = (&tables[k], &problems[k]);
            let without = |fold: usize| -> Vec<f64> {
                itself
                    .iter()
                    .zip(&people.owners)
                    .map(|(v, i)| if folds[*i as usize] == fold { 0.0 } else { *v })
                    .collect()
            };
            let crossed: Vec<_> = (0..settings.folds).into_par_iter().map(|fold| problem.fit(&without(fold))).collect();
            let weights = Weights::new(people, probabilities, &behaviour, &itself);
            let doubly_robust = weights.doubly_robust(problem, &crossed, &folds, settings).and_then(|estimate| {
                let inside = (allowed.0..=allowed.1).contains(&estimate.mean);
                if inside { Ok(estimate) } else { Err(NoValue::OutsideRewards { low: allowed.0, high: allowed.1 }) }
            });
            RecordedValue {
                name: policy.name.to_string(),
                value: resampled(k + 1, 0),
                by_level: by_level(k + 1),
                doubly_robust,
                minus: vec![],
                weights: weights.diagnostics(people, probabilities, &behaviour),
                class: *class,
                poor: *poor,
                held: problem.fit(&itself).held,
            }
        })
        .collect();
    for i in 0..found.len() {
        let others = found.iter().enumerate().filter(|(j, _)| *j != i);
        let against = std::iter::once((RECEIVED, &received)).chain(others.map(|(_, v)| (v.name.as_str(), &v.value)));
        found[i].minus = against
            .map(|(from, other)| Difference { from: from.to_string(), value: found[i].value.minus(other) })
            .collect();
    }
    let propensity = PropensityDiagnostics {
        given: known.is_some(),
        largest_log_odds: behaviour.largest_log_odds,
        separated: behaviour.largest_log_odds > SEPARATED,
        calibration: behaviour.calibration,
    };
    let taken = record.by_decision(&behaviour.taken);
    let staying = staying.as_ref().map(|staying| staying.report.clone());
    let drifts = record.drifts(states);
    let warnings = warnings(&found, &propensity, &drifts, staying.as_ref(), planned.is_some());
    Ok(RecordedValues {
        discount: settings.discount,
        people: people.people(),
        horizon: people.horizon(),
        allowed,
        received,
        received_by_level,
        policies: found,
        propensity,
        staying,
        drifts,
        taken,
        warnings,
    })
}

/// Σ v V(s₁) / Σ v, of everybody or of the people of one level; 0 where a resample has none of them.
pub(super) fn mean_first(people: &Followed, first: &[f64], rows: &[f64], level: Option<u32>) -> f64 {
    let at = |i: usize| if level.is_none_or(|z| people.levels[i] == z) { rows[people.starts[i]] } else { 0.0 };
    let total: f64 = (0..people.people()).map(at).sum();
    let sum = first.iter().enumerate().map(|(i, value)| at(i) * value).sum::<f64>();
    if total > 0.0 { sum / total } else { 0.0 }
}

/// What is known of a policy on every row.
struct Tables {
    class: FunctionClass,
    poor: bool,
    features: Vec<f64>,
    probabilities: Vec<f64>,
}

/// The record with what all policies share.
pub(super) struct Record<'a> {
    pub panel: &'a Panel,
    pub people: &'a Followed,
    pub settings: &'a RecordedSettings,
    /// The model of staying, when those who stayed are weighted.
    pub weighted: Option<&'a Staying>,
}

impl Record<'_> {
    /// The weight of every row: that of the person, times the weight for having stayed.
    pub fn row_weights(&self, weights: &[f64]) -> Vec<f64> {
        let mut rows: Vec<f64> = self.people.owners.iter().map(|&i| weights[i as usize]).collect();
        if let Some(staying) = self.weighted {
            let resampled = weights.iter().any(|w| *w != 1.0).then_some(rows.as_slice());
            let stayed = staying.weights(self.people, resampled);
            rows.iter_mut().zip(stayed).for_each(|(v, c)| *v *= c);
        }
        rows
    }

    fn tables(&self, policy: &PolicyAlong<'_>, states: &[f64]) -> Tables {
        let (people, width) = (self.people, self.panel.state_dim() * self.panel.levels().len());
        let worlds = policy.worlds.map(|worlds| people.gather(worlds, width));
        let class = self.class(worlds.is_some());
        Tables {
            class,
            poor: class.is_poor(worlds.is_some()),
            features: class.features(people, states, worlds.as_deref()),
            probabilities: people.gather(policy.probabilities, people.action_count),
        }
    }

    fn problem<'t>(&'t self, tables: &'t Tables, range: (f64, f64)) -> Problem<'t> {
        Problem {
            people: self.people,
            features: &tables.features,
            count: tables.class.coefficients,
            probabilities: &tables.probabilities,
            discount: self.settings.discount,
            range,
            prior: self.settings.prior_rows,
        }
    }

    /// One number per decision of the panel, brought to the rows where they were taken.
    fn by_row(&self, given: &[f64]) -> Vec<f64> {
        let mut rows = vec![1.0; self.people.sources.len()];
        for person in 0..self.people.people() {
            let decisions = self.panel.decisions_of(self.people.order[person]);
            for (row, at) in self.people.decided(person).zip(decisions) {
                rows[row] = given[at];
            }
        }
        rows
    }

    /// One number per row, brought to the decisions of the panel.
    fn by_decision(&self, rows: &[f64]) -> Vec<f64> {
        let mut decisions = vec![1.0; self.panel.decisions()];
        for person in 0..self.people.people() {
            let own = self.panel.decisions_of(self.people.order[person]);
            decisions[own].copy_from_slice(&rows[self.people.decided(person)]);
        }
        decisions
    }

    /// The mean discounted reward that people received, all or those of one level; with weights for having stayed, what all would have
    /// received.
    fn received(&self, rows: &[f64], level: Option<u32>) -> f64 {
        let people = self.people;
        let mut sums = vec![(0.0, 0.0); people.horizon()];
        let meant = |person: &usize| level.is_none_or(|z| people.levels[*person] == z);
        for person in (0..people.people()).filter(meant) {
            for (sum, row) in sums.iter_mut().zip(people.decided(person)) {
                sum.0 += rows[row] * people.rewards[row];
                sum.1 += rows[row];
            }
        }
        let everybody: f64 = (0..people.people()).filter(meant).map(|i| rows[people.starts[i]]).sum();
        let of = |(t, (sum, weight)): (usize, &(f64, f64))| {
            let total = if self.weighted.is_some() { *weight } else { everybody };
            if total > 0.0 { self.settings.discount.powi(t as i32) * sum / total } else { 0.0 }
        };
        sums.iter().enumerate().map(of).sum()
    }

    fn drifts(&self, states: &[f64]) -> Vec<Drift> {
        let class = self.class(false);
        let features = class.features(self.people, states, None);
        drifts(self.people, states, &features, class.coefficients, self.settings.prior_rows)
    }

    pub fn class(&self, reads_worlds: bool) -> FunctionClass {
        let (p, people) = (self.panel.state_dim(), self.people);
        let transitions = (0..people.sources.len()).filter(|&row| people.moves(row)).count();
        // Where nobody has a second decision nothing is ever looked up after a step, and all decisions count.
        let rows = if people.horizon() > 1 { transitions } else { self.panel.decisions() };
        let extra = if reads_worlds { p * (people.level_count - 1) } else { 0 };
        let cells = people.level_count * people.action_count;
        let asked = Asked { degree: self.settings.degree, differences: self.settings.differences };
        FunctionClass::choose(rows, cells, p, extra, asked)
    }
}

/// A mean weight this many standard errors from 1 says that propensities are wrong.
const MEAN_WEIGHT_ERRORS: f64 = 4.0;

/// Effective people with which the mean of weights is about normal.
const ENOUGH: f64 = 100.0;

/// The share of held action values, and of unsupported decisions, from which there is a warning.
const NOTABLE: f64 = 0.05;

/// The p-value below which leaving is said to depend on what was recorded.
const DEPENDS: f64 = 0.01;

/// `= 3.1e-4`; what no number tells from 0 is said to be below what numbers tell apart.
fn p_text(p: f64) -> String {
    if p < f64::EPSILON { "< 1e-15".into() } else { format!("= {p:.1e}") }
}

fn warnings(
    policies: &[RecordedValue],
    propensity: &PropensityDiagnostics,
    drifts: &[Drift],
    staying: Option<&StayingModel>,
    weighted: bool,
) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(model) = staying
        && !weighted
        && model.p_value < DEPENDS
    {
        words.push(format!(
            "{:.0} % of people left before decision {}, and who left depends on what was recorded (p {}): what people received is \
             not comparable with a policy's value; weight for staying (dropout: weighted)",
            100.0 * model.share_of_people,
            model.horizon,
            p_text(model.p_value)
        ));
    }
    if propensity.separated {
        words.push(format!(
            "who received which action is predicted almost without error (log-odds up to {:.1}): small propensities are not estimates",
            propensity.largest_log_odds
        ));
    }
    for drift in drifts.iter().filter(|drift| drift.matters()) {
        words.push(format!(
            "{} drifts with time: {:.0} % of its spread is explained by the number of the decision beyond state, level and action (p \
             {}), and one action value for all times is a wrong model",
            drift.what,
            100.0 * drift.share,
            p_text(drift.p_value)
        ));
    }
    for policy in policies {
        let (name, weights) = (&policy.name, &policy.weights);
        if weights.unsupported > NOTABLE {
            words.push(format!(
                "{name}: {:.0} % of its decisions are actions that people like that hardly ever received; their value is extrapolated",
                100.0 * weights.unsupported
            ));
        }
        if policy.poor {
            words.push(format!(
                "{name}: there are too few rows for more than {} coefficients per level and action; its value may be biased by more than its \
                 interval shows",
                policy.class.coefficients
            ));
        }
        if policy.held > NOTABLE {
            words.push(format!(
                "{name}: {:.0} % of its action values had to be held within what rewards allow; the regressions extrapolate",
                100.0 * policy.held
            ));
        }
        // Where few effective people are left the mean of weights is far below 1 in most samples, however right they are.
        let off = |t: &usize| {
            let apart = (weights.mean_weight[*t] - 1.0).abs();
            weights.effective_people[*t] >= ENOUGH && apart > MEAN_WEIGHT_ERRORS * weights.mean_weight_error[*t]
        };
        if let Some(t) = (0..weights.mean_weight.len()).find(off) {
            words.push(format!(
                "{name}: importance weights at decision {} have mean {:.2} where 1 is expected; propensities are wrong or not supported",
                t + 1,
                weights.mean_weight[t]
            ));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::recorded::Differences;

    /// What warnings are about, with nothing to warn of and everything just below its limit.
    struct Found {
        policy: RecordedValue,
        propensity: PropensityDiagnostics,
        drift: Drift,
        staying: StayingModel,
        weighted: bool,
    }

    fn sound() -> Found {
        let weights = WeightDiagnostics {
            effective_people: vec![ENOUGH, ENOUGH - 1.0],
            mean_weight: vec![1.0 + 0.99 * MEAN_WEIGHT_ERRORS * 0.02, 0.3],
            mean_weight_error: vec![0.02, 0.02],
            largest_weight: 7.0,
            unsupported: NOTABLE,
        };
        let class = FunctionClass { state_degree: 2, differences: Differences::Absent, coefficients: 17 };
        Found {
            policy: RecordedValue {
                name: "mine".into(),
                value: Resampled::new(1.0, vec![0.9, 1.1], 2),
                by_level: vec![],
                doubly_robust: Err(NoValue::OutsideRewards { low: 0.0, high: 1.0 }),
                minus: vec![],
                weights,
                class,
                poor: false,
                held: NOTABLE,
            },
            propensity: PropensityDiagnostics {
                given: false,
                largest_log_odds: 7.5,
                separated: false,
                calibration: vec![],
            },
            drift: Drift { what: "reward".into(), share: 0.37, p_value: 0.0011 },
            staying: StayingModel {
                horizon: 6,
                at_risk: 100,
                left: 20,
                share_of_people: 0.23,
                log_odds: vec![],
                p_value: DEPENDS,
                largest_weight: 3.0,
            },
            weighted: false,
        }
    }

    fn said(change: impl FnOnce(&mut Found)) -> Vec<String> {
        let mut found = sound();
        change(&mut found);
        let Found { policy, propensity, drift, staying, weighted } = found;
        warnings(&[policy], &propensity, &[drift], Some(&staying), weighted)
    }

    #[test]
    fn nothing_is_said_without_cause() {
        assert_eq!(said(|_| {}), Vec::<String>::new());
        // Who left is accounted for; a drift that is certain and small does no harm.
        let none = said(|found| {
            (found.staying.p_value, found.weighted) = (1e-9, true);
            (found.drift.p_value, found.drift.share) = (1e-9, 0.1);
        });
        assert_eq!(none, Vec::<String>::new());
    }

    #[test]
    fn each_cause_is_told_with_its_size() {
        let one = |lines: Vec<String>, parts: &[&str]| {
            assert!(lines.len() == 1 && parts.iter().all(|part| lines[0].contains(part)), "{lines:?}");
        };
        one(said(|found| found.staying.p_value = 0.0099), &["23 % of people left before decision 6", "9.9e-3"]);
        one(said(|found| found.propensity.separated = true), &["almost without error", "7.5"]);
        one(said(|found| found.drift.p_value = 0.0009), &["reward drifts with time", "37 %", "9.0e-4"]);
        one(said(|found| found.policy.weights.unsupported = 0.062), &["mine: 6 % of its decisions", "extrapolated"]);
        one(said(|found| found.policy.poor = true), &["mine: there are too few rows for more than 17 coefficients"]);
        one(said(|found| found.policy.held = 0.081), &["mine: 8 % of its action values had to be held"]);
        let off = |found: &mut Found| found.policy.weights.mean_weight[0] = 1.0 - 1.01 * MEAN_WEIGHT_ERRORS * 0.02;
        one(said(off), &["mine: importance weights at decision 1 have mean 0.92"]);
        one(said(|found| found.policy.weights.effective_people[1] = ENOUGH), &["at decision 2 have mean 0.30"]);
    }
}
