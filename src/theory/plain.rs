//! The plain quadratic fitted Q of the paper on what each policy reads.

use crate::estimate::Fitted;
use crate::fair::Method;
use crate::kernel::learn::features::Polynomial;
use crate::kernel::learn::{Agent, Deployed, Greedy, Settings, fitted_q_iteration};
use crate::kernel::people::Panel;
use crate::kernel::preprocess::{Full, Preprocessor, Sequential, Unaware, batch};

/// `alg:cf:2` with quadratics, per level for Full; `mechanism` is what Ours reads through.
///
/// # Panics
/// If counterfactual states overflow, or nobody was seen twice.
pub fn plain_policy(method: Method, panel: &Panel, mechanism: &Fitted) -> Box<dyn Agent> {
    let (state_dim, levels) = (panel.state_dim(), panel.levels().len());
    match method {
        Method::Ours => {
            let sequential = Sequential::new(mechanism.clone(), panel.level_shares());
            quadratic(sequential, panel, state_dim * levels, 1)
        }
        Method::Full => quadratic(Full { state_dim }, panel, state_dim, levels.max(2)),
        Method::Unaware => quadratic(Unaware { state_dim }, panel, state_dim, 1),
    }
}

fn quadratic<P: Preprocessor + 'static>(
    preprocessor: P,
    panel: &Panel,
    coordinates: usize,
    levels: usize,
) -> Box<dyn Agent> {
    let experience = batch(&preprocessor, panel).expect("finite states");
    let features = Polynomial::for_rows(experience.views(), coordinates, levels, 2).expect("few monomials");
    let found = fitted_q_iteration(&experience, &features, Settings::default()).expect("transitions to learn from");
    Box::new(Deployed::new(preprocessor, Greedy(found.q)))
}
