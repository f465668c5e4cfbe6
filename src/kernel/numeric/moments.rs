//! Count, mean and squares around it, of numbers that come one by one or in parts.

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

#[cfg(test)]
mod tests {
    use super::*;

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
