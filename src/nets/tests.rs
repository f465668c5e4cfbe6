//! Losses, gradients and steps against fractions, finite differences and PyTorch; vectors against plain arrays.

use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde::Deserialize;

/// Central differences at step h err by h² in the third derivative, which is 0 off the kinks (the loss is quadratic in any
/// one parameter), and by ε/h in rounding of a loss of size 1: this leaves a factor of 1000 for larger losses.
const DIFFERENCE: f64 = 1e-4;
const DIFFERENCE_ERROR: f64 = 1000.0 * f64::EPSILON / DIFFERENCE;

fn examples<'a>(inputs: &'a [f64], targets: &'a [f64], loss: Loss<'a>) -> Examples<'a> {
    Examples { inputs, targets, loss }
}

#[test]
fn a_network_of_two_rows_has_the_loss_and_gradient_worked_out_in_fractions() {
    // h = max(0, (x₀ + 3x₁ + ½, −2x₀ + x₁ + ¼)), f = 2h₀ − ½h₁ + ⅛: at (1, ½) h = (3, 0), f = 49/8; at (−1, 2) h = (11/2, 17/4), f = 9.
    let network = Network::from_values(vec![2, 2, 1], vec![1.0, -2.0, 3.0, 1.0, 0.5, 0.25, 2.0, -0.5, 0.125]).unwrap();
    let batch = Batch::new(2, 1, examples(&[1.0, 0.5, -1.0, 2.0], &[6.0, 10.0], Loss::Squared), Rows::All);
    let mut trainer = Trainer::default();
    let (loss, gradient) = trainer.gradient(&network, &batch);
    // Errors ⅛ and −1.
    assert_eq!(loss, 65.0 / 128.0);
    assert_eq!(gradient, [2.25, -0.5, -3.875, 1.0, -1.75, 0.5, -5.125, -4.25, -0.875]);
    assert_eq!(trainer.loss(&network, &batch), loss);
}

#[test]
fn the_selected_output_has_the_loss_and_gradient_worked_out_in_fractions() {
    // h = max(0, 2x), f = (h, 2h + ½, ¼ − h): at x = 1 with action 1 f₁ = 9/2 against 4; at ½ with action 2 f₂ = −¾ against ¼.
    let network = Network::from_values(vec![1, 1, 3], vec![2.0, 0.0, 1.0, 2.0, -1.0, 0.0, 0.5, 0.25]).unwrap();
    let batch = Batch::new(1, 3, examples(&[1.0, 0.5], &[4.0, 0.25], Loss::SelectedOutput(&[1, 2])), Rows::All);
    let mut trainer = Trainer::default();
    let (loss, gradient) = trainer.gradient(&network, &batch);
    assert_eq!(loss, 5.0 / 8.0);
    assert_eq!(gradient, [1.5, 2.0, 0.0, 1.0, -1.0, 0.0, 0.5, -1.0]);
}

#[test]
fn the_rectifier_has_slope_zero_at_zero() {
    let network = Network::from_values(vec![1, 1, 1], vec![1.0, 0.0, 1.0, 0.0]).unwrap();
    let batch = Batch::new(1, 1, examples(&[0.0], &[1.0], Loss::Squared), Rows::All);
    assert_eq!(Trainer::default().gradient(&network, &batch).1, [0.0, 0.0, 0.0, -2.0]);
}

#[test]
fn an_empty_batch_has_no_loss() {
    let network = Network::new(&[2, 3, 1], &mut Pcg64::seed_from_u64(1));
    let batch = Batch::new(2, 1, examples(&[], &[], Loss::Squared), Rows::All);
    let mut trainer = Trainer::default();
    assert!(trainer.loss(&network, &batch).is_nan());
    assert!(trainer.gradient(&network, &batch).1.iter().all(|g| *g == 0.0));
}

#[test]
#[should_panic(expected = "inputs and outputs of the batch")]
fn a_batch_for_another_network_is_refused() {
    let network = Network::new(&[2, 3, 1], &mut Pcg64::seed_from_u64(1));
    Trainer::default().loss(&network, &Batch::new(1, 1, examples(&[], &[], Loss::Squared), Rows::All));
}

/// A random network, rows and actions.
fn draw(widths: &[usize], n: usize, seed: u64) -> (Network, Vec<f64>, Vec<f64>, Vec<u32>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let network = Network::new(widths, &mut rng);
    let outputs = network.outputs();
    let inputs = (0..n * widths[0]).map(|_| rng.random_range(-1.5..1.5)).collect();
    let targets = (0..n * outputs).map(|_| rng.random_range(-1.0..1.0)).collect();
    let actions = (0..n).map(|_| rng.random_range(0..outputs as u32)).collect();
    (network, inputs, targets, actions)
}

