//! Do the intervals of a study hold the truth as often as they say? The truth is that of the policies that were judged, fold by fold, followed
//! with the true mechanism.
//!
//! The quick form is the first test; the table `tests/coverage/study.csv` is written by
//!
//! ```sh
//! REPETITIONS=60 cargo test --release --test study -- --ignored --nocapture the_table_of_coverage
//! ```

use counterfair::audit::{PanelDraws, audit};
use counterfair::fair::Error;
use counterfair::fair::study::{Number, StudySettings, study};
use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::evaluate::fair_value;
use counterfair::kernel::learn::{Deployed, Policy as Rule};
use counterfair::kernel::model::worlds::by_name;
use counterfair::kernel::preprocess::{StateOnly, Unaware};
use counterfair::notebook::prelude::*;
use rayon::prelude::*;
use std::fmt::Write as _;

const DISCOUNT: f64 = 0.9;

/// One number of a study and its truth.
#[derive(Debug, Clone)]
struct Found {
    name: String,
    estimate: Number,
    upper: Option<f64>,
    truth: f64,
}

impl Found {
    fn covers(&self) -> bool {
        // Where nothing is estimated the interval is a point, and the truth a sum of rounded numbers.
        let slack = 1e-9;
        self.estimate.interval.is_some_and(|(low, high)| low - slack <= self.truth && self.truth <= high + slack)
    }
}

/// One action for everybody, of two.
struct Constant(usize);

