//! The CF metric against the size of a violation.

use super::super::unfairness::Histories;
use super::super::{AuditError, PanelDraws, UnfairnessError};
use super::worlds::{with_correlation, with_share};
use crate::audit::panel_audit::check;
use crate::estimate::Certificate;
use crate::kernel::learn::Agent;
use crate::kernel::model::Mechanism;
use crate::kernel::numeric::{Law, Stream};
use crate::kernel::people::Panel;
use rayon::prelude::*;

/// Which assumption fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// The noises of a person's worlds are correlated ρ ∈ [0, 1] instead of equal, by a Gaussian copula on their ranks.
    CrossWorldCorrelation,
    /// A share λ ∈ [0, 1] of the difference between levels is an effect of the level; the rest is composition.
    CausalShare,
}

/// A CF metric at each size of a violation.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// ρ or λ; 1 is no violation.
    pub at: Vec<f64>,
    /// The law of the metric there: over mechanisms that the learning data do not tell apart, and weights of people.
    pub metric: Vec<Law>,
}

impl Curve {
    /// The estimates along the curve.
    pub fn means(&self) -> Vec<f64> {
        self.metric.iter().map(Law::mean).collect()
    }
}

/// The CF metric of a policy on the people of a panel against a violation.
///
/// The law at each point is over the first `replicates` refits of the certificate, so that the error of estimated means is in the curve:
/// at 1 it is the law of [`unfairness`](crate::audit::unfairness()) with fewer replicates.
///
/// # Errors
/// [`UnfairnessError`] as for [`unfairness`](crate::audit::unfairness()).
pub fn unfairness_against(
    violation: Violation,
    at: &[f64],
    agent: &dyn Agent,
    panel: &Panel,
    certificate: &Certificate,
    replicates: usize,
    draws: &PanelDraws,
) -> Result<Curve, UnfairnessError> {
    check(panel, certificate.mechanism(), agent, draws)?;
    let replicates = replicates.min(certificate.replicates());
    if replicates == 0 {
        return Err(UnfairnessError::NoReplicates);
    }
    let histories = Histories::new(panel, draws);
    let points: Vec<(usize, f64)> = (0..replicates).flat_map(|b| at.iter().map(move |&x| (b, x))).collect();
    let found: Vec<f64> = points
        .into_par_iter()
        .map(|(b, x)| {
            let mechanism = certificate.replicate(b);
            let worlds = violated(violation, panel, &mechanism, x, b);
            let counted = histories.disagreement_in(&worlds, mechanism.levels(), agent).map_err(AuditError::from)?;
            let shares =
                counted.weighted(&histories.in_order(&certificate.weights(panel, b)), agent.is_deterministic());
            Ok(shares.iter().map(|share| share.differ).fold(0.0, f64::max))
        })
        .collect::<Result<_, UnfairnessError>>()?;
    let law = |i: usize| Law::of(found.iter().skip(i).step_by(at.len()).copied().collect());
    Ok(Curve { at: at.to_vec(), metric: (0..at.len()).map(law).collect() })
}

fn violated(violation: Violation, panel: &Panel, mechanism: &dyn Mechanism, x: f64, b: usize) -> Vec<f64> {
    match violation {
        // One set of draws for all points of a curve and all policies: what differs between them is not chance.
        Violation::CrossWorldCorrelation => {
            with_correlation(panel, mechanism, x, Stream::new(b as u64).named("cross-world"))
        }
        Violation::CausalShare => with_share(panel, mechanism, x),
    }
}

