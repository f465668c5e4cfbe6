//! What a person should know before trusting what was fitted, in words.

use crate::kernel::data::Panel;
use crate::kernel::learn::Outcome;
use crate::kernel::model::fitted::Fitted;
use crate::kernel::preprocess::diagnostics::Diagnostics;

/// Counterfactual states beyond the data that make a warning: a few extreme people always leave the range of another group.
const OUTSIDE: f64 = 0.05;

/// Significance below which a dependence of noise on the level is pointed out.
const DEPENDENCE: f64 = 0.01;

/// The name of an output of a mechanism.
fn output_name(panel: &Panel, output: usize) -> String {
    if output < panel.state_dim() { format!("state{}", output + 1) } else { "reward".into() }
}

/// About a mechanism and the counterfactual states made with it, one line each.
pub(super) fn of_mechanism(fitted: &Fitted, panel: &Panel, diagnostics: &Diagnostics) -> Vec<String> {
    let mut lines = Vec::new();
    let level = |k: usize| panel.levels().name(k);
    if fitted.gain() > 1.0 {
        lines.push(format!(
            "one-step gain ℓ = {:.3} > 1: errors of counterfactual states may grow from step to step",
            fitted.gain()
        ));
    }
    for report in fitted.reports().iter().filter(|report| report.rank < report.columns) {
        let which = report.level.map_or_else(|| "all levels".into(), |k| format!("level {}", level(k)));
        lines.push(format!(
            "mechanism of {which}: the data determine {} of {} coefficients; the smallest solution was taken",
            report.rank, report.columns
        ));
    }
    for &(k, a) in &diagnostics.unseen {
        lines.push(format!(
            "nobody of level {} ever received action {}: its effect there is extrapolated",
            level(k),
            panel.action_names().name(a)
        ));
    }
    for s in diagnostics.support.iter().filter(|s| s.outside as f64 > OUTSIDE * s.states as f64) {
        lines.push(format!(
            "{} of {} counterfactual states for level {} ({:.1} %) lie outside that level's data",
            s.outside,
            s.states,
            level(s.level),
            100.0 * s.outside as f64 / s.states as f64
        ));
    }
    for d in diagnostics.dependence.iter().filter(|d| d.p_value < DEPENDENCE) {
        lines.push(format!(
            "noise of {} depends on the level (χ² = {:.1}, p = {:.1e}): additivity is doubtful there",
            output_name(panel, d.output),
            d.statistic,
            d.p_value
        ));
    }
    lines
}

/// About how learning ended, if there is something to say.
pub(super) fn of_outcome(outcome: Outcome, panel: &Panel) -> Option<String> {
    match outcome {
        Outcome::RankDeficient { action, rank, features } => Some(format!(
            "action {}: the data determine {rank} of {features} weights; its values are not to be trusted everywhere",
            panel.action_names().name(action)
        )),
        Outcome::Diverged { iteration } => Some(format!(
            "fitted Q iteration diverged at iteration {iteration}; try --clip, a lower --degree or a lower --discount"
        )),
        Outcome::Converged { .. } | Outcome::IterationLimit { .. } => None,
    }
}
