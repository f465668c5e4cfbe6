//! A decision process on angles, complete with twelve features, on which the whole method runs end to end.

use super::super::Mechanism;
use crate::data::{Labels, Panel, PanelBuilder, Person};
use crate::numeric::{Stream, least_squares, small};
use rand::{Rng, RngExt};
use std::f64::consts::{PI, TAU};

/// Two levels, two actions, an angle as state; the second action turns level 1 by an extra half turn.
///
/// # Equation
/// ```text
/// S₁ = m_Z + U₁,   S′ = S + c_A + Zβ_A + U,   R = ρ_{Z,A}·(1, cos S, sin S) + noise,   U ~ (1 + κ cos u)/2π on [−π, π]
/// ```
/// with β = (0, π) and m₁ − m₀ = π. The difference of the two worlds' states stays in {0, π} mod 2π, and the noise sees only
/// the mean and the first harmonic of a function: E h(y + U) = h₀ + (κ/2)(h_c cos y + h_s sin y). So Bellman images of any
/// bounded function are spanned by onehot(a) ⊗ {(1 ± cos(s₁ − s₀))/2} ⊗ {1, cos s₀, sin s₀}.
/// States are real numbers and never wrapped: the model is additive on the line, and features are periodic.
#[derive(Debug, Clone, PartialEq)]
pub struct Circle {
    /// γ.
    pub discount: f64,
    /// κ ∈ (0, 1].
    pub concentration: f64,
    /// P(Z = 1).
    pub level_share: f64,
    /// P(A = 1 | Z = z) of the behaviour policy.
    pub treated: [f64; 2],
    /// Bound of the uniform reward noise.
    pub reward_noise: f64,
    initial: [[f64; 1]; 2],
    turn: [f64; 2],
    /// ρ by level and action.
    rewards: [[[f64; 3]; 2]; 2],
}

/// Extra turn of level 1 under each action.
const EXTRA: [f64; 2] = [0.0, PI];

/// Weights of an action value: by action, by block (difference 0, difference π), of 1, cos s₀, sin s₀.
type Weights = [[[f64; 3]; 2]; 2];

impl Default for Circle {
    /// Constants off every special point, with the boundary of the optimal rule inside both blocks.
    fn default() -> Self {
        Self {
            discount: 0.7,
            concentration: 0.8,
            level_share: 0.4,
            treated: [0.35, 0.6],
            reward_noise: 0.3,
            initial: [[0.4], [0.4 + PI]],
            turn: [0.9, -0.5],
            rewards: [[[0.1, 0.5, -0.2], [0.0, -0.3, 0.4]], [[-0.1, 0.3, 0.3], [0.15, 0.2, -0.5]]],
        }
    }
}

impl Circle {
    /// P(Z = z).
    pub fn level_law(&self) -> [f64; 2] {
        [1.0 - self.level_share, self.level_share]
    }

    /// R, the bound of rewards.
    pub fn reward_bound(&self) -> f64 {
        let largest = |ρ: &[f64; 3]| ρ[0].abs() + ρ[1].hypot(ρ[2]);
        self.rewards.iter().flatten().map(largest).fold(0.0, f64::max) + self.reward_noise
    }

    /// Mean reward over levels in a block, as coefficients of 1, cos s₀, sin s₀: harmonics of level 1 change sign with the difference.
    fn mean_reward(&self, action: usize, block: usize) -> [f64; 3] {
        let sign = if block == 0 { 1.0 } else { -1.0 };
        let [p0, p1] = self.level_law();
        let (r0, r1) = (self.rewards[0][action], self.rewards[1][action]);
        [p0 * r0[0] + p1 * r1[0], p0 * r0[1] + p1 * sign * r1[1], p0 * r0[2] + p1 * sign * r1[2]]
    }

    /// The block after an action.
    fn next_block(block: usize, action: usize) -> usize {
        if EXTRA[action] == 0.0 { block } else { 1 - block }
    }

    /// y ↦ E h(y + c + U) as coefficients of 1, cos y, sin y, from (mean, cosine, sine) moments of h.
    fn smooth(&self, [h0, hc, hs]: [f64; 3], c: f64) -> [f64; 3] {
        let half = self.concentration / 2.0;
        [h0, half * (hc * c.cos() + hs * c.sin()), half * (hs * c.cos() - hc * c.sin())]
    }

