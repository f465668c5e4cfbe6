//! Who is treated, by level and over time, and who would be treated differently in another world.

use super::changes::Changes;
use super::cross_fit::Crossed;
use super::extremes::{Intervals, Share};
use super::{CONFIDENCE, Number, SideBySide, StudySettings};
use crate::kernel::numeric::{Stream, uniform_index};
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
    /// What Ours would change of what was received.
    pub changes: Option<Changes>,
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
            changes: along("Ours").map(|ours| Changes::of(panel, ours)),
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
    /// People of each level who decide.
    people: Vec<f64>,
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
    let mut people = vec![0.0; levels];
    let deciding = (0..n).filter(|&i| decisions[i] > 0.0);
    deciding.for_each(|i| people[panel.level_codes()[i] as usize] += 1.0);
    GroupResamples { levels, actions, people, shares }
}

impl GroupResamples {
    fn measure(&self, rule: usize, action: usize, name: &str, action_name: &str) -> GroupMeasure {
        let at = |shares: &[f64], z: usize| shares[(rule * self.levels + z) * self.actions + action];
        let ends = |shares: &[f64]| {
            let known = (0..self.levels).map(|z| at(shares, z)).filter(|x| !x.is_nan());
            known.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
        };
        let mut by_level: Vec<Option<Number>> =
            (0..self.levels).map(|z| Some(self.number(&|shares| at(shares, z))).filter(|n| !n.mean.is_nan())).collect();
        let mut difference = self.number(&|shares| ends(shares).1 - ends(shares).0);
        let mut ratio = self.number(&|shares| if ends(shares).1 > 0.0 { ends(shares).0 / ends(shares).1 } else { 1.0 });
        let known = by_level.iter().zip(&self.people).filter_map(|(number, people)| Some((number.as_ref()?, *people)));
        let share =
            |(n, people): (&Number, f64)| Some(Share { rate: n.mean, standard_error: n.standard_error?, people });
        if let Some(shares) = known.map(share).collect::<Option<Vec<Share>>>() {
            let found = Intervals::of(&shares, CONFIDENCE);
            by_level.iter_mut().flatten().zip(found.of_shares).for_each(|(n, interval)| n.interval = Some(interval));
            (difference.interval, ratio.interval) = (Some(found.difference), Some(found.ratio));
        }
        GroupMeasure { rule: name.into(), action: action_name.into(), by_level, difference, ratio }
    }

    /// A statistic of the record, with its standard deviation over resamples.
    fn number(&self, statistic: &dyn Fn(&[f64]) -> f64) -> Number {
        let (itself, resampled) = self.shares.split_last().expect("the record itself");
        let found: Vec<f64> = resampled.iter().map(|s| statistic(s)).filter(|x| x.is_finite()).collect();
        let mean = statistic(itself);
        let standard_error = (found.len() > 1).then(|| {
            let middle = found.iter().sum::<f64>() / found.len() as f64;
            let squares: f64 = found.iter().map(|x| (x - middle) * (x - middle)).sum();
            (squares / (found.len() - 1) as f64).sqrt()
        });
        Number { mean, standard_error, interval: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::Linear;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use rand::RngExt;

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
    /// Decisions of one person hang together: each person has a probability of their own, from a law with this mean and this spread.
    fn study(levels: &[(usize, f64)], decisions: usize, stream: Stream) -> Panel {
        let names: Vec<String> = (0..levels.len()).map(|z| z.to_string()).collect();
        let mut builder = PanelBuilder::new(Labels::new(&names), Labels::new(["no", "yes"]), 1).unwrap();
        let mut rng = stream.rng();
        for (z, (people, mean)) in levels.iter().enumerate() {
            for i in 0..*people {
                let own: f64 = mean + 0.8 * mean.min(1.0 - mean) * (2.0 * rng.random::<f64>() - 1.0);
                let stays = if i % 3 == 0 { 1 + i % decisions } else { decisions };
                let actions: Vec<u32> = (0..stays).map(|_| u32::from(rng.random::<f64>() < own)).collect();
                let (states, rewards) = (vec![0.0; stays + 1], vec![0.0; stays]);
                let (id, level) = (format!("{z}-{i}"), z as u32);
                builder.push(Person { id: &id, level, states: &states, actions: &actions, rewards: &rewards }).unwrap();
            }
        }
        builder.finish()
    }

    /// Coverage of 95 % intervals of the difference, the ratio, and the share at the first level, in 300 studies of each kind. Were it .95, fewer
    /// than 270 of 300 would hold the truth with probability 1.3e-4 (exact binomial); twelve numbers are looked at, so that a sound program fails
    /// this with probability below .002.
    #[test]
    fn intervals_of_group_measures_hold_the_truth_and_always_their_estimate() {
        let kinds: [(&[(usize, f64)], usize); 4] = [
            (&[(40, 0.3), (60, 0.3)], 4),
            (&[(30, 0.08), (120, 0.2)], 3),
            (&[(40, 0.5), (50, 0.5), (60, 0.5), (30, 0.5)], 3),
            (&[(60, 0.9), (60, 0.4), (60, 0.6)], 5),
        ];
        for (kind, (levels, decisions)) in kinds.into_iter().enumerate() {
            let means: Vec<f64> = levels.iter().map(|(_, mean)| *mean).collect();
            let (least, most) = means.iter().fold((1.0f64, 0.0f64), |(l, m), p| (l.min(*p), m.max(*p)));
            let mut held = [0; 3];
            for round in 0..300u64 {
                let panel = study(levels, decisions, Stream::new(77).named("groups").index(1000 * kind as u64 + round));
                let sums = [PersonSums::of(&panel, &received(&panel))];
                let found = group_resamples(&panel, &sums, 120, round).measure(0, 1, "received", "yes");
                let holds = |number: &Number, truth: f64| {
                    let (low, high) = number.interval.unwrap();
                    assert!(low <= number.mean && number.mean <= high + 1e-12, "kind {kind}: {number:?}");
                    usize::from(low <= truth && truth <= high)
                };
                held[0] += holds(&found.difference, most - least);
                held[1] += holds(&found.ratio, least / most);
                held[2] += holds(found.by_level[0].as_ref().unwrap(), means[0]);
            }
            assert!(held.iter().all(|held| *held >= 270), "kind {kind}: {held:?} of 300");
        }
    }
}
