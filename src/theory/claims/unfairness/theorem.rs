//! `thm:cf_metric` and what holds instead: unfairness ≤ P(gap ≤ 2(ξ + L_Q ε_s)), with nothing to spare.

use super::margin::{Boundary, Sides};
use crate::kernel::numeric::{Stream, uniform_index};
use crate::theory::claims::search::{Search, signed};
use crate::theory::claims::{Budget, Claim, Expected, Verdict};

pub(super) const CLAIMS: &[Claim] = &[
    Claim::printed(
        "thm:cf_metric",
        "unfairness ≤ 2^{α+1}ξ^α + 2^α(Lε)^α",
        &["asm:margin", "thm:regret"],
        Expected::Refuted,
        |_| printed(|ξ, ε, α| 2f64.powf(α + 1.0) * ξ.powf(α) + (2.0 * FEATURE_LIPSCHITZ * ε).powf(α)),
        |_| printed(|ξ, ε, α| (2.0 * ξ + 2.0 * ε).powf(α)),
    )
    .at(396, r"is no more than $2^{\alpha+1} \xi^\alpha +2^\alpha (L\epsilon)^\alpha$")
    .runs("kernel::learn::fitted_q_iteration")
    .under("E7"),
    Claim::ours(
        "thm:cf_metric",
        "P(π̂(ŝ′) ≠ π̂(ŝ″)) ≤ P(gap(s) ≤ 2(ξ + L_Q ε_s)), on finite worlds",
        &["‖Q* − f̂‖∞ ≤ ξ where s and ŝ live", "gap counts ties as 0"],
        Expected::NotRefuted,
        |budget| lattice(budget, |world| world.mass(2.0)),
        |budget| lattice(budget, |world| world.mass(1.0)),
    )
    .at(396, r"is no more than $2^{\alpha+1} \xi^\alpha +2^\alpha (L\epsilon)^\alpha$"),
    Claim::ours(
        "thm:cf_metric",
        "P(π̂(ŝ′) ≠ π̂(ŝ″)) ≤ C_m(2ξ + 2L_Q ε_s)^α, attained by a one-sided law at ξ = ε",
        &["P(gap ≤ x) ≤ C_m x^α"],
        Expected::NotRefuted,
        |_| extremal(2.0),
        |_| extremal(1.9),
    )
    .at(396, r"is no more than $2^{\alpha+1} \xi^\alpha +2^\alpha (L\epsilon)^\alpha$"),
    Claim::ours(
        "thm:cf_metric",
        "P(π̂(ŝ′) ≠ π̂(ŝ″)) ≤ P(gap_f̂(s) ≤ 2L_f̂ ε_s): no ξ, computable from data",
        &["f̂ is L_f̂-Lipschitz"],
        Expected::NotRefuted,
        |budget| without_error(budget, 2.0),
        |budget| without_error(budget, 1.0),
    )
    .at(396, r"is no more than $2^{\alpha+1} \xi^\alpha +2^\alpha (L\epsilon)^\alpha$"),
    Claim::ours(
        "eq:cf_metric",
        "ε_s = 0 makes unfairness exactly 0, however wrong f̂ is",
        &["both worlds read the same ŝ"],
        Expected::NotRefuted,
        |budget| equal_readings(budget, 0.0),
        |budget| equal_readings(budget, 0.3),
    )
    .at(411, r"\frac{1}{NT} \sum_{i=1}^N \sum_{t=1}^{T} \mathbf{I}")
    .runs("kernel::evaluate::evaluate"),
];

/// L of φ(s) = (1, s/10) with weights ±10 on the second feature, while L_Q = 1.
const FEATURE_LIPSCHITZ: f64 = 0.1;

/// Worlds with margin constant 1, against a bound in ξ, ε and α.
fn printed(bound: fn(f64, f64, f64) -> f64) -> Verdict {
    let mut search = Search::new();
    for α in [1.0, 2.0, 0.5] {
        for (ξ, ε) in [(0.0, 0.05), (0.02, 0.02)] {
            let world = Boundary { sides: Sides::Two, α, boundary: ξ, shifts: (ε, -ε) };
            search.case(world.unfairness(), bound(ξ, ε, α), || {
                format!("{}; Q* = wᵀφ with φ(s) = (1, s/10), so L = 0.1", world.text())
            });
        }
    }
    search.verdict()
}

/// States at the points of a grid, two worlds that misread them, an action value and its estimate.
struct Finite {
    law: Vec<f64>,
    gaps: Vec<f64>,
    lipschitz: f64,
    ε: f64,
    ξ: f64,
    unfairness: f64,
    text: String,
}

impl Finite {
    /// P(gap ≤ factor·(ξ + L_Q ε)).
    fn mass(&self, factor: f64) -> f64 {
        // The comparison is of sums of the same numbers in another order: a few ulps decide nothing.
        let limit = factor * (self.ξ + self.lipschitz * self.ε) * (1.0 + 1e-12);
        self.law.iter().zip(&self.gaps).filter(|(_, gap)| **gap <= limit).map(|(p, _)| p).sum()
    }

