//! Whom a policy treats: shares of actions by level and time.

use super::disagreement::moved;
use crate::numeric::Estimate;

/// Shares of actions by level and time, with standard errors over people.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRates {
    levels: usize,
    actions: usize,
    /// Counts by time, level and action.
    counts: Vec<f64>,
    /// The level of each person.
    level: Vec<u32>,
    /// How often each person received each action.
    person: Vec<f64>,
}

impl ActionRates {
    /// Nothing counted yet.
    pub fn new(people: usize, horizon: usize, levels: usize, actions: usize) -> Self {
        let (counts, person) = (vec![0.0; horizon * levels * actions], vec![0.0; people * actions]);
        Self { levels, actions, counts, level: vec![0; people], person }
    }

    /// Counts the decisions at time t (from 0) of the people from position `first` on.
    pub fn count(&mut self, t: usize, first: usize, levels: &[u32], actions: &[u32]) {
        for (i, (&z, &a)) in levels.iter().zip(actions).enumerate() {
            self.counts[(t * self.levels + z as usize) * self.actions + a as usize] += 1.0;
            self.level[first + i] = z;
            self.person[(first + i) * self.actions + a as usize] += 1.0;
        }
    }

    /// The same counts with person `i` moved to position `to[i]`; `to` has every position once.
    pub fn moved(self, to: &[usize]) -> Self {
        let mut person = vec![0.0; self.person.len()];
        for (counts, &i) in self.person.chunks_exact(self.actions).zip(to) {
            person[i * self.actions..(i + 1) * self.actions].copy_from_slice(counts);
        }
        Self { level: moved(&self.level, to), person, ..self }
    }

    /// The longest horizon T.
    pub fn horizon(&self) -> usize {
        self.counts.len() / (self.levels * self.actions)
    }

    /// The share of level z's people who received action a at time t (from 0); `None` when nobody of that level is left at t.
    ///
    /// # Equation
    /// ```text
    /// p = n_{tza} / n_{tz},   standard_error² = p (1 − p) / (n_{tz} − 1)
    /// ```
    pub fn at(&self, t: usize, level: usize, action: usize) -> Option<Estimate> {
        let counts = &self.counts[(t * self.levels + level) * self.actions..][..self.actions];
        let n: f64 = counts.iter().sum();
        let mean = counts[action] / n;
        let standard_error = if n > 1.0 { (mean * (1.0 - mean) / (n - 1.0)).sqrt() } else { f64::INFINITY };
        (n > 0.0).then_some(Estimate { mean, standard_error, count: n as usize })
    }

    /// The share of all decisions about level z's people that were action a; people are the independent units behind its error.
    pub fn overall(&self, level: usize, action: usize) -> Option<Estimate> {
        let (mut sums, mut totals) = (Vec::new(), Vec::new());
        for (counts, _) in
            self.person.chunks_exact(self.actions).zip(&self.level).filter(|(_, z)| **z as usize == level)
        {
            sums.push(counts[action]);
            totals.push(counts.iter().sum());
        }
        let estimate = Estimate::clustered(&sums, &totals);
        (estimate.count > 0).then_some(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five people, three levels (the last empty), two times; person 4 has one decision. Actions by person: 20, 11, 21, 00, 1.
    fn fixture() -> ActionRates {
        let mut rates = ActionRates::new(5, 2, 3, 3);
        rates.count(0, 0, &[0, 0, 0], &[2, 1, 2]);
        rates.count(0, 3, &[1, 1], &[0, 1]);
        rates.count(1, 0, &[0, 0, 0, 1], &[0, 1, 1, 0]);
        rates
    }

    #[test]
    fn a_rate_at_a_time_is_a_mean_of_zeros_and_ones() {
        let rates = fixture();
        assert_eq!(rates.horizon(), 2);
        let expected = Estimate::of(&[1.0, 0.0, 1.0]);
        let found = rates.at(0, 0, 2).unwrap();
        assert_eq!((found.mean, found.count), (expected.mean, expected.count));
        approx::assert_relative_eq!(found.standard_error, expected.standard_error, max_relative = 1e-14);
        assert_eq!(rates.at(1, 0, 1).unwrap().mean, 2.0 / 3.0);
        assert_eq!(rates.at(0, 1, 1).unwrap().mean, 0.5);
        assert_eq!(rates.at(1, 1, 0), Some(Estimate { mean: 1.0, standard_error: f64::INFINITY, count: 1 }));
    }

    #[test]
    fn an_overall_rate_is_a_ratio_over_people_of_unequal_horizon() {
        let rates = fixture();
        assert_eq!(rates.overall(0, 1), Some(Estimate::clustered(&[0.0, 2.0, 1.0], &[2.0, 2.0, 2.0])));
        assert_eq!(rates.overall(1, 0), Some(Estimate::clustered(&[2.0, 0.0], &[2.0, 1.0])));
        assert_eq!(rates.overall(1, 0).unwrap().mean, 2.0 / 3.0);
    }

    #[test]
    fn a_level_without_people_has_no_rate() {
        let rates = fixture();
        assert_eq!(rates.at(0, 2, 0), None);
        assert_eq!(rates.overall(2, 0), None);
    }
}
