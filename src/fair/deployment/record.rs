//! A person's memory as bytes: what a store keeps under their id.
//!
//! ```text
//! version u8 · level u32 · decided u32 · decisions u64 · v u32 · s u32 · a u32 · view f64×v · states f64×s · actions u32×a · check u64
//! ```
//! All little-endian: 37 + 8(v + s) + 4a bytes. The check is FNV-1a over the id and all before it, so that a record under another
//! person's id, or with a changed bit, is damaged and never somebody's memory.

use super::memory::{MemoryError, Remembered};
use crate::kernel::numeric::Fingerprint;

/// The version of the layout above.
const VERSION: u8 = 1;

/// Appends the bytes of a person's memory.
pub(super) fn encode(id: &str, person: &Remembered, out: &mut Vec<u8>) {
    let Remembered { level, decisions, decided, view, states, actions } = person;
    let first = out.len();
    out.reserve_exact(37 + 8 * (view.len() + states.len()) + 4 * actions.len());
    out.push(VERSION);
    out.extend(level.to_le_bytes());
    out.extend(decided.to_le_bytes());
    out.extend(decisions.to_le_bytes());
    for count in [view.len(), states.len(), actions.len()] {
        out.extend(u32::try_from(count).expect("a memory of fewer than 2³² numbers").to_le_bytes());
    }
    view.iter().chain(states).for_each(|x| out.extend(x.to_le_bytes()));
    actions.iter().for_each(|a| out.extend(a.to_le_bytes()));
    let check = check(id, &out[first..]);
    out.extend(check.to_le_bytes());
}

/// Reads what [`encode`] wrote for the same id.
pub(super) fn decode(id: &str, bytes: &[u8], file: &str) -> Result<Remembered, MemoryError> {
    let damaged = |problem: &str| MemoryError::Damaged {
        file: file.into(),
        what: "the record of a person".into(),
        problem: problem.into(),
    };
    let Some((body, tail)) = bytes.split_last_chunk::<8>() else { return Err(damaged("it is too short")) };
    if check(id, body) != u64::from_le_bytes(*tail) {
        return Err(damaged("its check does not fit"));
    }
    let mut rest = body;
    let parsed = (|| {
        let [version] = take(&mut rest)?;
        if version != VERSION {
            return None;
        }
        let level = u32::from_le_bytes(take(&mut rest)?);
        let decided = u32::from_le_bytes(take(&mut rest)?);
        let decisions = u64::from_le_bytes(take(&mut rest)?);
        let mut counts = [0usize; 3];
        for count in &mut counts {
            *count = u32::from_le_bytes(take(&mut rest)?) as usize;
        }
        let [v, s, a] = counts;
        if rest.len() != 8 * (v + s) + 4 * a {
            return None;
        }
        let mut numbers =
            |n: usize| (0..n).map(|_| take(&mut rest).map(f64::from_le_bytes)).collect::<Option<Vec<_>>>();
        let (view, states) = (numbers(v)?, numbers(s)?);
        let actions = (0..a).map(|_| take(&mut rest).map(u32::from_le_bytes)).collect::<Option<_>>()?;
        Some(Remembered { level, decisions, decided, view, states, actions })
    })();
    parsed.ok_or_else(|| damaged("it was written by another version"))
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>()?;
    *rest = tail;
    Some(*head)
}

/// The id ends with a byte that no text has.
fn check(id: &str, body: &[u8]) -> u64 {
    Fingerprint::EMPTY.with(id.as_bytes()).with(&[0xff]).with(body).number()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person() -> Remembered {
        Remembered {
            level: 2,
            decisions: 3,
            decided: 1,
            view: vec![0.5, -0.25, 1e300],
            states: vec![1.0, 2.0, -0.0],
            actions: vec![7, 0],
        }
    }

    #[test]
    fn what_was_encoded_is_decoded_and_has_the_stated_size() {
        let mut bytes = Vec::new();
        encode("ann", &person(), &mut bytes);
        assert_eq!(decode("ann", &bytes, "f"), Ok(person()));
        assert_eq!(bytes.len(), 37 + 8 * 6 + 4 * 2);
    }

    #[test]
    fn a_changed_bit_a_cut_or_another_id_is_damage() {
        let mut bytes = Vec::new();
        encode("ann", &person(), &mut bytes);
        for bit in 0..8 * bytes.len() {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(decode("ann", &changed, "f"), Err(MemoryError::Damaged { .. })), "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert!(decode("ann", &bytes[..length], "f").is_err(), "{length} bytes");
        }
        assert!(decode("bob", &bytes, "f").is_err());
    }
}
