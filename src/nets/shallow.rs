//! Many steps of a net with one hidden layer whose loss looks at one output of each row: the Q nets of supplement F.1.
//!
//! Such a net is small: what costs is moving numbers, not multiplying them. So rows are sorted by the output they look at, and with
//!
//! ```text
//! eᵣ = f_a(xᵣ) − yᵣ,   Gⱼₐ = Σᵣ 1{hⱼᵣ > 0} eᵣ,   Gⱼₐₖ = Σᵣ 1{hⱼᵣ > 0} eᵣ xₖᵣ     over the rows that look at output a,
//! ∂L/∂wₖⱼ ∝ Σₐ vⱼₐ Gⱼₐₖ,   ∂L/∂bⱼ ∝ Σₐ vⱼₐ Gⱼₐ,   ∂L/∂vⱼₐ ∝ bⱼ Gⱼₐ + Σₖ wₖⱼ Gⱼₐₖ,
//! ```
//! because hⱼ = bⱼ + Σₖ wₖⱼ xₖ where it is positive: one output a row instead of all of them, and neither the pass back nor the
//! products with hidden values are left to compute.
//!
//! # Precision
//! Rows are in single precision, as the source document's are; sums of at most [`FOLDED`] rows are folded into double precision,
//! in which parameters, optimiser and the loss that is reported are kept. An order of operations fixed by shapes alone:
//! the digits are the same on every machine and any number of threads.

use super::{Adam, Network};
use crate::kernel::numeric::octets::{OCTET, Octet, OctetWork, dispatch_octets};

/// Rows in a block: what the hidden layer makes of them stays in the first-level cache.
const ROWS: usize = 128;

/// Octets in a block.
const PARTS: usize = ROWS / OCTET;

/// Octets that go through the hidden layer together.
const TOGETHER: usize = 4;

/// Rows whose sums are kept in single precision, at most.
const FOLDED: usize = 16 * ROWS;

/// The most inputs for which this is compiled.
pub(super) const INPUTS_MOST: usize = 6;

type Column = [[f32; OCTET]; PARTS];

/// Rows that look at one output.
struct Block<const D: usize> {
    inputs: [Column; D],
    target: Column,
    /// 1; 0 in rows that fill up the block.
    look: Column,
}

/// A hidden unit, as one output sees it.
struct Unit<const D: usize> {
    weights: [f32; D],
    bias: f32,
    /// vⱼₐ.
    outgoing: f32,
}

/// Gⱼₐ and Gⱼₐₖ of a hidden unit, eight partial sums each.
#[derive(Clone)]
struct Sums<const D: usize> {
    bias: [f32; OCTET],
    weights: [[f32; OCTET]; D],
}

/// Takes so many steps on all rows; answers the number of the step at which the loss was not finite, from 0.
///
/// # Panics
/// If the network has not one hidden layer, more than [`INPUTS_MOST`] inputs, or an action is not one of its outputs.
pub(super) fn steps(
    network: &mut Network,
    adam: &mut Adam,
    (inputs, targets, actions): (&[f64], &[f64], &[u32]),
    steps: usize,
) -> Option<usize> {
    match network.inputs() {
        1 => Shallow::<1>::new(network, inputs, targets, actions).steps(network, adam, steps),
        2 => Shallow::<2>::new(network, inputs, targets, actions).steps(network, adam, steps),
        3 => Shallow::<3>::new(network, inputs, targets, actions).steps(network, adam, steps),
        4 => Shallow::<4>::new(network, inputs, targets, actions).steps(network, adam, steps),
        5 => Shallow::<5>::new(network, inputs, targets, actions).steps(network, adam, steps),
        6 => Shallow::<6>::new(network, inputs, targets, actions).steps(network, adam, steps),
        more => panic!("{more} inputs, beyond {INPUTS_MOST}"),
    }
}

/// The rows, packed by output, and the room that steps need.
struct Shallow<const D: usize> {
    rows: usize,
    hidden: usize,
    /// For each output, the blocks of the rows that look at it.
    blocks: Vec<Vec<Block<D>>>,
    units: Vec<Unit<D>>,
    /// The hidden values of a block, unit after unit.
    values: Vec<Column>,
    sums: Vec<Sums<D>>,
    gradient: Vec<f64>,
}

