//! The noise of people whose states are recorded on scales: known up to the category of the record, and drawn within it.

use super::abduction::abduct_outcomes;
use super::{Mechanism, PanelNoise, Scale};
use crate::numeric::Stream;
use crate::numeric::quadrature::normal_between;
use crate::people::Panel;
use rand::RngExt;

/// What a record tells about noise: on the common scale, where the record stands and where its category begins and ends.
///
/// # Equation
/// ```text
/// s − h/2 ≤ μ(x, z) + σ(x, z) G_z⁻¹(U) < s + h/2,   the ends of a scale being open
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CategoryNoise {
    state_dim: usize,
    /// The scale of each coordinate; empty where none has one.
    scales: Vec<Option<Scale>>,
    /// Noise of the record itself.
    at: PanelNoise,
    /// Noise half a step below it, and above.
    below: Vec<f64>,
    above: Vec<f64>,
}

/// Standard deviations of U, of the first state and of later ones; `None` for a coordinate without a scale, or without noise.
#[derive(Debug, Clone, PartialEq)]
pub struct LatentSpread {
    /// Of each coordinate of S₁.
    pub first: Vec<Option<f64>>,
    /// Of each coordinate of Sₜ₊₁.
    pub next: Vec<Option<f64>>,
}

/// Weighted sums behind the spread of one kind of noise.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CategorySums {
    /// Σ w.
    pub weight: f64,
    /// Σ w u².
    pub squares: f64,
    /// Σ w h²/12, h the width of the category in units of u.
    pub rounding: f64,
}

impl CategorySums {
    /// The sum of two.
    pub fn plus(self, other: Self) -> Self {
        Self {
            weight: self.weight + other.weight,
            squares: self.squares + other.squares,
            rounding: self.rounding + other.rounding,
        }
    }

    /// The variance of the record around its mean, in units of what rounding adds to it; 0 where nothing was recorded.
    pub fn ratio(&self) -> f64 {
        if self.rounding > 0.0 { self.squares / self.rounding } else { 0.0 }
    }

    /// sd(U)² = Σ w u² / Σ w − Σ w h²/12 / Σ w, and no less than a quarter of what rounding adds, so that there is a law to draw from in
    /// every resample; `None` where there is no noise.
    pub fn spread(&self) -> Option<f64> {
        if self.ratio() < NOISELESS {
            return None;
        }
        Some(((self.squares - self.rounding).max(0.25 * self.rounding) / self.weight).sqrt())
    }
}

/// What is fixed by what came before has no noise to draw: a week that is counted, a sex.
pub const NOISELESS: f64 = 1e-9;

/// A draw is kept away from the ends of its category by this share of its width, so that rounding of the computer does not lead to another
/// record.
const MARGIN: f64 = 1e-9;

/// [`abduct_panel`](super::abduct_panel) for records on the scales of the mechanism.
pub fn abduct_categories(mechanism: &(impl Mechanism + ?Sized), panel: &Panel) -> CategoryNoise {
    let (p, scales) = (panel.state_dim(), mechanism.scales().to_vec());
    let shifted = |side: f64| -> Vec<f64> {
        let shift = |(i, s): (usize, &f64)| match scales.get(i % p) {
            Some(Some(scale)) => scale.record(*s) + side * scale.step() / 2.0,
            _ => *s,
        };
        panel.states().iter().enumerate().map(shift).collect()
    };
    let (mut at, mut rewards) = (shifted(0.0), panel.rewards().to_vec());
    let (mut below, mut above) = (vec![], vec![]);
    let mut outcomes: Vec<&mut [f64]> = vec![&mut at];
    if scales.iter().any(Option::is_some) {
        (below, above) = (shifted(-1.0), shifted(1.0));
        outcomes.extend([&mut below[..], &mut above[..]]);
    }
    abduct_outcomes(mechanism, panel, &mut outcomes, &mut rewards);
    CategoryNoise { state_dim: p, scales, at: PanelNoise { states: at, rewards }, below, above }
}

impl CategoryNoise {
    /// Sums of first states, then of later ones, by coordinate; one weight per person. 0 for coordinates without a scale.
    pub fn sums(&self, panel: &Panel, weights: &[f64]) -> [Vec<CategorySums>; 2] {
        let mut found = [vec![CategorySums::default(); self.state_dim], vec![CategorySums::default(); self.state_dim]];
        for (person, &w) in weights.iter().enumerate() {
            for (t, row) in panel.states_of(person).enumerate() {
                for j in self.scaled() {
                    let (at, sums) = (row * self.state_dim + j, &mut found[usize::from(t > 0)][j]);
                    sums.weight += w;
                    sums.squares += w * self.at.states[at].powi(2);
                    sums.rounding += w * (self.above[at] - self.below[at]).powi(2) / 12.0;
                }
            }
        }
        found
    }

