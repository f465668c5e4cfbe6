//! A trial like the paper's own, simulated, whose truth is known: weekly calls, scores from 0 to 10, missed weeks, a small group.

use crate::files::{WriteError, atomically};
use crate::kernel::numeric::{Stream, fill_standard_normal, fill_uniform};
use std::io::{self, Write};
use std::path::Path;

/// The groups, and what each shifts scores and rewards by. The last is small, and there only if asked for.
const GROUPS: [(&str, f64); 4] = [("White", 0.0), ("Black", 1.2), ("Hispanic", 0.8), ("Asian", -0.3)];
/// Shares of the groups without the small one, and with it.
const SHARES: [f64; 3] = [0.6, 0.25, 0.15];
const SHARES_WITH_SMALL: [f64; 4] = [0.66, 0.18, 0.12, 0.04];

/// The three kinds of call, each with its share, what it takes off the risk score, and what it costs.
const CALLS: [Call; 3] = [
    Call { name: "brief", share: 0.5, strength: 0.0, cost: 0.0 },
    Call { name: "recorded", share: 0.25, strength: 0.3, cost: 0.1 },
    Call { name: "counselor", share: 0.25, strength: 1.0, cost: 0.5 },
];

struct Call {
    name: &'static str,
    share: f64,
    strength: f64,
    cost: f64,
}

/// The share of people who leave before the end, at a week drawn from the third on.
const LEAVING: f64 = 0.15;
/// The shares of weeks after the first without a call, and with a call but without scores, where weeks are missed.
const WITHOUT_CALL: f64 = 0.04;
const WITHOUT_SCORES: f64 = 0.04;

/// How finely scores are recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreScale {
    /// As they are, to four decimals.
    Exact,
    /// In halves from 0 to 10.
    Half,
    /// In whole numbers from 0 to 10.
    Integer,
}

/// For whom a longer call is better than a brief one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// For people in pain: who should receive it is worth learning.
    Some,
    /// For everybody alike.
    Everybody,
    /// For nobody; and no call costs anything.
    None,
}

/// The trial.
///
/// # Equation
/// With Z the group's shift, C the person's trait (standard deviation `trait_sd`), P pain, I interference, g the strength of the call times
/// (P − 3.5)/2.5, 1 or 0 by [`CallEffect`], c its cost, and independent standard normal U:
/// ```text
/// P₁ = 4.6 + Z + C + 1.9 U,    I₁ = 4.3 + Z + C + 2.0 U
/// R  = 7 − (0.35 P + 0.3 I + 0.3 Z − g + C + 0.8 U) − c
/// P′ = 0.65 P + 0.12 I + 1.1 + 0.3 Z + C − 0.6 g + 1.1 U
/// I′ = 0.6 I + 0.18 P′ + 0.8 + 0.25 Z + C − 0.4 g + 1.2 U
/// ```
/// Scores are put on their scale as soon as they arise, or with `latent` only when they are recorded. Calls are drawn by their shares whatever
/// the person's state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeeklyCalls {
    /// How finely scores are recorded.
    pub scale: ScoreScale,
    /// For whom a longer call is better.
    pub effect: CallEffect,
    /// Whether scores are carried on unrounded, and only the record is on the scale.
    pub latent: bool,
    /// Standard deviation of an unobserved trait of the person, which moves scores and rewards.
    pub trait_sd: f64,
    /// Whether some weeks have no call, and some no scores.
    pub missed_weeks: bool,
    /// Whether there is a fourth group, with a share of 4 %.
    pub small_group: bool,
}

/// One row of the record: a week of a person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeeklyRow {
    /// The person, counted from 0.
    pub person: usize,
    /// The week, counted from 1.
    pub week: usize,
    /// The group.
    pub group: &'static str,
    /// The call received.
    pub call: &'static str,
    /// Pain and interference before the call; `None` where they were not asked.
    pub scores: Option<[f64; 2]>,
    /// What followed.
    pub reward: f64,
}

impl Default for WeeklyCalls {
    fn default() -> Self {
        Self {
            scale: ScoreScale::Integer,
            effect: CallEffect::Some,
            latent: false,
            trait_sd: 0.0,
            missed_weeks: false,
            small_group: false,
        }
    }
}

impl WeeklyCalls {
    /// The record of `people` over at most `weeks` weeks, in order.
    pub fn rows(&self, people: usize, weeks: usize, seed: u64) -> Vec<WeeklyRow> {
        let stream = Stream::new(seed).named("weekly calls");
        (0..people).flat_map(|person| self.person(person, weeks, stream.index(person as u64))).collect()
    }

    /// Writes the record as CSV with outgoing rows: whole or not at all. The number of rows.
    ///
    /// # Errors
    /// [`WriteError`].
    pub fn write(&self, path: &Path, people: usize, weeks: usize, seed: u64) -> Result<usize, WriteError> {
        let rows = self.rows(people, weeks, seed);
        atomically(path, |out| self.write_rows(out, &rows))?;
        Ok(rows.len())
    }

