//! Reading memory at the machine's pace.

use pulp::{Arch, Simd, WithSimd};

/// Σ xᵢ in wide registers: reads everything once and does little else.
pub fn read(numbers: &[f64]) -> f64 {
    Arch::new().dispatch(Sum(numbers))
}

struct Sum<'a>(&'a [f64]);

impl WithSimd for Sum<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let mut lanes = [0.0; 32];
        for chunk in self.0.as_chunks::<32>().0 {
            for (lane, x) in lanes.iter_mut().zip(chunk) {
                *lane += x;
            }
        }
        lanes.iter().sum()
    }
}
