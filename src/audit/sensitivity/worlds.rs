//! Counterfactual histories when an assumption fails by a given amount.

use crate::kernel::model::noise::{Step, first_state};
use crate::kernel::model::{Mechanism, abduct_panel};
use crate::kernel::numeric::{Place, Stream, fill_standard_normal};
use crate::kernel::people::Panel;
use statrs::distribution::{ContinuousCDF, Normal};

/// States of all worlds when a share λ of the difference between levels is an effect of the level: rows [s¹, …, sᴷ], one for each state row.
///
/// # Equation
/// ```text
/// s₁ᵏ = s₁ + λ (m(k) − m(z)),     sₜ₊₁ᵏ = sₜ₊₁ − μ(sₜ, aₜ, z) + (1 − λ) μ(sₜᵏ, aₜ, z) + λ μ(sₜᵏ, aₜ, k)
/// ```
/// At λ = 1 these are lines 4 and 7 of `alg:cf:1`; at λ = 0 a person is the same at every level. Noise that is more than added is put back
/// at both levels, and the two values are averaged.
pub(super) fn with_share(panel: &Panel, mechanism: &dyn Mechanism, share: f64) -> Vec<f64> {
    let residuals = residuals(panel, mechanism);
    let noise = |_: usize, row: usize, out: &mut [f64]| out.copy_from_slice(residuals.at(row));
    rebuild(panel, mechanism, share, noise)
}

/// States of all worlds when the noises of a person's worlds are correlated ρ.
///
/// # Equation
/// ```text
/// vᵏ = ρ v + √(ρ − ρ²) c + √(1 − ρ) dᵏ,   v = Φ⁻¹(Ĝ(u)),   uᵏ = Ĝ⁻¹(Φ(vᵏ))
/// ```
/// where u is the abducted noise of the factual world, Ĝ its law coordinate by coordinate (first states apart from later ones), c and
/// dᵏ independent standard normal draws for each person, time and coordinate. Any two worlds of a person have ranks correlated ρ as normal
/// scores; at ρ = 1 they are equal.
pub(super) fn with_correlation(panel: &Panel, mechanism: &dyn Mechanism, correlation: f64, stream: Stream) -> Vec<f64> {
    let (p, levels) = (panel.state_dim(), mechanism.levels());
    let residuals = residuals(panel, mechanism);
    let scores = residuals.normal_scores(panel);
    let ρ = correlation.clamp(0.0, 1.0);
    let (mut common, mut own) = (vec![0.0; residuals.values.len()], vec![0.0; residuals.values.len() * levels]);
    for i in 0..panel.people() {
        // By person, so that the order of rows does not matter.
        let rows = panel.states_of(i);
        let mut rng = stream.named(&panel.ids()[i]).rng();
        fill_standard_normal(&mut rng, &mut common[rows.start * p..rows.end * p]);
        fill_standard_normal(&mut rng, &mut own[rows.start * p * levels..rows.end * p * levels]);
    }
    let (shared, apart) = ((ρ - ρ * ρ).max(0.0).sqrt(), (1.0 - ρ).sqrt());
    let normal = Normal::standard();
    let noise = |level: usize, row: usize, out: &mut [f64]| {
        for (j, u) in out.iter_mut().enumerate() {
            let at = row * p + j;
            let d = own[row * p * levels + level * p + j];
            let v = ρ * scores.values[at] + shared * common[at] + apart * d;
            *u = if ρ == 1.0 { residuals.values[at] } else { scores.quantile(scores.first[row], j, normal.cdf(v)) };
        }
    };
    rebuild(panel, mechanism, 1.0, noise)
}

/// Histories under `do(Z = k)` with the noise that `noise(k, row, …)` writes; the factual world is as it was.
fn rebuild(panel: &Panel, mechanism: &dyn Mechanism, share: f64, noise: impl Fn(usize, usize, &mut [f64])) -> Vec<f64> {
    let (p, levels) = (panel.state_dim(), mechanism.levels());
    let width = p * levels;
    let mut worlds = vec![0.0; panel.state_rows() * width];
    let (mut there, mut here, mut step) = (vec![0.0; p], vec![0.0; p], Step::default());
    for (i, person) in panel.iter().enumerate() {
        let (rows, z) = (panel.states_of(i), person.level as usize);
        for k in 0..levels {
            for (t, row) in rows.clone().enumerate() {
                let at = row * width + k * p;
                if k == z {
                    worlds[at..at + p].copy_from_slice(&person.states[t * p..(t + 1) * p]);
                    continue;
                }
                noise(k, row, &mut there);
                here.copy_from_slice(&there);
                for (level, value) in [(k, &mut there), (z, &mut here)] {
                    if t == 0 {
                        first_state(mechanism, level, value);
                    } else {
                        let before = &worlds[at - width..at - width + p];
                        step.prepare(mechanism, level, before, &person.actions[t - 1..t]);
                        step.states(mechanism, level, value);
                    }
                }
                for j in 0..p {
                    worlds[at + j] = (1.0 - share) * here[j] + share * there[j];
                }
            }
        }
    }
    worlds
}

/// The abducted noise of every state row.
struct Residuals {
    state_dim: usize,
    values: Vec<f64>,
}

impl Residuals {
    fn at(&self, row: usize) -> &[f64] {
        &self.values[row * self.state_dim..(row + 1) * self.state_dim]
    }

