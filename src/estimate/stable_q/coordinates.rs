//! The coordinates in which a stable action value is a polynomial: where a person stands, and how the worlds deviate from it.

use super::{Winsorised, WinsorisedError, WinsorisedRecipe};
use crate::estimate::ranks::order_statistics;
use crate::estimate::views::Views;
use crate::kernel::learn::FittedQError;
use crate::kernel::numeric::Place;
use crate::kernel::preprocess::View;

/// What the numbers of a view mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Coordinates<'a> {
    /// The states of all levels, [ŝ¹, …, ŝᴷ]: an augmented view.
    ///
    /// ```text
    /// Mⱼ = Σₖ pₖ ŝᵏⱼ,      D_mj = Σₖ h_mk ŝᵏⱼ,  m = 1, …, K − 1
    /// ```
    /// with h₁, …, h_{K−1} orthonormal and each of sum 0. Where the attribute shifts means but not slopes, M alone determines what is
    /// best (AUDIT §2.10), and D is noise.
    Worlds {
        /// pₖ = P(Z = k), K numbers.
        weights: &'a [f64],
    },
    /// The state as observed (M), followed by a level code when there is more than one level (D are contrasts of its indicators).
    States {
        /// K when the last number of a view is a level code, 1 when there is no such number.
        levels: usize,
    },
}

/// Coordinates are held between these quantiles of the views learned from.
const TAIL: f64 = 0.01;

/// A spread below this share of the centre is rounding error of a constant.
const CONSTANT: f64 = 1e-12;

/// What there is to know about one coordinate.
#[derive(Debug, Clone, Copy, Default)]
struct Law {
    mean: f64,
    sd: f64,
    /// The quantiles that it is held between.
    low: f64,
    high: f64,
}

/// Rows of B, which of them are deviations, the length of a row, and K where the last input is a code.
struct Reader {
    matrix: Vec<f64>,
    deviation: Vec<bool>,
    expanded: usize,
    levels: usize,
}

impl Reader {
    /// How many coordinates there are.
    fn count(&self) -> usize {
        self.deviation.len()
    }

    /// One coordinate of a view.
    fn coordinate(&self, c: usize, view: &[f64]) -> f64 {
        let row = &self.matrix[c * self.expanded..(c + 1) * self.expanded];
        let numbers = self.expanded - if self.levels > 1 { self.levels } else { 0 };
        let numeric: f64 = row[..numbers].iter().zip(view).map(|(b, x)| b * x).sum();
        numeric + if self.levels > 1 { row[numbers + view[numbers] as usize] } else { 0.0 }
    }

    /// The share of a coordinate that is held at either end. A code has few values, rare ones among them; every one of them was seen.
    fn tail(&self, c: usize) -> f64 {
        if self.deviation[c] && self.levels > 1 { 0.0 } else { TAIL }
    }
}

/// A feature map, and which of its coordinates are deviations.
pub(super) struct Charted {
    pub map: Winsorised,
    pub deviation: Vec<bool>,
}

