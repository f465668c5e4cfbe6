//! The coefficients that weighted sums determine, for one penalty at a time.

use super::level_rows::{GroupRows, LevelRows, RowWeight};
use crate::estimate::bends::Bends;
use crate::estimate::groups::Group;
use crate::estimate::regression::Share;
use crate::estimate::triangles::{Drawn, Solution};
use crate::kernel::numeric::tolerance::GRAM_CONDITION;
use crate::kernel::numeric::{Eliminated, WeightedSums, products_of_rows};

/// What is left of a column's square must be more than this share.
const LEAST: f64 = 1.0 / GRAM_CONDITION;

/// The regression of a share's outputs on a group's rows.
pub(super) struct Problem<'a> {
    pub group: &'a Group,
    pub bends: &'a Bends,
    pub rows: &'a GroupRows,
    pub share: &'a Share,
    /// The normal numbers of each output whose penalty is drawn.
    pub drawn: Vec<Option<Drawn>>,
}

impl Problem<'_> {
    /// The places among the share's outputs of those with one penalty λ.
    fn by_penalty(&self) -> Vec<(f64, Vec<usize>)> {
        let mut groups: Vec<(f64, Vec<usize>)> = vec![];
        for (place, output) in self.share.outputs.clone().enumerate() {
            let penalty = self.group.smoothing[output].penalty;
            match groups.iter_mut().find(|(λ, _)| *λ == penalty) {
                Some((_, places)) => places.push(place),
                None => groups.push((penalty, vec![place])),
            }
        }
        groups
    }

    fn columns(&self) -> usize {
        self.bends.free() + self.bends.penalised()
    }

    fn unknown(&self) -> Vec<Solution> {
        vec![Solution::unknown(self.columns()); self.share.outputs.len()]
    }

    fn solution(&self, coefficients: &[f64], squares: f64) -> Solution {
        let coefficients = self.bends.to_design(coefficients);
        Solution { coefficients, rank: self.columns(), squares, is_known: true }
    }

    /// From the sums of each level: its own columns are eliminated, then those that all levels share. `None` where columns depend on each other, or
    /// nearly do.
    ///
    /// # Equation
    /// ```text
    /// (Σ w XᵀX + λ Σ w P) [β, β′] = [Σ w Xᵀy, √(λ Σ w) e]
    /// ```
    pub fn by_sums(&self, sums: &[&[f64]]) -> Option<Vec<Solution>> {
        let (free, shared) = (self.bends.free(), &self.rows.shared);
        let total: f64 = sums.iter().map(|sums| sums[0]).sum();
        if total == 0.0 {
            return Some(self.unknown());
        }
        let mut found: Vec<Option<Solution>> = vec![None; self.share.outputs.len()];
        for (λ, places) in self.by_penalty() {
            let penalty = λ * total;
            let drawn: Vec<Option<&Drawn>> = places.iter().map(|&place| self.drawn[place].as_ref()).collect();
            let border = shared.len() + places.len() + drawn.iter().flatten().count();
            // Where the targets of penalties stand in rows below, and what they are in these columns.
            let add_penalty = |lower: &mut [f64], size: usize, columns: &[usize], first: usize| {
                for (j, column) in columns.iter().enumerate().filter(|(_, column)| **column >= free) {
                    lower[j * size + j] += penalty;
                    for (k, drawn) in drawn.iter().flatten().enumerate() {
                        lower[(first + k) * size + j] += penalty.sqrt() * drawn.normals[column - free];
                    }
                }
            };
            let mut rest = vec![0.0; border * border];
            let mut levels: Vec<(&LevelRows, Eliminated)> = Vec::with_capacity(sums.len());
            for (level, sums) in self.rows.levels.iter().zip(sums) {
                let (own, size) = (level.own.len(), level.own.len() + border);
                let mut lower = vec![0.0; size * size];
                unpack(&sums[1..], own + shared.len(), &places, size, &mut lower);
                add_penalty(&mut lower, size, &level.own, own + shared.len() + places.len());
                let eliminated = Eliminated::new(lower, own, LEAST)?;
                for i in 0..border {
                    rest[i * border..].iter_mut().zip(eliminated.rest(i)).for_each(|(sum, x)| *sum += x);
                }
                levels.push((level, eliminated));
            }
            add_penalty(&mut rest, border, shared, shared.len() + places.len());
            let last = Eliminated::new(rest, shared.len(), LEAST)?;
            let solved = |right: usize| {
                let mut solution = vec![0.0; self.columns()];
                let common = last.substitute(right, &[]);
                for (level, eliminated) in &levels {
                    let own = eliminated.substitute(shared.len() + right, &common);
                    level.own.iter().zip(own).for_each(|(&column, x)| solution[column] = x);
                }
                shared.iter().zip(common).for_each(|(&column, x)| solution[column] = x);
                solution
            };
            let mut next = places.len();
            for (k, (&place, drawn)) in places.iter().zip(&drawn).enumerate() {
                let mut solution = solved(k);
                let bent: f64 = solution[free..].iter().map(|c| c * c).sum();
                // yᵀy − yᵀX(XᵀX + λP)⁻¹Xᵀy is the penalised sum of squares at its least.
                let squares = (last.rest(k)[k] - penalty * bent).max(0.0);
                if let Some(drawn) = drawn {
                    let size = drawn.size(squares);
                    solution.iter_mut().zip(solved(next)).for_each(|(b, moved)| *b += size * moved);
                    next += 1;
                }
                found[place] = Some(self.solution(&solution, squares));
            }
        }
        found.into_iter().collect()
    }

    /// From the products of rows, with a weight for each decision: the smaller system where rows are few. `None` where straight columns depend on
    /// each other, or nearly do.
    ///
    /// # Equation
    /// ```text
    /// β₁ = X₁ᵀ D α + e/√λ′,   (D X₁X₁ᵀ D + λ′ I) α + D X₀ β₀ = D (y − X₁e/√λ′),   X₀ᵀ D α = 0,   D² = diag w,   λ′ = λ Σ w
    /// ```
    /// The residuals are D (y − Xβ) = λ′ α.
    pub fn by_rows(&self, products: &[f64], weight: RowWeight) -> Option<Vec<Solution>> {
        let (level, free, columns) = (&self.rows.levels[0], self.bends.free(), self.columns());
        let places = level.places(self.share);
        let (mut total, mut roots, mut straight, mut bent, mut targets) = (0.0, vec![], vec![], vec![], vec![]);
        for (person, decision, row) in level.each(self.share) {
            let w = weight(person, decision);
            total += w;
            roots.push(w.sqrt());
            straight.push(&row[..free]);
            bent.extend_from_slice(&row[free..columns]);
            targets.push(&row[columns..][self.share.outputs.clone()]);
        }
        if total == 0.0 {
            return Some(self.unknown());
        }
        let (n, all) = (roots.len(), level.rows());
        let mut found: Vec<Option<Solution>> = vec![None; self.share.outputs.len()];
        for (λ, outputs) in self.by_penalty() {
            let penalty = λ * total;
            let drawn: Vec<(usize, &Drawn)> =
                outputs.iter().enumerate().filter_map(|(k, &output)| Some((k, self.drawn[output].as_ref()?))).collect();
            let normals: Vec<f64> = drawn.iter().flat_map(|(_, drawn)| &drawn.normals).copied().collect();
            let moved = products_of_rows(&normals, &bent, columns - free);
            let border = free + outputs.len() + drawn.len();
            let size = n + border;
            let mut lower = vec![0.0; size * size];
            for (i, (place, root)) in places.iter().zip(&roots).enumerate() {
                let row = &products[place * all..(place + 1) * all];
                for (j, (other, r)) in places[..=i].iter().zip(&roots).enumerate() {
                    lower[i * size + j] = root * r * row[*other];
                }
                lower[i * size + i] += penalty;
                let y = outputs.iter().map(|&output| targets[i][output]);
                let towards = (0..drawn.len()).map(|k| -moved[k * n + i] / penalty.sqrt());
                let below = straight[i].iter().copied().chain(y).chain(towards);
                below.enumerate().for_each(|(k, x)| lower[(n + k) * size + i] = root * x);
            }
            let rows = Eliminated::new(lower, n, n as f64 * f64::EPSILON)?;
            let mut rest = vec![0.0; border * border];
            for i in 0..border {
                rest[i * border..].iter_mut().zip(rows.rest(i)).for_each(|(rest, x)| *rest = -x);
            }
            let last = Eliminated::new(rest, free, LEAST)?;
            let solved = |right: usize| {
                let straight = last.substitute(right, &[]);
                let α = rows.substitute(free + right, &straight);
                (straight, α)
            };
            let mut bends = WeightedSums::new(outputs.len(), columns - free);
            let mut all_α: Vec<Vec<f64>> = Vec::with_capacity(outputs.len());
            let mut solutions = Vec::with_capacity(outputs.len());
            for k in 0..outputs.len() {
                let (mut solution, mut α) = solved(k);
                let squares = penalty * penalty * α.iter().map(|a| a * a).sum::<f64>();
                solution.resize(columns, 0.0);
                if let Some(at) = drawn.iter().position(|(own, _)| *own == k) {
                    let (size, normals) = (drawn[at].1.size(squares), &drawn[at].1.normals);
                    let (other, beside) = solved(outputs.len() + at);
                    α.iter_mut().zip(beside).for_each(|(a, b)| *a += size * b);
                    solution.iter_mut().zip(other).for_each(|(x, b)| *x += size * b);
                    solution[free..].iter_mut().zip(normals).for_each(|(c, e)| *c += size * e / penalty.sqrt());
                }
                all_α.push(α);
                solutions.push((solution, squares));
            }
            for (i, row) in bent.chunks_exact(columns - free).enumerate() {
                bends.add(all_α.iter().map(|α| roots[i] * α[i]), |own| own.copy_from_slice(row));
            }
            let bends = bends.finish();
            let of_output = bends.chunks_exact(columns - free);
            for ((&output, (mut solution, squares)), through) in outputs.iter().zip(solutions).zip(of_output) {
                solution[free..].iter_mut().zip(through).for_each(|(c, x)| *c += x);
                found[output] = Some(self.solution(&solution, squares));
            }
        }
        found.into_iter().collect()
    }
}

/// Writes the rows of columns and of some targets into the lower half of a square of `size` rows.
fn unpack(packed: &[f64], columns: usize, targets: &[usize], size: usize, lower: &mut [f64]) {
    let row = |i: usize| &packed[i * (i + 1) / 2..][..=i];
    for i in 0..columns {
        lower[i * size..=i * size + i].copy_from_slice(row(i));
    }
    for (k, target) in targets.iter().enumerate() {
        let (from, to) = (row(columns + target), &mut lower[(columns + k) * size..][..size]);
        to[..columns].copy_from_slice(&from[..columns]);
        targets[..=k].iter().enumerate().for_each(|(j, other)| to[columns + j] = from[columns + other]);
    }
}
