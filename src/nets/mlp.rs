//! The network: its weights, its prediction, its file form.

use super::block::{self, BLOCK, Column};
use crate::kernel::numeric::lanes::{Quad, Work, dispatch};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

/// No layer is wider than this. It bounds what a file can make a reader allocate.
const WIDTH_LIMIT: usize = 1 << 16;

/// A multilayer perceptron: affine maps with max(0, ·) between them.
///
/// # Equation
/// ```text
/// h⁽⁰⁾ = x,   h⁽ˡ⁾ = max(0, W⁽ˡ⁾ᵀ h⁽ˡ⁻¹⁾ + b⁽ˡ⁾) for l = 1 … L − 1,   f(x) = W⁽ᴸ⁾ᵀ h⁽ᴸ⁻¹⁾ + b⁽ᴸ⁾
/// ```
/// where W⁽ˡ⁾ has one row for each unit of layer l − 1 and one column for each unit of layer l.
///
/// # Example
/// ```
/// use counterfair::nets::{Network, Workspace};
/// use rand::SeedableRng;
///
/// let network = Network::new(&[2, 64, 64, 1], &mut rand_pcg::Pcg64::seed_from_u64(7));
/// let mut out = [0.0; 3];
/// network.predict(&[0.1, 0.2, 0.3, 0.4, 0.5, 0.6], &mut out, &mut Workspace::default());
/// assert!(out.iter().all(|y| y.is_finite()));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Network {
    widths: Vec<usize>,
    /// Layer after layer: the weights, input by input (w_ij at i · outputs + j), then the biases.
    parameters: Vec<f64>,
}

/// What a file says a network is.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    widths: Vec<usize>,
    parameters: Vec<f64>,
}

/// Why widths and parameters are not a network.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum NetworkError {
    /// A network has an input layer and an output layer.
    #[error("a network has at least two layers, found {0}")]
    TooFewLayers(usize),
    /// A layer has between 1 and 65 536 units.
    #[error("layer {layer} has {width} units, outside 1..=65536")]
    Width {
        /// The layer, 0 for the input.
        layer: usize,
        /// Its width.
        width: usize,
    },
    /// The number of parameters is Σₗ (widthₗ₋₁ + 1) · widthₗ.
    #[error("layers of widths {widths:?} have {expected} parameters, found {found}")]
    ParameterCount {
        /// The widths given.
        widths: Vec<usize>,
        /// How many parameters these have.
        expected: u128,
        /// How many were given.
        found: usize,
    },
    /// Every parameter is finite.
    #[error("parameter {index} is {value}")]
    NonFinite {
        /// Where.
        index: usize,
        /// The value found.
        value: f64,
    },
}

/// The room a prediction works in: reused, it is allocated once.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    from: Vec<Column>,
    to: Vec<Column>,
}

/// One affine map, by reference.
#[derive(Clone, Copy)]
pub(super) struct Layer<'a> {
    pub(super) weights: &'a [f64],
    pub(super) biases: &'a [f64],
    /// Whether max(0, ·) follows.
    pub(super) hidden: bool,
}

impl<'a> Layer<'a> {
    fn new(parameters: &'a [f64], outputs: usize, hidden: bool) -> Self {
        let (weights, biases) = parameters.split_at(parameters.len() - outputs);
        Layer { weights, biases, hidden }
    }
}

impl Network {
    /// A network with layers of these widths, input first and output last, and random parameters.
    ///
    /// Weights and biases of a layer are drawn from U(−1/√d, 1/√d), where d is the number of its inputs, as PyTorch's
    /// `Linear` does by default. Draws are in the order of [`Network::values`].
    ///
    /// # Panics
    /// If there are fewer than two widths, or one is 0 or above 65 536.
    pub fn new(widths: &[usize], rng: &mut (impl Rng + ?Sized)) -> Self {
        let count = check_widths(widths).unwrap_or_else(|error| panic!("{error}"));
        let mut parameters = Vec::with_capacity(count as usize);
        for pair in widths.windows(2) {
            let bound = 1.0 / (pair[0] as f64).sqrt();
            parameters.extend((0..(pair[0] + 1) * pair[1]).map(|_| rng.random_range(-bound..bound)));
        }
        Network { widths: widths.to_vec(), parameters }
    }

