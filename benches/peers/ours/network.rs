//! Steps of Adam on a net, in batches or on all rows.

use super::measure::clock::timed;
use super::tuples::numbers;
use counterfair::kernel::numeric::Stream;
use counterfair::nets::{Adam, Batch, Examples, Loss, Network, Rows, Trainer, Training, gradient_steps, train_split};
use serde::Deserialize;
use serde_json::{Value, json};
use std::error::Error;
use std::path::PathBuf;

/// Mean squared error on the `inputs` and `targets` in a folder, from the weights in `start`.
#[derive(Deserialize)]
pub struct Steps {
    folder: PathBuf,
    widths: Vec<usize>,
    learning_rate: f64,
    /// Rows in a mini-batch; all of them when there is none.
    batch: Option<usize>,
    /// Passes over the rows; steps when a step takes all of them.
    epochs: usize,
    repeat: usize,
}

impl Steps {
    pub fn answer(self) -> Result<Value, Box<dyn Error>> {
        let Self { folder, widths, learning_rate, batch, epochs, repeat } = self;
        let (inputs, targets) = (numbers(&folder, "inputs")?, numbers(&folder, "targets")?);
        let start = Network::from_values(widths, numbers(&folder, "start")?)?;
        let examples = Examples { inputs: &inputs, targets: &targets, loss: Loss::Squared };
        let rows: Vec<usize> = (0..inputs.len() / start.inputs()).collect();
        let (loss, time) = timed(repeat, || {
            let mut network = start.clone();
            match batch {
                None => {
                    let mut adam = Adam::new(learning_rate, network.parameters());
                    gradient_steps(&mut network, &mut adam, examples, epochs, &mut Trainer::default());
                    let all = Batch::new(network.inputs(), network.outputs(), examples, Rows::All);
                    Trainer::default().loss(&network, &all)
                }
                Some(batch) => {
                    let settings = Training {
                        epochs_max: epochs,
                        batch,
                        learning_rate,
                        patience: epochs + 1,
                        ..Training::default()
                    };
                    let mut rng = Stream::new(1).rng();
                    train_split(&mut network, examples, &rows, &rows[..1], &settings, &mut rng).training_loss
                }
            }
        });
        Ok(json!({"time": time, "loss": loss}))
    }
}
