//! A fitted sum of splines as what it is: a cubic between each two knots.
//!
//! Preprocessing and evaluation ask for means millions of times. A basis answers with m numbers and a product; the cubics answer with one
//! interval and three multiplications, whatever m is.

use super::spline::NaturalSpline;

/// All outputs of a mechanism at one level and action: constants plus a piecewise cubic of each coordinate.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cubics {
    constants: Vec<f64>,
    coordinates: Vec<Coordinate>,
}

#[derive(Debug, Clone, PartialEq)]
struct Coordinate {
    spline: NaturalSpline,
    /// For each piece (before the first knot, between knots, beyond the last) and output, the powers 0 to 3 of the distance to the piece's
    /// start.
    pieces: Vec<[f64; 4]>,
}

impl Cubics {
    /// From the coefficients of each output on the constant and the splines' functions.
    pub fn new(splines: &[NaturalSpline], coefficients: &[f64]) -> Self {
        let q = 1 + splines.iter().map(NaturalSpline::count).sum::<usize>();
        let outputs: Vec<&[f64]> = coefficients.chunks_exact(q).collect();
        let mut start = 1;
        let coordinates = splines.iter().map(|spline| {
            let own = start..start + spline.count();
            start = own.end;
            let by_output: Vec<Vec<[f64; 4]>> = outputs.iter().map(|c| spline.cubics(&c[own.clone()])).collect();
            let pieces = (0..by_output.first().map_or(0, Vec::len)).flat_map(|i| by_output.iter().map(move |o| o[i]));
            Coordinate { spline: spline.clone(), pieces: pieces.collect() }
        });
        let coordinates = coordinates.collect();
        Self { constants: outputs.iter().map(|c| c[0]).collect(), coordinates }
    }

    /// Writes what one coordinate adds to the first outputs.
    pub fn fill_along(&self, j: usize, x: f64, out: &mut [f64]) {
        let Coordinate { spline, pieces } = &self.coordinates[j];
        let (piece, u) = spline.locate(x);
        for (value, c) in out.iter_mut().zip(&pieces[piece * self.constants.len()..]) {
            *value = c[0] + u * (c[1] + u * (c[2] + u * c[3]));
        }
    }

    /// Writes the outputs at one state.
    #[inline]
    pub fn fill(&self, state: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&self.constants);
        for (coordinate, &x) in self.coordinates.iter().zip(state) {
            let (piece, u) = coordinate.spline.locate(x);
            let pieces = &coordinate.pieces[piece * out.len()..(piece + 1) * out.len()];
            for (value, c) in out.iter_mut().zip(pieces) {
                *value += c[0] + u * (c[1] + u * (c[2] + u * c[3]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubics_are_the_functions_times_their_coefficients() {
        let splines = [
            NaturalSpline::new(vec![-1.0, 0.3, 0.5, 2.0, 2.5]).unwrap(),
            NaturalSpline::new(vec![0.0, 4.0]).unwrap(),
            NaturalSpline::new(vec![2.0, 4.0, 8.0]).unwrap(),
        ];
        // Two outputs of 1 + 4 + 1 + 2 coefficients.
        let coefficients: Vec<f64> = (0..16).map(|i| (1.3 * i as f64).sin() + 0.1).collect();
        let cubics = Cubics::new(&splines, &coefficients);
        let mut worst = 0.0f64;
        for i in 0..400 {
            let x = -6.0 + 0.05 * i as f64;
            let state = [x, 1.0 - x, 3.0 + 0.7 * x];
            let mut functions = vec![1.0; 8];
            splines[0].fill(state[0], &mut functions[1..5]);
            splines[1].fill(state[1], &mut functions[5..6]);
            splines[2].fill(state[2], &mut functions[6..8]);
            let mut out = [0.0; 2];
            cubics.fill(&state, &mut out);
            for (value, c) in out.iter().zip(coefficients.chunks_exact(8)) {
                let expected: f64 = c.iter().zip(&functions).map(|(c, f)| c * f).sum();
                worst = worst.max((value - expected).abs() / expected.abs().max(1.0));
            }
        }
        assert!(worst < 1e-13, "{worst:e}");
    }

    #[test]
    fn knots_belong_to_the_piece_that_starts_there() {
        let spline = NaturalSpline::new(vec![2.0, 4.0, 10.0]).unwrap();
        assert_eq!(spline.locate(1.0), (0, -0.125));
        assert_eq!(spline.locate(2.0), (1, 0.0));
        assert_eq!(spline.locate(4.0), (2, 0.0));
        assert_eq!(spline.locate(10.0), (3, 0.0));
        assert_eq!(spline.locate(12.0), (3, 0.25));
        assert!(spline.locate(f64::NAN).1.is_nan());
    }
}
