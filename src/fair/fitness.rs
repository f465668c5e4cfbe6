//! Whether learning ended well enough for a policy to be served.

use super::Policy;
use crate::kernel::learn::Outcome;

/// The last change, as a share of the largest value, up to which a run of all its iterations counts as settled: greedy actions
/// differ then only where two values are within a thousandth of each other.
pub const SETTLED_CHANGE: f64 = 1e-3;

/// Why a policy should not be served.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Unfit {
    /// The file is older than the record of how learning ended, or was written by hand.
    #[error("the policy does not say how learning ended")]
    Unsaid,
    /// Values still moved at the last iteration.
    #[error("learning had not settled: {0} (more than {SETTLED_CHANGE:.0e}); more --iterations would help")]
    Unsettled(Outcome),
    /// The data do not determine every weight.
    #[error("learning ended {0}; a lower --degree or more data would help")]
    Deficient(Outcome),
    /// Values left every bound.
    #[error("learning {0}; --clip, a lower --degree or a lower --discount would help")]
    Diverged(Outcome),
}

impl Policy {
    /// Whether learning ended well: converged, or settled within [`SETTLED_CHANGE`]. `counterfair learn` saves, and
    /// `counterfair decide` serves, no other policy unless told to. How a program was learned is its own affair.
    ///
    /// # Errors
    /// [`Unfit`], which says how it ended.
    pub fn fitness(&self) -> Result<(), Unfit> {
        if self.program().is_some() {
            return Ok(());
        }
        let outcome = self.manifest.ended.ok_or(Unfit::Unsaid)?;
        match outcome {
            Outcome::Converged { .. } => Ok(()),
            Outcome::IterationLimit { change, .. } if change <= SETTLED_CHANGE => Ok(()),
            Outcome::IterationLimit { .. } => Err(Unfit::Unsettled(outcome)),
            Outcome::RankDeficient { .. } => Err(Unfit::Deficient(outcome)),
            Outcome::Diverged { .. } => Err(Unfit::Diverged(outcome)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fair::Method;
    use crate::fair::policy::tests::policy;

    #[test]
    fn only_what_ended_well_is_fit() {
        let ended = |ended| {
            let mut policy = policy(Method::Full);
            policy.manifest.ended = ended;
            policy.fitness()
        };
        let limit = |change| Outcome::IterationLimit { iterations: 100, change };
        assert_eq!(ended(None), Err(Unfit::Unsaid));
        assert_eq!(ended(Some(Outcome::Converged { iterations: 7 })), Ok(()));
        assert_eq!(ended(Some(limit(2e-5))), Ok(()));
        assert_eq!(ended(Some(limit(SETTLED_CHANGE))), Ok(()));
        assert_eq!(ended(Some(limit(0.0011))), Err(Unfit::Unsettled(limit(0.0011))));
        assert_eq!(ended(Some(limit(f64::NAN))).map_err(|e| e.to_string().contains("settled")), Err(true));
        let deficient = Outcome::RankDeficient { action: 1, rank: 3, features: 6 };
        assert_eq!(ended(Some(deficient)), Err(Unfit::Deficient(deficient)));
        let diverged = Outcome::Diverged { iteration: 12 };
        assert_eq!(
            ended(Some(diverged)).unwrap_err().to_string().split(';').next(),
            Some("learning diverged at iteration 12")
        );
    }
}
