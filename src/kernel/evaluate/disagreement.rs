//! `eq:cf_metric`: how often a policy would act otherwise in another world.

use crate::numeric::Estimate;

/// The CF metric with the pair of levels that attains it.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfairness {
    /// max over pairs of levels of the mean disagreement 1{A^{z′} ≠ A^z}, actions sharing their uniform draw.
    pub metric: Estimate,
    /// The levels that attain it.
    pub pair: (usize, usize),
    /// max over pairs of the mean total variation ½ ‖π(·|h^{z′}) − π(·|h^z)‖₁: the exact form for random policies.
    pub total_variation: Estimate,
    /// The mean disagreement of every pair z < z′, in order.
    pub pairs: Vec<((usize, usize), Estimate)>,
}

/// How much a policy differs between the worlds of two levels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairShare {
    /// z < z′.
    pub pair: (usize, usize),
    /// The share of decisions with 1{A^{z′} ≠ A^z}.
    pub differ: f64,
    /// The mean of ½ ‖π(·|h^{z′}) − π(·|h^z)‖₁.
    pub total_variation: f64,
}

/// Counts disagreements between worlds, person by person.
#[derive(Debug, Clone)]
pub struct Disagreement {
    levels: usize,
    actions: usize,
    /// For each pair and person, the sum over time of 1{A^{z′} ≠ A^z} and of the total variation.
    differ: Vec<f64>,
    variation: Vec<f64>,
    /// Decisions of each person.
    decisions: Vec<f64>,
}

impl Disagreement {
    /// Nothing counted yet.
    pub fn new(people: usize, levels: usize, actions: usize) -> Self {
        let cells = people * levels * (levels - 1) / 2;
        Self { levels, actions, differ: vec![0.0; cells], variation: vec![0.0; cells], decisions: vec![0.0; people] }
    }

    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let levels = self.levels;
        (0..levels).flat_map(move |a| (a + 1..levels).map(move |b| (a, b)))
    }

    /// Counts one decision of the people `first..first + n`, n = length of the action slices.
    ///
    /// `chosen[k]` are the actions in world k. `probabilities[k]` are the distributions there, |A| a person; empty when the policy
    /// is deterministic, in which case total variation is disagreement.
    pub fn count(&mut self, first: usize, chosen: &[Vec<u32>], probabilities: &[Vec<f64>]) {
        let (people, n) = (self.decisions.len(), chosen[0].len());
        for (pair, (a, b)) in self.pairs().enumerate() {
            let cells = pair * people + first..pair * people + first + n;
            for ((x, i), j) in self.differ[cells.clone()].iter_mut().zip(&chosen[a]).zip(&chosen[b]) {
                *x += f64::from(u8::from(i != j));
            }
            if probabilities.is_empty() {
                continue;
            }
            let rows = probabilities[a].chunks_exact(self.actions).zip(probabilities[b].chunks_exact(self.actions));
            for (x, (p, q)) in self.variation[cells].iter_mut().zip(rows) {
                *x += 0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>();
            }
        }
        for x in &mut self.decisions[first..first + n] {
            *x += 1.0;
        }
    }

    /// The same counts with person `i` moved to position `to[i]`; `to` has every position once.
    pub fn moved(self, to: &[usize]) -> Self {
        let people = self.decisions.len().max(1);
        let moved = |sums: &[f64]| sums.chunks_exact(people).flat_map(|sums| moved(sums, to)).collect();
        let (differ, variation, decisions) = (moved(&self.differ), moved(&self.variation), moved(&self.decisions));
        Self { differ, variation, decisions, ..self }
    }

    /// The weighted share of decisions that differ, and the weighted mean total variation, of every pair z < z′ in order.
    ///
    /// # Equation
    /// ```text
    /// Σᵢ wᵢ Σₜ 1{A^{z′} ≠ A^z} / Σᵢ wᵢ Tᵢ
    /// ```
    /// One weight a person, in the order in which people were counted. Of a deterministic policy total variation is disagreement.
    pub fn weighted(&self, weights: &[f64], deterministic: bool) -> Vec<PairShare> {
        let people = self.decisions.len();
        let product = |x: &[f64]| -> f64 { x.iter().zip(weights).map(|(x, w)| x * w).sum() };
        let total = product(&self.decisions);
        let of = |sums: &[f64], pair: usize| {
            if total > 0.0 { product(&sums[pair * people..(pair + 1) * people]) / total } else { 0.0 }
        };
        let share = |(i, pair)| {
            let differ = of(&self.differ, i);
            let total_variation = if deterministic { differ } else { of(&self.variation, i) };
            PairShare { pair, differ, total_variation }
        };
        self.pairs().enumerate().map(share).collect()
    }

    /// For each person in the order in which they were counted, the share of their decisions that differ between two levels, for the pair
    /// of levels between which most do; 0 for a person without decisions.
    pub fn by_person(&self) -> Vec<f64> {
        let people = self.decisions.len();
        let share = |(i, decisions): (usize, &f64)| {
            let most = self.differ.iter().skip(i).step_by(people).copied().fold(0.0, f64::max);
            if *decisions > 0.0 { most / decisions } else { 0.0 }
        };
        self.decisions.iter().enumerate().map(share).collect()
    }

    /// The metric; people are the independent units behind its standard errors. Equal horizons or not, every decision counts once.
    pub fn summary(&self, deterministic: bool) -> Unfairness {
        let people = self.decisions.len();
        let of =
            |sums: &[f64], pair: usize| Estimate::clustered(&sums[pair * people..(pair + 1) * people], &self.decisions);
        let zero = Estimate { mean: 0.0, standard_error: 0.0, count: people };
        let pairs: Vec<_> = self.pairs().enumerate().map(|(i, pair)| (pair, of(&self.differ, i))).collect();
        let (pair, metric) = largest(pairs.iter().copied()).unwrap_or(((0, 0), zero));
        let total_variation = if deterministic {
            metric
        } else {
            largest(self.pairs().enumerate().map(|(i, pair)| (pair, of(&self.variation, i)))).map_or(zero, |(_, tv)| tv)
        };
        Unfairness { metric, pair, total_variation, pairs }
    }
}

