//! Names of the levels of an attribute, or of the actions, in one fixed order.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The distinct names of a categorical column, sorted; a code is a position in this order.
///
/// Names that are all numbers sort by value (`2` before `10`), otherwise they sort as text. Two spellings of one number
/// (`1` and `1.0`) are one name: the spelling seen first is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Labels(Vec<String>);

impl Labels {
    /// Sorts and deduplicates the names.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
        if names.iter().all(|name| number(name).is_some()) {
            names.sort_by(|a, b| number(a).partial_cmp(&number(b)).unwrap_or(Ordering::Equal));
            names.dedup_by(|a, b| number(a) == number(b));
        } else {
            names.sort();
            names.dedup();
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
            let value = number(name)?;
            self.0.iter().position(|n| number(n) == Some(value))
        })
    }
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
}
