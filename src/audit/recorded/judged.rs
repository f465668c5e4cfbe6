//! Who values a policy: everybody, or part by part the people whom it was not learned from.

use super::class::FunctionClass;
use super::followed::Followed;
use super::iterates::Problem;
use super::settings::PolicyAlong;
use super::values::Record;

/// People who are valued together, by regressions of their own.
pub(super) struct Part {
    /// They themselves, in the order of ids.
    pub people: Followed,
    /// Their places among all people.
    members: Vec<usize>,
    /// Their rows among all rows.
    rows: Vec<usize>,
}

impl Part {
    /// All people as one part.
    pub fn everybody(people: &Followed) -> Self {
        Self::of(people, (0..people.people()).collect())
    }

    /// The parts that the numbers of people of the panel make, in the order of these numbers.
    pub fn all(people: &Followed, numbers: &[u32]) -> Vec<Self> {
        let mut distinct: Vec<u32> = people.order.iter().map(|&i| numbers[i]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let members = |number: u32| (0..people.people()).filter(|&i| numbers[people.order[i]] == number).collect();
        distinct.into_iter().map(|number| Self::of(people, members(number))).collect()
    }

    fn of(all: &Followed, members: Vec<usize>) -> Self {
        let (people, rows) = all.part(&members);
        Self { people, members, rows }
    }

    /// `width` numbers per row of all people, those of this part.
    fn gather(&self, table: &[f64], width: usize) -> Vec<f64> {
        self.rows.iter().flat_map(|&row| &table[row * width..(row + 1) * width]).copied().collect()
    }
}

/// What is known of a policy on every row of some people.
pub(super) struct Tables {
    pub class: FunctionClass,
    pub features: Vec<f64>,
    pub probabilities: Vec<f64>,
}

impl Tables {
    /// Of the people of a part; features are on the scale of everybody.
    pub fn of(record: &Record<'_>, part: &Part, policy: &PolicyAlong<'_>, states: &[f64]) -> Self {
        let people = record.people;
        let worlds = policy.worlds.map(|worlds| people.gather(worlds, record.worlds_width()));
        let class = record.class(&part.people, states, worlds.is_some());
        let features = class.features(people, states, worlds.as_deref());
        let probabilities = people.gather(policy.probabilities, people.action_count);
        Self {
            class,
            features: part.gather(&features, class.coefficients),
            probabilities: part.gather(&probabilities, people.action_count),
        }
    }
}

/// A policy with the regressions of each part.
pub(super) struct Judged<'a> {
    parts: Vec<(&'a Part, Problem<'a>)>,
}

impl<'a> Judged<'a> {
    pub fn new(record: &Record<'a>, parts: &'a [Part], tables: &'a [Tables], range: (f64, f64)) -> Self {
        let problem = |(part, tables): (&'a Part, &'a Tables)| (part, record.problem(&part.people, tables, range));
        Self { parts: parts.iter().zip(tables).map(problem).collect() }
    }

    /// V(s₁) of everybody, each by the regressions of their part, with weights of all rows.
    pub fn first(&self, weights: &[f64], people: usize) -> Vec<f64> {
        let mut first = vec![0.0; people];
        for (part, problem) in &self.parts {
            let found = problem.fit(&part.gather(weights, 1)).first;
            part.members.iter().zip(found).for_each(|(&person, value)| first[person] = value);
        }
        first
    }

    /// The share of action values that had to be held, by rows.
    pub fn held(&self, weights: &[f64]) -> f64 {
        let rows = |part: &Part| part.rows.len() as f64;
        let held: f64 = self.parts.iter().map(|(p, problem)| rows(p) * problem.fit(&p.gather(weights, 1)).held).sum();
        held / self.parts.iter().map(|(part, _)| rows(part)).sum::<f64>()
    }
}

/// By how much the variance of a difference grows when K parts are each decided for by a policy learned from the other parts.
///
/// # Equation
/// ```text
/// 1 + (2/π) (K − 1) / √(2K − 3)
/// ```
/// The estimate Σ_f e_f(π_f) has no bias: e_f, of part f, knows nothing of π_f. But where two actions are worth the same, the others' luck decides
/// which is taken, and e_f(π_f) and e_g(π_g) vary together: with d the difference of two actions in a part, of variance σ², and s_f the sign of its
/// sum over the other parts, E[d_f s_f d_g s_g] = 4σ² E φ(R/σ)², R of variance (K − 2)σ². Where an action is better by far the parts are
/// independent, and an interval that is made wider by this covers more often than it says.
pub(crate) fn dependence(parts: usize) -> f64 {
    if parts < 2 {
        return 1.0;
    }
    let k = parts as f64;
    1.0 + std::f64::consts::FRAC_2_PI * (k - 1.0) / (2.0 * k - 3.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::dependence;
    use crate::kernel::numeric::{Stream, fill_standard_normal};

    /// Two actions that are worth the same, their difference seen in each of K parts, and the action that did better in the other parts.
    #[test]
    fn where_two_actions_are_worth_the_same_the_variance_grows_as_it_says() {
        for parts in [2, 3, 5] {
            let (mut sum, mut squares, repeats) = (0.0, 0.0, 40_000);
            let mut d = vec![0.0; parts];
            let mut rng = Stream::new(3).named("dependence").index(parts as u64).rng();
            for _ in 0..repeats {
                fill_standard_normal(&mut rng, &mut d);
                let all: f64 = d.iter().sum();
                let z = d.iter().map(|own| own * (all - own).signum()).sum::<f64>() / (parts as f64).sqrt();
                sum += z;
                squares += z * z;
            }
            let (mean, variance) = (sum / f64::from(repeats), squares / f64::from(repeats));
            let error = variance * (3.0 / f64::from(repeats)).sqrt();
            assert!(mean.abs() < 4.0 * (variance / f64::from(repeats)).sqrt(), "{parts} parts: bias {mean}");
            assert!((variance - dependence(parts)).abs() < 4.0 * error, "{parts} parts: {variance}");
        }
        assert_eq!(dependence(1), 1.0);
    }
}