impl<const D: usize> Shallow<D> {
    fn new(network: &Network, inputs: &[f64], targets: &[f64], actions: &[u32]) -> Self {
        let &[d, hidden, outputs] = network.widths() else { panic!("{:?} has not one hidden layer", network.widths()) };
        assert_eq!((inputs.len(), targets.len()), (actions.len() * d, actions.len()), "inputs and targets of each row");
        let zero = [[0.0; OCTET]; PARTS];
        let blocks = (0..outputs).map(|output| {
            let of_output: Vec<usize> = (0..actions.len()).filter(|&r| actions[r] as usize == output).collect();
            let pack = |rows: &[usize]| {
                let mut block = Block { inputs: [zero; D], target: zero, look: zero };
                for (at, &row) in rows.iter().enumerate() {
                    let (part, lane) = (at / OCTET, at % OCTET);
                    for (column, x) in block.inputs.iter_mut().zip(&inputs[row * D..(row + 1) * D]) {
                        column[part][lane] = *x as f32;
                    }
                    block.target[part][lane] = targets[row] as f32;
                    block.look[part][lane] = 1.0;
                }
                block
            };
            of_output.chunks(ROWS).map(pack).collect()
        });
        let blocks: Vec<Vec<Block<D>>> = blocks.collect();
        assert!(actions.iter().all(|&a| (a as usize) < outputs), "an action is not one of {outputs} outputs");
        let none = Sums { bias: [0.0; OCTET], weights: [[0.0; OCTET]; D] };
        Self {
            rows: actions.len(),
            hidden,
            blocks,
            units: vec![],
            values: vec![zero; hidden],
            sums: vec![none; hidden],
            gradient: vec![],
        }
    }

    fn steps(mut self, network: &mut Network, adam: &mut Adam, steps: usize) -> Option<usize> {
        (0..steps).find(|_| {
            let loss = self.gradient(network);
            adam.step(network.values_mut(), &self.gradient);
            !loss.is_finite()
        })
    }

    /// The loss; its gradient, in the order of [`Network::values`], into `self.gradient`.
    fn gradient(&mut self, network: &Network) -> f64 {
        let (hidden, outputs) = (self.hidden, self.blocks.len());
        self.gradient.clear();
        self.gradient.resize(network.parameters(), 0.0);
        let (slope, mut loss) = (2.0 / self.rows as f64, 0.0);
        for output in 0..outputs {
            let (lower, upper) = network.values().split_at((D + 1) * hidden);
            let unit = |j: usize| Unit {
                weights: std::array::from_fn(|k| lower[k * hidden + j] as f32),
                bias: lower[D * hidden + j] as f32,
                outgoing: upper[j * outputs + output] as f32,
            };
            self.units.clear();
            self.units.extend((0..hidden).map(unit));
            let bias = upper[hidden * outputs + output] as f32;
            for start in (0..self.blocks[output].len()).step_by(FOLDED / ROWS) {
                for sums in &mut self.sums {
                    *sums = Sums { bias: [0.0; OCTET], weights: [[0.0; OCTET]; D] };
                }
                let end = (start + FOLDED / ROWS).min(self.blocks[output].len());
                let [squares, errors] = dispatch_octets(Pass {
                    units: &self.units,
                    bias,
                    blocks: &self.blocks[output][start..end],
                    values: &mut self.values,
                    sums: &mut self.sums,
                });
                loss += squares;
                self.gradient[(D + 1) * hidden + hidden * outputs + output] += slope * errors;
                self.add(output, slope);
            }
        }
        loss / self.rows as f64
    }

    /// Adds what the sums say of one output to the gradient.
    fn add(&mut self, output: usize, slope: f64) {
        let (hidden, outputs) = (self.hidden, self.blocks.len());
        let (lower, upper) = self.gradient.split_at_mut((D + 1) * hidden);
        for (j, (unit, sums)) in self.units.iter().zip(&self.sums).enumerate() {
            let (v, active) = (f64::from(unit.outgoing), slope * fold(&sums.bias));
            lower[D * hidden + j] += v * active;
            let mut outgoing = f64::from(unit.bias) * active;
            for k in 0..D {
                let moment = slope * fold(&sums.weights[k]);
                lower[k * hidden + j] += v * moment;
                outgoing += f64::from(unit.weights[k]) * moment;
            }
            upper[j * outputs + output] += outgoing;
        }
    }
}

/// The sum of the eight.
fn fold(x: &[f32; OCTET]) -> f64 {
    x.iter().map(|x| f64::from(*x)).sum()
}

/// Some blocks of one output, compiled for the machine it runs on. Adds to the sums; answers Σ e² and Σ e.
struct Pass<'a, const D: usize> {
    units: &'a [Unit<D>],
    /// Of the output.
    bias: f32,
    blocks: &'a [Block<D>],
    values: &'a mut [Column],
    sums: &'a mut [Sums<D>],
}

impl<const D: usize> OctetWork for Pass<'_, D> {
    type Output = [f64; 2];

    #[inline(always)]
    fn run<O: Octet>(self, o: O) -> [f64; 2] {
        let mut totals = [o.splat(0.0); 2];
        let mut errors: Column = [[0.0; OCTET]; PARTS];
        for block in self.blocks {
            forward(o, self.units, self.bias, block, self.values, &mut errors, &mut totals);
            // As many units at a time as leave room in sixteen registers.
            if D <= 2 {
                backward::<O, D, 4>(o, block, &errors, self.values, self.sums);
            } else {
                backward::<O, D, 2>(o, block, &errors, self.values, self.sums);
            }
        }
        totals.map(|sums| fold(&o.store(sums)))
    }
}

