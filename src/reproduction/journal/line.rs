//! One line of the file: JSON that carries its own checksum as its last field.

use crate::kernel::numeric::Fingerprint;
use serde::Serialize;
use serde::de::DeserializeOwned;

const MARK: &[u8] = b",\"checksum\":\"";
const END: &[u8] = b"\"}";
const DIGITS: usize = 16;

/// A value as a line: `{…,"checksum":"0123456789abcdef"}`, over everything before the last comma.
pub(super) fn seal(value: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).expect("records, grids and headers have no map keys that are not text");
    assert_eq!(line.pop(), Some(b'}'), "a line is an object with fields");
    let sum = Fingerprint::EMPTY.with(&line).text();
    line.extend([MARK, sum.as_bytes(), END, b"\n"].concat());
    line
}

/// The value in a line, provided that every byte is the one that was written.
pub(super) fn open<T: DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    let body = line.len().checked_sub(MARK.len() + DIGITS + END.len()).ok_or("it is cut off")?;
    let (body, tail) = line.split_at(body);
    let sum = tail.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(END)).ok_or("it has no checksum")?;
    if sum != Fingerprint::EMPTY.with(body).text().as_bytes() {
        return Err("its checksum does not fit".into());
    }
    serde_json::from_slice(&[body, b"}"].concat()).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Value {
        name: String,
        number: f64,
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        let value = Value { name: "Ours, w = 0.3".into(), number: 0.1 + 0.2 };
        let line = seal(&value);
        let line = line.strip_suffix(b"\n").expect("a line");
        assert_eq!(open::<Value>(line), Ok(value));
        assert!(serde_json::from_slice::<serde_json::Value>(line).is_ok(), "a line is JSON for everybody else");
        for bit in 0..8 * line.len() {
            let mut damaged = line.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(open::<Value>(&damaged).is_err(), "bit {bit}");
        }
        for end in 0..line.len() {
            assert!(open::<Value>(&line[..end]).is_err(), "cut at {end}");
        }
    }
}
