//! Whether states are recorded too coarsely for a person's noise to be known.
//!
//! A score between 0 and 10 tells a person's noise only up to the width of its category: whoever says 4 may have felt 3.6 or 4.4. What the
//! program calls unfairness is then that of a person who felt exactly 4.0 in this world and fractions in the others, and a bound of it is false.
//! So the width of the categories is compared with how well the rest is known.

use crate::estimate::Fitted;
use crate::kernel::people::{BlocksError, Panel, People, Shape, try_each};
use std::collections::BTreeMap;

/// A coarse record of one state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Coarse {
    /// The state coordinate, from 0.
    pub state: usize,
    /// How its values lie.
    pub grain: Grain,
    /// The standard deviation of its noise.
    pub noise: f64,
}

/// How repeated values lie.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Grain {
    /// Half of the repeated records have no other repeated value within this distance.
    Steps(f64),
    /// One value stands in this share of the records, and no other is repeated.
    OneValue {
        /// The value.
        value: f64,
        /// The share.
        share: f64,
    },
}

/// A record counts as rounded when at least this share of its values occur more than once. What is measured finely repeats itself by chance
/// only; people who give round numbers a fifth of the time make a bound false for a fifth of the records.
const REPEATED: f64 = 0.2;

/// The rounding error that is tolerated, as a share of the standard error of the fitted mean.
///
/// A counterfactual state is wrong by the error of the fitted mean, which the bound knows about, and by rounding, which it does not: twice,
/// in the record that it starts from and in the record that it stands for. With variances s² and 2·h²/12 ≤ s²/2 the error is at most 1.22 times
/// what the bound allows for, and the bound is about 1.4 times the estimate. The more people, the finer a record has to be: rounding leaves an
/// unfairness that does not fall with N. In a trial of weekly calls (noise 1.1) steps up to 0.18, 0.11 and 0.05 are tolerated at N = 207, 600
/// and 2400; bounds from steps of a half and of one are false there.
const TOLERATED: f64 = 0.5;

/// Distinct values that are counted for each state. Those met later are not looked at: a state with so many values and coarse steps would
/// have a range of twenty thousand steps.
const COUNTED: usize = 20_000;

/// Values huddle when the gaps between huddles are at least this many times as wide as the widest huddle.
const APART: f64 = 2.0;

/// Gaps within huddles from which on they are no chance. Of independent gaps the m smallest are all below half of the next one with probability
/// 2⁻ᵐ or so: once in a million.
const LEAST_WITHIN: usize = 20;

/// Steps so many times as long as those of the numbers as they are written are steps of what was blurred.
const BLUR: f64 = 100.0;

/// Two numbers that differ by less than this share of the largest are one value, written or computed differently.
const SAME: f64 = 1e-9;

/// Residuals below this share of the largest value are rounding of the computer: nothing is left to chance.
const NOISELESS: f64 = 1e-9;

/// How often each value of each state occurs, and how first states spread at each level.
pub(super) struct Values {
    /// `[state][group]`: the records of each level, then all first records. One clinic may round what others do not, and a baseline may be asked
    /// for in words where later states are measured.
    counts: Vec<Vec<Counts>>,
    first: Vec<Vec<Spread>>,
}

/// How often each value occurs.
#[derive(Clone, Default)]
struct Counts {
    of: BTreeMap<u64, usize>,
    records: usize,
}

impl Counts {
    fn add(&mut self, x: f64) {
        let key = ordered(x);
        self.records += 1;
        if self.of.len() < COUNTED || self.of.contains_key(&key) {
            *self.of.entry(key).or_insert(0) += 1;
        }
    }

    fn join(mut self, other: &Self) -> Self {
        other.of.iter().for_each(|(key, count)| *self.of.entry(*key).or_insert(0) += count);
        self.records += other.records;
        self
    }

    /// How these values lie, as they are written or within huddles.
    fn grain(&self) -> Option<Grain> {
        let values = merged(&self.of);
        let counted = values.iter().map(|(_, count)| count).sum();
        let huddled = huddles(&values).into_iter().find_map(|values| grain(&values, counted));
        match (grain(&values, self.records), huddled) {
            // So many records within a small blur that some are alike.
            (Some(Grain::Steps(within)), Some(Grain::Steps(step))) if step > BLUR * within => huddled,
            (written, huddled) => written.or(huddled),
        }
    }
}

