//! One study, told honestly: its numbers are those of direct calls and of sums by hand, its tables and pictures are those of its numbers, and its
//! first line has its bound.

mod people;
mod shown;

use crate::folder::Folder;
use counterfair::audit::recorded::{Dropout, PolicyAlong, RecordedSettings, RecordedValues, recorded_values};
use counterfair::audit::{PanelDraws, probabilities_along};
use counterfair::fair::study::Study;
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{Sequential, batch};
use counterfair::report::study as report;
use people::{ACTIONS, DISCOUNT, FOLDS, LEVELS, REPLICATES, SEED, honest};
use rand::Rng;
use serde_json::Value;
use shown::{Picture, assert_estimate, assert_printed, rows};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::fs;

/// Sums in another order.
const ROUNDING: f64 = 1e-9;

#[track_caller]
fn assert_same(found: &Value, expected: f64, place: &str) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{place}: {found} is no number"));
    assert!((found - expected).abs() <= ROUNDING * (1.0 + expected.abs()), "{place}: {found}, by hand {expected}");
}

/// The people of each fold, by the documented rule: ⌊K·h⌋ of a hash h of seed and id.
fn folds(panel: &Panel) -> Vec<Vec<usize>> {
    let stream = Stream::new(SEED).named("study fold");
    let fold = |id: &String| ((u128::from(stream.named(id).rng().next_u64()) * FOLDS as u128) >> 64) as usize;
    (0..FOLDS).map(|f| (0..panel.people()).filter(|&i| fold(&panel.ids()[i]) == f).collect()).collect()
}

/// Each learned policy along the record: everybody by the policy that does not know them; and for Ours the states of all worlds.
fn along(panel: &Panel, study: &Study, which: usize) -> (Vec<f64>, Vec<f64>) {
    let (actions, width) = (ACTIONS.len(), LEVELS.len());
    let (mut probabilities, mut worlds) =
        (vec![0.0; panel.state_rows() * actions], vec![0.0; panel.state_rows() * width]);
    for (people, (count, policies)) in folds(panel).iter().zip(&study.judged) {
        assert_eq!(people.len(), *count);
        let held = panel.select(people);
        let policy = &policies[which];
        assert_eq!(policy.manifest.transitions, panel.transitions() - held.transitions(), "learned from all others");
        let draws = PanelDraws::draw(&held, Stream::new(1));
        let found = probabilities_along(&held, &*policy.agent(), &draws.coins).unwrap();
        let views = policy.mechanism.as_ref().map(|mechanism| {
            batch(&Sequential::new(mechanism, policy.level_weights.clone()), &held).unwrap().views().to_vec()
        });
        for (place, &i) in people.iter().enumerate() {
            let (from, to) = (held.states_of(place), panel.states_of(i));
            probabilities[to.start * actions..to.end * actions]
                .copy_from_slice(&found[from.start * actions..from.end * actions]);
            if let Some(views) = &views {
                worlds[to.start * width..to.end * width].copy_from_slice(&views[from.start * width..from.end * width]);
            }
        }
    }
    (probabilities, worlds)
}

fn constant(panel: &Panel, of: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..panel.state_rows() * ACTIONS.len()).map(|at| of(at % ACTIONS.len())).collect()
}

/// Values of all policies, asked of the library directly.
fn values(panel: &Panel, learned: &[(Vec<f64>, Vec<f64>); 3]) -> RecordedValues {
    let random = constant(panel, |_| 1.0 / ACTIONS.len() as f64);
    let always: Vec<Vec<f64>> =
        (0..ACTIONS.len()).map(|action| constant(panel, |a| f64::from(u8::from(a == action)))).collect();
    let names: Vec<String> = ACTIONS.iter().map(|action| format!("{action} for everybody")).collect();
    let mut policies: Vec<PolicyAlong<'_>> = ["Ours", "Full", "Unaware"]
        .iter()
        .zip(learned)
        .map(|(name, (probabilities, worlds))| PolicyAlong {
            name,
            probabilities,
            worlds: (*name == "Ours").then_some(worlds.as_slice()),
        })
        .collect();
    policies.push(PolicyAlong { name: "Random", probabilities: &random, worlds: None });
    for (name, probabilities) in names.iter().zip(&always) {
        policies.push(PolicyAlong { name, probabilities, worlds: None });
    }
    let settings =
        RecordedSettings { discount: DISCOUNT, replicates: REPLICATES, seed: SEED, ..RecordedSettings::default() };
    recorded_values(panel, &policies, &settings).unwrap()
}

