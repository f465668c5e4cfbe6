use super::super::Workspace;
use super::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// f(x) = w x + b with both 0. At x = 0 only b learns, and its training can be followed by hand.
fn line() -> Network {
    Network::from_values(vec![1, 1], vec![0.0, 0.0]).unwrap()
}

/// The biases after each epoch of one step of Adam each towards the target.
fn biases(learning_rate: f64, target: f64, epochs: usize) -> Vec<f64> {
    let (mut b, mut m, mut v) = (0.0f64, 0.0, 0.0);
    let step = |t: usize| {
        let g = 2.0 * (b - target);
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        let correct = |power: f64| 1.0 - power.powi(t as i32);
        b -= learning_rate * (m / correct(0.9)) / ((v / correct(0.999)).sqrt() + 1e-8);
        b
    };
    (1..=epochs).map(step).collect()
}

/// Row 0 is trained on, with target 1; row 1 is held out, with target `held_out`.
fn follow(held_out: f64, settings: &Training) -> (Network, TrainingReport) {
    let mut network = line();
    let targets = [1.0, held_out];
    let examples = Examples { inputs: &[0.0, 0.0], targets: &targets, loss: Loss::Squared };
    let report = train_split(&mut network, examples, &[0], &[1], settings, &mut Pcg64::seed_from_u64(1));
    (network, report)
}

const SHORT: Training = Training {
    epochs_max: 200,
    batch: 4,
    learning_rate: 0.02,
    validation_share: 0.2,
    patience: 5,
    min_improvement: 0.0,
};

#[test]
fn training_stops_when_patience_ends_and_keeps_the_best_weights() {
    // The bias climbs to 1 and passes 0.3 on its way: the held-out loss falls, then rises.
    let path = biases(SHORT.learning_rate, 1.0, 60);
    let losses: Vec<f64> = path.iter().map(|b| (b - 0.3) * (b - 0.3)).collect();
    let best = (0..60).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap();
    let (network, report) = follow(0.3, &SHORT);
    assert!((5..55).contains(&best));
    assert_eq!(report.outcome, TrainingOutcome::EarlyStopped { epoch: best + 1 + SHORT.patience });
    assert_eq!(report.best_epoch, best + 1);
    // Two ways to write Adam, over some twenty steps.
    let error = 1000.0 * f64::EPSILON;
    assert!((network.values()[1] - path[best]).abs() <= error);
    assert!((report.validation_loss.unwrap() - losses[best]).abs() <= error);
    assert!((report.training_loss - (path[best] - 1.0) * (path[best] - 1.0)).abs() <= error);
}

#[test]
fn an_epoch_counts_only_when_it_improves_by_more_than_asked() {
    let settings = Training { min_improvement: 0.05, patience: 3, ..SHORT };
    let losses: Vec<f64> = biases(SHORT.learning_rate, 1.0, 60).iter().map(|b| (b - 0.3) * (b - 0.3)).collect();
    let (mut last, mut waited, mut stop) = (f64::INFINITY, 0, 0);
    while waited < 3 {
        if losses[stop] < last - 0.05 {
            (last, waited) = (losses[stop], 0);
        } else {
            waited += 1;
        }
        stop += 1;
    }
    let (_, report) = follow(0.3, &settings);
    assert_eq!(report.outcome, TrainingOutcome::EarlyStopped { epoch: stop });
    // Small improvements do not count, and their weights are kept all the same.
    assert_eq!(report.best_epoch, stop);
    assert!(stop < 15);
}

#[test]
fn an_improvement_of_exactly_what_is_asked_is_none() {
    // Nothing to learn: the loss is 0 after every epoch, and an epoch improves on the last by exactly 0.
    let examples = Examples { inputs: &[0.0, 0.0], targets: &[0.0, 0.0], loss: Loss::Squared };
    for (min_improvement, outcome) in [
        (0.0, TrainingOutcome::EarlyStopped { epoch: 6 }),
        (0.01, TrainingOutcome::EarlyStopped { epoch: 6 }),
        (-0.01, TrainingOutcome::EpochLimit),
    ] {
        let settings = Training { min_improvement, epochs_max: 20, ..SHORT };
        let report = train_split(&mut line(), examples, &[0], &[1], &settings, &mut Pcg64::seed_from_u64(1));
        assert_eq!((report.outcome, report.best_epoch), (outcome, 1));
    }
}

#[test]
fn all_epochs_are_used_when_the_loss_keeps_falling() {
    let (network, report) = follow(1.0, &Training { epochs_max: 7, ..SHORT });
    assert_eq!((report.outcome, report.best_epoch), (TrainingOutcome::EpochLimit, 7));
    assert!((network.values()[1] - biases(SHORT.learning_rate, 1.0, 7)[6]).abs() <= 100.0 * f64::EPSILON);
    let (network, report) = follow(1.0, &Training { epochs_max: 0, ..SHORT });
    assert_eq!((report.outcome, report.best_epoch, network), (TrainingOutcome::EpochLimit, 0, line()));
}