    /// Φ⁻¹ of mid-ranks among first states and among later ones, coordinate by coordinate.
    fn normal_scores(&self, panel: &Panel) -> Scores {
        let (p, rows) = (self.state_dim, panel.state_rows());
        let mut first = vec![false; rows];
        (0..panel.people()).for_each(|i| first[panel.states_of(i).start] = true);
        let normal = Normal::standard();
        let mut values = vec![0.0; rows * p];
        let mut sorted = [vec![], vec![]];
        for (kind, of_kind) in sorted.iter_mut().enumerate() {
            let members: Vec<usize> = (0..rows).filter(|&row| first[row] == (kind == 1)).collect();
            for j in 0..p {
                let mut own: Vec<f64> = members.iter().map(|&row| self.values[row * p + j]).collect();
                own.sort_by(f64::total_cmp);
                for &row in &members {
                    let u = self.values[row * p + j];
                    let (below, upto) = (own.partition_point(|x| *x < u), own.partition_point(|x| *x <= u));
                    values[row * p + j] = normal.inverse_cdf((below + upto) as f64 / 2.0 / own.len() as f64);
                }
                of_kind.push(own);
            }
        }
        Scores { values, first, sorted }
    }
}

/// Normal scores of residuals, and the way back.
struct Scores {
    values: Vec<f64>,
    /// Whether a row is somebody's first.
    first: Vec<bool>,
    /// Ascending residuals: of later rows, then of first ones, by coordinate.
    sorted: [Vec<Vec<f64>>; 2],
}

impl Scores {
    /// The residual at a share, mid-ranks as in [`Residuals::normal_scores`], straight between them.
    fn quantile(&self, first: bool, coordinate: usize, share: f64) -> f64 {
        let sorted = &self.sorted[usize::from(first)][coordinate];
        Place::new(sorted.len(), share * sorted.len() as f64 - 0.5).among(sorted)
    }
}

/// Outcomes taken to the common scale of their noise, as the mechanism has it.
fn residuals(panel: &Panel, mechanism: &dyn Mechanism) -> Residuals {
    Residuals { state_dim: panel.state_dim(), values: abduct_panel(mechanism, panel).states }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::preprocess::{Sequential, batch};

    fn panel(people: usize) -> Panel {
        let world = ThreeLevels::new(0.9);
        simulate(&world, &Exogenous::draw(&world, people, 3, Stream::new(14)))
    }

    fn far(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn without_a_violation_worlds_are_those_of_algorithm_one() {
        let (panel, world) = (panel(60), ThreeLevels::new(0.7));
        let expected = batch(&Sequential::new(&world, vec![1.0; 3]), &panel).unwrap();
        // A few sums of numbers of size one.
        assert!(far(&with_share(&panel, &world, 1.0), expected.views()) < 1e-12);
        assert!(far(&with_correlation(&panel, &world, 1.0, Stream::new(1)), expected.views()) < 1e-12);
    }

    #[test]
    fn a_person_is_the_same_at_every_level_when_no_difference_is_an_effect() {
        let (panel, world) = (panel(60), ThreeLevels::new(0.7));
        let worlds = with_share(&panel, &world, 0.0);
        for (row, state) in worlds.chunks_exact(6).zip(panel.states().chunks_exact(2)) {
            assert!(far(row, &state.repeat(3)) < 1e-12);
        }
        // Half of the shift of the first state at half of the share.
        let half = with_share(&panel, &world, 0.5);
        let (whole, first) = (with_share(&panel, &world, 1.0), panel.states_of(7).start * 6);
        let state = &panel.person(7).states[..2];
        for k in 0..6 {
            let (half, whole) = (half[first + k] - state[k % 2], whole[first + k] - state[k % 2]);
            assert!((half - 0.5 * whole).abs() < 1e-12);
        }
    }

    #[test]
    fn noises_of_any_two_worlds_are_correlated_as_asked_and_keep_their_law() {
        // Scores of 6000 people at four times; a correlation has standard error (1 − ρ²)/√6000 at one time, and five of them are 0.06.
        let (panel, world, ρ) = (panel(6000), ThreeLevels::new(0.7), 0.6);
        let worlds = with_correlation(&panel, &world, ρ, Stream::new(5));
        let noise = |i: usize, k: usize, j: usize| {
            let first = panel.states_of(i).start;
            worlds[first * 6 + 2 * k + j] - world.initial_mean(k)[j]
        };
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            for j in 0..2 {
                let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
                for i in 0..6000 {
                    let (x, y) = (noise(i, a, j), noise(i, b, j));
                    ab += x * y;
                    aa += x * x;
                    bb += y * y;
                }
                let found = ab / f64::sqrt(aa * bb);
                assert!((found - ρ).abs() < 0.06, "levels {a} and {b}, coordinate {j}: {found}");
                // Standard deviations of 1 and 0.7 within five of their errors, 1/√12000 each.
                let sd = [1.0, 0.7][j];
                assert!((f64::sqrt(aa / 6000.0) / sd - 1.0).abs() < 0.05, "coordinate {j}");
            }
        }
    }

    #[test]
    fn scores_lead_back_to_their_residuals() {
        let panel = panel(40);
        let residuals = residuals(&panel, &ThreeLevels::new(0.7));
        let scores = residuals.normal_scores(&panel);
        let normal = Normal::standard();
        for row in 0..panel.state_rows() {
            for j in 0..2 {
                let back = scores.quantile(scores.first[row], j, normal.cdf(scores.values[row * 2 + j]));
                // The quantile function of statrs has nine digits.
                assert!((back - residuals.values[row * 2 + j]).abs() < 1e-6, "{back}");
            }
        }
    }
}
