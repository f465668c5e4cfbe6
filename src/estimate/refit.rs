//! The same fit with other weights on people: what a bootstrap over people asks for, hundreds of times.
//!
//! | question | file |
//! |---|---|
//! | the sums of weighted rows | `level_rows` |
//! | the coefficients that they determine | `solving` |

mod level_rows;
mod solving;
#[cfg(test)]
mod tests;

use super::census::{Census, FirstStates};
use super::groups::Group;
use super::mean_table::{Coefficients, RegressionReport};
use super::regression::{Finding, Share};
use super::rows::RegressionRows;
use super::triangles::{Drawn, Solution, Triangle};
use super::{Basis, FitError, FitSettings, Fitted, FittedNoise, LeastSquaresFit, Means, with_noise};
use crate::kernel::numeric::{Stream, fill_standard_normal};
use crate::kernel::people::{Panel, People};
use level_rows::{GroupRows, RowWeight};
use rayon::prelude::*;
use solving::Problem;

/// A mechanism that can be fitted again with a weight for each person.
///
/// Choices (levels together or apart, knots, smoothness) are made once, with weight 1 for all people, and kept. What is left is linear
/// algebra on weighted sums:
///
/// # Equation
/// ```text
/// m̂_w(k) = Σ_{zᵢ = k} wᵢ sᵢ₁ / Σ_{zᵢ = k} wᵢ,     b̂_w = (Σᵢ wᵢ XᵢᵀXᵢ + λ n_w P)⁻¹ Σᵢ wᵢ Xᵢᵀyᵢ,     n_w = Σᵢ wᵢ nᵢ
/// ```
/// where Xᵢ are the nᵢ rows of person i. Only ratios of weights matter. With whole numbers it is the fit of a panel in which person i
/// stands wᵢ times, on the knots of the original. Noise that is more than added is refitted around these means on the rungs that were
/// chosen, and means with the precision that it gives them.
///
/// Many refits are made at once: the sums under all weightings are one product of matrices, W·G with row i of G the products of person i's rows, so that
/// rows are read once ([`WeightedSums`](crate::kernel::numeric::WeightedSums)). Where a spread varies, precisions change with each refit, and
/// rows are added up once more.
///
/// # Precision
/// Normal equations where their condition allows it, QR of the weighted rows where it does not: digits as in
/// [`tolerance::GRAM_CONDITION`](crate::kernel::numeric::tolerance::GRAM_CONDITION).
pub struct Refitter {
    fitted: Fitted,
    panel: Panel,
    census: Census,
    groups: Vec<Group>,
    shares: Vec<Share>,
    /// `None` for a group whose columns cannot be turned.
    rows: Vec<Option<GroupRows>>,
}

/// Sums of one block of weightings are at most so many numbers, 256 MB.
const NUMBERS: usize = 1 << 25;

/// Why a mechanism cannot be fitted again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefitError {
    /// Nets are not linear in anything: a refit is a training of its own.
    #[error("a net is not refitted with weights: resampling people would train one for each resample")]
    Neural,
    /// Not one weight per person.
    #[error("{found} weights were given for {people} people")]
    WeightCount {
        /// Weights given.
        found: usize,
        /// People in the panel.
        people: usize,
    },
    /// wᵢ < 0, or no number.
    #[error("the weight of person {position} (from 0) is {weight}; weights are finite and not negative")]
    Weight {
        /// The person's place in the panel.
        position: usize,
        /// The weight given.
        weight: f64,
    },
    /// Σ wᵢ = 0 over the people of a level.
    #[error("the weights leave nobody at level {level}")]
    EmptyLevel {
        /// Its name.
        level: String,
    },
    /// The first fit.
    #[error(transparent)]
    Fit(#[from] FitError),
}

