//! What a policy file keeps of the people it was learned from: how their mechanism might have come out.

use super::refit::{RefitError, Refitter};
use super::{Fitted, FittedNoise, Means};
use crate::kernel::model::Mechanism;
use crate::kernel::numeric::{Packed, Stream, person_weights};
use crate::kernel::people::Panel;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A mechanism and B draws of it with random weights on people ([`Refitter::draw`]): a sample of mechanisms that the learning data do not
/// tell apart.
///
/// Means of states only, because histories of other worlds need no more; in single precision. Nothing in it is about a person. In a file
/// it takes 5⅓ characters for each of B·(K·p + K·|A|·p·q) numbers, q the functions of the state: about 53 kB for B = 200, one state, two
/// levels, two actions and splines of twelve knots. Noise that is more than added comes on top, in full.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    people: usize,
    seed: u64,
    fingerprint: u64,
    replicates: usize,
    mechanism: Fitted,
    numbers: Packed,
    /// The noise of each refit, where it is more than added.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    noises: Vec<FittedNoise>,
}

impl Certificate {
    /// Refits `replicates` times with weights that are a function of (seed, replicate, id): see [`weights`](Self::weights).
    ///
    /// `refitter` is that of `panel`.
    ///
    /// # Errors
    /// [`RefitError`].
    pub fn new(refitter: &Refitter, panel: &Panel, replicates: usize, seed: u64) -> Result<Self, RefitError> {
        let refits: Vec<(Vec<f64>, Option<FittedNoise>)> = (0..replicates)
            .into_par_iter()
            .map(|b| {
                let refitted = refitter.replicate(panel, seed, b)?;
                Ok((state_numbers(&refitted), refitted.noise.filter(|noise| !noise.is_additive())))
            })
            .collect::<Result<_, RefitError>>()?;
        let (numbers, noises): (Vec<_>, Vec<_>) = refits.into_iter().unzip();
        Ok(Self {
            people: panel.people(),
            seed,
            fingerprint: fingerprint(panel),
            replicates,
            mechanism: refitter.fitted().clone(),
            numbers: Packed::new(numbers.into_iter().flatten()),
            noises: noises.into_iter().flatten().collect(),
        })
    }

    /// N, the people behind it.
    pub fn people(&self) -> usize {
        self.people
    }

    /// B.
    pub fn replicates(&self) -> usize {
        self.replicates
    }

    /// The mechanism fitted to everybody with weight 1.
    pub fn mechanism(&self) -> &Fitted {
        &self.mechanism
    }

    /// The b-th refit (from 0). Its rewards are those of [`mechanism`](Self::mechanism).
    ///
    /// # Panics
    /// If there is no such refit.
    pub fn replicate(&self, b: usize) -> Fitted {
        let size = numbers_count(&self.mechanism);
        let mut refitted = with_state_numbers(&self.mechanism, &self.numbers.slice(b * size, size));
        if let Some(noise) = self.noises.get(b) {
            refitted.noise = Some(noise.clone());
        }
        refitted
    }

    /// The weights of a panel's people in the b-th replicate: for people who were learned from, the ones of that refit.
    pub fn weights(&self, panel: &Panel, b: usize) -> Vec<f64> {
        weights(panel, self.seed, b)
    }

    /// Whether a panel is the one that was learned from, in whatever order.
    pub fn was_made_from(&self, panel: &Panel) -> bool {
        self.people == panel.people() && self.fingerprint == fingerprint(panel)
    }

    /// Whether everything fits together, for a certificate that comes from a file.
    pub fn is_consistent(&self) -> bool {
        self.people > 0
            && self.replicates > 0
            && self.mechanism.is_consistent()
            && matches!(self.mechanism.means, Means::Table(_))
            && (self.noises.is_empty() || self.noises.len() == self.replicates)
            && self.noises.iter().all(|noise| {
                noise.is_consistent(self.mechanism.state_dim, self.mechanism.levels(), self.mechanism.actions)
            })
            && numbers_count(&self.mechanism).checked_mul(self.replicates) == Some(self.numbers.len())
    }
}

impl Refitter {
    /// The b-th mechanism that a [`Certificate`] of this seed keeps, with rewards and in full precision.
    ///
    /// `panel` is the one that was fitted.
    ///
    /// # Errors
    /// [`RefitError`].
    pub fn replicate(&self, panel: &Panel, seed: u64, b: usize) -> Result<Fitted, RefitError> {
        self.draw(&weights(panel, seed, b), replicate_stream(seed, b))
    }
}

/// Exp(1) weights by (seed, replicate, id).
pub(crate) fn weights(panel: &Panel, seed: u64, b: usize) -> Vec<f64> {
    person_weights(panel.ids(), replicate_stream(seed, b))
}

/// What the b-th replicate is drawn from.
fn replicate_stream(seed: u64, b: usize) -> Stream {
    Stream::new(seed).named("people").index(b as u64)
}

/// A hash of who is in a panel and where they were, the same in every order of people.
fn fingerprint(panel: &Panel) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01B3).rotate_left(23);
    let person = |person: crate::kernel::people::Person<'_>| {
        let start = mix(0xCBF2_9CE4_8422_2325, u64::from(person.level));
        let named = person.id.bytes().fold(start, |hash, byte| mix(hash, u64::from(byte)));
        let moved = person.states.iter().fold(named, |hash, x| mix(hash, x.to_bits()));
        person.actions.iter().fold(moved, |hash, &a| mix(hash, u64::from(a)))
    };
    panel.iter().map(person).fold(0, u64::wrapping_add)
}

