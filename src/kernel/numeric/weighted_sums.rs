//! Sums over people under many weightings at once: what a bootstrap asks for.

use super::vector_state::clear_upper_vector_state;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// People multiplied at a time, and the most numbers they may have together.
const PEOPLE: usize = 64;
const NUMBERS: usize = 1 << 20;

/// Σᵢ wᵢᵇ vᵢ for every weighting b, where vᵢ are the numbers of person i.
///
/// # Equation
/// ```text
/// W V,   W: B × N weights,   V: N × size numbers
/// ```
/// Each person is met once, however many weightings there are, and the work is that of a product of matrices.
///
/// # Precision
/// Equal calls in equal order give equal bits on one machine.
///
/// # Example
/// ```
/// use counterfair_kernel::numeric::WeightedSums;
/// let mut sums = WeightedSums::new(2, 3);
/// sums.add([1.0, 0.5], |own| own.copy_from_slice(&[1.0, 2.0, 3.0]));
/// sums.add([0.0, 2.0], |own| own.copy_from_slice(&[10.0, 0.0, 1.0]));
/// assert_eq!(sums.finish(), [1.0, 2.0, 3.0, 20.5, 1.0, 3.5]);
/// ```
pub struct WeightedSums {
    weightings: usize,
    size: usize,
    sums: Vec<f64>,
    /// Of people who are not in the sums yet, one after another.
    weights: Vec<f64>,
    numbers: Vec<f64>,
}

impl WeightedSums {
    /// Zeros for so many weightings of people with `size` numbers each.
    pub fn new(weightings: usize, size: usize) -> Self {
        Self { weightings, size, sums: vec![0.0; weightings * size], weights: vec![], numbers: vec![] }
    }

    /// Adds a person with a weight in each weighting; `write` adds the person's numbers to zeros.
    ///
    /// # Panics
    /// If there is not one weight for each weighting.
    pub fn add(&mut self, weights: impl IntoIterator<Item = f64>, write: impl FnOnce(&mut [f64])) {
        self.weights.extend(weights);
        let start = self.numbers.len();
        self.numbers.resize(start + self.size, 0.0);
        write(&mut self.numbers[start..]);
        let people = self.numbers.len() / self.size.max(1);
        assert_eq!(self.weights.len(), people * self.weightings, "one weight for each weighting");
        if people >= PEOPLE || self.numbers.len() >= NUMBERS {
            self.multiply(people);
        }
    }

    fn multiply(&mut self, people: usize) {
        if people > 0 {
            matmul(
                MatMut::from_row_major_slice_mut(&mut self.sums, self.weightings, self.size),
                Accum::Add,
                MatRef::from_row_major_slice(&self.weights, people, self.weightings).transpose(),
                MatRef::from_row_major_slice(&self.numbers, people, self.size),
                1.0,
                Par::Seq,
            );
            clear_upper_vector_state();
        }
        self.weights.clear();
        self.numbers.clear();
    }

    /// The sums, `size` numbers for each weighting.
    pub fn finish(mut self) -> Vec<f64> {
        self.multiply(self.numbers.len() / self.size.max(1));
        self.sums
    }
}

/// A Bᵀ for matrices of rows of `width` numbers: the product of each row of `left` with each of `right`.
///
/// # Panics
/// If either is not a whole number of rows.
pub fn products_of_rows(left: &[f64], right: &[f64], width: usize) -> Vec<f64> {
    assert!(left.len().is_multiple_of(width) && right.len().is_multiple_of(width), "whole rows of {width}");
    let (n, m) = (left.len() / width, right.len() / width);
    let mut products = vec![0.0; n * m];
    if n * m > 0 {
        matmul(
            MatMut::from_row_major_slice_mut(&mut products, n, m),
            Accum::Replace,
            MatRef::from_row_major_slice(left, n, width),
            MatRef::from_row_major_slice(right, m, width).transpose(),
            1.0,
            Par::Seq,
        );
        clear_upper_vector_state();
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_more_people_than_are_multiplied_at_a_time_are_those_of_a_loop() {
        // Small whole numbers, so that sums are exact; two full groups of people and some over.
        let (weightings, size, people) = (3, 5, 2 * PEOPLE + 7);
        let weight = |b: usize, i: usize| ((7 * i + 3 * b) % 5) as f64;
        let number = |i: usize, j: usize| ((11 * i + 4 * j) % 9) as f64 - 3.0;
        let mut sums = WeightedSums::new(weightings, size);
        for i in 0..people {
            sums.add((0..weightings).map(|b| weight(b, i)), |own| {
                own.iter_mut().enumerate().for_each(|(j, x)| *x += number(i, j));
            });
        }
        for (at, found) in sums.finish().into_iter().enumerate() {
            let (b, j) = (at / size, at % size);
            assert_eq!(found, (0..people).map(|i| weight(b, i) * number(i, j)).sum::<f64>(), "{b} {j}");
        }
    }

    #[test]
    fn rows_are_multiplied_with_rows() {
        let (left, right) = ([1.0, 2.0, 0.0, -1.0], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        assert_eq!(products_of_rows(&left, &right, 2), [11.0, 17.0, 23.0, -4.0, -6.0, -8.0]);
        assert!(products_of_rows(&[], &right, 2).is_empty());
    }
}
