//! Regret: `thm:regret`, as corrected.

use super::circle::{HORIZON, Made, Setting, in_error, rate};
use super::iteration::{Coordinates, fork};
use super::samples::{DIGITS, Process, Tuple, distance, empirical, fitted, many, steps};
use super::search::{between, climb, each_halved, signed};
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::kernel::learn::Clipping;
use crate::kernel::numeric::small::dot;
use crate::kernel::numeric::{Stream, small};
use crate::theory::beds::Circle;
use crate::theory::guarantee::bounds_at;

const FITTED_Q: &str = "kernel::learn::fitted_q_iteration";
const WHOLE: &str = "kernel::preprocess::Sequential, kernel::learn::fitted_q_iteration";
const BOUND: Option<Quotation> =
    Quotation::at(381, r"\frac{ C dLR_{\max}\epsilon}{\lambda_0(\lambda_0-4dL\epsilon)(1-\gamma)^3}");
const STATES: Option<Quotation> =
    Quotation::at(387, r"which measures the \textit{estimation error of counterfactual states and rewards}");

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "thm:regret",
        says: "regret ≤ (e* + ê)/(1−γ) + 2γᴮR̂/(1−γ), attained: e* and ê are how far the sample's averages are off at Q* and at Qπ̂",
        assumes: &[
            "features that are indicators; T̂ are the averages of the sample, R̂ is their largest reward",
            "e* = ‖T̂Q* − Q*‖∞ at the best actions, ê = ‖T̂Qπ̂ − Qπ̂‖∞ at those of π̂: both fall like V/√n, so that regret has (1−γ)⁻² where 2ξ/(1−γ) has (1−γ)⁻³",
            "f̂₀ = 0, π̂ greedy on true states, regret at the worst state",
            "finite processes, 1 to 20 draws per pair, B = 1 … 12",
        ],
        limit: Limit::AtMost,
        check: of_averages,
        control: "each of the two constants halved in turn; shown is the one broken by least",
        runs: FITTED_Q,
        source: BOUND,
        ..Claim::HEADLINE
    },
    Claim {
        label: "D22",
        says: "regret of the greedy policy ≤ 2‖Q* − f̂‖∞/(1−γ), attained",
        assumes: &[
            "π̂ greedy in f̂ on true states, whatever f̂ was learned from",
            "finite processes, rewards misread or 1 to 20 draws per pair",
        ],
        limit: Limit::AtMost,
        check: of_any_error,
        control: "‖Q* − f̂‖∞/(1−γ), without the factor 2",
        runs: FITTED_Q,
        source: Quotation::at(805, r"we have the bound for regret"),
        proved_by: &["regret_on_true_states"],
        ..Claim::LEMMA
    },
    Claim {
        label: "thm:regret",
        says: "P(‖Q* − f̂_B‖∞ ≥ e/(1−γ) + γᴮV) ≤ 2d exp(−n e²/2H²) for indicators: no net over weights, no λ₀",
        assumes: &[
            "n tuples of each of d pairs, |r + γV*(S′) − Q*| ≤ H",
            "states that never change, rewards ±1, γ = ½: every sample is listed with its probability",
        ],
        limit: Limit::AtMost,
        check: with_probability,
        control: "all dn tuples in the exponent",
        runs: FITTED_Q,
        source: BOUND,
        ..Claim::LEMMA
    },
    Claim {
        label: "thm:regret",
        says: "‖Q* − f̂_B‖∞ ≤ ξ for linear features: some 300 times what happens, the price of a net over weights",
        assumes: &[
            "bed:circle, d = 12, n i.i.d. tuples, clipped targets, f̂₀ = 0, 8R₂L₂ε_s ≤ λ₀",
            "ξ as in theory::guarantee at x = log n, with λ_min of the data at hand: it fails with probability 1/n at most",
            "n = 500, 2000; errors 0, 0.1 and 1 times the largest allowed; 3 seeds",
        ],
        limit: Limit::AtMost,
        check: linear_features,
        control: "the bound divided by 1000",
        runs: FITTED_Q,
        source: BOUND,
        ..Claim::LEMMA
    },
    Claim {
        label: "thm:regret",
        says: "‖Q* − f̂_B‖∞ ≤ (ε_r + γL_f ε_s + L₂‖w_f‖ε_s)/(√c(1−γ)) + γᴮV without noise, all four terms attained",
        assumes: &[
            "‖φ‖₂ ≤ 1, c = λ_min(Σφ̂φ̂ᵀ)/n, f̂₀ = 0",
            "one tuple from s = 1 to s′ = 1, φ(s) = s, |r| ≤ 1, each number of it misread",
        ],
        limit: Limit::AtMost,
        check: without_noise,
        control: "each of the four constants halved in turn; shown is the one broken by least",
        runs: FITTED_Q,
        source: BOUND,
        proved_by: &["perturbed_prediction", "fitted_iteration_from_zero"],
        ..Claim::LEMMA
    },
    Claim {
        label: "X4",
        says: "f̂ differs from Q* with probability at most d exp(−Nλ₀), N the number of people",
        assumes: &[
            "indicators, rewards without noise",
            "N people of T = 5 who never leave their state, one of d equally likely, λ₀ = 1/d",
            "every set of states seen is listed with its probability",
        ],
        limit: Limit::AtMost,
        check: people_not_tuples,
        control: "all NT tuples in the exponent, as if they were independent",
        runs: FITTED_Q,
        source: Quotation::at(375, r"the number of experience tuples in the dataset, i.e., $n = NT$"),
        ..Claim::LEMMA
    },
    Claim {
        label: "thm:regret",
        says: "regret ≤ C_m(2ξ)^{1+α}/(1−γ) under a margin, attained",
        assumes: &[
            "‖Q* − f̂‖∞ ≤ ξ",
            "P(gap ≤ x) ≤ C_m xᵅ under the discounted law of the states that π̂ visits, a tie being a gap of 0",
            "α = ½, 1, 2; a uniform first state",
        ],
        limit: Limit::AtMost,
        check: under_margin,
        control: "C_m ξ^{1+α}/(1−γ), without the factor 2",
        runs: FITTED_Q,
        source: BOUND,
        proved_by: &["performance_difference", "regret_counts_small_gaps", "fast_rate"],
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:n",
        says: "‖f̂ − Q*‖∞ falls like N^−½ with true counterfactual states",
        assumes: &["bed:circle, T = 6", "six sizes N = 125 … 4000, 40 seeds"],
        limit: Limit::Law { slope: -0.5 },
        check: |run| rate(run, "‖f̂ − Q*‖∞", |bed, made| bed.sup_distance(&bed.optimum(), &made.oracle)),
        control: "rewards are weighed with P(Z) = (½, ½) where it is (0.6, 0.4)",
        runs: "kernel::preprocess::Oracle, kernel::learn::fitted_q_iteration",
        source: Quotation::at(387, r"which approaches zero as $n$ increases"),
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:end-to-end",
        says: "the error of counterfactual states falls like N^−½",
        assumes: &["bed:circle, T = 6, means by level and action", "six sizes N = 125 … 4000, 40 seeds"],
        limit: Limit::Law { slope: -0.5 },
        check: |run| rate(run, "ε_s", |bed, made| made.fit.state_error(&bed.truth(), HORIZON)),
        control: "means of level 1 stay wrong by 0.3",
        runs: "kernel::preprocess::Sequential",
        source: STATES,
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:end-to-end",
        says: "‖f̂ − Q*‖∞ falls like N^−½ with estimated states and rewards",
        assumes: &["bed:circle, T = 6", "six sizes N = 125 … 4000, 40 seeds"],
        limit: Limit::Law { slope: -0.5 },
        check: |run| {
            rate(run, "‖f̂ − Q*‖∞, estimated", |bed, made| bed.sup_distance(&bed.optimum(), &made.ours))
        },
        control: "means of level 1 stay wrong by 0.3",
        runs: WHOLE,
        source: STATES,
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:oracle",
        says: "‖f̂ − f̂ of the Oracle‖∞ on the same people falls like N^−½",
        assumes: &["bed:circle, T = 6", "six sizes N = 125 … 4000, 40 seeds"],
        limit: Limit::Law { slope: -0.5 },
        check: |run| {
            rate(run, "‖f̂ − f̂ of the Oracle‖∞", |bed, made| bed.sup_distance(&made.ours, &made.oracle))
        },
        control: "means of level 1 stay wrong by 0.3, and the Oracle weighs rewards with (½, ½)",
        runs: WHOLE,
        source: Quotation::at(407, r"an idealized policy that used concatenations of counterfactual states"),
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:oracle",
        says: "the share of people whose first decision is not the Oracle's falls like N^−½",
        assumes: &[
            "bed:circle, T = 6, closed form under the true law",
            "asm:margin, α = 1",
            "six sizes N = 125 … 4000, 40 seeds",
        ],
        limit: Limit::Law { slope: -0.5 },
        check: |run| {
            run.pick(Setting::Sound, Setting::Tied).rate("first decisions unlike the Oracle's", unlike_the_oracle)
        },
        control: "a bed in which both actions are worth the same",
        runs: WHOLE,
        source: Quotation::at(407, r"an idealized policy that used concatenations of counterfactual states"),
        ..Claim::LEMMA
    },
    Claim {
        label: "rate:epsilon",
        says: "‖f̂(ε) − f̂(0)‖∞ grows like ε on the same people",
        assumes: &["bed:circle, N = 200, T = 6", "true means made wrong by ε at level 1, ε = 1e-4 … 3.2e-3, 20 seeds"],
        limit: Limit::Law { slope: 1.0 },
        check: in_error,
        control: "means wrong by √ε",
        runs: WHOLE,
        source: STATES,
        ..Claim::LEMMA
    },
];

