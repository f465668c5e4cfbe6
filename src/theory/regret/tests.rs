use super::*;
use crate::kernel::learn::{Deployed, Policy};
use crate::kernel::preprocess::{Oracle, StateOnly, Unaware};
use crate::theory::finite_world::Tables;
use crate::theory::{FiniteMdp, FiniteWorld};
use std::sync::Arc;

/// 1 above a threshold of the observed state.
struct Above(f64);

impl Policy<StateOnly> for Above {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
        for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
            out[1] = f64::from(u8::from(row[0] > self.0));
            out[0] = 1.0 - out[1];
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn the_best_fair_policy_has_no_regret_and_another_loses_what_its_fair_value_lacks() {
    let γ = 0.7;
    for (kind, delta) in [(PaperWorld::Linear, 0.8), (PaperWorld::Nonlinear, 1.2)] {
        let meter = Arc::new(RegretMeter::new(kind, delta, γ).unwrap());
        let draws = Exogenous::draw(meter.world(), 4000, 30, Stream::new(17));
        let weights = vec![0.5, 0.5];
        let found = match kind {
            PaperWorld::Linear => {
                let agent = Deployed::new(Oracle::new(Linear::new(delta), weights), BestRule(Arc::clone(&meter)));
                meter.measure(&agent, &draws)
            }
            PaperWorld::Nonlinear => {
                let agent = Deployed::new(Oracle::new(Nonlinear::new(delta), weights), BestRule(Arc::clone(&meter)));
                meter.measure(&agent, &draws)
            }
        };
        // Interpolation to 1e-6, summed with weights that add up to 1/(1 − γ).
        assert!(found.regret.mean <= 1e-6 / (1.0 - γ), "{found:?}");
        assert!(found.values.gained.mean.abs() < 1e-9, "an exactly fair policy: {found:?}");
        let agent = Deployed::new(Unaware { state_dim: 1 }, Above(0.1));
        let lost = meter.measure(&agent, &draws);
        let (best, fair) = (meter.optimum().value, lost.values.fair);
        // Two ways to the same number; 4.5 standard errors have a false-alarm probability below 1e-5, γ³⁰ < 3e-5 is left out of both.
        assert!((best - fair.mean - lost.regret.mean).abs() < 4.5 * fair.standard_error + 1e-3, "{best}, {lost:?}");
        assert!(lost.regret.mean > 20.0 * lost.regret.standard_error && lost.values.gained.mean.abs() > 0.01);
        assert!(lost.tail < 1e-3 * lost.regret.mean);
    }
}

/// Three levels of unequal size on five points.
fn finite() -> FiniteWorld {
    let (points, actions) = (5, 2);
    let cells = |f: &dyn Fn(usize, usize, usize) -> f64| -> Vec<f64> {
        let all = (0..3).flat_map(|z| (0..points).flat_map(move |s| (0..actions).map(move |a| (z, s, a))));
        all.map(|(z, s, a)| f(z, s, a)).collect()
    };
    FiniteWorld::new(Tables {
        points,
        actions,
        levels: vec![1, 2, 4],
        noise: vec![3, 2],
        reward_noise: vec![(0.25, 1)],
        initial: vec![0, 1, 3],
        next: cells(&|z, s, a| ((s + 2 * a + z) % 4) as f64).iter().map(|x| *x as u32).collect(),
        reward: cells(&|z, s, a| ((7 * s + 3 * a + 5 * z) % 11) as f64 / 4.0 - 1.0),
        behaviour: vec![1; 3 * points * actions],
    })
    .unwrap()
}

#[test]
fn in_a_finite_world_the_performance_difference_is_an_identity() {
    let (world, γ, horizon) = (finite(), 0.7, 4);
    let all = world.census(horizon, 1, 1).unwrap();
    let mdp = FiniteMdp::augmented(&world);
    // Action values with h decisions to go, by backward induction.
    let mut to_go = vec![vec![0.0; mdp.states()]];
    let mut q = vec![vec![]];
    for h in 0..horizon {
        let values = mdp.action_values(&to_go[h], γ);
        to_go.push(values.chunks_exact(2).map(|q| q[0].max(q[1])).collect());
        q.push(values);
    }
    let best = mdp.initial_value(&to_go[horizon]);
    for threshold in [0.5, 2.5] {
        let agent = Deployed::new(Unaware { state_dim: 1 }, Above(threshold));
        let (values, lost) = follow_readings(&world, &agent, &all, γ, |_, _, reading, sums| {
            let h = horizon - reading.t;
            for (i, (sum, &a)) in sums.iter_mut().zip(reading.actions).enumerate() {
                let here: Vec<f64> = reading.worlds.iter().map(|states| states[i]).collect();
                let at = mdp.points().iter().position(|point| *point == here).unwrap();
                *sum += reading.weight * (to_go[h][at] - q[h][at * 2 + a as usize]);
            }
        });
        let lost = Estimate::of(&lost).mean;
        // Sums over 7 · 5⁵ people, term by term: n ε times values of size 3.
        assert!((best - lost - values.fair.mean).abs() < 2e-11, "{best} − {lost} and {values:?}");
        assert!(lost > 0.05 && values.fair.mean < best && values.gained.mean.abs() > 0.01, "{lost}, {values:?}");
    }
}
