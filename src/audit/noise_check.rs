//! Whether noise, once carried to one scale, has one law at all levels: before the mechanism's noise model and after it.

use crate::estimate::{NOISELESS, Nature, NoiseReport};
use crate::kernel::model;
use crate::kernel::model::{Mechanism, Output, PanelNoise, abduct_panel};
use crate::kernel::numeric::small::solve;
use crate::kernel::numeric::{Estimate, quantile};
use crate::kernel::people::Panel;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};
use std::fmt;

/// Noise compared between levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NoiseCheck {
    /// Coordinates of first states, coordinates of later states, then the reward.
    pub outputs: Vec<OutputCheck>,
    /// Pairs of coordinates of later states, and of these with the reward.
    pub pairs: Vec<PairCheck>,
}

/// The noise of one output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutputCheck {
    /// The state coordinate from 0, or p for the reward.
    pub output: usize,
    /// Whether it is about first states.
    pub is_first: bool,
    /// Whether it is about the reward.
    pub is_reward: bool,
    /// Residuals s − μ as they are.
    pub before: Equality,
    /// Noise on the common scale of the mechanism's noise model.
    pub after: Equality,
    /// Whether its counterfactuals are to be believed.
    pub verdict: Belief,
}

/// Equal variance and, once each level is brought to variance 1, equal shape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Equality {
    /// Largest over smallest standard deviation of a level.
    pub sd_ratio: f64,
    /// Of equal mean absolute noise at all levels, people as units.
    pub variance_p: f64,
    /// Largest Kolmogorov distance between two levels' standardised noise.
    pub shape_distance: f64,
    /// Of equal shares below five common quantiles, people as units. Standardising by estimates makes it conservative.
    pub shape_p: f64,
}

/// What the noise of an output says about its counterfactuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Belief {
    /// Neither variance nor shape is seen to differ between levels by more than a little.
    Believable,
    /// Variance or shape differs: the noise model is too simple.
    Differs,
    /// Too few values to determine noise.
    FewValues,
    /// Nothing to carry over: no noise, or kept as observed.
    NothingToCarry,
    /// A level has too few people to tell.
    Unknown,
}

/// Whether two outputs' noise hangs together equally at all levels.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PairCheck {
    /// The two outputs; p is the reward.
    pub outputs: (usize, usize),
    /// Correlation at each level, people as units.
    pub correlations: Vec<Estimate>,
    /// Of equal correlations.
    pub p_value: f64,
}

/// A difference is acted upon below this p-value,
const SIGNIFICANCE: f64 = 0.01;
/// if it is also larger than a tenth of a standard deviation,
const SD_RATIO: f64 = 1.1;
/// or than a twentieth of the people.
const DISTANCE: f64 = 0.05;

/// Compares noise between levels. With a `report` outputs that have no noise, few values, or are kept are named as such.
pub fn check_noise(mechanism: &impl Mechanism, panel: &Panel, report: Option<&NoiseReport>) -> NoiseCheck {
    let (p, levels) = (panel.state_dim(), panel.levels().len());
    let noise = Noises::of(mechanism, panel);
    let slots =
        (0..p).map(|j| (Output::First(j), j)).chain((0..p).map(|j| (Output::Next(j), j))).chain([(Output::Reward, p)]);
    let outputs = slots.enumerate().map(|(slot, (output, j))| {
        let (before, after) = (equality(&noise.before[slot], levels), equality(&noise.after[slot], levels));
        let reported = report.and_then(|report| report.outputs.get(j)).map(|output| output.nature);
        // What is left of an output without noise is rounding, whose shape says nothing.
        let rounding = NOISELESS * size(panel, output);
        let is_rounding = noise.before[slot].iter().all(|value| value.x.abs() <= rounding);
        let nature = reported.or(is_rounding.then_some(Nature::Noiseless));
        OutputCheck {
            output: j,
            is_first: matches!(output, Output::First(_)),
            is_reward: output == Output::Reward,
            before,
            after,
            verdict: verdict(&after, nature),
        }
    });
    let outputs = outputs.collect();
    let pairs = (0..=p).flat_map(|a| (a + 1..=p).map(move |b| (a, b)));
    let pairs =
        pairs.filter_map(|pair| dependence(&noise.after[p + pair.0], &noise.after[p + pair.1], pair, levels)).collect();
    NoiseCheck { outputs, pairs }
}

/// The largest absolute value of an output.
fn size(panel: &Panel, output: Output) -> f64 {
    let p = panel.state_dim();
    let largest = |values: &mut dyn Iterator<Item = &f64>| values.fold(0.0f64, |most, x| most.max(x.abs()));
    match output {
        Output::First(j) | Output::Next(j) => largest(&mut panel.states().iter().skip(j).step_by(p)),
        Output::Reward => largest(&mut panel.rewards().iter()),
    }
}

/// One value of noise and whose it is.
#[derive(Clone, Copy)]
struct Value {
    person: usize,
    level: usize,
    /// The decision it belongs to, counted through the panel.
    at: usize,
    x: f64,
}

/// By slot: first states' coordinates, later states' coordinates, the reward.
struct Noises {
    before: Vec<Vec<Value>>,
    after: Vec<Vec<Value>>,
}

