//! Fitted Q iteration: `alg:cf:2`, its least squares and their perturbation.

use super::samples::{DIGITS, Process, Tuple, distance, fitted, steps};
use super::search::{climb, each_halved};
use super::{Claim, Found, Limit, Quotation, Run, Worst};
use crate::kernel::learn::Clipping;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::numeric::small::{dot, norm, sup, symmetric_eigenvalues};
use crate::kernel::numeric::{Stream, small, uniform_index};
use crate::kernel::preprocess::{Experience, Sequential, View, batch};
use crate::theory::FiniteMdp;
use crate::theory::beds::{Circle, CircleFit, Harmonics};

const FITTED_Q: &str = "kernel::learn::fitted_q_iteration";

pub(super) const CLAIMS: &[Claim] = &[
    Claim {
        label: "alg:cf:2",
        says: "B steps of fitted Q iteration on indicators are B sweeps of value iteration by hand",
        assumes: &[
            "a sample whose averages are the process's expectations",
            "60 finite processes, B = 1 … 8, γ up to 0.9, with and without clipping",
        ],
        limit: Limit::Equal,
        check: value_iteration,
        control: "the sweeps discount by γ²",
        runs: FITTED_Q,
        source: Quotation::at(363, r"y_i = r_i + \gamma \max_a \hat{f}_{b-1}(s_i^\prime,a)"),
        ..Claim::HEADLINE
    },
    Claim {
        label: "alg:cf:2",
        says: "log ‖Q* − f̂_b‖∞ falls by log γ per step",
        assumes: &["f̂₀ = 0", "a process that forgets its state within a few steps", "γ = ½, 0.7, 0.9; b from 10 to 20"],
        limit: Limit::Equal,
        check: geometric,
        control: "the iteration discounts by γ²",
        runs: FITTED_Q,
        source: Quotation::at(
            388,
            r"which approaches zero exponentially fast with respect to the number of FQI iterations $B$",
        ),
        proved_by: &["bellman_contracts", "Q_star_is_fixed", "Q_star_is_unique"],
        ..Claim::LEMMA
    },
    Claim {
        label: "D2",
        says: "a step is ŵ = [Σφ̂φ̂ᵀ]⁻¹ Σφ̂(r̂ + γ maxₐ f̂(ŝ′, a)), with exact states as with estimated ones",
        assumes: &["bed:circle, 60 people, T = 6", "unconstrained least squares", "Σφ̂φ̂ᵀ ≻ 0"],
        limit: Limit::Equal,
        check: normal_equations,
        control: "targets read the state that was left in place of the next",
        runs: "kernel::preprocess::Sequential, kernel::learn::fitted_q_iteration",
        source: Quotation::at(
            698,
            r"\hat{w}_f = \left[\sum_{i=1}^n \phi(\hat{s}_i,a_i) \phi (\hat{s}_i,a_i)^\top\right]^{-1}",
        ),
        ..Claim::LEMMA
    },
    Claim {
        label: "D3",
        says: "‖Q* − f̂_B‖ ≤ Σ γᵗ‖f̂_{B−t} − T f̂_{B−t−1}‖ + γᴮV from f̂₀ = 0, attained",
        assumes: &[
            "V = R/(1−γ), |E(R | s, a)| ≤ R",
            "one state by hand; finite processes, 1 to 20 draws per pair, noise ±½",
        ],
        limit: Limit::AtMost,
        check: propagation,
        control: "the last term halved",
        runs: FITTED_Q,
        source: Quotation::at(
            702,
            r"\|\hat{f}_{B-t} - \mathcal{T} \hat{f}_{B-t-1}\|_\infty + \frac{\gamma^B R_{max}}{1-\gamma}",
        ),
        proved_by: &["errors_propagate", "fitted_iteration_error", "fitted_iteration_from_zero"],
        ..Claim::LEMMA
    },
    Claim {
        label: "asm:completeness",
        says: "no step leaves the ball ‖f‖∞ ≤ R̂/(1−γ), which one reward for ever attains",
        assumes: &[
            "features that are indicators, f̂₀ = 0, R̂ the largest reward of the sample",
            "finite processes, 1 to 20 draws per pair, noise ±½, B = 1 … 12",
        ],
        limit: Limit::AtMost,
        check: stays_in_the_ball,
        control: "the Euclidean norm of the weights in place of ‖f‖∞",
        runs: FITTED_Q,
        source: Quotation::at(669, r"Assume for any $f \in \mathcal{F}$, $\mathcal{T} f \in \mathcal{F}$"),
        ..Claim::LEMMA
    },
    Claim {
        label: "X5",
        says: "stopping after B exact steps costs at most 2γᴮR/(1−γ) of regret, attained: sharper by 1 − γ than 2ξ/(1−γ) gives",
        assumes: &[
            "f̂₀ = 0",
            "exact steps: |f̂_{B+1} − f̂_B| ≤ γᴮR, so that |f̂_B − Qπ̂| and |Q* − f̂_B| are at most γᴮR/(1−γ)",
        ],
        limit: Limit::AtMost,
        check: lookahead,
        control: "γᴮR/(1−γ), without the factor 2",
        runs: FITTED_Q,
        source: Quotation::at(381, r"\frac{\gamma^B R_{\max}}{(1-\gamma)^2}"),
        ..Claim::LEMMA
    },
    Claim {
        label: "lemma:P",
        says: "‖ŵ − w‖₂ ≤ (δ_y + δ_φ‖w‖₂)/√c + δ_φ RMS(ρ)/c: least squares on wrong features and targets, all three terms attained",
        assumes: &[
            "c = λ_min(Σφ̂φ̂ᵀ)/n > 0, Σφφᵀ ≻ 0",
            "|ŷ − y| ≤ δ_y, ‖φ̂ − φ‖₂ ≤ δ_φ, ρ = y − φᵀw",
            "no bound of ‖φ‖ or of the dimension enters",
        ],
        limit: Limit::AtMost,
        check: perturbed,
        control: "each of the three constants halved in turn; shown is the one broken by least",
        runs: FITTED_Q,
        source: Quotation::at(
            787,
            r"\frac{2\epsilon}{\lambda_0 - 4dL\epsilon} \left(1 + \gamma L + \frac{R_{\max}L}{1-\gamma}\right)",
        ),
        proved_by: &["perturbed_least_squares", "perturbed_least_squares_uniform", "perturbed_prediction"],
        ..Claim::LEMMA
    },
];

