use super::*;
use crate::estimate::{Basis, FitSettings, Pooling, fit};
use crate::fair::Features;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Panel, PanelBuilder, Person};
use crate::kernel::preprocess::batch;
use crate::nets::{NeuralSettings, neural_fitted_q_iteration};

/// People without noise, at levels f and m, from (1, −½) and (3, ¼) and around, one decision each:
///
/// ```text
/// s′ = (s₁/2 + s₂/4 + (0, 1, −2)ₐ + z,  (½, 0, 1)ₐ − s₂/2 − ¾ z s₁)
/// ```
fn panel() -> Panel {
    let (levels, actions) = (Labels::new(["f", "m"]), Labels::new(["high", "low", "none"]));
    let mut builder = PanelBuilder::new(levels, actions, 2).unwrap();
    for (z, m) in [[1.0, -0.5], [3.0, 0.25]].iter().enumerate() {
        for (i, e) in [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [-1.0, -1.0]].iter().enumerate() {
            for a in 0..3 {
                let (s, level) = ([m[0] + e[0], m[1] + e[1]], z as f64);
                let next = [
                    s[0] / 2.0 + s[1] / 4.0 + [0.0, 1.0, -2.0][a] + level,
                    [0.5, 0.0, 1.0][a] - s[1] / 2.0 - 0.75 * level * s[0],
                ];
                let (id, states) = (format!("{z} {i} {a}"), [s, next].concat());
                let person =
                    Person { id: &id, level: z as u32, states: &states, actions: &[a as u32], rewards: &[s[0]] };
                builder.push(person).unwrap();
            }
        }
    }
    builder.finish()
}

/// Values linear in what each method shows: of `high` a first coordinate, of `low` a second, of `none` ¾.
pub(in crate::fair) fn policy(method: Method) -> Policy {
    let panel = panel();
    let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
    let (width, high, low): (usize, &[f64], &[f64]) = match method {
        // The first coordinate in the world of f, the second in that of m.
        Method::Ours => (4, &[0.0, 1.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 0.0, 0.0, 1.0]),
        Method::Full => (3, &[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 2.0]),
        Method::Unaware => (2, &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]),
    };
    let mut weights = [high, low, &vec![0.0; width + 1]].concat();
    weights[2 * (width + 1)] = 0.75;
    Policy::new(Parts {
        method,
        levels: panel.levels().clone(),
        actions: panel.action_names().clone(),
        state_dim: 2,
        columns: Columns::default(),
        rows: RowConvention::Outgoing,
        level_weights: vec![0.4, 0.6],
        mechanism: (method == Method::Ours).then(|| fit(&panel, &settings).unwrap()),
        q: StoredQ::Linear { features: Features::Polynomial(Polynomial::new(width, 1).unwrap()), weights },
        seen: None,
        manifest: Manifest {
            program: "0".into(),
            command: "learn".into(),
            seed: 3,
            discount: 0.9,
            transitions: 36,
            outcome: "converged".into(),
            ended: Some(Outcome::Converged { iterations: 1 }),
        },
    })
}

fn neural(method: Method) -> Policy {
    let experience = batch(&Unaware { state_dim: 2 }, &panel()).unwrap();
    let settings = NeuralSettings { iterations: 1, steps: 1, hidden: vec![4], ..NeuralSettings::default() };
    let (q, _) = neural_fitted_q_iteration(&experience, 1, &settings, Stream::new(2)).unwrap();
    Policy { q: StoredQ::Neural(q.net().clone()), ..policy(method) }
}

fn labels(names: &str) -> Labels {
    serde_json::from_str(names).unwrap()
}

#[test]
fn what_was_written_is_read_back() {
    let all = [policy(Method::Ours), policy(Method::Full), policy(Method::Unaware), neural(Method::Unaware)];
    for policy in all {
        let text = serde_json::to_vec(&policy).unwrap();
        assert_eq!(Policy::from_json(&text, "p").unwrap(), policy);
    }
}