fn discounted(rewards: &[f64]) -> f64 {
    rewards.iter().rev().fold(0.0, |later, r| r + DISCOUNT * later)
}

/// Mean discounted sums by hand, of everybody or of one level.
fn received(panel: &Panel, level: Option<u32>) -> f64 {
    let own: Vec<f64> =
        panel.iter().filter(|p| level.is_none_or(|z| p.level == z)).map(|p| discounted(p.rewards)).collect();
    own.iter().sum::<f64>() / own.len() as f64
}

/// Every interval of a value is 97.5 % quantiles of Student's law away from its estimate.
fn assert_95(number: &Value, people: usize, place: &str) {
    let (Some(mean), Some(error)) = (number["mean"].as_f64(), number["standard_error"].as_f64()) else { return };
    let half = StudentsT::new(0.0, 1.0, (people - 1) as f64).unwrap().inverse_cdf(0.975) * error;
    assert_same(&number["interval"][0], mean - half, place);
    assert_same(&number["interval"][1], mean + half, place);
}

/// Holm's correction by hand: the k-th smallest of m times m − k + 1, and never below the one before.
fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let (mut corrected, mut least) = (vec![0.0; p.len()], 0.0f64);
    for (k, &i) in order.iter().enumerate() {
        least = least.max(((p.len() - k) as f64 * p[i]).min(1.0));
        corrected[i] = least;
    }
    corrected
}

