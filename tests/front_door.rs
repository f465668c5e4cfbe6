//! The front door from people to numbers, in worlds where the truth is known: do the printed intervals cover on people nobody learned from?
//!
//! The quick form runs with every `cargo test`; the table under `tests/coverage/front_door.csv` is written by
//!
//! ```sh
//! REPETITIONS=60 cargo test --release --test front_door -- --ignored --nocapture
//! ```

use counterfair::fair::{AuditSettings, Error, JUDGED};
use counterfair::kernel::evaluate::{PanelDraws, audit, evaluate};
use counterfair::kernel::model::worlds::by_name;
use counterfair::prelude::*;
use rayon::prelude::*;
use std::fmt::Write as _;

const DISCOUNT: f64 = 0.9;

/// One study: learned from `people`, judged on as many others.
#[derive(Debug, Clone, Copy)]
struct Setting {
    world: &'static str,
    people: usize,
    horizon: usize,
    method: Method,
}

/// What an estimate says, and the truth.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    estimate: f64,
    intervals: [(f64, f64); 3],
    upper: f64,
    truth: f64,
}

/// The confidence of the three intervals.
const CONFIDENCES: [f64; 3] = [0.5, 0.9, 0.95];

/// Value, value minus what people received, CF metric.
const NAMES: [&str; 3] = ["value", "minus received", "CF metric"];

impl Setting {
    fn run(self, repetition: u64) -> Result<[Found; 3], Error> {
        let Self { world: name, people, horizon, method } = self;
        let world = by_name(name, 1.0).expect("a world of this name");
        let stream = Stream::new(repetition).named("front door").named(name).index(people as u64);
        let draw = |role: &str, n: usize| Exogenous::draw(&*world, n, horizon, stream.named(role));
        let policy = Learner { splits: 0, ..Learner::new(method) }
            .learn(&People::from(simulate(&*world, &draw("learn", people))))?;
        let judged = People::from(simulate(&*world, &draw("judge", people)));
        let found = policy.audit(&judged, &[], &AuditSettings::default(), &mut |_| {})?;

        let many = draw("truth", 10_000);
        let agent = policy.agent();
        let followed = evaluate(&*world, &*agent, &many, DISCOUNT);
        let recorded = simulate(&*world, &many);
        let draws = PanelDraws::draw(&recorded, stream.named("draws"));
        let metric = audit(&recorded, &&*world, &*agent, &draws)?.unfairness.metric.mean;
        let returns =
            recorded.iter().map(|person| person.rewards.iter().rev().fold(0.0, |later, r| r + DISCOUNT * later));
        let received = returns.sum::<f64>() / recorded.people() as f64;

        let value = found.values.policy(JUDGED).expect("the judged policy");
        let minus = value.minus("received").expect("always there");
        let law = found.unfairness.expect("a certificate");
        let of = |r: &counterfair::kernel::evaluate::recorded::Resampled, truth: f64| Found {
            estimate: r.mean,
            intervals: CONFIDENCES.map(|c| r.interval(c)),
            upper: f64::NAN,
            truth,
        };
        let unfairness = Found {
            estimate: law.mean(),
            intervals: CONFIDENCES.map(|c| law.interval(c)),
            upper: law.upper(0.95),
            truth: metric,
        };
        Ok([of(&value.value, followed.value.mean), of(minus, followed.value.mean - received), unfairness])
    }
}

fn covers(found: &Found, at: usize) -> bool {
    found.intervals[at].0 <= found.truth && found.truth <= found.intervals[at].1
}

/// Twelve studies. Were coverage 0.92, fewer than eight of twelve would cover with probability 0.0008 for each of two numbers.
#[test]
fn what_is_printed_covers_on_people_who_were_not_learned_from() {
    let setting = Setting { world: "linear", people: 200, horizon: 6, method: Method::Ours };
    let found: Vec<_> = (100..112u64).into_par_iter().map(|r| setting.run(r).unwrap()).collect();
    for number in [0, 2] {
        let count = found.iter().filter(|f| covers(&f[number], 2)).count();
        assert!(count >= 8, "{}: {count} of 12", NAMES[number]);
    }
    // And they say something: half-widths well below what rewards allow.
    assert!(found.iter().all(|f| f[0].intervals[2].1 - f[0].intervals[2].0 < 6.0));
}

#[test]
#[ignore = "minutes: writes tests/coverage/front_door.csv"]
fn the_table_of_coverage() {
    let repetitions: u64 = std::env::var("REPETITIONS").ok().and_then(|r| r.parse().ok()).unwrap_or(20);
    let mut text = String::from(
        "world,people,horizon,method,number,repetitions,truth,estimate,covers_50,covers_90,covers_95,upper_95,half_width_95\n",
    );
    let worlds = ["linear", "nonlinear", "spread-by-level", "skewed"];
    let at = |world, people, horizon, method| Setting { world, people, horizon, method };
    let mut settings: Vec<Setting> =
        worlds.into_iter().flat_map(|w| [Method::Ours, Method::Unaware].map(|m| at(w, 400, 8, m))).collect();
    settings.extend([
        at("linear", 400, 8, Method::Full),
        at("linear", 100, 8, Method::Ours),
        at("nonlinear", 100, 8, Method::Ours),
        at("linear", 400, 4, Method::Ours),
        at("linear", 400, 20, Method::Ours),
        at("nonlinear", 400, 20, Method::Ours),
        at("three-levels", 400, 8, Method::Ours),
        at("spread-by-state", 400, 8, Method::Ours),
        at("three-levels-mixed", 400, 8, Method::Ours),
        at("linear", 2000, 8, Method::Ours),
    ]);
    // `SKIP=8` leaves out the first eight and prints the others without writing the file: a long table can be made in parts.
    let skip = std::env::var("SKIP").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    for setting in settings.into_iter().skip(skip) {
        let Setting { world, people, horizon, method } = setting;
        let found: Vec<_> = (0..repetitions).into_par_iter().filter_map(|r| setting.run(r).ok()).collect();
        for (number, name) in NAMES.iter().enumerate() {
            let n = found.len() as f64;
            let mean = |of: &dyn Fn(&Found) -> f64| found.iter().map(|f| of(&f[number])).sum::<f64>() / n;
            let share = |at: usize| mean(&|f| f64::from(u8::from(covers(f, at))));
            let below = mean(&|f| f64::from(u8::from(f.truth <= f.upper)));
            let upper = if number == 2 { format!("{below:.3}") } else { String::new() };
            writeln!(
                text,
                "{world},{people},{horizon},{method},{name},{n},{:.4},{:.4},{:.3},{:.3},{:.3},{upper},{:.4}",
                mean(&|f| f.truth),
                mean(&|f| f.estimate),
                share(0),
                share(1),
                share(2),
                mean(&|f| (f.intervals[2].1 - f.intervals[2].0) / 2.0)
            )
            .unwrap();
        }
        println!("{text}");
    }
    if skip > 0 {
        return;
    }
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/coverage/front_door.csv");
    std::fs::write(path, text).unwrap();
}
