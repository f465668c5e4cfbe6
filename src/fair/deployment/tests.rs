use super::*;
use crate::fair::Features;
use crate::fair::StoredQ;
use crate::fair::policy::tests::policy;
use crate::kernel::learn::features::{FeatureMap, Polynomial};
use serde_json::{Value, json};

fn deployed(method: Method) -> Deployment {
    Deployment::new(policy(method))
}

fn answer(deployment: &mut Deployment, line: &str) -> Result<Value, RequestError> {
    Ok(serde_json::from_str(&deployment.answer(line.as_bytes())?).unwrap())
}

fn ask(deployment: &mut Deployment, line: &str) -> Value {
    answer(deployment, line).unwrap()
}

/// An answer of Ours: whom, what, and the two counterfactual states, to the rounding of a least-squares fit.
fn assert_answer(answer: &Value, id: Value, action: &str, f: [f64; 2], m: [f64; 2]) {
    assert_eq!((&answer["id"], answer["action"].as_str()), (&id, Some(action)));
    assert_eq!(answer["counterfactual_states"].as_object().unwrap().len(), 2);
    for (level, expected) in [("f", f), ("m", m)] {
        let state = answer["counterfactual_states"][level].as_array().unwrap();
        assert_eq!(state.len(), 2);
        for (x, y) in state.iter().zip(expected) {
            assert!((x.as_f64().unwrap() - y).abs() < 1e-9, "{answer}");
        }
    }
}

#[test]
fn a_person_is_followed_through_the_worlds_of_all_levels() {
    let mut ours = deployed(Method::Ours);
    let first = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [2.5, 1.0]}"#);
    // The noise is (−0.5, 0.75); values 0.5, 1 and 0.75.
    assert_answer(&first, json!("ann"), "low", [0.5, 0.25], [2.5, 1.0]);
    // Somebody else in between, of the other level.
    let other = ask(&mut ours, r#"{"id": "bob", "z": "f", "state": [0.5, 0.25], "action": null}"#);
    assert_answer(&other, json!("bob"), "low", [0.5, 0.25], [2.5, 1.0]);
    // Means (0.5, −1.375) at m and (−1.6875, 0.875) at f; the action taken is not the one recommended.
    let second = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [1.0, -1.0], "action": "none"}"#);
    assert_answer(&second, json!("ann"), "none", [-1.1875, 1.25], [1.0, -1.0]);
    // Means (1.25, 0.25) at m and (−0.28125, −0.125) at f.
    let third = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [0.0, 0.0], "action": "high"}"#);
    assert_answer(&third, json!("ann"), "none", [-1.53125, -0.375], [0.0, 0.0]);
}

