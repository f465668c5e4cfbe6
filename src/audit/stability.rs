//! How much of a policy would be another one had other people been recorded.

use crate::kernel::numeric::Stream;
use crate::kernel::people::Panel;

/// How two policies, each learned from half of the people, differ over the recorded decisions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stability {
    /// Share of decisions in which the two halves choose another action, averaged over splits.
    pub changed: f64,
    /// The largest such share among the splits.
    pub most_changed: f64,
    /// What is at stake in those decisions, in units of value: how much the other half's action is worth less, by each half's own
    /// account, averaged over both halves and over the decisions that change. 0 when none does.
    pub at_stake: f64,
    /// sd(V), the spread of the value of a decision over decisions, averaged over halves: what stakes are to be held against.
    pub value_sd: f64,
    /// Splits behind the averages.
    pub splits: usize,
}

impl Stability {
    /// Stakes as a share of sd(V); `None` where values do not spread.
    pub fn share_at_stake(&self) -> Option<f64> {
        (self.value_sd > 0.0).then(|| self.at_stake / self.value_sd)
    }
}

/// Refits on halves of the people and compares what they decide.
///
/// `learn` is given a half of the panel and answers with Q(view, a) at *every* decision of the whole panel, |A| numbers per decision in the panel's
/// order: [`decision_values`](crate::kernel::learn::decision_values) makes them. It refits all that is fitted, the mechanism included.
///
/// # Equation
/// ```text
/// changed = mean 1{a_A ≠ a_B},      at stake = mean over changed of ½(Q_A(a_A) − Q_A(a_B)) + ½(Q_B(a_B) − Q_B(a_A))
/// ```
/// Halves are drawn without replacement: resampling with replacement repeats rows, and a learner that weighs its evidence takes
/// repetition for certainty.
///
/// # Errors
/// The first error of `learn`.
///
/// # Panics
/// If `learn` answers with another number of values.
pub fn stability<E>(
    panel: &Panel,
    seed: u64,
    splits: usize,
    mut learn: impl FnMut(&Panel) -> Result<Vec<f64>, E>,
) -> Result<Stability, E> {
    let (decisions, actions) = (panel.decisions(), panel.action_names().len());
    let (mut shares, mut stakes, mut deviations) = (vec![], vec![], vec![]);
    for split in 0..splits {
        let (one, other) = halves(panel, Stream::new(seed).named("halves").index(split as u64));
        let values = [learn(&panel.select(&one))?, learn(&panel.select(&other))?];
        values.iter().for_each(|q| assert_eq!(q.len(), decisions * actions, "|A| values for each decision"));
        let (mut changed, mut stake) = (0usize, 0.0);
        for (a, b) in values[0].chunks_exact(actions).zip(values[1].chunks_exact(actions)) {
            let (i, j) = (best(a), best(b));
            if i != j {
                changed += 1;
                stake += 0.5 * (a[i] - a[j]) + 0.5 * (b[j] - b[i]);
            }
        }
        shares.push(changed as f64 / decisions.max(1) as f64);
        if changed > 0 {
            stakes.push(stake / changed as f64);
        }
        deviations.extend(values.iter().map(|q| spread(q.chunks_exact(actions).map(|q| q[best(q)]))));
    }
    let mean = |x: &[f64]| if x.is_empty() { 0.0 } else { x.iter().sum::<f64>() / x.len() as f64 };
    Ok(Stability {
        changed: mean(&shares),
        most_changed: shares.iter().copied().fold(0.0, f64::max),
        at_stake: mean(&stakes),
        value_sd: mean(&deviations),
        splits,
    })
}

