//! Time within a person: sorted, without repeats, in equal steps.

/// How far a step between times that are not whole numbers may be from the common one, as a share of it: decimal fractions
/// such as 0.1 are not exact, while no calendar has steps that differ by less than one in a million.
const STEP_TOLERANCE: f64 = 1e-6;

/// The step from each time to the next, common to all people of a file.
///
/// It is the smallest step any person takes (visits at 0, 6, 12, … months have a step of 6), and a gap is a step that differs from it,
/// beyond rounding where times are not whole numbers. People may start at different times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    pub length: f64,
    whole: bool,
}

impl Step {
    /// The common step of people whose times are sorted, each apart.
    pub fn common<'a>(people: impl Iterator<Item = &'a [f64]> + Clone) -> Self {
        let whole = people.clone().flatten().all(|t| t.fract() == 0.0);
        let steps = people.flat_map(|times| times.windows(2).map(|pair| pair[1] - pair[0]));
        let length = steps.filter(|&step| step > 0.0).fold(f64::INFINITY, f64::min);
        Self { length, whole }
    }

    /// Whether `next` is not one step after `previous`.
    pub fn is_gap(&self, previous: f64, next: f64) -> bool {
        let step = next - previous;
        if self.whole {
            return step != self.length;
        }
        // Each time carries half a unit in the last place, and so does the step it is compared with.
        let rounding = 2.0 * f64::EPSILON * previous.abs().max(next.abs());
        (step - self.length).abs() > STEP_TOLERANCE * self.length + rounding
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(people: &[&[f64]]) -> Step {
        Step::common(people.iter().copied())
    }

    #[test]
    fn whole_times_go_up_by_one_from_any_start() {
        let step = step(&[&[0.0, 2.0], &[1990.0, 1991.0]]);
        assert_eq!(step.length, 1.0);
        assert!(step.is_gap(0.0, 2.0));
        assert!(!step.is_gap(1990.0, 1991.0));
        assert!(!step.is_gap(-1.0, 0.0));
    }

    #[test]
    fn visits_every_six_months_have_a_step_of_six() {
        let step = step(&[&[0.0, 6.0, 12.0], &[6.0, 18.0]]);
        assert_eq!(step.length, 6.0);
        assert!(!step.is_gap(6.0, 12.0) && step.is_gap(6.0, 18.0) && step.is_gap(6.0, 7.0));
    }

    #[test]
    fn other_times_go_up_by_the_smallest_step_of_anybody() {
        let step = step(&[&[0.0, 0.5, 1.0], &[7.25, 7.5]]);
        assert_eq!(step.length, 0.25);
        assert!(step.is_gap(0.0, 0.5));
        assert!(!step.is_gap(7.25, 7.5));
    }

    #[test]
    fn decimal_fractions_are_equal_steps_in_spite_of_rounding() {
        let tenths: Vec<f64> = (0..1000).map(|k| f64::from(k) * 0.1).collect();
        let step = step(&[&tenths]);
        assert!(tenths.windows(2).all(|pair| !step.is_gap(pair[0], pair[1])));
        assert!(step.is_gap(0.1, 0.3));
        assert!(step.is_gap(0.1, 0.2001));
    }
    #[test]
    fn seconds_since_an_epoch_round_coarsely_but_a_gap_is_seen() {
        let tenths: Vec<f64> = (0..1000).map(|k| 1e9 + f64::from(k) * 0.1).collect();
        let step = step(&[&tenths]);
        assert!(tenths.windows(2).all(|pair| !step.is_gap(pair[0], pair[1])));
        assert!(step.is_gap(1e9, 1e9 + 0.1001));
    }
}
