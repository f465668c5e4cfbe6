//! Exact order statistics of columns that are too long to be held.

/// Bits that one pass tells apart.
const BITS: u32 = 16;

/// A number's place in the total order of `f64::total_cmp`.
fn key(x: f64) -> u64 {
    let bits = x.to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Numbers whose keys begin with the same bits, and among which some rank is looked for.
struct Bucket {
    prefix: u64,
    /// How many bits of the prefix are known.
    bits: u32,
    /// Numbers before it, and in it.
    before: usize,
    size: usize,
    /// How many have each value of the next bits; then the numbers themselves.
    counts: Vec<usize>,
    numbers: Vec<f64>,
}

impl Bucket {
    fn holds(&self, key: u64) -> bool {
        self.bits == 0 || key >> (64 - self.bits) == self.prefix
    }
}

/// The numbers at some ranks (from 0) of each column, as sorting with `f64::total_cmp` would give them.
///
/// `pass` hands every number with its column to its argument, the same ones each time: as many for each column as `sizes` says. Where there is `room`
/// for all of them one pass holds them. Where there is not, the first pass counts numbers by their leading bits; the following ones look only at those
/// numbers that a rank falls among, and hold at most about `room` of them: two passes for measurements, up to five where few values repeat without
/// end.
///
/// # Errors
/// Those of `pass`.
pub fn order_statistics<E>(
    sizes: &[usize],
    ranks: impl Fn(usize, usize) -> Vec<usize>,
    room: usize,
    mut pass: impl FnMut(&mut dyn FnMut(usize, f64)) -> Result<(), E>,
) -> Result<Vec<Vec<f64>>, E> {
    let wanted: Vec<Vec<usize>> = sizes.iter().enumerate().map(|(column, &n)| ranks(column, n)).collect();
    let whole = |&size: &usize| Bucket { prefix: 0, bits: 0, before: 0, size, counts: vec![], numbers: vec![] };
    let mut buckets: Vec<Vec<Bucket>> = sizes.iter().map(|size| vec![whole(size)]).collect();
    loop {
        let held: usize = buckets.iter().flatten().filter(|bucket| bucket.bits < 64).map(|bucket| bucket.size).sum();
        let is_last = held <= room;
        if is_last {
            let open = buckets.iter_mut().flatten().filter(|bucket| bucket.bits < 64);
            open.for_each(|bucket| bucket.numbers.reserve_exact(bucket.size));
        } else {
            buckets.iter_mut().flatten().filter(|b| b.bits < 64).for_each(|b| b.counts = vec![0; 1 << BITS]);
        }
        if held > 0 {
            pass(&mut |column, x| {
                let key = key(x);
                // Buckets of a column do not overlap.
                let found = buckets[column].iter_mut().find(|bucket| bucket.bits < 64 && bucket.holds(key));
                let Some(bucket) = found else { return };
                if is_last {
                    bucket.numbers.push(x);
                } else {
                    bucket.counts[(key << bucket.bits >> (64 - BITS)) as usize] += 1;
                }
            })?;
        }
        if is_last {
            buckets.iter_mut().flatten().for_each(|bucket| bucket.numbers.sort_unstable_by(f64::total_cmp));
            let at = |column: &[Bucket], rank: usize| {
                let inside = |bucket: &&Bucket| (bucket.before..bucket.before + bucket.size).contains(&rank);
                column.iter().find(inside).map_or(f64::NAN, |bucket| match bucket.bits {
                    64 => value(bucket.prefix),
                    _ => bucket.numbers[rank - bucket.before],
                })
            };
            let found = |(column, ranks): (&Vec<Bucket>, &Vec<usize>)| ranks.iter().map(|&r| at(column, r)).collect();
            return Ok(buckets.iter().zip(&wanted).map(found).collect());
        }
        for (column, ranks) in buckets.iter_mut().zip(&wanted) {
            *column = std::mem::take(column).into_iter().flat_map(|bucket| split(bucket, ranks)).collect();
        }
    }
}

/// The parts of a bucket that a rank falls into, by the next bits.
fn split(bucket: Bucket, ranks: &[usize]) -> Vec<Bucket> {
    if bucket.bits == 64 {
        return vec![bucket];
    }
    let mut parts = Vec::new();
    let mut before = bucket.before;
    for (next, &size) in bucket.counts.iter().enumerate().filter(|(_, size)| **size > 0) {
        if ranks.iter().any(|rank| (before..before + size).contains(rank)) {
            let prefix = bucket.prefix << BITS | next as u64;
            parts.push(Bucket { prefix, bits: bucket.bits + BITS, before, size, counts: vec![], numbers: vec![] });
        }
        before += size;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::{Stream, fill_standard_normal};
    use std::convert::Infallible;

    fn found(columns: &[Vec<f64>], room: usize) -> (Vec<Vec<f64>>, usize) {
        let mut passes = 0;
        let ranks = |_: usize, n: usize| (0..=10).map(|k| (n - 1) * k / 10).collect();
        let sizes: Vec<usize> = columns.iter().map(Vec::len).collect();
        let found = order_statistics(&sizes, ranks, room, |see| {
            passes += 1;
            columns.iter().enumerate().for_each(|(c, column)| column.iter().for_each(|x| see(c, *x)));
            Ok::<(), Infallible>(())
        });
        (found.unwrap(), passes)
    }

    #[test]
    fn ranks_are_those_of_sorting_whatever_the_room() {
        let mut normal = vec![0.0; 5000];
        fill_standard_normal(&mut Stream::new(4).rng(), &mut normal);
        let few: Vec<f64> = (0..3000).map(|i| [-0.0, 0.0, 1.5, -7.0][i * i % 4 * (i % 3) % 4]).collect();
        let wide: Vec<f64> = (0..700).map(|i| (f64::from(i) - 350.0).powi(3) * 10f64.powi(i % 40)).collect();
        let columns = [normal, few, wide];
        for (room, most) in [(100_000, 1), (300, 5), (0, 5)] {
            let (found, passes) = found(&columns, room);
            assert!(passes <= most, "{passes} passes with room for {room}");
            for (column, found) in columns.iter().zip(found) {
                let mut sorted = column.clone();
                sorted.sort_by(f64::total_cmp);
                let expected: Vec<u64> = (0..=10).map(|k| sorted[(sorted.len() - 1) * k / 10].to_bits()).collect();
                assert_eq!(found.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), expected);
            }
        }
    }
}
