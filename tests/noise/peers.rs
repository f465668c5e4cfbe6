//! The same questions put to R: quantile preservation (`quantreg`), spread (`mgcv`), bounds under hidden confounding.
//!
//! The tables and the script that makes them are in `tests/noise/r`; people come from formulas that both sides write down.

use counterfair::audit::sensitivity::{Shift, value_bounds};
use counterfair::estimate::SpreadForm;
use counterfair::estimate::{Basis, FitSettings, NoiseChoice, Pooling, fit};
use counterfair::kernel::model::NoiseLaw;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{Sequential, batch};
use statrs::distribution::{ContinuousCDF, Normal};

/// The rows of a table of R, as numbers.
fn rows(text: &str) -> Vec<Vec<f64>> {
    text.lines().skip(1).map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
}

fn fraction(x: f64) -> f64 {
    x - x.floor()
}

fn normal_quantile(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// People with one state and one decision after which nothing is recorded: (level, state).
fn static_decision(people: &[(u32, f64)]) -> Panel {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for (i, (level, state)) in people.iter().enumerate() {
        let (id, action) = (format!("{i:05}"), (i % 2) as u32);
        builder
            .push(Person { id: &id, level: *level, states: &[*state], actions: &[action], rewards: &[0.0] })
            .unwrap();
    }
    builder.finish()
}

/// The state of level z at a rank: normal at level 0, a shifted exponential at level 1.
fn state_at(level: u32, share: f64) -> f64 {
    if level == 0 { 0.8 * normal_quantile(share) } else { 1.0 + 1.5 * (-(-share).ln_1p() - 1.0) }
}

/// How far our counterfactuals are from R's, in steps of our grid of quantiles: the largest and the mean.
fn apart_from_quantreg(noise: NoiseChoice) -> (f64, f64) {
    let n = 1000;
    let share = |i: usize| (i as f64 + 0.5) / n as f64;
    let people: Vec<(u32, f64)> = (0..2).flat_map(|z| (0..n).map(move |i| (z, state_at(z, share(i))))).collect();
    let fitted = fit(&static_decision(&people), &FitSettings { noise, ..FitSettings::default() }).unwrap();
    let table = rows(include_str!("r/quantile_preservation.csv"));
    let probes: Vec<(u32, f64)> = table.iter().map(|row| (row[0] as u32, row[1])).collect();
    let found = batch(&Sequential::new(&fitted, vec![0.5; 2]), &static_decision(&probes)).unwrap();
    // ½ √(residuals a level), as the rank rung takes its knots.
    let knots = (0.5 * f64::sqrt(n as f64)).round();
    let steps: Vec<f64> = table
        .iter()
        .zip(found.views().chunks_exact(2))
        .map(|(row, worlds)| {
            let (own, other) = (row[0] as usize, 1 - row[0] as usize);
            assert_eq!(worlds[own], row[1], "the own world is as it was");
            // The step of the other level's grid round R's answer.
            let rank = (0..n).filter(|&i| state_at(other as u32, share(i)) < row[2]).count() as f64 / n as f64;
            let below = ((rank * knots - 0.5).floor() + 0.5) / knots;
            let step = state_at(other as u32, (below + 1.0 / knots).min(1.0 - 0.5 / knots))
                - state_at(other as u32, below.clamp(0.5 / knots, 1.0 - 1.5 / knots));
            (worlds[other] - row[2]).abs() / step
        })
        .collect();
    (steps.iter().copied().fold(0.0, f64::max), steps.iter().sum::<f64>() / steps.len() as f64)
}

/// Both are exact at the knots of our grid and straight or monotone between, so they cannot be a whole step apart; R's grid is twelve times finer.
#[test]
fn one_static_decision_with_two_levels_agrees_with_quantile_preservation_by_quantreg_within_the_grid() {
    let (most, mean) = apart_from_quantreg(NoiseChoice::Rank);
    println!("steps of the grid apart: at most {most:.3}, {mean:.3} on average");
    assert!(most < 1.0 && mean < 0.2, "at most {most} steps, {mean} on average");
    // The control: additive noise is another answer.
    let (most, mean) = apart_from_quantreg(NoiseChoice::Additive);
    assert!(most > 2.0 && mean > 0.5, "additive: at most {most} steps, {mean} on average");
}

#[test]
fn spread_by_level_state_and_action_agrees_with_mgcv() {
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for i in 1..=900u32 {
        let at = |root: f64| fraction(f64::from(i) * root.sqrt());
        let (s, a, e, z) =
            (3.4 * (at(2.0) - 0.5), f64::from(u8::from(at(3.0) < 0.5)), normal_quantile(at(5.0)), f64::from(i % 2));
        let sd = (-0.5 + 0.3 * s + 0.2 * a + 0.4 * z * (1.0 - s)).exp();
        let y = 0.3 + 0.5 * s + 0.4 * a + 0.3 * s * a + 0.5 * z + sd * e;
        let (id, states) = (format!("{i:05}"), [s, y]);
        builder.push(Person { id: &id, level: i % 2, states: &states, actions: &[a as u32], rewards: &[0.0] }).unwrap();
    }
    let settings = FitSettings {
        basis: Basis::Linear,
        pooling: Pooling::PerLevel,
        noise: NoiseChoice::Scale,
        ..FitSettings::default()
    };
    let fitted = fit(&builder.finish(), &settings).unwrap();
    let noise = fitted.fitted_noise().unwrap();
    assert_eq!(noise.report().outputs[0].spread, SpreadForm::LogLinear, "{}", noise.report());
    let (mut most, mut truth_apart) = (0.0f64, 0.0f64);
    for row in rows(include_str!("r/spread.csv")) {
        let (level, s, a) = (row[0] as usize, row[1], row[2]);
        let (mut next, mut reward) = ([0.0], [0.0]);
        noise.spread(level, &[s], &[a as u32], &mut next, &mut reward);
        most = most.max((next[0] / row[4] - 1.0).abs());
        truth_apart =
            truth_apart.max(((-0.5 + 0.3 * s + 0.2 * a + 0.4 * row[0] * (1.0 - s)).exp() / row[4] - 1.0).abs());
    }
    println!("largest relative difference of σ: {most:.4}; of the truth from R: {truth_apart:.4}");
    // Both maximise a Gaussian likelihood, R jointly with the means, we in turn and with σ corrected for degrees of freedom (four of 450 a
    // level: half a percent).
    assert!(most < 0.02, "σ is up to {most} apart");
    assert!(truth_apart > 2.0 * most, "the two agree better with each other than with the truth");
}

#[test]
fn bounds_under_hidden_confounding_are_those_of_the_published_algorithm() {
    let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(2), 1).unwrap();
    let mut taken = Vec::new();
    for j in 1..=60u32 {
        let at = |root: f64| fraction(f64::from(j) * root.sqrt());
        let propensity = 0.2 + 0.6 * at(2.0);
        let treated = u32::from(at(3.0) < propensity);
        let outcome = normal_quantile(at(5.0)) + 0.7 * f64::from(treated);
        let id = format!("{j:05}");
        builder.push(Person { id: &id, level: 0, states: &[0.0], actions: &[treated], rewards: &[outcome] }).unwrap();
        taken.push(if treated == 1 { propensity } else { 1.0 - propensity });
    }
    let panel = builder.finish();
    let received = panel.rewards().iter().sum::<f64>() / 60.0;
    for row in rows(include_str!("r/sensitivity.csv")) {
        let policy: Vec<f64> = [1.0 - row[1], row[1]].repeat(60);
        let shift = Shift::new(&panel, &policy, &taken, 0.9).unwrap();
        let (low, high) = value_bounds(&shift, &[1.0; 60], row[0]).unwrap();
        // Twelve digits in the table; normal quantiles of statrs have about nine.
        for (found, expected) in [(low + received, row[2]), (high + received, row[3])] {
            assert!((found - expected).abs() < 1e-7, "Γ = {}, action {}: {found} and {expected}", row[0], row[1]);
        }
    }
}
