//! What a finished cell leaves behind.

use super::{Cell, Method};
use crate::kernel::numeric::Estimate;
use serde::{Deserialize, Serialize};

/// A cell and what became of each of its methods.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The cell.
    pub cell: Cell,
    /// One entry a method, in the cell's order.
    pub results: Vec<MethodResult>,
}

/// One method of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodResult {
    /// The method.
    pub method: Method,
    /// What it gave.
    #[serde(flatten)]
    pub outcome: MethodOutcome,
}

/// A method either gave numbers or could not be learned from the cell's data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodOutcome {
    /// It was followed.
    Evaluated(Measured),
    /// The mathematics said no: counterfactual states left the finite numbers, say.
    NotLearned(String),
}

/// What following a policy showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// `eq:cf_metric`, with its standard error over the people followed.
    pub unfairness: Estimate,
    /// The discounted reward, with its standard error over the people followed.
    pub value: Estimate,
    /// The discounted reward over the cell's long horizon, where it has one and the method learned something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub long_value: Option<Estimate>,
    /// Ṽ over the horizon of `value`: what of it does not come from treating levels differently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fair: Option<Estimate>,
    /// `value` less Ṽ, gained by unfairness; of either sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gained: Option<Estimate>,
    /// J*CF − Ṽ by the performance difference, in cells of `fig:regret`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret: Option<Estimate>,
    /// The share of decisions that gave each action, by level; `shares[z][a]`.
    pub shares: Vec<Vec<f64>>,
    /// How fitted Q iteration ended, when something was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learning: Option<Learning>,
}

/// How fitted Q iteration ended: [`Outcome`](crate::kernel::learn::Outcome) as one word, which old journals keep whatever becomes of that type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learning {
    /// The last change was within tolerance.
    Converged,
    /// All iterations were done.
    IterationLimit,
    /// The data do not determine every weight.
    RankDeficient,
    /// Values grew beyond any that are possible.
    Diverged,
}

/// Values beyond this are no discounted rewards: one unit can no longer be told from two.
const LARGEST_VALUE: f64 = 1e15;

/// By how much shares of decisions may miss 1: sums of as many roundings as there are actions.
const SHARE_ROUNDING: f64 = 1e-9;

impl Record {
    /// Whether the numbers are possible at all: one result per method, 0 ≤ CF metric ≤ 1, finite values, shares that add up.
    ///
    /// # Errors
    /// What is not possible.
    pub fn check(&self) -> Result<(), String> {
        let methods = self.cell.methods();
        if !self.results.iter().map(|r| &r.method).eq(methods) {
            let found: Vec<String> = self.results.iter().map(|r| r.method.to_string()).collect();
            return Err(format!("it has results for [{}], not for the cell's methods", found.join(", ")));
        }
        for MethodResult { method, outcome } in &self.results {
            if let MethodOutcome::Evaluated(measured) = outcome {
                measured.check().map_err(|reason| format!("{method}: {reason}"))?;
            }
        }
        Ok(())
    }
    /// The numbers of one method; `None` when it was not part of the cell or not learned.
    pub fn measured(&self, method: Method) -> Option<&Measured> {
        self.results.iter().find(|r| r.method == method).and_then(|r| match &r.outcome {
            MethodOutcome::Evaluated(measured) => Some(measured),
            MethodOutcome::NotLearned(_) => None,
        })
    }
}

