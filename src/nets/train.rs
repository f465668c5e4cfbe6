//! Fitting a network: mini-batches with early stopping, and a fixed number of steps on all rows.

use super::shallow;
use super::{Adam, Batch, Examples, Loss, Network, Rows, Trainer};
use rand::Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

/// How a network is fitted by [`train`]. The default is supplement F.1 of the source document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Training {
    /// Training ends after so many epochs at the latest.
    pub epochs_max: usize,
    /// Rows in a mini-batch; the last of an epoch may be smaller.
    pub batch: usize,
    /// α of [`Adam`].
    pub learning_rate: f64,
    /// The share of rows held out to decide when to stop.
    pub validation_share: f64,
    /// Training stops when the validation loss has not improved in so many consecutive epochs.
    pub patience: usize,
    /// An epoch improves when its validation loss is below that of the last epoch that improved by *more* than this.
    /// It is in units of the loss: with standardised targets it is a share of their variance.
    pub min_improvement: f64,
}

/// Why settings are not usable.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrainingError {
    /// batch ≥ 1.
    #[error("a mini-batch has at least one row")]
    EmptyBatch,
    /// patience ≥ 1.
    #[error("patience is at least one epoch")]
    NoPatience,
    /// learning rate > 0, and finite.
    #[error("learning rate {0} is not a positive number")]
    LearningRate(f64),
    /// 0 ≤ validation share < 1.
    #[error("validation share {0} is outside [0, 1)")]
    ValidationShare(f64),
    /// The improvement asked for is a number.
    #[error("the smallest improvement is not a number")]
    MinImprovement,
}

/// How a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainingOutcome {
    /// The validation loss had not improved for `patience` epochs, the last of them `epoch`, counted from 1.
    EarlyStopped {
        /// The last epoch.
        epoch: usize,
    },
    /// All epochs were used.
    EpochLimit,
    /// The loss left the finite numbers in this epoch, counted from 1.
    Diverged {
        /// The epoch.
        epoch: usize,
    },
}

/// What a training came to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingReport {
    /// How it ended.
    pub outcome: TrainingOutcome,
    /// The epoch after which the network had the weights it has now; 0 when these are the weights it began with.
    pub best_epoch: usize,
    /// The loss of the network, as it is now, on the rows trained on.
    pub training_loss: f64,
    /// The loss of the network, as it is now, on the rows held out; none when no row was.
    pub validation_loss: Option<f64>,
}

/// How [`gradient_steps`] ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepsOutcome {
    /// All steps were taken.
    Finished {
        /// The loss after the last step.
        loss: f64,
    },
    /// The loss left the finite numbers.
    Diverged {
        /// How many steps had been taken when it was seen.
        step: usize,
    },
}

impl Default for Training {
    fn default() -> Self {
        Training {
            epochs_max: 1000,
            batch: 512,
            learning_rate: 0.005,
            validation_share: 0.2,
            patience: 10,
            min_improvement: 0.01,
        }
    }
}

impl Training {
    /// Whether the settings can be used. Ask before [`train`] where they come from outside.
    ///
    /// # Errors
    /// The first setting found out of its range.
    pub fn check(&self) -> Result<(), TrainingError> {
        if self.batch == 0 {
            return Err(TrainingError::EmptyBatch);
        }
        if self.patience == 0 {
            return Err(TrainingError::NoPatience);
        }
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(TrainingError::LearningRate(self.learning_rate));
        }
        if !(0.0..1.0).contains(&self.validation_share) {
            return Err(TrainingError::ValidationShare(self.validation_share));
        }
        if self.min_improvement.is_nan() {
            return Err(TrainingError::MinImprovement);
        }
        Ok(())
    }
}

/// Fits the network to targets by mean squared error; rows to hold out are drawn at random.
///
/// Of n rows, `validation_share` · n rounded to the nearest, and at most n − 1, are held out; see [`train_split`] for the rest.
///
/// # Panics
/// If [`Training::check`] refuses the settings, if there is no row, or if inputs and targets are not as many whole rows.
pub fn train(
    network: &mut Network,
    inputs: &[f64],
    targets: &[f64],
    settings: &Training,
    rng: &mut (impl Rng + ?Sized),
) -> TrainingReport {
    settings.check().unwrap_or_else(|error| panic!("{error}"));
    let n = inputs.len() / network.inputs();
    assert!(n > 0, "there is no row to train on");
    let mut rows: Vec<usize> = (0..n).collect();
    rows.shuffle(rng);
    let held_out = ((n as f64 * settings.validation_share).round() as usize).min(n - 1);
    let training = rows.split_off(held_out);
    let examples = Examples { inputs, targets, loss: Loss::Squared };
    train_split(network, examples, &training, &rows, settings, rng)
}

