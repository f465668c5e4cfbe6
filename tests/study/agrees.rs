//! Numbers of one page that say the same thing in two ways say it with the same digits.

use super::folder::Folder;
use counterfair::fair::study::{Number, Study, StudySettings, study};
use counterfair::fair::{Learner, Method, People};
use counterfair::kernel::people::{Labels, PanelBuilder, Person};
use counterfair::report::study as report;

/// The page, written to a folder of the test's own.
fn page(study: &Study, test: &str) -> String {
    let folder = Folder::new(&format!("study page {test}"));
    let path = report::write(study, "counterfair study", &folder.0.join("out"), false).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// People whose rewards come from nothing that is recorded, in a unit of the reward's own.
fn idle(seed: u64, people: u64, unit: f64) -> Study {
    let mut builder = PanelBuilder::new(Labels::new(["f", "m"]), Labels::new(["off", "on"]), 1).unwrap();
    // A fixed sequence of its own, so that no change of the library's streams moves the people.
    let mut state = seed;
    let mut uniform = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for i in 0..people {
        let states: Vec<f64> = (0..4).map(|_| 2.0 * uniform() - 1.0).collect();
        let actions: Vec<u32> = (0..3).map(|_| u32::from(uniform() < 0.5)).collect();
        let rewards: Vec<f64> = (0..3).map(|_| unit * (uniform() + uniform())).collect();
        let (id, level) = (format!("p{i}"), u32::from(uniform() < 0.4));
        builder.push(Person { id: &id, level, states: &states, actions: &actions, rewards: &rewards }).unwrap();
    }
    let learner = Learner { replicates: 20, ..Learner::new(Method::Ours) };
    let settings = StudySettings { learner, replicates: 40, group_replicates: 40, ..StudySettings::default() };
    study(&People::from(builder.finish()), &settings, &mut |_| {}).unwrap()
}

#[test]
fn one_policy_under_two_names_is_worth_the_same_and_one_that_looks_at_nobody_is_fair_in_every_column() {
    let (mut constant, mut by_fold) = (0, 0);
    for seed in 1..=6 {
        let found = idle(seed, 70, 1.0);
        let policies = found.policies.as_ref().unwrap();
        let json = serde_json::to_value(&found).unwrap();
        let measures = json["treated"]["measures"].as_array().unwrap();
        for name in ["Ours", "Full", "Unaware"] {
            let row = policies.row(name).unwrap();
            let whole = measures.iter().find(|measure| {
                let mut by_level = measure["by_level"].as_array().unwrap().iter();
                measure["rule"] == name && by_level.all(|share| share["mean"] == 1.0)
            });
            if let Some(only) = whole {
                let alike = policies.row(&format!("{} for everybody", only["action"].as_str().unwrap())).unwrap();
                assert_eq!((row.value, row.minus_received), (alike.value, alike.minus_received), "{name}, seed {seed}");
                constant += 1;
            }
            let split = policies.constant_by_fold.iter().find(|(rule, _)| rule == name);
            by_fold += usize::from(split.is_some());
            if whole.is_some() || split.is_some() {
                assert_eq!(row.cf_metric.unwrap().upper, 0.0, "{name}, seed {seed}");
                // Rounding of a mean of equal shares.
                assert!(row.parity_gap.unwrap().estimate < 1e-12, "{name}, seed {seed}");
                assert_eq!(row.gained_by_unfairness, Some(Number::exact(0.0)), "{name}, seed {seed}");
                assert_eq!(row.fair_value, Some(row.value), "{name}, seed {seed}");
            }
            if let Some((_, folds)) = split {
                assert_eq!(folds.iter().map(|(_, n)| n).sum::<usize>(), 5, "{folds:?}");
                let page = page(&found, "agrees");
                assert!(
                    page.contains(&format!("{name} gives everybody in a fold the same action")),
                    "{name}, seed {seed}"
                );
            }
        }
    }
    assert!(constant > 0 && by_fold > 0, "{constant} policies with one action, {by_fold} with one for each fold");
}

#[test]
fn the_unit_of_the_reward_changes_no_conclusion_and_no_number_vanishes() {
    let plain = idle(3, 70, 1.0);
    for unit in [1e-6, 1e6] {
        let found = idle(3, 70, unit);
        assert_eq!(report::sentence(&found), report::sentence(&plain));
        let both = [&found, &plain].map(|study| study.policies.as_ref().unwrap().row("Random").unwrap().value);
        assert!((both[0].mean / unit - both[1].mean).abs() < 1e-6 * both[1].mean, "{both:?}");
        let page = page(&found, "units");
        let power = if unit < 1.0 { "× 10⁻⁶" } else { "× 10⁶" };
        assert!(page.contains(power) && !page.contains("0.000000"), "unit {unit}");
    }
}