impl Refitter {
    /// Fits as [`fit`](super::fit) does and keeps what refits need: a row of numbers for every decision.
    ///
    /// # Errors
    /// [`RefitError::Neural`] for nets, [`RefitError::Fit`] where the panel cannot be fitted.
    pub fn new(panel: &Panel, settings: &FitSettings) -> Result<Self, RefitError> {
        if settings.basis == Basis::Neural {
            return Err(RefitError::Neural);
        }
        let LeastSquaresFit { fitted, census, groups, rows } = LeastSquaresFit::new(panel, settings)?;
        let shares = Share::of_all(&groups, &census, panel.shape())?;
        let turned =
            |(group, rows): (&Group, RegressionRows)| Some(GroupRows::new(group, group.bends.as_ref()?, panel, &rows));
        let rows = groups.par_iter().zip(rows.unwrap_or_default()).map(turned).collect();
        Ok(Self { fitted, panel: panel.clone(), census, groups, shares, rows })
    }

    /// The fit with weight 1 for all people: what [`fit`](super::fit) returns, bit for bit.
    pub fn fitted(&self) -> &Fitted {
        &self.fitted
    }

    /// N.
    pub fn people(&self) -> usize {
        self.panel.people()
    }

    pub(super) fn panel(&self) -> &Panel {
        &self.panel
    }

    /// The fit with these weights, one per person in the order of the panel.
    ///
    /// Its [`gain`](Fitted::gain) is that of the unweighted fit: it describes the study, not the resample.
    ///
    /// # Errors
    /// [`RefitError`] about weights: their number, their sign, a level left empty.
    pub fn refit(&self, weights: &[f64]) -> Result<Fitted, RefitError> {
        self.one(weights, None)
    }

    /// A mechanism that the data do not tell apart from the fit: refitted with these weights, and with its penalised bends drawn.
    ///
    /// A refit varies as the estimate varies, round the estimate. But a penalised spline is too straight, and the truth bends by as much
    /// as the penalty thinks usual; no refit with the same penalty shows it. Drawing the penalty's targets does:
    ///
    /// # Equation
    /// ```text
    /// b*_w = (Σᵢ wᵢ XᵢᵀXᵢ + λ n_w P)⁻¹ (Σᵢ wᵢ Xᵢᵀyᵢ + √(λ n_w) Lᵀe),   e ~ N(0, σ̂² n_w / n),   P = LᵀL
    /// ```
    /// whose covariance is that of refits plus σ²λn A⁻¹PA⁻¹, A = XᵀX + λnP: the squared bias to be expected of functions as rough as λ
    /// says. With independent errors of equal variance the sum is σ²A⁻¹, the Bayesian covariance of a smoothing spline, whose intervals cover the
    /// truth on average over the state. In the paper's non-linear world (N = 100, T = 8) the upper 95 % bound of the CF metric covers more often
    /// with it: `tests/coverage`.
    ///
    /// # Errors
    /// As [`refit`](Self::refit).
    ///
    /// # Reference
    /// Nychka, Bayesian confidence intervals for smoothing splines, Journal of the American Statistical Association 83 (1988) 1134–1143.
    pub fn draw(&self, weights: &[f64], bends: Stream) -> Result<Fitted, RefitError> {
        self.one(weights, Some(bends))
    }

    fn one(&self, weights: &[f64], bends: Option<Stream>) -> Result<Fitted, RefitError> {
        let mut found = self.each(1, &|_| (weights.to_vec(), bends), &|_, fitted| fitted)?;
        Ok(found.pop().expect("one refit for one weighting"))
    }

    /// What `keep` makes of each refit; `weighting` gives its weights, and what its bends are drawn from.
    ///
    /// # Errors
    /// As [`refit`](Self::refit).
    pub(super) fn each<T: Send>(
        &self,
        count: usize,
        weighting: &(dyn Fn(usize) -> (Vec<f64>, Option<Stream>) + Sync),
        keep: &(dyn Fn(usize, Fitted) -> T + Sync),
    ) -> Result<Vec<T>, RefitError> {
        let size = |share: &Share| self.rows[share.at].as_ref().map_or(0, |rows| rows.size(share));
        let numbers = self.shares.iter().map(size).sum::<usize>() + self.people();
        let at_once = (NUMBERS / numbers.max(1)).clamp(1, count.max(1));
        let mut found = Vec::with_capacity(count);
        for first in (0..count).step_by(at_once) {
            let block = first..count.min(first + at_once);
            let (weights, bends): (Vec<Vec<f64>>, Vec<Option<Stream>>) =
                block.clone().into_par_iter().map(weighting).unzip();
            weights.iter().try_for_each(|weights| self.check(weights))?;
            let sums: Vec<LevelSums> = self.shares.par_iter().map(|share| self.sums(share, &weights)).collect();
            let refits = block.clone().into_par_iter().map(|b| {
                let at = b - first;
                let own: Vec<Vec<&[f64]>> = sums.iter().map(|sums| sums.of_weighting(at)).collect();
                Ok(keep(b, self.fit_again(&weights[at], &own, bends[at])?))
            });
            found.extend(refits.collect::<Result<Vec<T>, RefitError>>()?);
        }
        Ok(found)
    }

