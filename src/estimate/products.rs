//! Weighted rows [X Y] of a penalised regression: their products, or where rows are few the rows themselves.

use super::bends::Bends;
use crate::kernel::numeric::Gram;
use crate::kernel::numeric::ridge_path::{RidgePath, squares_of_gram, squares_of_rows};

/// Rows multiplied at a time: enough for long products, few enough to stay in cache.
const ROWS: usize = 512;

/// Rows √w [X₀ X₁ Y] while they are added up.
pub(super) struct Products {
    width: usize,
    /// `None` where rows are so few that their own products are smaller than those of columns.
    gram: Option<Gram>,
    /// Rows that are not in the Gram matrix yet.
    rows: Vec<f64>,
}

impl Products {
    pub fn new(width: usize, are_few: bool) -> Self {
        Self { width, gram: (!are_few).then(|| Gram::new(width)), rows: vec![] }
    }

    /// Adds a row of regressors, which are turned first if `turn` is given, and its targets.
    pub fn add(&mut self, regressors: &[f64], turn: Option<&Bends>, targets: &[f64], weight: f64) {
        let (start, root) = (self.rows.len(), weight.sqrt());
        match turn {
            Some(bends) => {
                bends.push(regressors, &mut self.rows);
                self.rows[start..].iter_mut().for_each(|x| *x *= root);
            }
            None => self.rows.extend(regressors.iter().map(|x| root * x)),
        }
        self.rows.extend(targets.iter().map(|y| root * y));
        if let Some(gram) = &mut self.gram
            && self.rows.len() >= ROWS * self.width
        {
            gram.add_rows(&self.rows);
            self.rows.clear();
        }
    }

    pub fn finish(mut self) -> Summed {
        let width = self.width;
        match &mut self.gram {
            None => Summed { width, are_rows: true, numbers: self.rows },
            Some(gram) => {
                gram.add_rows(&self.rows);
                Summed { width, are_rows: false, numbers: gram.matrix().to_vec() }
            }
        }
    }
}

/// All rows of a regression, or their Gram matrix.
pub(super) struct Summed {
    width: usize,
    are_rows: bool,
    numbers: Vec<f64>,
}

impl Summed {
    /// The same rows with their last target alone, and other rows that have no other target.
    pub fn last_target_with(&self, columns: usize, others: &Self) -> Self {
        let (width, last) = (columns + 1, self.width - 1);
        let kept = |row: usize| (0..columns).chain([last]).map(move |j| self.numbers[row * self.width + j]);
        let numbers = if self.are_rows {
            let own = (0..self.numbers.len() / self.width).flat_map(kept);
            own.chain(others.numbers.iter().copied()).collect()
        } else {
            let own = (0..columns).chain([last]).flat_map(kept);
            own.zip(&others.numbers).map(|(a, b)| a + b).collect()
        };
        Self { width, are_rows: self.are_rows, numbers }
    }

    /// The solutions for every weight of the penalty; `None` where straight functions depend on each other.
    pub fn path(&self, bends: &Bends) -> Option<RidgePath> {
        let outputs = self.width - bends.free() - bends.penalised();
        let path = if self.are_rows { RidgePath::of_rows } else { RidgePath::of_gram };
        path(&self.numbers, self.width, bends.free(), outputs)
    }

    /// ‖√w (y − Xb)‖² of some solutions.
    pub fn squares(&self, columns: usize, wanted: &[(usize, f64)], found: &[f64]) -> Vec<f64> {
        let squares = if self.are_rows { squares_of_rows } else { squares_of_gram };
        squares(&self.numbers, self.width, self.width - columns, wanted, found)
    }
}