/// Shares of an action among those of a level who decide at a time, by hand.
fn share_at(panel: &Panel, along: &[f64], level: usize, action: usize, time: Option<usize>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for i in (0..panel.people()).filter(|&i| panel.level_codes()[i] as usize == level) {
        for t in (0..panel.decisions_of(i).len()).filter(|t| time.is_none_or(|at| at == *t)) {
            sum += along[(panel.states_of(i).start + t) * ACTIONS.len() + action];
            count += 1.0;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// What was received, as probabilities.
fn recorded(panel: &Panel) -> Vec<f64> {
    let mut along = vec![0.0; panel.state_rows() * ACTIONS.len()];
    for i in 0..panel.people() {
        for (t, action) in panel.person(i).actions.iter().enumerate() {
            along[(panel.states_of(i).start + t) * ACTIONS.len() + *action as usize] = 1.0;
        }
    }
    along
}

fn row<'v>(found: &'v Value, name: &str) -> &'v Value {
    let rows = found["policies"]["rows"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("no policy {name}"))
}

#[test]
fn a_study_tells_what_direct_calls_and_sums_by_hand_tell() {
    let (panel, study) = honest();
    let found = report::json(study, "", &[]);
    let learned = [0, 1, 2].map(|which| along(panel, study, which));
    let values = values(panel, &learned);

    // What people received, by hand.
    assert_same(&found["policies"]["received"]["mean"], received(panel, None), "received");
    for (z, level) in LEVELS.iter().enumerate() {
        let of_level = &found["policies"]["received_by_level"][z]["mean"];
        assert_same(of_level, received(panel, Some(z as u32)), &format!("received by {level}"));
    }
    assert!(values.received.replicates.windows(2).all(|pair| pair[0] != pair[1]));
    let mut resampled = values.received.replicates.clone();
    resampled.sort_by(f64::total_cmp);
    resampled.dedup();
    assert_eq!(resampled.len(), REPLICATES, "every resample is one of its own");

    // Values, differences and weights, by a direct call.
    let (low, high) = values.allowed;
    for direct in &values.policies {
        let name = &direct.name;
        let row = row(&found, name);
        let minus = direct.value.minus(&values.received);
        for (what, number) in [("value", &direct.value), ("minus_received", &minus)] {
            assert_same(&row[what]["mean"], number.mean, &format!("{what} of {name}"));
            assert_same(&row[what]["standard_error"], number.standard_error, &format!("error of {what} of {name}"));
            assert_95(&row[what], panel.people(), &format!("{what} of {name}"));
        }
        assert!(low < direct.value.mean && direct.value.mean < high, "{name}");
        assert_same(&row["p_value"], minus.p_value(), &format!("p of {name}"));
        let effective = &direct.weights.effective_people;
        assert_same(&row["effective_people"], effective[effective.len() - 1], &format!("effective people of {name}"));
        assert!(effective[0] != effective[effective.len() - 1] || name == "Random", "{name}");
        assert_same(&row["unsupported"], direct.weights.unsupported, &format!("support of {name}"));
        assert_same(&row["held"], direct.held, &format!("held of {name}"));
        for (z, by_level) in direct.by_level.iter().enumerate() {
            let expected = by_level.as_ref().unwrap();
            assert_same(&row["by_level"][z]["mean"], expected.mean, &format!("{name} at {z}"));
        }
        match &direct.doubly_robust {
            Ok(estimate) => assert_same(&row["doubly_robust"]["mean"], estimate.mean, &format!("weighted {name}")),
            Err(_) => assert!(row["doubly_robust"].is_null(), "{name}"),
        }
    }
    let p: Vec<f64> =
        found["policies"]["rows"].as_array().unwrap().iter().map(|row| row["p_value"].as_f64().unwrap()).collect();
    for (row, expected) in found["policies"]["rows"].as_array().unwrap().iter().zip(holm(&p)) {
        assert_same(&row["p_holm"], expected, &format!("Holm's p of {}", row["name"]));
    }

    // Mixtures lie where their weights say, and their unfairness is no more than that share of both.
    for ours in [25, 50, 75] {
        let mixture = row(&found, &format!("{ours} % Ours, {} % Full", 100 - ours));
        let weight = f64::from(ours) / 100.0;
        let mean = |name: &str, what: &str| row(&found, name)[what]["mean"].as_f64().unwrap();
        let between = |what: &str| weight * mean("Ours", what) + (1.0 - weight) * mean("Full", what);
        assert_same(&mixture["value"]["mean"], between("value"), "mixture");
        assert_same(&mixture["gained_by_unfairness"]["mean"], between("gained_by_unfairness"), "gain of a mixture");
        let metric = mixture["cf_metric"]["mean"].as_f64().unwrap();
        let most = between("cf_metric");
        assert!(metric <= most + ROUNDING && metric >= 0.8 * most, "{ours} %: {metric} and {most}");
    }
    let metric = |name: &str| row(&found, name)["cf_metric"]["mean"].as_f64().unwrap();
    assert!(metric("Ours") < 0.5 * metric("Full"), "else mixtures could be swapped unseen");

    // Levels are compared with the first one, and in this direction.
    let of_rule = |rule: &str| -> &Value {
        let gaps = found["policies"]["level_gaps"].as_array().unwrap();
        &gaps.iter().find(|gap| gap[0] == rule).unwrap()[1]
    };
    for z in 1..LEVELS.len() {
        let expected = received(panel, Some(z as u32)) - received(panel, Some(0));
        assert_same(&of_rule("received")[z - 1]["mean"], expected, "received, between levels");
        for name in ["Ours", "Full", "Unaware"] {
            let by_level = &row(&found, name)["by_level"];
            let expected = by_level[z]["mean"].as_f64().unwrap() - by_level[0]["mean"].as_f64().unwrap();
            assert_same(&of_rule(name)[z - 1]["mean"], expected, name);
        }
    }

    // Who receives what, at which decision.
    let rules = [
        ("received", recorded(panel)),
        ("Ours", learned[0].0.clone()),
        ("Full", learned[1].0.clone()),
        ("Unaware", learned[2].0.clone()),
    ];
    for (rule, along) in &rules {
        for (a, action) in ACTIONS.iter().enumerate() {
            let is = |entry: &&Value| entry["rule"] == *rule && entry["action"] == *action;
            let measure = found["treated"]["measures"].as_array().unwrap().iter().find(is).unwrap();
            let shares: Vec<f64> = (0..LEVELS.len()).map(|z| share_at(panel, along, z, a, None).unwrap()).collect();
            for (z, share) in shares.iter().enumerate() {
                assert_same(&measure["by_level"][z]["mean"], *share, &format!("{rule} {action} {z}"));
            }
            let (least, most) = shares.iter().fold((1.0f64, 0.0f64), |(l, m), p| (l.min(*p), m.max(*p)));
            assert_same(&measure["difference"]["mean"], most - least, &format!("difference of {rule} {action}"));
            assert_same(&measure["ratio"]["mean"], if most > 0.0 { least / most } else { 1.0 }, rule);
            let Some(over_time) = found["treated"]["over_time"].as_array().unwrap().iter().find(is) else { continue };
            for z in 0..LEVELS.len() {
                for t in 0..panel.horizon() {
                    let expected = share_at(panel, along, z, a, Some(t));
                    let place = format!("{rule} {action} {z} at {t}");
                    expected.iter().for_each(|share| assert_same(&over_time["shares"][z][t], *share, &place));
                    if *rule == "received" {
                        expected.iter().for_each(|s| assert_same(&found["data"]["over_time"][z][a][t], *s, &place));
                    }
                }
            }
        }
    }

    // What would change, and of whom.
    let (ours, changes) = (&learned[0].0, &found["treated"]["changes"]);
    let did = recorded(panel);
    let at = |along: &[f64], row: usize| (0..3).find(|a| along[3 * row + a] == 1.0).unwrap();
    let mut counts = [[0.0; 3]; 3];
    for (z, level) in LEVELS.iter().enumerate() {
        let (mut people, mut changed, mut decisions, mut others) = (0, 0, 0, 0);
        for i in (0..panel.people()).filter(|&i| panel.level_codes()[i] as usize == z) {
            let rows: Vec<usize> = panel.states_of(i).take(panel.decisions_of(i).len()).collect();
            let differ = rows.iter().filter(|row| at(&did, **row) != at(ours, **row)).count();
            rows.iter().for_each(|row| counts[at(&did, *row)][at(ours, *row)] += 1.0);
            (people, changed) = (people + 1, changed + usize::from(differ > 0));
            (decisions, others) = (decisions + rows.len(), others + differ);
        }
        let told = &changes["by_level"][z];
        assert_eq!((told["level"].as_str(), told["people"].as_u64()), (Some(*level), Some(people)));
        assert_eq!(told["decisions"].as_u64(), Some(decisions as u64));
        assert_same(&told["people_changed"], changed as f64, "people with a change");
        assert_same(&told["decisions_changed"], others as f64, "decisions with a change");
    }
    for (received, counts) in counts.iter().enumerate() {
        counts.iter().enumerate().for_each(|(a, n)| assert_same(&changes["decisions"][received][a], *n, "changes"));
    }
    let sums: Vec<f64> = panel.iter().map(|person| discounted(person.rewards)).collect();
    let mean = sums.iter().sum::<f64>() / sums.len() as f64;
    let squares: f64 = sums.iter().map(|x| (x - mean) * (x - mean)).sum();
    assert_same(&found["policies"]["received_sd"], (squares / (sums.len() - 1) as f64).sqrt(), "between people");
    let own = panel.iter().map(|person| discounted(&vec![1.0; person.rewards.len()]));
    assert_same(&found["policies"]["discounted_decisions"], own.sum::<f64>() / sums.len() as f64, "decisions");

    // Counterfactual states of others where nobody of a level was seen.
    let mechanism = study.policy.as_ref().and_then(|policy| policy.mechanism.as_ref()).expect("a policy that is fit");
    let weights = study.policy.as_ref().unwrap().level_weights.clone();
    let everybody = batch(&Sequential::new(mechanism, weights), panel).unwrap();
    for z in 0..LEVELS.len() {
        let own = |i: usize| panel.level_codes()[i] as usize == z;
        let states = |i: usize| panel.person(i).states;
        let seen: Vec<f64> = (0..panel.people()).filter(|&i| own(i)).flat_map(|i| states(i).to_vec()).collect();
        let (low, high) = seen.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), s| (l.min(*s), h.max(*s)));
        let others = (0..panel.people()).filter(|&i| !own(i)).flat_map(|i| panel.states_of(i));
        let outside = others.filter(|row| !(low..=high).contains(&everybody.views()[row * LEVELS.len() + z])).count();
        let support = &found["believe"]["support"][z];
        assert_eq!((support["level"].as_str(), support["outside"].as_u64()), (Some(LEVELS[z]), Some(outside as u64)));
    }
}

