//! Do the CF metric's intervals cover?

use counterfair::kernel::model::World;
use counterfair::kernel::model::fitted::{Basis, FitSettings, Pooling};
use counterfair::kernel::model::worlds::{Linear, Nonlinear, ThreeLevels};
use counterfair::kernel::numeric::Stream;
use counterfair::theory::coverage::unfairness::{Coverage, Setting, coverage, judge_once};

/// One setting by the name that tables give it.
fn run(name: &str, people: usize, horizon: usize, repetitions: u64, replicates: usize) -> Vec<Coverage> {
    let (linear, nonlinear, three) = (Linear::new(1.0), Nonlinear::new(1.0), ThreeLevels::new(0.7));
    let world: &dyn World = match name {
        "non-linear" | "straight means" => &nonlinear,
        "three levels" => &three,
        _ => &linear,
    };
    let noise_scale = if name == "spread by level" { vec![0.6, 1.2] } else { vec![1.0; world.levels()] };
    let fit = match name {
        "straight means" => FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() },
        _ => FitSettings::default(),
    };
    let setting = Setting { world, name, noise_scale, people, horizon, fit, replicates, truth_people: 8000 };
    let stream = Stream::new(20).named("coverage of unfairness").named(name).index(people as u64);
    let judgements: Vec<_> = (0..repetitions).flat_map(|i| judge_once(&setting, stream.index(i))).collect();
    coverage(&setting, &judgements)
}

#[test]
#[ignore = "an experiment"]
fn experiment() {
    let word = |name: &str, otherwise: &str| std::env::var(name).unwrap_or(otherwise.into());
    let number = |name: &str, otherwise: &str| word(name, otherwise).parse::<usize>().unwrap();
    let (name, people) = (word("SETTING", "linear"), number("PEOPLE", "400"));
    let rows =
        run(&name, people, number("HORIZON", "8"), number("REPETITIONS", "20") as u64, number("REPLICATES", "200"));
    for row in rows {
        println!("{}", serde_json::to_string(&row).unwrap());
    }
}
