//! `thm:regret` corrected: ‖Q* − f̂_B‖∞ ≤ (e_stat + e_pert)/(1−γ) + γᴮV, with constants that can be computed.
//!
//! # Equation
//! ```text
//! e_stat = reach·V·[√d + √(2x + 2d log(1 + 4R₂√(n/λ₀))) + 2γ],   e_pert = R₂[(ε_r + γL_f ε_s + L₂‖w_f‖ε_s)/√c + L₂ε_s RMS(ρ)/c]
//! ```
//! In the certificate reach = sup‖φ‖_{A⁻¹} and c = λ_min(C)/n are those of the data; with population constants reach = R₂√(2/(nλ₀)) and
//! c = λ₀/4. What is deterministic in it is attained, constant by constant; what is statistical has a net in it and is not.

use crate::kernel::learn::Clipping;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::numeric::Stream;
use crate::kernel::numeric::small;
use crate::theory::beds::Hat;
use crate::theory::beds::{Axis, Tent};
use crate::theory::claims::beds::{Disturbance, HatFit, hat, learn, wave};
use crate::theory::claims::search::{EQUAL, Equalities, Search, between, climb, each_halved, signed};
use crate::theory::claims::tabular::{Tabular, distance};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};
use rand::RngExt;

pub(super) const CLAIMS: &[Claim] = &[
    Claim::ours(
        "thm:regret",
        "‖Q* − f̂_B‖∞ ≤ R₂(ε_r + γL_f ε_s + L₂‖w_f‖ε_s)/(√c(1−γ)) + γᴮV without noise: each of the four terms is attained",
        &["no noise: e_stat = 0, ρ = 0", "c = λ_min(C)/n", "f̂₀ = 0"],
        Expected::NotRefuted,
        |budget| without_noise(budget, [1.0; 4]),
        |budget| each_halved(|constants| without_noise(budget, constants)),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "thm:regret",
        "e_pert with population constants is 2R₂ε_r/√λ₀ + (4γ + 2√2 + 4)R₂L₂Vε_s/λ₀",
        &["c = λ₀/4", "L_f = 2L₂V/√λ₀", "‖w_f‖ = V√(2/λ₀)", "RMS(ρ) = V"],
        Expected::Exact,
        |_| population_constants(4.0),
        |_| population_constants(2.0),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}"),
    Claim::ours(
        "thm:regret",
        "‖Q* − f̂_B‖∞ ≤ ‖T̂Q* − Q*‖∞/(1−γ) + γᴮV for one-hot features, attained",
        &["T̂ averages: cell means of rewards and next values", "f̂₀ = 0"],
        Expected::NotRefuted,
        |budget| averager(budget, [1.0; 2]),
        |budget| each_halved(|constants| averager(budget, constants)),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}"),
    Claim::ours(
        "thm:regret",
        "‖Q* − f̂_B‖∞ ≤ ξ and regret ≤ 2ξ/(1−γ), with population constants (slack about 500 from the net; the control divides by 1000)",
        &["clipped targets", "f̂₀ = 0", "8R₂L₂ε_s ≤ λ₀", "i.i.d. tuples", "P ≥ 1 − n⁻¹ − d·exp(−.153nλ₀)"],
        Expected::NotRefuted,
        |budget| on_the_hat_bed(budget, false, 1.0),
        |budget| on_the_hat_bed(budget, false, 1e-3),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("kernel::learn::fitted_q_iteration"),
    Claim::ours(
        "thm:regret",
        "the same in certificate form: λ_min(A), λ_min(C) and sup‖φ‖_{A⁻¹} of the data at hand (slack about 350; the control divides by 1000)",
        &["clipped targets", "f̂₀ = 0", "i.i.d. tuples", "P ≥ 1 − n⁻¹"],
        Expected::NotRefuted,
        |budget| on_the_hat_bed(budget, true, 1.0),
        |budget| on_the_hat_bed(budget, true, 1e-3),
    )
    .at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}")
    .runs("kernel::learn::fitted_q_iteration"),
];

/// One tuple from s = 1 to s′ = 1 with φ(s) = s and reward r, read as (ŝ, ŝ′, r̂): fitted Q iteration is w ↦ (r̂ + γwŝ′)/ŝ.
struct OneTuple {
    reward: f64,
    read: [f64; 3],
    discount: f64,
    steps: i32,
}