impl Rule<StateOnly> for Constant {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for out in out.chunks_exact_mut(2).take(rows.len() / width) {
            out.fill(0.0);
            out[self.0] = 1.0;
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// One study of people from a world.
fn run(
    world: &str,
    people: usize,
    horizon: usize,
    repetition: u64,
    settings: &StudySettings,
) -> Result<Vec<Found>, Error> {
    let name = world;
    let world = by_name(name, 1.0).expect("a world of this name");
    let stream = Stream::new(repetition).named("study").named(name).index(people as u64);
    let draw = |role: &str, n: usize| Exogenous::draw(&*world, n, horizon, stream.named(role));
    let found = study(&People::from(simulate(&*world, &draw("people", people))), settings, &mut |_| {})?;

    let many = draw("truth", 10_000);
    let recorded = simulate(&*world, &many);
    let draws = PanelDraws::draw(&recorded, stream.named("draws"));
    let returns = recorded.iter().map(|person| person.rewards.iter().rev().fold(0.0, |later, r| r + DISCOUNT * later));
    let received = returns.sum::<f64>() / recorded.people() as f64;
    let policies = found.policies.expect("a study of these sizes");
    let mut all = Vec::new();
    for (which, method) in ["Ours", "Full", "Unaware"].into_iter().enumerate() {
        let (mut value, mut difference, mut metric, mut fair) = (0.0, -received, 0.0, 0.0);
        for (n, judged) in &found.judged {
            let (agent, share) = (judged[which].agent(), *n as f64 / people as f64);
            let followed = fair_value(&*world, &*agent, &many, DISCOUNT);
            fair += share * followed.fair.mean;
            value += share * followed.value.mean;
            // Paired with what the same people received, at their own level.
            difference += share * evaluate(&*world, &*agent, &many, DISCOUNT).value.mean;
            metric += share * audit(&recorded, &&*world, &*agent, &draws)?.unfairness.metric.mean;
        }
        let row = policies.row(method).expect("every method");
        let law = row.cf_metric.expect("refits were kept");
        let mut push = |what: &str, estimate: Number, upper: Option<f64>, truth: f64| {
            all.push(Found { name: format!("{method},{what}"), estimate, upper, truth });
        };
        push("value", row.value, None, value);
        push("minus received", row.minus_received, None, difference);
        push("CF metric", law.number, Some(law.upper), metric);
        push("fair value", row.fair_value.expect("refits were kept"), None, fair);
        push("gained by unfairness", row.gained_by_unfairness.expect("refits were kept"), None, value - fair);
    }
    for (which, action) in ["0", "1"].into_iter().enumerate() {
        let name = format!("{action} for everybody");
        let row = policies.row(&name).expect("each action");
        let agent = Deployed::new(Unaware { state_dim: 1 }, Constant(which));
        let truth = fair_value(&*world, &agent, &many, DISCOUNT);
        for (what, estimate, truth) in [
            ("fair value", row.fair_value, truth.fair.mean),
            ("gained by unfairness", row.gained_by_unfairness, truth.gained.mean),
        ] {
            all.push(Found { name: format!("{name},{what}"), estimate: estimate.unwrap(), upper: None, truth });
        }
    }
    Ok(all)
}

/// Ten studies. Were coverage 0.92, fewer than six of ten would cover with probability 0.0006 for each number; 19 numbers are looked at.
#[test]
fn the_intervals_of_a_study_hold_the_truth_of_the_policies_that_were_judged() {
    let learner = Learner { replicates: 60, splits: 0, ..Learner::new(Method::Ours) };
    let settings = StudySettings { learner, replicates: 60, group_replicates: 2, ..StudySettings::default() };
    let found: Vec<_> = (200..210u64).into_par_iter().map(|r| run("linear", 150, 5, r, &settings).unwrap()).collect();
    for (i, first) in found[0].iter().enumerate() {
        let count = found.iter().filter(|study| study[i].covers()).count();
        assert!(count >= 6, "{}: {count} of 10", first.name);
        let below = found.iter().filter(|study| study[i].upper.is_none_or(|upper| study[i].truth <= upper)).count();
        assert!(below >= 6, "{}: {below} of 10 below their bound", first.name);
    }
    // And they say something.
    let wide = |study: &Vec<Found>| study[0].estimate.interval.map_or(f64::INFINITY, |(low, high)| high - low);
    assert!(found.iter().map(wide).sum::<f64>() / 10.0 < 5.0);
}

#[test]
#[ignore = "ten minutes on two cores: writes tests/coverage/study.csv"]
fn the_table_of_coverage() {
    let repetitions: u64 = std::env::var("REPETITIONS").ok().and_then(|r| r.parse().ok()).unwrap_or(60);
    let first: u64 = std::env::var("FIRST").ok().and_then(|r| r.parse().ok()).unwrap_or(0);
    let only = std::env::var("ONLY").ok();
    let mut text = String::from(
        "world,people,horizon,method,number,studies,truth,estimate,error_sd,covers_95,upper_95,half_width_95\n",
    );
    let settings = |seed: u64| StudySettings {
        // A seed of its own for every study: weights of people come from (seed, id), and with one seed for all studies the same
        // quantiles of the same draws would be too far in, or too far out, in every one of them.
        learner: Learner { splits: 0, seed, ..Learner::new(Method::Ours) },
        group_replicates: 2,
        ..StudySettings::default()
    };
    for (world, people, horizon) in [("linear", 400, 8), ("spread-by-level", 400, 8)] {
        if only.as_ref().is_some_and(|only| only != world) {
            continue;
        }
        let found: Vec<Vec<Found>> = (first..first + repetitions)
            .into_par_iter()
            .filter_map(|r| run(world, people, horizon, r, &settings(r)).ok())
            .collect();
        let n = found.len() as f64;
        for (i, first) in found[0].iter().enumerate() {
            let mean = |of: &dyn Fn(&Found) -> f64| found.iter().map(|study| of(&study[i])).sum::<f64>() / n;
            let yes = |b: bool| f64::from(u8::from(b));
            let upper = first.upper.map_or(String::new(), |_| {
                format!("{:.3}", mean(&|f| yes(f.upper.is_some_and(|upper| f.truth <= upper))))
            });
            let off = mean(&|f| f.estimate.mean - f.truth);
            let squares = mean(&|f| (f.estimate.mean - f.truth - off).powi(2));
            let half = |f: &Found| f.estimate.interval.map_or(f64::NAN, |(low, high)| (high - low) / 2.0);
            writeln!(
                text,
                "{world},{people},{horizon},{},{n},{:.4},{:.4},{:.4},{:.3},{upper},{:.4}",
                first.name,
                mean(&|f| f.truth),
                mean(&|f| f.estimate.mean),
                (squares * n / (n - 1.0)).sqrt(),
                mean(&|f| yes(f.covers())),
                mean(&half)
            )
            .unwrap();
        }
        println!("{text}");
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/study.csv");
    if only.is_none() && first == 0 {
        std::fs::write(path, text).unwrap();
    }
}
