//! Which digits this program computes.

/// The numerical version: the fingerprint of a few cells. Builds that disagree on a published digit disagree here, whatever version they
/// claim to be; their cells are not mixed. The test below computes it, and says what to write here when digits change.
pub(super) const NUMBERS: &str = "99acbe10935b6dc8";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Fingerprint;
    use crate::reproduction::{Cell, Context, Label, Learner, MethodOutcome, Record, RegretScale, Scale, Study};

    /// One cell in each world by each learner but the networks, one of regret with fitted means and one with wrong ones, one split.
    fn cells() -> Vec<Cell> {
        let small = Scale {
            sizes: vec![60],
            size: 60,
            strengths: vec![1.0],
            evaluation_people: 100,
            learner_sizes: vec![60],
            seeds: 1,
            splits: 1,
            regret: RegretScale { sizes: vec![60], errors: vec![0.1], error_size: 60, ..RegretScale::quick() },
            ..Scale::quick()
        };
        let learners = [Learner::LeastSquares, Learner::Quadratic, Learner::Stable, Learner::Quartic];
        let by = |learner| Scale { learner, ..small.clone() }.cells(&[Label::SimAll], &[]);
        let mut cells: Vec<Cell> = learners.into_iter().flat_map(by).collect();
        cells.extend(small.cells(&[Label::Regret], &[]));
        cells.extend(small.cells(&[Label::RealData], &[Study::stand_in()]).into_iter().take(1));
        cells
    }

    /// Four digits of every number that does not go through a network, whose training another machine rounds otherwise.
    fn digits(record: &Record) -> String {
        let is_split = matches!(record.cell, Cell::Split(_));
        let of = |outcome: &MethodOutcome| match outcome {
            MethodOutcome::NotLearned(reason) => reason.clone(),
            MethodOutcome::Evaluated(m) => {
                let unfairness = Some(m.unfairness).filter(|_| !is_split);
                let all = [unfairness, Some(m.value), m.long_value, m.fair, m.regret].into_iter().flatten();
                all.map(|e| format!("{:.3e} ", e.mean)).collect()
            }
        };
        record.results.iter().map(|result| format!("{}: {}\n", result.method, of(&result.outcome))).collect()
    }

    #[test]
    fn the_numerical_version_is_that_of_a_few_cells() {
        let records = Context::new(vec![Study::stand_in()]).run_all(&cells()).expect("cells that can be done");
        let sum = |records: &[Record]| {
            records.iter().fold(Fingerprint::EMPTY, |sum, r| sum.with_text(&r.cell.key()).with_text(&digits(r))).text()
        };
        assert_eq!(sum(&records), NUMBERS, "digits have changed: write the left number into this file");
        let mut other = records;
        let MethodOutcome::Evaluated(measured) = &mut other[0].results[0].outcome else { panic!("it can be learned") };
        measured.value.mean *= 1.01;
        assert_ne!(sum(&other), NUMBERS);
    }
}
