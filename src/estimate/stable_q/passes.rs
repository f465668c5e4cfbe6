//! The sums over rows that the iteration is made of.

use super::design::Design;
use super::pessimism;
use crate::kernel::learn::FittedQError;
use crate::kernel::learn::features::FeatureMap;
use crate::kernel::learn::{Backup, Sweep};
use crate::kernel::numeric::RidgeFactor;

/// What the iteration asks of its rows.
pub(super) trait Passes {
    /// Σ φφᵀ for each action (lower halves) and the number of transitions with it.
    fn gram(&self) -> Result<(Vec<f64>, Vec<usize>), FittedQError>;

    /// Σ φy for each action, with y = r + γ backup(s′).
    fn moments(
        &self,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        moments: &mut [f64],
    ) -> Result<(), FittedQError>;

    /// The mean ȳ over n transitions and Σ (y − ȳ)².
    fn spread(&self, weights: &[f64], discount: f64, backup: Backup<'_>, n: f64) -> Result<(f64, f64), FittedQError>;

    /// Σ e² and, for each column, Σᵢ (Σₜ x_itj e_it)² over people, with e = y − f.
    fn effects(
        &self,
        design: &Design,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
    ) -> Result<(f64, Vec<f64>), FittedQError>;

    /// Margins at every row: see [`pessimism::margins`].
    fn margins(
        &self,
        design: &Design,
        factor: &RidgeFactor,
        variance: f64,
        kappa: f64,
    ) -> Result<Vec<f64>, FittedQError>;

    /// See [`pessimism::projected`].
    fn projected(&self, weights: &[f64], margins: &[f64]) -> Option<Vec<f64>>;
}

impl<F: FeatureMap> Passes for Sweep<'_, F> {
    fn gram(&self) -> Result<(Vec<f64>, Vec<usize>), FittedQError> {
        Ok(Sweep::gram(self))
    }

    fn moments(
        &self,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        moments: &mut [f64],
    ) -> Result<(), FittedQError> {
        self.targets(weights, discount, backup, None, moments);
        Ok(())
    }

    fn spread(&self, weights: &[f64], discount: f64, backup: Backup<'_>, n: f64) -> Result<(f64, f64), FittedQError> {
        let targets = self.target_rows(weights, discount, backup);
        let transitions = || (0..targets.len()).filter(|&row| self.action_at(row).is_some());
        let mean = transitions().map(|row| targets[row]).sum::<f64>() / n;
        Ok((mean, transitions().map(|row| (targets[row] - mean).powi(2)).sum()))
    }

    fn effects(
        &self,
        design: &Design,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
    ) -> Result<(f64, Vec<f64>), FittedQError> {
        let (columns, d) = (design.len(), self.features());
        let targets = self.target_rows(weights, discount, backup);
        let (mut row, mut person, mut squares) = (vec![0.0; columns], vec![0.0f64; columns], vec![0.0; columns]);
        let mut residual = 0.0;
        self.for_each_view(|at, φ| {
            let Some(action) = self.action_at(at) else {
                // A person's last view starts no transition.
                squares.iter_mut().zip(&mut person).for_each(|(sum, s)| *sum += std::mem::take(s).powi(2));
                return;
            };
            let fitted: f64 = weights[action * d..(action + 1) * d].iter().zip(φ).map(|(w, φ)| w * φ).sum();
            let e = targets[at] - fitted;
            residual += e * e;
            design.row(φ, action, &mut row);
            person.iter_mut().zip(&row).for_each(|(s, x)| *s += x * e);
        });
        Ok((residual, squares))
    }

    fn margins(
        &self,
        design: &Design,
        factor: &RidgeFactor,
        variance: f64,
        kappa: f64,
    ) -> Result<Vec<f64>, FittedQError> {
        Ok(pessimism::margins(self, design, factor, variance, kappa))
    }

    fn projected(&self, weights: &[f64], margins: &[f64]) -> Option<Vec<f64>> {
        pessimism::projected(self, weights, margins)
    }
}