/// Hidden values and errors of a block; Σ e² and Σ e are added to.
#[inline(always)]
fn forward<O: Octet, const D: usize>(
    o: O,
    units: &[Unit<D>],
    bias: f32,
    block: &Block<D>,
    values: &mut [Column],
    errors: &mut Column,
    totals: &mut [O::Vector; 2],
) {
    for part in (0..PARTS).step_by(TOGETHER) {
        let x: [[O::Vector; TOGETHER]; D] =
            std::array::from_fn(|k| std::array::from_fn(|r| o.load(&block.inputs[k][part + r])));
        let mut f = [o.splat(bias); TOGETHER];
        for (unit, values) in units.iter().zip(&mut *values) {
            let (b, v) = (o.splat(unit.bias), o.splat(unit.outgoing));
            let w: [O::Vector; D] = std::array::from_fn(|k| o.splat(unit.weights[k]));
            for r in 0..TOGETHER {
                let mut h = b;
                for k in 0..D {
                    h = o.mul_add(w[k], x[k][r], h);
                }
                let h = o.rectify(h);
                values[part + r] = o.store(h);
                f[r] = o.mul_add(v, h, f[r]);
            }
        }
        for r in 0..TOGETHER {
            let e = o.mul(o.load(&block.look[part + r]), o.sub(f[r], o.load(&block.target[part + r])));
            errors[part + r] = o.store(e);
            totals[0] = o.mul_add(e, e, totals[0]);
            totals[1] = o.add(totals[1], e);
        }
    }
}

/// Adds the block's errors to the sums of all units, J units at a time.
#[inline(always)]
fn backward<O: Octet, const D: usize, const J: usize>(
    o: O,
    block: &Block<D>,
    errors: &Column,
    values: &[Column],
    sums: &mut [Sums<D>],
) {
    let (values, last_values) = values.as_chunks::<J>();
    let (sums, last_sums) = sums.as_chunks_mut::<J>();
    for (values, sums) in values.iter().zip(sums) {
        gated(o, block, errors, values, sums);
    }
    for (values, sums) in last_values.iter().zip(last_sums) {
        gated(o, block, errors, std::array::from_ref(values), std::array::from_mut(sums));
    }
}