impl Noises {
    fn of(mechanism: &impl Mechanism, panel: &Panel) -> Self {
        let p = panel.state_dim();
        let slots = |noise: &PanelNoise| {
            let mut slots = vec![vec![]; 2 * p + 1];
            for (person, &level) in panel.level_codes().iter().enumerate() {
                let (level, decisions) = (level as usize, panel.decisions_of(person));
                for (t, row) in panel.states_of(person).enumerate() {
                    // A later state belongs to the decision that led to it.
                    let (slot, at) = if t == 0 { (0, decisions.start) } else { (p, decisions.start + t - 1) };
                    for (j, &x) in noise.states[row * p..(row + 1) * p].iter().enumerate() {
                        slots[slot + j].push(Value { person, level, at, x });
                    }
                }
                slots[2 * p].extend(decisions.map(|at| Value { person, level, at, x: noise.rewards[at] }));
            }
            slots
        };
        let (before, after) = (abduct_panel(&model::Means(mechanism), panel), abduct_panel(mechanism, panel));
        Self { before: slots(&before), after: slots(&after) }
    }
}

fn verdict(after: &Equality, nature: Option<Nature>) -> Belief {
    match nature {
        Some(Nature::Kept | Nature::Noiseless) => return Belief::NothingToCarry,
        Some(Nature::FewValues(_)) => return Belief::FewValues,
        _ => {}
    }
    if !(after.variance_p.is_finite() && after.shape_p.is_finite()) {
        return Belief::Unknown;
    }
    let variance = after.variance_p < SIGNIFICANCE && after.sd_ratio > SD_RATIO;
    let shape = after.shape_p < SIGNIFICANCE && after.shape_distance > DISTANCE;
    if variance || shape { Belief::Differs } else { Belief::Believable }
}

fn equality(values: &[Value], levels: usize) -> Equality {
    let unknown = Equality { sd_ratio: f64::NAN, variance_p: f64::NAN, shape_distance: f64::NAN, shape_p: f64::NAN };
    let mut moments = vec![(0.0, 0.0, 0.0); levels];
    for value in values {
        let (n, sum, squares) = &mut moments[value.level];
        (*n, *sum, *squares) = (*n + 1.0, *sum + value.x, *squares + value.x * value.x);
    }
    let moments: Vec<(f64, f64)> =
        moments.iter().map(|(n, sum, squares)| (sum / n, (squares / n - (sum / n).powi(2)).sqrt())).collect();
    if !moments.iter().all(|(_, sd)| *sd > 0.0 && sd.is_finite()) {
        return unknown;
    }
    let sds = || moments.iter().map(|(_, sd)| *sd);
    let centred = |value: &Value| value.x - moments[value.level].0;
    let spread: Vec<Means<1>> = (0..levels).map(|z| Means::of(values, z, |value| [centred(value).abs()])).collect();
    let standard = |value: &Value| centred(value) / moments[value.level].1;
    let mut all: Vec<f64> = values.iter().map(standard).collect();
    all.sort_by(f64::total_cmp);
    let cuts = [0.1, 0.3, 0.5, 0.7, 0.9].map(|share| quantile(&all, share));
    let below = |value: &Value| cuts.map(|cut| f64::from(u8::from(standard(value) <= cut)));
    let shares: Vec<Means<5>> = (0..levels).map(|z| Means::of(values, z, below)).collect();
    Equality {
        sd_ratio: sds().fold(0.0, f64::max) / sds().fold(f64::INFINITY, f64::min),
        variance_p: wald(&spread),
        shape_distance: kolmogorov(values, levels, standard),
        shape_p: wald(&shares),
    }
}

/// Means of D quantities at one level, with their covariance when people are the units.
struct Means<const D: usize> {
    mean: [f64; D],
    covariance: Vec<f64>,
    people: usize,
}

impl<const D: usize> Means<D> {
    fn of(values: &[Value], level: usize, quantities: impl Fn(&Value) -> [f64; D]) -> Self {
        // Sums and counts by person; values of one person stand together.
        let mut people: Vec<([f64; D], f64)> = Vec::new();
        let mut last = None;
        for value in values.iter().filter(|value| value.level == level) {
            if last != Some(value.person) {
                people.push(([0.0; D], 0.0));
                last = Some(value.person);
            }
            if let Some((sums, count)) = people.last_mut() {
                sums.iter_mut().zip(quantities(value)).for_each(|(sum, q)| *sum += q);
                *count += 1.0;
            }
        }
        let rows: f64 = people.iter().map(|(_, count)| count).sum();
        let mean: [f64; D] = std::array::from_fn(|d| people.iter().map(|(sums, _)| sums[d]).sum::<f64>() / rows);
        let n = people.len() as f64;
        let mut covariance = vec![0.0; D * D];
        for (sums, count) in &people {
            for i in 0..D {
                for j in 0..D {
                    covariance[i * D + j] +=
                        (sums[i] - mean[i] * count) * (sums[j] - mean[j] * count) / (rows * rows) * n / (n - 1.0);
                }
            }
        }
        Self { mean, covariance, people: people.len() }
    }
}