/// How many numbers [`state_numbers`] has.
fn numbers_count(fitted: &Fitted) -> usize {
    let (p, actions) = (fitted.state_dim, fitted.actions);
    let functions = |level| fitted.basis(level).map_or(0, super::StateBasis::count);
    (0..fitted.levels()).map(|level| p + actions * p * functions(level)).sum()
}

/// Initial means, then the coefficients of the next state at each level and action; nets have none of these.
fn state_numbers(fitted: &Fitted) -> Vec<f64> {
    let mut numbers: Vec<f64> = fitted.initial.concat();
    if let Means::Table(table) = &fitted.means {
        for (level, by_action) in table.coefficients().iter().enumerate() {
            let size = fitted.state_dim * table.basis(level).count();
            by_action.iter().for_each(|c| numbers.extend_from_slice(&c[..size]));
        }
    }
    numbers
}

/// The mechanism with its state means replaced.
fn with_state_numbers(fitted: &Fitted, numbers: &[f64]) -> Fitted {
    let mut changed = fitted.clone();
    let mut numbers = numbers.iter().copied();
    for (x, new) in changed.initial.iter_mut().flatten().zip(numbers.by_ref()) {
        *x = new;
    }
    if let Means::Table(table) = &fitted.means {
        let mut coefficients = table.coefficients().to_vec();
        for (level, by_action) in coefficients.iter_mut().enumerate() {
            let size = fitted.state_dim * table.basis(level).count();
            for c in by_action {
                c[..size].fill_with(|| numbers.next().expect("as many numbers as coefficients"));
            }
        }
        changed.means = Means::Table(table.with_coefficients(coefficients));
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Basis, FitSettings, Pooling};
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, simulate};

    fn panel() -> Panel {
        let world = ThreeLevels::new(0.8);
        simulate(&world, &Exogenous::draw(&world, 150, 4, Stream::new(77)))
    }

    fn certificate(panel: &Panel, basis: Basis, pooling: Pooling) -> (Refitter, Certificate) {
        let settings = FitSettings { basis, pooling, ..FitSettings::default() };
        let refitter = Refitter::new(panel, &settings).unwrap();
        let certificate = Certificate::new(&refitter, panel, 5, 9).unwrap();
        (refitter, certificate)
    }

    /// States' means everywhere on a small grid.
    fn means(fitted: &Fitted) -> Vec<f64> {
        let mut all = Vec::new();
        for level in 0..3 {
            all.extend_from_slice(fitted.initial_mean(level));
            for action in 0..3 {
                let (states, mut next, mut reward) = ([-1.0, 0.4, 0.3, 2.0], [0.0; 4], [0.0; 2]);
                fitted.mean(level, &states, &[action; 2], &mut next, &mut reward);
                all.extend(next);
            }
        }
        all
    }

    #[test]
    fn replicates_are_drawn_with_the_weights_of_their_number() {
        let panel = panel();
        for (basis, pooling) in [(Basis::Spline, Pooling::PerLevel), (Basis::Linear, Pooling::Pooled)] {
            let (refitter, certificate) = certificate(&panel, basis, pooling);
            assert!(certificate.is_consistent() && certificate.was_made_from(&panel));
            assert_eq!((certificate.people(), certificate.replicates()), (150, 5));
            for b in 0..5 {
                let expected = refitter.draw(&certificate.weights(&panel, b), replicate_stream(9, b)).unwrap();
                for (x, y) in means(&certificate.replicate(b)).iter().zip(means(&expected)) {
                    // Sums of a few dozen coefficients in single precision.
                    assert!((x - y).abs() < 1e-5 * (1.0 + y.abs()), "{b}: {x} and {y}");
                }
            }
            assert_ne!(means(&certificate.replicate(0)), means(&certificate.replicate(1)));
        }
    }

    #[test]
    fn a_certificate_is_read_as_it_was_written_and_a_broken_one_is_seen() {
        let panel = panel();
        let (_, certificate) = certificate(&panel, Basis::Spline, Pooling::Chosen);
        let text = serde_json::to_string(&certificate).unwrap();
        assert_eq!(serde_json::from_str::<Certificate>(&text).unwrap(), certificate);
        let with = |change: &dyn Fn(&mut Certificate)| {
            let mut broken = certificate.clone();
            change(&mut broken);
            broken.is_consistent()
        };
        assert!(!with(&|c| c.replicates = 4));
        assert!(!with(&|c| c.replicates = 0));
        assert!(!with(&|c| c.people = 0));
        assert!(!with(&|c| c.mechanism.initial[1][0] = f64::NAN));
    }

    #[test]
    fn people_are_recognised_in_any_order_and_others_are_not() {
        let panel = panel();
        let (_, certificate) = certificate(&panel, Basis::Linear, Pooling::Pooled);
        let reversed: Vec<usize> = (0..150).rev().collect();
        assert!(certificate.was_made_from(&panel.select(&reversed)));
        assert!(!certificate.was_made_from(&panel.select(&reversed[1..])));
        let world = ThreeLevels::new(0.8);
        assert!(!certificate.was_made_from(&simulate(&world, &Exogenous::draw(&world, 150, 4, Stream::new(78)))));
    }
}
