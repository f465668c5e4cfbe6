//! The passes of fitted Q iteration once greedy actions hardly change: moments from sums kept, and a look at the few rows that may
//! choose anew.
//!
//! # Equation
//! ```text
//! Σ_{aᵢ=a} φᵢyᵢ = Σ_{aᵢ=a} φᵢrᵢ + γ Σ_b C_ab w_b,    C_ab = Σ_{aᵢ=a, bᵢ=b} φᵢφᵢ′ᵀ,    bᵢ = argmax_b φᵢ′ᵀw_b
//! ```
//! The choices bᵢ settle long before the weights do. One that was made at weights v with a lead ℓ over all others is still made at w if
//! ```text
//! ‖D⁻¹φ′‖ · max_{b,c} ‖D((w_b − w_c) − (v_b − v_c))‖ < ℓ        (Cauchy–Schwarz; D is the size of the features)
//! ```
//! so an iteration looks only at rows whose lead was small. Nothing is approximated: the weights are those of plain passes up to rounding.

use super::features::FeatureMap;
use super::fitted_q_pass::{Backup, Sweep};
use crate::numeric::block;
use rayon::prelude::*;

/// The first iteration after which choices may be held; attempts that fail are repeated after twice as many.
const FIRST_ATTEMPT: usize = 4;

/// Leads are compared with this many times the last movement: weights that contract by 0.8 an iteration never leave that reach.
const REACH: f64 = 4.0;

/// The least reach, as a share of the size of the weights: movements at rounding level must not bring about a new census each.
const LEAST_REACH: f64 = 1e-8;

/// Tasks whose changes of C are in memory at the same time.
const TOGETHER: usize = 8;

/// Numbers in C that are not worth worrying about, however few the rows.
const SMALL: usize = 1 << 16;

/// Choices are held when no more than one row in so many is close to a tie.
const CLOSE_SHARE: usize = 4;

/// A row that has not chosen.
const NONE: u32 = u32::MAX;

/// The moments Σφy of one iteration after another, each asked for once, from w = 0 on.
pub struct ChoiceSums<'a, F> {
    sweep: &'a Sweep<'a, F>,
    discount: f64,
    /// D, by feature.
    size: Vec<f64>,
    /// B, and iterations done.
    planned: usize,
    done: usize,
    /// The iteration at which to try next.
    attempt: usize,
    /// Σφr.
    rewards: Vec<f64>,
    /// The weights of the iteration before.
    before: Vec<f64>,
    held: Option<Held>,
    /// Rows that have chosen so far, in plain passes and otherwise.
    looked_at: usize,
}

/// Choices, and what was summed over them.
struct Held {
    /// By row of views, for those that follow a transition.
    choice: Vec<u32>,
    /// C, row-major, |A|·d square: by action and feature of a transition, then by choice and feature where it ends.
    cross: Vec<f64>,
    /// The weights of the last census.
    reference: Vec<f64>,
    /// How far weights may move from there before the rows that were not close to a tie must be looked at.
    reach: f64,
    /// Rows that were, by task.
    close: Vec<Vec<u32>>,
}

impl Held {
    /// Rows that were close to a tie.
    fn close(&self) -> usize {
        self.close.iter().map(Vec::len).sum()
    }
}

/// A row and its new choice.
type Change = (u32, u32);

impl<'a, F: FeatureMap> ChoiceSums<'a, F> {
    /// `size` is a typical size of each feature, and positive; it affects speed alone.
    pub fn new(sweep: &'a Sweep<'a, F>, discount: f64, size: Vec<f64>, planned: usize) -> Self {
        let weights = vec![0.0; sweep.actions() * sweep.features()];
        Self {
            sweep,
            discount,
            size,
            planned,
            done: 0,
            attempt: FIRST_ATTEMPT,
            rewards: weights.clone(),
            before: weights,
            held: None,
            looked_at: 0,
        }
    }

