//! The loss, its gradient by the chain rule, and one step down it.

use super::adam::Adam;
use super::batch::{Batch, Block};
use super::block::{self, BLOCK, Column};
use super::mlp::Network;
use crate::kernel::numeric::lanes::{LANES, Quad, Work, dispatch};

/// Computes losses and gradients, and takes steps. Holds the room they need, which is allocated once.
#[derive(Debug, Clone, Default)]
pub struct Trainer {
    /// The values of all units of all layers above the input, layer after layer.
    units: Vec<Column>,
    /// ∂L/∂ of the units of the layer that the pass back has reached, before rectification, and of the layer below it.
    above: Vec<Column>,
    below: Vec<Column>,
    /// The transposed weights of all layers, one after another.
    transposed: Vec<f64>,
    gradient: Vec<f64>,
}

impl Trainer {
    /// The loss of the network on the batch. An empty batch has none: the answer is NaN.
    ///
    /// # Panics
    /// If the batch was packed for a network with other inputs or outputs.
    pub fn loss(&mut self, network: &Network, batch: &Batch) -> f64 {
        self.prepare(network, batch);
        dispatch(Pass { network, batch, trainer: self, backward: false })
    }

    /// The loss of the network on the batch, and its gradient in the order of [`Network::values`].
    ///
    /// # Panics
    /// If the batch was packed for a network with other inputs or outputs.
    pub fn gradient(&mut self, network: &Network, batch: &Batch) -> (f64, &[f64]) {
        self.prepare(network, batch);
        self.gradient.clear();
        self.gradient.resize(network.parameters(), 0.0);
        self.transpose(network);
        let loss = dispatch(Pass { network, batch, trainer: self, backward: true });
        (loss, &self.gradient)
    }

    /// One step of Adam on the loss of the batch. Answers the loss *before* the step.
    ///
    /// # Panics
    /// If the batch or the optimiser was made for a network of another shape.
    pub fn step(&mut self, network: &mut Network, adam: &mut Adam, batch: &Batch) -> f64 {
        let (loss, gradient) = self.gradient(network, batch);
        adam.step(network.values_mut(), gradient);
        loss
    }

    fn prepare(&mut self, network: &Network, batch: &Batch) {
        assert_eq!(
            (batch.inputs, batch.outputs),
            (network.inputs(), network.outputs()),
            "inputs and outputs of the batch"
        );
        let units: usize = network.widths()[1..].iter().sum();
        let widest = network.widths()[1..].iter().copied().max().unwrap_or(0);
        self.units.resize(units, [0.0; BLOCK]);
        if self.above.len() < widest {
            self.above.resize(widest, [0.0; BLOCK]);
            self.below.resize(widest, [0.0; BLOCK]);
        }
    }

    fn transpose(&mut self, network: &Network) {
        self.transposed.clear();
        for layer in network.layers() {
            let outputs = layer.biases.len();
            for j in 0..outputs {
                self.transposed.extend(layer.weights.iter().skip(j).step_by(outputs));
            }
        }
    }
}

/// A pass over all blocks of a batch, compiled for the machine it runs on. Answers the loss.
struct Pass<'a> {
    network: &'a Network,
    batch: &'a Batch,
    trainer: &'a mut Trainer,
    backward: bool,
}

impl Work for Pass<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) -> f64 {
        let compared = self.batch.compared as f64;
        let mut sum = 0.0;
        for block in self.batch.blocks() {
            forward(quad, self.network, &block, &mut self.trainer.units);
            let outputs = &self.trainer.units[self.trainer.units.len() - self.network.outputs()..];
            sum += compare(&block, outputs, 2.0 / compared, &mut self.trainer.above);
            if self.backward {
                backward(quad, self.network, &block, self.trainer);
            }
        }
        sum / compared
    }
}