    /// r + γ E h(S′) on weights, given the moments of h in each block.
    fn backup(&self, moments: [[f64; 3]; 2]) -> Weights {
        let mut weights = [[[0.0; 3]; 2]; 2];
        for (a, by_block) in weights.iter_mut().enumerate() {
            for (block, w) in by_block.iter_mut().enumerate() {
                let next = self.smooth(moments[Self::next_block(block, a)], self.turn[a]);
                let reward = self.mean_reward(a, block);
                *w = [0, 1, 2].map(|k| reward[k] + self.discount * next[k]);
            }
        }
        weights
    }

    /// (mean, cosine, sine) moments of max(f, g) for two first-order trigonometric functions, in closed form.
    ///
    /// # Equation
    /// ```text
    /// g − f = A + B cos(x − ω),  τ = arccos(−A/B):  ∫(g−f)₊ = 2Aτ + 2B sin τ,  ∫(g−f)₊ cos(x−ω) = 2A sin τ + B(τ + sin τ cos τ)
    /// ```
    fn larger(f: [f64; 3], g: [f64; 3]) -> [f64; 3] {
        let Arc { level: a, size: b, centre: ω, half: τ } = Arc::of(f, g);
        let mass = 2.0 * a * τ + 2.0 * b * τ.sin();
        let along = 2.0 * a * τ.sin() + b * (τ + τ.sin() * τ.cos());
        [f[0] + mass / TAU, f[1] + along * ω.cos() / PI, f[2] + along * ω.sin() / PI]
    }

    /// T w.
    pub fn bellman(&self, w: &Weights) -> Weights {
        self.backup([0, 1].map(|block| Self::larger(w[0][block], w[1][block])))
    }

    /// The weights of Q*, by iteration to rounding.
    pub fn optimum(&self) -> Weights {
        let mut w = [[[0.0; 3]; 2]; 2];
        loop {
            let next = self.bellman(&w);
            let change = distance(&next, &w);
            w = next;
            if change <= 4.0 * f64::EPSILON {
                return w;
            }
        }
    }

    /// E V(S₁) of max-values: J of an action value that is its own greedy value, as Q* is.
    pub fn start_value(&self, w: &Weights) -> f64 {
        self.at_start(Self::larger(w[0][1], w[1][1]))
    }

    fn at_start(&self, moments: [f64; 3]) -> f64 {
        let [a, b, c] = self.smooth(moments, 0.0);
        let m = self.initial[0][0];
        a + b * m.cos() + c * m.sin()
    }

    /// J of the greedy rule of `w` on true states, by one solve with exact arc integrals.
    pub fn value_of_greedy(&self, w: &Weights) -> f64 {
        // moments of V^π in a block are linear in the six weights of the block: rows (mean, cos, sin), columns a·3 + k.
        let arcs = [0, 1].map(|block| Arc::of(w[0][block], w[1][block]).moments());
        let full = Arc { level: 1.0, size: 0.0, centre: 0.0, half: PI }.moments();
        let row = |block: usize, k: usize, a: usize, j: usize| {
            let inside = arcs[block][k][j];
            (if a == 1 { inside } else { full[k][j] - inside }) / if k == 0 { TAU } else { PI }
        };
        // Unknown u[a][block][k]; u = r + γ smooth(moments(next block)).
        let index = |a: usize, block: usize, k: usize| (a * 2 + block) * 3 + k;
        let mut matrix = vec![0.0; 144];
        let mut right = vec![0.0; 12];
        for a in 0..2 {
            for block in 0..2 {
                let (next, c) = (Self::next_block(block, a), self.turn[a]);
                let reward = self.mean_reward(a, block);
                for (k, mean) in reward.into_iter().enumerate() {
                    let i = index(a, block, k);
                    right[i] = mean;
                    matrix[i * 12 + i] += 1.0;
                    for b in 0..2 {
                        for j in 0..3 {
                            let moments = [0, 1, 2].map(|m| row(next, m, b, j));
                            matrix[i * 12 + index(b, next, j)] -= self.discount * self.smooth(moments, c)[k];
                        }
                    }
                }
            }
        }
        let u = small::solve(&matrix, &right).expect("I − γP is invertible for γ < 1");
        let moments = [0, 1, 2]
            .map(|m| (0..2).map(|b| (0..3).map(|j| row(1, m, b, j) * u[index(b, 1, j)]).sum::<f64>()).sum::<f64>());
        self.at_start(moments)
    }