fn unlike_the_oracle(bed: &Circle, made: &Made) -> f64 {
    let oracle = bed.oracle(&made.oracle);
    let of_level = |z: usize| bed.first_disagreement(&bed.method(&made.ours, &made.fit, z), &oracle);
    (0..2).map(|z| bed.level_law()[z] * of_level(z)).sum()
}

/// Two arms in one state: r = (1.999ε, 0), which a sample tells as (0.999ε, ε), so that the worse is taken for ever.
fn swapped_arms(discount: f64, ε: f64) -> (Process, Vec<Tuple>) {
    let process = Process::certain(discount, 2, &[0, 0], vec![1.999 * ε, 0.0]);
    let misread = Process::certain(discount, 2, &[0, 0], vec![0.999 * ε, ε]);
    (process, misread.census(0.0))
}

/// A random process and a sample of it: the i-th of a sequence.
fn sampled(seed: u64, i: u64) -> (Process, Vec<Tuple>) {
    let stream = Stream::new(seed).index(i);
    let process = Process::random(stream);
    let sample = process.draws(1 + (i % 20) as usize, 0.5, &mut stream.named("draws").rng());
    (process, sample)
}

fn of_averages(run: Run) -> Found {
    match run {
        Run::Stated => averages([1.0; 2]).found(),
        Run::Control => each_halved(averages).found(),
    }
}

