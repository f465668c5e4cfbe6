//! Files of which not everybody can be judged in the memory allowed.

use super::{Error, People};
use crate::files::{ReadOptions, SampledRead, read_sample, visible};
use crate::kernel::numeric::Stream;
use serde::Serialize;
use std::path::Path;

/// Some people of a file, each taken with the same probability whoever else is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// k: one in k people was taken, a power of two.
    pub one_in: u64,
    /// People who were taken.
    pub people: usize,
    /// Their rows.
    pub rows: usize,
    /// The rows of the file.
    pub rows_in_file: usize,
    /// Bytes of memory that everybody would take, about.
    pub needed: u64,
    /// Bytes that are allowed.
    pub allowed: u64,
    /// Levels and actions of the file that nobody among them has.
    pub absent: Vec<String>,
}

impl std::fmt::Display for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { one_in, people, rows, rows_in_file, needed, allowed, absent } = self;
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        write!(
            f,
            "judged on a random sample of 1 in {one_in} people, chosen by a hash of their ids: {people} people with {rows} of {rows_in_file} \
             rows, because everybody takes about {:.0} MB of memory and {:.0} are allowed; intervals are those of the sample",
            megabytes(*needed),
            megabytes(*allowed)
        )?;
        if !absent.is_empty() {
            let names: Vec<String> = absent.iter().map(|name| visible(name)).collect();
            write!(f, "; nobody in the sample has {}", names.join(", "))?;
        }
        Ok(())
    }
}

/// Bytes that judging people takes for a row, at the peak of `evaluate` and `study`: so many, and for each state column so many more.
///
/// `study` takes the most of it: 2370 with one state, two levels, 20 decisions and 400 replicates, where `evaluate` took 530.
const PER_ROW: (usize, usize) = (1500, 1000);

fn per_row(state_dim: usize) -> usize {
    PER_ROW.0 + PER_ROW.1 * state_dim
}

impl People {
    /// [`read_with`](Self::read_with) for a file of which not everybody may be judged in `memory` bytes: then people are a
    /// [`sample`](Self::sample), chosen by a hash of (seed, id). The file is read once and in parts.
    ///
    /// # Errors
    /// [`Error::Data`], which names file, line, column and value.
    pub fn read_within(path: impl AsRef<Path>, options: &ReadOptions, memory: u64, seed: u64) -> Result<Self, Error> {
        let path = path.as_ref();
        let room = |state_dim: usize| usize::try_from(memory).unwrap_or(usize::MAX) / per_row(state_dim);
        let sampled = read_sample(path, options, room, Stream::new(seed).named("sample"))?;
        let SampledRead { read, one_in, rows, rows_in_file, absent } = sampled;
        let sample = (one_in > 1).then(|| Sample {
            one_in,
            people: read.panel.people(),
            rows,
            rows_in_file,
            needed: (rows_in_file * per_row(read.panel.state_dim())) as u64,
            allowed: memory,
            absent,
        });
        Ok(Self::sampled(path, read, sample))
    }
}
