//! A linear decision process on [0, 1] whose features are hat functions.

use crate::numeric::small;
use crate::numeric::{Stream, uniform_index};
use rand::{Rng, RngExt};

/// Two actions, nodes j/m, hats h_j: a process whose Bellman images are always piecewise linear on the nodes.
///
/// # Equation
/// ```text
/// R | s, a = Σⱼ hⱼ(s) θₐⱼ + noise,   S′ | s, a ~ Σⱼ hⱼ(s) Σ_c N_{ajc} Unif(cell c),   hⱼ(s) = max(0, 1 − |ms − j|)
/// (Tf)(s, a) = Σⱼ hⱼ(s) ( θₐⱼ + γ Σ_c N_{ajc} avg_c max_b f(·, b) )
/// ```
/// Weights are stored action after action, m + 1 numbers each. Since Σⱼ hⱼ = 1 and hⱼ ≥ 0: ‖φ‖₁ = 1, R₂ = sup‖φ‖₂ = 1 and
/// ‖wᵀφ‖∞ = ‖w‖∞.
#[derive(Debug, Clone, PartialEq)]
pub struct Hat {
    cells: usize,
    discount: f64,
    rewards: Vec<f64>,
    transitions: Vec<f64>,
    noise: f64,
}

/// A rule that plays action 1 where a function, linear on each cell, is positive.
#[derive(Debug, Clone, PartialEq)]
pub struct HatRule {
    /// Values of the function at the nodes.
    pub preference: Vec<f64>,
}

impl Hat {
    /// A process with random rewards on [−½, ½], reward noise uniform on ±`noise`, and random mixtures over cells.
    pub fn random(cells: usize, discount: f64, noise: f64, stream: Stream) -> Self {
        let mut rng = stream.rng();
        let nodes = 2 * (cells + 1);
        let rewards = (0..nodes).map(|_| rng.random::<f64>() - 0.5).collect();
        let mut transitions = Vec::with_capacity(nodes * cells);
        for _ in 0..nodes {
            let weights: Vec<f64> = (0..cells).map(|_| 0.2 + rng.random::<f64>()).collect();
            let total: f64 = weights.iter().sum();
            transitions.extend(weights.iter().map(|w| w / total));
        }
        Self { cells, discount, rewards, transitions, noise }
    }

    /// The same process with other mean rewards at the nodes.
    ///
    /// # Panics
    /// When there are not 2(m + 1) of them.
    pub fn with_rewards(self, rewards: Vec<f64>) -> Self {
        assert_eq!(rewards.len(), self.rewards.len(), "one reward a node and action");
        Self { rewards, ..self }
    }

    /// m.
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// γ.
    pub fn discount(&self) -> f64 {
        self.discount
    }

    /// θ, action after action.
    pub fn rewards(&self) -> &[f64] {
        &self.rewards
    }

    /// R, the bound of all rewards.
    pub fn reward_bound(&self) -> f64 {
        small::sup(&self.rewards) + self.noise
    }

    fn nodes(&self) -> usize {
        self.cells + 1
    }

    /// T w on weights: exact, as the average over a cell of the larger of two lines is in closed form.
    ///
    /// # Equation
    /// ```text
    /// avg max(p, q) = avg p + { (d₀+d₁)/2 if both ≥ 0;  0 if both ≤ 0;  d₊²/(2|d₀−d₁|) otherwise },   d = q − p at the ends
    /// ```
    pub fn bellman(&self, weights: &[f64]) -> Vec<f64> {
        let (p, q) = weights.split_at(self.nodes());
        let averages: Vec<f64> = (0..self.cells)
            .map(|c| {
                let (d0, d1) = (q[c] - p[c], q[c + 1] - p[c + 1]);
                let above = if d0 * d1 >= 0.0 {
                    0.5 * (d0 + d1).max(0.0)
                } else {
                    d0.max(d1).powi(2) / (2.0 * (d0 - d1).abs())
                };
                0.5 * (p[c] + p[c + 1]) + above
            })
            .collect();
        self.backup(&averages)
    }

    /// θ + γ N · averages.
    fn backup(&self, averages: &[f64]) -> Vec<f64> {
        let next = self.transitions.chunks_exact(self.cells).map(|row| small::dot(row, averages));
        self.rewards.iter().zip(next).map(|(r, v)| r + self.discount * v).collect()
    }

