//! Functions of the state that a least-squares mechanism is linear in.

use super::spline::NaturalSpline;
use crate::kernel::numeric::Monomials;
use serde::{Deserialize, Serialize};

/// The constant and q functions of a p-dimensional state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StateBasis {
    /// 1, x₁, …, x_p.
    Linear {
        /// p.
        coordinates: usize,
    },
    /// Every monomial of total degree ≤ D, lower degrees first.
    Polynomial(Monomials),
    /// 1 and x, sin x, cos x of each coordinate.
    Trigonometric {
        /// p.
        coordinates: usize,
    },
    /// 1 and a natural cubic spline in each coordinate, added up.
    Spline(Vec<NaturalSpline>),
}

impl StateBasis {
    /// 1 + q, the number of functions with the constant.
    pub fn count(&self) -> usize {
        match self {
            Self::Linear { coordinates } => 1 + coordinates,
            Self::Trigonometric { coordinates } => 1 + 3 * coordinates,
            Self::Polynomial(monomials) => monomials.count(),
            Self::Spline(splines) => 1 + splines.iter().map(NaturalSpline::count).sum::<usize>(),
        }
    }

    /// p, the number of coordinates it reads.
    pub fn coordinates(&self) -> usize {
        match self {
            Self::Linear { coordinates } | Self::Trigonometric { coordinates } => *coordinates,
            Self::Polynomial(monomials) => monomials.coordinates(),
            Self::Spline(splines) => splines.len(),
        }
    }

    /// Writes the functions at one state, the constant first.
    #[inline]
    pub fn fill(&self, state: &[f64], out: &mut [f64]) {
        out[0] = 1.0;
        match self {
            Self::Linear { .. } => out[1..].copy_from_slice(state),
            Self::Trigonometric { .. } => {
                for (triple, &x) in out[1..].chunks_exact_mut(3).zip(state) {
                    triple.copy_from_slice(&[x, x.sin(), x.cos()]);
                }
            }
            Self::Polynomial(monomials) => {
                for (j, &(parent, factor)) in monomials.steps().iter().enumerate().skip(1) {
                    out[j] = out[parent] * state[factor];
                }
            }
            Self::Spline(splines) => {
                let mut start = 1;
                for (spline, &x) in splines.iter().zip(state) {
                    spline.fill(x, &mut out[start..start + spline.count()]);
                    start += spline.count();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(basis: &StateBasis, state: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; basis.count()];
        basis.fill(state, &mut out);
        out
    }

    #[test]
    fn bases_list_coordinates_in_order() {
        let quadratic = StateBasis::Polynomial(Monomials::new(2, 2).unwrap());
        assert_eq!((quadratic.count(), quadratic.coordinates()), (6, 2));
        assert_eq!(at(&quadratic, &[7.0, -3.0]), [1.0, 7.0, -3.0, 49.0, -21.0, 9.0]);
        assert_eq!(at(&StateBasis::Linear { coordinates: 2 }, &[7.0, -3.0]), [1.0, 7.0, -3.0]);
        let waves = StateBasis::Trigonometric { coordinates: 2 };
        assert_eq!((waves.count(), waves.coordinates()), (7, 2));
        assert_eq!(at(&waves, &[0.0, 2.0]), [1.0, 0.0, 0.0, 1.0, 2.0, 2.0f64.sin(), 2.0f64.cos()]);
        let splines =
            vec![NaturalSpline::new(vec![0.0, 2.0]).unwrap(), NaturalSpline::new(vec![0.0, 1.0, 4.0]).unwrap()];
        let basis = StateBasis::Spline(splines);
        assert_eq!((basis.count(), basis.coordinates()), (4, 2));
        assert_eq!(at(&basis, &[1.0, 2.0])[..3], [1.0, 0.5, 0.5]);
    }
}