/// Fits the network on the rows `training`, and stops by its loss on the rows `validation`.
///
/// An epoch shuffles the training rows and takes one step of Adam on each mini-batch. After it the loss on the validation
/// rows is compared with that of the last epoch that improved. When `patience` consecutive epochs have not been better
/// than it by more than `min_improvement`, training stops. With no validation rows the loss on the training rows is used instead.
///
/// Whatever the outcome, the network is left with the weights of the epoch whose validation loss was lowest, however
/// small its lead: the source document does not say which weights it keeps, and those of the last epoch are by
/// construction no better. A training that diverges in its first epoch leaves the weights it began with.
///
/// # Panics
/// If [`Training::check`] refuses the settings, if there is no training row, if a row is not there, or if the examples are
/// not whole rows.
pub fn train_split(
    network: &mut Network,
    examples: Examples<'_>,
    training: &[usize],
    validation: &[usize],
    settings: &Training,
    rng: &mut (impl Rng + ?Sized),
) -> TrainingReport {
    settings.check().unwrap_or_else(|error| panic!("{error}"));
    assert!(!training.is_empty(), "there is no row to train on");
    let (p, q) = (network.inputs(), network.outputs());
    let judged = if validation.is_empty() { training } else { validation };
    let judged = Batch::new(p, q, examples, Rows::Listed(judged));
    let mut order = training.to_vec();
    let mut batch = Batch::default();
    let mut trainer = Trainer::default();
    let mut adam = Adam::new(settings.learning_rate, network.parameters());

    let mut best = network.clone();
    let mut best_epoch = 0;
    let mut lowest = f64::INFINITY;
    let mut last_improved = f64::INFINITY;
    let mut waited = 0;
    let mut outcome = TrainingOutcome::EpochLimit;
    for epoch in 1..=settings.epochs_max {
        order.shuffle(rng);
        let finite = order.chunks(settings.batch).all(|rows| {
            batch.pack(p, q, examples, Rows::Listed(rows));
            trainer.step(network, &mut adam, &batch).is_finite()
        });
        let loss = trainer.loss(network, &judged);
        if !(finite && loss.is_finite()) {
            outcome = TrainingOutcome::Diverged { epoch };
            break;
        }
        if loss < lowest {
            lowest = loss;
            best_epoch = epoch;
            best.clone_from(network);
        }
        if last_improved - loss > settings.min_improvement {
            last_improved = loss;
            waited = 0;
        } else {
            waited += 1;
            if waited == settings.patience {
                outcome = TrainingOutcome::EarlyStopped { epoch };
                break;
            }
        }
    }
    network.clone_from(&best);
    batch.pack(p, q, examples, Rows::Listed(training));
    let training_loss = trainer.loss(network, &batch);
    let validation_loss = (!validation.is_empty()).then(|| trainer.loss(network, &judged));
    TrainingReport { outcome, best_epoch, training_loss, validation_loss }
}

/// Takes a number of steps of Adam, each on all rows.
///
/// A net with one hidden layer and at most six inputs, one output of which is looked at in each row, goes through its rows in single
/// precision, as the source document's nets do: four times as fast; everything else is in double precision throughout.
///
/// Neural fitted Q iteration takes 500 in each iteration, at a learning rate of 0.1 (supplement F.1). A divergence is seen
/// at the step it happens; network and optimiser are then put back to where the call found them.
///
/// # Panics
/// If the examples are not whole rows, or the optimiser was made for another number of parameters.
pub fn gradient_steps(
    network: &mut Network,
    adam: &mut Adam,
    examples: Examples<'_>,
    steps: usize,
    trainer: &mut Trainer,
) -> StepsOutcome {
    let batch = Batch::new(network.inputs(), network.outputs(), examples, Rows::All);
    let before = (network.clone(), adam.clone());
    let broken = match examples.loss {
        Loss::SelectedOutput(actions) if network.widths().len() == 3 && network.inputs() <= shallow::INPUTS_MOST => {
            shallow::steps(network, adam, (examples.inputs, examples.targets, actions), steps)
        }
        _ => (0..steps).find(|_| !trainer.step(network, adam, &batch).is_finite()),
    };
    let loss = trainer.loss(network, &batch);
    match broken.or((!loss.is_finite()).then_some(steps)) {
        None => StepsOutcome::Finished { loss },
        Some(step) => {
            (*network, *adam) = before;
            StepsOutcome::Diverged { step }
        }
    }
}

#[cfg(test)]
mod tests;