/// Gⱼₐ and Gⱼₐₖ of J units.
#[inline(always)]
fn gated<O: Octet, const D: usize, const J: usize>(
    o: O,
    block: &Block<D>,
    errors: &Column,
    values: &[Column; J],
    sums: &mut [Sums<D>; J],
) {
    let mut bias: [O::Vector; J] = std::array::from_fn(|j| o.load(&sums[j].bias));
    let mut weights: [[O::Vector; D]; J] =
        std::array::from_fn(|j| std::array::from_fn(|k| o.load(&sums[j].weights[k])));
    for part in 0..PARTS {
        let e = o.load(&errors[part]);
        let x: [O::Vector; D] = std::array::from_fn(|k| o.load(&block.inputs[k][part]));
        for j in 0..J {
            let e = o.gate(o.load(&values[j][part]), e);
            bias[j] = o.add(bias[j], e);
            for k in 0..D {
                weights[j][k] = o.mul_add(e, x[k], weights[j][k]);
            }
        }
    }
    for j in 0..J {
        sums[j] = Sums { bias: o.store(bias[j]), weights: std::array::from_fn(|k| o.store(weights[j][k])) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Batch, Examples, Loss, Rows, Trainer};
    use super::*;
    use crate::kernel::numeric::octets::Portable;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    struct Problem {
        network: Network,
        inputs: Vec<f64>,
        targets: Vec<f64>,
        actions: Vec<u32>,
    }

    /// The last output is looked at by every ninth row only, the one before it by none where there are three and more.
    fn problem(widths: [usize; 3], rows: usize, seed: u64) -> Problem {
        let mut rng = Pcg64::seed_from_u64(seed);
        let network = Network::new(&widths, &mut rng);
        let (last, rare) = (widths[2] as u32 - 1, (widths[2] as u32).saturating_sub(2).max(1));
        Problem {
            network,
            inputs: (0..rows * widths[0]).map(|_| rng.random_range(-2.0..1.5)).collect(),
            targets: (0..rows).map(|_| rng.random_range(-1.0..3.0)).collect(),
            actions: (0..rows).map(|r| if r % 9 == 4 { last } else { r as u32 % rare }).collect(),
        }
    }

    impl Problem {
        fn shallow<const D: usize>(&self) -> Shallow<D> {
            Shallow::new(&self.network, &self.inputs, &self.targets, &self.actions)
        }

        fn batch(&self) -> Batch {
            let loss = Loss::SelectedOutput(&self.actions);
            let examples = Examples { inputs: &self.inputs, targets: &self.targets, loss };
            Batch::new(self.network.inputs(), self.network.outputs(), examples, Rows::All)
        }

        /// Loss and gradient beside those in double precision.
        fn check<const D: usize>(&self) {
            let mut shallow = self.shallow::<D>();
            let loss = shallow.gradient(&self.network);
            let mut trainer = Trainer::default();
            let (exact, gradient) = trainer.gradient(&self.network, &self.batch());
            let widths = self.network.widths();
            // Terms below 20 in single precision, summed by the hundred before they are folded; the mean of them all.
            let error = 200.0 * f64::from(f32::EPSILON);
            assert!((loss - exact).abs() <= error, "{widths:?}: loss {loss} against {exact}");
            for (i, (g, exact)) in shallow.gradient.iter().zip(gradient).enumerate() {
                assert!((g - exact).abs() <= error, "{widths:?}, parameter {i}: {g} against {exact}");
            }
            let size = gradient.iter().fold(0.0f64, |m, g| m.max(g.abs()));
            assert!(size > 0.05, "{widths:?}: gradients of {size} would show nothing");
        }
    }

    #[test]
    fn loss_and_gradient_are_those_of_double_precision() {
        problem([1, 32, 2], 5000, 1).check::<1>();
        problem([2, 32, 2], 128, 2).check::<2>();
        problem([2, 7, 4], 1003, 3).check::<2>();
        problem([3, 5, 3], 17, 4).check::<3>();
        problem([4, 1, 1], 300, 5).check::<4>();
        problem([5, 9, 2], 700, 6).check::<5>();
        problem([6, 33, 5], 2 * FOLDED + 1, 7).check::<6>();
    }

    #[test]
    fn steps_go_where_those_of_double_precision_go() {
        for inputs in 1..=INPUTS_MOST {
            let problem = problem([inputs, 8, 3], 900, 20 + inputs as u64);
            let (mut single, mut double) = (problem.network.clone(), problem.network.clone());
            let parameters = single.parameters();
            let rows = (&problem.inputs[..], &problem.targets[..], &problem.actions[..]);
            assert_eq!(steps(&mut single, &mut Adam::new(0.01, parameters), rows, 60), None);
            let (batch, mut trainer, mut adam) = (problem.batch(), Trainer::default(), Adam::new(0.01, parameters));
            (0..60).for_each(|_| _ = trainer.step(&mut double, &mut adam, &batch));
            let [start, a, b] = [&problem.network, &single, &double].map(|net| trainer.loss(net, &batch));
            // 60 steps take a good part of the loss away, and both the same part of it.
            assert!(a < 0.9 * start && (a - b).abs() < 1e-3 * (start - b), "{inputs} inputs: {start}, {a} and {b}");
        }
    }

    #[test]
    fn vectors_of_this_machine_and_portable_ones_give_the_same_bits() {
        let problem = problem([3, 11, 2], 300, 31);
        let mut shallow = problem.shallow::<3>();
        shallow.gradient(&problem.network);
        // The units and sums of the last output are still there.
        let (sums, blocks) = (shallow.sums.clone(), shallow.blocks.pop().unwrap());
        let bias = problem.network.values()[problem.network.parameters() - 1] as f32;
        let mut again = vec![Sums { bias: [0.0; OCTET], weights: [[0.0; OCTET]; 3] }; 11];
        let values = &mut shallow.values;
        Pass { units: &shallow.units, bias, blocks: &blocks, values, sums: &mut again }.run(Portable);
        let bits = |sums: &[Sums<3>]| -> Vec<u32> {
            sums.iter().flat_map(|s| s.weights.iter().chain([&s.bias]).flatten().map(|x| x.to_bits())).collect()
        };
        assert_eq!(bits(&sums), bits(&again));
        assert!(sums.iter().any(|s| s.bias != [0.0; OCTET]));
    }

    #[test]
    fn the_step_at_which_the_loss_overflows_is_answered() {
        let mut problem = problem([2, 4, 2], 50, 40);
        problem.targets[30] = 1e30;
        let rows = (&problem.inputs[..], &problem.targets[..], &problem.actions[..]);
        let mut adam = Adam::new(0.1, problem.network.parameters());
        assert_eq!(steps(&mut problem.network.clone(), &mut adam, rows, 5), Some(0));
    }

    #[test]
    #[should_panic(expected = "not one of 2 outputs")]
    fn an_action_beyond_the_outputs_is_refused() {
        let mut problem = problem([1, 4, 2], 20, 41);
        problem.actions[7] = 2;
        problem.shallow::<1>();
    }
}