/// All layers of a block, upwards.
#[inline(always)]
fn forward<Q: Quad>(quad: Q, network: &Network, block: &Block<'_>, units: &mut [Column]) {
    let mut done = 0;
    let mut width = 0;
    for layer in network.layers() {
        let next = layer.biases.len();
        let (before, after) = units.split_at_mut(done);
        let x = if done == 0 { block.inputs } else { &before[done - width..] };
        block::forward(quad, layer.weights, layer.biases, x, &mut after[..next], BLOCK, layer.hidden);
        done += next;
        width = next;
    }
}

/// Σ (f − y)² over what the loss looks at, and slope · (f − y), the gradient with respect to the outputs f.
#[inline(always)]
fn compare(block: &Block<'_>, outputs: &[Column], slope: f64, gradient: &mut [Column]) -> f64 {
    let mut sum = [0.0; LANES];
    for (((f, y), look), d) in outputs.iter().zip(block.targets).zip(block.looks).zip(gradient) {
        for part in 0..BLOCK / LANES {
            let f: &[f64; LANES] = &f.as_chunks().0[part];
            let y: &[f64; LANES] = &y.as_chunks().0[part];
            let look: &[f64; LANES] = &look.as_chunks().0[part];
            let d: &mut [f64; LANES] = &mut d.as_chunks_mut().0[part];
            for l in 0..LANES {
                let error = look[l] * (f[l] - y[l]);
                d[l] = slope * error;
                sum[l] = error.mul_add(error, sum[l]);
            }
        }
    }
    sum.iter().sum()
}

/// All layers of a block, downwards: adds the block's share to the gradient.
#[inline(always)]
fn backward<Q: Quad>(quad: Q, network: &Network, block: &Block<'_>, trainer: &mut Trainer) {
    let Trainer { units, above, below, transposed, gradient } = trainer;
    let widths = network.widths();
    let mut unit = units.len();
    let mut weight = transposed.len();
    let mut parameter = gradient.len();
    for l in (1..widths.len()).rev() {
        let (width, wide) = (widths[l - 1], widths[l]);
        unit -= wide;
        weight -= width * wide;
        parameter -= (width + 1) * wide;
        let (dw, db) = gradient[parameter..parameter + (width + 1) * wide].split_at_mut(width * wide);
        if l == 1 {
            block::weigh(quad, block.inputs, &above[..wide], block.rows, dw, db);
        } else {
            let h = &units[unit - width..unit];
            block::weigh(quad, h, &above[..wide], block.rows, dw, db);
            block::backward(quad, &transposed[weight..weight + width * wide], &above[..wide], h, &mut below[..width]);
            std::mem::swap(above, below);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Examples, Loss, Rows};
    use super::*;
    use crate::kernel::numeric::lanes::Portable;
    use rand::{RngExt, SeedableRng};

    #[test]
    fn vectors_of_this_machine_and_portable_ones_give_the_same_bits() {
        let mut rng = rand_pcg::Pcg64::seed_from_u64(21);
        for widths in [&[3, 7, 6, 2][..], &[1, 32, 1], &[5, 11, 3]] {
            let network = Network::new(widths, &mut rng);
            let (p, q) = (network.inputs(), network.outputs());
            let inputs: Vec<f64> = (0..150 * p).map(|_| rng.random_range(-2.0..2.0)).collect();
            let targets: Vec<f64> = (0..150 * q).map(|_| rng.random_range(-2.0..2.0)).collect();
            let examples = Examples { inputs: &inputs, targets: &targets, loss: Loss::Squared };
            let batch = Batch::new(p, q, examples, Rows::All);
            let mut trainer = Trainer::default();
            let (loss, gradient) = trainer.gradient(&network, &batch);
            let gradient = gradient.to_vec();
            trainer.gradient.fill(0.0);
            let portable =
                Pass { network: &network, batch: &batch, trainer: &mut trainer, backward: true }.run(Portable);
            assert_eq!((loss, gradient), (portable, trainer.gradient));
        }
    }
}
