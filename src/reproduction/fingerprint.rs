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

    /// Sixteen hexadecimal digits.
    pub fn text(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// The numerical version: the fingerprint of the tables that tests hold this program to. Two builds that disagree on a published
/// digit disagree here, whatever version they claim to be; their cells are not mixed.
pub const NUMBERS: Fingerprint = Fingerprint::EMPTY
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__real_data_stand_in.snap"))
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__sim_all_linear.snap"))
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__sim_all_nonlinear.snap"))
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__sim_all_regret.snap"));

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_snapshot_is_part_of_the_numerical_version() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/experiment/snapshots");
        let mut files: Vec<_> = std::fs::read_dir(folder).expect("snapshots").flatten().map(|e| e.path()).collect();
        files.sort();
        assert!(files.len() >= 4);
        let all =
            files.iter().fold(Fingerprint::EMPTY, |sum, file| sum.with(&std::fs::read(file).expect("a snapshot")));
        assert_eq!(all, NUMBERS);
    }

    #[test]
    fn the_published_constants_of_the_hash() {
        // From the authors' test vectors.
        assert_eq!(Fingerprint::EMPTY.with(b"a").text(), "af63dc4c8601ec8c");
        assert_eq!(Fingerprint::EMPTY.with(b"foobar").text(), "85944171f73967e8");
        let apart = |a: &str, b: &str| Fingerprint::EMPTY.with_text(a).with_text(b);
        assert_ne!(apart("ab", "c"), apart("a", "bc"));
    }
}