fn averages(constants: [f64; 2]) -> Worst {
    let mut worst = Worst::default();
    let mut case = |process: &Process, sample: &[Tuple], steps: usize| {
        let γ = process.discount;
        let (averages, best) = (empirical(process, sample), process.optimum());
        let rule = process.learn(sample, steps, Clipping::Off).rule;
        // |T̂Q^π − Q^π| at the actions that π takes, Q^π = r + γP V^π.
        let off = |policy: &[f64]| {
            let values = process.mdp.values(policy, γ);
            let (there, here) = (averages.mdp.action_values(&values, γ), process.mdp.action_values(&values, γ));
            let taken = there.iter().zip(&here).zip(policy).filter(|(_, p)| **p > 0.0);
            taken.map(|((there, here), _)| (there - here).abs()).fold(0.0, f64::max)
        };
        let first = (off(&process.mdp.greedy(&best)) + off(&rule)) / (1.0 - γ);
        let last = 2.0 * γ.powi(steps as i32) * averages.limit();
        let right = constants[0] * first + constants[1] * last + DIGITS;
        worst.at_most(process.regret(&rule), right, || {
            format!("{process:?}, B = {steps}, sample averages {averages:?}")
        });
    };
    for (γ, ε) in [(0.9, 0.1), (0.5, 0.25)] {
        let (process, sample) = swapped_arms(γ, ε);
        case(&process, &sample, many(γ));
    }
    for steps in [1, 3] {
        let process = fork(0.7, steps);
        case(&process, &process.census(0.0), steps);
    }
    for i in 0..200 {
        let (process, sample) = sampled(111, i);
        case(&process, &sample, 1 + (i % 12) as usize);
    }
    worst
}