#[test]
fn a_certificate_goes_with_the_policy_and_is_checked_with_it() {
    let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
    let certificate = |panel: &Panel| {
        let refitter = crate::estimate::Refitter::new(panel, &settings).unwrap();
        Certificate::new(&refitter, panel, 3, 1).unwrap()
    };
    let with = policy(Method::Ours).with_certificate(certificate(&panel()));
    let text = serde_json::to_vec(&with).unwrap();
    assert_eq!(Policy::from_json(&text, "p").unwrap(), with);
    // A file without one says nothing about it, as files before there were certificates.
    assert!(!serde_json::to_string(&policy(Method::Ours)).unwrap().contains("certificate"));
    let text = String::from_utf8(text).unwrap().replace("\"replicates\":3", "\"replicates\":4");
    let error = Policy::from_json(text.as_bytes(), "p").unwrap_err();
    assert_eq!(error.to_string(), "p: the certificate's parts do not fit together");
    let two = |z| Person { id: ["a", "b"][z], level: z as u32, states: &[0.5], actions: &[0], rewards: &[0.0] };
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
    (0..2).for_each(|z| builder.push(two(z)).unwrap());
    let other = policy(Method::Full).with_certificate(certificate(&builder.finish()));
    let error = Policy::from_json(&serde_json::to_vec(&other).unwrap(), "p").unwrap_err();
    assert_eq!(
        error.to_string(),
        "p: the certificate is of (levels, actions, coordinates) (2, 1, 1), the policy has (2, 3, 2)"
    );
}

#[test]
fn a_file_is_read_from_where_it_is_and_missed_where_it_is_not() {
    let path = std::env::temp_dir().join(format!("counterfair-stored-{}.json", std::process::id()));
    let stored = policy(Method::Full);
    std::fs::write(&path, serde_json::to_vec(&stored).unwrap()).unwrap();
    let read = Policy::load(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read.unwrap(), stored);
    assert!(matches!(Policy::load(&path), Err(FileError::Io { file, .. }) if file == path.display().to_string()));
}

