//! Weighted rows folded into triangles: for functions that depend on each other, or nearly do, and where nothing is penalised.

use super::FitError;
use super::design::Design;
use crate::kernel::numeric::LeastSquaresRows;
use std::ops::Range;

/// What was found for one output.
#[derive(Debug, Clone)]
pub(super) struct Solution {
    pub coefficients: Vec<f64>,
    pub rank: usize,
    /// ‖√w (y − Xb)‖².
    pub squares: f64,
    /// Whether any row has weight.
    pub is_known: bool,
}

impl Solution {
    /// An output that no row is about.
    pub fn unknown(columns: usize) -> Self {
        Self { coefficients: vec![0.0; columns], rank: columns, squares: 0.0, is_known: false }
    }
}

/// Standard normal numbers, and by what their size is found from the sum of squares: a penalty that is drawn.
pub(super) struct Drawn {
    pub normals: Vec<f64>,
    /// n − d.
    pub left: f64,
}

impl Drawn {
    /// σ √(Σ w / n) with σ² = (n / Σ w) squares / (n − d), so that rows count for n however weights are scaled.
    pub fn size(&self, squares: f64) -> f64 {
        (squares / self.left).sqrt()
    }
}

/// Rows of outputs that share them and have no penalty, or of one that has.
pub(super) struct Triangle {
    /// Places among the targets that rows come with.
    pub outputs: Range<usize>,
    /// Whether there is one more output, which is 0 but for what the penalty is drawn towards.
    is_drawn: bool,
    rows: LeastSquaresRows,
    design: Vec<f64>,
    targets: Vec<f64>,
}

/// Rows folded at a time.
const FOLDED: usize = 4096;

impl Triangle {
    /// For the first `outputs` targets: one for all where none is penalised, or one each.
    pub fn of(columns: usize, outputs: usize, is_penalised: bool, is_drawn: bool) -> Vec<Self> {
        let ranges: Vec<Range<usize>> =
            if is_penalised { (0..outputs).map(|j| j..j + 1).collect() } else { vec![0..outputs] };
        let is_drawn = is_drawn && is_penalised;
        let triangle = |outputs: Range<usize>| {
            let rows = LeastSquaresRows::new(columns, outputs.len() + usize::from(is_drawn));
            Self { outputs, is_drawn, rows, design: vec![], targets: vec![] }
        };
        ranges.into_iter().map(triangle).collect()
    }

    /// Adds a row; `targets` are those of all triangles.
    pub fn add(&mut self, row: &[f64], targets: &[f64], weight: f64) -> Result<(), FitError> {
        let root = weight.sqrt();
        self.design.extend(row.iter().map(|x| root * x));
        self.targets.extend(targets[self.outputs.clone()].iter().map(|y| root * y));
        self.targets.extend(self.is_drawn.then_some(0.0));
        if self.design.len() >= FOLDED * row.len() { self.fold() } else { Ok(()) }
    }

    fn fold(&mut self) -> Result<(), FitError> {
        self.rows.add(&self.design, &self.targets)?;
        self.design.clear();
        self.targets.clear();
        Ok(())
    }

    /// QR of √w X, with √penalty L below where there is a penalty: the minimum-norm solution where rows leave it undetermined, and its rank.
    /// `draw` says with how many normal numbers.
    pub fn solve(
        mut self,
        design: &Design,
        penalty: f64,
        draw: impl FnOnce(usize) -> Option<Drawn>,
    ) -> Result<Vec<Solution>, FitError> {
        self.fold()?;
        let columns = design.columns();
        let below: Vec<f64> = match penalty > 0.0 {
            true => design.roughness().iter().map(|l| penalty.sqrt() * l).collect(),
            false => vec![],
        };
        let drawn = draw(below.len() / columns).filter(|_| self.is_drawn);
        let targets = match &drawn {
            Some(drawn) => drawn.normals.iter().flat_map(|e| [0.0, *e]).collect(),
            None => vec![0.0; below.len() / columns * (self.outputs.len() + usize::from(self.is_drawn))],
        };
        self.rows.add(&below, &targets)?;
        let solved = self.rows.solve()?;
        let solution = |j: usize| {
            let mut coefficients = solved.output(j).to_vec();
            let bent = |row: &[f64]| row.iter().zip(&coefficients).map(|(l, b)| l * b).sum::<f64>().powi(2);
            let bent: f64 = below.chunks_exact(columns).map(bent).sum();
            let squares = (solved.residual_sum_of_squares[j] - bent).max(0.0);
            if let Some(drawn) = &drawn {
                let size = drawn.size(squares);
                coefficients.iter_mut().zip(solved.output(j + 1)).for_each(|(b, moved)| *b += size * moved);
            }
            Solution { coefficients, rank: solved.rank, squares, is_known: true }
        };
        Ok((0..self.outputs.len()).map(solution).collect())
    }
}
