//! Cosines and sines of each input.

use super::{FeatureMap, columns};
use serde::{Deserialize, Serialize};

/// 1, cos(m x / ℓ) and sin(m x / ℓ) for m = 1, …, M in every input, additively.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fourier {
    inputs: usize,
    harmonics: usize,
    length: f64,
}

impl Fourier {
    /// M harmonics of period 2πℓ in each input. `None` unless there is an input, ℓ is positive and finite and there are at most 5000 features.
    pub fn new(inputs: usize, harmonics: usize, length: f64) -> Option<Self> {
        let few = inputs.checked_mul(harmonics).is_some_and(|n| n <= 2500);
        (inputs > 0 && few && length > 0.0 && length.is_finite()).then_some(Self { inputs, harmonics, length })
    }
}

impl FeatureMap for Fourier {
    fn inputs(&self) -> usize {
        self.inputs
    }

    fn count(&self) -> usize {
        1 + 2 * self.harmonics * self.inputs
    }

    fn fill(&self, rows: &[f64], out: &mut [f64]) {
        let n = rows.len() / self.inputs;
        let (constant, waves) = out.split_at_mut(n);
        constant.fill(1.0);
        if self.harmonics == 0 || n == 0 {
            return;
        }
        // The inputs are laid down as the first columns, then overwritten from the last input backwards.
        columns(rows, self.inputs, waves);
        for input in (0..self.inputs).rev() {
            for i in 0..n {
                let x = waves[input * n + i] / self.length;
                for m in (1..=self.harmonics).rev() {
                    let (sin, cos) = (m as f64 * x).sin_cos();
                    let at = 2 * (input * self.harmonics + m - 1);
                    waves[at * n + i] = cos;
                    waves[(at + 1) * n + i] = sin;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_inputs_and_two_harmonics_make_nine_waves() {
        let map = Fourier::new(2, 2, 0.5).unwrap();
        let rows = [0.3, -0.7, 1.1, 0.2];
        let mut out = vec![0.0; 2 * map.count()];
        map.fill(&rows, &mut out);
        for i in 0..2 {
            let (x, y) = (rows[2 * i] / 0.5, rows[2 * i + 1] / 0.5);
            let expected = [
                1.0,
                x.cos(),
                x.sin(),
                (2.0 * x).cos(),
                (2.0 * x).sin(),
                y.cos(),
                y.sin(),
                (2.0 * y).cos(),
                (2.0 * y).sin(),
            ];
            let row: Vec<f64> = (0..map.count()).map(|j| out[j * 2 + i]).collect();
            assert_eq!(row, expected);
        }
    }

    #[test]
    fn lengths_and_sizes_that_cannot_be_are_refused() {
        assert!(Fourier::new(0, 2, 1.0).is_none());
        assert!(Fourier::new(1, 2, 0.0).is_none());
        assert!(Fourier::new(1, 2, f64::NAN).is_none());
        assert!(Fourier::new(usize::MAX, 2, 1.0).is_none());
        assert_eq!(Fourier::new(1, 2500, 1.0).unwrap().count(), 5001);
        assert!(Fourier::new(1, 2501, 1.0).is_none());
    }

    #[test]
    fn no_harmonic_and_no_row_are_no_trouble() {
        let map = Fourier::new(3, 0, 2.0).unwrap();
        assert_eq!((map.inputs(), map.count()), (3, 1));
        let mut out = [7.0; 2];
        map.fill(&[1.0; 6], &mut out);
        assert_eq!(out, [1.0; 2]);
        Fourier::new(3, 2, 2.0).unwrap().fill(&[], &mut []);
    }
}