    /// The weights of Q*, by iteration until nothing moves any more.
    ///
    /// # Precision
    /// ‖Tw − w‖∞ at rounding level: the error is at most that over 1 − γ.
    pub fn optimum(&self) -> Vec<f64> {
        let mut w = vec![0.0; 2 * self.nodes()];
        loop {
            let next = self.bellman(&w);
            let change = small::sup(&next.iter().zip(&w).map(|(a, b)| a - b).collect::<Vec<_>>());
            w = next;
            if change <= 4.0 * f64::EPSILON * (1.0 + small::sup(&w)) {
                return w;
            }
        }
    }

    /// The greedy rule of weights.
    pub fn greedy(&self, weights: &[f64]) -> HatRule {
        let (p, q) = weights.split_at(self.nodes());
        HatRule { preference: q.iter().zip(p).map(|(q, p)| q - p).collect() }
    }

    /// Averages over cell c of the left and the right hat, for each action, where the rule plays it: (left, right) by action.
    fn moments(&self, rule: &HatRule, c: usize) -> [(f64, f64); 2] {
        let (d0, d1) = (rule.preference[c], rule.preference[c + 1]);
        // With x ∈ [0, 1] along the cell, the right hat is x, the left one 1 − x; action 1 is played where d(x) > 0.
        let span = |a: f64, b: f64| ((b - a) - 0.5 * (b * b - a * a), 0.5 * (b * b - a * a));
        if d0.max(d1) <= 0.0 {
            return [span(0.0, 1.0), (0.0, 0.0)];
        }
        if d0.min(d1) >= 0.0 {
            return [(0.0, 0.0), span(0.0, 1.0)];
        }
        let cut = d0 / (d0 - d1);
        if d0 > 0.0 { [span(cut, 1.0), span(0.0, cut)] } else { [span(0.0, cut), span(cut, 1.0)] }
    }

    /// The weights of Q^π, by one solve with exact integrals.
    pub fn evaluate(&self, rule: &HatRule) -> Vec<f64> {
        let (n, d) = (self.nodes(), 2 * self.nodes());
        // averages[c] = Σ_k A[c][k] w_k.
        let mut average = vec![0.0; self.cells * d];
        for c in 0..self.cells {
            for (a, (left, right)) in self.moments(rule, c).into_iter().enumerate() {
                average[c * d + a * n + c] += left;
                average[c * d + a * n + c + 1] += right;
            }
        }
        let matrix: Vec<f64> = (0..d * d)
            .map(|k| {
                let (i, j) = (k / d, k % d);
                let mixed: f64 =
                    (0..self.cells).map(|c| self.transitions[i * self.cells + c] * average[c * d + j]).sum();
                f64::from(u8::from(i == j)) - self.discount * mixed
            })
            .collect();
        small::solve(&matrix, &self.rewards).expect("I − γP is invertible for γ < 1")
    }

    /// E V^π(S₁) for S₁ uniform, of a rule with action values `weights`.
    pub fn mean_value(&self, rule: &HatRule, weights: &[f64]) -> f64 {
        let n = self.nodes();
        let cell = |c: usize| -> f64 {
            let moments = self.moments(rule, c);
            (0..2).map(|a| moments[a].0 * weights[a * n + c] + moments[a].1 * weights[a * n + c + 1]).sum()
        };
        (0..self.cells).map(cell).sum::<f64>() / self.cells as f64
    }

    /// J* − J^π for a uniform first state.
    pub fn regret(&self, rule: &HatRule) -> f64 {
        let best = self.optimum();
        self.mean_value(&self.greedy(&best), &best) - self.mean_value(rule, &self.evaluate(rule))
    }

    /// λ₀ of S uniform, A = 1 with probability `share`: min(share, 1 − share) times the least eigenvalue of the mass matrix.
    pub fn coverage(&self, share: f64) -> f64 {
        let n = self.nodes();
        let mut mass = vec![0.0; n * n];
        let width = 1.0 / self.cells as f64;
        for c in 0..self.cells {
            for (i, j, x) in [(c, c, 2.0), (c, c + 1, 1.0), (c + 1, c, 1.0), (c + 1, c + 1, 2.0)] {
                mass[i * n + j] += width / 6.0 * x;
            }
        }
        share.min(1.0 - share) * small::symmetric_eigenvalues(&mass, n)[0]
    }

    /// L_Q of weights: the steepest cell.
    pub fn lipschitz(&self, weights: &[f64]) -> f64 {
        let slope = |w: &[f64]| w.windows(2).map(|ends| (ends[1] - ends[0]).abs()).fold(0.0, f64::max);
        self.cells as f64 * weights.chunks_exact(self.nodes()).map(slope).fold(0.0, f64::max)
    }