impl OneTuple {
    /// (|Q*(1) − f̂_B(1)|, the bound with `constants` before its four terms); R = 1.
    fn sides(&self, constants: [f64; 4]) -> (f64, f64) {
        let ([now, next, reward], γ) = (self.read, self.discount);
        let (mut w, mut steepest, mut largest) = (0.0f64, 0.0f64, 0.0f64);
        for _ in 0..self.steps {
            // f = wφ has Lipschitz constant |w|, and its regression on exact data is w_f = r + γw.
            steepest = steepest.max(w.abs());
            largest = largest.max((self.reward + γ * w).abs());
            w = (reward + γ * w * next) / now;
        }
        let error = (self.reward / (1.0 - γ) - w).abs();
        let (ε_r, ε_now, ε_next) = ((reward - self.reward).abs(), (now - 1.0).abs(), (next - 1.0).abs());
        let terms = [ε_r / now, γ * steepest * ε_next / now, largest * ε_now / now].map(|x| x / (1.0 - γ));
        let limit = 1.0 / (1.0 - γ);
        let right =
            terms.iter().zip(constants).map(|(x, c)| c * x).sum::<f64>() + constants[3] * γ.powi(self.steps) * limit;
        (error, right)
    }
}

/// The four worlds in which one term is everything, then a climb through mixtures of them.
fn without_noise(budget: Budget, constants: [f64; 4]) -> Verdict {
    let mut search = Search::new();
    let mut case = |tuple: OneTuple| {
        let (error, right) = tuple.sides(constants);
        let OneTuple { reward, read: [now, next, read], discount, steps } = tuple;
        search.case(error, right, || {
            format!("one tuple, s = s′ = 1, φ(s) = s, R = 1, r = {reward}, read as ŝ = {now}, ŝ′ = {next}, r̂ = {read}, γ = {discount}, B = {steps}: w ← (r̂ + γwŝ′)/ŝ from 0, Q*(1) = r/(1−γ); constants {constants:?}")
        })
    };
    // After 400 steps γᴮ is below rounding.
    let long = 400;
    case(OneTuple { reward: 0.5, read: [1.0, 1.0, 0.6], discount: 0.5, steps: long });
    case(OneTuple { reward: 0.5, read: [1.0, 1.1, 0.5], discount: 0.5, steps: long });
    case(OneTuple { reward: 0.5, read: [0.9, 1.0, 0.5], discount: 0.5, steps: long });
    case(OneTuple { reward: 1.0, read: [1.0, 1.0, 1.0], discount: 0.5, steps: 3 });
    for start in 0..budget.pick(3, 30) {
        climb(5, budget.pick(200, 5000), Stream::new(66).index(start), &mut |x| {
            let unit = |k: usize| x[k].clamp(-1.0, 1.0);
            let read = [1.0 + 0.1 * unit(0), 1.0 + 0.1 * unit(1), 0.5 + 0.1 * unit(2)];
            case(OneTuple {
                reward: 0.5,
                read,
                discount: 0.5 + 0.3 * unit(3),
                steps: 1 + (20.0 * unit(4).abs()) as i32,
            })
        });
    }
    search.verdict()
}

/// The certificate's e_pert with population constants put in, against its closed form; `last` stands for the last 4.
fn population_constants(last: f64) -> Verdict {
    let mut equal = Equalities::new();
    let mut rng = Stream::new(67).rng();
    for _ in 0..100 {
        let mut positive = || between(&mut rng, 0.1, 2.0);
        let (r2, l2, v, λ0, ε_s, ε_r, γ) =
            (positive(), positive(), positive(), positive(), positive(), positive(), positive() / 2.0);
        let c: f64 = λ0 / 4.0;
        let (steepest, weight) = (2.0 * l2 * v / λ0.sqrt(), v * (2.0 / λ0).sqrt());
        let certificate = r2 * ((ε_r + γ * steepest * ε_s + l2 * weight * ε_s) / c.sqrt() + l2 * ε_s * v / c);
        let closed = 2.0 * r2 * ε_r / λ0.sqrt() + (4.0 * γ + 2.0 * 2f64.sqrt() + last) * r2 * l2 * v * ε_s / λ0;
        equal.case(certificate / closed, 1.0, EQUAL, || {
            format!("R₂ = {r2}, L₂ = {l2}, V = {v}, λ₀ = {λ0}, ε_s = {ε_s}, ε_r = {ε_r}, γ = {γ}: {certificate} and {closed}")
        });
    }
    equal.verdict()
}