fn of_any_error(run: Run) -> Found {
    let mut worst = Worst::default();
    let mut case = |process: &Process, sample: &[Tuple], steps: usize| {
        let learned = process.learn(sample, steps, Clipping::Off);
        let error = distance(&process.optimum(), &learned.values);
        let right = run.pick(2.0, 1.0) * error / (1.0 - process.discount);
        worst.at_most(process.regret(&learned.rule), right + DIGITS, || {
            format!("{process:?}, B = {steps}, f̂ = {:?}", learned.values)
        });
    };
    misled(|process, sample| case(process, sample, many(process.discount)));
    (0..100).for_each(|i| {
        let (process, sample) = sampled(112, i);
        case(&process, &sample, 1 + (i % 12) as usize);
    });
    worst.found()
}

/// Processes with rewards misread so that f̂ is ξ below Q* at the best action and ξ above at others: first one state whose gap is just below 2ξ.
fn misled(mut case: impl FnMut(&Process, &[Tuple])) {
    let mislead = |process: &Process, ξ: f64, sign: &mut dyn FnMut() -> f64| {
        let (q, best) = (process.optimum(), process.mdp.greedy(&process.optimum()));
        let towards = q.iter().zip(&best).map(|(q, p)| q + ξ * if *p > 0.0 { -1.0 } else { sign() });
        process.leading_to(&towards.collect::<Vec<_>>())
    };
    for (γ, ξ) in [(0.9, 0.1), (0.5, 0.02), (0.7, 0.3)] {
        let process = Process::certain(γ, 2, &[0, 0], vec![1.999 * ξ, 0.0]);
        let sample = mislead(&process, ξ, &mut || 1.0);
        case(&process, &sample);
    }
    for i in 0..100 {
        let stream = Stream::new(113).index(i);
        let (process, mut rng) = (Process::random(stream), stream.named("errors").rng());
        let ξ = between(&mut rng, 0.01, 0.6);
        let sample = mislead(&process, ξ, &mut || if i % 2 == 0 { 1.0 } else { signed(&mut rng) });
        case(&process, &sample);
    }
}

/// n fair signs in each of d states that never change: the error is that of the worst mean, and each count of signs has its binomial probability.
fn with_probability(run: Run) -> Found {
    let mut worst = Worst::default();
    let γ: f64 = 0.5;
    for (d, n) in [(1, 2), (1, 3), (1, 8), (2, 2), (2, 4)] {
        let stay: Vec<usize> = (0..d).collect();
        let process = Process::certain(γ, 1, &stay, vec![0.0; d]);
        let choose = |k: usize| (0..k).fold(1.0, |product, j| product * (n - j) as f64 / (j + 1) as f64);
        // Each entry: the error of f̂ and the probability of its sample.
        let mut outcomes: Vec<(f64, f64)> = Vec::new();
        for code in 0..(n + 1usize).pow(d as u32) {
            let ups: Vec<usize> = (0..d).map(|s| code / (n + 1usize).pow(s as u32) % (n + 1)).collect();
            let sign = |s: usize, k: usize| if k < ups[s] { 1.0 } else { -1.0 };
            let tuple = |s: usize, k: usize| Tuple {
                state: vec![s as f64],
                action: 0,
                reward: sign(s, k),
                next: vec![s as f64],
            };
            let sample: Vec<Tuple> =
                (0..d).flat_map(|s| (0..n).map(move |k| (s, k))).map(|(s, k)| tuple(s, k)).collect();
            let error = small::sup(&process.learn(&sample, many(γ), Clipping::Off).values);
            outcomes.push((error, ups.iter().map(|&k| choose(k) / 2f64.powi(n as i32)).product()));
        }
        for &(error, _) in outcomes.iter().filter(|(error, _)| *error > DIGITS) {
            let probability = outcomes.iter().filter(|(other, _)| *other >= error - DIGITS).map(|(_, p)| p).sum();
            let (e, rows) = (error * (1.0 - γ), run.pick(n, d * n) as f64);
            // A probability is at most 1 without our help.
            let limit = (2.0 * d as f64 * (-rows * e * e / 2.0).exp()).min(1.0);
            if limit < 1.0 {
                worst.at_most(probability, limit, || {
                    format!("d = {d} states, {n} signs each: P(error ≥ {error:.4}) = {probability}")
                });
            }
        }
    }
    worst.found()
}

