//! Random streams derived by name and index, so that a number depends on *what it is for* and not on when it was drawn.

use rand::{Rng, RngExt};
use rand_distr::StandardNormal;
use rand_pcg::Pcg64Mcg;

/// The prime 2⁸⁸ + 2⁸ + 0x3B of the 128-bit FNV hash.
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
/// The offset basis of the 128-bit FNV hash: the key of no seed at all.
const FNV_BASIS: u128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D;

/// What was hashed, so that a seed, a name and an index of the same bytes give different streams.
#[derive(Clone, Copy)]
enum Kind {
    Seed = 1,
    Name = 2,
    Index = 3,
}

/// The address of a random stream: a 128-bit key, grown by names and indices.
///
/// `Stream::new(7).named("cell").index(3).named("noise")` is the same stream on every thread, shard and machine, in
/// whatever order its siblings are used. A `Stream` is a value: deriving a child changes nothing in the parent.
///
/// # Equation
/// ```text
/// child = scramble(FNV-1a₁₂₈(kind ‖ bytes; started at the parent's key))
/// scramble: hi ⊕= mix(lo); lo ⊕= mix(hi); hi ⊕= mix(lo)
/// ```
/// where mix is SplitMix64's finaliser. FNV-1a alone carries differences upwards only; the three Feistel rounds spread
/// each bit over the whole key and, being invertible, lose none.
///
/// # Example
/// ```
/// use counterfair_kernel::numeric::{Stream, fill_uniform};
/// let person = Stream::new(2024).named("rollout").index(17);
/// let (mut a, mut b) = ([0.0; 3], [0.0; 3]);
/// fill_uniform(&mut person.rng(), &mut a);
/// fill_uniform(&mut person.rng(), &mut b);
/// assert_eq!(a, b);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(u128);

impl Stream {
    /// The root of everything drawn under `seed`.
    pub fn new(seed: u64) -> Self {
        Stream(FNV_BASIS).child(Kind::Seed, &seed.to_le_bytes())
    }

    /// The child of this name.
    pub fn named(self, name: &str) -> Self {
        self.child(Kind::Name, name.as_bytes())
    }

    /// The `i`-th child.
    pub fn index(self, i: u64) -> Self {
        self.child(Kind::Index, &i.to_le_bytes())
    }

    /// A generator at the start of this stream.
    ///
    /// PCG XSL-RR 128/64 with a multiplicative base: one 128-bit multiplication a draw, period 2¹²⁶. Streams are
    /// random starting points on that cycle; that two of 2³² streams come within 2⁴⁰ draws of each other has
    /// probability below 2⁻²¹.
    pub fn rng(self) -> Pcg64Mcg {
        Pcg64Mcg::new(self.0)
    }

    fn child(self, kind: Kind, bytes: &[u8]) -> Self {
        let absorb = |key: u128, byte: u8| (key ^ u128::from(byte)).wrapping_mul(FNV_PRIME);
        Stream(scramble(bytes.iter().fold(absorb(self.0, kind as u8), |key, &byte| absorb(key, byte))))
    }
}

/// Three Feistel rounds over the halves of the key.
fn scramble(key: u128) -> u128 {
    let (mut hi, mut lo) = ((key >> 64) as u64, key as u64);
    hi ^= mix(lo);
    lo ^= mix(hi);
    hi ^= mix(lo);
    (u128::from(hi) << 64) | u128::from(lo)
}

/// SplitMix64: one golden-ratio step, then Stafford's variant 13 of the Murmur3 finaliser.
fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Fills `out` with uniform draws on [0, 1), multiples of 2⁻⁵³.
pub fn fill_uniform(rng: &mut impl Rng, out: &mut [f64]) {
    out.fill_with(|| rng.random());
}

/// A uniform index below `bound`.
///
/// # Precision
/// The high half of a 128-bit product: probabilities are off by at most bound·2⁻⁶⁴, and one draw is always used.
///
/// # Panics
/// When `bound` is 0.
pub fn uniform_index(rng: &mut impl Rng, bound: usize) -> usize {
    assert!(bound > 0, "an index below zero was asked for");
    ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize
}

/// Where the ziggurat of `rand_distr` ends; draws beyond come from its logarithmic tail. Its `ZIG_NORM_R`.
const ZIGGURAT_END: f64 = 3.654_152_885_361_009;
/// Grid on which tail draws are rounded: 2⁻²⁴ ≈ 6e−8.
const TAIL_GRID: f64 = 1.0 / (1 << 24) as f64;

/// Fills `out` with independent standard normal draws.
///
/// # Precision
/// Ziggurat of `rand_distr`. Inside, a draw is a product of table and uniform bits, equal on every machine up to the
/// accept decision, which in about one draw of a hundred compares with the system's `exp` and differs between machines
/// only if the two sides agree to the last bit. The tail, 0.026 % of draws, is a ratio of the system's logarithms, whose
/// last bits do differ: it is rounded to multiples of 2⁻²⁴, which leaves less than 1e−11 a draw for a difference.
pub fn fill_standard_normal(rng: &mut impl Rng, out: &mut [f64]) {
    out.fill_with(|| round_tail(rng.sample(StandardNormal)));
}

