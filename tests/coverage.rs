//! Intervals of values over the recorded horizon hold the truth as often as they say; where they cannot, the words say so.
//!
//! The quick form runs with the other tests. The table under `tests/coverage/` is made by
//! `cargo test --release --test coverage -- --ignored the_table`, with `ONLY=world,N,T` for one part of it and `DATA_SETS` for their number.

use counterfair::audit::recorded::{Differences, PolicyAlong, recorded_values};
use counterfair::audit::recorded::{Dropout, RecordedSettings};
use counterfair::files::{Columns, MissingRepair, ReadOptions, RowConvention, read};
use counterfair::kernel::numeric::Stream;
use counterfair::theory::coverage::{Bed, HEADER, Tally, Trial, Which};
use statrs::distribution::{Binomial, DiscreteCDF};
use std::io::Write;

fn trial(bed: Bed, people: usize, horizon: usize, repeats: usize, which: Which) -> Trial {
    let dropout = if bed.leaving.is_some() { Dropout::Weighted { horizon: None } } else { Dropout::AsRecorded };
    let settings = RecordedSettings { replicates: 60, dropout, ..RecordedSettings::default() };
    Trial { bed, people, horizon, repeats, which, settings, truth_people: 60_000 }
}

/// Fails when so few of the 95 % intervals hold the truth that true coverage of 92 % would show it with probability below 1e-4, or so few
/// of the 50 % ones that 45 % would. An interval of coverage 75 % fails in nine of ten such tests of 80 data sets.
#[track_caller]
fn assert_covers(name: &str, tally: &Tally) {
    for (at, least) in [(0, 0.45), (2, 0.92)] {
        let law = Binomial::new(least, tally.given as u64).unwrap();
        let probability = law.cdf(tally.covered[at] as u64);
        assert!(probability > 1e-4, "{name}: {} of {} intervals hold the truth", tally.covered[at], tally.given);
    }
}

fn at(tallies: &counterfair::theory::coverage::Tallies, policy: &str, quantity: &str) -> Tally {
    tallies[&(policy.to_string(), quantity.to_string())].clone()
}

#[test]
fn intervals_hold_the_truth_in_the_papers_linear_world() {
    let tallies = trial(Bed::linear(), 200, 5, 80, Which::All).run(Stream::new(3));
    for policy in ["Rule", "Full", "Unaware", "Ours", "Random"] {
        for quantity in ["value", "minus received"] {
            assert_covers(&format!("{policy}, {quantity}"), &at(&tallies, policy, quantity));
        }
    }
    assert_covers("Rule minus Random", &at(&tallies, "Rule", "minus Random"));
    // An interval that is as wide as what rewards allow would hold the truth too.
    assert!(at(&tallies, "Rule", "value").half_width < 0.9, "{:?}", at(&tallies, "Rule", "value"));
}

#[test]
fn intervals_hold_the_truth_where_habits_and_dropout_shape_the_record() {
    for bed in [Bed::finite(), Bed::dropout()] {
        let name = bed.name;
        let tallies = trial(bed, 200, 5, 80, Which::Rule).run(Stream::new(4));
        for quantity in ["value", "minus received", "minus Random"] {
            assert_covers(&format!("{name}, {quantity}"), &at(&tallies, "Rule", quantity));
        }
    }
}

#[test]
fn where_an_action_was_withheld_the_interval_fails_and_the_words_say_so() {
    let tallies = trial(Bed::withheld(), 400, 5, 40, Which::Always).run(Stream::new(5));
    let always = at(&tallies, "Always", "value");
    assert!(2 * always.covered[2] < always.given, "{always:?}");
    assert!(4 * always.warned > 3 * always.given, "{always:?}");
}

#[test]
fn where_the_world_drifts_the_interval_fails_and_the_words_say_so() {
    let tallies = trial(Bed::drifting(), 1000, 8, 30, Which::Rule).run(Stream::new(6));
    let random = at(&tallies, "Random", "value");
    assert!(2 * random.covered[2] < random.given, "{random:?}");
    assert!(4 * random.warned > 3 * random.given, "{random:?}");
}

#[test]
fn where_leaving_depends_on_the_state_the_record_as_it_is_misleads_and_the_words_say_so() {
    let mut unweighted = trial(Bed::dropout(), 400, 8, 40, Which::Rule);
    unweighted.settings.dropout = Dropout::AsRecorded;
    let tallies = unweighted.run(Stream::new(7));
    let rule = at(&tallies, "Rule", "minus received");
    assert!(2 * rule.covered[2] < rule.given, "{rule:?}");
    assert!(4 * rule.warned > 3 * rule.given, "{rule:?}");
}