/// The largest x < 1 at which the first curve is no longer below the second, straight between points; `None` if it is below everywhere, 1
/// if nowhere.
///
/// Curves are given at ascending points.
pub fn crossing(at: &[f64], first: &[f64], second: &[f64]) -> Option<f64> {
    let gap = |i: usize| second[i] - first[i];
    let above = (0..at.len()).rev().find(|&i| gap(i) <= 0.0)?;
    if above + 1 == at.len() {
        return Some(at[above]);
    }
    let share = -gap(above) / (gap(above + 1) - gap(above));
    Some(at[above] + share * (at[above + 1] - at[above]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::{Basis, FitSettings, Fitted, Pooling, Refitter};
    use crate::kernel::learn::{Deployed, Policy};
    use crate::kernel::numeric::fill_standard_normal;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use crate::kernel::preprocess::{Sequential, Unaware, View};
    use statrs::distribution::{ContinuousCDF, Normal};

    /// Treats where the mean of what is read is above a cut.
    struct Above(f64);

    impl<V: View> Policy<V> for Above {
        fn actions(&self) -> usize {
            2
        }
        fn probabilities(&self, rows: &[f64], width: usize, out: &mut [f64]) {
            for (row, out) in rows.chunks_exact(width).zip(out.chunks_exact_mut(2)) {
                out[1] = f64::from(u8::from(row.iter().sum::<f64>() / width as f64 > self.0));
                out[0] = 1.0 - out[1];
            }
        }
        fn is_deterministic(&self) -> bool {
            true
        }
    }

    const SHIFT: f64 = 0.8;
    const PEOPLE: usize = 20_000;

    /// One decision each: S = 0.8 Z + U with normal U, and a third of the people at level 1.
    fn panel() -> Panel {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        let mut noise = vec![0.0; PEOPLE];
        fill_standard_normal(&mut Stream::new(12).rng(), &mut noise);
        for (i, u) in noise.iter().enumerate() {
            let (id, level) = (i.to_string(), u32::from(i % 3 == 0));
            let state = [SHIFT * f64::from(level) + u];
            let actions = [i as u32 / 3 % 2];
            builder.push(Person { id: &id, level, states: &state, actions: &actions, rewards: &[0.0] }).unwrap();
        }
        builder.finish()
    }

    fn curve(violation: Violation, at: &[f64], agent: &dyn Fn(&Fitted) -> Box<dyn Agent>) -> Vec<f64> {
        let panel = panel();
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let refitter = Refitter::new(&panel, &settings).unwrap();
        let certificate = Certificate::new(&refitter, &panel, 4, 9).unwrap();
        let draws = PanelDraws { coins: vec![0.5; PEOPLE], uniforms: vec![0.5; PEOPLE] };
        let agent = agent(refitter.fitted());
        unfairness_against(violation, at, &*agent, &panel, &certificate, 4, &draws).unwrap().means()
    }

    /// Five standard errors of a share of 20 000 people with weights of variance one, averaged over four sets of them: people are the
    /// same, weights add a quarter. Then the error of estimated shifts, 0.015 each, times a density of 0.4.
    const CLOSE: f64 = 5.0 * 0.5 * 1.12 / 141.0 + 0.012;

    /// P(X ≤ a, Y > b) of standard normals with correlation ρ, by Simpson's rule.
    fn apart(a: f64, b: f64, ρ: f64) -> f64 {
        let normal = Normal::standard();
        let f = |x: f64| {
            (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
                * (1.0 - normal.cdf((b - ρ * x) / (1.0 - ρ * ρ).sqrt()))
        };
        let (low, n) = (-9.0, 4000);
        let h = (a - low) / f64::from(n);
        let weight = |i: i32| {
            if i == 0 || i == n {
                1.0
            } else if i % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        (0..=n).map(|i| weight(i) * f(low + h * f64::from(i))).sum::<f64>() * h / 3.0
    }

    #[test]
    fn correlated_noise_parts_decisions_as_often_as_the_bivariate_normal_law_says() {
        let at = [0.0, 0.4, 0.6, 0.7, 0.8, 0.9, 0.99];
        let ours = curve(Violation::CrossWorldCorrelation, &at, &|mechanism| {
            Box::new(Deployed::new(Sequential::new(mechanism.clone(), vec![0.6, 0.4]), Above(SHIFT / 2.0)))
        });
        let unaware = curve(Violation::CrossWorldCorrelation, &at, &|_| {
            Box::new(Deployed::new(Unaware { state_dim: 1 }, Above(1.5)))
        });
        // Ours cuts the noise at 0. Unaware cuts it at 1.5 in one world and at 0.7 in the other.
        let exact_ours = |ρ: f64| ρ.acos() / std::f64::consts::PI;
        let exact_unaware = |ρ: f64| apart(1.5, 1.5 - SHIFT, ρ) + apart(1.5 - SHIFT, 1.5, ρ);
        for ((ρ, ours), unaware) in at.into_iter().zip(&ours).zip(&unaware) {
            assert!((ours - exact_ours(ρ)).abs() < CLOSE, "ρ = {ρ}: {ours} and {}", exact_ours(ρ));
            assert!((unaware - exact_unaware(ρ)).abs() < CLOSE, "ρ = {ρ}: {unaware} and {}", exact_unaware(ρ));
        }
        let (mut low, mut high) = (0.0, 0.99);
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if exact_unaware(middle) > exact_ours(middle) { high = middle } else { low = middle }
        }
        // Their difference has slope 0.35 there; half of what each may be off, on top of each other.
        let found = crossing(&at, &ours, &unaware).unwrap();
        assert!((found - low).abs() < CLOSE / 0.35, "{found} and {low}");
    }

    #[test]
    fn a_share_of_the_shift_parts_the_decisions_of_those_between() {
        let at = [0.0, 0.25, 1.0];
        let normal = Normal::standard();
        let unaware =
            curve(Violation::CausalShare, &at, &|_| Box::new(Deployed::new(Unaware { state_dim: 1 }, Above(0.3))));
        let ours = curve(Violation::CausalShare, &at, &|mechanism| {
            Box::new(Deployed::new(Sequential::new(mechanism.clone(), vec![0.6, 0.4]), Above(SHIFT / 2.0)))
        });
        for ((λ, unaware), ours) in at.into_iter().zip(&unaware).zip(&ours) {
            // Moved by λ · 0.8, up from level 0 and down from level 1: those within that distance of the cut.
            let up = normal.cdf(0.3) - normal.cdf(0.3 - λ * SHIFT);
            let down = normal.cdf(0.3 - SHIFT + λ * SHIFT) - normal.cdf(0.3 - SHIFT);
            let expected = up * 2.0 / 3.0 + down / 3.0;
            assert!((unaware - expected).abs() < CLOSE, "λ = {λ}: {unaware} and {expected}");
            // Ours takes the whole shift off, so noise is moved by (λ − 1) · 0.8 across 0, either way.
            let expected = 0.5 - normal.cdf((λ - 1.0) * SHIFT);
            assert!((ours - expected).abs() < CLOSE, "λ = {λ}: {ours} and {expected}");
        }
        assert_eq!(unaware[0], 0.0);
    }

    #[test]
    fn curves_cross_where_straight_lines_between_their_points_do() {
        let at = [0.0, 0.5, 1.0];
        assert_eq!(crossing(&at, &[0.4, 0.3, 0.0], &[0.2, 0.2, 0.3]), Some(0.5 + 0.5 * 0.1 / 0.4));
        assert_eq!(crossing(&at, &[0.1, 0.1, 0.0], &[0.2, 0.2, 0.3]), None);
        assert_eq!(crossing(&at, &[0.1, 0.1, 0.4], &[0.2, 0.2, 0.3]), Some(1.0));
    }
}