fn value_iteration(run: Run) -> Found {
    let mut worst = Worst::default();
    for i in 0..60 {
        let process = Process::random(Stream::new(101).index(i));
        let (γ, sweeps) = (process.discount, 1 + (i % 8) as usize);
        // Rewards of at most 1 and noise of a quarter: clipping at 1.25 changes nothing, but takes the kernel's other path.
        let clipping = if i % 2 == 0 { Clipping::Off } else { Clipping::Rewards(1.25) };
        let learned = process.learn(&process.census(0.25), sweeps, clipping).values;
        let by_hand = process.mdp.value_iteration(run.pick(γ, γ * γ), sweeps);
        worst.equal(distance(&learned, &by_hand), 0.0, DIGITS / (1.0 - γ), || {
            format!("{:?}, B = {sweeps}: f̂ = {learned:?}, by hand {by_hand:?}", process.mdp)
        });
    }
    worst.found()
}

fn geometric(run: Run) -> Found {
    let mut worst = Worst::default();
    // Where one is next depends little on where one is: the second eigenvalue of every P^π is at most ¼.
    let next = [0.5, 0.25, 0.375, 0.5].map(|p| vec![(0, p), (1, 1.0 - p)]).to_vec();
    let mdp = FiniteMdp::listed(2, vec![0.5; 2], next, vec![1.0, 0.25, -0.5, -0.375]);
    for γ in [0.5, 0.7, 0.9] {
        let iterated = Process { mdp: mdp.clone(), discount: run.pick(γ, γ * γ) };
        let (sample, best) = (iterated.census(0.25), iterated.optimum());
        let error = |b: usize| distance(&best, &iterated.learn(&sample, b, Clipping::Off).values);
        let slope = (error(20).ln() - error(10).ln()) / 10.0;
        // At b = 10 errors differ between states by ¼¹⁰ of their size.
        worst.equal(slope, γ.ln(), 0.25f64.powi(10), || {
            format!("{mdp:?}, γ = {γ}: errors {:e} at b = 10 and {:e} at b = 20", error(10), error(20))
        });
    }
    worst.found()
}

fn normal_equations(run: Run) -> Found {
    let bed = Circle::default();
    let panel = bed.simulate(60, 6, Stream::new(102));
    let estimated = CircleFit::from_panel(&panel).expect("every level saw every action");
    let mut worst = Worst::default();
    for (name, means) in [("true", bed.truth()), ("estimated", estimated)] {
        let experience = batch(&Sequential::new(means, bed.level_law().to_vec()), &panel).expect("finite states");
        let learned = |steps| bed.learn(&experience, steps, Clipping::Off).expect("enough rows");
        let (first, second) = (learned(1), learned(2));
        for (a, made) in second.iter().enumerate() {
            let by_hand = by_normal_equations(&experience, a, bed.discount, run, first.as_flattened().as_flattened());
            // Gram matrices of six bounded functions on ninety rows have condition numbers below 1000.
            worst.equal(distance(made.as_flattened(), &by_hand), 0.0, 1000.0 * DIGITS, || {
                format!("{name} means, action {a}: ŵ = {made:?}, by hand {by_hand:?}")
            });
        }
    }
    worst.found()
}