impl Coordinates<'_> {
    /// How many coordinates a view of this width has.
    pub(super) fn count(&self, width: usize) -> usize {
        match *self {
            Self::Worlds { .. } => width,
            Self::States { levels } if levels > 1 => width - 1 + levels - 1,
            Self::States { .. } => width,
        }
    }

    /// Whether a view of this width can be read so.
    pub(super) fn fit(&self, width: usize) -> bool {
        match *self {
            Self::Worlds { weights } => !weights.is_empty() && width > 0 && width.is_multiple_of(weights.len()),
            Self::States { levels } => levels > 0 && width > usize::from(levels > 1),
        }
    }

    /// Monomials up to `degree` in the coordinates of these views, centred at their means, divided by sd(Mⱼ) and held between
    /// their 1 % and 99 % quantiles.
    ///
    /// A deviation is divided by the spread of its own state coordinate and never by its own: a D that hardly moves stays small, and
    /// a penalty on its weights keeps it out.
    pub(super) fn chart<V: View>(&self, views: Views<'_, V>, degree: usize) -> Result<Charted, FittedQError> {
        let laws = self.laws(views)?;
        self.chart_by(&laws, views.width(), degree).map_err(|error| FittedQError::Features(error.to_string()))
    }

    /// The mean, spread and tails of every coordinate.
    fn laws<V: View>(&self, views: Views<'_, V>) -> Result<Vec<Law>, FittedQError> {
        let (reader, rows) = (self.reader(views.width()), views.rows());
        let (count, n) = (reader.count(), rows as f64);
        let mut laws = vec![Law::default(); count];
        let mut first: Vec<f64> = vec![];
        let mut is_constant = vec![true; count];
        views.each(|view| {
            if first.is_empty() {
                first = (0..count).map(|c| reader.coordinate(c, view)).collect();
            }
            for (c, law) in laws.iter_mut().enumerate() {
                let x = reader.coordinate(c, view);
                law.mean += x / n;
                is_constant[c] &= x == first[c];
            }
        })?;
        // The rounded mean of equal numbers may miss them, and rounding would pass for a spread.
        (0..first.len()).filter(|&c| is_constant[c]).for_each(|c| laws[c].mean = first[c]);
        let mut squares = vec![0.0; count];
        views.each(|view| {
            (0..count).for_each(|c| squares[c] += (reader.coordinate(c, view) - laws[c].mean).powi(2) / n);
        })?;
        let places = |c: usize| [reader.tail(c), 1.0 - reader.tail(c)].map(|share| Place::of_share(rows, share));
        let ranks = |c: usize, _: usize| places(c).into_iter().flat_map(Place::ranks).collect();
        let found = order_statistics(&vec![rows; count], ranks, views.room(), |see| {
            views.each(|view| (0..count).for_each(|c| see(c, reader.coordinate(c, view))))
        })?;
        for (c, (law, at)) in laws.iter_mut().zip(&found).enumerate() {
            let [low, high] = places(c);
            (law.sd, law.low, law.high) = (squares[c].sqrt(), low.between(at[0], at[1]), high.between(at[2], at[3]));
        }
        Ok(laws)
    }

    /// [`chart`](Self::chart) from what there is to know about each coordinate.
    fn chart_by(&self, laws: &[Law], width: usize, degree: usize) -> Result<Charted, WinsorisedError> {
        let Reader { matrix, deviation, levels, .. } = self.reader(width);
        let (mut center, mut scale, mut low, mut high) = (vec![], vec![], vec![], vec![]);
        for (c, law) in laws.iter().enumerate() {
            let Law { mean, sd, .. } = *law;
            let unit = if sd > CONSTANT * mean.abs() { sd } else { 1.0 };
            // The states stand before the deviations, so the scale of a state coordinate is known by then.
            let divisor = match self {
                _ if !deviation[c] => unit,
                Self::Worlds { weights } => scale[(c - width / weights.len()) % (width / weights.len())],
                Self::States { .. } => 1.0,
            };
            center.push(mean);
            scale.push(divisor);
            low.push((law.low - mean) / divisor);
            high.push((law.high - mean) / divisor);
        }
        let recipe = WinsorisedRecipe { degree, levels, matrix, center, scale, low, high };
        Ok(Charted { map: Winsorised::try_from(recipe)?, deviation })
    }

    /// How coordinates are read from views of this width.
    fn reader(&self, width: usize) -> Reader {
        let (matrix, deviation, expanded, levels) = self.matrix(width);
        Reader { matrix, deviation, expanded, levels }
    }

    /// Rows of B, which of them are deviations, the length of a row, and K where the last input is a code.
    fn matrix(&self, width: usize) -> (Vec<f64>, Vec<bool>, usize, usize) {
        match *self {
            Self::Worlds { weights } => {
                let (levels, p) = (weights.len(), width / weights.len());
                let mut matrix = vec![0.0; width * width];
                let contrasts = contrasts(levels);
                for (m, weights) in std::iter::once(weights).chain(contrasts.iter().map(Vec::as_slice)).enumerate() {
                    for (k, weight) in weights.iter().enumerate() {
                        for j in 0..p {
                            matrix[(m * p + j) * width + k * p + j] = *weight;
                        }
                    }
                }
                (matrix, (0..width).map(|c| c >= p).collect(), width, 1)
            }
            Self::States { levels } if levels > 1 => {
                let p = width - 1;
                let (rows, expanded) = (p + levels - 1, p + levels);
                let mut matrix = vec![0.0; rows * expanded];
                (0..p).for_each(|j| matrix[j * expanded + j] = 1.0);
                for (m, contrast) in contrasts(levels).iter().enumerate() {
                    matrix[(p + m) * expanded + p..(p + m + 1) * expanded].copy_from_slice(contrast);
                }
                (matrix, (0..rows).map(|c| c >= p).collect(), expanded, levels)
            }
            Self::States { .. } => {
                let mut matrix = vec![0.0; width * width];
                (0..width).for_each(|j| matrix[j * width + j] = 1.0);
                (matrix, vec![false; width], width, 1)
            }
        }
    }
}