/// Sums of first states around the first one met.
#[derive(Clone, Default)]
struct Spread {
    origin: Option<f64>,
    people: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, x: f64) {
        let d = x - *self.origin.get_or_insert(x);
        (self.people, self.sum, self.squares) = (self.people + 1.0, self.sum + d, self.squares + d * d);
    }

    fn sd(&self) -> f64 {
        let mean = self.sum / self.people;
        (self.squares / self.people - mean * mean).max(0.0).sqrt()
    }
}

impl Values {
    fn empty(states: usize, levels: usize) -> Self {
        Self {
            counts: vec![vec![Counts::default(); levels + 1]; states],
            first: vec![vec![Spread::default(); levels]; states],
        }
    }

    /// Of people in memory or on disk.
    pub fn of(people: &dyn People) -> Result<Self, BlocksError> {
        let Shape { levels, state_dim, .. } = people.shape();
        let mut values = Self::empty(*state_dim, levels.len());
        try_each(people, |block| {
            values.add(block);
            Ok::<(), BlocksError>(())
        })?;
        Ok(values)
    }

    fn add(&mut self, panel: &Panel) {
        let (p, levels) = (panel.state_dim(), panel.levels().len());
        for person in panel.iter() {
            let level = person.level as usize;
            for (at, x) in person.states.iter().enumerate() {
                let counts = &mut self.counts[at % p];
                counts[level].add(*x);
                if at < p {
                    counts[levels].add(*x);
                    self.first[at][level].add(*x);
                }
            }
        }
    }

    /// How the values of a state lie: those of everybody, or where these hardly repeat those of one group.
    fn grain(&self, state: usize) -> Option<Grain> {
        let (_, by_level) = self.counts[state].split_last()?;
        let everybody = by_level.iter().fold(Counts::default(), Counts::join);
        everybody.grain().or_else(|| self.counts[state].iter().find_map(Counts::grain))
    }

    /// The states that are recorded too coarsely for what these people tell about their means.
    pub fn coarse(&self, mechanism: &Fitted) -> Vec<Coarse> {
        (0..self.counts.len()).filter_map(|state| self.coarse_state(state, mechanism)).collect()
    }

    fn coarse_state(&self, state: usize, mechanism: &Fitted) -> Option<Coarse> {
        let grain = self.grain(state)?;
        let keys = self.counts[state].iter().flat_map(|counts| counts.of.keys());
        let size = keys.fold(0.0f64, |most, key| most.max(value(*key).abs()));
        // Noise and the standard error of its mean: of first states, and of later ones as each regression found it.
        let first = self.first[state].iter().filter(|spread| spread.people > 1.0);
        let first = first.map(|spread| (spread.sd(), spread.sd() / spread.people.sqrt()));
        let later = mechanism.reports().iter().filter_map(|report| {
            let sd = *report.residual_sd.get(state)?;
            Some((sd, sd * (report.degrees.get(state)? / report.rows.max(1) as f64).sqrt()))
        });
        // What is fixed by what came before has no noise to be determined.
        let noisy = first.chain(later).filter(|(sd, _)| *sd > NOISELESS * size);
        let (noise, error) = noisy.min_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_coarse = match grain {
            Grain::Steps(step) => step / 12f64.sqrt() > TOLERATED * error,
            Grain::OneValue { .. } => true,
        };
        is_coarse.then_some(Coarse { state, grain, noise })
    }
}