    fn check(&self, weights: &[f64]) -> Result<(), RefitError> {
        if weights.len() != self.people() {
            return Err(RefitError::WeightCount { found: weights.len(), people: self.people() });
        }
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            Some(position) => Err(RefitError::Weight { position, weight: weights[position] }),
            None => Ok(()),
        }
    }

    fn sums(&self, share: &Share, weights: &[Vec<f64>]) -> LevelSums {
        let levels = match &self.rows[share.at] {
            Some(rows) if rows.products.is_none() => {
                rows.levels.par_iter().map(|level| level.sums(share, weights)).collect()
            }
            _ => vec![],
        };
        LevelSums { weightings: weights.len(), levels }
    }

    fn fit_again(&self, weights: &[f64], sums: &[Vec<&[f64]>], bends: Option<Stream>) -> Result<Fitted, RefitError> {
        let initial = self.initial_means(weights)?;
        let mut coefficients = Coefficients::zero(self.groups.iter().map(|group| &group.design));
        let mut reports = vec![];
        let by_person = |person: usize, _: usize| weights[person];
        for (share, sums) in self.shares.iter().zip(sums) {
            let group = &self.groups[share.at];
            let solved = self.solve(share, sums, &by_person, bends)?;
            coefficients.write_known(&group.design, &share.outputs, &solved);
            let total: f64 = self.weight(share, &by_person);
            let finding = |(output, solution): (usize, &Solution)| {
                let degrees = group.degrees(output, solution);
                let residual_sd = (solution.squares / (total - degrees).max(1.0)).sqrt();
                Finding { rank: solution.rank, degrees, residual_sd }
            };
            let findings = share.outputs.clone().zip(&solved).map(finding).collect();
            let known = self.census.transitions(group.design.only);
            RegressionReport::push(&mut reports, group, known, share.at, findings);
        }
        let means = Means::Table(coefficients.clone().into());
        let fitted = Fitted::new(self.panel.shape(), initial, means, reports);
        let refitted = match fitted_noise(&self.fitted) {
            None => Fitted { noise: self.fitted.noise.clone(), ..fitted },
            Some(noise) => {
                let law = noise.refit(&fitted, &self.panel, Some(weights))?;
                with_noise(fitted, coefficients, law, &self.panel, Some(weights), |coefficients, law, outputs| {
                    self.weigh_again(coefficients, law, outputs, weights, bends)
                })?
            }
        };
        Ok(Fitted { gain: self.fitted.gain, ..refitted })
    }

    /// Fits some outputs again with the precisions of their noise beside the weights of people.
    fn weigh_again(
        &self,
        coefficients: &mut Coefficients,
        law: &FittedNoise,
        outputs: &[usize],
        weights: &[f64],
        bends: Option<Stream>,
    ) -> Result<(), FitError> {
        let precisions = law.precisions(&self.panel);
        for share in self.shares.iter().flat_map(|share| share.apart(outputs)) {
            let precision = precisions[share.outputs.start].as_deref();
            let weight = |person: usize, decision: usize| weights[person] * precision.map_or(1.0, |p| p[decision]);
            let sums: Vec<Vec<f64>> = match &self.rows[share.at] {
                Some(rows) if rows.products.is_none() => {
                    rows.levels.iter().map(|level| level.weighed(&share, &weight)).collect()
                }
                _ => vec![],
            };
            let sums: Vec<&[f64]> = sums.iter().map(Vec::as_slice).collect();
            let solved = self.solve(&share, &sums, &weight, bends)?;
            coefficients.write_known(&self.groups[share.at].design, &share.outputs, &solved);
        }
        Ok(())
    }

    /// From sums, or from the products of rows, or where these do not determine it from the rows themselves.
    fn solve(
        &self,
        share: &Share,
        sums: &[&[f64]],
        weight: RowWeight,
        bends: Option<Stream>,
    ) -> Result<Vec<Solution>, FitError> {
        let group = &self.groups[share.at];
        let drawn = |output: usize, count: usize| {
            let smoothing = group.smoothing[output];
            let stream = bends.filter(|_| smoothing.penalty > 0.0)?;
            let stream = stream.named("bends").index(share.at as u64).index(output as u64);
            let mut normals = vec![0.0; count];
            fill_standard_normal(&mut stream.rng(), &mut normals);
            Some(Drawn { normals, left: (share.decisions as f64 - smoothing.degrees).max(1.0) })
        };
        if let (Some(rows), Some(bends)) = (&self.rows[share.at], &group.bends) {
            let drawn = share.outputs.clone().map(|output| drawn(output, bends.penalised())).collect();
            let problem = Problem { group, bends, rows, share, drawn };
            let found = match &rows.products {
                Some(products) => problem.by_rows(products, weight),
                None => problem.by_sums(sums),
            };
            if let Some(found) = found {
                return Ok(found);
            }
        }
        let (columns, total) = (group.design.columns(), self.weight(share, weight));
        if total == 0.0 {
            return Ok(vec![Solution::unknown(columns); share.outputs.len()]);
        }
        let is_penalised = group.is_penalised(&share.outputs);
        let mut triangles = Triangle::of(columns, share.outputs.len(), is_penalised, bends.is_some());
        let rows = RegressionRows::of(&group.design, &self.panel);
        for (decision, row, targets) in rows.each(columns).filter(|(decision, ..)| share.takes(decision.has_next)) {
            let (w, targets) = (weight(decision.person, decision.at), &targets[share.outputs.clone()]);
            if w > 0.0 {
                triangles.iter_mut().try_for_each(|triangle| triangle.add(row, targets, w))?;
            }
        }
        let solved = triangles.into_iter().map(|triangle| {
            let output = share.outputs.start + triangle.outputs.start;
            let penalty = group.smoothing[output].penalty * total;
            triangle.solve(&group.design, penalty, |count| drawn(output, count))
        });
        Ok(solved.collect::<Result<Vec<_>, FitError>>()?.concat())
    }

    /// Σ w over the rows of a share.
    fn weight(&self, share: &Share, weight: RowWeight) -> f64 {
        let (p, mut total) = (self.panel.state_dim(), 0.0);
        for (i, person) in self.groups[share.at].design.people(&self.panel) {
            for (t, at) in self.panel.decisions_of(i).enumerate() {
                if share.takes(person.states.len() >= (t + 2) * p) {
                    total += weight(i, at);
                }
            }
        }
        total
    }

    /// Σ w s₁ / Σ w at each level.
    fn initial_means(&self, weights: &[f64]) -> Result<Vec<Vec<f64>>, RefitError> {
        let mut first = FirstStates::new(self.panel.levels().len(), self.panel.state_dim());
        for (person, w) in self.panel.iter().zip(weights) {
            first.add(person.level as usize, &person.states[..self.panel.state_dim()], *w);
        }
        first.means().map_err(|level| RefitError::EmptyLevel { level: self.panel.levels().name(level).to_string() })
    }
}

/// The sums of a share at each level, under every weighting.
struct LevelSums {
    weightings: usize,
    levels: Vec<Vec<f64>>,
}

impl LevelSums {
    fn of_weighting(&self, b: usize) -> Vec<&[f64]> {
        self.levels
            .iter()
            .map(|sums| &sums[b * (sums.len() / self.weightings)..][..sums.len() / self.weightings])
            .collect()
    }
}

/// Noise that has something to refit.
fn fitted_noise(fitted: &Fitted) -> Option<&FittedNoise> {
    fitted.noise.as_ref().filter(|noise| !noise.is_additive())
}