    /// sup_x Leb{gap ≤ x}/x for the gap |w₁ᵀh − w₀ᵀh|: the margin constant at α = 1 of a uniform state.
    ///
    /// The measure is linear between the values of the gap at the nodes and zero at zero, so the sup is at one of these values.
    pub fn margin(&self, weights: &[f64]) -> f64 {
        let d = self.greedy(weights).preference;
        let below = |x: f64| -> f64 {
            let cell = |ends: &[f64]| {
                let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
                if high == low {
                    return f64::from(u8::from(low.abs() <= x));
                }
                ((high.min(x) - low.max(-x)) / (high - low)).max(0.0)
            };
            d.windows(2).map(cell).sum::<f64>() / self.cells as f64
        };
        d.iter().map(|d| d.abs()).filter(|x| *x > 0.0).map(|x| below(x) / x).fold(0.0, f64::max)
    }

    /// The largest density of S under any policy: of the uniform first state, or of a cell.
    pub fn largest_density(&self) -> f64 {
        (self.cells as f64 * self.transitions.iter().copied().fold(0.0, f64::max)).max(1.0)
    }

    /// Draws a tuple (s, a, r, s′): S uniform, A = 1 with probability `share`.
    pub fn draw(&self, share: f64, rng: &mut impl Rng) -> (f64, u32, f64, f64) {
        let s: f64 = rng.random();
        let a = u32::from(rng.random::<f64>() < share);
        let (cell, x) = self.locate(s);
        let row = a as usize * self.nodes() + cell;
        let mean = (1.0 - x) * self.rewards[row] + x * self.rewards[row + 1];
        let r = mean + self.noise * (2.0 * rng.random::<f64>() - 1.0);
        let node = row + usize::from(rng.random::<f64>() < x);
        let mut left: f64 = rng.random();
        let mut to = uniform_index(rng, self.cells);
        for (c, p) in self.transitions[node * self.cells..][..self.cells].iter().enumerate() {
            if left < *p {
                to = c;
                break;
            }
            left -= p;
        }
        (s, a, r, (to as f64 + rng.random::<f64>()) / self.cells as f64)
    }

    fn locate(&self, s: f64) -> (usize, f64) {
        let position = (s * self.cells as f64).clamp(0.0, self.cells as f64);
        let cell = (position as usize).min(self.cells - 1);
        (cell, position - cell as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sum of ten numbers of size one, divided by 1 − γ = 0.2.
    const CLOSE: f64 = 1e-13;

    #[test]
    fn the_value_of_the_greedy_rule_of_the_optimum_is_the_optimum() {
        for i in 0..5 {
            let bed = Hat::random(4, 0.8, 0.2, Stream::new(90).index(i));
            let best = bed.optimum();
            let value = bed.evaluate(&bed.greedy(&best));
            assert!(best.iter().zip(&value).all(|(a, b)| (a - b).abs() < CLOSE), "{best:?} against {value:?}");
        }
    }

    #[test]
    fn cell_averages_agree_with_quadrature_cut_at_the_kink() {
        let bed = Hat::random(3, 0.7, 0.1, Stream::new(91));
        let w: Vec<f64> = (0..8).map(|k| ((k * 5 % 7) as f64 - 3.0) / 3.0).collect();
        let rule = crate::numeric::quadrature::gauss_legendre(4);
        let averages: Vec<f64> = (0..3)
            .map(|c| {
                let at = |a: usize, x: f64| (1.0 - x) * w[a * 4 + c] + x * w[a * 4 + c + 1];
                let (d0, d1) = (at(1, 0.0) - at(0, 0.0), at(1, 1.0) - at(0, 1.0));
                let cut = if d0 * d1 < 0.0 { d0 / (d0 - d1) } else { 0.5 };
                let piece = |a: f64, b: f64| rule.on(a, b).integrate(|x| at(0, x).max(at(1, x)));
                piece(0.0, cut) + piece(cut, 1.0)
            })
            .collect();
        let expected = bed.backup(&averages);
        assert!(bed.bellman(&w).iter().zip(&expected).all(|(a, b)| (a - b).abs() < CLOSE));
    }

    #[test]
    fn another_rule_loses_value() {
        let bed = Hat::random(4, 0.8, 0.2, Stream::new(92));
        let mut wrong = bed.greedy(&bed.optimum());
        wrong.preference.iter_mut().for_each(|x| *x = -*x);
        assert!(bed.regret(&wrong) > 0.01 && bed.regret(&bed.greedy(&bed.optimum())).abs() < CLOSE);
    }
}
