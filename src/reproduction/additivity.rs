//! Whether a study's noise looks the same at every level, as `asm:additive` says.

use super::policies::{NotLearned, mean_settings};
use super::{Learner, Study};
use crate::audit::diagnostics::Dependence;
use crate::fair::{Preprocessing, preprocess};
use crate::kernel::numeric::Stream;

impl Study {
    /// Tests the spread of residuals against the level, for every output of the study seen through one attribute; the means are those that
    /// Ours would fit to everybody. `None` when there is no such attribute.
    ///
    /// # Errors
    /// [`NotLearned`], when no mechanism can be fitted.
    pub fn additivity(&self, attribute: &str) -> Option<Result<Vec<Dependence>, NotLearned>> {
        let panel = self.panel(attribute)?;
        let mechanism = mean_settings(Learner::LeastSquares, Stream::new(0));
        let done = preprocess(&panel, &Preprocessing { mechanism, ..Preprocessing::default() }, &mut |_| {});
        Some(done.map(|done| done.diagnostics.dependence).map_err(NotLearned::from))
    }
}