/// Σ_z (m_z − m̄)ᵀ V_z⁻¹ (m_z − m̄), χ² with D (K − 1) degrees of freedom when all levels have one mean; not a number when a level
/// cannot be judged.
fn wald<const D: usize>(levels: &[Means<D>]) -> f64 {
    if levels.len() < 2 || levels.iter().any(|level| level.people < 2 + D) {
        return f64::NAN;
    }
    let (mut precision, mut weighted) = (vec![0.0; D * D], vec![0.0; D]);
    let mut inverses = Vec::new();
    for level in levels {
        let Some(inverse) = crate::kernel::numeric::small::inverse(&level.covariance, D) else { return f64::NAN };
        for i in 0..D {
            for j in 0..D {
                precision[i * D + j] += inverse[i * D + j];
                weighted[i] += inverse[i * D + j] * level.mean[j];
            }
        }
        inverses.push(inverse);
    }
    let Some(common) = solve(&precision, &weighted) else { return f64::NAN };
    let mut statistic = 0.0;
    for (level, inverse) in levels.iter().zip(&inverses) {
        for i in 0..D {
            for j in 0..D {
                statistic += (level.mean[i] - common[i]) * inverse[i * D + j] * (level.mean[j] - common[j]);
            }
        }
    }
    ChiSquared::new((D * (levels.len() - 1)) as f64).map_or(f64::NAN, |chi| chi.sf(statistic))
}

/// The largest distance between two levels' distribution functions.
fn kolmogorov(values: &[Value], levels: usize, standard: impl Fn(&Value) -> f64) -> f64 {
    let mut sorted: Vec<(f64, usize)> = values.iter().map(|value| (standard(value), value.level)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut total = vec![0.0; levels];
    values.iter().for_each(|value| total[value.level] += 1.0);
    let (mut share, mut largest) = (vec![0.0; levels], 0.0f64);
    for (i, (x, level)) in sorted.iter().enumerate() {
        share[*level] += 1.0 / total[*level];
        // Equal values step together.
        if sorted.get(i + 1).is_some_and(|next| next.0 == *x) {
            continue;
        }
        let (low, high) = share.iter().fold((1.0f64, 0.0f64), |(low, high), s| (low.min(*s), high.max(*s)));
        largest = largest.max(high - low);
    }
    largest
}

fn dependence(a: &[Value], b: &[Value], outputs: (usize, usize), levels: usize) -> Option<PairCheck> {
    let scale = |values: &[Value], level: usize| {
        let own = || values.iter().filter(|value| value.level == level);
        let n = own().count() as f64;
        let mean = own().map(|value| value.x).sum::<f64>() / n;
        (mean, (own().map(|value| (value.x - mean).powi(2)).sum::<f64>() / n).sqrt())
    };
    let mut products = Vec::new();
    let mut other = b.iter().peekable();
    let scales: Vec<[(f64, f64); 2]> = (0..levels).map(|z| [scale(a, z), scale(b, z)]).collect();
    if scales.as_flattened().iter().any(|(_, sd)| !(*sd > 0.0 && sd.is_finite())) {
        return None;
    }
    for value in a {
        while other.next_if(|next| next.at < value.at).is_some() {}
        let Some(partner) = other.peek().filter(|next| next.at == value.at) else { continue };
        let [(mean_a, sd_a), (mean_b, sd_b)] = scales[value.level];
        products.push(Value { x: (value.x - mean_a) / sd_a * (partner.x - mean_b) / sd_b, ..*value });
    }
    let by_level: Vec<Means<1>> = (0..levels).map(|z| Means::of(&products, z, |value| [value.x])).collect();
    let estimate = |m: &Means<1>| Estimate { mean: m.mean[0], standard_error: m.covariance[0].sqrt(), count: m.people };
    let p_value = wald(&by_level);
    p_value.is_finite().then(|| PairCheck { outputs, correlations: by_level.iter().map(estimate).collect(), p_value })
}

impl fmt::Display for OutputCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_reward, self.is_first) {
            (true, _) => write!(f, "reward: ")?,
            (_, true) => write!(f, "first state {}: ", self.output + 1)?,
            _ => write!(f, "state {}: ", self.output + 1)?,
        }
        let Equality { sd_ratio, variance_p, shape_distance, shape_p } = self.after;
        let tests = format!(
            "equal variance p = {variance_p:.3}, sd ratio {sd_ratio:.2} (additive {:.2}); equal shape p = {shape_p:.3}, distance {shape_distance:.3} (additive {:.3})",
            self.before.sd_ratio, self.before.shape_distance
        );
        match self.verdict {
            Belief::Believable => write!(f, "counterfactuals can be believed as far as noise goes; {tests}"),
            Belief::Differs => {
                write!(f, "counterfactuals are not to be believed, noise differs between levels; {tests}")
            }
            Belief::FewValues => write!(f, "counterfactuals are not to be believed, few values do not determine noise"),
            Belief::NothingToCarry => write!(f, "no noise to carry over"),
            Belief::Unknown => write!(f, "too few people at some level to tell"),
        }
    }
}
