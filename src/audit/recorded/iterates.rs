//! Fitted Q evaluation by the number of decisions that remain.

use super::followed::Followed;
use super::pooled_ridge::PooledRidge;

/// What the action values of one policy are fitted to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Problem<'a> {
    /// Who was followed.
    pub people: &'a Followed,
    /// q numbers per row.
    pub features: &'a [f64],
    /// q.
    pub count: usize,
    /// π(a | history), |A| numbers per row.
    pub probabilities: &'a [f64],
    /// γ.
    pub discount: f64,
    /// The smallest and the largest reward.
    pub range: (f64, f64),
    /// λ of [`PooledRidge`].
    pub prior: f64,
}

/// Q₁, …, Q_H: the action values with h decisions to go.
#[derive(Debug, Clone)]
pub(super) struct Iterates {
    /// For each h, q numbers for each action and level: `[((h − 1) |A| + a) K + z]`.
    weights: Vec<f64>,
    /// Σₐ π Q_h at the first row of each person, h their horizon.
    pub first: Vec<f64>,
    /// The share of action values looked up that had to be held within what rewards allow.
    pub held: f64,
}

impl Problem<'_> {
    /// Fits all iterates with a weight on every row.
    ///
    /// # Equation
    /// ```text
    /// Q₀ = 0,   Q_h(x, a) = r̂(x, a) + γ P̂[ Σ_b π(b | x′) Q_{h−1}(x′, b) ](x, a),   Q_h held in [r_min, r_max] Σ_{j<h} γʲ
    /// ```
    /// where r̂ and P̂[·] are regressions in each level and action ([`PooledRidge`]): of rewards on all decisions, of what follows on
    /// those whose next state is known. It is the paper's fitted Q evaluation, stopped where the record stops.
    pub fn fit(&self, weights: &[f64]) -> Iterates {
        let Problem { people, features, count: q, .. } = *self;
        let (actions, levels) = (people.action_count, people.level_count);
        let cells = actions * levels;
        let (mut all, mut moving) = (vec![0.0; cells * q * q], vec![0.0; cells * q * q]);
        let mut now = vec![0.0; cells * q];
        for (row, φ) in features.chunks_exact(q).enumerate() {
            let (Some(cell), v) = (self.cell(row), weights[row]) else { continue };
            if v == 0.0 {
                continue;
            }
            let gram = if people.moves(row) { &mut moving } else { &mut all };
            for (i, x) in φ.iter().enumerate() {
                let at = cell * q * q + i * q;
                gram[at..=at + i].iter_mut().zip(φ).for_each(|(sum, y)| *sum += v * x * y);
            }
            let b = &mut now[cell * q..(cell + 1) * q];
            b.iter_mut().zip(φ).for_each(|(b, x)| *b += v * people.rewards[row] * x);
        }
        all.iter_mut().zip(&moving).for_each(|(all, moving)| *all += moving);
        let (rewards, follows) = (PooledRidge::new(&all, q, self.prior), PooledRidge::new(&moving, q, self.prior));
        rewards.solve_in_place(&mut now);
        let horizon = people.horizon();
        let mut found =
            Iterates { weights: Vec::with_capacity(horizon * now.len()), first: vec![0.0; people.people()], held: 0.0 };
        found.weights.extend_from_slice(&now);
        let (mut looked, mut held) = (0usize, 0usize);
        let mut next = vec![0.0; now.len()];
        for h in 1..=horizon {
            let bounds = self.bounds(h);
            for (person, first) in found.first.iter_mut().enumerate() {
                if people.horizons[person] == h {
                    *first = self.expected(&found.weights, people.starts[person], h, bounds, &mut held);
                    looked += 1;
                }
            }
            if h == horizon {
                break;
            }
            next.fill(0.0);
            for (row, φ) in features.chunks_exact(q).enumerate() {
                let v = weights[row];
                if v == 0.0 || !people.moves(row) {
                    continue;
                }
                let value = v * self.expected(&found.weights, row + 1, h, bounds, &mut held);
                looked += 1;
                let cell = self.cell(row).expect("a row that moves decides");
                next[cell * q..(cell + 1) * q].iter_mut().zip(φ).for_each(|(b, x)| *b += value * x);
            }
            follows.solve_in_place(&mut next);
            found.weights.extend(now.iter().zip(&next).map(|(r, w)| r + self.discount * w));
        }
        found.held = held as f64 / looked.max(1) as f64;
        found
    }

    /// Q_h(row, a), held within what rewards allow.
    pub fn action_value(&self, iterates: &Iterates, row: usize, h: usize, action: usize) -> f64 {
        self.held_value(&iterates.weights, row, h, action, self.bounds(h), &mut 0)
    }

    /// Σₐ π(a | row) Q_h(row, a).
    pub fn value(&self, iterates: &Iterates, row: usize, h: usize) -> f64 {
        self.expected(&iterates.weights, row, h, self.bounds(h), &mut 0)
    }

    /// [r_min, r_max] Σ_{j<h} γʲ.
    fn bounds(&self, h: usize) -> (f64, f64) {
        let sum = discounted_horizon(self.discount, h);
        (self.range.0 * sum, self.range.1 * sum)
    }

    fn cell(&self, row: usize) -> Option<usize> {
        let (action, people) = (self.people.actions[row] as usize, self.people);
        let level = people.levels[people.owners[row] as usize] as usize;
        (action < people.action_count).then_some(action * people.level_count + level)
    }

    fn expected(&self, weights: &[f64], row: usize, h: usize, bounds: (f64, f64), held: &mut usize) -> f64 {
        let (actions, mut sum, mut beyond) = (self.people.action_count, 0.0, 0);
        for (action, π) in self.probabilities[row * actions..(row + 1) * actions].iter().enumerate() {
            if *π > 0.0 {
                sum += π * self.held_value(weights, row, h, action, bounds, &mut beyond);
            }
        }
        *held += beyond.min(1);
        sum
    }

    fn held_value(
        &self,
        weights: &[f64],
        row: usize,
        h: usize,
        action: usize,
        (low, high): (f64, f64),
        beyond: &mut usize,
    ) -> f64 {
        let (q, people) = (self.count, self.people);
        let level = people.levels[people.owners[row] as usize] as usize;
        let at = (((h - 1) * people.action_count + action) * people.level_count + level) * q;
        let φ = &self.features[row * q..(row + 1) * q];
        let value: f64 = φ.iter().zip(&weights[at..at + q]).map(|(x, w)| x * w).sum();
        *beyond += usize::from(value < low || value > high);
        value.clamp(low, high)
    }
}

/// Σ_{j<h} γʲ.
pub(super) fn discounted_horizon(discount: f64, h: usize) -> f64 {
    (0..h as i32).map(|j| discount.powi(j)).sum()
}
