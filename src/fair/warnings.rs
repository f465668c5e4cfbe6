//! What a person should know before trusting what was fitted, in words.

use crate::kernel::data::Panel;
use crate::kernel::learn::{Outcome, Stability};
use crate::kernel::model::fitted::Fitted;
use crate::kernel::preprocess::diagnostics::Diagnostics;
use crate::kernel::preprocess::noise_check::{Belief, NoiseCheck};

/// Counterfactual states beyond the data that make a warning: a few extreme people always leave the range of another group.
const OUTSIDE: f64 = 0.05;

/// The name of an output of a mechanism.
fn output_name(panel: &Panel, output: usize) -> String {
    if output < panel.state_dim() { format!("state{}", output + 1) } else { "reward".into() }
}

/// About a mechanism and the counterfactual states made with it, one line each.
pub(super) fn of_mechanism(
    fitted: &Fitted,
    panel: &Panel,
    diagnostics: &Diagnostics,
    noise: &NoiseCheck,
) -> Vec<String> {
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
    for check in &noise.outputs {
        let name = output_name(panel, check.output);
        let what = if check.is_first { format!("first {name}") } else { name };
        match check.verdict {
            Belief::Differs => lines.push(format!(
                "noise of {what} differs between levels beyond its model (ratio of sds {:.2}, p = {:.1e}; distance of shapes {:.2}, p = \
                 {:.1e}; {} such tests): its counterfactuals are doubtful",
                check.after.sd_ratio,
                check.after.variance_p,
                check.after.shape_distance,
                check.after.shape_p,
                2 * noise.outputs.len()
            )),
            Belief::FewValues => lines.push(format!(
                "{what} takes so few values that a value does not determine its noise: its counterfactuals are not to be believed; --keep it \
                 if the attribute has no effect on it"
            )),
            Belief::Believable | Belief::NothingToCarry | Belief::Unknown => {}
        }
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

/// Share of decisions that change between refits on half of the people from which on no policy is to be read into them.
const UNSTABLE: f64 = 0.2;

/// About how much of the policy would be another one had other people been recorded, if there is something to say.
pub(super) fn of_stability(stability: &Stability, contrast_degree: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    if contrast_degree == Some(0) {
        lines.push(
            "one action is best for everybody: no difference between actions that depends on the person can be seen"
                .into(),
        );
    }
    if stability.changed >= UNSTABLE {
        let share = stability
            .share_at_stake()
            .map_or(String::new(), |s| format!(", {:.1} % of the spread of values", 100.0 * s));
        lines.push(format!(
            "refits on half of the people choose another action in {:.0} % of decisions, with {:.3} of value at stake in each{share}: no \
             difference between actions can be relied on here",
            100.0 * stability.changed,
            stability.at_stake
        ));
    }
    lines
}
