//! The CF metric of Ours where noise is not additive, by following people through all worlds.

use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Deployed, Greedy, Settings, fitted_q_iteration};
use counterfair::kernel::model::fitted::{FitSettings, Fitted, NoiseChoice, fit};
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::model::{Exogenous, World, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Sequential, batch};
use rayon::prelude::*;
use std::sync::Arc;

/// Decisions a person.
const HORIZON: usize = 8;

/// Fits a mechanism to N people of a world.
fn fitted(world: &dyn World, people: usize, noise: NoiseChoice, stream: Stream) -> Fitted {
    let panel = simulate(world, &Exogenous::draw(world, people, HORIZON, stream.named("train")));
    fit(&panel, &FitSettings { noise, ..FitSettings::default() }).unwrap()
}

/// The true CF metric of the policy that `alg:cf:1` and quadratic fitted Q iteration learn from N people.
fn unfairness(world: &dyn World, people: usize, noise: NoiseChoice, judged: usize, stream: Stream) -> f64 {
    let panel = simulate(world, &Exogenous::draw(world, people, HORIZON, stream.named("train")));
    let means = fit(&panel, &FitSettings { noise, ..FitSettings::default() }).unwrap();
    let method = Sequential::new(Arc::new(means), panel.level_shares());
    let experience = batch(&method, &panel).unwrap();
    let features = Polynomial::for_rows(experience.views(), world.state_dim() * world.levels(), 1, 2).unwrap();
    let learned = fitted_q_iteration(&experience, &features, Settings::default()).unwrap();
    let agent = Deployed::new(method, Greedy(learned.q));
    let test = Exogenous::draw(world, judged, HORIZON, stream.named("test"));
    evaluate(world, &agent, &test, 0.9).unfairness.metric.mean
}

/// Prints CF metrics against N. Not a test: `cargo test --test noise -- --ignored --nocapture metrics_by_size`.
#[test]
#[ignore = "a measurement of several minutes"]
fn metrics_by_size() {
    let seeds: u64 = std::env::var("SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(6);
    let sizes = [100, 200, 400, 800, 1600, 3200];
    for name in ["linear", "nonlinear", "spread-by-level", "spread-by-state", "skewed", "three-levels-mixed"] {
        let world = by_name(name, 1.0).unwrap();
        for noise in [NoiseChoice::Additive, NoiseChoice::Chosen] {
            let mut line = format!("{name:20} {noise:?}");
            for n in sizes {
                let found: Vec<f64> = (0..seeds)
                    .map(|seed| {
                        unfairness(&*world, n, noise, 2000, Stream::new(601).named(name).index(n as u64).index(seed))
                    })
                    .collect();
                let estimate = counterfair::kernel::numeric::Estimate::of(&found);
                line += &format!("  {:.4}±{:.4}", estimate.mean, estimate.standard_error);
            }
            println!("{line}");
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