    fn write_rows(&self, out: &mut dyn Write, rows: &[WeeklyRow]) -> io::Result<()> {
        writeln!(out, "ID,week,ethnicity,call,pain,interference,reward")?;
        let decimals = match self.scale {
            ScoreScale::Exact => 4,
            ScoreScale::Half => 1,
            ScoreScale::Integer => 0,
        };
        for WeeklyRow { person, week, group, call, scores, reward } in rows {
            write!(out, "P{person:04},{week},{group},{call},")?;
            match scores {
                Some([pain, interference]) => write!(out, "{pain:.decimals$},{interference:.decimals$},")?,
                None => write!(out, ",,")?,
            }
            writeln!(out, "{reward:.3}")?;
        }
        Ok(())
    }

    fn person(&self, person: usize, weeks: usize, stream: Stream) -> Vec<WeeklyRow> {
        let (uniforms, normals) = (
            |name: &str, count: usize| {
                let mut draws = vec![0.0; count];
                fill_uniform(&mut stream.named(name).rng(), &mut draws);
                draws
            },
            |name: &str, count: usize| {
                let mut draws = vec![0.0; count];
                fill_standard_normal(&mut stream.named(name).rng(), &mut draws);
                draws
            },
        );
        let shares: &[f64] = if self.small_group { &SHARES_WITH_SMALL } else { &SHARES };
        let (group, shift) = GROUPS[drawn(shares.iter().copied(), uniforms("group", 1)[0])];
        let character = self.trait_sd * normals("trait", 1)[0];
        let leaving = uniforms("leaving", 2);
        let first_end = weeks.min(3);
        let ends = (weeks - first_end + 1) as f64;
        let end = if leaving[0] < LEAVING { first_end + (leaving[1] * ends) as usize } else { weeks };
        let (coins, missed) = (uniforms("calls", weeks), uniforms("missed", weeks));
        let (start, noise) = (normals("first scores", 2), normals("noise", 3 * weeks));

        let mut state =
            self.carried([4.6 + shift + character + 1.9 * start[0], 4.3 + shift + character + 2.0 * start[1]]);
        let mut rows = Vec::with_capacity(end);
        for k in 0..end {
            let call = &CALLS[drawn(CALLS.iter().map(|call| call.share), coins[k])];
            let (reward, next) = self.week(state, call, shift, character, &noise[3 * k..3 * k + 3]);
            let skips = self.missed_weeks && k > 0;
            let (called, asked) =
                (!skips || missed[k] >= WITHOUT_CALL, !skips || missed[k] >= WITHOUT_CALL + WITHOUT_SCORES);
            if called {
                let scores = asked.then(|| state.map(|score| self.scale.put(score)));
                rows.push(WeeklyRow { person, week: k + 1, group, call: call.name, scores, reward });
            }
            state = next;
        }
        rows
    }

    /// The reward of a call and the scores after it.
    fn week(
        &self,
        [pain, interference]: [f64; 2],
        call: &Call,
        shift: f64,
        character: f64,
        noise: &[f64],
    ) -> (f64, [f64; 2]) {
        let (gain, cost) = match self.effect {
            CallEffect::Some => (call.strength * (pain - 3.5) / 2.5, call.cost),
            CallEffect::Everybody => (call.strength, call.cost),
            CallEffect::None => (0.0, 0.0),
        };
        let risk = 0.35 * pain + 0.3 * interference + 0.3 * shift - gain + character + 0.8 * noise[2];
        let carried = |score: f64| if self.latent { score } else { self.scale.put(score) };
        let after =
            carried(0.65 * pain + 0.12 * interference + 1.1 + 0.3 * shift + character - 0.6 * gain + 1.1 * noise[0]);
        let then = 0.6 * interference + 0.18 * after + 0.8 + 0.25 * shift + character - 0.4 * gain + 1.2 * noise[1];
        (7.0 - risk - cost, [after, carried(then)])
    }

    /// A state as it goes on.
    fn carried(&self, state: [f64; 2]) -> [f64; 2] {
        if self.latent { state } else { state.map(|score| self.scale.put(score)) }
    }
}

impl ScoreScale {
    /// A score as it is recorded.
    fn put(self, score: f64) -> f64 {
        match self {
            Self::Exact => score,
            Self::Half => (2.0 * score).round_ties_even().clamp(0.0, 20.0) / 2.0,
            Self::Integer => score.round_ties_even().clamp(0.0, 10.0),
        }
    }
}

/// The position that a uniform draw falls on, of shares that add up to 1.
fn drawn(shares: impl ExactSizeIterator<Item = f64>, uniform: f64) -> usize {
    let last = shares.len() - 1;
    let mut sum = 0.0;
    shares
        .map(|share| {
            sum += share;
            sum
        })
        .position(|sum| uniform < sum)
        .unwrap_or(last)
}