    /// Σφy for each action under the present weights, which are 0 the first time.
    pub fn moments(&mut self, weights: &[f64], moments: &mut [f64]) {
        if self.done > 0 {
            self.hold(weights);
        }
        if let Some(held) = &self.held {
            self.sum_up(&held.cross, weights, moments);
        } else {
            self.sweep.targets(weights, self.discount, Backup::Max, None, moments);
            self.looked_at += self.sweep.rows();
        }
        if self.done == 0 {
            debug_assert!(weights.iter().all(|w| *w == 0.0), "the first moments are those of rewards");
            self.rewards.copy_from_slice(moments);
        }
        self.before.copy_from_slice(weights);
        self.done += 1;
    }

    /// Brings held choices up to date with the weights; afterwards none are held where a plain pass is the better bargain.
    fn hold(&mut self, weights: &[f64]) {
        let rows = self.sweep.rows();
        let mut held = match self.held.take() {
            Some(held) => held,
            None if self.done < self.attempt || !self.pays_off() => return,
            None => self.nothing_held(),
        };
        let is_new = held.reach < 0.0;
        let changes = if self.movement(&held.reference, weights) <= held.reach {
            self.looked_at += held.close();
            self.look_at_close(&held, weights)
        } else {
            self.looked_at += rows;
            self.census(&mut held, weights)
        };
        let changed: usize = changes.iter().map(Vec::len).sum();
        // A change costs d² products, a row of a plain pass about 2|A|d.
        let too_many_changes = !is_new && changed > rows / self.sweep.features();
        if too_many_changes || held.close() > rows / CLOSE_SHARE {
            self.attempt = 2 * self.done;
            return;
        }
        self.apply(&mut held, changes);
        self.held = Some(held);
    }

    /// Whether enough iterations are left to earn back the d² products a row that C costs, C is no larger than the data, and rows
    /// can be counted in 32 bits.
    fn pays_off(&self) -> bool {
        let (rows, size) = (self.sweep.rows(), self.sweep.actions() * self.sweep.features());
        self.planned.saturating_sub(self.done) > self.sweep.features() / 2
            && size.saturating_mul(size) <= rows.max(SMALL)
            && u32::try_from(rows).is_ok()
    }

    fn nothing_held(&self) -> Held {
        let (d, k) = (self.sweep.features(), self.sweep.actions());
        Held {
            choice: vec![NONE; self.sweep.rows()],
            cross: vec![0.0; k * d * k * d],
            reference: vec![0.0; k * d],
            reach: -1.0,
            close: Vec::new(),
        }
    }

    /// max_{b,c} ‖D((w_b − w_c) − (v_b − v_c))‖.
    fn movement(&self, from: &[f64], to: &[f64]) -> f64 {
        let d = self.size.len();
        let moved: Vec<f64> =
            to.iter().zip(from).zip(self.size.iter().cycle()).map(|((w, v), s)| s * (w - v)).collect();
        let mut largest = 0.0f64;
        for (b, first) in moved.chunks_exact(d).enumerate() {
            for second in moved.chunks_exact(d).skip(b + 1) {
                largest = largest.max(length(first.iter().zip(second).map(|(x, y)| x - y)));
            }
        }
        largest
    }

    /// max_b ‖D w_b‖.
    fn magnitude(&self, weights: &[f64]) -> f64 {
        let of = |w: &[f64]| length(w.iter().zip(&self.size).map(|(w, s)| s * w));
        weights.chunks_exact(self.size.len()).map(of).fold(0.0, f64::max)
    }

    /// Every row chooses at these weights, which become the reference. Answers the choices that differ from those held.
    fn census(&self, held: &mut Held, weights: &[f64]) -> Vec<Vec<Change>> {
        held.reach = (REACH * self.movement(&self.before, weights)).max(LEAST_REACH * self.magnitude(weights));
        held.reference.copy_from_slice(weights);
        let (reach, choice) = (held.reach, &held.choice);
        let found = self.sweep.map_tasks(|_, rows| self.census_of(rows, weights, reach, choice));
        let (changes, close) = found.into_iter().unzip();
        held.close = close;
        changes
    }

