//! Numbers as text, with no more digits than their uncertainty allows.

use crate::kernel::numeric::Estimate;
use crate::reproduction::summary::CONFIDENCE;

/// `mean ± half the 95 % interval`; exact zeros are written `0`, one unit alone gets no interval.
pub fn with_interval(estimate: Estimate, decimals: usize) -> String {
    let Estimate { mean, standard_error, count } = estimate;
    if count == 0 {
        return "–".into();
    }
    if mean == 0.0 && standard_error == 0.0 {
        return "0 exactly".into();
    }
    let (low, high) = estimate.interval(CONFIDENCE);
    if !low.is_finite() {
        return minus(format!("{mean:.decimals$}"));
    }
    minus(format!("{mean:.decimals$} ± {:.decimals$}", (high - low) / 2.0))
}

/// `mean (standard deviation)`, as the paper's tables write it.
pub fn with_deviation(mean: f64, deviation: f64, decimals: usize) -> String {
    minus(format!("{mean:.decimals$} ({deviation:.decimals$})"))
}

/// `value [low, high]`.
pub fn with_bounds(value: f64, (low, high): (f64, f64), decimals: usize) -> String {
    minus(format!("{value:.decimals$} [{low:.decimals$}, {high:.decimals$}]"))
}

/// A number with a true minus sign; a negative zero loses its sign.
pub fn plain(value: f64, decimals: usize) -> String {
    minus(format!("{value:.decimals$}"))
}

/// The tick label of a number: no trailing zeros, thousands apart.
pub fn tick(value: f64) -> String {
    if value.abs() >= 1000.0 && value.fract() == 0.0 {
        let (thousands, rest) = ((value / 1000.0).trunc(), (value % 1000.0).abs());
        return format!("{}\u{2009}{rest:03}", tick(thousands));
    }
    // Four decimals show nothing of it.
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:e}").replace('-', "−");
    }
    let text = format!("{value:.4}");
    minus(text.trim_end_matches('0').trim_end_matches('.').to_string())
}

/// A number to four significant digits, without trailing zeros.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&magnitude) {
        return minus(format!("{value:.3e}"));
    }
    let text = format!("{value:.*}", (3 - magnitude).max(0) as usize);
    let trimmed = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    minus(trimmed.to_string())
}

/// The same number with a true minus sign.
pub fn minus_sign(text: &str) -> String {
    minus(text.to_string())
}

/// Hyphens before digits become minus signs, and `-0.00` becomes `0.00`.
fn minus(text: String) -> String {
    let words = text.split(' ').map(|word| {
        let digits = word.trim_start_matches(['-', '[', '(']);
        let zero = digits.trim_end_matches([',', ']', ')']).parse::<f64>().is_ok_and(|x| x == 0.0);
        if zero { word.replacen('-', "", 1) } else { word.replacen('-', "−", 1) }
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_they_are_printed() {
        assert_eq!(plain(-0.001, 2), "0.00");
        assert_eq!(plain(-1.25, 1), "−1.2");
        assert_eq!(with_bounds(-0.512, (-0.6, -0.4), 2), "−0.51 [−0.60, −0.40]");
        assert_eq!(tick(2000.0), "2\u{2009}000");
        assert_eq!(tick(-2_040_006.0), "−2\u{2009}040\u{2009}006");
        assert_eq!(tick(0.05), "0.05");
        assert_eq!(tick(0.0001), "0.0001");
        assert_eq!(tick(0.00002), "2e−5");
        assert_eq!(with_deviation(57.094, 0.312, 2), "57.09 (0.31)");
        assert_eq!(
            [0.0, 1234.56, -0.05, 0.000_123_456, 1.2e-7, 3e8].map(significant),
            ["0", "1235", "−0.05", "0.0001235", "1.200e−7", "3.000e8"]
        );
    }

    #[test]
    fn an_exact_zero_is_said_to_be_exact() {
        assert_eq!(with_interval(Estimate::of(&[0.0, 0.0, 0.0]), 3), "0 exactly");
        assert_eq!(with_interval(Estimate::of(&[0.5]), 3), "0.500");
        assert_eq!(with_interval(Estimate::of(&[]), 3), "–");
    }
}