#[test]
fn a_policy_without_counterfactual_states_shows_none() {
    let line = |z: &str| format!(r#"{{"id": 1, "z": "{z}", "state": [2.5, 1.0]}}"#);
    assert_eq!(ask(&mut deployed(Method::Full), &line("f")), json!({ "id": 1, "action": "high" }));
    assert_eq!(ask(&mut deployed(Method::Full), &line("m")), json!({ "id": 1, "action": "low" }));
    assert_eq!(ask(&mut deployed(Method::Unaware), &line("m")), json!({ "id": 1, "action": "high" }));
}

#[test]
fn a_line_that_cannot_be_used_is_named_and_forgotten() {
    let mut ours = deployed(Method::Ours);
    ask(&mut ours, r#"{"id": 7, "z": "m", "state": [2.5, 1.0]}"#);
    let mut refused = |line: &str| answer(&mut ours, line).unwrap_err();
    assert!(matches!(refused(r#"{"id": 8, "z": "m"}"#), RequestError::Malformed(why) if why.contains("state")));
    let extra = refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "age": 3}"#);
    assert!(matches!(extra, RequestError::Malformed(why) if why.contains("age")));
    assert_eq!(refused(r#"{"id": [8], "z": "m", "state": [1.0, 1.0]}"#), RequestError::Id("[8]".into()));
    let known = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        refused(r#"{"id": 8, "z": 3, "state": [1.0, 1.0]}"#),
        RequestError::Unknown { what: "z", value: "\"3\"".into(), known: known(&["f", "m"]) }
    );
    assert_eq!(
        refused(r#"{"id": 7, "z": "m", "state": [1.0, 1.0], "action": "all"}"#),
        RequestError::Unknown { what: "action", value: "\"all\"".into(), known: known(&["high", "low", "none"]) }
    );
    assert_eq!(refused(r#"{"id": 8, "z": "m", "state": [1.0]}"#), RequestError::Width { found: 1, needed: 2 });
    assert_eq!(
        refused(r#"{"id": 8, "z": "m", "state": [1.0, 1.0], "action": "low"}"#),
        RequestError::NothingRemembered { id: "8".into() }
    );
    // The number 7 and the text 7 are one person.
    let silent = refused(r#"{"id": "7", "z": "m", "state": [1.0, 1.0]}"#);
    assert_eq!(silent, RequestError::MissingAction { id: "7".into() });
    assert_eq!(
        refused(r#"{"id": 7, "z": "f", "state": [1.0, 1.0], "action": "low"}"#),
        RequestError::LevelChanged { id: "7".into(), was: "m".into(), now: "f".into() }
    );
    // As if none of these had been said.
    let next = ask(&mut ours, r#"{"id": 7, "z": "m", "state": [1.0, -1.0], "action": "none"}"#);
    assert_answer(&next, json!(7), "none", [-1.1875, 1.25], [1.0, -1.0]);
}

#[test]
fn a_counterfactual_state_beyond_the_numbers_is_not_acted_on() {
    let mut ours = deployed(Method::Ours);
    ask(&mut ours, r#"{"id": 1, "z": "m", "state": [-1.7e308, 0.0]}"#);
    // The state minus half the one before is 2.55e308.
    let line = r#"{"id": 1, "z": "m", "state": [1.7e308, 0.0], "action": "low"}"#;
    let overflow = RequestError::Overflow { id: "1".into(), value: f64::INFINITY };
    assert_eq!(answer(&mut ours, line), Err(overflow));
}

#[test]
fn levels_that_are_numbers_may_be_written_either_way() {
    let mut numbered = policy(Method::Full);
    numbered.levels = Labels::numbered(2);
    let mut full = Deployment::new(numbered);
    assert_eq!(ask(&mut full, r#"{"id": "a", "z": 1, "state": [2.5, 1.0]}"#)["action"], "low");
    assert_eq!(ask(&mut full, r#"{"id": "b", "z": "1.0", "state": [2.5, 1.0]}"#)["action"], "low");
    assert_eq!(ask(&mut full, r#"{"id": "c", "z": 0, "state": [2.5, 1.0]}"#)["action"], "high");
}

/// A person's first two requests, and the same with times.
fn two(id: &str) -> [Request; 2] {
    [Request::first(id, "m", [2.5, 1.0]).at(1), Request::after(id, "m", "none", [1.0, -1.0]).at(2)]
}

#[test]
fn the_same_request_again_gives_the_same_answer_and_moves_nothing() {
    for method in [Method::Ours, Method::Full, Method::Unaware] {
        let (mut once, mut again) = (deployed(method), deployed(method));
        for request in two("ann") {
            let decision = once.decide(&request).unwrap();
            assert!(!decision.repeated);
            assert_eq!(again.decide(&request), Ok(decision.clone()));
            for _ in 0..3 {
                assert_eq!(again.decide(&request), Ok(Decision { repeated: true, ..decision.clone() }));
            }
        }
        let third = Request::after("ann", "m", "high", [0.0, 0.0]);
        assert_eq!(once.decide(&third), again.decide(&third));
    }
}

#[test]
fn a_past_time_another_request_and_a_gap_are_errors_that_say_what_is_known() {
    let mut ours = deployed(Method::Ours);
    let [first, second] = two("ann");
    let gap = |time, decisions| Err(RequestError::Gap { id: "ann".into(), time, decisions });
    assert_eq!(ours.decide(&first.clone().at(2)), gap(2, 0));
    assert_eq!(ours.decide(&first.clone().at(0)), gap(0, 0));
    ours.decide(&first).unwrap();
    assert_eq!(ours.decide(&second.clone().at(3)), gap(3, 1));
    let conflict =
        |differs, action: &str| RequestError::Conflict { id: "ann".into(), time: 1, action: action.into(), differs };
    let elsewhere = Request::first("ann", "m", [2.5, 1.25]).at(1);
    assert_eq!(ours.decide(&elsewhere), Err(conflict("state", "low")));
    let after = Request::after("ann", "m", "low", [2.5, 1.0]).at(1);
    assert_eq!(ours.decide(&after), Err(conflict("action", "low")));
    ours.decide(&second).unwrap();
    let past = RequestError::Past { id: "ann".into(), time: 1, decisions: 2, action: "none".into() };
    assert_eq!(ours.decide(&first), Err(past));
    // None of these moved anything, and time may be left out again.
    let next = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [0.0, 0.0], "action": "high"}"#);
    assert_answer(&next, json!("ann"), "none", [-1.53125, -0.375], [0.0, 0.0]);
}

#[test]
fn ids_beyond_64_bits_are_different_people() {
    let mut ours = deployed(Method::Ours);
    let ids = ["18446744073709551616", "18446744073709551617", "123456789012345678901234567890"];
    for id in ids {
        let answer = ours.answer(format!(r#"{{"id": {id}, "z": "m", "state": [2.5, 1.0]}}"#).as_bytes()).unwrap();
        assert!(answer.starts_with(&format!(r#"{{"id":{id},"action""#)), "{answer}");
    }
    assert_eq!(ours.memory().people(), Ok(3));
}

#[test]
fn an_error_carries_the_id_as_it_was_written() {
    let mut ours = deployed(Method::Ours);
    let mut id = |line: &str| ours.answer(line.as_bytes()).unwrap_err().id.map(|id| id.get().to_string());
    assert_eq!(id(r#"{"id": 18446744073709551617, "z": "q", "state": [2.5, 1.0]}"#).unwrap(), "18446744073709551617");
    assert_eq!(id(r#"{"id": "ann", "z": "m", "state": [2.5]}"#).unwrap(), "\"ann\"");
    assert_eq!(id(r#"{"id": "ann", "z": "m", "age": 3}"#).unwrap(), "\"ann\"");
    assert_eq!(id("nonsense"), None);
    let error = ours.answer(br#"{"id": 5, "z": "m"}"#).unwrap_err();
    assert_eq!(error.to_json(7), r#"{"line":7,"id":5,"error":"missing field `state`"}"#);
}

#[test]
fn a_forgotten_person_is_met_anew() {
    let mut ours = deployed(Method::Ours);
    let first = r#"{"id": 1, "z": "m", "state": [2.5, 1.0]}"#;
    ask(&mut ours, first);
    assert_eq!(ask(&mut ours, r#"{"id": 1, "forget": true}"#), json!({ "id": 1, "forgotten": true }));
    assert_eq!(ask(&mut ours, r#"{"id": 1, "forget": true}"#), json!({ "id": 1, "forgotten": false }));
    assert_eq!(ours.memory().people(), Ok(0));
    // The other level now: nothing is known to contradict it.
    ask(&mut ours, r#"{"id": 1, "z": "f", "state": [2.5, 1.0]}"#);
    let mixed = answer(&mut ours, r#"{"id": 1, "z": "f", "forget": true}"#);
    assert!(matches!(mixed, Err(RequestError::Malformed(why)) if why.contains("nothing but")));
    // `"forget": false` is a request like others.
    let plain = answer(&mut ours, r#"{"id": 1, "forget": false}"#);
    assert!(matches!(plain, Err(RequestError::Malformed(why)) if why.contains("`z`")));
}

/// A store that keeps nothing when told to fail.
#[derive(Default)]
struct Failing {
    inner: InProcess,
    fails: std::sync::Arc<std::sync::atomic::AtomicBool>,
}

impl MemoryStore for Failing {
    fn get(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        self.inner.get(id)
    }
    fn put(&mut self, people: &HashMap<String, Option<Remembered>>) -> Result<(), MemoryError> {
        if self.fails.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(MemoryError::Io { file: "f".into(), problem: "no space left".into() });
        }
        self.inner.put(people)
    }
    fn visit(&self, visit: &mut dyn FnMut(&str, Remembered) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        self.inner.visit(visit)
    }
    fn people(&self) -> Result<u64, MemoryError> {
        self.inner.people()
    }
    fn history(&self) -> u64 {
        self.inner.history()
    }
}

#[test]
fn no_answer_is_given_that_cannot_be_kept_and_it_can_be_asked_again() {
    let store = Failing::default();
    let fails = store.fails.clone();
    let mut ours = Deployment::with_memory(policy(Method::Ours), store);
    let [first, second] = two("ann");
    let told = ours.decide(&first).unwrap();
    fails.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(ours.decide(&second), Err(RequestError::Memory(MemoryError::Io { .. }))));
    assert!(ours.decide_all(&[second.clone(), Request::first("bob", "f", [0.5, 0.25])]).is_err());
    // What was kept is still answered: nothing needs to be written for it.
    assert_eq!(ours.decide(&first), Ok(Decision { repeated: true, ..told }));
    fails.store(false, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(ours.memory().people(), Ok(1));
    assert_eq!(ours.decide(&second).unwrap().time, 2);
}

#[test]
fn many_at_once_are_answered_as_one_after_another() {
    let requests: Vec<Request> = two("ann").into_iter().chain(two("bob")).chain(two("ann")).collect();
    let (mut together, mut apart) = (deployed(Method::Ours), deployed(Method::Ours));
    let expected: Vec<_> = requests.iter().map(|request| apart.decide(request)).collect();
    // The second round of ann: time 1 is past by then, time 2 is repeated.
    assert!(expected[4].is_err() && expected[5].as_ref().unwrap().repeated);
    assert_eq!(together.decide_all(&requests), Ok(expected));
}

#[test]
fn reading_lines_stops_at_the_first_error_or_goes_on() {
    let lines: [&[u8]; 3] =
        [br#"{"id": 1, "z": "m", "state": [2.5, 1.0]}"#, b"nonsense", br#"{"id": 2, "z": "m", "state": [2.5, 1.0]}"#];
    for (on_error, answers, people) in [(OnError::Stop, 2, 1), (OnError::GoOn, 3, 2)] {
        let mut ours = deployed(Method::Ours);
        let answered = ours.answer_all(lines, on_error).unwrap();
        assert_eq!(answered.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true][..answers]);
        assert_eq!(ours.memory().people(), Ok(people));
    }
}

#[test]
fn a_decision_can_say_how_sure_it_is() {
    let seen = crate::fair::Seen {
        rows: 9,
        low: vec![-1.0, -1.0, 1.0, -1.0],
        lower: vec![-1.0, -1.0, 1.0, -1.0],
        upper: vec![1.0, 1.0, 3.0, 1.0],
        high: vec![1.0, 1.0, 3.0, 1.0],
    };
    let mut policy = policy(Method::Ours);
    policy.seen = Some(seen);
    let mut ours = Deployment::new(policy.clone()).explaining(Explain::InAnswer);
    let sure = ask(&mut ours, r#"{"id": "ann", "z": "m", "state": [2.5, 1.0]}"#);
    // Values 0.5, 1 and 0.75 at (0.5, 0.25, 2.5, 1), which is inside.
    let close = |found: &Value, expected: f64| assert!((found.as_f64().unwrap() - expected).abs() < 1e-9, "{sure}");
    close(&sure["values"]["high"], 0.5);
    close(&sure["values"]["low"], 1.0);
    close(&sure["values"]["none"], 0.75);
    assert_eq!(sure["runner_up"], "none");
    close(&sure["margin"], 0.25);
    close(&sure["distance"], 0.0);
    assert_eq!(sure.get("outside"), None);
    // (2, 0.25, 4, 1): half a range beyond in the first coordinates of both worlds.
    let far = ask(&mut ours, r#"{"id": "bob", "z": "m", "state": [4.0, 1.0]}"#);
    assert!((far["distance"].as_f64().unwrap() - 0.5).abs() < 1e-9 && far["outside"] == true, "{far}");
    // The flag alone, unless asked for more.
    let mut terse = Deployment::new(policy);
    let flagged = ask(&mut terse, r#"{"id": "bob", "z": "m", "state": [1e155, 1.0]}"#);
    assert!(flagged["outside"] == true && flagged.get("margin").is_none(), "{flagged}");
}

#[test]
fn a_state_whose_values_overflow_is_refused() {
    let mut policy = policy(Method::Unaware);
    let StoredQ::Linear { features, weights } = &mut policy.q else { panic!("least squares") };
    *features = Features::Polynomial(Polynomial::new(2, 2).unwrap());
    *weights = (0..3 * features.count()).map(|i| 0.5 - 0.25 * i as f64).collect();
    let mut unaware = Deployment::new(policy);
    for large in ["1e155", "-1e300", "1.7e308"] {
        let refused = answer(&mut unaware, &format!(r#"{{"id": "ann", "z": "m", "state": [{large}, 1.0]}}"#));
        assert!(matches!(refused, Err(RequestError::Value { .. })), "{large}: {refused:?}");
    }
    assert_eq!(unaware.memory().people(), Ok(0));
}

#[test]
fn decisions_are_those_of_the_agent() {
    for method in [Method::Ours, Method::Full, Method::Unaware] {
        let (policy, mut desk) = (policy(method), deployed(method));
        let agent = policy.agent();
        let mut action = [0];
        for i in 0..200 {
            let (z, a) = (i % 2, [i % 3, i / 3 % 3, i / 9 % 3]);
            let states: Vec<[f64; 2]> = (0..3)
                .map(|t| [f64::from(i * 37 % 101 - 50 + t) / 17.0, f64::from(i * 53 % 89 - 44 - 9 * t) / 13.0])
                .collect();
            let level = ["f", "m"][z as usize];
            let mut memory = agent.begin(&[z as u32], &states[0], &[0.5]);
            for (t, state) in states.iter().enumerate() {
                let request = if t == 0 {
                    Request::first(i.to_string(), level, *state)
                } else {
                    let taken = a[t] as usize;
                    agent.advance(&mut memory, &[taken as u32], state);
                    Request::after(i.to_string(), level, policy.actions.name(taken), *state)
                };
                agent.act(&mut memory, &[0.5], &mut action);
                let decision = desk.decide(&request).unwrap();
                assert_eq!(decision.action, policy.actions.name(action[0] as usize), "{method} {i} {t}");
            }
        }
    }
}

/// Memory of the process that keeps whole histories.
#[derive(Default)]
struct Keeping(InProcess);

impl MemoryStore for Keeping {
    fn get(&self, id: &str) -> Result<Option<Remembered>, MemoryError> {
        self.0.get(id)
    }
    fn put(&mut self, people: &HashMap<String, Option<Remembered>>) -> Result<(), MemoryError> {
        self.0.put(people)
    }
    fn visit(&self, visit: &mut dyn FnMut(&str, Remembered) -> Result<(), MemoryError>) -> Result<(), MemoryError> {
        self.0.visit(visit)
    }
    fn people(&self) -> Result<u64, MemoryError> {
        self.0.people()
    }
    fn history(&self) -> u64 {
        5
    }
}

#[test]
fn a_history_is_kept_up_to_its_bound_and_then_only_the_last_step() {
    let mut desk = Deployment::with_memory(policy(Method::Ours), Keeping::default());
    desk.decide(&Request::first("ann", "m", [2.5, 1.0])).unwrap();
    for t in 2..=9u64 {
        let state = [1.0 / t as f64, -0.5];
        desk.decide(&Request::after("ann", "m", "low", state).at(t)).unwrap();
        let person = desk.memory().get("ann").unwrap().unwrap();
        assert_eq!((person.decisions, person.is_complete(2), person.state(2)), (t, t <= 5, &state[..]));
        assert!(person.states.len() <= 2 * 5 && person.actions.len() <= 5);
        // A retry is known in either case.
        assert!(desk.decide(&Request::after("ann", "m", "low", state).at(t)).unwrap().repeated);
    }
}

/// Both committed at once, the first could not be sent again after a crash.
#[test]
fn the_second_line_about_a_person_waits_until_the_first_is_answered() {
    let line = |id: u32, t: u64, action: &str| {
        format!(r#"{{"id": {id}, "z": "m", "state": [{t}.5, 1.0], "action": {action}, "time": {t}}}"#)
    };
    let lines = [line(1, 1, "null"), line(2, 1, "null"), line(1, 1, "null"), line(2, 2, "0"), line(1, 2, "\"low\"")];
    let mut ours = deployed(Method::Ours);
    let mut answer = |lines: &[String]| {
        let answers = ours.answer_all(lines.iter().map(|line| line.as_bytes()), OnError::GoOn).unwrap();
        answers.iter().map(Result::is_ok).collect::<Vec<_>>()
    };
    assert_eq!(answer(&lines), [true, true]);
    // A request that is repeated, and one that is refused, change nothing that could be lost.
    assert_eq!(answer(&lines[2..]), [true, false, true]);
    assert_eq!(answer(&lines[4..]), [true]);
}
