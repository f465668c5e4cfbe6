//! Who is treated, by level and over time, and who would be treated differently in another world.

use super::cross_fit::Crossed;
use super::{Number, SideBySide, StudySettings};
use crate::kernel::numeric::{Stream, quantile, uniform_index};
use crate::kernel::people::Panel;
use rayon::prelude::*;
use serde::Serialize;

/// Treatment by level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Treated {
    /// Group measures: one entry for each rule and action.
    pub measures: Vec<GroupMeasure>,
    /// How often people were resampled for their intervals.
    pub replicates: usize,
    /// Shares of actions over time, for what people received and for Ours.
    pub over_time: Vec<OverTime>,
    /// The share of people of whom Ours would decide at least one decision in ten otherwise in another world, on average over refits; `None`
    /// where other worlds are not known.
    pub people_affected: Option<f64>,
    /// The people for whom that share is largest, where they were asked for.
    pub people: Vec<PersonTreated>,
}

/// How often a rule takes an action, by level, and how far levels are apart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupMeasure {
    /// The rule: `received`, or the name of a policy.
    pub rule: String,
    /// The action.
    pub action: String,
    /// The share of decisions at each level.
    pub by_level: Vec<Option<Number>>,
    /// Demographic parity difference: largest minus smallest share.
    pub difference: Number,
    /// Demographic parity ratio: smallest over largest share.
    pub ratio: Number,
}

/// Shares of an action over time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OverTime {
    /// The rule.
    pub rule: String,
    /// The action.
    pub action: String,
    /// `shares[level][t]`, `None` where nobody decides.
    pub shares: Vec<Vec<Option<f64>>>,
}

/// A person for whom it matters.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PersonTreated {
    /// Who.
    pub id: String,
    /// Their level.
    pub level: String,
    /// The share of their decisions that Ours would take otherwise in another world, on average over refits.
    pub differ: f64,
}

/// The rules that are compared.
const RULES: [&str; 5] = ["received", "Ours", "Full", "Unaware", super::PROGRAM];

/// A person counts as affected from this share of decisions on.
const AFFECTED: f64 = 0.1;

impl Treated {
    pub(super) fn of(panel: &Panel, crossed: &Crossed, policies: &SideBySide, settings: &StudySettings) -> Self {
        let received = received(panel);
        let along = |rule: &str| if rule == "received" { Some(&received[..]) } else { crossed.probabilities(rule) };
        let rules: Vec<&str> = RULES.iter().copied().filter(|rule| along(rule).is_some()).collect();
        let sums: Vec<PersonSums> = rules.iter().filter_map(|rule| Some(PersonSums::of(panel, along(rule)?))).collect();
        let resamples = group_resamples(panel, &sums, settings.group_replicates, settings.learner.seed);
        let names = panel.action_names();
        let measures = rules
            .iter()
            .enumerate()
            .flat_map(|(r, rule)| (0..names.len()).map(move |a| (r, rule, a)))
            .map(|(r, rule, a)| resamples.measure(r, a, rule, names.name(a)))
            .collect();
        let over_time = RULES[..2]
            .iter()
            .flat_map(|rule| (0..names.len()).map(move |a| (rule, a)))
            .filter_map(|(rule, a)| {
                let shares = shares_over_time(panel, along(rule)?, a);
                Some(OverTime { rule: rule.to_string(), action: names.name(a).into(), shares })
            })
            .collect();
        let by_person = &policies.ours_by_person;
        let affected = by_person.iter().filter(|share| **share >= AFFECTED).count();
        let mut order: Vec<usize> = (0..by_person.len()).filter(|&i| by_person[i] > 0.0).collect();
        order.sort_by(|&i, &j| by_person[j].total_cmp(&by_person[i]).then(panel.ids()[i].cmp(&panel.ids()[j])));
        let person = |&i: &usize| PersonTreated {
            id: panel.ids()[i].clone(),
            level: panel.levels().name(panel.level_codes()[i] as usize).into(),
            differ: by_person[i],
        };
        Self {
            measures,
            replicates: settings.group_replicates,
            over_time,
            people_affected: (!by_person.is_empty()).then(|| affected as f64 / panel.people().max(1) as f64),
            people: order.iter().take(settings.show_ids).map(person).collect(),
        }
    }
}