fn round_tail(x: f64) -> f64 {
    if x.abs() < ZIGGURAT_END { x } else { (x / TAIL_GRID).round() * TAIL_GRID }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person() -> Stream {
        Stream::new(2024).named("rollout").index(17)
    }

    #[test]
    fn keys_are_pinned() {
        // From an independent program; its FNV-1a gives the published 343e1662793c64bf6f0d3597ba446f18 for "foobar".
        assert_eq!(Stream::new(2024), Stream(0x837d_511b_8db5_75d7_848e_db88_7dd3_1ba2));
        assert_eq!(Stream::new(2024).named("rollout"), Stream(0x2a00_0f0f_b5dd_4600_5dc7_8613_7851_169f));
        assert_eq!(person(), Stream(0x2787_b731_0a5c_7e6d_25e3_5a22_360d_da8a));
    }

    #[test]
    fn draws_are_pinned() {
        let draws = |stream: Stream| {
            let mut rng = stream.rng();
            [rng.next_u64(), rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draws(Stream::new(2024)), [0xa9f4_1a41_4fd9_b6d0, 0x5c6d_6ce4_1048_671b, 0x5e55_7b78_92f0_6f2d]);
        assert_eq!(draws(person()), [0x9327_41c0_ce7d_5526, 0xdc62_6537_9a7e_a504, 0xe880_0309_1561_bf71]);
    }

    #[test]
    fn uniforms_and_indices_are_pinned() {
        let mut uniforms = [0.0; 3];
        fill_uniform(&mut person().rng(), &mut uniforms);
        assert_eq!(uniforms, [0.5748177619666326, 0.8608763943434448, 0.9082033059288567]);
        let mut rng = person().rng();
        let indices: Vec<usize> = (0..5).map(|_| uniform_index(&mut rng, 1000)).collect();
        assert_eq!(indices, [574, 860, 908, 167, 967]);
    }

    #[test]
    fn mixing_is_split_mix_64() {
        // First outputs of the published generator for the seeds 0 and 1234567.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(1_234_567), 6_457_827_717_110_365_317);
    }

    #[test]
    fn a_stream_does_not_depend_on_the_order_of_use() {
        let root = Stream::new(9);
        let forward: Vec<Stream> = (0..50).map(|i| root.named("cell").index(i)).collect();
        let mut backward: Vec<Stream> = (0..50).rev().map(|i| root.named("cell").index(i)).collect();
        let _ = root.named("other").rng().next_u64();
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn different_addresses_are_different_streams() {
        let root = Stream::new(5);
        let mut addresses = vec![
            root,
            Stream::new(6),
            root.named(""),
            root.named("ab"),
            root.named("ba"),
            root.named("a").named("b"),
            root.named("\0\0\0\0\0\0\0\0"),
            root.index(0),
            root.index(0).index(0),
            root.index(1 << 56),
            Stream::new(0),
        ];
        addresses.extend((1..2000).map(|i| root.index(i)));
        let distinct: std::collections::HashSet<u128> = addresses.iter().map(|stream| stream.0 | 1).collect();
        assert_eq!(distinct.len(), addresses.len());
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        // The first uniform of each of 20 000 siblings: mean ½, and no correlation with the next sibling's. Five
        // standard deviations are 5/√(12 n) and 5/(12 √n).
        let n = 20_000;
        let first: Vec<f64> = (0..n).map(|i| Stream::new(77).index(i).rng().random::<f64>() - 0.5).collect();
        let mean = first.iter().sum::<f64>() / n as f64;
        let covariance = first.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / n as f64;
        assert!(mean.abs() < 5.0 / (12.0 * n as f64).sqrt(), "mean {mean}");
        assert!(covariance.abs() < 5.0 / (12.0 * (n as f64).sqrt()), "covariance {covariance}");
    }

    #[test]
    fn normals_have_the_moments_and_the_tail_of_a_normal() {
        let n = 4_000_000;
        let mut x = vec![0.0; n];
        fill_standard_normal(&mut Stream::new(1).named("moments").rng(), &mut x);
        let moment = |power: i32| x.iter().map(|x| x.powi(power)).sum::<f64>() / n as f64;
        // Variances of Uᵏ are 1, 2, 15, 96 for k = 1, …, 4; five standard deviations each.
        let within = |value: f64, variance: f64| value.abs() < 5.0 * (variance / n as f64).sqrt();
        assert!(within(moment(1), 1.0) && within(moment(2) - 1.0, 2.0));
        assert!(within(moment(3), 15.0) && within(moment(4) - 3.0, 96.0));
        let tail = 2.0 * crate::numeric::quadrature::normal_cdf(-ZIGGURAT_END);
        let beyond = x.iter().filter(|x| x.abs() >= ZIGGURAT_END).count() as f64 / n as f64;
        assert!(within(beyond - tail, tail), "{beyond} beyond, {tail} expected");
        assert!(x.iter().filter(|x| x.abs() >= ZIGGURAT_END).all(|x| (x / TAIL_GRID).fract() == 0.0));
    }

    #[test]
    fn only_the_tail_is_rounded() {
        assert_eq!(round_tail(1.234_567_890_123), 1.234_567_890_123);
        assert_eq!(round_tail(-3.654_152_885_361), -3.654_152_885_361);
        assert_eq!(round_tail(-3.700_000_012_3), -3.699_999_988_079_071);
        assert_eq!(round_tail(3.700_000_012_3), 3.699_999_988_079_071);
        assert_eq!((round_tail(ZIGGURAT_END) / TAIL_GRID).fract(), 0.0);
    }

    #[test]
    fn every_index_is_drawn_about_equally_often() {
        let mut rng = Stream::new(3).rng();
        let mut counts = [0.0f64; 7];
        for _ in 0..70_000 {
            counts[uniform_index(&mut rng, 7)] += 1.0;
        }
        // χ² with 6 degrees of freedom exceeds 27.9 once in ten thousand.
        let chi_square: f64 = counts.iter().map(|count| (count - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi_square < 27.9, "χ² = {chi_square}");
    }

    #[test]
    #[should_panic(expected = "an index below zero")]
    fn no_index_is_below_zero() {
        uniform_index(&mut Stream::new(0).rng(), 0);
    }
}