impl Measured {
    fn check(&self) -> Result<(), String> {
        let spread = |e: &Estimate| e.standard_error >= 0.0 && (e.count > 1 || e.standard_error == f64::INFINITY);
        if !(0.0..=1.0).contains(&self.unfairness.mean) || !spread(&self.unfairness) {
            return Err(format!("CF metric {:?} is not a share with its error", self.unfairness));
        }
        for value in [Some(self.value), self.long_value, self.fair, self.gained].into_iter().flatten() {
            if !(value.mean.abs() <= LARGEST_VALUE && spread(&value)) {
                return Err(format!("value {value:?} is not a discounted reward with its error"));
            }
        }
        if let Some(regret) = self.regret.filter(|r| !((0.0..=LARGEST_VALUE).contains(&r.mean) && spread(r))) {
            return Err(format!("regret {regret:?} is not a loss with its error"));
        }
        // A level that nobody has gets no share of anything.
        let adds_up = |row: &Vec<f64>| {
            let sum: f64 = row.iter().sum();
            row.iter().all(|share| (0.0..=1.0).contains(share)) && (sum == 0.0 || (sum - 1.0).abs() <= SHARE_ROUNDING)
        };
        let actions = self.shares.first().map_or(0, Vec::len);
        if actions == 0 || !self.shares.iter().all(|row| row.len() == actions && adds_up(row)) {
            return Err(format!("shares {:?} are not one distribution over actions per level", self.shares));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Label, Scale};

    fn good() -> Record {
        let cell = Scale::quick().cells(&[Label::SimAll], &[]).remove(0);
        let number = |mean| Estimate { mean, standard_error: 0.01, count: 30 };
        let measured = Measured {
            unfairness: number(0.3),
            value: number(-2.5),
            long_value: Some(number(-7.0)),
            fair: Some(number(-2.6)),
            gained: Some(number(0.1)),
            regret: Some(number(0.2)),
            shares: vec![vec![0.25, 0.75], vec![0.5, 0.5], vec![0.0, 0.0]],
            learning: None,
        };
        let outcome = MethodOutcome::Evaluated(measured);
        let results = cell.methods().iter().map(|&method| MethodResult { method, outcome: outcome.clone() }).collect();
        Record { cell, results }
    }

    /// Breaks one field of the second method.
    fn broken(change: impl Fn(&mut Measured)) -> Record {
        let mut record = good();
        if let MethodOutcome::Evaluated(measured) = &mut record.results[1].outcome {
            change(measured);
        }
        record
    }

    #[test]
    fn numbers_that_cannot_be_are_refused_one_field_at_a_time() {
        assert_eq!(good().check(), Ok(()));
        let single = |m: &mut Measured| m.value = Estimate { mean: 1.0, standard_error: f64::INFINITY, count: 1 };
        assert_eq!(broken(single).check(), Ok(()), "one unit says nothing about spread");
        type Break = fn(&mut Measured);
        let cases: [(&str, Break); 15] = [
            ("CF metric", |m| m.unfairness.mean = -5.0),
            ("CF metric", |m| m.unfairness.mean = 1.01),
            ("CF metric", |m| m.unfairness.mean = f64::NAN),
            ("CF metric", |m| m.unfairness.standard_error = -0.1),
            ("value", |m| m.value.mean = 1e300),
            ("value", |m| m.value.mean = f64::NAN),
            ("value", |m| m.value.count = 0),
            ("value", |m| m.long_value = Some(Estimate { mean: f64::NEG_INFINITY, standard_error: 0.0, count: 9 })),
            ("value", |m| m.fair = Some(Estimate { mean: f64::NAN, standard_error: 0.1, count: 9 })),
            ("value", |m| m.gained = Some(Estimate { mean: 0.1, standard_error: -0.1, count: 9 })),
            ("regret", |m| m.regret = Some(Estimate { mean: -0.1, standard_error: 0.1, count: 9 })),
            ("shares", |m| m.shares = vec![]),
            ("shares", |m| m.shares[1] = vec![1.0]),
            ("shares", |m| m.shares[0] = vec![0.5, 0.6]),
            ("shares", |m| m.shares[0] = vec![1.5, -0.5]),
        ];
        for (word, change) in cases {
            let refused = broken(change).check().expect_err(word);
            assert!(refused.contains(word) && refused.starts_with("unaware"), "{word}: {refused}");
        }
        let mut none = good();
        none.results.clear();
        assert!(none.check().is_err());
        let mut swapped = good();
        swapped.results.swap(0, 1);
        assert!(swapped.check().is_err());
    }
}