fn linear_features(run: Run) -> Found {
    let mut worst = Worst::default();
    for seed in 0..3 {
        for n in [500, 2000] {
            for share in [0.0, 0.1, 1.0] {
                let found = bounds_at(n, share, Stream::new(63).index(seed));
                let ξ = found.certificate.min(found.population) * (1.0 - Circle::default().discount) / 2.0;
                worst.at_most(found.error, run.pick(1.0, 1e-3) * ξ, || format!("seed {seed}: {found:?}"));
            }
        }
    }
    worst.found()
}

fn without_noise(run: Run) -> Found {
    match run {
        Run::Stated => misread_tuple([1.0; 4]).found(),
        Run::Control => each_halved(misread_tuple).found(),
    }
}

/// One tuple from s = 1 to s′ = 1 with φ(s) = s and reward r, read as (ŝ, ŝ′, r̂): an iteration w ← (r̂ + γwŝ′)/ŝ, run by the kernel.
fn misread_tuple(constants: [f64; 4]) -> Worst {
    let mut worst = Worst::default();
    let mut case = |r: f64, [now, then, read]: [f64; 3], γ: f64, rounds: usize| {
        let tuple = Tuple { state: vec![now], action: 0, reward: read, next: vec![then] };
        let learned = |b: usize| fitted(std::slice::from_ref(&tuple), 1, &Coordinates(1), steps(γ, b, Clipping::Off));
        let iterates: Vec<f64> = (0..=rounds).map(|b| learned(b).weights()[0]).collect();
        // f = wφ has Lipschitz constant |w|, and its regression on exact data is w_f = r + γw.
        let before = &iterates[..rounds];
        let steepest = before.iter().fold(0.0f64, |most, w| most.max(w.abs()));
        let largest = before.iter().fold(0.0f64, |most, w| most.max((r + γ * w).abs()));
        let off = [(read - r).abs(), γ * steepest * (then - 1.0).abs(), largest * (now - 1.0).abs()];
        let terms = off.map(|x| x / (now * (1.0 - γ)));
        let right = dot(&terms, &constants[..3]) + constants[3] * γ.powi(rounds as i32) / (1.0 - γ);
        let error = (r / (1.0 - γ) - iterates[rounds]).abs();
        worst.at_most(error, right, || {
            format!("one tuple, s = s′ = 1, r = {r}, read as ŝ = {now}, ŝ′ = {then}, r̂ = {read}, γ = {γ}, B = {rounds}: f̂(1) = {}", iterates[rounds])
        })
    };
    // One term at a time; after fifty halvings γᴮ is below rounding.
    case(0.5, [1.0, 1.0, 0.6], 0.5, 50);
    case(0.5, [1.0, 1.1, 0.5], 0.5, 50);
    case(0.5, [0.9, 1.0, 0.5], 0.5, 50);
    case(1.0, [1.0, 1.0, 1.0], 0.5, 3);
    climb(5, 60, Stream::new(66), &mut |x| {
        let unit = |k: usize| x[k].clamp(-1.0, 1.0);
        let read = [1.0 + 0.1 * unit(0), 1.0 + 0.1 * unit(1), 0.5 + 0.1 * unit(2)];
        case(0.5, read, 0.5 + 0.3 * unit(3), 1 + (20.0 * unit(4).abs()) as usize)
    });
    worst
}