/// Helmert's contrasts: n − 1 orthonormal vectors of n entries, each of sum 0.
///
/// Which orthonormal contrasts are taken makes no difference under one penalty for all of them: it does not change when they rotate.
pub(super) fn contrasts(n: usize) -> Vec<Vec<f64>> {
    let entry = |m: usize, k: usize| match k.cmp(&m) {
        std::cmp::Ordering::Less => -1.0,
        std::cmp::Ordering::Equal => m as f64,
        std::cmp::Ordering::Greater => 0.0,
    };
    (1..n).map(|m| (0..n).map(|k| entry(m, k) / ((m * (m + 1)) as f64).sqrt()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::learn::features::FeatureMap;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::{Unaware, batch};

    /// The chart of some views, which are those of one person each.
    fn chart(coordinates: Coordinates<'_>, views: &[f64], width: usize, degree: usize) -> Charted {
        let mut builder = PanelBuilder::new(Labels::numbered(1), Labels::numbered(1), width).unwrap();
        for (i, states) in views.chunks_exact(width).enumerate() {
            let person = Person { id: &i.to_string(), level: 0, states, actions: &[], rewards: &[] };
            builder.push(person).unwrap();
        }
        let experience = batch(&Unaware { state_dim: width }, &builder.finish()).unwrap();
        coordinates.chart(Views::from(&experience), degree).unwrap()
    }

    #[test]
    fn contrasts_are_orthonormal_and_sum_to_zero() {
        for n in 1..6 {
            let h = contrasts(n);
            assert_eq!(h.len(), n - 1);
            for (i, x) in h.iter().enumerate() {
                assert!(x.iter().sum::<f64>().abs() < 1e-15);
                for (j, y) in h.iter().enumerate() {
                    let product: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
                    assert!((product - f64::from(u8::from(i == j))).abs() < 1e-15);
                }
            }
        }
    }

    #[test]
    fn worlds_become_their_mean_and_their_deviations_on_the_scale_of_the_mean() {
        // Two levels of unequal weight, two state coordinates: [s⁰₁, s⁰₂, s¹₁, s¹₂].
        let views = [1.0, 10.0, 2.0, 10.0, 3.0, 20.0, 5.0, 26.0, 8.0, 60.0, 8.0, 50.0];
        let weights = [0.3, 0.7];
        let charted = chart(Coordinates::Worlds { weights: &weights }, &views, 4, 1);
        assert_eq!(charted.deviation, [false, false, true, true]);
        let recipe = charted.map.recipe();
        let m: Vec<f64> = views.chunks_exact(4).map(|v| 0.3 * v[1] + 0.7 * v[3]).collect();
        let mean = m.iter().sum::<f64>() / 3.0;
        let sd = (m.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0).sqrt();
        assert!((recipe.center[1] - mean).abs() < 1e-12 && (recipe.scale[1] - sd).abs() < 1e-12);
        assert_eq!((recipe.scale[2], recipe.scale[3]), (recipe.scale[0], recipe.scale[1]));
        let mut out = [0.0; 5];
        // The first row's deviation is the middle one of the three, which no bound touches.
        charted.map.fill(&views[..4], &mut out);
        let d: Vec<f64> = views.chunks_exact(4).map(|v| (v[3] - v[1]) / 2f64.sqrt()).collect();
        let expected = (d[0] - d.iter().sum::<f64>() / 3.0) / sd;
        assert!((out[4] - expected).abs() < 1e-12, "{} and {expected}", out[4]);
    }

    #[test]
    fn a_level_code_becomes_contrasts_and_keeps_its_rare_values() {
        let views: Vec<f64> = (0..300).flat_map(|i| [f64::from(i % 7), f64::from(u8::from(i == 5)) * 2.0]).collect();
        let charted = chart(Coordinates::States { levels: 3 }, &views, 2, 1);
        assert_eq!(charted.deviation, [false, true, true]);
        let (mut rare, mut common) = ([0.0; 4], [0.0; 4]);
        charted.map.fill(&[3.0, 2.0], &mut rare);
        charted.map.fill(&[3.0, 0.0], &mut common);
        assert!((rare[3] - common[3] - 2.0 / 6f64.sqrt() - 1.0 / 6f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_constant_state_stays_at_its_centre() {
        let views: Vec<f64> = (0..50).flat_map(|i| [7.3, (f64::from(i) * 0.7).sin()]).collect();
        let charted = chart(Coordinates::States { levels: 1 }, &views, 2, 1);
        let mut out = [0.0; 3];
        charted.map.fill(&[7.3, 0.2], &mut out);
        assert!(out[1].abs() < 1e-12 && charted.map.recipe().scale[0] == 1.0);
        // A number that was never seen is read as the nearest that was.
        charted.map.fill(&[99.0, 0.2], &mut out);
        assert!(out[1].abs() < 1e-12);
    }
}
