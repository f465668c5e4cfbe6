//! Count, mean and squares around it: of numbers that come one by one or in parts, and of the columns of a matrix.

use super::Estimate;

/// Count, mean and Σ (x − x̄)², without the cancellation of Σ x² − n x̄².
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// n.
    pub count: usize,
    /// x̄.
    pub mean: f64,
    /// Σ (x − x̄)².
    pub squares: f64,
}

impl Moments {
    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        self.count += 1;
        let apart = x - self.mean;
        self.mean += apart / self.count as f64;
        self.squares += apart * (x - self.mean);
    }

    /// Of both parts together.
    pub fn and(self, other: Self) -> Self {
        let count = self.count + other.count;
        if count == 0 {
            return self;
        }
        let (n, share) = (self.count as f64, other.count as f64 / count as f64);
        let apart = other.mean - self.mean;
        let squares = self.squares + other.squares + apart * apart * n * share;
        Self { count, mean: self.mean + apart * share, squares }
    }

    /// √(Σ (x − x̄)² / n).
    pub fn sd(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }

    /// The mean with its standard error, for independent numbers.
    pub fn estimate(&self) -> Estimate {
        Estimate::of_moments(self.mean, self.squares, self.count)
    }
}

/// Means and variances Σ (x − x̄)² / n of the first `columns` columns of row-major rows of `width` numbers.
///
/// # Precision
/// A column of equal numbers has exactly that mean and the variance 0: its rounded mean could miss them, and rounding would pass for a spread.
pub fn column_moments(rows: &[f64], width: usize, columns: usize) -> (Vec<f64>, Vec<f64>) {
    let n = (rows.len() / width).max(1) as f64;
    let (mut mean, mut variance) = (vec![0.0; columns], vec![0.0; columns]);
    for row in rows.chunks_exact(width) {
        mean.iter_mut().zip(row).for_each(|(mean, x)| *mean += x / n);
    }
    for row in rows.chunks_exact(width) {
        for ((variance, mean), x) in variance.iter_mut().zip(&mean).zip(row) {
            *variance += (x - mean).powi(2) / n;
        }
    }
    for j in 0..columns.min(rows.len()) {
        let mut column = rows.iter().skip(j).step_by(width);
        if column.all(|x| *x == rows[j]) {
            (mean[j], variance[j]) = (rows[j], 0.0);
        }
    }
    (mean, variance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_their_own_moments_and_those_behind_are_left_out() {
        let rows = [1.0, 0.1, 7.0, 3.0, 0.1, 7.0, 8.0, 0.1, 7.0];
        let (mean, variance) = column_moments(&rows, 3, 2);
        assert_eq!((&mean[..], variance.len()), (&[4.0, 0.1][..], 2));
        approx::assert_relative_eq!(variance[0], 26.0 / 3.0, max_relative = 1e-15);
        assert_eq!(variance[1], 0.0);
        assert_eq!(column_moments(&[], 2, 2), (vec![0.0; 2], vec![0.0; 2]));
    }

    #[test]
    fn parts_have_the_moments_of_all_numbers() {
        let numbers = [1e8 + 1.0, 1e8 + 4.0, 1e8 - 2.0, 1e8 + 9.0, 1e8];
        let of = |numbers: &[f64]| {
            let mut moments = Moments::default();
            numbers.iter().for_each(|x| moments.add(*x));
            moments
        };
        // Around 10⁸: mean 2.4, Σ (x − 2.4)² = 73.2.
        for split in 0..=numbers.len() {
            let joined = of(&numbers[..split]).and(of(&numbers[split..]));
            assert_eq!(joined.count, 5);
            approx::assert_relative_eq!(joined.mean - 1e8, 2.4, max_relative = 1e-7);
            approx::assert_relative_eq!(joined.squares, 73.2, max_relative = 1e-7);
        }
        assert_eq!(Moments::default().and(Moments::default()), Moments::default());
    }
}