    /// The network with these parameters, in the order of [`Network::values`].
    ///
    /// # Errors
    /// If the widths are not those of a network, or the parameters are too many, too few or not finite.
    pub fn from_values(widths: Vec<usize>, parameters: Vec<f64>) -> Result<Self, NetworkError> {
        let expected = check_widths(&widths)?;
        if expected != parameters.len() as u128 {
            return Err(NetworkError::ParameterCount { widths, expected, found: parameters.len() });
        }
        match parameters.iter().position(|p| !p.is_finite()) {
            Some(index) => Err(NetworkError::NonFinite { index, value: parameters[index] }),
            None => Ok(Network { widths, parameters }),
        }
    }

    /// The number of inputs.
    pub fn inputs(&self) -> usize {
        self.widths[0]
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.widths[self.widths.len() - 1]
    }

    /// The widths of all layers, input first.
    pub fn widths(&self) -> &[usize] {
        &self.widths
    }

    /// The number of weights and biases.
    pub fn parameters(&self) -> usize {
        self.parameters.len()
    }

    /// All parameters, layer after layer: the weights w_ij, input i after input i, each to all outputs j; then the biases.
    pub fn values(&self) -> &[f64] {
        &self.parameters
    }

    pub(super) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.parameters
    }

    /// The affine maps, first to last.
    pub(super) fn layers(&self) -> impl Iterator<Item = Layer<'_>> {
        self.widths.windows(2).scan(self.values(), |rest, pair| {
            let (here, above) = rest.split_at((pair[0] + 1) * pair[1]);
            *rest = above;
            Some(Layer::new(here, pair[1], !above.is_empty()))
        })
    }

    /// f(x) for each row x of `rows`, into `out`. Both are row-major.
    ///
    /// Nothing is allocated once the workspace has served a network with layers as wide.
    ///
    /// # Panics
    /// If `rows` is not whole rows of [`Network::inputs`] numbers, or `out` not as many rows of [`Network::outputs`].
    pub fn predict(&self, rows: &[f64], out: &mut [f64], workspace: &mut Workspace) {
        let n = rows.len() / self.inputs();
        assert_eq!(rows.len(), n * self.inputs(), "inputs are not whole rows of {}", self.inputs());
        assert_eq!(out.len(), n * self.outputs(), "{n} rows of {} outputs are asked for", self.outputs());
        workspace.widen(self);
        for (rows, out) in rows.chunks(BLOCK * self.inputs()).zip(out.chunks_mut(BLOCK * self.outputs())) {
            dispatch(Predict { network: self, rows, out, workspace });
        }
    }
}

impl Workspace {
    /// Makes room for the widest layer of the network.
    fn widen(&mut self, network: &Network) {
        let widest = network.widths.iter().copied().max().unwrap_or(0);
        if self.from.len() < widest {
            self.from.resize(widest, [0.0; BLOCK]);
            self.to.resize(widest, [0.0; BLOCK]);
        }
    }
}

/// The prediction of at most [`BLOCK`] rows, compiled for the machine it runs on.
struct Predict<'a> {
    network: &'a Network,
    rows: &'a [f64],
    out: &'a mut [f64],
    workspace: &'a mut Workspace,
}

impl Work for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn run<Q: Quad>(self, quad: Q) {
        let Workspace { from, to } = self.workspace;
        let (inputs, outputs) = (self.network.inputs(), self.network.outputs());
        let n = self.rows.len() / inputs;
        for (r, row) in self.rows.chunks_exact(inputs).enumerate() {
            for (column, &v) in from.iter_mut().zip(row) {
                column[r] = v;
            }
        }
        let mut width = inputs;
        for layer in self.network.layers() {
            let next = layer.biases.len();
            block::forward(quad, layer.weights, layer.biases, &from[..width], &mut to[..next], n, layer.hidden);
            std::mem::swap(from, to);
            width = next;
        }
        for (r, row) in self.out.chunks_exact_mut(outputs).enumerate() {
            for (v, column) in row.iter_mut().zip(&*from) {
                *v = column[r];
            }
        }
    }
}

