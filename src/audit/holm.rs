//! Many tests at once.

/// p-values corrected for their number by Holm's method: below α for some true hypothesis with probability at most α, however the tests
/// depend on each other.
///
/// # Equation
/// ```text
/// p̃₍ᵢ₎ = max_{j ≤ i} min(1, (m − j + 1) p₍ⱼ₎)
/// ```
/// where p₍₁₎ ≤ … ≤ p₍ₘ₎. What is not a number was not tested: it stays as it is and does not count.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| !p_values[i].is_nan()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    let mut corrected = p_values.to_vec();
    let mut largest = 0.0f64;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(((order.len() - rank) as f64 * p_values[i]).min(1.0));
        corrected[i] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_p_values_are_those_of_r() {
        // p.adjust(c(0.01, 0.02, 0.03, 0.005, 0.8), "holm") in R: 0.04, 0.06, 0.06, 0.025, 0.8.
        let found = holm(&[0.01, 0.02, 0.03, 0.005, 0.8]);
        for (x, y) in found.iter().zip([0.04, 0.06, 0.06, 0.025, 0.8]) {
            assert!((x - y).abs() < 1e-15, "{found:?}");
        }
        assert_eq!(holm(&[0.6, 0.7]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn what_was_not_tested_stays_and_does_not_count() {
        let corrected = holm(&[0.04, 0.01, f64::NAN, 0.03]);
        assert_eq!((corrected[1], corrected[3], corrected[0]), (0.03, 0.06, 0.06));
        assert!(corrected[2].is_nan());
    }
}
