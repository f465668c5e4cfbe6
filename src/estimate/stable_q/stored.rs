//! The iteration on experience that does not fit in memory: every sum is a pass over its blocks.

use super::Coordinates;
use super::Winsorised;
use super::coordinates::Law;
use super::design::Design;
use super::learning::{StableQ, StableSettings, learn, main_degree, no_features};
use super::passes::Passes;
use crate::estimate::StoredExperience;
use crate::estimate::ranks::order_statistics;
use crate::files::DataError;
use crate::kernel::learn::FittedQError;
use crate::kernel::learn::{Backup, Sweep};
use crate::kernel::numeric::{Moments, Place, RidgeFactor};
use crate::kernel::preprocess::ExperienceRows;
use crate::kernel::preprocess::View;

/// An action value, and numbers at some ranks of every column of the views.
pub struct StoredChart<V> {
    /// What was learned.
    pub fitted: StableQ<V>,
    /// The numbers of each column of the views at the ranks asked for.
    pub views: Vec<Vec<f64>>,
}

/// [`stable_fitted_q`](super::stable_fitted_q) on experience on disk; `room` is how many numbers may be held at once, and `ranks` are those
/// at which the columns of the views are to be told.
///
/// # Precision
/// Sums are added up block by block, so that weights differ from those in memory by rounding; the quantiles are exact.
///
/// # Errors
/// [`FittedQError`]: as in memory, and [`FittedQError::InMemory`] with pessimism, which has a margin for every row.
pub fn stable_fitted_q_stored<V: View>(
    experience: &StoredExperience<V>,
    coordinates: Coordinates<'_>,
    settings: &StableSettings,
    room: usize,
    ranks: &dyn Fn(usize) -> Vec<usize>,
) -> Result<StoredChart<V>, FittedQError> {
    let (width, actions, γ) = (experience.width(), experience.actions_count(), settings.discount);
    if !coordinates.fit(width) {
        return Err(FittedQError::Coordinates { view: width, coordinates: format!("{coordinates:?}") });
    }
    if !(0.0..1.0).contains(&γ) {
        return Err(FittedQError::DiscountOutsideUnitInterval(γ));
    }
    if experience.transitions() == 0 {
        return Err(FittedQError::NoTransitions);
    }
    let reader = coordinates.reader(width);
    let count = reader.count();
    // Means and spreads of coordinates; their quantiles and those of the views come from the same passes.
    let n = experience.rows() as f64;
    let (mut sums, mut squares) = (vec![0.0; count], vec![0.0; count]);
    each_view(experience, |view| (0..count).for_each(|c| sums[c] += reader.coordinate(c, view)))?;
    let means: Vec<f64> = sums.iter().map(|sum| sum / n).collect();
    each_view(experience, |view| {
        (0..count).for_each(|c| squares[c] += (reader.coordinate(c, view) - means[c]).powi(2))
    })?;
    let place = |c: usize, n: usize, is_high: bool| {
        let tail = reader.tail(c);
        Place::of_share(n, if is_high { 1.0 - tail } else { tail })
    };
    let wanted = |column: usize, n: usize| match column.checked_sub(count) {
        Some(_) => ranks(n),
        None => [false, true].into_iter().flat_map(|is_high| place(column, n, is_high).ranks()).collect(),
    };
    let mut found = order_statistics(&vec![experience.rows(); count + width], wanted, room, |see| {
        each_view(experience, |view| {
            (0..count).for_each(|c| see(c, reader.coordinate(c, view)));
            view.iter().enumerate().for_each(|(j, x)| see(count + j, *x));
        })
    })?;
    let views = found.split_off(count);
    let laws = found.iter().enumerate().map(|(c, at)| {
        let between = |is_high: bool, k: usize| place(c, experience.rows(), is_high).between(at[k], at[k + 1]);
        let (low, high) = (between(false, 0), between(true, 2));
        Law { mean: means[c], sd: (squares[c] / n).sqrt(), low, high }
    });
    let charted = coordinates.chart_by(laws, width, main_degree(count, actions)?).map_err(no_features)?;
    let (low, high) = experience.reward_range();
    let passes = Stored { experience, map: &charted.map };
    let bounds = (low / (1.0 - γ), high / (1.0 - γ));
    let fitted = learn(&passes, &charted, settings, bounds, experience.transitions(), actions)?;
    Ok(StoredChart { fitted, views })
}