    fn draw(i: u64) -> Self {
        let mut rng = Stream::new(41).named("finite").index(i).rng();
        let (points, actions) = (3 + uniform_index(&mut rng, 5), 2 + uniform_index(&mut rng, 2));
        let at = |s: usize| s as f64 / points as f64;
        // Sixteenths and eighths, so that a world can be written down and computed with by hand.
        let mut law = vec![0.0; points];
        (0..16).for_each(|_| law[uniform_index(&mut rng, points)] += 1.0 / 16.0);
        let q: Vec<Vec<f64>> = (0..points)
            .map(|_| (0..actions).map(|_| (uniform_index(&mut rng, 17) as f64 - 8.0) / 8.0).collect())
            .collect();
        let ξ = if i.is_multiple_of(3) { 0.0 } else { uniform_index(&mut rng, 4) as f64 / 16.0 };
        let f: Vec<Vec<f64>> =
            q.iter().map(|row| row.iter().map(|x| x + ξ * signed(&mut rng).signum()).collect()).collect();
        let reach = uniform_index(&mut rng, 3);
        let near = |s: usize, rng: &mut _| {
            let low = s.saturating_sub(reach);
            low + uniform_index(rng, (s + reach).min(points - 1) - low + 1)
        };
        let read: Vec<(usize, usize)> = (0..points).map(|s| (near(s, &mut rng), near(s, &mut rng))).collect();
        let (mut lipschitz, mut ε) = (0.0f64, 0.0f64);
        for s in 0..points {
            for t in 0..s {
                let apart = (0..actions).map(|a| (q[s][a] - q[t][a]).abs()).fold(0.0, f64::max);
                lipschitz = lipschitz.max(apart / (at(s) - at(t)));
            }
            ε = ε.max((at(s) - at(read[s].0)).abs()).max((at(s) - at(read[s].1)).abs());
        }
        let best = |row: &[f64]| (1..actions).fold(0, |b, a| if row[a] > row[b] { a } else { b });
        let gaps = q.iter().map(|row| {
            let mut sorted = row.clone();
            sorted.sort_by(f64::total_cmp);
            sorted[actions - 1] - sorted[actions - 2]
        });
        let unfairness = (0..points).filter(|&s| best(&f[read[s].0]) != best(&f[read[s].1])).map(|s| law[s]).sum();
        let text = format!(
            "points j/{points}, j = 0 …, with law {law:?}, Q*(j,·) = {q:?}, f̂(j,·) = {f:?}, the two worlds read j as {read:?}; ties go to the first action"
        );
        Self { gaps: gaps.collect(), law, lipschitz, ε, ξ, unfairness, text }
    }
}

fn lattice(budget: Budget, right: fn(&Finite) -> f64) -> Verdict {
    let mut search = Search::new();
    for i in 0..budget.pick(3000, 200_000) {
        let world = Finite::draw(i);
        search.case(world.unfairness, right(&world), || world.text.clone());
    }
    search.verdict()
}

/// The worlds in which the bound is an equality; `factor` stands where 2 should.
fn extremal(factor: f64) -> Verdict {
    let mut search = Search::new();
    for α in [0.5, 1.0, 2.0, 3.0] {
        for (sides, ξ, ε) in
            [(Sides::One, 0.02, 0.02), (Sides::One, 0.1, 0.1), (Sides::Two, 0.0, 0.05), (Sides::Two, 0.03, 0.01)]
        {
            let world = Boundary { sides, α, boundary: ξ, shifts: (ε, -ε) };
            search.case(world.unfairness(), (factor * (world.error() + world.shift())).powf(α), || world.text());
        }
    }
    search.verdict()
}

/// f̂ = piecewise linear in s with slopes ±1; both readings within ε; factor·L_f̂·ε where 2 should stand.
fn without_error(budget: Budget, factor: f64) -> Verdict {
    let mut search = Search::new();
    for i in 0..budget.pick(2000, 100_000) {
        let mut rng = Stream::new(42).named("lipschitz").index(i).rng();
        // f̂(s, a) = cₐ + bₐ s with |bₐ| ≤ L, in sixteenths: a random state, its gap, and two readings of it.
        let steps = 1 + uniform_index(&mut rng, 32);
        let lipschitz = steps as f64 / 16.0;
        let sixteenths = |rng: &mut _, most: usize| (uniform_index(rng, 2 * most + 1) as f64 - most as f64) / 16.0;
        let lines: Vec<(f64, f64)> = (0..2)
            .map(|_| {
                let steep = sixteenths(&mut rng, steps);
                (sixteenths(&mut rng, 5), if i % 2 == 0 { lipschitz * steep.signum() } else { steep })
            })
            .collect();
        let f = |s: f64, a: usize| lines[a].0 + lines[a].1 * s;
        let (s, ε) = (sixteenths(&mut rng, 16), 0.25);
        let gap = (f(s, 1) - f(s, 0)).abs();
        let worlds = [s + ε, s - ε].map(|x| f(x, 1) > f(x, 0));
        let differ = f64::from(u8::from(worlds[0] != worlds[1]));
        let allowed = f64::from(u8::from(gap <= factor * lipschitz * ε));
        search.case(differ, allowed, || format!("f̂(s,a) = intercept + slope·s with {lines:?} by action, s = {s}, readings s ± {ε}, L_f̂ = {lipschitz}, gap_f̂(s) = {gap}; ties go to the first action"));
    }
    search.verdict()
}

/// Unfairness of an arbitrary f̂ when both worlds read s, or when they read ε apart.
fn equal_readings(budget: Budget, ε: f64) -> Verdict {
    let mut search = Search::new();
    let mut rng = Stream::new(43).rng();
    for _ in 0..budget.pick(500, 10_000) {
        let (s, tilt, offset) = (signed(&mut rng), 50.0 * signed(&mut rng), signed(&mut rng));
        let decide = |x: f64| (tilt * x + offset).sin() > 0.0;
        let differ = f64::from(u8::from(decide(s + ε) != decide(s - ε)));
        search.case(differ, 0.0, || {
            format!("π̂(s) = 1{{sin({tilt:.3}s + {offset:.3}) > 0}}, s = {s:.4}, readings s ± {ε}")
        });
    }
    search.verdict()
}
