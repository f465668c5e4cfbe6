//! The CF metric of Ours where noise is not additive, by following people through all worlds.

use counterfair::estimate::{FitSettings, Fitted, NoiseChoice, fit};
use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::evaluate::fair_value;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Deployed, Greedy, Settings, fitted_q_iteration};
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::model::{Exogenous, World, simulate};
use counterfair::kernel::numeric::{Estimate, Stream};
use counterfair::kernel::preprocess::{Sequential, batch};
use rayon::prelude::*;
use std::fmt::Write;
use std::sync::Arc;

/// Decisions a person.
const HORIZON: usize = 8;

/// Fits a mechanism to N people of a world.
fn fitted(world: &dyn World, people: usize, noise: NoiseChoice, stream: Stream) -> Fitted {
    let panel = simulate(world, &Exogenous::draw(world, people, HORIZON, stream.named("train")));
    fit(&panel, &FitSettings { noise, ..FitSettings::default() }).unwrap()
}

/// The true CF metric and the fair value Ṽ of the policy that `alg:cf:1` and quadratic fitted Q iteration learn from N people.
fn learned(world: &dyn World, people: usize, noise: NoiseChoice, judged: usize, stream: Stream) -> [f64; 2] {
    let panel = simulate(world, &Exogenous::draw(world, people, HORIZON, stream.named("train")));
    let means = fit(&panel, &FitSettings { noise, ..FitSettings::default() }).unwrap();
    let method = Sequential::new(Arc::new(means), panel.level_shares());
    let experience = batch(&method, &panel).unwrap();
    let features = Polynomial::for_rows(experience.views(), world.state_dim() * world.levels(), 1, 2).unwrap();
    let learned = fitted_q_iteration(&experience, &features, Settings::default()).unwrap();
    let agent = Deployed::new(method, Greedy(learned.q));
    let test = Exogenous::draw(world, judged, HORIZON, stream.named("test"));
    [evaluate(world, &agent, &test, 0.9).unfairness.metric.mean, fair_value(world, &agent, &test, 0.9).fair.mean]
}

/// The first of these.
fn unfairness(world: &dyn World, people: usize, noise: NoiseChoice, judged: usize, stream: Stream) -> f64 {
    learned(world, people, noise, judged, stream)[0]
}

/// Writes CF metrics against N: `SEEDS=16 cargo test --release --test noise -- --ignored metrics_by_size`.
#[test]
#[ignore = "a measurement of several minutes; writes tests/noise/metric_by_size.csv"]
fn metrics_by_size() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(16);
    let mut text = String::from("world,noise,people,seeds,cf_metric,standard_error,fair_value,fair_value_error\n");
    for name in ["linear", "nonlinear", "spread-by-level", "spread-by-state", "skewed", "three-levels-mixed"] {
        let world = by_name(name, 1.0).unwrap();
        for (noise, choice) in [("additive", NoiseChoice::Additive), ("chosen", NoiseChoice::Chosen)] {
            for n in [100, 200, 400, 800, 1600, 3200] {
                let stream = |seed: u64| Stream::new(601).named(name).index(n as u64).index(seed);
                let each: Vec<[f64; 2]> =
                    (0..seeds).map(|seed| learned(&*world, n, choice, 2000, stream(seed))).collect();
                write!(text, "{name},{noise},{n},{seeds}").unwrap();
                for part in [0, 1] {
                    let found = Estimate::of(&each.iter().map(|of| of[part]).collect::<Vec<f64>>());
                    write!(text, ",{:.4},{:.4}", found.mean, found.standard_error).unwrap();
                }
                text.push('\n');
            }
        }
    }
    std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/noise/metric_by_size.csv"), text).unwrap();
}

/// The slope of log mean against log N by least squares, and 1.96 standard errors of it, from means and standard errors at each N.
fn slope(world: &str, noise: &str) -> (f64, f64) {
    let points: Vec<(f64, f64, f64)> =
        table(world, noise).map(|(n, mean, se)| (n.ln(), mean.ln(), se / mean)).collect();
    let centre = points.iter().map(|p| p.0).sum::<f64>() / points.len() as f64;
    let square: f64 = points.iter().map(|p| (p.0 - centre).powi(2)).sum();
    let slope = points.iter().map(|p| (p.0 - centre) / square * p.1).sum::<f64>();
    let variance: f64 = points.iter().map(|p| ((p.0 - centre) / square * p.2).powi(2)).sum();
    (slope, 1.96 * variance.sqrt())
}

