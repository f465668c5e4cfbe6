//! Many numbers in little text: single precision, base 64.

use serde::{Deserialize, Serialize};

/// Numbers rounded to single precision (seven digits), written as one base-64 string: 5⅓ characters a number where decimals take twenty.
///
/// Rounded when made, so that what is computed before saving and after reading is the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Packed(Vec<f32>);

/// The alphabet of RFC 4648.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why a text is not packed numbers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PackedError {
    /// A character outside the alphabet.
    #[error("character {character:?} at {position} is not of base 64")]
    Character {
        /// The character.
        character: char,
        /// Its place, from 0.
        position: usize,
    },
    /// Bytes that are no whole number of numbers.
    #[error("{characters} characters of base 64 are no whole number of four-byte numbers")]
    Length {
        /// Characters without padding.
        characters: usize,
    },
    /// A number that is infinite or none.
    #[error("number {position} (from 0) is {value}, not finite")]
    NotFinite {
        /// Its place.
        position: usize,
        /// The number.
        value: f32,
    },
}

impl Packed {
    /// Rounds to single precision.
    pub fn new(numbers: impl IntoIterator<Item = f64>) -> Self {
        Self(numbers.into_iter().map(|x| x as f32).collect())
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The numbers from `start` on, `count` of them.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn slice(&self, start: usize, count: usize) -> Vec<f64> {
        self.0[start..start + count].iter().map(|&x| f64::from(x)).collect()
    }
}

impl From<Packed> for String {
    fn from(packed: Packed) -> Self {
        let bytes: Vec<u8> = packed.0.iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
        for chunk in bytes.chunks(3) {
            let word = chunk.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - chunk.len()));
            for i in 0..4 {
                let digit = ALPHABET[(word >> (18 - 6 * i) & 63) as usize];
                text.push(if i <= chunk.len() { char::from(digit) } else { '=' });
            }
        }
        text
    }
}

impl TryFrom<String> for Packed {
    type Error = PackedError;

    fn try_from(text: String) -> Result<Self, PackedError> {
        let digits = text.trim_end_matches('=');
        let (mut bytes, mut word, mut bits) = (Vec::with_capacity(digits.len() * 3 / 4), 0u32, 0);
        for (position, character) in digits.chars().enumerate() {
            let digit = ALPHABET.iter().position(|&c| char::from(c) == character);
            let digit = digit.ok_or(PackedError::Character { character, position })?;
            word = word << 6 | digit as u32;
            bits += 6;
            if bits >= 8 {
                bits -= 8;
                bytes.push((word >> bits) as u8);
                word &= (1 << bits) - 1;
            }
        }
        if bytes.len() % 4 != 0 || bits >= 6 {
            return Err(PackedError::Length { characters: digits.len() });
        }
        let numbers: Vec<f32> = bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        match numbers.iter().position(|x| !x.is_finite()) {
            None => Ok(Self(numbers)),
            Some(position) => Err(PackedError::NotFinite { position, value: numbers[position] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_rounded_to_single_precision() {
        for count in 0..8 {
            let numbers: Vec<f64> = (0..count).map(|i| (f64::from(i) * 1.7).sin() * 1e3f64.powi(i - 3)).collect();
            let packed = Packed::new(numbers.iter().copied());
            let text = serde_json::to_string(&packed).unwrap();
            let read: Packed = serde_json::from_str(&text).unwrap();
            assert_eq!(read, packed, "{text}");
            for (x, y) in numbers.iter().zip(read.slice(0, count as usize)) {
                assert!((x - y).abs() <= f64::from(f32::EPSILON) * x.abs(), "{x} and {y}");
            }
        }
    }

    #[test]
    fn the_text_is_that_of_rfc_4648() {
        // 1 is 00 00 80 3f in little-endian bytes.
        assert_eq!(String::from(Packed::new([1.0])), "AACAPw==");
        assert_eq!(String::from(Packed::new([1.0, -2.0, 1.0])), "AACAPwAAAMAAAIA/");
    }

    #[test]
    fn what_is_not_packed_numbers_is_refused() {
        let read = |text: &str| Packed::try_from(text.to_string());
        assert_eq!(read("AAC*Pw=="), Err(PackedError::Character { character: '*', position: 3 }));
        assert_eq!(read("AACAPwAA"), Err(PackedError::Length { characters: 8 }));
        assert_eq!(read("AACAP"), Err(PackedError::Length { characters: 5 }));
        let infinite = String::from(Packed(vec![0.5, f32::INFINITY]));
        assert_eq!(read(&infinite), Err(PackedError::NotFinite { position: 1, value: f32::INFINITY }));
    }
}