    /// Noise of everybody, drawn within the category of each record from N(0, sd(U)²); a person's draws are those of the stream's child with
    /// their id. Without scales it is the noise of the record itself.
    pub fn drawn(self, panel: &Panel, spread: &LatentSpread, stream: Stream) -> PanelNoise {
        let scaled: Vec<usize> = self.scaled().collect();
        let Self { state_dim: p, scales, mut at, below, above } = self;
        if scaled.is_empty() {
            return at;
        }
        for (person, id) in panel.ids().iter().enumerate() {
            let mut rng = stream.named(id).rng();
            for (t, row) in panel.states_of(person).enumerate() {
                for &j in &scaled {
                    let (v, place) = (rng.random::<f64>(), row * p + j);
                    let of_kind = if t == 0 { &spread.first } else { &spread.next };
                    let (Some(τ), Some(scale)) = (of_kind[j], &scales[j]) else { continue };
                    let margin = MARGIN * (above[place] - below[place]);
                    let (is_lowest, is_highest) = scale.is_end(panel.states()[place]);
                    let low = if is_lowest { f64::NEG_INFINITY } else { (below[place] + margin) / τ };
                    let high = if is_highest { f64::INFINITY } else { (above[place] - margin) / τ };
                    at.states[place] = τ * normal_between(low, high, v);
                }
            }
        }
        at
    }

    fn scaled(&self) -> impl Iterator<Item = usize> {
        self.scales.iter().enumerate().filter(|(_, scale)| scale.is_some()).map(|(j, _)| j)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::worlds::{ThreeLevels, three_levels_mixed};
    use crate::model::{Exogenous, Noise, OnScales, World, abduct_panel, predict, simulate};

    fn scales() -> Vec<Option<Scale>> {
        vec![Some(Scale::new(-1.5, 2.0, 0.5).unwrap()), None]
    }

    /// People whose first coordinate is recorded on a scale.
    fn recorded<W: World + Clone>(world: &W) -> (OnScales<W>, Panel) {
        let world = OnScales::new(world.clone(), scales());
        let panel = simulate(&world, &Exogenous::draw(&world, 400, 4, Stream::new(9)));
        (world, panel)
    }

    fn spread() -> LatentSpread {
        LatentSpread { first: vec![Some(1.3), None], next: vec![Some(0.6), None] }
    }

    #[test]
    fn noise_drawn_within_a_category_makes_the_record_again_and_other_draws_make_other_noise() {
        makes_the_record_again(&ThreeLevels::new(0.8));
        makes_the_record_again(&three_levels_mixed(0.8));
    }

    fn makes_the_record_again<W: World + Clone>(world: &W) {
        {
            let (mechanism, panel) = recorded(world);
            let drawn = |seed: u64| abduct_categories(&mechanism, &panel).drawn(&panel, &spread(), Stream::new(seed));
            let (one, other) = (drawn(1), drawn(2));
            assert_eq!(one, drawn(1));
            let differ = one.states.iter().zip(&other.states).step_by(2).filter(|(x, y)| x != y).count();
            assert!(differ > panel.state_rows() * 99 / 100, "{differ}");
            for noise in [one, other] {
                for (i, person) in panel.iter().enumerate() {
                    let rows = panel.states_of(i);
                    let own = Noise {
                        states: noise.states[2 * rows.start..2 * rows.end].to_vec(),
                        rewards: noise.rewards[panel.decisions_of(i)].to_vec(),
                    };
                    let again = predict(&mechanism, &own, person.actions, person.level as usize);
                    for (s, r) in again.states.chunks_exact(2).zip(person.states.chunks_exact(2)) {
                        assert!(s[0] == r[0] && (s[1] - r[1]).abs() < 1e-12, "{s:?} and {r:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn without_scales_nothing_is_drawn() {
        let world = ThreeLevels::new(0.8);
        let (_, panel) = recorded(&world);
        let nothing = LatentSpread { first: vec![], next: vec![] };
        let found = abduct_categories(&world, &panel).drawn(&panel, &nothing, Stream::new(1));
        assert_eq!(found, abduct_panel(&world, &panel));
    }

    #[test]
    fn the_spread_is_that_of_the_record_less_what_rounding_adds() {
        let sums = CategorySums { weight: 4.0, squares: 10.0, rounding: 2.0 };
        assert_eq!((sums.ratio(), sums.spread()), (5.0, Some(2f64.sqrt())));
        // A resample in which rounding explains everything still has a law to draw from.
        let less = CategorySums { squares: 1.0, ..sums };
        assert_eq!(less.spread(), Some((0.5f64 / 4.0).sqrt()));
        assert_eq!(CategorySums { squares: 1e-12, ..sums }.spread(), None);
        assert_eq!(CategorySums::default().spread(), None);
    }
}
