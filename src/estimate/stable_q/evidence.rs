//! Penalties from the data themselves: restricted maximum likelihood, by MacKay's updates on one Gram matrix.

use super::design::{Design, Group};
use crate::kernel::numeric::RidgeFactor;

/// A regression of targets on the columns of a design, as sums. Targets have had their mean taken off.
pub(super) struct Sums<'a> {
    pub design: &'a Design,
    /// XᵀX.
    pub gram: &'a [f64],
    /// Xᵀy.
    pub moments: &'a [f64],
    /// yᵀy.
    pub squares: f64,
    /// n.
    pub rows: f64,
}

/// How penalties are bounded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    /// A group with deviations carries at least this many times the penalty of the group without, of its kind and degree.
    pub deviation_factor: f64,
    /// By how much rows of one person repeat each other: the variance of a sum over people, in units of that of independent rows.
    pub design_effect: f64,
}

/// A penalised regression whose penalties have been chosen.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    /// λ of each group.
    pub penalties: Vec<f64>,
    /// σ², the residual variance.
    pub variance: f64,
    /// ‖y − Xβ‖².
    pub residual: f64,
    /// β.
    pub coefficients: Vec<f64>,
    /// G + Λ, factored.
    pub factor: RidgeFactor,
}

/// Most updates; from the start below most penalties settle to a per cent in about ten. A wide design, whose updates take
/// a hundred times as long, has to do with those.
const UPDATES: usize = 40;
const UPDATES_WHEN_WIDE: usize = 12;
/// Columns from which a design is wide.
const WIDE: usize = 100;
/// Updates end when no penalty that matters moves by more than this factor.
const SETTLED: f64 = 1.01;
/// The least and the largest penalty, as shares of the number of rows. A column of unit spread is free below and gone above.
const LEAST: f64 = 1e-9;
const MOST: f64 = 1e4;
/// Where the updates start: a tenth of what unit columns weigh.
const START: f64 = 0.1;
/// Weights may use up at most this share of the rows: beyond, the residual variance would be a guess.
const MOST_FREE: f64 = 0.5;
/// The residual variance is at least this share of that of the targets: sums of squares lose the digits below.
const LEAST_VARIANCE: f64 = 1e-9;

/// The penalty of each column.
pub(super) fn by_column(design: &Design, penalties: &[f64]) -> Vec<f64> {
    design.group.iter().map(|group| group.map_or(0.0, |g| penalties[g])).collect()
}

/// Penalties that maximise the restricted likelihood of β_g ~ N(0, τ_g² I), residuals ~ N(0, σ² I), the constant free.
///
/// # Equation
/// ```text
/// λ_g = σ²/τ_g²,    γ_g = |g| − λ_g Σ_{j ∈ g} (G + Λ)⁻¹_jj,    τ_g² ← ‖β_g‖² / γ_g,    σ² ← ‖y − Xβ‖² / (n − 1 − Σ γ_g)
/// ```
/// A design effect multiplies σ² where it stands against τ²: rows that repeat each other count for fewer.
///
/// # Reference
/// MacKay, Bayesian interpolation, Neural Computation 4 (1992) 415–447.
pub(super) fn by_evidence(sums: &Sums<'_>, rules: Rules) -> Option<Evidence> {
    let design = sums.design;
    let mut penalties = vec![START * sums.rows; design.groups.len()];
    let (mut evidence, mut updates) = (fit(sums, penalties.clone())?, 0);
    let most = if design.len() < WIDE { UPDATES } else { UPDATES_WHEN_WIDE };
    while updates < most {
        let (next, variance) = update(sums, &evidence, rules);
        let moved = penalties.iter().zip(&next).map(|(a, b)| (a / b).max(b / a)).fold(1.0, f64::max);
        penalties = next;
        evidence = Evidence { variance, ..fit(sums, penalties.clone())? };
        updates += 1;
        if moved <= SETTLED {
            break;
        }
    }
    Some(evidence)
}