    fn census_of(
        &self,
        rows: std::ops::Range<usize>,
        weights: &[f64],
        reach: f64,
        choice: &[u32],
    ) -> (Vec<Change>, Vec<u32>) {
        let k = self.sweep.actions();
        let (mut changes, mut close) = (Vec::new(), Vec::new());
        let (mut block, mut q, mut squares) = (self.sweep.block(), vec![0.0; k * block::ROWS], [0.0; block::ROWS]);
        for (start, m) in self.sweep.blocks(rows) {
            let (columns, q, squares) = (block.fill(self.sweep, start, m), &mut q[..k * m], &mut squares[..m]);
            block::combine(columns, m, weights, q);
            squares.fill(0.0);
            for (column, size) in columns.chunks_exact(m).zip(&self.size) {
                for (sum, x) in squares.iter_mut().zip(column) {
                    *sum += (x / size).powi(2);
                }
            }
            for i in (0..m).filter(|i| self.sweep.action_before(start + i).is_some()) {
                let (best, lead) = greedy(q, m, i);
                // Also where a lead is not a number.
                if !matches!(lead.partial_cmp(&(reach * squares[i].sqrt())), Some(std::cmp::Ordering::Greater)) {
                    close.push((start + i) as u32);
                }
                if choice[start + i] != best {
                    changes.push(((start + i) as u32, best));
                }
            }
        }
        (changes, close)
    }

    /// The rows that were close to a tie choose again.
    fn look_at_close(&self, held: &Held, weights: &[f64]) -> Vec<Vec<Change>> {
        let k = self.sweep.actions();
        self.sweep.map_tasks(|task, _| {
            let mut changes = Vec::new();
            let (mut block, mut q) = (self.sweep.block(), vec![0.0; k * block::ROWS]);
            for rows in held.close[task].chunks(self.sweep.block_rows()) {
                let (m, columns) = (rows.len(), block.gather(self.sweep, rows.iter().map(|r| *r as usize)));
                block::combine(columns, m, weights, &mut q[..k * m]);
                for (i, row) in rows.iter().enumerate() {
                    let (best, _) = greedy(&q[..k * m], m, i);
                    if held.choice[*row as usize] != best {
                        changes.push((*row, best));
                    }
                }
            }
            changes
        })
    }

    /// Moves what the rows contributed to C from their old choice to the new one.
    fn apply(&self, held: &mut Held, changes: Vec<Vec<Change>>) {
        // Few tasks at a time, because each has a C of its own; in their order, so that digits do not depend on the number of threads.
        for lists in changes.chunks(TOGETHER) {
            let moved: Vec<Vec<f64>> = match lists {
                [alone] => vec![self.moved(alone, &held.choice)],
                _ => lists.par_iter().map(|list| self.moved(list, &held.choice)).collect(),
            };
            for delta in moved {
                held.cross.iter_mut().zip(delta).for_each(|(c, x)| *c += x);
            }
        }
        for (row, to) in changes.into_iter().flatten() {
            held.choice[row as usize] = to;
        }
    }

    /// What a task's changes do to C; nothing at all where there are none.
    fn moved(&self, changes: &[Change], choice: &[u32]) -> Vec<f64> {
        let (d, k) = (self.sweep.features(), self.sweep.actions());
        if changes.is_empty() {
            return Vec::new();
        }
        // The action before, the old choice, the new one: rows that agree in these move together.
        let kind = |&(row, to): &Change| (self.sweep.action_before(row as usize), choice[row as usize], to);
        let mut changes = changes.to_vec();
        changes.sort_by_key(kind);
        let (mut delta, mut products) = (vec![0.0; k * d * k * d], vec![0.0; d * d]);
        let (mut before, mut after) = (self.sweep.block(), self.sweep.block());
        for alike in changes.chunk_by(|x, y| kind(x) == kind(y)) {
            let (Some(action), from, to) = kind(&alike[0]) else { continue };
            // Σ φφ′ᵀ over the transitions that end at these rows.
            products.fill(0.0);
            for rows in alike.chunks(self.sweep.block_rows()) {
                let before = before.gather(self.sweep, rows.iter().map(|(row, _)| *row as usize - 1));
                let after = after.gather(self.sweep, rows.iter().map(|(row, _)| *row as usize));
                block::accumulate(after, rows.len(), before, &mut products);
            }
            let mut add = |choice: u32, sign: f64| {
                for (j, products) in products.chunks_exact(d).enumerate() {
                    let at = ((action as usize * d + j) * k + choice as usize) * d;
                    delta[at..at + d].iter_mut().zip(products).for_each(|(c, x)| *c += sign * x);
                }
            };
            add(to, 1.0);
            if from != NONE {
                add(from, -1.0);
            }
        }
        delta
    }

