//! The sums over rows that the iteration is made of: over one sweep in memory, over that of each block on disk.

use super::design::Design;
use super::{Winsorised, pessimism};
use crate::estimate::views::Views;
use crate::kernel::learn::{Backup, FittedQError, Sweep};
use crate::kernel::numeric::{Moments, RidgeFactor};
use crate::kernel::people::try_each;
use crate::kernel::preprocess::View;

/// The rows of experience, and the features that they are read by.
pub(super) struct Passes<'a, V> {
    views: Views<'a, V>,
    map: &'a Winsorised,
    kept: Option<Sweep<'a, Winsorised>>,
}

/// How targets y = r + γ backup(s′) are made.
#[derive(Clone, Copy)]
pub(super) struct Target<'a> {
    /// Weights of the value that is backed up.
    pub weights: &'a [f64],
    pub discount: f64,
    pub backup: Backup<'a>,
}

impl<'a, V: View> Passes<'a, V> {
    pub fn new(views: Views<'a, V>, map: &'a Winsorised) -> Self {
        let kept = match views {
            Views::InMemory(experience) => Some(Sweep::new(experience, map, |r| r)),
            Views::OnDisk(_) => None,
        };
        Self { views, map, kept }
    }

    /// Visits the rows in order.
    fn each(
        &self,
        mut visit: impl FnMut(&Sweep<'_, Winsorised>) -> Result<(), FittedQError>,
    ) -> Result<(), FittedQError> {
        match (&self.kept, &self.views) {
            (Some(sweep), _) => visit(sweep),
            (None, Views::InMemory(experience)) => visit(&Sweep::new(experience, self.map, |r| r)),
            (None, Views::OnDisk(experience)) => {
                let (width, actions) = (self.views.width(), self.views.actions());
                try_each(*experience, |block| visit(&Sweep::of_rows(block, width, actions, self.map)))
            }
        }
    }

    fn in_memory(&self) -> Result<&Sweep<'a, Winsorised>, FittedQError> {
        self.kept.as_ref().ok_or(FittedQError::InMemory("--pessimism, a margin for every row,"))
    }

    /// Σ φφᵀ for each action (lower halves) and the number of transitions with it.
    pub fn gram(&self) -> Result<(Vec<f64>, Vec<usize>), FittedQError> {
        let (mut grams, mut counts) = (vec![], vec![0; self.views.actions()]);
        self.each(|sweep| {
            let (part, own) = sweep.gram();
            add(&mut grams, &part);
            counts.iter_mut().zip(own).for_each(|(count, n)| *count += n);
            Ok(())
        })?;
        Ok((grams, counts))
    }

    /// Σ φy for each action.
    pub fn moments(&self, target: Target, moments: &mut [f64]) -> Result<(), FittedQError> {
        let mut part = vec![0.0; moments.len()];
        moments.fill(0.0);
        self.each(|sweep| {
            sweep.targets(target.weights, target.discount, target.backup, None, &mut part);
            moments.iter_mut().zip(&part).for_each(|(sum, x)| *sum += x);
            Ok(())
        })
    }

    /// The mean ȳ over transitions and Σ (y − ȳ)².
    pub fn spread(&self, target: Target) -> Result<Moments, FittedQError> {
        let mut found = Moments::default();
        self.each(|sweep| {
            let targets = sweep.target_rows(target.weights, target.discount, target.backup);
            let own = || (0..targets.len()).filter(|&row| sweep.action_at(row).is_some()).map(|row| targets[row]);
            let count = own().count();
            if count > 0 {
                let mean = own().sum::<f64>() / count as f64;
                found = found.and(Moments { count, mean, squares: own().map(|y| (y - mean).powi(2)).sum() });
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Σ e² and, for each column, Σᵢ (Σₜ x_itj e_it)² over people, with e = y − f.
    pub fn effects(&self, design: &Design, target: Target) -> Result<(f64, Vec<f64>), FittedQError> {
        let columns = design.len();
        let (mut row, mut person, mut squares) = (vec![0.0; columns], vec![0.0f64; columns], vec![0.0; columns]);
        let mut residual = 0.0;
        self.each(|sweep| {
            let d = sweep.features();
            let targets = sweep.target_rows(target.weights, target.discount, target.backup);
            sweep.for_each_view(|at, φ| {
                let Some(action) = sweep.action_at(at) else {
                    // A person's last view starts no transition.
                    squares.iter_mut().zip(&mut person).for_each(|(sum, s)| *sum += std::mem::take(s).powi(2));
                    return;
                };
                let own = &target.weights[action * d..(action + 1) * d];
                let e = targets[at] - own.iter().zip(φ).map(|(w, φ)| w * φ).sum::<f64>();
                residual += e * e;
                design.row(φ, action, &mut row);
                person.iter_mut().zip(&row).for_each(|(s, x)| *s += x * e);
            });
            Ok(())
        })?;
        Ok((residual, squares))
    }

    /// Margins at every row: see [`pessimism::margins`].
    pub fn margins(
        &self,
        design: &Design,
        factor: &RidgeFactor,
        variance: f64,
        kappa: f64,
    ) -> Result<Vec<f64>, FittedQError> {
        Ok(pessimism::margins(self.in_memory()?, design, factor, variance, kappa))
    }

    /// See [`pessimism::projected`].
    pub fn projected(&self, weights: &[f64], margins: &[f64]) -> Result<Option<Vec<f64>>, FittedQError> {
        Ok(pessimism::projected(self.in_memory()?, weights, margins))
    }
}

fn add(sums: &mut Vec<f64>, part: &[f64]) {
    sums.resize(part.len(), 0.0);
    sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
}