    /// P(the greedy rule of `w` acts otherwise at t = 1 in the two worlds), when initial means are estimated as `fit` has them.
    ///
    /// Both worlds see the same difference of states and s₀ shifted by e = (m₁−m₀) − (m̂₁−m̂₀).
    pub fn first_unfairness(&self, w: &Weights, fit: &CircleFit) -> f64 {
        let apart = fit.initial[1][0] - fit.initial[0][0];
        let e = self.initial[1][0] - self.initial[0][0] - apart;
        let near = (1.0 + apart.cos()) / 2.0;
        let blend = |a: usize| [0, 1, 2].map(|k| near * w[a][0][k] + (1.0 - near) * w[a][1][k]);
        let arc = Arc::of(blend(0), blend(1));
        let m = self.initial[0][0];
        let wrap = |x: f64| (x + PI).rem_euclid(TAU) - PI;
        let mut cuts = vec![-PI, PI];
        for shift in [0.0, e] {
            cuts.extend([arc.centre - arc.half, arc.centre + arc.half].map(|x| wrap(x - m - shift)));
        }
        cuts.sort_by(f64::total_cmp);
        let law = |u: f64| (u + self.concentration * u.sin()) / TAU;
        let differs = |u: f64| arc.contains(m + u) != arc.contains(m + u + e);
        cuts.windows(2).filter(|c| differs((c[0] + c[1]) / 2.0)).map(|c| law(c[1]) - law(c[0])).sum()
    }

    /// λ₀ of the law of (S̃ₜ, Aₜ) averaged over t = 1 … T under the behaviour policy, in closed form.
    ///
    /// # Equation
    /// ```text
    /// H_{t+1}(D′) = Σₐ P(a|z)(κ/2)e^{icₐ} Hₜ(D′ − βₐ),   E[vvᵀ; D] = [[p, Re H, Im H], [Re H, p/2, 0], [Im H, 0, p/2]]
    /// ```
    pub fn coverage(&self, horizon: usize) -> f64 {
        let half = self.concentration / 2.0;
        let mut blocks = [[[0.0f64; 3]; 2]; 2];
        for z in 0..2 {
            let m = self.initial[0][0];
            let (mut p, mut h) = ([0.0, 1.0], [[0.0, 0.0], [half * m.cos(), half * m.sin()]]);
            let share = [1.0 - self.treated[z], self.treated[z]];
            for _ in 0..horizon {
                let (mut next_p, mut next_h) = ([0.0; 2], [[0.0; 2]; 2]);
                for block in 0..2 {
                    for a in 0..2 {
                        let weight = self.level_law()[z] * share[a] / horizon as f64;
                        for (k, x) in [p[block], h[block][0], h[block][1]].into_iter().enumerate() {
                            blocks[a][block][k] += weight * x;
                        }
                        let to = Self::next_block(block, a);
                        let (sin, cos) = self.turn[a].sin_cos();
                        next_p[to] += share[a] * p[block];
                        next_h[to][0] += share[a] * half * (cos * h[block][0] - sin * h[block][1]);
                        next_h[to][1] += share[a] * half * (sin * h[block][0] + cos * h[block][1]);
                    }
                }
                (p, h) = (next_p, next_h);
            }
        }
        let least = |[p, re, im]: &[f64; 3]| {
            small::symmetric_eigenvalues(&[*p, *re, *im, *re, p / 2.0, 0.0, *im, 0.0, p / 2.0], 3)[0]
        };
        blocks.iter().flatten().map(least).fold(f64::INFINITY, f64::min)
    }