    /// Σφr + γ Σ_b C_ab w_b.
    fn sum_up(&self, cross: &[f64], weights: &[f64], moments: &mut [f64]) {
        moments.fill(0.0);
        block::accumulate(cross, weights.len(), weights, moments);
        moments.iter_mut().zip(&self.rewards).for_each(|(m, r)| *m = self.discount.mul_add(*m, *r));
    }
}

/// ‖x‖₂, without underflow; ∞ where it is not a number, so that nothing is taken for near.
fn length(x: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = x.clone().fold(0.0f64, |m, x| if x.is_nan() { f64::INFINITY } else { m.max(x.abs()) });
    if largest == 0.0 || largest == f64::INFINITY {
        return largest;
    }
    largest * x.map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

/// The first best action of row i of a block, and its lead over all others.
fn greedy(q: &[f64], rows: usize, i: usize) -> (u32, f64) {
    let (mut best, mut first, mut second) = (0, q[i], f64::NEG_INFINITY);
    for (action, q) in (0u32..).zip(q.chunks_exact(rows)).skip(1) {
        if q[i] > first {
            (best, second, first) = (action, first, q[i]);
        } else {
            second = second.max(q[i]);
        }
    }
    (best, first - second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::features::Polynomial;
    use crate::model::worlds::ThreeLevels;
    use crate::model::{Exogenous, simulate};
    use crate::numeric::Stream;
    use crate::people::{Labels, PanelBuilder, Person};
    use crate::preprocess::{Experience, StateOnly, Unaware, batch};
    use rand::RngExt;

    const DISCOUNT: f64 = 0.8;

    const ROWS: usize = 36_000;

    /// Six thousand people with five transitions each and two-dimensional states: three tasks, with people across their borders.
    fn data() -> Experience<StateOnly> {
        let world = ThreeLevels::new(1.0);
        let panel = simulate(&world, &Exogenous::draw(&world, ROWS / 6, 5, Stream::new(5)));
        batch(&Unaware { state_dim: 2 }, &panel).unwrap()
    }

    /// People with no, one and two transitions, with a state after the last decision or without; `actions` of them.
    fn ragged(actions: u32) -> Experience<StateOnly> {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(actions as usize), 2).unwrap();
        let mut rng = Stream::new(11).rng();
        for i in 0..900u32 {
            let decisions = 1 + i as usize % 3;
            let states: Vec<f64> =
                (0..2 * (decisions + usize::from(i % 2 == 0))).map(|_| rng.random::<f64>()).collect();
            let taken: Vec<u32> = (0..decisions as u32).map(|t| (i / 3 + t) % actions).collect();
            let rewards: Vec<f64> = (0..decisions).map(|_| rng.random()).collect();
            let id = i.to_string();
            builder.push(Person { id: &id, level: 0, states: &states, actions: &taken, rewards: &rewards }).unwrap();
        }
        batch(&Unaware { state_dim: 2 }, &builder.finish()).unwrap()
    }

    /// Moments under each weights, asked for in turn, beside those of a plain pass; answers how many rows were looked at.
    fn compare(data: &Experience<StateOnly>, sequence: &[Vec<f64>], held_at_the_end: bool) -> usize {
        let features = Polynomial::new(2, 2).unwrap();
        let sweep = Sweep::new(data, &features, |r| r);
        let mut choices = ChoiceSums::new(&sweep, DISCOUNT, vec![1.0; features.count()], sequence.len());
        let (mut ours, mut plain) = (vec![0.0; sequence[0].len()], vec![0.0; sequence[0].len()]);
        for (b, weights) in sequence.iter().enumerate() {
            choices.moments(weights, &mut ours);
            sweep.targets(weights, DISCOUNT, Backup::Max, None, &mut plain);
            for (x, y) in ours.iter().zip(&plain) {
                // Sums of ten thousand numbers near ten.
                assert!((x - y).abs() < 1e-9 * (1.0 + y.abs()), "iteration {b}: {x} and {y}");
            }
        }
        assert_eq!(choices.held.is_some(), held_at_the_end);
        choices.looked_at
    }

    /// w = 0, then weights that approach a limit by `rate` an iteration.
    fn approaching(rate: f64, iterations: usize, actions: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Stream::new(seed).rng();
        let mut draw = || -> Vec<f64> { (0..6 * actions).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect() };
        let (limit, start) = (draw(), draw());
        let at = |b: usize| limit.iter().zip(&start).map(|(l, s)| l + rate.powi(b as i32) * (s - l)).collect();
        (0..iterations).map(|b| if b == 0 { vec![0.0; 6 * actions] } else { at(b) }).collect()
    }

    #[test]
    fn moments_are_those_of_a_plain_pass_while_choices_are_held() {
        let data = data();
        let (rows, actions) = (ROWS, data.actions_count());
        // Eight plain passes, a census that fails and one that does not, and few rows after that; more where weights settle slowly.
        let fast = compare(&data, &approaching(0.5, 60, actions, 6), true);
        let slow = compare(&data, &approaching(0.9, 60, actions, 6), true);
        assert!(fast < 14 * rows, "{fast}");
        assert!(fast < slow && slow < 45 * rows, "{fast}, {slow}");
    }

    #[test]
    fn people_of_any_length_and_any_number_of_actions_are_held_alike() {
        for actions in [1, 2, 4] {
            compare(&ragged(actions), &approaching(0.3, 40, actions as usize, 6), true);
        }
    }

    #[test]
    fn choices_are_let_go_when_too_many_change_at_once() {
        // Action 1 leads by s₁ − c, action 2 never does; c moves, and 28 % of all rows (23 % not being
        // anybody's first) are within four of its steps.
        let data = data();
        let mut first: Vec<f64> = data.views().iter().step_by(2).copied().collect();
        first.sort_by(f64::total_cmp);
        let step = (first[ROWS * 28 / 100] - first[0]) / 4.0;
        let at =
            |c: f64| [vec![0.0; 6], vec![-c, 1.0, 0.0, 0.0, 0.0, 0.0], vec![-1e6, 0.0, 0.0, 0.0, 0.0, 0.0]].concat();
        let start = first[0] - 0.001 * step;
        let held_at = |last: f64| {
            let features = Polynomial::new(2, 2).unwrap();
            let sweep = Sweep::new(&data, &features, |r| r);
            // Only the constant moves: with the other features thought large, the bound on a lead is nearly attained.
            let mut choices = ChoiceSums::new(&sweep, DISCOUNT, vec![1.0, 1e4, 1e4, 1e4, 1e4, 1e4], 20);
            let mut moments = vec![0.0; 18];
            choices.moments(&[0.0; 18], &mut moments);
            for c in [-3.0, -2.0, -1.0, 0.0].map(|k| start + k * step) {
                choices.moments(&at(c), &mut moments);
            }
            assert!(choices.held.is_some());
            choices.moments(&at(start + last * step), &mut moments);
            choices.held.is_some()
        };
        assert!(held_at(1.0), "few people change");
        assert!(!held_at(3.99), "more than one in six do");
    }

    #[test]
    fn a_length_is_neither_lost_among_tiny_numbers_nor_hidden_by_what_is_no_number() {
        assert_eq!(length([3e-200, -4e-200].into_iter()), 5e-200);
        assert_eq!(length([0.0, 0.0].into_iter()), 0.0);
        assert_eq!(length([1.0, f64::NAN].into_iter()), f64::INFINITY);
        assert_eq!(length([f64::NEG_INFINITY].into_iter()), f64::INFINITY);
    }

    #[test]
    fn a_jump_of_the_weights_is_seen() {
        let data = data();
        let actions = data.actions_count();
        let mut sequence = approaching(0.3, 30, actions, 7);
        let elsewhere = approaching(0.3, 80, actions, 8);
        // Choices change all over: they are let go, and held again after twice as many iterations.
        sequence.extend_from_slice(&elsewhere[20..]);
        compare(&data, &sequence, true);
        compare(&data, &sequence[..40], false);
    }

    #[test]
    fn weights_that_never_settle_are_left_to_plain_passes() {
        let data = data();
        let (rows, actions) = (ROWS, data.actions_count());
        let sequence: Vec<Vec<f64>> =
            (0..40).map(|b| approaching(0.5, 2, actions, 9 + b % 3)[usize::from(b > 0)].clone()).collect();
        let looked_at = compare(&data, &sequence, false);
        // Forty passes, and a census at iterations 4, 8, 16 and 32.
        assert_eq!(looked_at, 44 * rows);
    }

    #[test]
    fn equal_weights_make_every_row_close_and_nothing_is_held() {
        let data = data();
        let actions = data.actions_count();
        let sequence: Vec<Vec<f64>> = (0..20).map(|b| vec![0.1 * b as f64; 6 * actions]).collect();
        assert_eq!(compare(&data, &sequence, false), 23 * ROWS);
    }

    #[test]
    fn too_few_iterations_do_not_pay_for_the_sums() {
        let data = data();
        let actions = data.actions_count();
        compare(&data, &approaching(0.01, 7, actions, 6), false);
        compare(&data, &approaching(0.01, 8, actions, 6), true);
    }

    #[test]
    fn the_first_of_equal_actions_is_chosen_and_leads_by_nothing() {
        // Two rows, three actions, action after action.
        let q = [1.0, 5.0, 3.0, 5.0, 2.0, -1.0];
        assert_eq!((greedy(&q, 2, 0), greedy(&q, 2, 1)), ((1, 1.0), (0, 0.0)));
        assert_eq!(greedy(&[7.0], 1, 0), (0, f64::INFINITY));
    }

    #[test]
    fn movement_and_magnitude_are_in_units_of_the_features() {
        let (data, features) = (ragged(3), Polynomial::new(2, 0).unwrap());
        let sweep = Sweep::new(&data, &features, |r| r);
        let choices = ChoiceSums::new(&sweep, DISCOUNT, vec![2.0, 0.5], 10);
        // Three actions with two weights each. Differences of movements: (1, 8), (3, 4) and (2, −4), scaled by 2 and ½.
        let (from, to) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2.0, 10.0, 3.0, 4.0, 3.0, 10.0]);
        let lengths = [2f64.hypot(4.0), 6f64.hypot(2.0), 4f64.hypot(2.0)];
        let largest = lengths.into_iter().fold(0.0, f64::max);
        assert!((choices.movement(&from, &to) - largest).abs() < 1e-14);
        assert!((choices.movement(&to, &from) - largest).abs() < 1e-14);
        // (2, 10), (3, 4) and (3, 10), scaled.
        assert!((choices.magnitude(&to) - 6f64.hypot(5.0)).abs() < 1e-14);
    }

    #[test]
    fn sums_larger_than_the_data_are_not_kept() {
        let (data, wide, wider) = (ragged(2), Polynomial::new(2, 14).unwrap(), Polynomial::new(2, 15).unwrap());
        // 2 · 120 = 240 and 2 · 136 = 272 weights: 57 600 products are below what is always kept, 73 984 are above it.
        assert_eq!((wide.count(), wider.count()), (120, 136));
        for (features, pays) in [(&wide, true), (&wider, false)] {
            let sweep = Sweep::new(&data, features, |r| r);
            assert_eq!(ChoiceSums::new(&sweep, DISCOUNT, vec![1.0; features.count()], 500).pays_off(), pays);
        }
    }
}
