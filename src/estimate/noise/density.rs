//! A kernel density of standardised residuals, for scoring people who were not used to fit it.

/// The grid spans ±8 standard deviations in steps of 1/32; normal noise leaves it once in 10¹⁵.
const REACH: f64 = 8.0;
const CELLS: usize = 512;

/// A Gaussian kernel estimate on a grid, mixed with one part in n + 1 of a Cauchy density so that no residual is impossible.
pub(super) struct Density {
    values: Vec<f64>,
    count: f64,
}

impl Density {
    /// Points of the grid.
    pub const POINTS: usize = CELLS + 1;

    /// Shares a residual between the two points of the grid that it lies between.
    pub fn add_mass(mass: &mut Vec<f64>, x: f64) {
        mass.resize(Self::POINTS, 0.0);
        let at = ((x + REACH) / (2.0 * REACH / CELLS as f64)).clamp(0.0, CELLS as f64);
        let cell = (at as usize).min(CELLS - 1);
        let share = at - cell as f64;
        mass[cell] += 1.0 - share;
        mass[cell + 1] += share;
    }

    /// From the number of residuals, their standard deviation, the distance between their quartiles and their mass on the grid, with Silverman's
    /// bandwidth 0.9 min(sd, IQR/1.34) n^(−1/5). `None` when there are fewer than two residuals or they do not vary.
    pub fn of_sums(n: f64, sd: f64, quartiles: f64, mass: &[f64]) -> Option<Self> {
        let width = if quartiles > 0.0 { sd.min(quartiles / 1.34) } else { sd };
        if n < 2.0 || width.is_nan() || width <= 0.0 {
            return None;
        }
        let bandwidth = 0.9 * width * n.powf(-0.2);
        let step = 2.0 * REACH / CELLS as f64;
        let reach = ((5.0 * bandwidth / step).ceil() as usize).clamp(1, CELLS);
        let kernel: Vec<f64> = (0..=reach).map(|i| (-0.5 * (i as f64 * step / bandwidth).powi(2)).exp()).collect();
        // Normalised on the grid itself, where a bandwidth below the grid's step would lose mass.
        let total = step * (kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>());
        let mut values = vec![0.0; CELLS + 1];
        for (i, m) in mass.iter().enumerate().filter(|(_, m)| **m > 0.0) {
            for j in i.saturating_sub(reach)..=(i + reach).min(CELLS) {
                values[j] += m / n * kernel[i.abs_diff(j)] / total;
            }
        }
        Some(Self { values, count: n })
    }

    /// log f(x).
    pub fn log(&self, x: f64) -> f64 {
        let at = (x + REACH) / (2.0 * REACH) * CELLS as f64;
        let inside = if (0.0..CELLS as f64).contains(&at) {
            let (cell, share) = (at as usize, at.fract());
            (1.0 - share) * self.values[cell] + share * self.values[cell + 1]
        } else {
            0.0
        };
        let cauchy = std::f64::consts::FRAC_1_PI / (1.0 + x * x);
        ((self.count * inside + cauchy) / (self.count + 1.0)).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::quadrature::normal_pdf;
    use crate::kernel::numeric::{Moments, Stream, fill_standard_normal, quantile};

    fn fit(mut values: Vec<f64>) -> Option<Density> {
        values.sort_by(f64::total_cmp);
        let (mut moments, mut mass) = (Moments::default(), vec![]);
        for x in &values {
            moments.add(*x);
            Density::add_mass(&mut mass, *x);
        }
        let quartiles = values.first().map_or(0.0, |_| quantile(&values, 0.75) - quantile(&values, 0.25));
        Density::of_sums(values.len() as f64, moments.sd(), quartiles, &mass)
    }

    #[test]
    fn a_density_integrates_to_one_and_is_near_the_law_of_its_residuals() {
        let mut values = vec![0.0; 4000];
        fill_standard_normal(&mut Stream::new(5).rng(), &mut values);
        let density = fit(values).unwrap();
        let step = 0.01;
        // The Cauchy part has 1/4001 of the mass, a third of a hundredth of it beyond ±100.
        let mass: f64 = (-10_000..10_000).map(|i| density.log(step * f64::from(i)).exp() * step).sum();
        assert!((mass - 1.0).abs() < 1e-3, "{mass}");
        for x in [-1.5, 0.0, 0.8] {
            // Bandwidth 0.17: bias h²/2 |f″| < 0.006 and standard deviation √(f/(2√π n h)) < 0.013, three of them.
            assert!((density.log(x).exp() - normal_pdf(x)).abs() < 0.045, "{x}: {}", density.log(x).exp());
        }
        assert!(density.log(50.0) < -15.0 && density.log(50.0).is_finite());
    }

    #[test]
    fn residuals_that_do_not_vary_have_no_density() {
        assert!(fit(vec![1.0; 9]).is_none() && fit(vec![1.0]).is_none() && fit(vec![]).is_none());
    }
}