/// Three quarters of one level leave after the first decision. What everybody would have received counts those who stayed for those who left,
/// from the second decision on and not from a third.
#[test]
fn who_left_is_weighted_for_from_the_next_decision_on() {
    let mut builder = PanelBuilder::new(Labels::new(["f", "m"]), Labels::new(["off", "on"]), 1).unwrap();
    for i in 0..400usize {
        let level = (i % 2) as u32;
        let decisions = if level == 1 && i % 8 != 1 { 1 } else { 2 };
        let wave = |k: usize| (1.7 * (9 * i + k) as f64).sin();
        let states: Vec<f64> = (0..=decisions).map(wave).collect();
        let actions: Vec<u32> = (0..decisions).map(|t| u32::from(wave(20 + t) > 0.0)).collect();
        // Only the second decision is rewarded, and more at the level that leaves.
        let rewards: Vec<f64> = (0..decisions).map(|t| t as f64 * (1.0 + 4.0 * f64::from(level))).collect();
        let id = format!("{i:03}");
        builder.push(Person { id: &id, level, states: &states, actions: &actions, rewards: &rewards }).unwrap();
    }
    let settings = RecordedSettings {
        discount: 1.0,
        replicates: 2,
        dropout: Dropout::Weighted { horizon: None },
        ..RecordedSettings::default()
    };
    let weighted = recorded_values(&builder.finish(), &[], &settings).unwrap().received.mean;
    // Half are of each level: (1 + 5)/2. Of those who stayed a fifth are of the second: 1.8.
    assert!((weighted - 3.0).abs() < 0.1, "{weighted}");
}

