//! A share of the cells, for machines that work side by side.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The k-th of n shares, k = 1 … n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// Text that is no shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: write k/n with 1 ≤ k ≤ n")]
pub struct NotAShard(pub String);

impl Shard {
    /// Everything.
    pub const WHOLE: Self = Self { number: 1, of: 1 };

    /// k, from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// n.
    pub fn of(self) -> usize {
        self.of
    }

    /// The shard of n that holds the cell at this position of the canonical order.
    pub fn holding(position: usize, of: usize) -> Self {
        Self { number: position % of + 1, of }
    }

    /// Whether this is the only shard.
    pub fn is_whole(self) -> bool {
        self.of == 1
    }

    /// Whether the cell at this position of the canonical order belongs to the shard.
    ///
    /// Cells are dealt like cards: neighbours in the order cost about the same, so shares take about the same time.
    pub fn holds(self, position: usize) -> bool {
        self == Self::holding(position, self.of)
    }

    /// The name of the shard's file of results: `cells.jsonl`, or `cells.3-of-8.jsonl`.
    pub fn file_name(self) -> String {
        if self.is_whole() { "cells.jsonl".into() } else { format!("cells.{}-of-{}.jsonl", self.number, self.of) }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = NotAShard;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (number, of) = text.split_once('/')?;
            let (number, of) = (number.parse().ok()?, of.parse().ok()?);
            (1..=of).contains(&number).then_some(Self { number, of })
        };
        parse().ok_or_else(|| NotAShard(text.into()))
    }
}

impl Serialize for Shard {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Shard {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_cover_every_cell_once() {
        for of in 1..=5 {
            for position in 0..23 {
                let holders = (1..=of).filter(|&number| Shard { number, of }.holds(position)).count();
                assert_eq!(holders, 1, "position {position} of {of} shards");
            }
        }
    }

    #[test]
    fn a_shard_outside_its_range_is_refused() {
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2"] {
            assert_eq!(text.parse::<Shard>(), Err(NotAShard(text.into())));
        }
        assert_eq!("3/8".parse::<Shard>().map(Shard::file_name), Ok("cells.3-of-8.jsonl".into()));
    }
}