/// One-hot rows of what was done; rows without a decision are 0.
fn received(panel: &Panel) -> Vec<f64> {
    let actions = panel.action_names().len();
    let mut rows = vec![0.0; panel.state_rows() * actions];
    for i in 0..panel.people() {
        let first = panel.states_of(i).start;
        for (t, at) in panel.decisions_of(i).enumerate() {
            rows[(first + t) * actions + panel.actions()[at] as usize] = 1.0;
        }
    }
    rows
}

fn shares_over_time(panel: &Panel, probabilities: &[f64], action: usize) -> Vec<Vec<Option<f64>>> {
    let (levels, actions, horizon) = (panel.levels().len(), panel.action_names().len(), panel.horizon());
    let mut sums = vec![vec![(0.0, 0.0); horizon]; levels];
    for i in 0..panel.people() {
        let (z, first) = (panel.level_codes()[i] as usize, panel.states_of(i).start);
        for t in 0..panel.decisions_of(i).len() {
            let (sum, count) = &mut sums[z][t];
            *sum += probabilities[(first + t) * actions + action];
            *count += 1.0;
        }
    }
    let share = |(sum, count): &(f64, f64)| (*count > 0.0).then(|| sum / count);
    sums.iter().map(|by_time| by_time.iter().map(share).collect()).collect()
}

/// What one person adds: |A| sums of probabilities.
pub(super) struct PersonSums {
    sums: Vec<f64>,
}

impl PersonSums {
    fn of(panel: &Panel, probabilities: &[f64]) -> Self {
        let actions = panel.action_names().len();
        let mut sums = vec![0.0; panel.people() * actions];
        for i in 0..panel.people() {
            let first = panel.states_of(i).start;
            for t in 0..panel.decisions_of(i).len() {
                let row = &probabilities[(first + t) * actions..(first + t + 1) * actions];
                sums[i * actions..(i + 1) * actions].iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
            }
        }
        Self { sums }
    }
}

/// Shares of every rule, level and action, of the record and of every resample.
struct GroupResamples {
    levels: usize,
    actions: usize,
    /// `[rule][level][action]`, flat; NaN where a level decides nothing. The last is the record itself.
    shares: Vec<Vec<f64>>,
}

/// Resamples people and counts anew.
fn group_resamples(panel: &Panel, rules: &[PersonSums], replicates: usize, seed: u64) -> GroupResamples {
    let (n, levels, actions) = (panel.people(), panel.levels().len(), panel.action_names().len());
    let decisions: Vec<f64> = (0..n).map(|i| panel.decisions_of(i).len() as f64).collect();
    let count = |counts: &[f64]| -> Vec<f64> {
        let mut sums = vec![0.0; rules.len() * levels * actions];
        let mut totals = vec![0.0; levels];
        for (i, c) in counts.iter().enumerate().filter(|(_, c)| **c > 0.0) {
            let z = panel.level_codes()[i] as usize;
            totals[z] += c * decisions[i];
            for (r, rule) in rules.iter().enumerate() {
                let at = (r * levels + z) * actions;
                let own = &rule.sums[i * actions..(i + 1) * actions];
                sums[at..at + actions].iter_mut().zip(own).for_each(|(sum, x)| *sum += c * x);
            }
        }
        sums.iter_mut().enumerate().for_each(|(at, sum)| *sum /= totals[at / actions % levels]);
        sums
    };
    let stream = Stream::new(seed).named("groups");
    let mut shares: Vec<Vec<f64>> = (0..replicates as u64)
        .into_par_iter()
        .map(|b| {
            let (mut rng, mut counts) = (stream.index(b).rng(), vec![0.0; n]);
            (0..n).for_each(|_| counts[uniform_index(&mut rng, n)] += 1.0);
            count(&counts)
        })
        .collect();
    shares.push(count(&vec![1.0; n]));
    GroupResamples { levels, actions, shares }
}