impl TryFrom<Unchecked> for Network {
    type Error = NetworkError;

    fn try_from(file: Unchecked) -> Result<Self, NetworkError> {
        Network::from_values(file.widths, file.parameters)
    }
}

/// The number of parameters of a network with layers of these widths.
fn check_widths(widths: &[usize]) -> Result<u128, NetworkError> {
    if widths.len() < 2 {
        return Err(NetworkError::TooFewLayers(widths.len()));
    }
    if let Some(layer) = widths.iter().position(|w| !(1..=WIDTH_LIMIT).contains(w)) {
        return Err(NetworkError::Width { layer, width: widths[layer] });
    }
    // Below 2³³ for each layer, so that no list of widths that fits in memory can overflow the sum.
    Ok(widths.windows(2).map(|pair| (pair[0] as u128 + 1) * pair[1] as u128).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// The equation of [`Network`], one row and one sum at a time.
    fn by_hand(network: &Network, row: &[f64]) -> Vec<f64> {
        let mut rest = network.values();
        let mut h = row.to_vec();
        for (l, pair) in network.widths().windows(2).enumerate() {
            let (here, above) = rest.split_at((pair[0] + 1) * pair[1]);
            let affine = |j: usize| (0..pair[0]).map(|i| here[i * pair[1] + j] * h[i]).sum::<f64>();
            let y: Vec<f64> = (0..pair[1]).map(|j| affine(j) + here[pair[0] * pair[1] + j]).collect();
            let output = l + 2 == network.widths().len();
            h = y.into_iter().map(|v| if output { v } else { v.max(0.0) }).collect();
            rest = above;
        }
        h
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_prediction_is_the_equation_row_by_row(
            widths in prop::collection::vec(1usize..14, 2..5), n in 0usize..150, seed: u64,
        ) {
            let mut rng = Pcg64::seed_from_u64(seed);
            let network = Network::new(&widths, &mut rng);
            let rows: Vec<f64> = (0..n * network.inputs()).map(|_| rng.random_range(-2.0..2.0)).collect();
            let mut out = vec![f64::NAN; n * network.outputs()];
            let mut workspace = Workspace::default();
            // A workspace that has served a wider network is as good as a new one.
            Network::new(&[1, 20, 1], &mut rng).predict(&[0.5], &mut [0.0], &mut workspace);
            network.predict(&rows, &mut out, &mut workspace);
            for (row, out) in rows.chunks(network.inputs()).zip(out.chunks(network.outputs())) {
                for (y, expected) in out.iter().zip(by_hand(&network, row)) {
                    // Weights are below 1: sums of at most 14 terms, three times, of numbers below 100.
                    prop_assert!((y - expected).abs() <= 1e4 * f64::EPSILON);
                }
                let mut alone = vec![f64::NAN; network.outputs()];
                network.predict(row, &mut alone, &mut workspace);
                prop_assert_eq!(&alone[..], out);
            }
        }
    }

    #[test]
    fn a_row_that_is_not_a_number_is_not_hidden_by_the_rectifier() {
        let network = Network::from_values(vec![1, 1, 1], vec![1.0, 0.0, 1.0, 0.0]).unwrap();
        let mut out = [0.0; 2];
        network.predict(&[f64::NAN, -1.0], &mut out, &mut Workspace::default());
        assert!(out[0].is_nan());
        assert_eq!(out[1], 0.0);
    }

    #[test]
    fn parameters_start_uniform_within_one_over_the_root_of_the_inputs() {
        let network = Network::new(&[4, 100, 9, 2], &mut Pcg64::seed_from_u64(3));
        assert_eq!((network.inputs(), network.outputs()), (4, 2));
        assert_eq!(network.parameters(), 5 * 100 + 101 * 9 + 10 * 2);
        assert_eq!(network.layers().map(|l| l.biases.len()).collect::<Vec<_>>(), [100, 9, 2]);
        assert_eq!(network.layers().map(|l| l.hidden).collect::<Vec<_>>(), [true, true, false]);
        for (layer, bound) in network.layers().zip([0.5, 0.1]) {
            let all = || layer.weights.iter().chain(layer.biases);
            assert!(all().all(|w| w.abs() <= bound));
            assert!(all().any(|&w| w > 0.95 * bound) && all().any(|&w| w < -0.95 * bound));
            let variance = layer.weights.iter().map(|w| w * w).sum::<f64>() / layer.weights.len() as f64;
            // Uniform: bound²/3, here within five standard errors of 400 draws.
            assert!((variance / (bound * bound / 3.0) - 1.0).abs() < 0.25, "{variance}");
        }
    }

    #[test]
    fn the_first_draws_are_pinned() {
        let network = Network::new(&[2, 1], &mut Pcg64::seed_from_u64(11));
        assert_eq!(network.values(), [0.42411828181645683, -0.3228075741172147, 0.29914305701738275]);
    }

    #[test]
    fn a_file_comes_back_exactly() {
        let network = Network::new(&[3, 17, 5, 2], &mut Pcg64::seed_from_u64(5));
        let text = serde_json::to_string(&network).unwrap();
        assert_eq!(serde_json::from_str::<Network>(&text).unwrap(), network);
    }

    #[test]
    fn what_is_not_a_network_is_refused_with_its_values() {
        let refuse = |widths: &[usize], parameters: &[f64]| {
            Network::from_values(widths.to_vec(), parameters.to_vec()).unwrap_err()
        };
        assert_eq!(refuse(&[], &[]), NetworkError::TooFewLayers(0));
        assert_eq!(refuse(&[1], &[]), NetworkError::TooFewLayers(1));
        assert_eq!(refuse(&[1, 0, 1], &[1.0]), NetworkError::Width { layer: 1, width: 0 });
        assert_eq!(refuse(&[1, 65_537], &[1.0]), NetworkError::Width { layer: 1, width: 65_537 });
        let widest = [65_536; 3];
        let expected = 2 * 65_537 * 65_536;
        assert_eq!(refuse(&widest, &[]), NetworkError::ParameterCount { widths: widest.to_vec(), expected, found: 0 });
        assert_eq!(
            refuse(&[2, 1], &[1.0; 4]),
            NetworkError::ParameterCount { widths: vec![2, 1], expected: 3, found: 4 }
        );
        assert_eq!(
            refuse(&[2, 1], &[0.0, 0.5, f64::INFINITY]),
            NetworkError::NonFinite { index: 2, value: f64::INFINITY }
        );
    }

    #[test]
    fn a_hostile_file_is_an_error() {
        for bad in [
            "{}",
            r#"{"widths":[1,1],"parameters":[1.0]}"#,
            r#"{"widths":[1,1],"parameters":[1.0,null]}"#,
            r#"{"widths":[1,1],"parameters":[1.0,1e999]}"#,
            r#"{"widths":[-1,1],"parameters":[]}"#,
            r#"{"widths":[18446744073709551615,18446744073709551615],"parameters":[]}"#,
            r#"{"widths":[65536,65536,65536],"parameters":[1.0]}"#,
            r#"{"widths":[1,1],"parameters":[1.0,2.0],"more":1}"#,
        ] {
            assert!(serde_json::from_str::<Network>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    #[should_panic(expected = "inputs are not whole rows of 2")]
    fn rows_that_are_not_whole_are_refused() {
        Network::new(&[2, 1], &mut Pcg64::seed_from_u64(1)).predict(&[0.0; 3], &mut [0.0], &mut Workspace::default());
    }

    #[test]
    #[should_panic(expected = "2 rows of 1 outputs are asked for")]
    fn room_for_too_few_outputs_is_refused() {
        Network::new(&[2, 1], &mut Pcg64::seed_from_u64(1)).predict(&[0.0; 4], &mut [0.0], &mut Workspace::default());
    }
}