/// The gradient against central differences. A parameter whose two one-sided differences disagree sits near a kink, where
/// the loss has no derivative to compare with; the answer is the share of such parameters.
fn share_near_kinks(network: &Network, batch: &Batch) -> f64 {
    let mut trainer = Trainer::default();
    let (loss, gradient) = trainer.gradient(network, batch);
    let gradient = gradient.to_vec();
    let mut kinks = 0;
    for (i, &g) in gradient.iter().enumerate() {
        let mut at = |h: f64| {
            let mut values = network.values().to_vec();
            values[i] += h;
            let moved = Network::from_values(network.widths().to_vec(), values).unwrap();
            trainer.loss(&moved, batch)
        };
        let (up, half_up, half_down, down) =
            (at(DIFFERENCE), at(DIFFERENCE / 2.0), at(-DIFFERENCE / 2.0), at(-DIFFERENCE));
        // A quadratic through three points meets the other two.
        let curved = up - 2.0 * loss + down - 4.0 * (half_up - 2.0 * loss + half_down);
        let skewed = (up - down) - 2.0 * (half_up - half_down);
        if curved.abs().max(skewed.abs()) > DIFFERENCE_ERROR * DIFFERENCE {
            kinks += 1;
            continue;
        }
        let difference = (up - down) / (2.0 * DIFFERENCE);
        assert!((difference - g).abs() <= DIFFERENCE_ERROR, "parameter {i}: {g} against {difference}");
    }
    kinks as f64 / gradient.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_gradient_is_that_of_finite_differences(
        widths in prop::collection::vec(1usize..11, 2..5), n in 1usize..140, seed: u64, selected: bool,
    ) {
        let (network, inputs, targets, actions) = draw(&widths, n, seed);
        let (p, q) = (network.inputs(), network.outputs());
        let examples = if selected {
            examples(&inputs, &targets[..n], Loss::SelectedOutput(&actions))
        } else {
            examples(&inputs, &targets, Loss::Squared)
        };
        share_near_kinks(&network, &Batch::new(p, q, examples, Rows::All));
    }

    #[test]
    fn the_loss_is_the_mean_of_squared_errors_of_predictions(
        widths in prop::collection::vec(1usize..11, 2..5), n in 1usize..140, seed: u64,
    ) {
        let (network, inputs, targets, actions) = draw(&widths, n, seed);
        let (p, q) = (network.inputs(), network.outputs());
        let mut out = vec![0.0; n * q];
        network.predict(&inputs, &mut out, &mut Workspace::default());
        let mut trainer = Trainer::default();
        let square = |f: f64, y: f64| (f - y) * (f - y);
        let all = out.iter().zip(&targets).map(|(&f, &y)| square(f, y)).sum::<f64>() / (n * q) as f64;
        let selected = (0..n).map(|r| square(out[r * q + actions[r] as usize], targets[r])).sum::<f64>() / n as f64;
        let loss = trainer.loss(&network, &Batch::new(p, q, examples(&inputs, &targets, Loss::Squared), Rows::All));
        // Sums of positive numbers, in another order: a rounding for each at most.
        prop_assert!((loss - all).abs() <= all * (n * q + 8) as f64 * f64::EPSILON);
        let taken = examples(&inputs, &targets[..n], Loss::SelectedOutput(&actions));
        let loss = trainer.loss(&network, &Batch::new(p, q, taken, Rows::All));
        prop_assert!((loss - selected).abs() <= selected * (n + 8) as f64 * f64::EPSILON);
    }
}

#[test]
fn the_gradient_of_the_networks_in_use_is_that_of_finite_differences() {
    for widths in [&[4, 32, 2][..], &[3, 32, 32, 1], &[2, 64, 64, 3]] {
        let (network, inputs, targets, _) = draw(widths, 67, 13);
        let (p, q) = (network.inputs(), network.outputs());
        let share =
            share_near_kinks(&network, &Batch::new(p, q, examples(&inputs, &targets, Loss::Squared), Rows::All));
        assert!(share < 0.3, "too few parameters were compared in {widths:?}: {share} of them are near kinks");
    }
}

#[test]
fn a_trainer_that_has_served_another_network_is_as_good_as_new() {
    let mut used = Trainer::default();
    for widths in [&[3, 9, 8, 2][..], &[1, 4, 1], &[2, 12, 3, 5]] {
        let (network, inputs, targets, _) = draw(widths, 70, 2);
        let batch =
            Batch::new(network.inputs(), network.outputs(), examples(&inputs, &targets, Loss::Squared), Rows::All);
        assert_eq!(used.gradient(&network, &batch), Trainer::default().gradient(&network, &batch));
    }
}

/// What PyTorch did; see `tests/fixtures/network/README.md`.
#[derive(Deserialize)]
struct Fixture {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    widths: Vec<usize>,
    learning_rate: f64,
    inputs: Vec<f64>,
    targets: Vec<f64>,
    actions: Option<Vec<u32>>,
    start: Vec<f64>,
    gradient: Vec<f64>,
    losses: Vec<f64>,
    end: Vec<f64>,
}

#[test]
fn losses_gradients_and_steps_are_those_of_pytorch() {
    let text = include_str!("../../tests/fixtures/network/pytorch.json");
    let fixture: Fixture = serde_json::from_str(text).unwrap();
    assert_eq!(fixture.cases.len(), 2);
    for case in fixture.cases {
        let mut network = Network::from_values(case.widths, case.start).unwrap();
        let loss = case.actions.as_deref().map_or(Loss::Squared, Loss::SelectedOutput);
        let examples = examples(&case.inputs, &case.targets, loss);
        let batch = Batch::new(network.inputs(), network.outputs(), examples, Rows::All);
        let mut trainer = Trainer::default();
        let close = |ours: f64, theirs: f64, error: f64| assert!((ours - theirs).abs() <= error, "{ours} {theirs}");
        for (&ours, &theirs) in trainer.gradient(&network, &batch).1.iter().zip(&case.gradient) {
            close(ours, theirs, 100.0 * f64::EPSILON);
        }
        let mut adam = Adam::new(case.learning_rate, network.parameters());
        // Adam divides by the size of the gradient: roundings of a small one grow, and then over the steps.
        let error = 1e5 * f64::EPSILON;
        for &theirs in &case.losses {
            close(trainer.step(&mut network, &mut adam, &batch), theirs, error);
        }
        for (&ours, &theirs) in network.values().iter().zip(&case.end) {
            close(ours, theirs, error);
        }
    }
}