#[test]
fn another_format_or_version_is_named_before_anything_else_is_read() {
    for (text, format, version) in [
        (r#"{"format": "counterfair policy", "version": 3}"#, "counterfair policy", 3),
        (r#"{"format": "fairness", "version": 1}"#, "fairness", 1),
    ] {
        match Policy::from_json(text.as_bytes(), "p") {
            Err(FileError::Version { file, format: f, version: v, .. }) => {
                assert_eq!((file.as_str(), f.as_str(), v), ("p", format, version));
            }
            other => panic!("{other:?}"),
        }
    }
    let headless = Policy::from_json(br#"{"format": "counterfair policy", "version": 1}"#, "p");
    assert!(matches!(headless, Err(FileError::Json { file, .. }) if file == "p"));
}

#[test]
fn a_file_whose_parts_do_not_fit_is_refused() {
    let mut stored = policy(Method::Full);
    stored.level_weights.push(0.0);
    match Policy::from_json(&serde_json::to_vec(&stored).unwrap(), "p") {
        Err(FileError::Inconsistent { file, problem }) => {
            assert_eq!((file.as_str(), problem.as_str()), ("p", "3 level weights for 2 levels"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_first_part_that_does_not_fit_is_named() {
    let problem = |method, change: &dyn Fn(&mut Policy)| {
        let mut stored = policy(method);
        assert_eq!(stored.problem(), None);
        change(&mut stored);
        stored.problem().unwrap_or_default()
    };
    let (ours, full) = (Method::Ours, Method::Full);
    let each = "each must be at least one";
    assert!(problem(full, &|p| p.levels = labels("[]")).starts_with("0 levels, 3 actions"));
    assert!(problem(full, &|p| p.actions = labels("[]")).starts_with("2 levels, 0 actions"));
    assert!(problem(full, &|p| p.state_dim = 0).ends_with(each));
    let unsorted = problem(full, &|p| p.levels = labels(r#"["m", "f"]"#));
    assert_eq!(unsorted, r#"level names ["m", "f"] are not sorted and distinct"#);
    let repeated = problem(full, &|p| p.actions = labels(r#"["high", "low", "low"]"#));
    assert_eq!(repeated, r#"action names ["high", "low", "low"] are not sorted and distinct"#);
    let reads = problem(full, &|p| p.q = policy(Method::Unaware).q);
    assert_eq!(reads, "the action value reads 2 numbers, the method shows 3");
    let reads = problem(ours, &|p| p.q = policy(Method::Unaware).q);
    assert_eq!(reads, "the action value reads 2 numbers, the method shows 4");
    let short = problem(full, &|p| p.actions = labels(r#"["high", "low"]"#));
    assert_eq!(short, "12 weights for 2 actions with 4 features each");
    let infinite = problem(full, &|p| match &mut p.q {
        StoredQ::Linear { weights, .. } => weights[5] = f64::INFINITY,
        StoredQ::Neural(_) | StoredQ::Program(_) => {}
    });
    assert_eq!(infinite, "a weight is inf");
    assert_eq!(problem(full, &|p| p.level_weights[1] = f64::NEG_INFINITY), "a level weight is -inf");
    let without = problem(ours, &|p| p.mechanism = None);
    assert_eq!(without, "a policy on counterfactual states without a mechanism");
}

#[test]
fn a_net_and_a_mechanism_must_fit_the_policy() {
    assert_eq!(neural(Method::Unaware).problem(), None);
    let two = Policy { actions: labels(r#"["high", "low"]"#), ..neural(Method::Unaware) };
    assert_eq!(two.problem().unwrap(), "a net with 3 outputs for 2 actions");
    // A net that takes a level code has more inputs than this one.
    let mut text = serde_json::to_value(neural(Method::Unaware)).unwrap();
    text["q"]["neural"]["levels"] = 2.into();
    let coded: Policy = serde_json::from_value(text).unwrap();
    assert_eq!(Policy { method: Method::Full, ..coded }.problem().unwrap(), "the net's parts do not fit together");

    let mechanism = policy(Method::Ours).mechanism;
    let spare = Policy { mechanism: mechanism.clone(), ..policy(Method::Unaware) };
    assert_eq!(spare.problem(), None);
    let third = Policy { levels: Labels::numbered(3), level_weights: vec![0.2; 3], ..spare.clone() };
    let differ = "the mechanism has 2 levels, 3 actions and 2 coordinates; the policy 3, 3 and 2";
    assert_eq!(third.problem().unwrap(), differ);
    let mut text = serde_json::to_value(&mechanism).unwrap();
    text["initial"][1] = serde_json::json!([0.5]);
    let broken = Policy { mechanism: serde_json::from_value(text).unwrap(), ..spare };
    assert_eq!(broken.problem().unwrap(), "the mechanism's parts do not fit together");
}

#[test]
fn the_agent_takes_the_largest_value_of_what_its_method_shows() {
    let decide = |policy: &Policy, level: u32, state: [f64; 2]| {
        let agent = policy.agent();
        assert_eq!((agent.actions(), agent.is_deterministic()), (3, true));
        let (mut memory, mut action) = (agent.begin(&[level], &state, &[0.5]), [9]);
        agent.act(&mut memory, &[0.5], &mut action);
        action[0]
    };
    // The state (2.5, 1) of m is (0.5, 0.25) in the world of f: values 0.5, 1 and 0.75. As one of f it is (4.5, 1.75) in that of m.
    assert_eq!([0, 1].map(|z| decide(&policy(Method::Ours), z, [2.5, 1.0])), [0, 1]);
    // 2.5, 1 + 2z and 0.75; then 2.5, 1 and 0.75.
    assert_eq!([0, 1].map(|z| decide(&policy(Method::Full), z, [2.5, 1.0])), [0, 1]);
    assert_eq!([0, 1].map(|z| decide(&policy(Method::Unaware), z, [2.5, 1.0])), [0, 0]);
    assert_eq!(decide(&policy(Method::Unaware), 1, [0.5, 0.6]), 2);
    // A net without hidden layers: −s₁, s₁ − 1 and 0 at any level.
    let mut text = serde_json::to_value(neural(Method::Unaware)).unwrap();
    text["q"]["neural"]["scale"] = serde_json::json!({ "mean": [0.0, 0.0], "deviation": [1.0, 1.0] });
    let network = crate::nets::Network::from_values(vec![2, 3], vec![-1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0]);
    text["q"]["neural"]["network"] = serde_json::to_value(network.unwrap()).unwrap();
    let net: Policy = serde_json::from_value(text).unwrap();
    assert_eq!([-1.0, 0.25, 2.0].map(|s| decide(&net, 1, [s, 0.6])), [0, 2, 1]);
}

#[test]
fn people_with_other_states_than_the_policy_reads_are_refused() {
    let path = std::env::temp_dir().join(format!("counterfair-states-{}.csv", std::process::id()));
    let policy = policy(Method::Unaware);
    for (states, cells) in [(1, "1"), (2, "1,2"), (3, "1,2,3")] {
        let names: Vec<String> = (1..=states).map(|j| format!("state{j}")).collect();
        let text = format!("ID,timestamp,z1,action,reward,{}\na,1,f,low,1,{cells}\n", names.join(","));
        std::fs::write(&path, text).unwrap();
        match policy.read_people(&path, MissingRepair::Refuse) {
            Ok(people) => assert_eq!((states, people.panel().people()), (2, 1)),
            Err(Error::StateColumns { found, needed, .. }) => assert!((found, needed) == (states, 2) && states != 2),
            Err(other) => panic!("{other}"),
        }
    }
    std::fs::remove_file(&path).unwrap();
}
