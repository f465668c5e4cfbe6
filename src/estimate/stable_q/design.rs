//! Action values as a main part and contrasts between actions, and what is penalised together.

use super::coordinates::contrasts;
use crate::kernel::numeric::Monomials;

/// The columns of one regression for all actions.
///
/// # Equation
/// ```text
/// Q(s, a) = β₀ᵀφ(s) + Σ_m u_m(a) β_mᵀφ_c(s),      u_m(a) = h_m(a) − Σ_b p_b h_m(b),   m = 1, …, |A| − 1
/// ```
/// with h orthonormal contrasts between actions, p the shares of actions in the data, φ_c the monomials of degree ≤ c. As u has mean 0
/// over the data, main part and contrasts hardly compete for the same variation.
pub(super) struct Design {
    /// d, the features of φ.
    features: usize,
    /// u_m(a), one row of |A| entries for each m, the first all 1.
    codes: Vec<Vec<f64>>,
    /// Which m and which feature a column is made of.
    columns: Vec<(usize, usize)>,
    /// The group whose penalty a column carries; `None` for the constant, which has no penalty.
    pub group: Vec<Option<usize>>,
    /// What the groups are, in order.
    pub groups: Vec<Group>,
}

/// Weights that share a penalty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// Whether they are weights of a contrast between actions; else of the main part.
    pub contrast: bool,
    /// Total degree of their monomials.
    pub degree: usize,
    /// How many factors of their monomials are deviations between worlds.
    pub deviations: usize,
}

impl Design {
    /// The main part in all monomials and contrasts in those of degree ≤ c.
    pub fn new(monomials: &Monomials, deviation: &[bool], shares: &[f64], contrast_degree: usize) -> Self {
        let d = monomials.count();
        let (mut degree, mut factors) = (vec![0; d], vec![0; d]);
        for (j, &(parent, coordinate)) in monomials.steps().iter().enumerate().skip(1) {
            degree[j] = degree[parent] + 1;
            factors[j] = factors[parent] + usize::from(deviation[coordinate]);
        }
        let mut codes = vec![vec![1.0; shares.len()]];
        for h in contrasts(shares.len()) {
            let mean: f64 = h.iter().zip(shares).map(|(h, p)| h * p).sum();
            codes.push(h.iter().map(|h| h - mean).collect());
        }
        let contrasted = monomials.up_to(contrast_degree.min(monomials.degree()));
        let (mut columns, mut group, mut groups) = (vec![], vec![], vec![]);
        for m in 0..codes.len() {
            for j in 0..if m == 0 { d } else { contrasted } {
                let of = Group { contrast: m > 0, degree: degree[j], deviations: factors[j] };
                let known = groups.iter().position(|known| *known == of);
                group.push((!columns.is_empty()).then(|| {
                    known.unwrap_or_else(|| {
                        groups.push(of);
                        groups.len() - 1
                    })
                }));
                columns.push((m, j));
            }
        }
        Self { features: d, codes, columns, group, groups }
    }

    /// Columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Columns that are contrasts between actions.
    pub fn contrast_columns(&self) -> usize {
        self.columns.iter().filter(|(m, _)| *m > 0).count()
    }

    /// XᵀX from Σ φφᵀ of each action (lower halves).
    pub fn gram(&self, by_action: &[f64]) -> Vec<f64> {
        let (d, n) = (self.features, self.columns.len());
        let mut gram = vec![0.0; n * n];
        for (row, &(m, j)) in self.columns.iter().enumerate() {
            for (column, &(l, k)) in self.columns[..=row].iter().enumerate() {
                let at = if j >= k { j * d + k } else { k * d + j };
                let terms = by_action.chunks_exact(d * d).zip(self.codes[m].iter().zip(&self.codes[l]));
                let entry: f64 = terms.map(|(gram, (u, v))| u * v * gram[at]).sum();
                gram[row * n + column] = entry;
                gram[column * n + row] = entry;
            }
        }
        gram
    }