/// Two halves of the people: within each level, those whose hash of (stream, id) comes first, and the others.
///
/// People are in the order of the panel in both. The draw does not depend on that order.
fn halves(panel: &Panel, stream: Stream) -> (Vec<usize>, Vec<usize>) {
    use rand::Rng;
    let hash = |i: usize| stream.named(&panel.ids()[i]).rng().next_u64();
    let mut first = vec![false; panel.people()];
    for level in 0..panel.levels().len() as u32 {
        let mut members: Vec<usize> = (0..panel.people()).filter(|&i| panel.level_codes()[i] == level).collect();
        members.sort_by_key(|&i| (hash(i), &panel.ids()[i]));
        let half = members.len() / 2;
        members[..half].iter().for_each(|&i| first[i] = true);
    }
    (0..panel.people()).partition(|&i| first[i])
}

/// The first best action.
fn best(q: &[f64]) -> usize {
    (1..q.len()).fold(0, |best, a| if q[a] > q[best] { a } else { best })
}

/// Standard deviation.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let n = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|v| (v - mean) * (v - mean)).sum::<f64>() / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    /// Nine people at three levels of unequal size, two decisions each; `order` says who is pushed when.
    fn panel(order: &[usize]) -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(3), Labels::numbered(2), 1).unwrap();
        for &i in order {
            let (id, level) = (format!("p{i}"), [0, 0, 0, 0, 1, 1, 1, 2, 2][i]);
            let s = i as f64;
            builder.push(Person { id: &id, level, states: &[s, s], actions: &[0, 1], rewards: &[0.0; 2] }).unwrap();
        }
        builder.finish()
    }

    fn ids(panel: &Panel, people: &[usize]) -> Vec<String> {
        let mut ids: Vec<String> = people.iter().map(|&i| panel.ids()[i].clone()).collect();
        ids.sort();
        ids
    }

    #[test]
    fn halves_hold_half_of_every_level_whatever_the_order() {
        let (a, b) = (panel(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), panel(&[8, 3, 0, 7, 1, 6, 2, 5, 4]));
        for split in 0..5 {
            let stream = Stream::new(3).index(split);
            let ((one, other), (again, _)) = (halves(&a, stream), halves(&b, stream));
            assert_eq!((one.len(), other.len()), (4, 5));
            assert_eq!(ids(&a, &one), ids(&b, &again));
            let of = |level: u32| one.iter().filter(|&&i| a.level_codes()[i] == level).count();
            assert_eq!([of(0), of(1), of(2)], [2, 1, 1]);
        }
        assert_ne!(halves(&a, Stream::new(3).index(0)), halves(&a, Stream::new(3).index(1)));
    }

    #[test]
    fn changes_and_stakes_by_hand() {
        let panel = panel(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let mut call = 0;
        let found = stability(&panel, 1, 1, |half| {
            call += 1;
            assert_eq!(half.people(), 3 + call);
            // Action 1 is better by 0.5 at the first four decisions for one half, worse by 0.1 for the other; the rest agree.
            let edge = if call == 1 { 0.5 } else { -0.1 };
            let value = |t: usize| [1.0, if t < 4 { 1.0 + edge } else { 0.0 }];
            Ok::<_, ()>((0..panel.decisions()).flat_map(value).collect())
        });
        let found = found.unwrap();
        assert!((found.changed - 4.0 / 18.0).abs() < 1e-15 && found.most_changed == found.changed);
        assert!((found.at_stake - 0.3).abs() < 1e-15);
        // V is 1.5 four times of eighteen in one half and 1 always in the other.
        let p: f64 = 4.0 / 18.0;
        assert!((found.value_sd - 0.5 * 0.5 * (p * (1.0 - p)).sqrt()).abs() < 1e-12);
        assert!((found.share_at_stake().unwrap() - found.at_stake / found.value_sd).abs() < 1e-15);
    }

    #[test]
    fn a_learner_that_ignores_its_data_is_perfectly_stable() {
        let panel = panel(&[0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let found = stability(&panel, 1, 3, |_| Ok::<_, ()>(vec![0.25; panel.decisions() * 2])).unwrap();
        assert_eq!((found.changed, found.at_stake, found.value_sd), (0.0, 0.0, 0.0));
        assert_eq!(found.share_at_stake(), None);
        assert_eq!(stability(&panel, 1, 3, |_| Err::<Vec<f64>, _>("no")), Err("no"));
    }
}