impl GroupResamples {
    fn measure(&self, rule: usize, action: usize, name: &str, action_name: &str) -> GroupMeasure {
        let at = |shares: &[f64], z: usize| shares[(rule * self.levels + z) * self.actions + action];
        let ends = |shares: &[f64]| {
            let known = (0..self.levels).map(|z| at(shares, z)).filter(|x| !x.is_nan());
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let by_level =
            (0..self.levels).map(|z| Some(self.number(&|shares| at(shares, z))).filter(|n| !n.mean.is_nan()));
        GroupMeasure {
            rule: name.into(),
            action: action_name.into(),
            by_level: by_level.collect(),
            difference: self.number(&|shares| ends(shares).1 - ends(shares).0),
            ratio: self.number(&|shares| if ends(shares).1 > 0.0 { ends(shares).0 / ends(shares).1 } else { 1.0 }),
        }
    }

    /// A statistic of the record, with the central share of what resamples say.
    fn number(&self, statistic: &dyn Fn(&[f64]) -> f64) -> Number {
        let (itself, resampled) = self.shares.split_last().expect("the record itself");
        let mut found: Vec<f64> = resampled.iter().map(|s| statistic(s)).filter(|x| x.is_finite()).collect();
        found.sort_by(f64::total_cmp);
        let mean = statistic(itself);
        if found.len() < 2 {
            return Number { mean, standard_error: None, interval: None };
        }
        let middle = found.iter().sum::<f64>() / found.len() as f64;
        let squares: f64 = found.iter().map(|x| (x - middle) * (x - middle)).sum();
        Number {
            mean,
            standard_error: Some((squares / (found.len() - 1) as f64).sqrt()),
            interval: Some((quantile(&found, 0.025), quantile(&found, 0.975))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::model::{Exogenous, simulate};

    fn panel(people: usize, decisions: usize) -> Panel {
        let world = Linear::new(1.0);
        simulate(&world, &Exogenous::draw(&world, people, decisions, Stream::new(8)))
    }

    #[test]
    fn shares_are_those_counted_by_hand_and_differences_are_between_the_extremes() {
        let panel = panel(90, 5);
        let sums = [PersonSums::of(&panel, &received(&panel))];
        let found = group_resamples(&panel, &sums, 200, 1).measure(0, 1, "received", "1");
        let by_hand: Vec<f64> = (0..2)
            .map(|z| {
                let own = panel.iter().filter(|person| person.level == z).flat_map(|person| person.actions);
                own.clone().filter(|a| **a == 1).count() as f64 / own.count() as f64
            })
            .collect();
        for (number, share) in found.by_level.iter().zip(&by_hand) {
            let number = number.unwrap();
            let (low, high) = number.interval.unwrap();
            assert!((number.mean - share).abs() < 1e-12 && low < *share && *share < high, "{number:?}");
        }
        assert!((found.difference.mean - (by_hand[0] - by_hand[1]).abs()).abs() < 1e-12);
        assert!((found.ratio.mean - by_hand[0].min(by_hand[1]) / by_hand[0].max(by_hand[1])).abs() < 1e-12);
        // A bootstrap error of a share of 450 decisions, 5 a person: near √(p(1 − p)/n), within a factor of two.
        let n = panel.decisions() as f64 / 2.0;
        let expected = (by_hand[0] * (1.0 - by_hand[0]) / n).sqrt();
        let error = found.by_level[0].unwrap().standard_error.unwrap();
        assert!(0.5 * expected < error && error < 2.0 * expected, "{error} and {expected}");
    }
}
