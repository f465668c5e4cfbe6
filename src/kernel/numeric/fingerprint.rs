//! Numbers that change with whatever they were made from.

/// FNV-1a over bytes, 64 bits: for a change of one byte the number always changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of nothing.
    pub const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    /// With more bytes.
    pub const fn with(self, bytes: &[u8]) -> Self {
        let (mut hash, mut i) = (self.0, 0);
        while i < bytes.len() {
            hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            i += 1;
        }
        Self(hash)
    }

    /// With a text and the end of it, so that `ab, c` is not `a, bc`.
    pub fn with_text(self, text: &str) -> Self {
        self.with(&(text.len() as u64).to_le_bytes()).with(text.as_bytes())
    }

    /// The number.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Sixteen hexadecimal digits.
    pub fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_constants_of_the_hash() {
        // From the authors' test vectors.
        assert_eq!(Fingerprint::EMPTY.with(b"a").text(), "af63dc4c8601ec8c");
        assert_eq!(Fingerprint::EMPTY.with(b"foobar").text(), "85944171f73967e8");
        let apart = |a: &str, b: &str| Fingerprint::EMPTY.with_text(a).with_text(b);
        assert_ne!(apart("ab", "c"), apart("a", "bc"));
    }
}
