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
/// use counterfair::numeric::{Stream, fill_uniform};
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
/// accept decision, which compares with `exp` in 1.2 % of draws and could differ with probability near 1e−18. The tail,
/// 0.026 % of draws, is a ratio of logarithms of the system's libm, which differ in the last bit between machines: it
/// is rounded to multiples of 2⁻²⁴, which leaves about 1e−13 a draw for a visible difference.
pub fn fill_standard_normal(rng: &mut impl Rng, out: &mut [f64]) {
    out.fill_with(|| round_tail(rng.sample(StandardNormal)));
}

fn round_tail(x: f64) -> f64 {
    if x.abs() < ZIGGURAT_END { x } else { (x / TAIL_GRID).round() * TAIL_GRID }
}
