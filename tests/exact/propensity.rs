//! The behaviour policy fitted by multinomial logistic regression.

use crate::fixture::*;
use crate::oracle;
use counterfair::kernel::learn::features::internals::OneHot;
use counterfair::kernel::learn::features::{FeatureMap, Polynomial};
use counterfair::kernel::learn::internals::{
    PropensityError, PropensityFit, PropensityOutcome, Softmax, fit_propensity,
};
use counterfair::kernel::learn::{Agent, Deployed, Policy};
use counterfair::kernel::model::simulate;
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::numeric::internals::{fill_standard_normal, fill_uniform};
use counterfair::kernel::preprocess::{Full, StateOnly, Unaware, batch};
use counterfair::theory::FiniteMdp;

#[test]
fn indicators_give_back_the_frequencies() {
    let world = plain();
    let panel = cut(&simulate(&world, &world.census(3, 4, 1).unwrap()), |_| 3, |i| i % 2 == 0);
    let experience = batch(&Full { state_dim: 1 }, &panel).unwrap();
    let points = FiniteMdp::observed(&world).points().to_vec();
    let fit = fit_propensity(&experience, &OneHot::new(points.clone()).unwrap()).unwrap();
    assert!(matches!(fit.outcome, PropensityOutcome::Converged { iterations } if (3..12).contains(&iterations)));
    for point in &points {
        let mut found = [0.0; ACTIONS];
        fit.policy.probabilities(point, 2, &mut found);
        let expected = oracle::behaviour(point[1] as usize, &[point[0] as usize], &[]);
        found.iter().zip(expected).for_each(|(p, q)| assert_same(*p, q));
    }
    // −Σ b log b of (½, ¼, ¼), the same at every state.
    assert_same(fit.log_likelihood, 0.5 * 0.5f64.ln() + 0.5 * 0.25f64.ln());
}

/// Two features, three actions, drawn from a softmax with the given weights.
fn drawn(n: usize, weights: &[f64]) -> (Vec<f64>, Vec<u32>) {
    let truth = Softmax::<StateOnly, _>::new(Polynomial::new(1, 1).unwrap(), 3, weights.to_vec());
    let (mut x, mut u) = (vec![0.0; n], vec![0.0; n]);
    fill_standard_normal(&mut Stream::new(8).named("x").rng(), &mut x);
    fill_uniform(&mut Stream::new(8).named("u").rng(), &mut u);
    let mut actions = vec![0; n];
    truth.act(&x, 1, &u, &mut actions);
    (x, actions)
}

fn fit_to(x: &[f64], actions: &[u32], count: usize) -> PropensityFit<StateOnly, Polynomial> {
    let rewards = vec![0.0; x.len()];
    let panel = panel(1, count, &[(0, x, actions, &rewards)]);
    fit_propensity(&batch(&Unaware { state_dim: 1 }, &panel).unwrap(), &Polynomial::new(1, 1).unwrap()).unwrap()
}

#[test]
fn the_score_is_zero_at_the_fit_and_the_weights_are_near_the_truth() {
    let weights = [0.4, -1.1, -0.3, 0.7];
    let (x, actions) = drawn(5000, &weights);
    let fit = fit_to(&x, &actions, 3);
    assert!(matches!(fit.outcome, PropensityOutcome::Converged { .. }));
    let mut p = vec![0.0; 3 * x.len()];
    fit.policy.probabilities(&x, 1, &mut p);
    for a in 0..3 {
        for power in 0..2 {
            let score: f64 = (0..x.len())
                .map(|i| (f64::from(u8::from(actions[i] as usize == a)) - p[3 * i + a]) * x[i].powi(power))
                .sum();
            assert!(score.abs() < 1e-8, "score {score}");
        }
    }
    let likelihood: f64 = (0..x.len()).map(|i| p[3 * i + actions[i] as usize].ln()).sum::<f64>() / x.len() as f64;
    assert_same(fit.log_likelihood, likelihood);
    for (w, truth) in fit.policy.weights().iter().zip(weights) {
        // A weight has a standard error near √(1/(5000 · 0.2)) = 0.03.
        assert!((w - truth).abs() < ALARM * 0.045, "{w} for {truth}");
    }
    assert!(!Policy::<StateOnly>::is_deterministic(&fit.policy));
}

#[test]
fn separated_actions_are_an_outcome() {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i) / 10.0 - 2.0).collect();
    let side: Vec<u32> = x.iter().map(|x| u32::from(*x > 0.33)).collect();
    assert!(matches!(fit_to(&x, &side, 2).outcome, PropensityOutcome::Separated { .. }));
    // An action that nobody took.
    let (x, actions) = drawn(500, &[0.4, -1.1, -0.3, 0.7]);
    let never: Vec<u32> = actions.iter().map(|a| a % 2).collect();
    let fit = fit_to(&x, &never, 3);
    assert!(matches!(fit.outcome, PropensityOutcome::Separated { .. }), "{:?}", fit.outcome);
    let mut p = [0.0; 3];
    fit.policy.probabilities(&[0.2], 1, &mut p);
    assert!(p[2] < 1e-6);
}

#[test]
fn dependent_features_and_mistaken_calls_are_named() {
    let (x, actions) = drawn(50, &[0.4, -1.1, -0.3, 0.7]);
    let constant = vec![2.0; x.len()];
    assert_eq!(fit_to(&constant, &actions, 3).outcome, PropensityOutcome::RankDeficient);
    let rewards = vec![0.0; x.len()];
    let people = panel(1, 3, &[(0, &x, &actions, &rewards)]);
    let experience = batch(&Unaware { state_dim: 1 }, &people).unwrap();
    let wide = Polynomial::new(2, 1).unwrap();
    assert_eq!(fit_propensity(&experience, &wide), Err(PropensityError::Width { features: wide.inputs(), view: 1 }));
    let nobody = batch(&Unaware { state_dim: 1 }, &panel(1, 3, &[(0, &[1.0], &[], &[])])).unwrap();
    let narrow = Polynomial::new(1, 1).unwrap();
    assert_eq!(fit_propensity(&nobody, &narrow), Err(PropensityError::NoDecisions));
    // One action has nothing to fit.
    let single = fit_to(&x, &vec![0; x.len()], 1);
    assert_eq!((single.outcome, single.log_likelihood), (PropensityOutcome::Converged { iterations: 0 }, 0.0));
    assert!(Policy::<StateOnly>::is_deterministic(&single.policy));
}

#[test]
fn large_scores_neither_overflow_nor_lose_the_winner() {
    let policy = Softmax::<StateOnly, _>::new(Polynomial::new(1, 1).unwrap(), 3, vec![0.0, 900.0, 1.0, 900.0]);
    let mut p = [0.0; 6];
    policy.probabilities(&[1.0, -1.0], 1, &mut p);
    let e = 1f64.exp();
    [0.0, 1.0 / (1.0 + e), e / (1.0 + e), 1.0, 0.0, 0.0].iter().zip(p).for_each(|(q, p)| assert_same(p, *q));
    let agent = Deployed::new(Unaware { state_dim: 1 }, policy);
    assert_eq!(agent.actions(), 3);
}