/// β under given penalties.
pub(super) fn fit(sums: &Sums<'_>, penalties: Vec<f64>) -> Option<Evidence> {
    let factor = RidgeFactor::new(sums.gram, &by_column(sums.design, &penalties))?;
    let mut coefficients = sums.moments.to_vec();
    factor.solve_in_place(&mut coefficients);
    let n = coefficients.len();
    let fitted: f64 = coefficients
        .iter()
        .zip(sums.gram.chunks_exact(n))
        .map(|(β, row)| β * row.iter().zip(&coefficients).map(|(g, β)| g * β).sum::<f64>())
        .sum();
    let cross: f64 = coefficients.iter().zip(sums.moments).map(|(β, m)| β * m).sum();
    let residual = (sums.squares - 2.0 * cross + fitted).max(LEAST_VARIANCE * sums.squares).max(f64::MIN_POSITIVE);
    Some(Evidence { penalties, variance: residual / sums.rows, residual, coefficients, factor })
}

/// One of MacKay's updates: the next penalties and the residual variance behind them.
fn update(sums: &Sums<'_>, now: &Evidence, rules: Rules) -> (Vec<f64>, f64) {
    let design = sums.design;
    let columns = by_column(design, &now.penalties);
    let inverse = now.factor.inverse_diagonal();
    let (mut free, mut square) = (vec![0.0; design.groups.len()], vec![0.0; design.groups.len()]);
    for (j, group) in design.group.iter().enumerate() {
        if let Some(g) = *group {
            free[g] += 1.0 - columns[j] * inverse[j];
            square[g] += now.coefficients[j].powi(2);
        }
    }
    let used = (1.0 + free.iter().sum::<f64>()).min(MOST_FREE * sums.rows);
    let variance = now.residual / (sums.rows - used);
    let effective = variance * rules.design_effect;
    let bounded = |λ: f64| λ.clamp(LEAST * sums.rows, MOST * sums.rows);
    let mut next: Vec<f64> = free
        .iter()
        .zip(&square)
        .map(|(γ, square)| bounded(if *square > 0.0 { effective * γ.max(0.0) / square } else { f64::INFINITY }))
        .collect();
    for (g, of) in design.groups.iter().enumerate().filter(|(_, of)| of.deviations > 0) {
        let without = Group { deviations: 0, ..*of };
        if let Some(plain) = design.groups.iter().position(|other| *other == without) {
            next[g] = bounded(next[g].max(rules.deviation_factor * next[plain]));
        }
    }
    (next, variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::{Monomials, Stream, fill_standard_normal, small};

    const N: usize = 40;

    /// Rows of a design in two coordinates (the second a deviation) and two actions, and targets that depend on some of it.
    fn example() -> (Design, Vec<f64>, Vec<f64>) {
        let shares = [0.6, 0.4];
        let design = Design::new(&Monomials::new(2, 2).unwrap(), &[false, true], &shares, 1);
        let mut noise = vec![0.0; 3 * N];
        fill_standard_normal(&mut Stream::new(8).named("evidence").rng(), &mut noise);
        let (mut x, mut y, mut row) = (vec![], vec![], vec![0.0; design.len()]);
        for i in 0..N {
            let (s, d, a) = (noise[i], 0.5 * noise[N + i], usize::from(i % 5 < 2));
            design.row(&[1.0, s, d, s * s, s * d, d * d], a, &mut row);
            x.extend_from_slice(&row);
            y.push(0.3 + s - 0.8 * d + 0.4 * s * s + if a == 1 { 0.5 + s } else { 0.0 } + noise[2 * N + i]);
        }
        let mean = y.iter().sum::<f64>() / N as f64;
        y.iter_mut().for_each(|y| *y -= mean);
        (design, x, y)
    }

    fn sums(x: &[f64], y: &[f64], d: usize) -> (Vec<f64>, Vec<f64>, f64) {
        let (mut gram, mut moments) = (vec![0.0; d * d], vec![0.0; d]);
        for (row, y) in x.chunks_exact(d).zip(y) {
            for i in 0..d {
                moments[i] += row[i] * y;
                for j in 0..d {
                    gram[i * d + j] += row[i] * row[j];
                }
            }
        }
        (gram, moments, y.iter().map(|y| y * y).sum())
    }

    /// The restricted log-likelihood with σ² profiled out, from the n × n covariance V = I + Σ_g Z_g Z_gᵀ / λ_g, written out.
    fn restricted(design: &Design, x: &[f64], y: &[f64], penalties: &[f64]) -> f64 {
        let d = design.len();
        let mut v = vec![0.0; N * N];
        for i in 0..N {
            for j in 0..N {
                let kernel: f64 =
                    (1..d).map(|c| x[i * d + c] * x[j * d + c] / penalties[design.group[c].expect("penalised")]).sum();
                v[i * N + j] = kernel + f64::from(u8::from(i == j));
            }
        }
        let ones = vec![1.0; N];
        let (vy, v1) = (small::solve(&v, y).unwrap(), small::solve(&v, &ones).unwrap());
        let information = small::dot(&ones, &v1);
        let quadratic = small::dot(y, &vy) - small::dot(&ones, &vy).powi(2) / information;
        let log_determinant: f64 = small::symmetric_eigenvalues(&v, N).iter().map(|e| e.ln()).sum();
        -0.5 * (log_determinant + information.ln() + (N as f64 - 1.0) * quadratic.ln())
    }

    #[test]
    fn no_penalty_can_move_without_lowering_the_restricted_likelihood() {
        let (design, x, y) = example();
        let (gram, moments, squares) = sums(&x, &y, design.len());
        let of = Sums { design: &design, gram: &gram, moments: &moments, squares, rows: N as f64 };
        let found = by_evidence(&of, Rules { deviation_factor: 0.0, design_effect: 1.0 }).unwrap();
        let best = restricted(&design, &x, &y, &found.penalties);
        for g in 0..design.groups.len() {
            for factor in [0.5, 2.0] {
                let mut moved = found.penalties.clone();
                moved[g] *= factor;
                let other = restricted(&design, &x, &y, &moved);
                // Updates stop a per cent short of the top, and a penalty on its way to infinity has a flat likelihood.
                assert!(other < best + 2e-3, "group {g} × {factor}: {other} against {best}");
            }
        }
        // The control: penalties that the data deny are worse by far.
        let wrong = vec![1e3; design.groups.len()];
        assert!(restricted(&design, &x, &y, &wrong) < best - 5.0);
    }

    #[test]
    fn rows_that_repeat_each_other_count_for_fewer() {
        let (design, x, y) = example();
        let (gram, moments, squares) = sums(&x, &y, design.len());
        let of = Sums { design: &design, gram: &gram, moments: &moments, squares, rows: N as f64 };
        let once = by_evidence(&of, Rules { deviation_factor: 0.0, design_effect: 1.0 }).unwrap();
        // Every row three times, and the design effect that goes with it.
        let [gram, moments] = [&gram, &moments].map(|sums| sums.iter().map(|x| 3.0 * x).collect::<Vec<f64>>());
        let of = Sums { design: &design, gram: &gram, moments: &moments, squares: 3.0 * squares, rows: 3.0 * N as f64 };
        let thrice = by_evidence(&of, Rules { deviation_factor: 0.0, design_effect: 3.0 }).unwrap();
        let fooled = by_evidence(&of, Rules { deviation_factor: 0.0, design_effect: 1.0 }).unwrap();
        let contrast = design.groups.iter().position(|g| g.contrast && g.degree == 1 && g.deviations == 0).unwrap();
        let share = |evidence: &Evidence, rows: f64| evidence.penalties[contrast] / rows;
        let (once, thrice, fooled) = (share(&once, 40.0), share(&thrice, 120.0), share(&fooled, 120.0));
        // Degrees of freedom differ a little: n − 1 − γ against 3n − 1 − γ.
        assert!((thrice / once - 1.0).abs() < 0.35, "{thrice} and {once}");
        assert!(fooled < 0.5 * once, "{fooled} and {once}");
    }

    #[test]
    fn deviations_are_penalised_at_least_so_many_times_more() {
        let (design, x, y) = example();
        let (gram, moments, squares) = sums(&x, &y, design.len());
        let of = Sums { design: &design, gram: &gram, moments: &moments, squares, rows: N as f64 };
        let found = by_evidence(&of, Rules { deviation_factor: 30.0, design_effect: 1.0 }).unwrap();
        let at = |deviations: usize| {
            let group = Group { contrast: false, degree: 1, deviations };
            found.penalties[design.groups.iter().position(|g| *g == group).unwrap()]
        };
        assert!(at(1) >= 30.0 * at(0) * (1.0 - 1e-12), "{} and {}", at(1), at(0));
    }
}
