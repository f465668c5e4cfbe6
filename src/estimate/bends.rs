//! The columns of a regression in coordinates in which roughness is a plain sum of squares.

use super::basis::StateBasis;
use super::design::Design;
use super::spline::NaturalSpline;
use super::terms::Term;
use crate::kernel::numeric::RidgeFactor;

/// Columns X of a design as straight functions X₀, which cost nothing, and bends X₁, whose roughness is ‖c‖².
///
/// At a level and action with factors f of the terms, coordinate j has the coefficients Σ f_i c_i on its bent functions, and Σ over levels
/// and actions of their roughness is tr (cᵀ F c P_j) with F = Σ ffᵀ and P_j the roughness of the spline. With F = CCᵀ and P_j = R_jR_jᵀ, the
/// coefficients Cᵀ c R_j have a sum of squares in its place. Small factors do what a factorisation of all columns would do.
///
/// Bases other than splines do not bend: all their columns are X₀.
pub(super) struct Bends {
    columns: usize,
    /// The column of the design of each free column.
    free: Vec<usize>,
    /// Where the functions of each term begin that has all of them.
    starts: Vec<usize>,
    /// C.
    terms: RidgeFactor,
    /// Where the bent functions of each spline begin in a term, and R.
    splines: Vec<(usize, RidgeFactor)>,
}

impl Bends {
    /// `None` when the factors of terms depend on each other, as powers of large numbers may.
    pub fn new(design: &Design) -> Option<Self> {
        let none: &[NaturalSpline] = &[];
        let bent = match &design.basis {
            StateBasis::Spline(splines) => splines.as_slice(),
            _ => none,
        };
        let mut splines = Vec::new();
        let mut straight: Vec<bool> = vec![true; design.basis.count()];
        let mut start = 1;
        for spline in bent {
            let size = spline.count() - 1;
            let rows = spline.roughness_rows();
            let entry = |i: usize, j: usize| rows.iter().map(|row| row[1 + i] * row[1 + j]).sum::<f64>();
            let roughness: Vec<f64> = (0..size * size).map(|at| entry(at / size, at % size)).collect();
            splines.push((start + 1, RidgeFactor::new(&roughness, &vec![0.0; size])?));
            straight[start + 1..=start + size].fill(false);
            start += spline.count();
        }
        let (mut free, mut starts, mut full, mut column) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for term in &design.terms {
            if !bent.is_empty() && term.functions == design.basis.count() {
                starts.push(column);
                full.push(term);
            }
            free.extend((0..term.functions).filter(|&k| straight[k]).map(|k| column + k));
            column += term.functions;
        }
        let terms = RidgeFactor::new(&sum_of_products(design, &full), &vec![0.0; full.len()])?;
        Some(Self { columns: column, free, starts, terms, splines })
    }

    /// Columns of X₀.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// Columns of X₁.
    pub fn penalised(&self) -> usize {
        self.columns - self.free.len()
    }

    /// Appends a row of X, with whatever stands behind its columns, in the order [X₀ X₁ …].
    pub fn push(&self, row: &[f64], out: &mut Vec<f64>) {
        out.extend(self.free.iter().map(|&column| row[column]));
        let bent = out.len();
        out.resize(bent + self.penalised(), 0.0);
        let bends = &mut out[bent..];
        let width = bends.len() / self.starts.len().max(1);
        for (i, start) in self.starts.iter().enumerate() {
            let mut place = i * width;
            for (first, factor) in &self.splines {
                let own = &row[start + first..][..factor.size()];
                let bend = &mut bends[place..place + own.len()];
                place += own.len();
                if own.iter().any(|x| *x != 0.0) {
                    bend.copy_from_slice(own);
                    factor.half_solve_in_place(bend);
                }
            }
        }
        self.across_terms(bends, width, RidgeFactor::half_solve_in_place);
        out.extend_from_slice(&row[self.columns..]);
    }

    /// The Gram matrix of [X₀ X₁ Y] from that of [X Y], `width` its side.
    pub fn of_gram(&self, gram: &[f64], width: usize) -> Vec<f64> {
        let transposed = |matrix: Vec<f64>| -> Vec<f64> {
            (0..width * width).map(|at| matrix[at % width * width + at / width]).collect()
        };
        let turn = |matrix: &[f64]| {
            let mut out = Vec::with_capacity(width * width);
            matrix.chunks_exact(width).for_each(|row| self.push(row, &mut out));
            transposed(out)
        };
        turn(&turn(gram))
    }

