//! Names of the levels of an attribute, or of the actions, in one fixed order.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::HashSet;

/// What stands between the values of several attributes in the name of their combination: `female×free`.
pub const PRODUCT: char = '×';

/// The distinct names of a categorical column, sorted; a code is a position in this order.
///
/// Names that are all numbers sort by value (`2` before `10`), otherwise they sort as text. Two spellings of one number
/// (`1` and `1.0`) are one name: the spelling seen first is kept. Names of combinations (`10×free`, see `PRODUCT`) follow
/// both rules attribute by attribute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(Vec<String>);

impl Labels {
    /// Sorts and deduplicates the names.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut seen = HashSet::new();
        let mut names: Vec<String> = names.into_iter().map(Into::into).filter(|n| seen.insert(key(n))).collect();
        let attributes = names.first().map_or(1, |name| name.split(PRODUCT).count());
        if names.iter().any(|name| name.split(PRODUCT).count() != attributes) {
            names.sort();
        } else {
            let numeric: Vec<bool> = (0..attributes)
                .map(|j| names.iter().all(|name| name.split(PRODUCT).nth(j).and_then(number).is_some()))
                .collect();
            names.sort_by(|a, b| by_attribute(a, b, &numeric));
        }
        Self(names)
    }

    /// The names `0`, `1`, …, `count − 1`.
    pub fn numbered(count: usize) -> Self {
        Self((0..count).map(|k| k.to_string()).collect())
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The name of a code.
    pub fn name(&self, code: usize) -> &str {
        &self.0[code]
    }

    /// All names in order of their codes.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The code of a name; numbers match by value, so `1.0` finds `1`.
    pub fn code(&self, name: &str) -> Option<usize> {
        let exact = self.0.iter().position(|n| n == name);
        exact.or_else(|| {
            let wanted = key(name);
            self.0.iter().position(|n| key(n) == wanted)
        })
    }
}

/// One attribute of a name, such that two spellings of one number are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// A number, by its bits.
    Number(u64),
    /// Text that is no number.
    Text(String),
}

/// What two names must share to be one name.
pub fn key(name: &str) -> Vec<Part> {
    let part = |text: &str| match number(text) {
        // −0 and 0 are one number with two bit patterns; adding 0 leaves one.
        Some(x) => Part::Number((x + 0.0).to_bits()),
        None => Part::Text(text.to_string()),
    };
    name.split(PRODUCT).map(part).collect()
}

/// Orders two names by their first differing attribute, as numbers where the whole column is numeric.
fn by_attribute(a: &str, b: &str, numeric: &[bool]) -> Ordering {
    let pairs = a.split(PRODUCT).zip(b.split(PRODUCT)).zip(numeric);
    let orders = pairs.map(|((a, b), &numeric)| match (number(a), number(b)) {
        (Some(x), Some(y)) if numeric => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
        _ => a.cmp(b),
    });
    orders.fold(Ordering::Equal, Ordering::then)
}

/// The finite number a name spells, if it spells one.
fn number(name: &str) -> Option<f64> {
    name.trim().parse().ok().filter(|x: &f64| x.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_sort_by_value_and_words_by_letter() {
        assert_eq!(Labels::new(["10", "2", "1.5"]).names(), ["1.5", "2", "10"]);
        assert_eq!(Labels::new(["small", "regular", "10"]).names(), ["10", "regular", "small"]);
    }

    #[test]
    fn two_spellings_of_one_number_are_one_name() {
        let labels = Labels::new(["1.0", "0", "1"]);
        assert_eq!(labels.names(), ["0", "1.0"]);
        assert_eq!(labels.code("1"), Some(1));
        assert_eq!(labels.code("one"), None);
    }

    #[test]
    fn two_spellings_are_one_name_among_words_too() {
        assert_eq!(Labels::new(["1", "10", "1.0", "none", "-0", "0"]).names(), ["-0", "1", "10", "none"]);
    }

    #[test]
    fn combinations_sort_attribute_by_attribute() {
        let labels = Labels::new(["10×free", "2×paid", "2×free", "10.0×free"]);
        assert_eq!(labels.names(), ["2×free", "2×paid", "10×free"]);
        assert_eq!(labels.code("2.0×paid"), Some(1));
        assert_eq!(labels.code("2"), None);
    }
}