/// A number as a key that sorts as the number does; −0 is 0.
fn ordered(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of a key.
fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Values in order with their counts; those that only rounding of the computer tells apart are one.
fn merged(counts: &BTreeMap<u64, usize>) -> Vec<(f64, usize)> {
    let size = counts.keys().fold(0.0f64, |most, key| most.max(value(*key).abs()));
    let mut values: Vec<(f64, usize)> = Vec::new();
    for (key, count) in counts {
        let x = value(*key);
        match values.last_mut() {
            Some((last, total)) if x - *last <= SAME * size => *total += count,
            _ => values.push((x, *count)),
        }
    }
    values
}

/// Values that stand in huddles, each huddle as one value, for every width of huddles that leaves gaps [`APART`]: what is rounded and then
/// disturbed, so that no value comes twice, tells no more than what is rounded.
fn huddles(values: &[(f64, usize)]) -> Vec<Vec<(f64, usize)>> {
    let mut gaps: Vec<f64> = values.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_by(f64::total_cmp);
    let jumps = gaps.windows(2).skip(LEAST_WITHIN - 1).filter(|pair| pair[1] >= APART * pair[0]);
    // From the widest huddles to the closest.
    jumps.rev().filter_map(|pair| huddled(values, pair[0], pair[1])).collect()
}

/// Values no more than `within` apart from the next as one; `None` where a huddle is too wide beside gaps of at least `between`.
fn huddled(values: &[(f64, usize)], within: f64, between: f64) -> Option<Vec<(f64, usize)>> {
    let mut found: Vec<(f64, usize)> = Vec::new();
    let (mut begin, mut before) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for (x, count) in values {
        match found.last_mut() {
            Some((middle, total)) if x - before <= within => {
                if APART * (x - begin) > between {
                    return None;
                }
                (*middle, *total) = ((begin + x) / 2.0, *total + count);
            }
            _ => {
                found.push((*x, *count));
                begin = *x;
            }
        }
        before = *x;
    }
    Some(found)
}

/// How values lie that occur more than once, where they are a good part of `rows`; `None` where values hardly repeat, or nothing varies.
fn grain(values: &[(f64, usize)], rows: usize) -> Option<Grain> {
    if values.len() < 2 {
        return None;
    }
    let repeated: Vec<(f64, usize)> = values.iter().copied().filter(|(_, count)| *count > 1).collect();
    let records: usize = repeated.iter().map(|(_, count)| count).sum();
    if (records as f64) < REPEATED * rows as f64 {
        return None;
    }
    if let [(value, count)] = repeated[..] {
        return Some(Grain::OneValue { value, share: count as f64 / rows as f64 });
    }
    let gaps: Vec<f64> = repeated.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let nearest = |i: usize| {
        let (below, above) = (i.checked_sub(1).map(|i| gaps[i]), gaps.get(i).copied());
        below.into_iter().chain(above).fold(f64::INFINITY, f64::min)
    };
    let mut steps: Vec<(f64, usize)> =
        repeated.iter().enumerate().map(|(i, (_, count))| (nearest(i), *count)).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0;
    let middle = steps.iter().find(|(_, count)| {
        below += count;
        2 * below >= records
    });
    middle.map(|(step, _)| Grain::Steps(*step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Stream;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use rand::RngExt;

    /// The grain of these numbers.
    fn of(values: impl IntoIterator<Item = f64>) -> Option<Grain> {
        let mut counts = Counts::default();
        values.into_iter().for_each(|x| counts.add(x));
        counts.grain()
    }

    fn uniform(n: usize) -> Vec<f64> {
        let mut rng = Stream::new(11).named("values").rng();
        (0..n).map(|_| 10.0 * rng.random::<f64>() - 3.0).collect()
    }

    #[track_caller]
    fn steps(values: impl IntoIterator<Item = f64>) -> f64 {
        match of(values) {
            Some(Grain::Steps(step)) => step,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keys_are_in_the_order_of_numbers_and_give_them_back() {
        let numbers = [f64::MIN, -2.5, -1e-300, 0.0, 1e-300, 0.1, 7.0, f64::MAX];
        assert!(numbers.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert_eq!(numbers.map(|x| value(ordered(x))), numbers);
        assert_eq!(ordered(-0.0), ordered(0.0));
    }

    #[test]
    fn steps_are_seen_whatever_their_length_and_where_they_begin() {
        for step in [1.0, 0.5, 2.0, 5.0, 0.1, 1.0 / 3.0, 1000.0] {
            let rounded = |x: f64| (x / step).round() * step;
            let many = if step < 1.0 { 1.0 } else { step };
            let found = steps(uniform(2000).into_iter().map(|x| 0.37 + rounded(many * x)));
            assert!((found / step - 1.0).abs() < 1e-6, "{step}: {found}");
        }
    }

    /// Blurred by up to an eighth of a step, no number comes twice.
    #[test]
    fn what_is_rounded_and_then_disturbed_has_the_steps_that_it_had() {
        let mut rng = Stream::new(12).named("blur").rng();
        for (step, share) in [(1.0, 1e-6), (1.0, 0.01), (0.5, 0.05), (2.0, 0.125)] {
            let mut blur = || share * step * (2.0 * rng.random::<f64>() - 1.0);
            let blurred: Vec<f64> =
                uniform(2000).into_iter().map(|x| (5.0 * x / step).round() * step + blur()).collect();
            let found = steps(blurred);
            assert!((found / step - 1.0).abs() < 2.0 * share + 1e-6, "{step} ± {share}: {found}");
        }
    }

    /// Heavy tails leave wide gaps at their ends, which are no huddles.
    #[test]
    fn no_law_with_all_its_digits_huddles() {
        for n in [20, 100, 1000, 10_000] {
            let numbers = uniform(n);
            let unit: Vec<f64> = numbers.iter().map(|x| (x + 3.0) / 10.0).collect();
            assert_eq!(of(unit.iter().map(|u| (u - 0.5) / (u * (1.0 - u)))), None, "heavy tails, {n}");
            assert_eq!(of(unit.iter().map(|u| -u.ln())), None, "exponential, {n}");
            assert_eq!(of(unit.iter().map(|u| (6.0 * u).exp())), None, "skewed, {n}");
        }
    }

    /// The linear world at two levels; the records that `coarse` names are in steps of a half.
    fn grain_where(coarse: impl Fn(usize, usize) -> bool) -> Option<Grain> {
        let mut builder = PanelBuilder::new(Labels::new(["f", "m"]), Labels::new(["0"]), 1).unwrap();
        let numbers = uniform(900);
        for i in 0..100usize {
            let level = u32::from(i % 10 == 0);
            let at = |t: usize| {
                if coarse(level as usize, t) { (2.0 * numbers[9 * i + t]).round() / 2.0 } else { numbers[9 * i + t] }
            };
            let states: Vec<f64> = (0..9).map(at).collect();
            builder
                .push(Person { id: &format!("{i}"), level, states: &states, actions: &[0; 8], rewards: &[0.0; 8] })
                .unwrap();
        }
        Values::of(&builder.finish()).unwrap().grain(0)
    }

    /// A tenth of the people, and a ninth of the records: too few to be seen among all.
    #[test]
    fn one_level_and_first_records_are_looked_at_by_themselves() {
        assert_eq!(grain_where(|_, _| false), None);
        assert_eq!(grain_where(|level, _| level == 1), Some(Grain::Steps(0.5)));
        assert_eq!(grain_where(|_, t| t == 0), Some(Grain::Steps(0.5)));
        assert_eq!(grain_where(|_, _| true), Some(Grain::Steps(0.5)));
    }

    #[test]
    fn a_value_that_was_computed_in_another_way_is_the_same_value() {
        let found = steps(uniform(1000).into_iter().flat_map(|x| {
            let k = (10.0 * x).round();
            [k * 0.1, k / 10.0, (k + 3.0) / 10.0 - 0.3]
        }));
        assert!((found - 0.1).abs() < 1e-9, "{found}");
    }

    #[test]
    fn numbers_with_all_their_digits_have_no_steps() {
        assert_eq!(of(uniform(5000)), None);
        assert_eq!(of([]), None);
        assert_eq!(of(vec![3.0; 50]), None, "nothing varies");
    }

    /// One in seven was filled in with a mean, and categories need not lie at equal distances.
    #[test]
    fn a_few_other_values_and_uneven_categories_do_not_hide_steps() {
        let filled = |(i, x): (usize, f64)| if i % 7 == 0 { 1.8364 + i as f64 * 1e-5 } else { x.round() };
        assert_eq!(steps(uniform(3000).into_iter().enumerate().map(filled)), 1.0);
        let logarithms = steps(uniform(3000).into_iter().map(|x| (x + 3.0).round().ln_1p()));
        assert!(logarithms > 0.09, "{logarithms}");
    }

    #[test]
    fn a_number_that_many_have_is_seen_among_numbers_with_all_their_digits() {
        let with = |share: usize| {
            of(uniform(2000).into_iter().enumerate().map(move |(i, x)| if i % 10 < share { 0.0 } else { x }))
        };
        assert_eq!(with(3), Some(Grain::OneValue { value: 0.0, share: 0.3 }));
        assert_eq!(with(1), None);
    }

    /// Round numbers, given by a third of the people.
    #[test]
    fn heaps_at_round_numbers_are_steps() {
        let found = steps(uniform(3000).into_iter().enumerate().map(|(i, x)| if i % 3 == 0 { x.round() } else { x }));
        assert_eq!(found, 1.0);
    }
}