/// What the environment asks for, or the default.
fn from_environment(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "an hour; writes the table of coverage"]
fn the_table() {
    let only = std::env::var("ONLY").ok();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/coverage/values.csv");
    let out = std::env::var("TABLE").unwrap_or(path.to_string());
    let mut file = std::fs::File::create(out).unwrap();
    writeln!(file, "{HEADER}").unwrap();
    let worlds: [(fn() -> Bed, Which); 8] = [
        (Bed::linear, Which::All),
        (Bed::nonlinear, Which::All),
        (Bed::three_levels, Which::All),
        (Bed::spread, Which::All),
        (Bed::dropout, Which::All),
        (Bed::finite, Which::All),
        (Bed::withheld, Which::Always),
        (Bed::drifting, Which::Rule),
    ];
    for (bed, which) in worlds {
        for people in [100, 400, 2000] {
            for horizon in [4, 8, 20] {
                let name = format!("{},{people},{horizon}", bed().name);
                if only.as_ref().is_some_and(|only| !name.starts_with(only.as_str())) {
                    continue;
                }
                let mut trial = trial(bed(), people, horizon, from_environment("DATA_SETS", 100), which);
                trial.settings.replicates = from_environment("REPLICATES", 100);
                trial.settings.fewest_effective_people = from_environment("FEWEST", 50) as f64;
                trial.settings.differences = match std::env::var("DIFFERENCES").as_deref() {
                    Ok("linear") => Some(Differences::Linear),
                    Ok("products") => Some(Differences::Products),
                    Ok("joint") => Some(Differences::Joint),
                    _ => None,
                };
                trial.truth_people = 200_000;
                let tallies = trial.run(Stream::new(71).named(trial.bed.name));
                for row in trial.csv_rows(&tallies) {
                    writeln!(file, "{row}").unwrap();
                }
                file.flush().unwrap();
            }
        }
    }
}

/// A real study: file, id, time, level, action, reward, states, convention of rows.
type Study = (&'static str, [&'static str; 5], &'static [&'static str], RowConvention);

const STUDIES: [Study; 4] = [
    (
        "help_trial.csv",
        ["ID", "timestamp", "race", "action", "reward"],
        &["state1", "state2", "state3"],
        RowConvention::Incoming,
    ),
    ("wagepan.csv", ["ID", "timestamp", "z1", "action", "reward"], &["state1", "state2"], RowConvention::Incoming),
    ("actg175_long.csv", ["patient", "week", "race", "treatment", "cd4"], &["cd4"], RowConvention::Incoming),
    (
        "star_long.csv",
        ["student", "grade", "ethnicity", "class_type", "math"],
        &["read", "math"],
        RowConvention::Outgoing,
    ),
];

#[test]
#[ignore = "needs the files of real studies, in the folder STUDIES"]
fn nothing_is_outside_what_rewards_allow_on_real_studies() {
    let folder = std::env::var("STUDIES").expect("the folder of the studies");
    for (file, [id, time, level, action, reward], states, rows) in STUDIES {
        let columns = Columns {
            id: id.into(),
            time: time.into(),
            level: vec![level.into()],
            action: action.into(),
            reward: reward.into(),
            states: states.iter().map(|s| s.to_string()).collect(),
        };
        let options = ReadOptions { columns, rows, missing: MissingRepair::DropTail, ..ReadOptions::default() };
        let found = match read(&std::path::Path::new(&folder).join(file), &options) {
            Ok(found) => found,
            Err(problem) => {
                println!("{file}: {problem}");
                continue;
            }
        };
        let (panel, actions) = (&found.panel, found.panel.action_names().len());
        // The first action below the mean of the first coordinate, the last above.
        let p = panel.state_dim();
        let mean = panel.states().iter().step_by(p).sum::<f64>() / panel.state_rows() as f64;
        let mut probabilities = vec![0.0; panel.state_rows() * actions];
        for (row, state) in panel.states().chunks_exact(p).enumerate() {
            probabilities[row * actions + if state[0] > mean { actions - 1 } else { 0 }] = 1.0;
        }
        for dropout in [Dropout::AsRecorded, Dropout::Weighted { horizon: None }] {
            let start = std::time::Instant::now();
            let settings = RecordedSettings { dropout, ..RecordedSettings::default() };
            let policy = PolicyAlong { name: "Rule", probabilities: &probabilities, worlds: None };
            let values = recorded_values(panel, &[policy], &settings).unwrap();
            println!(
                "{file}, {dropout:?}: {} people, {} decisions, received {:.3} ± {:.3}, allowed {:.2?}, {:.1?}",
                values.people,
                panel.decisions(),
                values.received.mean,
                1.96 * values.received.standard_error,
                values.allowed,
                start.elapsed()
            );
            for policy in &values.policies {
                let inside = |x: f64| values.allowed.0 <= x && x <= values.allowed.1;
                let minus = policy.minus("received").unwrap();
                println!(
                    "  {}: {:.3} in {:.3?}, minus received {:.3} in {:.3?}; doubly robust {}; effective {:.0?}, held {:.3}, {:?}",
                    policy.name,
                    policy.value.mean,
                    policy.value.interval(0.95),
                    minus.mean,
                    minus.interval(0.95),
                    policy.doubly_robust.as_ref().map_or_else(|e| e.to_string(), |e| format!("{e}")),
                    policy.weights.effective_people,
                    policy.held,
                    policy.class
                );
                assert!(
                    inside(policy.value.mean)
                        && policy.doubly_robust.as_ref().is_ok_and(|e| inside(e.mean)) == policy.doubly_robust.is_ok()
                );
            }
            values.warnings.iter().for_each(|words| println!("  warning: {words}"));
        }
    }
}
