//! Sums over rows of which several machines hold a part each.

use std::fmt;

/// Those who hold the parts of something and say what they found in theirs.
///
/// Everybody runs the same program and comes to the same step; there each says its own, and everybody receives all of it in the order of the parts.
/// What is computed from it is then the same everywhere.
pub trait Together: fmt::Debug + Send + Sync {
    /// Which part this is, counted from 0, and of how many.
    fn part(&self) -> (usize, usize);

    /// What every part says at a step, in the order of the parts.
    ///
    /// # Errors
    /// [`ShardError`].
    fn gather(&self, step: &str, own: Vec<u8>) -> Result<Vec<Vec<u8>>, ShardError>;
}

/// Why parts cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ShardError(pub String);

/// Nobody else holds anything.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Together for Alone {
    fn part(&self) -> (usize, usize) {
        (0, 1)
    }

    fn gather(&self, _: &str, own: Vec<u8>) -> Result<Vec<Vec<u8>>, ShardError> {
        Ok(vec![own])
    }
}

impl dyn Together + '_ {
    /// Whether there is one part only.
    pub fn is_alone(&self) -> bool {
        self.part().1 == 1
    }

    /// The numbers of every part.
    ///
    /// # Errors
    /// [`ShardError`].
    pub fn numbers(&self, step: &str, own: Vec<f64>) -> Result<Vec<Vec<f64>>, ShardError> {
        if self.is_alone() {
            return Ok(vec![own]);
        }
        let parts = self.gather(step, own.iter().flat_map(|x| x.to_le_bytes()).collect())?;
        let numbers = |part: Vec<u8>| match part.as_chunks::<8>() {
            (words, []) => Ok(words.iter().map(|word| f64::from_le_bytes(*word)).collect()),
            _ => Err(ShardError(format!("{step}: {} bytes are no numbers", part.len()))),
        };
        parts.into_iter().map(numbers).collect()
    }

    /// As [`numbers`](Self::numbers), where every part has as many.
    ///
    /// # Errors
    /// [`ShardError`].
    pub fn rows(&self, step: &str, own: Vec<f64>) -> Result<Vec<Vec<f64>>, ShardError> {
        let width = own.len();
        let parts = self.numbers(step, own)?;
        match parts.iter().find(|part| part.len() != width) {
            Some(part) => Err(ShardError(format!("{step}: one shard says {} numbers, another {width}", part.len()))),
            None => Ok(parts),
        }
    }

    /// Adds up over all parts, each number for itself.
    ///
    /// # Errors
    /// [`ShardError`].
    pub fn sum<'s>(&self, step: &str, sums: impl IntoIterator<Item = &'s mut f64>) -> Result<(), ShardError> {
        if self.is_alone() {
            return Ok(());
        }
        let mut sums: Vec<&mut f64> = sums.into_iter().collect();
        let parts = self.rows(step, sums.iter().map(|x| **x).collect())?;
        for (j, sum) in sums.iter_mut().enumerate() {
            **sum = parts.iter().map(|part| part[j]).sum();
        }
        Ok(())
    }

    /// Adds up counts over all parts.
    ///
    /// # Errors
    /// [`ShardError`].
    pub fn counts<'s>(&self, step: &str, counts: impl IntoIterator<Item = &'s mut usize>) -> Result<(), ShardError> {
        if self.is_alone() {
            return Ok(());
        }
        let mut counts: Vec<&mut usize> = counts.into_iter().collect();
        let parts = self.gather(step, packed(counts.iter().map(|n| **n)))?;
        counts.iter_mut().for_each(|n| **n = 0);
        for part in parts {
            unpack(&part, &mut counts).ok_or_else(|| ShardError(format!("{step}: counts that cannot be read")))?;
        }
        Ok(())
    }

    /// The least and the greatest over all parts.
    ///
    /// # Errors
    /// [`ShardError`].
    pub fn ranges(&self, step: &str, low: &mut [f64], high: &mut [f64]) -> Result<(), ShardError> {
        for part in self.rows(step, [&*low, &*high].concat())? {
            let (least, most) = part.split_at(low.len());
            low.iter_mut().zip(least).for_each(|(low, x)| *low = low.min(*x));
            high.iter_mut().zip(most).for_each(|(high, x)| *high = high.max(*x));
        }
        Ok(())
    }
}

/// Counts, most of them zero: how many zeros come first, then a count, seven bits to a byte.
fn packed(counts: impl Iterator<Item = usize>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut push = |mut n: usize| {
        while n >= 0x80 {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
    };
    let mut zeros = 0;
    for n in counts {
        if n == 0 {
            zeros += 1;
        } else {
            push(std::mem::take(&mut zeros));
            push(n);
        }
    }
    bytes
}

/// Adds packed counts to others; `None` when they do not fit.
fn unpack(bytes: &[u8], counts: &mut [&mut usize]) -> Option<()> {
    let (mut rest, mut at) = (bytes, 0usize);
    let next = |rest: &mut &[u8]| -> Option<usize> {
        let (mut n, mut shift) = (0usize, 0);
        loop {
            let (first, others) = rest.split_first()?;
            *rest = others;
            n |= usize::from(first & 0x7f).checked_shl(shift)?;
            shift += 7;
            if first & 0x80 == 0 {
                return Some(n);
            }
        }
    };
    while !rest.is_empty() {
        at = at.checked_add(next(&mut rest)?)?;
        **counts.get_mut(at)? += next(&mut rest)?;
        at += 1;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_packed_and_added() {
        let own = [0, 0, 5, 127, 128, 0, 70_000, usize::MAX >> 8, 0];
        let bytes = packed(own.into_iter());
        let mut sums = [1usize; 9];
        unpack(&bytes, &mut sums.iter_mut().collect::<Vec<_>>()).unwrap();
        assert!(sums.iter().zip(own).all(|(sum, n)| *sum == n + 1));
        assert!(unpack(&bytes[..bytes.len() - 1], &mut sums.iter_mut().collect::<Vec<_>>()).is_none());
        assert!(unpack(&bytes, &mut sums[..7].iter_mut().collect::<Vec<_>>()).is_none());
        assert!(packed([0; 1000].into_iter()).is_empty());
    }
}