    /// The coefficients of X that a solution [b, c] stands for.
    pub fn to_design(&self, solution: &[f64]) -> Vec<f64> {
        let mut coefficients = vec![0.0; self.columns];
        self.free.iter().zip(solution).for_each(|(&column, b)| coefficients[column] = *b);
        let mut bends = solution[self.free.len()..].to_vec();
        let width = bends.len() / self.starts.len().max(1);
        self.across_terms(&mut bends, width, RidgeFactor::other_half_solve_in_place);
        let mut rest = bends.as_mut_slice();
        for start in &self.starts {
            for (first, factor) in &self.splines {
                let (own, others) = rest.split_at_mut(factor.size());
                factor.other_half_solve_in_place(own);
                coefficients[start + first..][..own.len()].copy_from_slice(own);
                rest = others;
            }
        }
        coefficients
    }

    /// Applies a half of C's solve to each bend over the terms.
    fn across_terms(&self, bends: &mut [f64], width: usize, solve: impl Fn(&RidgeFactor, &mut [f64])) {
        let mut over = vec![0.0; self.starts.len()];
        for k in 0..width {
            over.iter_mut().enumerate().for_each(|(i, x)| *x = bends[i * width + k]);
            solve(&self.terms, &mut over);
            over.iter().enumerate().for_each(|(i, x)| bends[i * width + k] = *x);
        }
    }
}

/// F = Σ ffᵀ over the design's levels and actions, f the factors of these terms.
fn sum_of_products(design: &Design, terms: &[&Term]) -> Vec<f64> {
    let size = terms.len();
    let mut sum = vec![0.0; size * size];
    for level in design.levels() {
        for action in 0..design.actions {
            let factors: Vec<f64> = terms.iter().map(|term| design.factor(term, level, action)).collect();
            for (i, row) in sum.chunks_exact_mut(size.max(1)).enumerate() {
                row.iter_mut().zip(&factors).for_each(|(sum, f)| *sum += factors[i] * f);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::LevelCode;
    use super::*;
    use crate::kernel::people::{Labels, Shape};

    /// Two coordinates with four and five knots, three levels, two actions.
    fn with_design(check: impl Fn(&Design)) {
        let shape = Shape { levels: Labels::numbered(3), actions: Labels::numbered(2), state_dim: 2 };
        let splines = vec![
            NaturalSpline::new(vec![0.0, 1.0, 2.5, 4.0]).unwrap(),
            NaturalSpline::new(vec![-1.0, 0.5, 1.0, 3.0, 3.5]).unwrap(),
        ];
        let basis = StateBasis::Spline(splines);
        for code in [LevelCode::Indicator, LevelCode::Number] {
            check(&Design::new(&shape, basis.clone(), None, code, &[-1.0, 0.5, 2.0]));
        }
    }

    #[test]
    fn a_solution_stands_for_the_same_function_and_its_squares_for_its_roughness() {
        with_design(|design| {
            let bends = Bends::new(design).unwrap();
            let columns = design.columns();
            assert_eq!(bends.free() + bends.penalised(), columns);
            let solution: Vec<f64> = (0..columns).map(|i| (1.7 * i as f64 + 0.4).sin()).collect();
            let coefficients = bends.to_design(&solution);
            let (mut functions, mut row, mut turned) = (vec![0.0; design.basis.count()], vec![], vec![]);
            for (level, state, action) in [(0, [1.3, 2.0], 0), (2, [-0.4, 0.7], 1), (1, [3.0, 5.0], 0)] {
                row.clear();
                turned.clear();
                design.push_row(level, &state, action, &mut functions, &mut row);
                row.push(9.0);
                bends.push(&row, &mut turned);
                assert_eq!((turned.len(), turned[columns]), (columns + 1, 9.0));
                let at = |row: &[f64], c: &[f64]| row.iter().zip(c).map(|(x, c)| x * c).sum::<f64>();
                approx::assert_relative_eq!(at(&turned, &solution), at(&row, &coefficients), max_relative = 1e-11);
            }
            let rough: f64 = design
                .roughness()
                .chunks_exact(columns)
                .map(|l| l.iter().zip(&coefficients).map(|(l, b)| l * b).sum::<f64>().powi(2))
                .sum();
            let squares: f64 = solution[bends.free()..].iter().map(|c| c * c).sum();
            approx::assert_relative_eq!(squares, rough, max_relative = 1e-11);
        });
    }

    #[test]
    fn a_gram_matrix_turns_as_its_rows_do() {
        with_design(|design| {
            let bends = Bends::new(design).unwrap();
            let (mut functions, mut row) = (vec![0.0; design.basis.count()], vec![]);
            design.push_row(2, &[1.3, 2.0], 1, &mut functions, &mut row);
            row.push(0.3);
            let width = row.len();
            let gram: Vec<f64> = (0..width * width).map(|at| row[at / width] * row[at % width]).collect();
            let mut turned = vec![];
            bends.push(&row, &mut turned);
            for (at, found) in bends.of_gram(&gram, width).iter().enumerate() {
                let expected = turned[at / width] * turned[at % width];
                approx::assert_relative_eq!(*found, expected, max_relative = 1e-11, epsilon = 1e-14);
            }
        });
    }
}
