//! A lower bound of action values in place of the estimate, for data that cover little.

use super::design::Design;
use crate::kernel::learn::Sweep;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::numeric::RidgeFactor;

/// κ times the standard error of Q̂(s, a) at every row of views, |A| a row.
///
/// # Equation
/// ```text
/// margin(s, a) = κ σ √( x(s, a)ᵀ (G + Λ)⁻¹ x(s, a) )
/// ```
/// σ² carries the design effect. Targets are taken as given: what they owe to errors of earlier iterations is not in it.
pub(super) fn margins(
    sweep: &Sweep<'_, impl FeatureMap>,
    design: &Design,
    factor: &RidgeFactor,
    variance: f64,
    kappa: f64,
) -> Vec<f64> {
    let actions = sweep.actions();
    let mut margins = Vec::new();
    let mut row = vec![0.0; design.len()];
    sweep.for_each_view(|_, φ| {
        for action in 0..actions {
            design.row(φ, action, &mut row);
            factor.half_solve_in_place(&mut row);
            margins.push(kappa * (variance * row.iter().map(|x| x * x).sum::<f64>()).sqrt());
        }
    });
    margins
}

/// The weights, d for each action in turn, whose values are nearest to Q − margin over all rows: the bound as a member of the class.
///
/// A policy file holds weights on features and nothing else. `None` when the rows do not determine the projection.
pub(super) fn projected(sweep: &Sweep<'_, impl FeatureMap>, weights: &[f64], margins: &[f64]) -> Option<Vec<f64>> {
    let (d, actions) = (sweep.features(), sweep.actions());
    let (mut gram, mut moments) = (vec![0.0; d * d], vec![0.0; actions * d]);
    sweep.for_each_view(|row, φ| {
        for (i, x) in φ.iter().enumerate() {
            for (entry, y) in gram[i * d..i * d + i + 1].iter_mut().zip(φ) {
                *entry += x * y;
            }
            for action in 0..actions {
                moments[action * d + i] += x * margins[row * actions + action];
            }
        }
    });
    // As little as keeps columns that repeat each other apart.
    let jitter: Vec<f64> = (0..d).map(|j| JITTER * gram[j * d + j].max(gram[0])).collect();
    let factor = RidgeFactor::new(&gram, &jitter)?;
    moments.chunks_exact_mut(d).for_each(|moments| factor.solve_in_place(moments));
    Some(weights.iter().zip(&moments).map(|(w, margin)| w - margin).collect())
}

/// The share of a column's square added to the diagonal: far above rounding, far below what a margin is known to.
const JITTER: f64 = 1e-8;
