//! Whether the means that rewards and states follow stay the same as time goes by.

use super::followed::Followed;
use super::pooled_ridge::PooledRidge;
use crate::kernel::numeric::RidgeFactor;
use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// What the number of the decision explains of a reward or state, beyond state, level and action.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// `reward` or `state j`.
    pub what: String,
    /// The share of its standard deviation that a line in time for each action explains.
    pub share: f64,
    /// The p-value of the score test that it explains nothing, people being the units.
    pub p_value: f64,
}

impl Drift {
    /// Whether it is both there and large enough to change a value.
    pub fn matters(&self) -> bool {
        self.p_value < 0.001 && self.share > 0.1
    }
}

/// Score tests for a drift in time.
///
/// # Equation
/// ```text
/// uᵢₐ = Σₜ (t − t̄) eᵢₜ 1{aᵢₜ = a},   χ² = Uᵀ (Σᵢ uᵢuᵢᵀ)⁻¹ U,   U = Σᵢ uᵢ
/// ```
/// where e are the residuals of the regressions that values stand on and t̄ is the mean number of the decision with that action. Regressing
/// takes a part of e away, so that the test errs towards seeing no drift.
pub(super) fn drifts(people: &Followed, states: &[f64], features: &[f64], q: usize, prior: f64) -> Vec<Drift> {
    let p = states.len() / people.sources.len();
    let decided: Vec<usize> = (0..people.people()).flat_map(|i| people.decided(i)).collect();
    let moving: Vec<usize> = decided.iter().copied().filter(|&row| people.moves(row)).collect();
    let mut found = vec![drift("reward".into(), people, &decided, |row| people.rewards[row], features, q, prior)];
    for j in 0..p {
        let next = |row: usize| states[(row + 1) * p + j];
        found.push(drift(format!("state {}", j + 1), people, &moving, next, features, q, prior));
    }
    found.into_iter().flatten().collect()
}

fn drift(
    what: String,
    people: &Followed,
    rows: &[usize],
    outcome: impl Fn(usize) -> f64,
    features: &[f64],
    q: usize,
    prior: f64,
) -> Option<Drift> {
    let (actions, levels, n) = (people.action_count, people.level_count, rows.len() as f64);
    let cell = |row: usize| people.actions[row] as usize * levels + people.levels[people.owners[row] as usize] as usize;
    let time = |row: usize| (row - people.starts[people.owners[row] as usize]) as f64;
    let (mut grams, mut weights) = (vec![0.0; actions * levels * q * q], vec![0.0; actions * levels * q]);
    let (mut times, mut counts) = (vec![0.0; actions], vec![0.0; actions]);
    for &row in rows {
        let (φ, c, y) = (&features[row * q..(row + 1) * q], cell(row), outcome(row));
        for (i, x) in φ.iter().enumerate() {
            let at = c * q * q + i * q;
            grams[at..=at + i].iter_mut().zip(φ).for_each(|(sum, z)| *sum += x * z);
            weights[c * q + i] += x * y;
        }
        times[people.actions[row] as usize] += time(row);
        counts[people.actions[row] as usize] += 1.0;
    }
    PooledRidge::new(&grams, q, prior).solve_in_place(&mut weights);
    let (mut scores, mut covariance, mut squares) =
        (vec![0.0; actions], vec![0.0; actions * actions], vec![0.0; actions]);
    let mut own = vec![0.0; actions];
    let (mut sum, mut square) = (0.0, 0.0);
    for (k, &row) in rows.iter().enumerate() {
        let (φ, c, a, y) = (&features[row * q..(row + 1) * q], cell(row), people.actions[row] as usize, outcome(row));
        let fitted: f64 = φ.iter().zip(&weights[c * q..]).map(|(x, w)| x * w).sum();
        let late = time(row) - times[a] / counts[a];
        own[a] += late * (y - fitted);
        squares[a] += late * late;
        sum += y;
        square += y * y;
        if rows.get(k + 1).is_none_or(|next| people.owners[*next] != people.owners[row]) {
            for i in 0..actions {
                scores[i] += own[i];
                (0..=i).for_each(|j| covariance[i * actions + j] += own[i] * own[j]);
            }
            own.fill(0.0);
        }
    }
    let spread = (square / n - (sum / n) * (sum / n)).max(0.0).sqrt();
    // The line of each action has slope score/squares and so explains score²/squares.
    let explained: f64 = scores.iter().zip(&squares).filter(|(_, s)| **s > 0.0).map(|(u, s)| u * u / s).sum();
    let share = (explained / n).sqrt() / spread;
    let mut step = scores.clone();
    let covariance = RidgeFactor::new(&covariance, &vec![0.0; actions]).filter(|_| share.is_finite())?;
    covariance.solve_in_place(&mut step);
    let statistic: f64 = step.iter().zip(&scores).map(|(x, u)| x * u).sum();
    let chi = ChiSquared::new(actions as f64).expect("at least one action");
    Some(Drift { what, share, p_value: 1.0 - chi.cdf(statistic.max(0.0)) })
}