#[test]
fn every_decision_has_a_draw_of_its_own() {
    let panel = people::panel();
    let draws = PanelDraws::draw(&panel, Stream::new(3));
    let distinct = |numbers: &[f64]| {
        let mut sorted = numbers.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|pair| pair[0] < pair[1])
    };
    assert_eq!((draws.uniforms.len(), draws.coins.len()), (panel.decisions(), panel.people()));
    assert!(distinct(&draws.uniforms) && distinct(&draws.coins));
}

/// The folder that the page is written to, and the study as the file beside it has it.
fn written(study: &Study) -> (Folder, Value) {
    let folder = Folder::new("study honest");
    report::write(study, "counterfair study", &folder.0.join("out"), false).unwrap();
    let text = fs::read_to_string(folder.0.join("out/study.json")).unwrap();
    (folder, serde_json::from_str(&text).unwrap())
}

#[test]
fn a_page_its_tables_and_its_pictures_show_the_numbers_of_the_file() {
    let (panel, study) = honest();
    let (folder, found) = written(study);
    let file = |name: &str| fs::read_to_string(folder.0.join("out").join(name)).unwrap();
    let table = |name: &str| rows(&file(name));
    let policies = &found["policies"];

    // The first line.
    let ours = row(&found, "Ours");
    let (mean, upper) = (ours["cf_metric"]["mean"].as_f64().unwrap(), ours["cf_metric"]["upper"].as_f64().unwrap());
    assert!(
        mean + 0.005 < upper && upper < ours["cf_metric"]["interval"][1].as_f64().unwrap(),
        "a bound apart from the rest"
    );
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("A fair policy would be worth"), "{sentence}");
    let words =
        |before: &str, after: &str| sentence.split(before).nth(1).unwrap().split(after).next().unwrap().to_string();
    assert_printed(words("unfairness at most ", ".\n").trim_end_matches('.'), upper, "the first line");
    assert_printed(
        &words("would be worth ", " more"),
        ours["minus_received"]["mean"].as_f64().unwrap(),
        "the first line",
    );
    let (low, high) = (words("interval ", " to "), words(" to ", ";"));
    assert_printed(&low, ours["minus_received"]["interval"][0].as_f64().unwrap(), "the first line");
    assert_printed(&high, ours["minus_received"]["interval"][1].as_f64().unwrap(), "the first line");
    let page = file("index.html");
    assert!(page.contains(&format!("<h1>{sentence}</h1>")), "the page's first line");

    // Tables.
    let dash = |cell: &str, number: &Value, place: &str| match number.as_f64() {
        Some(number) => assert_printed(cell, number, place),
        None => assert_eq!(cell, "–", "{place}"),
    };
    let of_json = policies["rows"].as_array().unwrap();
    let values = table("4-values.csv");
    assert_eq!(values[0], ["policy", "value", "minus received", "p"]);
    assert_estimate(&values[1][1], &policies["received"], "received");
    assert_eq!(values.len(), 2 + of_json.len());
    for (cells, row) in values[2..].iter().zip(of_json) {
        let name = row["name"].as_str().unwrap();
        assert_eq!(cells[0], name);
        assert_estimate(&cells[1], &row["value"], name);
        assert_estimate(&cells[2], &row["minus_received"], name);
        match cells[3].strip_prefix("< ") {
            Some(_) => assert!(row["p_holm"].as_f64().unwrap() < 0.001, "{name}"),
            None => assert_printed(&cells[3], row["p_holm"].as_f64().unwrap(), name),
        }
    }
    let unfairness = table("4-unfairness.csv");
    assert_eq!(unfairness[0], ["policy", "CF metric", "95 % interval", "at most", "parity gap", "95 % interval"]);
    let ends = |cell: &str, interval: &Value, place: &str| {
        if cell == "exactly" {
            return assert!(interval[0] == 0.0 && interval[1] == 0.0, "{place}");
        }
        let Some((low, high)) = cell.split_once(" to ") else {
            return assert!(interval.is_null() && cell == "–", "{place}");
        };
        assert_printed(low, interval[0].as_f64().unwrap(), place);
        assert_printed(high, interval[1].as_f64().unwrap(), place);
    };
    for (cells, row) in unfairness[2..].iter().zip(of_json) {
        let name = row["name"].as_str().unwrap();
        assert_eq!(cells[0], name);
        let (metric, gap) = (&row["cf_metric"], &row["parity_gap"]);
        dash(&cells[1], &metric["mean"], name);
        ends(&cells[2], &metric["interval"], name);
        dash(&cells[3], &metric["upper"], &format!("at most, {name}"));
        dash(&cells[4], &gap["estimate"], name);
        ends(&cells[5], &gap["interval"], name);
    }
    for (cells, row) in
        table("4-fair-value.csv")[1..].iter().zip(of_json.iter().filter(|row| !row["fair_value"].is_null()))
    {
        let name = row["name"].as_str().unwrap();
        assert_eq!(cells[0], name);
        assert_estimate(&cells[1], &row["fair_value"], name);
        if cells[2] == "0, exactly" {
            assert_eq!(row["gained_by_unfairness"]["mean"], 0.0, "{name}");
        } else {
            assert_estimate(&cells[2], &row["gained_by_unfairness"], name);
        }
    }
    let percent = |cell: &str, number: f64, place: &str| match cell {
        "below 0.1 %" => assert!(0.0 < number && number < 0.001, "{place}"),
        cell => assert_printed(cell.trim_end_matches(" %"), 100.0 * number, place),
    };
    for (cells, row) in
        table("4-support.csv")[1..].iter().zip(of_json.iter().filter(|row| !row["unsupported"].is_null()))
    {
        let name = row["name"].as_str().unwrap();
        assert_eq!((cells[0].as_str(), cells[1].as_str()), (name, row["meaning"].as_str().unwrap()));
        percent(&cells[2], row["unsupported"].as_f64().unwrap(), name);
        dash(&cells[3], &row["effective_people"], name);
        percent(&cells[4], row["held"].as_f64().unwrap(), name);
        assert_estimate(&cells[5], &row["doubly_robust"], name);
    }
    let groups = table("5-groups.csv");
    assert_eq!(groups[0], ["rule", "action", LEVELS[0], LEVELS[1], LEVELS[2], "difference", "ratio"]);
    for (cells, measure) in groups[1..].iter().zip(found["treated"]["measures"].as_array().unwrap()) {
        let place = format!("{} {}", measure["rule"], measure["action"]);
        assert_eq!(
            (cells[0].as_str(), cells[1].as_str()),
            (measure["rule"].as_str().unwrap(), measure["action"].as_str().unwrap())
        );
        (0..3).for_each(|z| assert_estimate(&cells[2 + z], &measure["by_level"][z], &place));
        assert_estimate(&cells[5], &measure["difference"], &format!("difference, {place}"));
        assert_estimate(&cells[6], &measure["ratio"], &format!("ratio, {place}"));
    }
    for cells in &table("5-value-by-level.csv")[1..] {
        let rule = cells[0].as_str();
        let by_level = if rule == "received" { &policies["received_by_level"] } else { &row(&found, rule)["by_level"] };
        (0..3).for_each(|z| assert_estimate(&cells[1 + z], &by_level[z], rule));
        let gaps = &policies["level_gaps"].as_array().unwrap().iter().find(|gap| gap[0] == rule).unwrap()[1];
        (0..2).for_each(|z| assert_estimate(&cells[4 + z], &gaps[z], &format!("between levels, {rule}")));
    }
    for (cells, level) in table("3-support.csv")[1..].iter().zip(found["believe"]["support"].as_array().unwrap()) {
        assert_eq!(cells[0], level["level"].as_str().unwrap());
        assert_eq!(cells[2], level["outside"].to_string());
    }
    for (z, cells) in table("2-overlap.csv")[1..].iter().enumerate() {
        for (a, cell) in cells[1..].iter().enumerate() {
            assert!(cell.starts_with(&format!("{} (", found["data"]["taken"][z][a])), "{cell}");
        }
    }
    let changes = &found["treated"]["changes"];
    for (received, cells) in table("5-changes.csv")[1..].iter().enumerate() {
        assert_eq!(cells[0], ACTIONS[received]);
        for (a, cell) in cells[1..].iter().enumerate() {
            assert_printed(cell.split(' ').next().unwrap(), changes["decisions"][received][a].as_f64().unwrap(), cell);
        }
    }
    for (z, cells) in table("5-who-changes.csv")[1..].iter().enumerate() {
        let told = &changes["by_level"][z];
        assert_eq!(cells[0], LEVELS[z]);
        for (cell, name) in [(1, "people"), (2, "people_changed"), (4, "decisions"), (5, "decisions_changed")] {
            assert_printed(&cells[cell], told[name].as_f64().unwrap(), name);
        }
    }
    let unit = |name: &str| policies[name].as_f64().unwrap();
    let minus = ours["minus_received"]["mean"].as_f64().unwrap();
    let after = |before: &str| page.split(before).nth(1).unwrap().split(' ').next().unwrap().to_string();
    assert_printed(&after("what people received is "), minus / unit("discounted_decisions"), "per decision");
    assert_printed(&after("per decision, or "), minus / unit("received_sd"), "in standard deviations");
    // Every table stands on the page, cell by cell.
    for name in [
        "4-values",
        "4-unfairness",
        "4-support",
        "5-changes",
        "5-who-changes",
        "5-groups",
        "5-value-by-level",
        "3-support",
    ] {
        for cell in table(&format!("{name}.csv")).iter().flatten() {
            assert!(page.contains(&format!(">{}<", cell.replace('&', "&amp;").replace('<', "&lt;"))), "{name}: {cell}");
        }
    }

    // Pictures.
    let picture = |name: &str| Picture::of(&file(name));
    for row in of_json {
        let name = row["name"].as_str().unwrap();
        picture("4-differences.svg").assert_row(name, &row["minus_received"]);
        picture("4-unfairness.svg").assert_row(name, &row["cf_metric"]);
    }
    for measure in found["treated"]["measures"].as_array().unwrap() {
        let name = format!("{}: {}", measure["rule"].as_str().unwrap(), measure["action"].as_str().unwrap());
        picture("5-parity.svg").assert_row(&name, &measure["difference"]);
    }
    let drawn = |name: &str, shares: &dyn Fn(usize, usize) -> Value| {
        let picture = picture(name);
        let action = ACTIONS.iter().position(|action| picture.title().ends_with(action));
        let action = action.unwrap_or_else(|| panic!("{name}: {} names no action", picture.title()));
        for (z, level) in LEVELS.iter().enumerate() {
            let own: Vec<Option<f64>> = shares(z, action).as_array().unwrap().iter().map(Value::as_f64).collect();
            picture.assert_line(&own, &format!("{name}, {level}"));
        }
    };
    let over_time = |rule: &'static str| {
        let entries = found["treated"]["over_time"].as_array().unwrap();
        move |z: usize, a: usize| -> Value {
            let entry = entries.iter().find(|entry| entry["rule"] == rule && entry["action"] == ACTIONS[a]).unwrap();
            entry["shares"][z].clone()
        }
    };
    for panel in 1..=ACTIONS.len() {
        drawn(&format!("2-actions-{panel}.svg"), &|z, a| found["data"]["over_time"][z][a].clone());
        drawn(&format!("5-ours-{panel}.svg"), &over_time("Ours"));
    }
    let titles: Vec<String> = (1..=3).map(|i| picture(&format!("5-ours-{i}.svg")).title().to_string()).collect();
    assert_eq!(titles, ACTIONS.map(|action| format!("Ours gives {action}")), "one panel each");
    assert_eq!(panel.people() as u64, found["data"]["people"].as_u64().unwrap());
}

