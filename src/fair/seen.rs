//! What a policy learned from, coordinate by coordinate, so that a state far from it is not decided on in silence.

use serde::{Deserialize, Serialize};

/// The range of each number that the policy read while learning, and the range of its middle 98 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// How many rows there were.
    pub rows: usize,
    /// The smallest of each coordinate.
    pub low: Vec<f64>,
    /// The 1 % quantile.
    pub lower: Vec<f64>,
    /// The 99 % quantile.
    pub upper: Vec<f64>,
    /// The largest.
    pub high: Vec<f64>,
}

/// The share of the data below `lower`, and above `upper`.
const TAIL: f64 = 0.01;

impl Seen {
    /// Of rows of `width` numbers.
    pub fn of(rows: &[f64], width: usize) -> Self {
        let n = rows.len() / width;
        let mut seen = Self { rows: n, low: vec![], lower: vec![], upper: vec![], high: vec![] };
        let mut column = Vec::with_capacity(n);
        for j in 0..width {
            column.clear();
            column.extend(rows.iter().skip(j).step_by(width));
            column.sort_unstable_by(f64::total_cmp);
            seen.push(Self::ranks(n).iter().map(|&rank| column[rank]));
        }
        seen
    }

    /// The ranks among n sorted numbers that it tells. The nearest rank is an observed number, so that exact ranges stay exact.
    pub(super) fn ranks(n: usize) -> Vec<usize> {
        [0.0, TAIL, 1.0 - TAIL, 1.0].map(|share| ((share * (n - 1) as f64).round() as usize).min(n - 1)).to_vec()
    }

    /// From the numbers of each column at these [`ranks`](Self::ranks) of n rows.
    pub(super) fn at_ranks(n: usize, columns: &[Vec<f64>]) -> Self {
        let mut seen = Self { rows: n, low: vec![], lower: vec![], upper: vec![], high: vec![] };
        columns.iter().for_each(|column| seen.push(column.iter().copied()));
        seen
    }

    fn push(&mut self, at_ranks: impl Iterator<Item = f64>) {
        let parts = [&mut self.low, &mut self.lower, &mut self.upper, &mut self.high];
        parts.into_iter().zip(at_ranks).for_each(|(part, x)| part.push(x));
    }

    /// How far a row lies outside the range seen, in lengths of that range: 0 inside, 1 when a coordinate is as far beyond the range as
    /// the range is long.
    ///
    /// # Equation
    /// ```text
    /// max_j  max(0, low_j − x_j, x_j − high_j) / (high_j − low_j)
    /// ```
    /// A coordinate that never varied is measured by its size, and by 1 if that is smaller.
    pub fn distance(&self, row: &[f64]) -> f64 {
        let ranges = self.low.iter().zip(&self.high);
        let far = row.iter().zip(ranges).map(|(x, (low, high))| {
            let beyond = (low - x).max(x - high).max(0.0);
            let length = if high > low { high - low } else { low.abs().max(1.0) };
            beyond / length
        });
        far.fold(0.0, f64::max).min(f64::MAX)
    }

    /// The first thing that is wrong with what came from a file, for rows of `width` numbers.
    pub(super) fn problem(&self, width: usize) -> Option<String> {
        let parts = [&self.low, &self.lower, &self.upper, &self.high];
        if let Some(part) = parts.iter().find(|part| part.len() != width) {
            return Some(format!("what was seen has {} coordinates, the policy reads {width}", part.len()));
        }
        let ordered = (0..width).all(|j| parts.windows(2).all(|pair| pair[0][j] <= pair[1][j]));
        let finite = self.low.iter().chain(&self.high).all(|x| x.is_finite());
        (!ordered || !finite).then(|| "the quantiles of what was seen are not finite numbers in order".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_quantiles_are_those_of_the_columns() {
        // Columns 0 … 200 in a scrambled order, and a constant.
        let rows: Vec<f64> = (0..201).flat_map(|i| [f64::from(i * 77 % 201), 3.0]).collect();
        let seen = Seen::of(&rows, 2);
        assert_eq!(seen.rows, 201);
        assert_eq!((seen.low, seen.lower), (vec![0.0, 3.0], vec![2.0, 3.0]));
        assert_eq!((seen.upper, seen.high), (vec![198.0, 3.0], vec![200.0, 3.0]));
    }

    #[test]
    fn distance_is_zero_inside_and_counts_ranges_outside() {
        let seen = Seen::of(&[-1.0, 5.0, 3.0, 5.0], 2);
        assert_eq!(seen.distance(&[-1.0, 5.0]), 0.0);
        assert_eq!(seen.distance(&[3.0, 5.0]), 0.0);
        assert_eq!(seen.distance(&[5.0, 5.0]), 0.5);
        assert_eq!(seen.distance(&[-7.0, 5.0]), 1.5);
        assert_eq!(seen.distance(&[0.0, 7.5]), 0.5);
        assert_eq!(seen.distance(&[1.7e308, 5.0]), 1.7e308 / 4.0);
        assert!(Seen::of(&[0.0, 1e-9], 1).distance(&[1.7e308]).is_finite());
    }

    #[test]
    fn what_a_file_may_not_say_is_named() {
        let seen = Seen::of(&[0.0, 1.0, 2.0], 1);
        assert_eq!(seen.problem(1), None);
        assert!(seen.problem(2).unwrap().contains("1 coordinates, the policy reads 2"));
        assert!(Seen { upper: vec![5.0], ..seen.clone() }.problem(1).unwrap().contains("in order"));
        assert!(Seen { high: vec![f64::INFINITY], ..seen }.problem(1).is_some());
    }
}
