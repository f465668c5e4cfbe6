//! The kernel against exact rational arithmetic: rows computed by the very term that `proofs/` proves correct.

use counterfair_kernel::model::Mechanism;
use counterfair_kernel::model::NoiseLaw;
use counterfair_kernel::model::worlds::Linear;
use counterfair_kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair_kernel::preprocess::{Augmented, Experience, Sequential, batch};
use serde_json::Value;
use std::path::Path;

/// Six steps of sums of seven products of numbers near 1: a hundred roundings at most, with room for cancellation.
const AGREEMENT: f64 = 1e-12;

fn file() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proofs/vectors.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// A fraction "num/den". Both parts may be longer than an f64's mantissa, so the quotient is rounded twice more.
fn number(value: &Value) -> f64 {
    let (num, den) = value.as_str().unwrap().split_once('/').unwrap();
    num.parse::<f64>().unwrap() / den.parse::<f64>().unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// Means as the file tabulates them: coefficients of monomials in (s₁, …, s_p, a).
struct Tabulated {
    actions: usize,
    monomials: Vec<Vec<i32>>,
    initial: Vec<Vec<f64>>,
    state: Vec<Vec<Vec<f64>>>,
    reward: Vec<Vec<f64>>,
    /// σ, where noise is scaled and not added.
    scale: Option<Scale>,
}

/// Spreads as the file tabulates them: coefficients of monomials of their own.
struct Scale {
    monomials: Vec<Vec<i32>>,
    initial: Vec<Vec<f64>>,
    state: Vec<Vec<Vec<f64>>>,
    reward: Vec<Vec<f64>>,
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

fn exponents(value: &Value) -> Vec<Vec<i32>> {
    let one = |m: &Value| m.as_array().unwrap().iter().map(|e| e.as_i64().unwrap() as i32).collect();
    list(value).iter().map(one).collect()
}

fn table(value: &Value) -> Vec<Vec<f64>> {
    list(value).iter().map(numbers).collect()
}

/// Polynomials in (s₁, …, s_p, a) at a block of rows: coordinates of the next state, and the reward.
fn fill(
    monomials: &[Vec<i32>],
    (state, reward): (&[Vec<f64>], &[f64]),
    states: &[f64],
    actions: &[u32],
    next: &mut [f64],
    rewards: &mut [f64],
) {
    let p = state.len();
    for i in 0..actions.len() {
        let mut x = states[i * p..(i + 1) * p].to_vec();
        x.push(f64::from(actions[i]));
        let value = |m: &Vec<i32>| -> f64 { m.iter().zip(&x).map(|(e, x)| x.powi(*e)).product() };
        let basis: Vec<f64> = monomials.iter().map(value).collect();
        let dot = |c: &[f64]| -> f64 { c.iter().zip(&basis).map(|(c, b)| c * b).sum() };
        for j in 0..p {
            next[i * p + j] = dot(&state[j]);
        }
        rewards[i] = dot(reward);
    }
}

impl NoiseLaw for Scale {
    fn initial_spread(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn spread(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        fill(&self.monomials, (&self.state[level], &self.reward[level]), states, actions, next, rewards);
    }
}

impl Tabulated {
    fn new(world: &Value) -> Self {
        let of = |name: &str| &world[name];
        let scale = (!of("scale_monomials").is_null()).then(|| Scale {
            monomials: exponents(of("scale_monomials")),
            initial: table(of("initial_scale")),
            state: list(of("state_scale")).iter().map(table).collect(),
            reward: table(of("reward_scale")),
        });
        Self {
            actions: world["actions"].as_u64().unwrap() as usize,
            monomials: exponents(&world["monomials"]),
            initial: table(&world["initial_mean"]),
            state: list(&world["state_mean"]).iter().map(table).collect(),
            reward: table(&world["reward_mean"]),
            scale,
        }
    }
}

impl Mechanism for Tabulated {
    fn state_dim(&self) -> usize {
        self.initial[0].len()
    }
    fn levels(&self) -> usize {
        self.initial.len()
    }
    fn actions(&self) -> usize {
        self.actions
    }
    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }
    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        fill(&self.monomials, (&self.state[level], &self.reward[level]), states, actions, next, rewards);
    }
    fn noise(&self) -> Option<&dyn NoiseLaw> {
        self.scale.as_ref().map(|scale| scale as &dyn NoiseLaw)
    }
}

/// One world of the file: its means, its people, and what the proved algorithm made of them.
struct Case {
    name: String,
    mechanism: Tabulated,
    weights: Vec<f64>,
    panel: Panel,
    states: Vec<f64>,
    rewards: Vec<f64>,
    /// Rewards level by level, before they are weighted.
    level_rewards: Vec<Vec<f64>>,
}

/// Worlds whose noise is added.
fn cases() -> Vec<Case> {
    cases_of("worlds", "rows")
}

/// Worlds whose noise is scaled by a spread that depends on level, state and action.
fn scale_cases() -> Vec<Case> {
    cases_of("scale_worlds", "scale_rows")
}

fn cases_of(worlds: &str, rows: &str) -> Vec<Case> {
    let file = file();
    file[worlds].as_array().unwrap().iter().map(|world| case(world, file[rows].as_array().unwrap())).collect()
}

fn case(world: &Value, all_rows: &[Value]) -> Case {
    let mechanism = Tabulated::new(world);
    let key = |v: &Value| (v["world"].clone(), v["means"].clone());
    let rows: Vec<&Value> = all_rows.iter().filter(|row| key(row) == key(world)).collect();
    let mut builder = PanelBuilder::new(
        Labels::numbered(mechanism.levels()),
        Labels::numbered(mechanism.actions),
        mechanism.state_dim(),
    )
    .unwrap();
    let (mut states, mut rewards) = (Vec::new(), Vec::new());
    let mut level_rewards = vec![Vec::new(); mechanism.levels()];
    for person in rows.chunk_by(|a, b| a["person"] == b["person"]) {
        let observed: Vec<f64> = person.iter().flat_map(|row| numbers(&row["s"])).collect();
        let decided: Vec<&&Value> = person.iter().filter(|row| !row["a"].is_null()).collect();
        let actions: Vec<u32> = decided.iter().map(|row| row["a"].as_u64().unwrap() as u32).collect();
        let received: Vec<f64> = decided.iter().map(|row| number(&row["r"])).collect();
        let level = person[0]["z"].as_u64().unwrap() as u32;
        let id = person[0]["person"].to_string();
        builder.push(Person { id: &id, level, states: &observed, actions: &actions, rewards: &received }).unwrap();
        states.extend(person.iter().flat_map(|row| row["s_cf"].as_array().unwrap().iter().flat_map(numbers)));
        rewards.extend(decided.iter().map(|row| number(&row["r_weighted"])));
        for (level, rewards) in level_rewards.iter_mut().enumerate() {
            rewards.extend(decided.iter().map(|row| number(&row["r_cf"][level])));
        }
    }
    let name = format!("{} {}", world["world"], world["means"]);
    let weights = numbers(&world["weights"]);
    Case { name, mechanism, weights, panel: builder.finish(), states, rewards, level_rewards }
}

fn run(case: &Case) -> Experience<Augmented> {
    batch(&Sequential::new(&case.mechanism, case.weights.clone()), &case.panel).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn the_kernel_returns_the_proved_states_and_rewards_in_every_world() {
    let (added, scaled) = (cases(), scale_cases());
    assert_eq!((added.len(), scaled.len()), (6, 2), "three worlds and one, exact and misspecified means");
    for case in added.iter().chain(&scaled) {
        let ours = run(case);
        assert!(case.states.len() > 20, "{}", case.name);
        assert!(largest_difference(ours.views(), &case.states) < AGREEMENT, "{}", case.name);
        assert!(largest_difference(ours.rewards(), &case.rewards) < AGREEMENT, "{}", case.name);
    }
}

/// All weight on one level leaves that level's reward alone: the weighted sum cannot hide an error that cancels between levels.
#[test]
fn the_kernel_returns_the_proved_reward_of_every_level() {
    for case in cases().into_iter().chain(scale_cases()) {
        for (level, proved) in case.level_rewards.iter().enumerate() {
            let mut weights = vec![0.0; case.mechanism.levels()];
            weights[level] = 1.0;
            let ours = batch(&Sequential::new(&case.mechanism, weights), &case.panel).unwrap();
            // The scaled worlds have fifteen decisions, the others more than twenty.
            let enough = if case.mechanism.scale.is_some() { proved.len() == 15 } else { proved.len() > 20 };
            assert!(enough, "{}: {} rewards", case.name, proved.len());
            assert!(largest_difference(ours.rewards(), proved) < AGREEMENT, "{}, level {level}", case.name);
        }
    }
}

#[test]
fn a_kernel_that_forgets_to_iterate_the_counterfactual_state_is_caught() {
    for case in cases() {
        let (p, levels) = (case.mechanism.state_dim(), case.mechanism.levels());
        // μ(s, a, k) at the observed state instead of the counterfactual one: the tempting one-stage shortcut.
        let mut wrong = case.states.clone();
        let (mut next, mut reward) = (vec![0.0; p], [0.0]);
        for i in 0..case.panel.people() {
            let (person, rows) = (case.panel.person(i), case.panel.states_of(i));
            for t in 0..person.actions.len().min(rows.len() - 1) {
                for k in 0..levels {
                    let (before, after) =
                        (&person.states[t * p..(t + 1) * p], &person.states[(t + 1) * p..(t + 2) * p]);
                    let at = ((rows.start + t + 1) * levels + k) * p;
                    case.mechanism.mean(person.level as usize, before, &person.actions[t..=t], &mut next, &mut reward);
                    let noise: Vec<f64> = (0..p).map(|j| after[j] - next[j]).collect();
                    case.mechanism.mean(k, before, &person.actions[t..=t], &mut next, &mut reward);
                    (0..p).for_each(|j| wrong[at + j] = next[j] + noise[j]);
                }
            }
        }
        assert!(largest_difference(&wrong, &case.states) > 1e-3, "{}: the shortcut went unnoticed", case.name);
    }
}

#[test]
fn a_kernel_that_adds_scaled_noise_as_it_is_is_caught() {
    for mut case in scale_cases() {
        case.mechanism.scale = None;
        let ours = run(&case);
        assert!(largest_difference(ours.views(), &case.states) > 0.1, "{}: the spreads went unnoticed", case.name);
        assert!(largest_difference(ours.rewards(), &case.rewards) > 0.1, "{}: the spreads went unnoticed", case.name);
    }
}

#[test]
fn the_shipped_linear_world_has_the_means_that_the_proof_tabulates() {
    for (case, delta) in cases().iter().zip([1.0, f64::NAN, 1.5]).filter(|(_, delta)| !delta.is_nan()) {
        let world = Linear::new(delta);
        assert!(case.name.contains("exact"), "{}", case.name);
        let shipped = batch(&Sequential::new(&world, case.weights.clone()), &case.panel).unwrap();
        assert!(largest_difference(shipped.views(), &case.states) < AGREEMENT);
        assert!(largest_difference(shipped.rewards(), &case.rewards) < AGREEMENT);
    }
}