/// Options of the command reach the study.
#[test]
fn options_of_the_command_are_those_of_the_study() {
    let panel = people::panel();
    let folder = Folder::new("study honest options");
    let columns = counterfair::files::Columns::default();
    let rows = counterfair::files::RowConvention::Incoming;
    counterfair::files::write(&folder.0.join("people.csv"), &panel, &columns, rows).unwrap();
    let numbers = [DISCOUNT.to_string(), SEED.to_string(), FOLDS.to_string(), REPLICATES.to_string()];
    let options = ["--discount", "--seed", "--folds", "--replicates"];
    let options = options.iter().zip(&numbers).flat_map(|(option, number)| [*option, number]);
    let study = ["study", "--data", "people.csv", "--out", "out", "--model", "linear", "--noise", "additive"];
    let as_recorded = ["--dropout", "as-recorded"];
    folder.succeed(&study.into_iter().chain(as_recorded).chain(options).collect::<Vec<_>>());
    let found: Value = serde_json::from_str(&fs::read_to_string(folder.0.join("out/study.json")).unwrap()).unwrap();
    let done = &found["done"];
    assert_eq!((done["seed"].as_u64(), done["folds"].as_u64()), (Some(SEED), Some(FOLDS as u64)));
    assert_eq!((&done["replicates"][0], &done["discount"]), (&REPLICATES.into(), &DISCOUNT.into()));
    // And are used: the discounted sum of what was received is theirs, and so are the folds.
    assert_same(&found["policies"]["received"]["mean"], received(&panel, None), "received");
    let sizes: Vec<usize> = folds(&panel).iter().map(Vec::len).collect();
    assert_eq!(done["fold_sizes"], serde_json::to_value(sizes).unwrap());
}