fn each_block<V: View>(
    experience: &StoredExperience<V>,
    mut visit: impl FnMut(&ExperienceRows) -> Result<(), FittedQError>,
) -> Result<(), FittedQError> {
    let failed = |error: DataError| FittedQError::Scratch(error.to_string());
    for block in experience.blocks().map_err(failed)? {
        visit(&block.map_err(failed)?)?;
    }
    Ok(())
}

fn each_view<V: View>(experience: &StoredExperience<V>, mut visit: impl FnMut(&[f64])) -> Result<(), FittedQError> {
    each_block(experience, |block| {
        block.views.chunks_exact(experience.width()).for_each(&mut visit);
        Ok(())
    })
}

/// Rows on disk.
struct Stored<'a, V> {
    experience: &'a StoredExperience<V>,
    map: &'a Winsorised,
}

impl<V: View> Stored<'_, V> {
    fn each_sweep(
        &self,
        mut visit: impl FnMut(&Sweep<'_, Winsorised>) -> Result<(), FittedQError>,
    ) -> Result<(), FittedQError> {
        let (width, actions) = (self.experience.width(), self.experience.actions_count());
        each_block(self.experience, |block| visit(&Sweep::of_rows(block, width, actions, self.map)))
    }
}

fn add(sums: &mut Vec<f64>, part: &[f64]) {
    sums.resize(part.len(), 0.0);
    sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
}

impl<V: View> Passes for Stored<'_, V> {
    fn gram(&self) -> Result<(Vec<f64>, Vec<usize>), FittedQError> {
        let (mut grams, mut counts) = (vec![], vec![0; self.experience.actions_count()]);
        self.each_sweep(|sweep| {
            let (part, own) = sweep.gram();
            add(&mut grams, &part);
            counts.iter_mut().zip(own).for_each(|(count, n)| *count += n);
            Ok(())
        })?;
        Ok((grams, counts))
    }

    fn moments(
        &self,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
        moments: &mut [f64],
    ) -> Result<(), FittedQError> {
        let mut part = vec![0.0; moments.len()];
        moments.fill(0.0);
        self.each_sweep(|sweep| {
            sweep.targets(weights, discount, backup, None, &mut part);
            moments.iter_mut().zip(&part).for_each(|(sum, x)| *sum += x);
            Ok(())
        })?;
        Ok(())
    }

    fn spread(&self, weights: &[f64], discount: f64, backup: Backup<'_>, n: f64) -> Result<(f64, f64), FittedQError> {
        let mut found = Moments::default();
        self.each_sweep(|sweep| {
            let count = sweep.gram_counts().iter().sum::<usize>();
            if count > 0 {
                let (mean, squares) = Passes::spread(sweep, weights, discount, backup, count as f64)?;
                found = found.and(Moments { count, mean, squares });
            }
            Ok(())
        })?;
        let Moments { count, mean, squares } = found;
        debug_assert_eq!(count as f64, n);
        Ok((mean, squares))
    }

    fn effects(
        &self,
        design: &Design,
        weights: &[f64],
        discount: f64,
        backup: Backup<'_>,
    ) -> Result<(f64, Vec<f64>), FittedQError> {
        let (mut residual, mut squares) = (0.0, vec![]);
        self.each_sweep(|sweep| {
            let (part, own) = Passes::effects(sweep, design, weights, discount, backup)?;
            residual += part;
            add(&mut squares, &own);
            Ok(())
        })?;
        Ok((residual, squares))
    }

    fn margins(&self, _: &Design, _: &RidgeFactor, _: f64, _: f64) -> Result<Vec<f64>, FittedQError> {
        Err(FittedQError::InMemory("--pessimism, a margin for every row,"))
    }

    fn projected(&self, _: &[f64], _: &[f64]) -> Option<Vec<f64>> {
        None
    }
}
