//! One action for everybody: it treats people alike in every world, so that doubts about counterfactuals or about what tells people apart do not touch it.

use super::cross_fit::always;
use super::{HELD, PolicyRow, Study, UNSUPPORTED};

/// The familywise error of "no action for everybody is better than what people received", Holm's method over all policies of the study.
const LEVEL: f64 = 0.05;

impl Study {
    /// The action that is best for everybody, if the data support that it is better than what people received.
    pub fn one_for_all(&self) -> Option<(&str, &PolicyRow)> {
        let policies = self.policies.as_ref()?;
        let rows = self.data.actions.iter().filter_map(|name| Some((name.as_str(), policies.row(&always(name))?)));
        best(rows)
    }
}

/// Of the actions that are worth more than what people received, the one that is worth most.
fn best<'a>(rows: impl Iterator<Item = (&'a str, &'a PolicyRow)>) -> Option<(&'a str, &'a PolicyRow)> {
    rows.filter(|(_, row)| is_supported(row))
        .max_by(|(_, one), (_, other)| one.minus_received.mean.total_cmp(&other.minus_received.mean))
}

/// Worth more than what people received, by an estimate that rests on decisions like those on record.
fn is_supported(row: &PolicyRow) -> bool {
    let more = row.minus_received.interval.is_some_and(|(low, _)| low > 0.0);
    let within = |share: Option<f64>, limit: f64| share.is_some_and(|share| share < limit);
    more && row.p_holm < LEVEL && !row.poor && within(row.unsupported, UNSUPPORTED) && within(row.held, HELD)
}

#[cfg(test)]
mod tests {
    use super::super::Number;
    use super::*;

    fn number(low: f64, high: f64) -> Number {
        Number { mean: (low + high) / 2.0, standard_error: Some(0.1), interval: Some((low, high)) }
    }

    fn row(low: f64, high: f64) -> PolicyRow {
        PolicyRow {
            name: String::new(),
            meaning: String::new(),
            value: number(1.0, 2.0),
            minus_received: number(low, high),
            p_value: 0.001,
            p_holm: 0.01,
            doubly_robust: None,
            fair_value: None,
            gained_by_unfairness: None,
            cf_metric: None,
            parity_gap: None,
            unsupported: Some(0.0),
            held: Some(0.0),
            poor: false,
            effective_people: None,
            by_level: vec![],
        }
    }

    #[test]
    fn of_several_supported_actions_the_one_that_is_worth_most_is_named() {
        let rows = [("go", row(0.1, 0.5)), ("stay", row(-0.2, 0.9)), ("call", row(0.2, 0.6))];
        assert_eq!(best(rows.iter().map(|(name, row)| (*name, row))).map(|(name, _)| name), Some("call"));
        assert!(best(std::iter::empty()).is_none());
    }

    #[test]
    fn each_condition_by_itself_is_enough_to_say_nothing() {
        assert!(is_supported(&row(0.1, 0.5)));
        let changed = |change: &dyn Fn(&mut PolicyRow)| {
            let mut row = row(0.1, 0.5);
            change(&mut row);
            is_supported(&row)
        };
        assert!(!changed(&|row| row.minus_received = number(0.0, 0.5)));
        assert!(!changed(&|row| row.minus_received.interval = None));
        assert!(!changed(&|row| row.p_holm = LEVEL));
        assert!(!changed(&|row| row.poor = true));
        assert!(!changed(&|row| row.unsupported = Some(UNSUPPORTED)));
        assert!(!changed(&|row| row.unsupported = None));
        assert!(!changed(&|row| row.held = Some(HELD)));
    }
}