/// Cell means of a few draws in place of a process; `constants` before the two terms.
fn averager(budget: Budget, constants: [f64; 2]) -> Verdict {
    let mut search = Search::new();
    let mut case = |truth: &Tabular, estimate: &Tabular, steps: i32| {
        let q = truth.optimum();
        let f = (0..steps).fold(vec![0.0; q.len()], |f, _| estimate.bellman(&f));
        let limit = small::sup(&truth.rewards) / (1.0 - truth.discount);
        let first = constants[0] * distance(&estimate.bellman(&q), &q) / (1.0 - truth.discount);
        search.case(distance(&q, &f), first + constants[1] * truth.discount.powi(steps) * limit, || {
            format!("{truth}; estimated by {estimate}; B = {steps}, constants {constants:?}")
        });
    };
    let one =
        |reward: f64| Tabular { states: 1, actions: 1, discount: 0.5, rewards: vec![reward], transitions: vec![1.0] };
    // One state, r = 1 read as 1.1, many steps; and read exactly, three steps.
    case(&one(1.0), &one(1.1), 400);
    case(&one(1.0), &one(1.0), 3);
    for i in 0..budget.pick(200, 5000) {
        let stream = Stream::new(68).index(i);
        let truth = Tabular::drawn(stream);
        let mut rng = stream.named("draws").rng();
        let draws = 1 + (i % 20) as usize;
        let mut estimate = truth.clone();
        for (pair, row) in truth.transitions.chunks_exact(truth.states).enumerate() {
            let counts = &mut estimate.transitions[pair * truth.states..][..truth.states];
            counts.fill(0.0);
            let mut noise = 0.0;
            for _ in 0..draws {
                let mut left: f64 = rng.random();
                let to = row.iter().position(|p| {
                    left -= p;
                    left < 0.0
                });
                counts[to.unwrap_or(truth.states - 1)] += 1.0 / draws as f64;
                noise += 0.2 * signed(&mut rng) / draws as f64;
            }
            estimate.rewards[pair] += noise;
        }
        case(&truth, &estimate, 1 + (i % 9) as i32);
    }
    search.verdict()
}

/// Steps of fitted Q iteration: γ⁴⁰ is one part in seven thousand.
const STEPS: i32 = 40;

/// R₂ and L₂ of hat functions: ‖φ‖₂ ≤ 1, and two neighbours move by the number of cells each.
fn feature_constants(bed: &Hat) -> (f64, f64) {
    (1.0, std::f64::consts::SQRT_2 * bed.cells() as f64)
}

/// The largest ε_s that the condition 8R₂L₂ε_s ≤ λ₀ allows.
fn largest_state_error(bed: &Hat) -> f64 {
    let (r2, l2) = feature_constants(bed);
    bed.coverage(0.5) / (8.0 * r2 * l2)
}

/// What the corrected theorem says about one data set of a hat bed.
struct Guarantee {
    e_stat: f64,
    e_pert: f64,
    ξ: f64,
}

/// ξ = (e_stat + e_pert)/(1−γ) + γᴮV, with the constants of the data at hand or of the population.
fn guarantee(bed: &Hat, fit: &HatFit, by: &Disturbance, certificate: bool) -> Guarantee {
    let (γ, limit) = (bed.discount(), bed.reward_bound() / (1.0 - bed.discount()));
    let (d, n, λ0) = (fit.weights.len() as f64, fit.truth.len() as f64, bed.coverage(0.5));
    let ((r2, l2), ε_s, ε_r) = (feature_constants(bed), by.states, by.rewards);
    let net = (2.0 * n.ln() + 2.0 * d * (1.0 + 4.0 * r2 * (n / λ0).sqrt()).ln()).sqrt();
    let bracket = d.sqrt() + net + 2.0 * γ;
    let Certificate { reach, a, c } = if certificate {
        Certificate::of(bed, fit, by)
    } else {
        Certificate { reach: r2 * (2.0 / (n * λ0)).sqrt(), a: λ0 / 2.0, c: λ0 / 4.0 }
    };
    let (weight, steepest) = (limit / a.sqrt(), l2 * limit / c.sqrt());
    let e_stat = reach * limit * bracket;
    let first = (ε_r + γ * steepest * ε_s + l2 * weight * ε_s) / c.sqrt();
    let e_pert = r2 * (first + l2 * ε_s * limit / c);
    Guarantee { e_stat, e_pert, ξ: (e_stat + e_pert) / (1.0 - γ) + γ.powi(STEPS) * limit }
}

