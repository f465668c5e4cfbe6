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

/// The pair with the largest mean; the first of equals.
fn largest(pairs: impl Iterator<Item = ((usize, usize), Estimate)>) -> Option<((usize, usize), Estimate)> {
    pairs.reduce(|best, next| if next.1.mean > best.1.mean { next } else { best })
}
