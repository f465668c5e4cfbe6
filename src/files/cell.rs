//! One cell of text: blank, a number, or neither.

/// Why a cell is not a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoNumber {
    /// Empty, `NA` or `NaN`.
    Blank,
    /// ∞, or so large that it becomes ∞.
    Infinite,
    /// Beyond [`LARGEST`].
    Large,
    /// Other text.
    Text,
}

/// The largest number that a cell may hold. Means and values are fitted with up to cubic features, whose squares are summed: the sixth power
/// of a cell must be a number too, with room for sums.
pub const LARGEST: f64 = 1e50;

/// Whether a cell stands for a missing value: empty, `NA` or `NaN` in any case, within any white space.
pub(super) fn is_blank(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || cell.eq_ignore_ascii_case("na") || cell.eq_ignore_ascii_case("nan")
}

/// The finite number a cell holds.
pub(super) fn number(cell: &str) -> Result<f64, NoNumber> {
    match cell.trim().parse::<f64>() {
        Ok(x) if x.abs() <= LARGEST => Ok(x),
        Ok(x) if x.is_finite() => Err(NoNumber::Large),
        _ if is_blank(cell) => Err(NoNumber::Blank),
        Ok(_) => Err(NoNumber::Infinite),
        Err(_) => Err(NoNumber::Text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_never_numbers_and_infinities_are_named() {
        for blank in ["", "  ", "NA", "na", "NaN", "nan", " NAN\t"] {
            assert!(is_blank(blank));
            assert_eq!(number(blank), Err(NoNumber::Blank), "{blank:?}");
        }
        for infinite in ["inf", "-Infinity", "1e999", "-nan"] {
            assert_eq!(number(infinite), Err(NoNumber::Infinite), "{infinite:?}");
        }
        assert_eq!(number("1e50"), Ok(1e50));
        assert_eq!((number("1.1e50"), number("-1e300")), (Err(NoNumber::Large), Err(NoNumber::Large)));
        for text in ["one", "1,5", "0x10", "1 2", "N/A"] {
            assert_eq!(number(text), Err(NoNumber::Text), "{text:?}");
        }
        assert_eq!(number(" -1.5e-3 "), Ok(-0.0015));
        assert_eq!(number("-0").map(f64::to_bits), Ok((-0.0f64).to_bits()));
    }
}