fn people_not_tuples(run: Run) -> Found {
    let mut worst = Worst::default();
    let (γ, horizon) = (0.5, 5);
    for d in [2usize, 4, 6] {
        let stay: Vec<usize> = (0..d).collect();
        let process = Process::certain(γ, 1, &stay, vec![1.0; d]);
        let best = process.optimum();
        // Whether f̂ is off depends on the set of states that somebody was in.
        let is_off = |seen: usize| {
            let tuples = (0..d).filter(|s| seen >> s & 1 == 1).flat_map(|s| {
                let at = vec![s as f64];
                std::iter::repeat_n(Tuple { state: at.clone(), action: 0, reward: 1.0, next: at }, horizon)
            });
            let learned = process.learn(&tuples.collect::<Vec<_>>(), many(γ), Clipping::Off);
            distance(&best, &learned.values) > DIGITS
        };
        let off: Vec<usize> = (1..1 << d).filter(|&seen| is_off(seen)).collect();
        for people in [4, 8, 16, 24, 32] {
            // P(everybody is in `seen`, and nobody is missing from it), by inclusion and exclusion over its subsets.
            let exactly = |seen: usize| -> f64 {
                let within = |subset: usize| (f64::from(subset.count_ones()) / d as f64).powi(people);
                let sign = |subset: usize| if (seen ^ subset).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
                (1..=seen).filter(|subset| subset & !seen == 0).map(|subset| sign(subset) * within(subset)).sum()
            };
            let probability = off.iter().map(|&seen| exactly(seen)).sum();
            let limit = d as f64 * (-f64::from(people) * run.pick(1.0, horizon as f64) / d as f64).exp();
            if limit < 1.0 {
                worst.at_most(probability, limit, || {
                    format!("d = {d} states, N = {people} people, T = {horizon}: P(f̂ ≠ Q*) = {probability}")
                });
            }
        }
    }
    worst.found()
}

fn under_margin(run: Run) -> Found {
    let mut worst = Worst::default();
    misled(|process, sample| {
        let (mdp, γ, n) = (&process.mdp, process.discount, process.mdp.states());
        let (q, learned) = (process.optimum(), process.learn(sample, many(γ), Clipping::Off));
        let ξ = distance(&q, &learned.values);
        // d = (1−γ)(I − γPᵀ)⁻¹ν, ν uniform.
        let mut matrix = vec![0.0; n * n];
        (0..n).for_each(|s| matrix[s * n + s] = 1.0);
        for (pair, next) in mdp.successors().iter().enumerate().filter(|(pair, _)| learned.rule[*pair] > 0.0) {
            next.iter().for_each(|(to, p)| matrix[to * n + pair / mdp.actions()] -= γ * p);
        }
        let visits = small::solve(&matrix, &vec![(1.0 - γ) / n as f64; n]).expect("γ < 1");
        let gaps = process.gaps(&q);
        let mass = |x: f64| -> f64 { visits.iter().zip(&gaps).filter(|(_, gap)| **gap <= x).map(|(p, _)| p).sum() };
        let regret = mdp.initial_value(&process.value(&q)) - mdp.initial_value(&mdp.values(&learned.rule, γ));
        for α in [0.5, 1.0, 2.0] {
            // A tie makes this infinite: there is no margin then, and nothing is claimed.
            let constant = gaps.iter().map(|&gap| mass(gap) / gap.powf(α)).fold(0.0, f64::max);
            if constant.is_finite() {
                let right = constant * (run.pick(2.0, 1.0) * ξ).powf(1.0 + α) / (1.0 - γ);
                worst.at_most(regret, right + DIGITS, || format!("{process:?}, ξ = {ξ}, α = {α}, C_m = {constant}"));
            }
        }
    });
    worst.found()
}