#[test]
fn an_epoch_takes_a_step_on_each_mini_batch() {
    // Ten equal rows in batches of four: three steps an epoch.
    let examples = Examples { inputs: &[0.0; 10], targets: &[1.0; 10], loss: Loss::Squared };
    let rows: Vec<usize> = (0..10).collect();
    let mut network = line();
    let settings = Training { epochs_max: 2, ..SHORT };
    let report = train_split(&mut network, examples, &rows, &[], &settings, &mut Pcg64::seed_from_u64(1));
    let b = biases(SHORT.learning_rate, 1.0, 6)[5];
    assert!((network.values()[1] - b).abs() <= 100.0 * f64::EPSILON);
    // With nothing held out the training rows judge.
    assert_eq!((report.validation_loss, report.best_epoch), (None, 2));
    assert!((report.training_loss - (b - 1.0) * (b - 1.0)).abs() <= 100.0 * f64::EPSILON);
}

#[test]
fn a_loss_that_leaves_the_numbers_is_a_value_and_the_weights_stay() {
    // The error of the training row, and then only of the row held out, is too large to be squared.
    for targets in [[1e200, 0.0], [0.0, 1e200]] {
        let mut network = line();
        let examples = Examples { inputs: &[0.0, 0.0], targets: &targets, loss: Loss::Squared };
        let report = train_split(&mut network, examples, &[0], &[1], &SHORT, &mut Pcg64::seed_from_u64(1));
        assert_eq!((report.outcome, report.best_epoch), (TrainingOutcome::Diverged { epoch: 1 }, 0));
        assert_eq!(network, line());
    }
}