/// The weights of one action, from its normal equations; `before` are the weights of the step before.
fn by_normal_equations<V: View>(
    experience: &Experience<V>,
    action: usize,
    discount: f64,
    run: Run,
    before: &[f64],
) -> Vec<f64> {
    let (mut gram, mut moment) = ([0.0; 36], [0.0; 6]);
    let features = |row: usize| Harmonics::at(experience.views()[2 * row], experience.views()[2 * row + 1]);
    for i in 0..experience.people() {
        let (views, decisions) = (experience.views_of(i), experience.decisions_of(i));
        for (t, k) in decisions.enumerate().filter(|(_, k)| experience.actions()[*k] as usize == action) {
            let (φ, then) = (features(views.start + t), features(views.start + t + run.pick(1, 0)));
            let best = before.chunks_exact(6).map(|w| dot(w, &then)).fold(f64::MIN, f64::max);
            let y = experience.rewards()[k] + discount * best;
            (0..6).for_each(|j| moment[j] += φ[j] * y);
            (0..36).for_each(|j| gram[j] += φ[j / 6] * φ[j % 6]);
        }
    }
    small::solve(&gram, &moment).expect("every action was seen in both blocks")
}

fn propagation(run: Run) -> Found {
    let mut worst = Worst::default();
    let mut case = |process: &Process, sample: &[Tuple], steps: usize| {
        let (γ, best) = (process.discount, process.optimum());
        let mut right = run.pick(1.0, 0.5) * γ.powi(steps as i32) * process.limit();
        let mut f = vec![0.0; best.len()];
        for b in 1..=steps {
            let next = process.learn(sample, b, Clipping::Off).values;
            right += γ.powi((steps - b) as i32) * distance(&next, &process.bellman(&f));
            f = next;
        }
        worst.at_most(distance(&best, &f), right, || format!("{process:?}, B = {steps}, f̂ = {f:?}"));
    };
    let one = Process::certain(0.9, 1, &[0], vec![1.0]);
    [1, 3, 10].iter().for_each(|&steps| case(&one, &one.census(0.0), steps));
    for i in 0..60 {
        let stream = Stream::new(103).index(i);
        let process = Process::random(stream);
        let sample = process.draws(1 + (i % 20) as usize, 0.5, &mut stream.named("draws").rng());
        case(&process, &sample, 1 + (i % 7) as usize);
    }
    worst.found()
}

fn stays_in_the_ball(run: Run) -> Found {
    let mut worst = Worst::default();
    let mut case = |process: &Process, sample: &[Tuple], steps: usize| {
        let f = process.learn(sample, steps, Clipping::Off).values;
        let largest = sample.iter().fold(0.0f64, |most, tuple| most.max(tuple.reward.abs()));
        worst.at_most(run.pick(sup(&f), norm(&f)), largest / (1.0 - process.discount), || {
            format!("{process:?}, B = {steps}, f̂ = {f:?}")
        });
    };
    let rich = Process::certain(0.5, 1, &[0, 1, 2], vec![1.0; 3]);
    case(&rich, &rich.census(0.0), 40);
    for i in 0..60 {
        let stream = Stream::new(106).index(i);
        let process = Process::random(stream);
        let sample = process.draws(1 + (i % 20) as usize, 0.5, &mut stream.named("draws").rng());
        case(&process, &sample, 1 + (i % 12) as usize);
    }
    worst.found()
}

/// A fork whose branches differ only after B steps: B steps cannot tell them apart, and the first action leads to the bad one.
pub(super) fn fork(discount: f64, steps: usize) -> Process {
    // State 0 is the fork; 1..=B−1 and B..=2B−2 lead to the last two states, which pay −1 and +1 for ever.
    let (bad, good) = (2 * steps - 1, 2 * steps);
    let enter = |branch: usize| if steps == 1 { [bad, good][branch] } else { 1 + branch * (steps - 1) };
    let mut to = vec![enter(0), enter(1)];
    for s in 1..bad {
        let (branch, k) = ((s - 1) / (steps - 1), (s - 1) % (steps - 1));
        to.extend([if k + 2 == steps { [bad, good][branch] } else { s + 1 }; 2]);
    }
    to.extend([bad, bad, good, good]);
    let mut reward = vec![0.0; to.len()];
    reward[2 * bad..].copy_from_slice(&[-1.0, -1.0, 1.0, 1.0]);
    Process::certain(discount, 2, &to, reward)
}

