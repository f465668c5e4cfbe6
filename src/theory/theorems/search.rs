//! Looking for counterexamples: climb towards a worse case.

use super::Worst;
use crate::kernel::numeric::{Stream, uniform_index};
use rand::{Rng, RngExt};

/// Climbs `ratio` from a random start: coordinates are moved one or all at a time, by steps that shrink when nothing helps.
///
/// Returns the best point found. Deterministic in the stream.
pub fn climb(dimension: usize, steps: usize, stream: Stream, ratio: &mut dyn FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut rng = stream.rng();
    let mut best: Vec<f64> = (0..dimension).map(|_| signed(&mut rng)).collect();
    let mut height = ratio(&best);
    let (mut scale, mut failures) = (1.0, 0);
    let mut point = best.clone();
    for step in 0..steps {
        point.copy_from_slice(&best);
        if step % 3 == 0 {
            point.iter_mut().for_each(|x| *x += scale * 0.3 * signed(&mut rng));
        } else {
            let j = uniform_index(&mut rng, dimension);
            point[j] += scale * signed(&mut rng);
        }
        let there = ratio(&point);
        if there > height {
            (height, failures) = (there, 0);
            best.copy_from_slice(&point);
        } else {
            failures += 1;
            if failures > 4 * dimension + 10 {
                (scale, failures) = (scale * 0.5, 0);
            }
        }
    }
    best
}

/// A control for limits with several constants: each is halved in turn. Returns the one that is broken by least, so that it breaks the limit only if all do.
pub fn each_halved<const K: usize>(check: impl Fn([f64; K]) -> Worst) -> Worst {
    let halved = (0..K).map(|k| {
        let mut constants = [1.0; K];
        constants[k] = 0.5;
        check(constants)
    });
    halved.min_by(|a, b| a.ratio().total_cmp(&b.ratio())).unwrap_or_default()
}

/// A uniform draw on [−1, 1).
pub fn signed(rng: &mut impl Rng) -> f64 {
    2.0 * rng.random::<f64>() - 1.0
}

/// A uniform draw on [low, high).
pub fn between(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_breaks_a_limit_only_if_every_constant_is_needed() {
        let two_terms = |with_first: bool| {
            move |constants: [f64; 2]| {
                let mut worst = Worst::default();
                worst.at_most(2.0, 2.0 * constants[1], || "the second".into());
                if with_first {
                    worst.at_most(1.0, constants[0], || "the first".into());
                }
                worst
            }
        };
        assert_eq!(each_halved(two_terms(true)).ratio(), 2.0);
        assert_eq!(each_halved(two_terms(false)).ratio(), 1.0);
    }
}