    /// N people with T decisions and T + 1 states, by the behaviour policy.
    pub fn simulate(&self, people: usize, horizon: usize, stream: Stream) -> Panel {
        let mut rng = stream.rng();
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).expect("a panel with a state");
        let (mut states, mut actions, mut rewards) = (vec![0.0; horizon + 1], vec![0; horizon], vec![0.0; horizon]);
        for i in 0..people {
            let z = usize::from(rng.random::<f64>() < self.level_share);
            states[0] = self.initial[z][0] + self.noise(&mut rng);
            for t in 0..horizon {
                let a = usize::from(rng.random::<f64>() < self.treated[z]);
                let s = states[t];
                actions[t] = a as u32;
                rewards[t] = self.reward(z, a, s) + self.reward_noise * (2.0 * rng.random::<f64>() - 1.0);
                states[t + 1] = s + self.turn[a] + z as f64 * EXTRA[a] + self.noise(&mut rng);
            }
            let id = i.to_string();
            let person = Person { id: &id, level: z as u32, states: &states, actions: &actions, rewards: &rewards };
            builder.push(person).expect("finite states");
        }
        builder.finish()
    }

    fn reward(&self, z: usize, a: usize, s: f64) -> f64 {
        let ρ = self.rewards[z][a];
        ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin()
    }

    /// U by rejection from the uniform law.
    fn noise(&self, rng: &mut impl Rng) -> f64 {
        loop {
            let u = PI * (2.0 * rng.random::<f64>() - 1.0);
            if rng.random::<f64>() * (1.0 + self.concentration) < 1.0 + self.concentration * u.cos() {
                return u;
            }
        }
    }

    /// The true means, in the form of a fit.
    pub fn truth(&self) -> CircleFit {
        let increments = [0.0, 1.0].map(|z| [0, 1].map(|a| self.turn[a] + z * EXTRA[a]));
        CircleFit { initial: self.initial, increments, rewards: self.rewards }
    }
}

/// max |w − v| over all weights.
fn distance(w: &Weights, v: &Weights) -> f64 {
    w.as_flattened()
        .as_flattened()
        .iter()
        .zip(v.as_flattened().as_flattened())
        .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
}

/// Where A + B cos(x − ω) is positive: |x − ω| < half.
struct Arc {
    level: f64,
    size: f64,
    centre: f64,
    half: f64,
}

impl Arc {
    /// Where g exceeds f.
    fn of(f: [f64; 3], g: [f64; 3]) -> Self {
        let (a, c, s) = (g[0] - f[0], g[1] - f[1], g[2] - f[2]);
        let b = c.hypot(s);
        let half = if a >= b {
            PI
        } else if a <= -b {
            0.0
        } else {
            (-a / b).acos()
        };
        Self { level: a, size: b, centre: s.atan2(c), half }
    }

    fn contains(&self, x: f64) -> bool {
        ((x - self.centre + PI).rem_euclid(TAU) - PI).abs() < self.half
    }

    /// ∫ over the arc of (1, cos, sin)ᵀ(1, cos, sin).
    fn moments(&self) -> [[f64; 3]; 3] {
        let (ω, τ) = (self.centre, self.half);
        let (c, s) = (2.0 * τ.sin() * ω.cos(), 2.0 * τ.sin() * ω.sin());
        let second = 0.5 * (2.0 * τ).sin();
        let (cc, ss, cs) = (τ + second * (2.0 * ω).cos(), τ - second * (2.0 * ω).cos(), second * (2.0 * ω).sin());
        [[2.0 * τ, c, s], [c, cc, cs], [s, cs, ss]]
    }
}

/// Means of the circle as `alg:cf:1` estimates them.
#[derive(Debug, Clone, PartialEq)]
pub struct CircleFit {
    /// m̂ by level.
    pub initial: [[f64; 1]; 2],
    /// Mean increments by level and action.
    pub increments: [[f64; 2]; 2],
    /// Coefficients of (1, cos s, sin s) by level and action.
    pub rewards: [[[f64; 3]; 2]; 2],
}