    /// Xᵀy from Σ φy of each action.
    pub fn moments(&self, by_action: &[f64], out: &mut [f64]) {
        for (out, &(m, j)) in out.iter_mut().zip(&self.columns) {
            let terms = by_action.chunks_exact(self.features).zip(&self.codes[m]);
            *out = terms.map(|(moments, u)| u * moments[j]).sum();
        }
    }

    /// The weights of each action on φ.
    pub fn weights(&self, coefficients: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (&(m, j), β) in self.columns.iter().zip(coefficients) {
            for (weights, u) in out.chunks_exact_mut(self.features).zip(&self.codes[m]) {
                weights[j] += u * β;
            }
        }
    }

    /// The row of X that belongs to features φ and action a.
    pub fn row(&self, φ: &[f64], action: usize, out: &mut [f64]) {
        for (out, &(m, j)) in out.iter_mut().zip(&self.columns) {
            *out = self.codes[m][action] * φ[j];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn design(contrast_degree: usize) -> Design {
        Design::new(&Monomials::new(3, 2).unwrap(), &[false, false, true], &[0.5, 0.2, 0.3], contrast_degree)
    }

    #[test]
    fn everything_but_the_constant_belongs_to_a_group_of_its_kind() {
        let design = design(1);
        assert_eq!((design.len(), design.contrast_columns()), (10 + 2 * 4, 8));
        assert_eq!(design.group[0], None);
        assert!(design.group[1..].iter().all(Option::is_some));
        let of = |column: usize| design.groups[design.group[column].unwrap()];
        // 1, x, y, D, xx, xy, xD, yy, yD, DD, then twice 1, x, y, D.
        assert_eq!(of(3), Group { contrast: false, degree: 1, deviations: 1 });
        assert_eq!(of(6), Group { contrast: false, degree: 2, deviations: 1 });
        assert_eq!(of(9), Group { contrast: false, degree: 2, deviations: 2 });
        assert_eq!((of(10), of(10).contrast), (of(14), true));
        assert_eq!(of(17), Group { contrast: true, degree: 1, deviations: 1 });
    }

    #[test]
    fn sums_over_actions_give_the_gram_matrix_and_moments_of_the_rows() {
        let design = design(2);
        let (d, n) = (10, design.len());
        let (mut grams, mut moments) = (vec![0.0; 3 * d * d], vec![0.0; 3 * d]);
        let (mut expected, mut expected_moments) = (vec![0.0; n * n], vec![0.0; n]);
        let mut row = vec![0.0; n];
        for i in 0..20 {
            let (a, y) = (i % 3, (i as f64 * 0.3).cos());
            let φ: Vec<f64> = (0..d).map(|j| ((i * d + j) as f64 * 0.9).sin()).collect();
            for j in 0..d {
                moments[a * d + j] += φ[j] * y;
                for k in 0..=j {
                    grams[a * d * d + j * d + k] += φ[j] * φ[k];
                }
            }
            design.row(&φ, a, &mut row);
            for j in 0..n {
                expected_moments[j] += row[j] * y;
                for k in 0..n {
                    expected[j * n + k] += row[j] * row[k];
                }
            }
        }
        let mut found = vec![0.0; n];
        design.moments(&moments, &mut found);
        let near = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12);
        assert!(near(&design.gram(&grams), &expected) && near(&found, &expected_moments));
    }

    #[test]
    fn weights_by_action_give_the_values_of_the_rows() {
        let design = design(1);
        let β: Vec<f64> = (0..design.len()).map(|j| 1.0 / (1.0 + j as f64)).collect();
        let φ: Vec<f64> = (0..10).map(|j| (j as f64).sin()).collect();
        let (mut weights, mut row) = (vec![0.0; 30], vec![0.0; design.len()]);
        design.weights(&β, &mut weights);
        for a in 0..3 {
            design.row(&φ, a, &mut row);
            let (x, y): (f64, f64) = (
                row.iter().zip(&β).map(|(x, β)| x * β).sum(),
                weights[a * 10..(a + 1) * 10].iter().zip(&φ).map(|(w, φ)| w * φ).sum(),
            );
            assert!((x - y).abs() < 1e-13);
        }
    }
}
