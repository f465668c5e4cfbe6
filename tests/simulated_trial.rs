//! The simulated trial of weekly calls against another program of the same equations, moment by moment, and against its own options.

use counterfair::reproduction::{CallEffect, ScoreScale, WeeklyCalls, WeeklyRow};
use serde_json::Value;
use std::collections::BTreeMap;

/// The other program's trials, by the names in `moments.json`.
fn trial(name: &str) -> WeeklyCalls {
    let exact = WeeklyCalls { scale: ScoreScale::Exact, ..WeeklyCalls::default() };
    match name {
        "integer" => WeeklyCalls::default(),
        "half latent everybody" => WeeklyCalls {
            scale: ScoreScale::Half,
            latent: true,
            effect: CallEffect::Everybody,
            ..WeeklyCalls::default()
        },
        "exact trait none small gaps" => {
            WeeklyCalls { trait_sd: 0.5, effect: CallEffect::None, small_group: true, missed_weeks: true, ..exact }
        }
        "exact some" => exact,
        _ => panic!("no trial {name}"),
    }
}

const GROUPS: [&str; 4] = ["White", "Black", "Hispanic", "Asian"];
const CALLS: [&str; 3] = ["brief", "recorded", "counselor"];

/// Sums over people of numbers by name: how many, Σx, Σx².
#[derive(Default)]
struct Moments(BTreeMap<String, (f64, f64, f64)>);

impl Moments {
    fn add(&mut self, name: String, x: f64) {
        let sums = self.0.entry(name).or_default();
        *sums = (sums.0 + 1.0, sums.1 + x, sums.2 + x * x);
    }

    fn person(&mut self, rows: &[WeeklyRow]) {
        let count = |keep: &dyn Fn(&WeeklyRow) -> bool| rows.iter().filter(|row| keep(row)).count() as f64;
        let group = rows[0].group;
        for name in GROUPS {
            self.add(format!("is {name}"), f64::from(u8::from(name == group)));
        }
        for name in CALLS {
            self.add(format!("calls {name}"), count(&|row| row.call == name));
        }
        self.add("rows".into(), rows.len() as f64);
        self.add("last week".into(), rows[rows.len() - 1].week as f64);
        self.add("blank".into(), count(&|row| row.scores.is_none()));
        let at = |week: usize| rows.iter().find(|row| row.week == week);
        for week in [1, 2, 6] {
            let Some(&WeeklyRow { call, scores, reward, .. }) = at(week) else { continue };
            self.add(format!("{group}, reward {week}"), reward);
            let Some([pain, interference]) = scores else { continue };
            self.add(format!("{group}, pain {week}"), pain);
            self.add(format!("{group}, interference {week}"), interference);
            self.add(format!("{group}, pain² {week}"), pain * pain);
            self.add(format!("{group}, interference² {week}"), interference * interference);
            self.add(format!("{group}, pain·interference {week}"), pain * interference);
            self.add(format!("{call}, reward {week}"), reward);
            self.add(format!("{call}, reward·pain {week}"), reward * pain);
            self.add(format!("{call}, reward² {week}"), reward * reward);
            self.add(format!("pain at an end {week}"), f64::from(u8::from(pain <= 0.0 || pain >= 10.0)));
            let Some([next_pain, next_interference]) = at(week + 1).and_then(|row| row.scores) else { continue };
            self.add(format!("{call}, pain·next pain {week}"), pain * next_pain);
            self.add(format!("{call}, next pain {week}"), next_pain);
            self.add(format!("{call}, next interference {week}"), next_interference);
            self.add(format!("next pain·next interference {week}"), next_pain * next_interference);
            self.add(format!("interference·next interference {week}"), interference * next_interference);
            self.add(format!("reward·next pain {week}"), reward * next_pain);
        }
    }

    fn of(rows: &[WeeklyRow]) -> Self {
        let mut moments = Self::default();
        rows.chunk_by(|a, b| a.person == b.person).for_each(|rows| moments.person(rows));
        moments
    }
}

/// Standard errors that two programs of one law may be apart in any of some 535 moments: by chance once in 270 000 for each moment, so that a right
/// program fails with probability 0.002 at most. The seed is fixed.
const APART: f64 = 4.62;

#[test]
fn every_moment_is_that_of_another_program_of_the_same_equations() {
    let moments: Value = serde_json::from_str(include_str!("fixtures/weekly_calls/moments.json")).unwrap();
    let (people, weeks) = (moments["people"].as_u64().unwrap() as usize, moments["weeks"].as_u64().unwrap() as usize);
    let mut compared = 0;
    for (name, theirs) in moments["trials"].as_object().unwrap() {
        let ours = Moments::of(&trial(name).rows(people, weeks, 5));
        for (moment, numbers) in theirs.as_object().unwrap() {
            let numbers: Vec<f64> = numbers.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let [_, mean, standard_error] = numbers[..] else { panic!("{name}, {moment}") };
            let &(n, sum, squares) = ours.0.get(moment).unwrap_or_else(|| panic!("{name}: nobody has {moment}"));
            let own = ((squares / n - (sum / n).powi(2)).max(0.0) / n).sqrt();
            let apart = (sum / n - mean).abs();
            // Rounding of the record, where nothing varies.
            let allowed = (APART * own.hypot(standard_error)).max(1e-9);
            assert!(apart <= allowed, "{name}, {moment}: {} here, {mean} there, {apart} apart", sum / n);
            compared += 1;
        }
    }
    assert_eq!(compared, 535);
}

#[test]
fn one_seed_gives_one_record_whoever_else_is_in_it_and_another_seed_another() {
    let trial = WeeklyCalls { missed_weeks: true, ..WeeklyCalls::default() };
    let (few, many) = (trial.rows(20, 12, 3), trial.rows(50, 12, 3));
    assert_eq!(few[..], many[..few.len()]);
    assert_ne!(trial.rows(20, 12, 4), few);
}

#[test]
fn scores_are_recorded_on_their_scale() {
    for (scale, step) in [(ScoreScale::Integer, 1.0), (ScoreScale::Half, 0.5)] {
        for latent in [false, true] {
            let rows = WeeklyCalls { scale, latent, ..WeeklyCalls::default() }.rows(50, 8, 1);
            let scores = rows.iter().flat_map(|row| row.scores).flatten();
            assert!(scores.clone().all(|x| (0.0..=10.0).contains(&x) && (x / step).fract() == 0.0));
            assert!(scores.clone().any(|x| x == 0.0) && scores.clone().any(|x| x == 10.0), "ends are reached");
        }
    }
}