/// x with entry i moved to position `to[i]`.
pub fn moved<T: Copy + Default>(x: &[T], to: &[usize]) -> Vec<T> {
    let mut out = vec![T::default(); x.len()];
    x.iter().zip(to).for_each(|(x, &i)| out[i] = *x);
    out
}

/// The pair with the largest mean; the first of equals.
fn largest(pairs: impl Iterator<Item = ((usize, usize), Estimate)>) -> Option<((usize, usize), Estimate)> {
    pairs.reduce(|best, next| if next.1.mean > best.1.mean { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three levels, two actions, three people; the last has a single decision.
    fn counted() -> Disagreement {
        let mut disagreement = Disagreement::new(3, 3, 2);
        let share = |p: [f64; 3]| p.iter().flat_map(|p| [*p, 1.0 - p]).collect::<Vec<f64>>();
        disagreement.count(
            0,
            &[vec![0, 1, 1], vec![0, 0, 1], vec![1, 0, 1]],
            &[share([0.5, 0.25, 0.0]), share([0.5, 0.75, 0.125]), share([0.0, 1.0, 0.0])],
        );
        disagreement.count(
            0,
            &[vec![1, 0], vec![0, 0], vec![0, 1]],
            &[
                share([0.0, 1.0, 9.0])[..4].to_vec(),
                share([0.25, 1.0, 9.0])[..4].to_vec(),
                share([0.5, 0.5, 9.0])[..4].to_vec(),
            ],
        );
        disagreement
    }

    #[test]
    fn every_decision_counts_once_and_people_are_the_units() {
        let found = counted().summary(false);
        let of = |sums: [f64; 3]| Estimate::clustered(&sums, &[2.0, 2.0, 1.0]);
        let pairs = vec![((0, 1), of([1.0, 1.0, 0.0])), ((0, 2), of([2.0, 2.0, 0.0])), ((1, 2), of([1.0, 1.0, 0.0]))];
        assert_eq!(found.pairs, pairs);
        assert_eq!((found.metric, found.pair), (of([2.0, 2.0, 0.0]), (0, 2)));
        // Total variation of the pair (0, 2): ½ + ½, ¾ + ½, 0; larger than those of (0, 1) and (1, 2).
        assert_eq!(found.total_variation, of([1.0, 1.25, 0.0]));
    }

    #[test]
    fn of_a_deterministic_policy_total_variation_is_disagreement() {
        let mut disagreement = Disagreement::new(2, 2, 2);
        disagreement.count(1, &[vec![0], vec![1]], &[]);
        disagreement.count(0, &[vec![0], vec![0]], &[]);
        let found = disagreement.summary(true);
        assert_eq!(found.metric, Estimate::clustered(&[0.0, 1.0], &[1.0, 1.0]));
        assert_eq!(found.total_variation, found.metric);
    }

    #[test]
    fn one_level_has_nobody_to_disagree_with() {
        let mut disagreement = Disagreement::new(2, 1, 2);
        disagreement.count(0, &[vec![0, 1]], &[]);
        let found = disagreement.summary(true);
        assert_eq!(found.metric, Estimate { mean: 0.0, standard_error: 0.0, count: 2 });
        assert_eq!((found.pair, found.pairs.len()), ((0, 0), 0));
    }

    #[test]
    fn weights_count_people_so_often() {
        let shares = counted().weighted(&[2.0, 0.0, 3.0], false);
        // Seven decisions; the first person differs once between 0 and 1, twice between 0 and 2, once between 1 and 2.
        let differ: Vec<_> = shares.iter().map(|share| (share.pair, share.differ)).collect();
        assert_eq!(differ, [((0, 1), 2.0 / 7.0), ((0, 2), 4.0 / 7.0), ((1, 2), 2.0 / 7.0)]);
        // Between 0 and 1: ¼ at the second decision of the first person, ⅛ at the only one of the third.
        assert_eq!(shares[0].total_variation, (2.0 * 0.25 + 3.0 * 0.125) / 7.0);
        let ones = counted().weighted(&[1.0; 3], true);
        for (share, (pair, estimate)) in ones.iter().zip(counted().summary(true).pairs) {
            assert_eq!((share.pair, share.differ, share.total_variation), (pair, estimate.mean, estimate.mean));
        }
        assert!(counted().weighted(&[0.0; 3], true).iter().all(|share| share.differ == 0.0));
    }

    #[test]
    fn a_person_is_measured_by_the_pair_that_differs_most() {
        // Between 0 and 2 the first two people differ twice in two decisions; the third never does.
        assert_eq!(counted().by_person(), [1.0, 1.0, 0.0]);
        assert_eq!(Disagreement::new(1, 2, 2).by_person(), [0.0]);
    }

    #[test]
    fn of_equal_pairs_the_first_is_named() {
        let mut disagreement = Disagreement::new(1, 3, 3);
        disagreement.count(0, &[vec![0], vec![1], vec![2]], &[]);
        assert_eq!(disagreement.summary(true).pair, (0, 1));
    }
}
