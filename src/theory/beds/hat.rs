//! A linear decision process on [0, 1] whose features are hat functions.

use crate::kernel::numeric::small;
use crate::kernel::numeric::{Stream, uniform_index};
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
    /// The measure is linear between the values of the gap at the nodes, so the sup is at one of these values; it is infinite where the
    /// actions tie on a whole cell.
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
        // At an isolated zero of the gap this is 0/0, which `max` passes over.
        d.iter().map(|d| d.abs()).map(|x| below(x) / x).fold(0.0, f64::max)
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
        let rule = crate::kernel::numeric::quadrature::gauss_legendre(4);
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

    /// Three cells, rewards of both signs, and transitions of which no two rows agree.
    fn small_bed() -> Hat {
        Hat {
            cells: 3,
            discount: 0.7,
            noise: 0.3,
            rewards: vec![0.1, -0.8, 0.45, 0.2, -0.35, 0.6, 0.25, -0.15],
            transitions: vec![
                0.2, 0.5, 0.3, 0.1, 0.2, 0.7, 0.6, 0.3, 0.1, 0.3, 0.3, 0.4, 0.55, 0.25, 0.2, 0.05, 0.15, 0.8, 0.4, 0.1,
                0.5, 0.25, 0.6, 0.15,
            ],
        }
    }

    /// The piecewise linear function with the given values at the nodes.
    fn interpolated(nodes: &[f64], s: f64) -> f64 {
        let m = nodes.len() as f64 - 1.0;
        nodes.iter().enumerate().map(|(j, w)| w * (1.0 - (m * s - j as f64).abs()).max(0.0)).sum()
    }

    #[test]
    fn random_rewards_have_both_signs_and_no_cell_is_ever_rare() {
        let bed = Hat::random(7, 0.7, 0.1, Stream::new(93));
        assert!(bed.rewards().len() == 16 && bed.rewards().iter().all(|r| r.abs() <= 0.5), "{:?}", bed.rewards());
        assert!(
            bed.rewards().iter().any(|r| *r > 0.1) && bed.rewards().iter().any(|r| *r < -0.1),
            "{:?}",
            bed.rewards()
        );
        for row in bed.transitions.chunks_exact(7) {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < CLOSE);
            // The weight of a cell is at least 0.2 and the mean weight at most 1.2.
            assert!(row.iter().all(|p| *p >= 1.0 / 42.0), "{row:?}");
        }
    }

    #[test]
    fn the_constants_of_a_small_bed_are_those_worked_by_hand() {
        let bed = small_bed();
        assert_eq!((bed.cells(), bed.discount()), (3, 0.7));
        assert!((bed.reward_bound() - 1.1).abs() < CLOSE);
        assert!((bed.largest_density() - 2.4).abs() < CLOSE);
        // Beside a flat action the steepest cell falls by 0.9 at the first action, and by 1.25 at the second.
        let flat = [0.2; 4];
        let first: Vec<f64> = [0.1, -0.8, 0.0, 0.4].into_iter().chain(flat).collect();
        let second: Vec<f64> = flat.into_iter().chain([-0.3, 0.1, 0.85, -0.4]).collect();
        assert!((bed.lipschitz(&first) - 2.7).abs() < CLOSE && (bed.lipschitz(&second) - 3.75).abs() < CLOSE);
    }

    #[test]
    fn coverage_on_two_cells_is_known_in_closed_form() {
        // The mass matrix is [[2, 1, 0], [1, 4, 1], [0, 1, 2]]/12, with eigenvalues (3 − √3)/12, 2/12 and (3 + √3)/12.
        let bed = Hat::random(2, 0.7, 0.1, Stream::new(94));
        let least = (3.0 - 3f64.sqrt()) / 12.0;
        for (share, rarer) in [(0.35, 0.35), (0.8, 0.2)] {
            assert!((bed.coverage(share) - rarer * least).abs() < CLOSE, "{share}: {}", bed.coverage(share));
        }
    }

    #[test]
    fn the_margin_is_the_one_worked_by_hand() {
        let bed = small_bed();
        for (gap, expected) in [
            // The measures of {gap ≤ x} over the three cells are (1/3, 0, 1)/3 at x = ¼, (2/3, 1/3, 1)/3 at ½ and 1 at 1.
            ([-0.5, 1.0, 0.25, 0.25], 16.0 / 9.0),
            // (1/2, 0, 2/5)/3 at ¼, (1, 1, 3/5)/3 at ½ and 1 at 1.
            ([0.0, -0.5, -0.25, 1.0], 26.0 / 15.0),
        ] {
            let zero = [0.0; 4];
            for (p, q) in [(zero, gap), (gap, zero)] {
                let margin = bed.margin(&[p, q].concat());
                assert!((margin - expected).abs() < CLOSE, "{gap:?}: {margin} and {expected}");
            }
        }
    }

    #[test]
    fn the_mean_value_is_the_integral_over_a_uniform_state() {
        const POINTS: usize = 30_000;
        let bed = small_bed();
        let weights = [0.3, -0.6, 0.45, 0.9, -0.2, 0.7, 0.25, -1.1];
        for preference in [[0.4, -0.3, -0.2, 0.5], [-0.1, 0.6, 0.3, 0.2], [-0.5, -0.4, 0.1, -0.2]] {
            let value = |s: f64| {
                let a = usize::from(interpolated(&preference, s) > 0.0);
                interpolated(&weights[a * 4..][..4], s)
            };
            let sum = (0..POINTS).map(|k| value((k as f64 + 0.5) / POINTS as f64)).sum::<f64>() / POINTS as f64;
            let exact = bed.mean_value(&HatRule { preference: preference.to_vec() }, &weights);
            // At most two jumps, each no higher than 2 and within one point.
            assert!((exact - sum).abs() < 4.0 / POINTS as f64, "{exact} and {sum}");
        }
    }

    #[test]
    fn places_are_found_inside_at_the_ends_and_beyond() {
        let bed = small_bed();
        for (s, cell, x) in [(0.0, 0, 0.0), (0.25, 0, 0.75), (0.5, 1, 0.5), (0.75, 2, 0.25), (1.0, 2, 1.0)] {
            assert_eq!(bed.locate(s), (cell, x), "{s}");
        }
        assert_eq!((bed.locate(-0.2), bed.locate(1.3)), ((0, 0.0), (2, 1.0)));
    }

    #[test]
    fn draws_follow_the_equation() {
        // Frequencies of N draws are off by more than t with probability at most 2 exp(−2Nt²) (Hoeffding). Each (action, left or
        // right half of a cell) has 3000 draws or more: 8e-10 each at t = 0.06, 3e-8 for all that is compared here.
        const DRAWS: usize = 60_000;
        let (bed, share, mut rng) = (small_bed(), 0.35, Stream::new(95).rng());
        let (mut counts, mut expected, mut met) = ([[0.0; 3]; 12], [[0.0; 3]; 12], [0.0; 12]);
        let (mut ones, mut lowest, mut highest) = (0.0, 0.0f64, 0.0f64);
        for _ in 0..DRAWS {
            let (s, a, r, next) = bed.draw(share, &mut rng);
            let a = a as usize;
            ones += a as f64;
            let noise = r - interpolated(&bed.rewards[a * 4..][..4], s);
            assert!(noise.abs() <= bed.noise + CLOSE, "{noise} at ({s}, {a})");
            (lowest, highest) = (lowest.min(noise), highest.max(noise));
            assert!((0.0..1.0).contains(&next), "{next}");
            let group = a * 6 + (6.0 * s) as usize;
            met[group] += 1.0;
            counts[group][(3.0 * next) as usize] += 1.0;
            for (c, e) in expected[group].iter_mut().enumerate() {
                let to: Vec<f64> = (0..4).map(|j| bed.transitions[(a * 4 + j) * 3 + c]).collect();
                *e += interpolated(&to, s);
            }
        }
        assert!((ones / DRAWS as f64 - share).abs() < 0.06, "{ones}");
        // Missed with probability 0.95^60000.
        assert!(lowest < -0.9 * bed.noise && highest > 0.9 * bed.noise, "{lowest}, {highest}");
        for group in 0..12 {
            for c in 0..3 {
                let (found, law) = (counts[group][c] / met[group], expected[group][c] / met[group]);
                assert!(met[group] > 3000.0 && (found - law).abs() < 0.06, "{group}, {c}: {found} and {law}");
            }
        }
    }

    #[test]
    fn a_next_state_is_spread_over_the_cell_drawn() {
        // From every node of an action one cell, so that the cell is known; the mean place within it is ½ ± 0.29/√N.
        let cell_of = |a: usize| 2 - a;
        let mut bed = small_bed();
        bed.transitions = (0..24).map(|k| f64::from(u8::from(k % 3 == cell_of(k / 12)))).collect();
        let mut rng = Stream::new(96).rng();
        let (mut within, draws) = (0.0, 2000);
        for _ in 0..draws {
            let (_, a, _, next) = bed.draw(0.4, &mut rng);
            let place = 3.0 * next - cell_of(a as usize) as f64;
            assert!((0.0..1.0).contains(&place), "{place}");
            within += place / f64::from(draws);
        }
        // Hoeffding: 2 exp(−2 · 2000 · 0.06²) = 1e-6.
        assert!((within - 0.5).abs() < 0.06, "{within}");
    }

    #[test]
    fn the_optimum_is_in_the_unit_of_the_rewards() {
        // A power of two changes no rounding, and the last step is judged by the size of the values.
        for i in 0..20 {
            let bed = Hat::random(4, 0.8, 0.2, Stream::new(97).index(i));
            let scale = 1_048_576.0;
            let scaled = bed.clone().with_rewards(bed.rewards().iter().map(|r| scale * r).collect()).optimum();
            for (large, small) in scaled.iter().zip(bed.optimum()) {
                assert!((large / scale - small).abs() < CLOSE, "{large} and {small}");
            }
        }
    }

    #[test]
    fn the_margin_is_infinite_where_actions_tie_on_a_cell() {
        assert_eq!(small_bed().margin(&[0.0; 8]), f64::INFINITY);
    }
}