/// (N, mean, standard error) of the committed table.
fn table<'a>(world: &'a str, noise: &'a str) -> impl Iterator<Item = (f64, f64, f64)> + 'a {
    rows(world, noise).map(|row| (row[0], row[2], row[3]))
}

/// The numbers of the rows of a world and a noise model, from N on.
fn rows<'a>(world: &'a str, noise: &'a str) -> impl Iterator<Item = Vec<f64>> + 'a {
    include_str!("metric_by_size.csv").lines().skip(1).filter_map(move |line| {
        let fields: Vec<&str> = line.split(',').collect();
        let numbers = || fields[2..].iter().map(|field| field.parse().unwrap()).collect();
        (fields[0] == world && fields[1] == noise).then(numbers)
    })
}

/// What the committed table shows: with the chosen rung unfairness falls with N in every world, with the additive one it does not where
/// noise is not additive, and nothing is lost where it is.
#[test]
fn unfairness_falls_with_the_number_of_people_where_the_rung_is_right() {
    for world in ["linear", "nonlinear", "spread-by-level", "spread-by-state", "skewed"] {
        let (chosen, half) = slope(world, "chosen");
        println!("{world}: chosen {chosen:.3} ± {half:.3}, additive {:.3?}", slope(world, "additive"));
        assert!((chosen + 0.5).abs() < half, "{world}: slope {chosen} ± {half}");
    }
    for world in ["spread-by-level", "spread-by-state", "skewed"] {
        let (additive, half) = slope(world, "additive");
        assert!(additive + half > -0.2, "{world}: additive {additive} ± {half}");
    }
    for world in ["linear", "nonlinear"] {
        for ((n, additive, _), (_, chosen, _)) in table(world, "additive").zip(table(world, "chosen")) {
            assert!((chosen / additive - 1.0).abs() <= 0.1, "{world}, N = {n}: {chosen} and {additive}");
        }
        for (additive, chosen) in rows(world, "additive").zip(rows(world, "chosen")) {
            let (n, ratio) = (additive[0], chosen[4] / additive[4]);
            assert!((ratio - 1.0).abs() <= 0.1, "{world}, N = {n}: fair values {} and {}", chosen[4], additive[4]);
        }
    }
}

/// Prints what was chosen. Not a test.
#[test]
#[ignore = "a measurement of several minutes"]
fn choices_by_size() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(20);
    for name in ["linear", "nonlinear", "spread-by-level", "spread-by-state", "skewed", "three-levels-mixed"] {
        let world = by_name(name, 1.0).unwrap();
        for n in [100, 400, 1600] {
            let mut counts = std::collections::BTreeMap::new();
            for seed in 0..seeds {
                let fitted = fitted(&*world, n, NoiseChoice::Chosen, Stream::new(602).named(name).index(seed));
                let report = fitted.fitted_noise().unwrap().report();
                for o in &report.outputs {
                    let key = format!(
                        "{}: {} / {}{}",
                        o.output,
                        o.rung,
                        o.spread,
                        if o.first_apart { " first apart" } else { "" }
                    );
                    *counts.entry(key).or_insert(0) += 1;
                }
                if seed == 0 && n == 400 {
                    println!("{report}");
                }
            }
            println!("{name} N={n}: {counts:?}");
        }
    }
}

/// The mean over these seeds.
fn mean(name: &str, people: usize, noise: NoiseChoice, seeds: u64) -> f64 {
    let world = by_name(name, 1.0).unwrap();
    let of = |seed: u64| unfairness(&*world, people, noise, 2000, Stream::new(603).named(name).index(seed));
    (0..seeds).into_par_iter().map(of).sum::<f64>() / seeds as f64
}

/// Held to: with the chosen rung at most 1.5 times the additive world's metric, with the additive rung at least 3 times the chosen one's.
#[test]
fn where_spread_depends_on_the_level_the_chosen_rung_repairs_what_the_additive_one_cannot() {
    let (plain, chosen) =
        (mean("linear", 1000, NoiseChoice::Additive, 6), mean("spread-by-level", 1000, NoiseChoice::Chosen, 6));
    let additive = mean("spread-by-level", 1000, NoiseChoice::Additive, 6);
    assert!(chosen <= 1.5 * plain, "chosen {chosen}, additive world {plain}");
    assert!(additive >= 3.0 * chosen, "additive {additive}, chosen {chosen}");
}
