//! What the front door tells beside a policy: each warning of learning with its cause and not without, and rates by level.

use counterfair::estimate::Basis;
use counterfair::fair::{AuditSettings, Error, Learned, ValueClass};
use counterfair::kernel::learn::Settings;
use counterfair::kernel::people::{Labels, PanelBuilder, Person};
use counterfair::notebook::prelude::*;

/// 240 people with two decisions each: see [`some`].
fn people(levels: u32, action: impl Fn(u32, u32) -> u32, second: impl Fn(f64, f64) -> f64) -> People {
    some(240, levels, action, second)
}

/// People with two decisions each. A level's best action earns 1 more: the last of `levels` wants action 1, all others 0. `action` says who
/// receives what, and `second` what stands beside the one state that matters.
fn some(people: u32, levels: u32, action: impl Fn(u32, u32) -> u32, second: impl Fn(f64, f64) -> f64) -> People {
    let mut builder = PanelBuilder::new(Labels::numbered(levels as usize), Labels::numbered(2), 2).unwrap();
    for i in 0..people {
        let wave = |k: u32| (1.7 * f64::from(7 * i + k)).sin();
        let level = i % levels;
        let states: Vec<f64> = (0..3).flat_map(|t| [wave(t), second(wave(t), wave(t + 50))]).collect();
        let actions = [action(i, 0), action(i, 1)];
        let wanted = u32::from(level == levels - 1);
        let reward = |t: usize| f64::from(u8::from(actions[t] == wanted)) + 0.1 * wave(90 + t as u32);
        let person =
            Person { id: &i.to_string(), level, states: &states, actions: &actions, rewards: &[reward(0), reward(1)] };
        builder.push(person).unwrap();
    }
    People::from(builder.finish())
}

fn by_turns(i: u32, t: u32) -> u32 {
    (i / 6 + t) % 2
}

fn other(_: f64, other: f64) -> f64 {
    other
}

fn plain(method: Method) -> Learner {
    let mut learner = Learner { replicates: 0, splits: 0, ..Learner::new(method) };
    learner.preprocessing.mechanism.basis = Basis::Linear;
    learner
}

/// The same with action values by plain least squares, linear in what is read, for each action.
fn linear(method: Method) -> Learner {
    let values = ValueClass::Polynomial { degree: 1, iteration: Settings::default() };
    Learner { values, ..plain(method) }
}

fn learned(learner: &Learner, people: &People) -> Learned {
    learner.learn_watched(people, &mut |_| {}).unwrap()
}

#[track_caller]
fn tells(learner: &Learner, people: &People, part: &str, expected: bool) {
    let warnings = learned(learner, people).warnings;
    assert_eq!(warnings.iter().any(|line| line.contains(part)), expected, "{part}: {warnings:?}");
}

#[test]
fn learning_tells_about_mechanism_outcome_stability_and_certificate_and_only_with_cause() {
    let usual = people(2, by_turns, other);
    // Nobody of level 1 receives action 1.
    let withheld = people(2, |i, t| if i % 2 == 1 { 0 } else { by_turns(i, t) }, other);
    for (people, expected) in [(&usual, false), (&withheld, true)] {
        tells(&plain(Method::Ours), people, "nobody in group 1 ever received action 1", expected);
    }
    // A state twice: plain least squares does not determine its weights.
    let twice = people(2, by_turns, |first, _| first);
    for (people, expected) in [(&usual, false), (&twice, true)] {
        tells(&linear(Method::Unaware), people, "the data determine 2 of 3 weights", expected);
    }
    // To a policy that does not know the level no action is better than the other; to one that does it is.
    for (method, expected) in [(Method::Full, false), (Method::Unaware, true)] {
        tells(&Learner { splits: 3, ..linear(method) }, &usual, "refits on half of the people", expected);
    }
    // Nets are not refitted.
    let mut net = Learner { replicates: 10, ..plain(Method::Unaware) };
    tells(&net, &usual, "no certificate", false);
    net.preprocessing.mechanism.basis = Basis::Neural;
    tells(&net, &usual, "no certificate of unfairness is kept: a net", true);
}

#[test]
fn a_policy_that_reads_the_level_tells_three_levels_apart_and_names_its_seed() {
    let people = people(3, by_turns, other);
    let learner = Learner { seed: 17, ..linear(Method::Full) };
    let policy = learner.learn(&people).unwrap();
    assert_eq!(policy.manifest.seed, 17);
    let audit = policy.audit(&people, &[], &AuditSettings::default(), &mut |_| {}).unwrap();
    let shares: Vec<f64> = audit.rates.iter().map(|rates| rates[1].expect("somebody").mean).collect();
    assert!(shares[0] < 0.05 && shares[1] < 0.05 && shares[2] > 0.95, "{shares:?}");
}

#[test]
fn rates_are_those_of_each_level() {
    let people = people(2, by_turns, other);
    let policy = linear(Method::Full).learn(&people).unwrap();
    let audit = policy.audit(&people, &[], &AuditSettings::default(), &mut |_| {}).unwrap();
    let shares: Vec<f64> = audit.rates.iter().map(|rates| rates[1].expect("somebody").mean).collect();
    assert!(shares[0] < 0.05 && shares[1] > 0.95, "{shares:?}");
}

#[test]
fn an_audit_tells_of_own_people_and_of_few_and_only_with_cause() {
    let own = people(2, by_turns, other);
    let policy = Learner { replicates: 5, ..linear(Method::Ours) }.learn(&own).unwrap();
    let told = |people: &People| {
        let settings = AuditSettings { replicates: 5, ..AuditSettings::default() };
        let warnings = policy.audit(people, &[], &settings, &mut |_| {}).unwrap().warnings;
        ["learned from these very people", "with so few"].map(|part| warnings.iter().any(|line| line.contains(part)))
    };
    let others = |n| some(n, 2, |i, t| by_turns(i + 3, t), other);
    assert_eq!(told(&own), [true, false]);
    assert_eq!(told(&others(240)), [false, false]);
    assert_eq!(told(&others(120)), [false, true]);
}

#[test]
fn the_seed_says_who_is_drawn_again_for_the_certificate() {
    let people = people(2, by_turns, other);
    let certificate = |seed| {
        let policy = Learner { replicates: 5, seed, ..linear(Method::Ours) }.learn(&people).unwrap();
        serde_json::to_value(&policy).unwrap()["certificate"].clone()
    };
    assert!(certificate(1).is_object());
    assert_eq!(certificate(1), certificate(1));
    assert_ne!(certificate(1), certificate(9));
}

#[test]
fn policies_about_other_people_are_not_compared() {
    let (two, three) = (people(2, by_turns, other), people(3, by_turns, other));
    let [judged, stranger] = [&two, &three].map(|people| linear(Method::Unaware).learn(people).unwrap());
    let refused = judged.audit(&two, &[("stranger", &stranger)], &AuditSettings::default(), &mut |_| {});
    assert!(matches!(refused, Err(Error::OtherPeople { name }) if name == "stranger"));
}
