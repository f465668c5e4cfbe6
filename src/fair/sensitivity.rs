//! How much must be wrong before what is said of a policy changes?

use super::{Error, Policy};
use crate::audit::PanelDraws;
use crate::audit::sensitivity::{Curve, Shift, Violation, crossing, tipping_gamma, unfairness_against, value_bounds};
use crate::estimate::Certificate;
use crate::kernel::people::Panel;

/// Curves and tipping points.
#[derive(Debug, Clone)]
pub struct Sensitivity {
    /// The CF metric against the correlation ρ of a person's noise between worlds.
    #[doc(hidden)]
    pub correlation: Curve,
    /// The CF metric against the share λ of the difference between levels that is an effect of the level.
    #[doc(hidden)]
    pub share: Curve,
    /// The same of every other policy by name.
    #[doc(hidden)]
    pub others: Vec<(String, Curve)>,
    /// For every other policy by name: the ρ below which the judged one is no fairer; `None` if it is fairer at every ρ.
    pub crossings: Vec<(String, Option<f64>)>,
    /// Value minus what people received, between which bounds, for hidden confounding of actions up to each Γ; empty where importance weights
    /// leave too few people for an estimate.
    pub confounding: Vec<(f64, (f64, f64))>,
    /// The Γ at which the sign of that difference is lost: 1 if it is not determined without confounding either, `None` beyond the last Γ.
    pub tipping: Option<f64>,
}

/// Where the curves are looked at.
const CORRELATIONS: [f64; 7] = [0.0, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0];
const SHARES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
const GAMMAS: [f64; 6] = [1.0, 1.1, 1.25, 1.5, 2.0, 3.0];

/// Refits behind each point of a curve.
const REPLICATES: usize = 20;

impl Policy {
    /// Curves of a policy with a certificate, along the judged people; `along` are its action probabilities there, and the probability of each
    /// action that was taken, where weights carry an estimate of its value.
    pub(super) fn sensitivity(
        &self,
        certificate: &Certificate,
        panel: &Panel,
        draws: &PanelDraws,
        along: Option<(&[f64], &[f64])>,
        others: &[(&str, &Policy)],
    ) -> Result<Sensitivity, Error> {
        let curve = |policy: &Policy, violation: Violation, at: &[f64]| {
            unfairness_against(violation, at, &*policy.agent(), panel, certificate, REPLICATES, draws)
        };
        let correlation = curve(self, Violation::CrossWorldCorrelation, &CORRELATIONS)?;
        let share = curve(self, Violation::CausalShare, &SHARES)?;
        let (mut crossings, mut curves) = (Vec::new(), Vec::new());
        for (name, other) in others {
            let theirs = curve(other, Violation::CrossWorldCorrelation, &CORRELATIONS)?;
            crossings.push((name.to_string(), crossing(&CORRELATIONS, &correlation.means(), &theirs.means())));
            curves.push((name.to_string(), theirs));
        }
        let (confounding, tipping) =
            along.and_then(|(along, taken)| self.confounding(panel, along, taken)).unwrap_or_default();
        Ok(Sensitivity { correlation, share, others: curves, crossings, confounding, tipping })
    }

    /// Bounds by Γ; `None` where actions cannot be weighted at all.
    #[allow(clippy::type_complexity)]
    fn confounding(
        &self,
        panel: &Panel,
        along: &[f64],
        taken: &[f64],
    ) -> Option<(Vec<(f64, (f64, f64))>, Option<f64>)> {
        let shift = Shift::new(panel, along, taken, self.manifest.discount).ok()?;
        let people = vec![1.0; panel.people()];
        let bounds = |gamma: f64| Some((gamma, value_bounds(&shift, &people, gamma).ok()?));
        let curve = GAMMAS.into_iter().map(bounds).collect::<Option<Vec<_>>>()?;
        Some((curve, tipping_gamma(&shift, &people, GAMMAS[GAMMAS.len() - 1]).ok()?))
    }
}