impl CircleFit {
    /// Means by level and action, least squares for rewards; `None` when some level never saw some action often enough.
    pub fn from_panel(panel: &Panel) -> Option<Self> {
        let mut fit = Self { initial: [[0.0]; 2], increments: [[0.0; 2]; 2], rewards: [[[0.0; 3]; 2]; 2] };
        for z in 0..2 {
            let people: Vec<_> =
                (0..panel.people()).map(|i| panel.person(i)).filter(|p| p.level as usize == z).collect();
            if people.is_empty() {
                return None;
            }
            fit.initial[z][0] = people.iter().map(|p| p.states[0]).sum::<f64>() / people.len() as f64;
            for a in 0..2 {
                let (mut moved, mut count, mut design, mut target) = (0.0, 0.0, vec![], vec![]);
                for p in &people {
                    for (t, _) in p.actions.iter().enumerate().filter(|(_, x)| **x as usize == a) {
                        design.extend([1.0, p.states[t].cos(), p.states[t].sin()]);
                        target.push(p.rewards[t]);
                        moved += p.states[t + 1] - p.states[t];
                        count += 1.0;
                    }
                }
                let solution = least_squares(&design, &target, 3, 1).ok().filter(|s| s.is_full_rank())?;
                fit.increments[z][a] = moved / count;
                fit.rewards[z][a].copy_from_slice(&solution.coefficients);
            }
        }
        Some(fit)
    }

    /// ε_s, the largest error of a counterfactual state over t = 1 … T: it does not depend on the state.
    ///
    /// # Equation
    /// ```text
    /// ε_s = |δm₁ − δm₀| + (T − 1) maxₐ |δθ₁ₐ − δθ₀ₐ|
    /// ```
    pub fn state_error(&self, truth: &CircleFit, horizon: usize) -> f64 {
        let first = (self.initial[1][0] - truth.initial[1][0]) - (self.initial[0][0] - truth.initial[0][0]);
        let step = |a: usize| {
            (self.increments[1][a] - truth.increments[1][a]) - (self.increments[0][a] - truth.increments[0][a])
        };
        first.abs() + (horizon - 1) as f64 * step(0).abs().max(step(1).abs())
    }
}

impl Mechanism for CircleFit {
    fn state_dim(&self) -> usize {
        1
    }

    fn levels(&self) -> usize {
        2
    }

    fn actions(&self) -> usize {
        2
    }

    fn initial_mean(&self, level: usize) -> &[f64] {
        &self.initial[level]
    }

    fn mean(&self, level: usize, states: &[f64], actions: &[u32], next: &mut [f64], rewards: &mut [f64]) {
        for (((&s, &a), next), r) in states.iter().zip(actions).zip(next).zip(rewards) {
            let ρ = self.rewards[level][a as usize];
            *next = s + self.increments[level][a as usize];
            *r = ρ[0] + ρ[1] * s.cos() + ρ[2] * s.sin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twelve-by-twelve solve with numbers of size one.
    const CLOSE: f64 = 1e-12;

    #[test]
    fn the_greedy_rule_of_the_optimum_earns_the_optimum() {
        let bed = Circle::default();
        let w = bed.optimum();
        assert!((bed.start_value(&w) - bed.value_of_greedy(&w)).abs() < CLOSE);
        assert!(distance(&bed.bellman(&w), &w) < CLOSE);
    }

    #[test]
    fn moments_of_the_larger_agree_with_quadrature() {
        let (f, g) = ([0.1, 0.5, -0.2], [0.0, -0.3, 0.4]);
        let at = |w: [f64; 3], x: f64| w[0] + w[1] * x.cos() + w[2] * x.sin();
        let arc = Arc::of(f, g);
        let rule = crate::numeric::quadrature::gauss_legendre(40);
        let integral = |h: &dyn Fn(f64) -> f64| {
            let (a, b) = (arc.centre - arc.half, arc.centre + arc.half);
            rule.on(a, b).integrate(h) + rule.on(b, a + TAU).integrate(h)
        };
        let max = |x: f64| at(f, x).max(at(g, x));
        let expected =
            [integral(&max) / TAU, integral(&|x| max(x) * x.cos()) / PI, integral(&|x| max(x) * x.sin()) / PI];
        let closed = Circle::larger(f, g);
        assert!((0..3).all(|k| (closed[k] - expected[k]).abs() < CLOSE), "{closed:?} against {expected:?}");
    }
}