/// Rows of a smooth function of two numbers.
fn surface(n: usize, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let inputs: Vec<f64> = (0..2 * n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let targets = inputs.chunks(2).map(|x| x[0] * x[0] - 0.5 * x[1] + x[0] * x[1]).collect();
    (inputs, targets)
}

fn fit(seed: u64) -> (Network, TrainingReport) {
    let (inputs, targets) = surface(600, 8);
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut network = Network::new(&[2, 16, 16, 1], &mut rng);
    let settings = Training { epochs_max: 150, batch: 32, min_improvement: 0.0, patience: 30, ..Training::default() };
    let report = train(&mut network, &inputs, &targets, &settings, &mut rng);
    (network, report)
}

#[test]
fn training_recovers_a_known_function() {
    let (network, report) = fit(4);
    let (inputs, targets) = surface(200, 9);
    let mut out = vec![0.0; 200];
    network.predict(&inputs, &mut out, &mut Workspace::default());
    let fresh = out.iter().zip(&targets).map(|(f, y)| (f - y) * (f - y)).sum::<f64>() / 200.0;
    // The variance of the targets is about 0.29.
    assert!(
        fresh < 0.003 && report.training_loss < 0.003 && report.validation_loss.unwrap() < 0.003,
        "{report:?} {fresh}"
    );
}

#[test]
fn the_same_seed_gives_the_same_digits_on_any_thread() {
    let here = fit(4);
    let there: Vec<_> = (0..2).map(|_| std::thread::spawn(|| fit(4))).map(|t| t.join().unwrap()).collect();
    assert!(there.iter().all(|run| *run == here));
    assert_ne!(fit(5).0, here.0);
}

#[test]
fn the_digits_of_a_training_are_pinned() {
    // Every operation is rounded as IEEE 754 says, in an order that shapes alone decide: no machine may differ.
    let report = fit(4).1;
    assert_eq!((report.training_loss, report.validation_loss), (0.00010587663709416139, Some(0.00012256713087517321)));
}

#[test]
fn the_share_held_out_is_rounded_and_leaves_a_row_to_train_on() {
    // Nothing is trained: the two losses are means of squared targets, and tell how many rows each is over.
    let held_out = |n: usize, validation_share: f64| {
        let targets: Vec<f64> = (0..n).map(|i| f64::from(1u32 << i)).collect();
        let settings = Training { epochs_max: 0, validation_share, ..SHORT };
        let report = train(&mut line(), &vec![0.0; n], &targets, &settings, &mut Pcg64::seed_from_u64(1));
        let all: f64 = targets.iter().map(|y| y * y).sum();
        // Σ y² = k · validation + (n − k) · training is linear in k, and the two losses differ.
        (0..n).find(|&k| {
            let validation = report.validation_loss.unwrap_or(0.0);
            (k as f64 * validation + (n - k) as f64 * report.training_loss - all).abs() < 1e-9 * all
                && report.validation_loss.is_some() == (k > 0)
        })
    };
    assert_eq!(held_out(10, 0.2), Some(2));
    assert_eq!(held_out(9, 0.3), Some(3));
    assert_eq!(held_out(7, 0.2), Some(1));
    assert_eq!(held_out(2, 0.2), Some(0));
    assert_eq!(held_out(5, 0.99), Some(4));
    assert_eq!(held_out(1, 0.9), Some(0));
    assert_eq!(held_out(4, 0.0), Some(0));
}

#[test]
fn settings_out_of_range_are_refused_with_their_values() {
    assert_eq!(Training::default().check(), Ok(()));
    assert_eq!(Training { batch: 0, ..SHORT }.check(), Err(TrainingError::EmptyBatch));
    assert_eq!(Training { patience: 0, ..SHORT }.check(), Err(TrainingError::NoPatience));
    for bad in [0.0, -0.1, f64::INFINITY] {
        assert_eq!(Training { learning_rate: bad, ..SHORT }.check(), Err(TrainingError::LearningRate(bad)));
    }
    assert!(Training { learning_rate: f64::NAN, ..SHORT }.check().is_err());
    for bad in [-0.1, 1.0] {
        assert_eq!(Training { validation_share: bad, ..SHORT }.check(), Err(TrainingError::ValidationShare(bad)));
    }
    assert_eq!(Training { min_improvement: f64::NAN, ..SHORT }.check(), Err(TrainingError::MinImprovement));
}

#[test]
fn the_default_is_that_of_the_source_document() {
    let Training { epochs_max, batch, learning_rate, validation_share, patience, min_improvement } =
        Training::default();
    assert_eq!((epochs_max, batch, patience), (1000, 512, 10));
    assert_eq!((learning_rate, validation_share, min_improvement), (0.005, 0.2, 0.01));
}

#[test]
#[should_panic(expected = "patience is at least one epoch")]
fn train_refuses_bad_settings() {
    train(&mut line(), &[0.0], &[0.0], &Training { patience: 0, ..SHORT }, &mut Pcg64::seed_from_u64(1));
}

#[test]
#[should_panic(expected = "there is no row to train on")]
fn train_refuses_no_rows() {
    train(&mut line(), &[], &[], &SHORT, &mut Pcg64::seed_from_u64(1));
}

#[test]
#[should_panic(expected = "a mini-batch has at least one row")]
fn a_split_refuses_bad_settings() {
    let examples = Examples { inputs: &[0.0], targets: &[0.0], loss: Loss::Squared };
    train_split(&mut line(), examples, &[0], &[], &Training { batch: 0, ..SHORT }, &mut Pcg64::seed_from_u64(1));
}

#[test]
#[should_panic(expected = "there is no row to train on")]
fn a_split_refuses_no_training_rows() {
    let examples = Examples { inputs: &[0.0], targets: &[0.0], loss: Loss::Squared };
    train_split(&mut line(), examples, &[], &[0], &SHORT, &mut Pcg64::seed_from_u64(1));
}

#[test]
fn gradient_steps_are_steps_of_adam_on_all_rows() {
    let examples = Examples { inputs: &[0.0; 3], targets: &[1.0; 3], loss: Loss::SelectedOutput(&[0; 3]) };
    let (mut network, mut adam, mut trainer) = (line(), Adam::new(0.1, 2), Trainer::default());
    let path = biases(0.1, 1.0, 5);
    let outcome = gradient_steps(&mut network, &mut adam, examples, 3, &mut trainer);
    let StepsOutcome::Finished { loss } = outcome else { panic!("{outcome:?}") };
    assert!((loss - (path[2] - 1.0) * (path[2] - 1.0)).abs() <= 100.0 * f64::EPSILON);
    assert!((network.values()[1] - path[2]).abs() <= 100.0 * f64::EPSILON);
    // The optimiser remembers where it was.
    gradient_steps(&mut network, &mut adam, examples, 2, &mut trainer);
    assert!((network.values()[1] - path[4]).abs() <= 100.0 * f64::EPSILON);
}

#[test]
fn gradient_steps_that_diverge_leave_everything_as_it_was() {
    let at = |target: f64, learning_rate: f64, steps: usize| {
        let (mut network, mut adam) = (line(), Adam::new(learning_rate, 2));
        let examples = Examples { inputs: &[0.0], targets: &[target], loss: Loss::Squared };
        let outcome = gradient_steps(&mut network, &mut adam, examples, steps, &mut Trainer::default());
        let as_it_was = (network, adam) == (line(), Adam::new(learning_rate, 2));
        (outcome, as_it_was)
    };
    assert_eq!(at(1e200, 0.1, 5), (StepsOutcome::Diverged { step: 0 }, true));
    assert_eq!(at(1.0, 1e200, 5), (StepsOutcome::Diverged { step: 1 }, true));
    assert_eq!(at(1.0, 1e200, 1), (StepsOutcome::Diverged { step: 1 }, true));
    assert_eq!(at(1.0, 0.1, 0), (StepsOutcome::Finished { loss: 1.0 }, true));
}