fn lookahead(run: Run) -> Found {
    let mut worst = Worst::default();
    let mut case = |process: &Process, steps: usize, name: &str| {
        let learned = process.learn(&process.census(0.0), steps, Clipping::Off);
        let limit = run.pick(2.0, 1.0) * process.discount.powi(steps as i32) * process.limit();
        worst.at_most(process.regret(&learned.rule), limit + DIGITS, || format!("{name}B = {steps}, {process:?}"));
    };
    for γ in [0.1, 0.3, 0.6, 0.9] {
        [1, 2, 3, 5].iter().for_each(|&steps| case(&fork(γ, steps), steps, "a fork that pays ±1 after B steps, "));
    }
    (0..60).for_each(|i| case(&Process::random(Stream::new(104).index(i)), 1 + (i % 5) as usize, ""));
    worst.found()
}

/// φ(s) = s.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coordinates(pub usize);

impl FeatureMap for Coordinates {
    fn inputs(&self) -> usize {
        self.0
    }

    fn count(&self) -> usize {
        self.0
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / self.0;
        rows.iter().enumerate().for_each(|(k, x)| out[k % self.0 * n + k / self.0] = *x);
    }
}

/// The kernel's regression of y on rows of d features: one step from f̂₀ = 0.
fn regression(φ: &[f64], y: &[f64], d: usize) -> Vec<f64> {
    let tuple = |(row, y): (&[f64], &f64)| Tuple { state: row.to_vec(), action: 0, reward: *y, next: vec![0.0; d] };
    let tuples: Vec<Tuple> = φ.chunks_exact(d).zip(y).map(tuple).collect();
    fitted(&tuples, 1, &Coordinates(d), steps(0.5, 1, Clipping::Off)).weights().to_vec()
}

/// λ_min(Σφφᵀ)/n of rows of d features.
fn coverage(φ: &[f64], d: usize) -> f64 {
    let gram: Vec<f64> = (0..d * d).map(|k| φ.chunks_exact(d).map(|φ| φ[k / d] * φ[k % d]).sum()).collect();
    symmetric_eigenvalues(&gram, d)[0] / (φ.len() / d) as f64
}

fn perturbed(run: Run) -> Found {
    match run {
        Run::Stated => perturbation([1.0; 3]).found(),
        Run::Control => each_halved(perturbation).found(),
    }
}

fn perturbation(constants: [f64; 3]) -> Worst {
    let mut worst = Worst::default();
    let mut case = |φ: &[f64], φ_hat: &[f64], y: &[f64], y_hat: &[f64], d: usize| {
        // Below this a solve loses more digits than the comparison allows.
        if coverage(φ, d).min(coverage(φ_hat, d)) < 1e-4 {
            return 0.0;
        }
        let (w, w_hat, c) = (regression(φ, y, d), regression(φ_hat, y_hat, d), coverage(φ_hat, d));
        let less = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
        let off_features = less(φ_hat, φ).chunks_exact(d).map(norm).fold(0.0, f64::max);
        let residual: Vec<f64> = φ.chunks_exact(d).zip(y).map(|(φ, y)| y - dot(φ, &w)).collect();
        let spread = norm(&residual) / (y.len() as f64).sqrt();
        let terms = [sup(&less(y_hat, y)) / c.sqrt(), off_features * norm(&w) / c.sqrt(), off_features * spread / c];
        worst.at_most(norm(&less(&w_hat, &w)), dot(&terms, &constants), || {
            format!("d = {d}: φ = {φ:?}, φ̂ = {φ_hat:?} by rows, y = {y:?}, ŷ = {y_hat:?}, c = {c:.4}")
        })
    };
    // Hadamard rows and targets off by signs in their span; φ = 1 read as 0.9; φ = 1 twice, read as 1.1 and 0.9, with targets ±1.
    let hadamard = [1.0, 1.0, 1.0, -1.0];
    case(&hadamard, &hadamard, &[0.0; 2], &[0.01, 0.01], 2);
    case(&[1.0], &[0.9], &[1.0], &[1.0], 1);
    case(&[1.0, 1.0], &[1.1, 0.9], &[1.0, -1.0], &[1.0, -1.0], 1);
    for (k, (d, n)) in [(1, 2), (2, 3), (2, 5), (3, 6)].into_iter().enumerate() {
        let stream = Stream::new(105).index(k as u64);
        let size = [0.3, 0.05][uniform_index(&mut stream.named("size").rng(), 2)];
        climb(2 * n * (d + 1), 400, stream, &mut |x| {
            let (φ, rest) = x.split_at(n * d);
            let (moves, rest) = rest.split_at(n * d);
            let (y, errors) = rest.split_at(n);
            let near = |at: &[f64], by: &[f64]| -> Vec<f64> { at.iter().zip(by).map(|(a, b)| a + size * b).collect() };
            case(φ, &near(φ, moves), y, &near(y, errors), d)
        });
    }
    worst
}