/// Largest ratio of ‖Q* − f̂‖ to factor·ξ, and of regret to factor·2ξ/(1−γ), over data sets of the hat bed.
fn on_the_hat_bed(budget: Budget, certificate: bool, factor: f64) -> Verdict {
    let mut search = Search::new();
    let bed = hat();
    let q = bed.optimum();
    let (γ, limit) = (bed.discount(), bed.reward_bound() / (1.0 - bed.discount()));
    let λ0 = bed.coverage(0.5);
    for seed in 0..budget.pick(4, 60) {
        for n in [500usize, 2000] {
            for (k, size) in [0.0, 0.1, 1.0].into_iter().enumerate() {
                let ε_s = size * largest_state_error(&bed);
                let by = Disturbance { states: ε_s, rewards: 0.05 * size, scale: 1.0 };
                let ε_r = by.rewards;
                let stream = Stream::new(63).index(seed).index(n as u64).index(k as u64);
                let fit = learn(&bed, n, STEPS as usize, by, Clipping::Rewards(bed.reward_bound()), stream);
                let Guarantee { e_stat, e_pert, ξ } = guarantee(&bed, &fit, &by, certificate);
                let ξ = factor * ξ;
                let error = small::sup(&q.iter().zip(&fit.weights).map(|(q, w)| q - w).collect::<Vec<_>>());
                let text = || {
                    format!(
                        "hat bed, n = {n}, seed {seed}, ε_s = {ε_s:.5}, ε_r = {ε_r:.3}, λ₀ = {λ0:.4}: e_stat = {e_stat:.3}, e_pert = {e_pert:.3}, γ = {γ}, V = {limit:.4}, right side times {factor}"
                    )
                };
                search.case(error, ξ, text);
                search.case(bed.regret(&bed.greedy(&fit.weights)).max(0.0), 2.0 * ξ / (1.0 - γ), text);
            }
        }
    }
    search.verdict()
}

/// sup‖φ‖_{A⁻¹}, λ_min(A)/n and λ_min(C)/n of one data set.
struct Certificate {
    reach: f64,
    a: f64,
    c: f64,
}

impl Certificate {
    fn of(bed: &Hat, fit: &HatFit, by: &Disturbance) -> Self {
        let nodes = bed.cells() + 1;
        let map = Tent::new(vec![Axis { low: 0.0, high: 1.0, nodes }]).expect("two nodes or more");
        let n = fit.truth.len() as f64;
        let mut least = [f64::INFINITY; 2];
        let mut reach: f64 = 0.0;
        for action in 0..2 {
            for (k, shift) in [0.0, by.states].into_iter().enumerate() {
                let mut gram = vec![0.0; nodes * nodes];
                let mut φ = vec![0.0; nodes];
                for (s, _) in fit.truth.iter().zip(&fit.actions).filter(|(_, a)| **a == action) {
                    map.fill(&[(s + shift * wave(*s)).clamp(0.0, 1.0)], &mut φ);
                    for i in 0..nodes {
                        for j in 0..nodes {
                            gram[i * nodes + j] += φ[i] * φ[j];
                        }
                    }
                }
                least[k] = least[k].min(small::symmetric_eigenvalues(&gram, nodes)[0] / n);
                if k == 0 {
                    // φᵀA⁻¹φ is convex along a cell, so its sup is at a node.
                    let inverse = small::inverse(&gram, nodes).expect("every node was visited");
                    reach = (0..nodes).map(|i| inverse[i * nodes + i].sqrt()).fold(reach, f64::max);
                }
            }
        }
        Self { reach, a: least[0], c: least[1] }
    }
}
