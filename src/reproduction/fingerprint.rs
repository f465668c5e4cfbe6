//! Which digits this program computes.

use crate::kernel::numeric::Fingerprint;

/// The numerical version: the fingerprint of the tables that tests hold this program to. Two builds that disagree on a published
/// digit disagree here, whatever version they claim to be; their cells are not mixed.
pub const NUMBERS: Fingerprint = Fingerprint::EMPTY
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__real_data_stand_in.snap"))
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__regret_slopes.snap"))
    .with(include_bytes!("../../tests/experiment/snapshots/experiment__tables__regret_values.snap"))
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
        // Columns of other programs are compared within an error.
        files.retain(|file| file.extension().is_some_and(|ending| ending == "snap"));
        assert!(files.len() >= 6);
        let all =
            files.iter().fold(Fingerprint::EMPTY, |sum, file| sum.with(&std::fs::read(file).expect("a snapshot")));
        assert_eq!(all, NUMBERS);
    }
}
