//! What a person should know before trusting what was fitted, in words.

use super::People;
use crate::audit::Stability;
use crate::audit::diagnostics::{Diagnostics, Support};
use crate::audit::noise_check::{Belief, NoiseCheck};
use crate::estimate::Fitted;
use crate::kernel::learn::Outcome;
use crate::kernel::people::Panel;

/// Counterfactual states beyond the data that make a warning: a few extreme people always leave the range of another group.
const OUTSIDE: f64 = 0.05;

/// How much larger errors of counterfactual states may become between the first decision and the last before it is warned of: a gain of 1.01
/// over eight decisions is no reason for doubt.
const GROWTH: f64 = 2.0;

/// Levels that are each given a line; more of them share one.
const LINES: usize = 5;

/// About a mechanism and the counterfactual states made with it, one line each.
pub(super) fn of_mechanism(
    fitted: &Fitted,
    people: &People,
    diagnostics: &Diagnostics,
    noise: &NoiseCheck,
) -> Vec<String> {
    let mut lines = Vec::new();
    let (panel, outputs) = (people.panel(), people.output_names());
    let level = |k: usize| panel.levels().name(k);
    let steps = panel.horizon().saturating_sub(1);
    if fitted.gain().powf(steps as f64) >= GROWTH {
        lines.push(format!(
            "one-step gain ℓ = {:.3} > 1: errors of counterfactual states may grow from step to step",
            fitted.gain()
        ));
    }
    for report in fitted.reports().iter().filter(|report| report.rank < report.columns) {
        let which = report.level.map_or_else(|| "all groups".into(), |k| format!("group {}", level(k)));
        lines.push(format!(
            "mechanism of {which}: the data determine {} of {} coefficients; the smallest solution was taken",
            report.rank, report.columns
        ));
    }
    for &(k, a) in &diagnostics.unseen {
        lines.push(format!(
            "nobody in group {} ever received action {}: its effect there is extrapolated",
            level(k),
            panel.action_names().name(a)
        ));
    }
    let mut outside: Vec<_> =
        diagnostics.support.iter().filter(|s| s.outside as f64 > OUTSIDE * s.states as f64).collect();
    let count = outside.len();
    if count > LINES {
        let share = |s: &Support| s.outside as f64 / s.states as f64;
        outside.sort_by(|a, b| share(b).total_cmp(&share(a)));
        outside.truncate(1);
    }
    for s in outside {
        let more = if count > LINES {
            format!("; so do more than {:.0} % for {} other groups", 100.0 * OUTSIDE, count - 1)
        } else {
            String::new()
        };
        lines.push(format!(
            "{} of {} counterfactual states for group {} ({:.1} %) lie outside that group's data{more}",
            s.outside,
            s.states,
            level(s.level),
            100.0 * s.outside as f64 / s.states as f64
        ));
    }
    for check in &noise.outputs {
        let name = &outputs[check.output];
        let what = if check.is_first { format!("first {name}") } else { name.clone() };
        match check.verdict {
            Belief::Differs => lines.push(format!(
                "noise of {what} differs between groups beyond its model (ratio of sds {:.2}, p = {:.1e}; distance of shapes {:.2}, p = \
                 {:.1e}; {} such tests): its counterfactuals are doubtful",
                check.after.sd_ratio,
                check.after.variance_p,
                check.after.shape_distance,
                check.after.shape_p,
                2 * noise.outputs.len()
            )),
            Belief::FewValues => lines.push(format!(
                "{what} takes so few values that a value does not determine its noise: its counterfactuals are not to be believed"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::noise_check::{Equality, OutputCheck};
    use crate::estimate::{Basis, FitSettings, Pooling, fit};
    use crate::kernel::model::worlds::ThreeLevels;
    use crate::kernel::model::{Exogenous, simulate};
    use crate::kernel::numeric::Stream;
    use crate::kernel::people::{Labels, PanelBuilder, Person};
    use rand::RngExt;

    fn said(change: impl FnOnce(&mut Diagnostics, &mut NoiseCheck)) -> Vec<String> {
        let world = ThreeLevels::new(0.5);
        let panel = simulate(&world, &Exogenous::draw(&world, 900, 4, Stream::new(3)));
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let fitted = fit(&panel, &settings).unwrap();
        assert!(fitted.gain() <= 1.0, "a gain of {} is warned of", fitted.gain());
        let support = (0..3).map(|level| Support { level, states: 200, outside: 10 }).collect();
        let mut diagnostics = Diagnostics { residuals: vec![], dependence: vec![], support, unseen: vec![] };
        let equality = Equality { sd_ratio: 1.4, variance_p: 1e-5, shape_distance: 0.2, shape_p: 0.3 };
        let output = OutputCheck {
            output: 1,
            is_first: false,
            is_reward: false,
            before: equality,
            after: equality,
            verdict: Belief::Believable,
        };
        let mut noise = NoiseCheck { outputs: vec![output], pairs: vec![] };
        change(&mut diagnostics, &mut noise);
        of_mechanism(&fitted, &People::from(panel), &diagnostics, &noise)
    }

    #[test]
    fn nothing_is_said_without_cause() {
        assert_eq!(said(|_, _| {}), Vec::<String>::new());
    }

    #[test]
    fn each_cause_is_named_with_its_size() {
        let one = |lines: Vec<String>, parts: &[&str]| {
            assert!(lines.len() == 1 && parts.iter().all(|part| lines[0].contains(part)), "{lines:?}");
        };
        one(said(|d, _| d.support[2].outside = 11), &["11 of 200", "group 2", "5.5 %"]);
        one(said(|d, _| d.unseen.push((1, 2))), &["group 1", "action 2", "extrapolated"]);
        one(
            said(|_, n| n.outputs[0].verdict = Belief::Differs),
            &["state2", "1.40", "1.0e-5", "2 such tests", "doubtful"],
        );
        one(said(|_, n| n.outputs[0].verdict = Belief::FewValues), &["state2", "few values", "not to be believed"]);
    }

    /// What is said of a linear mechanism of two states: the first is multiplied by `growth` at each step, the second is another or the same.
    fn said_of(growth: f64, same: bool) -> Vec<String> {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
        let mut rng = Stream::new(5).named("growth").rng();
        let mut noise = || rng.random::<f64>() - 0.5;
        for i in 0..400u32 {
            let mut first = noise();
            let mut states = Vec::new();
            for _ in 0..4 {
                states.extend([first, if same { first } else { noise() }]);
                first = growth * first + noise();
            }
            let (actions, rewards) = ([i / 2 % 2, i / 4 % 2, i / 8 % 2], [noise(), noise(), noise()]);
            let id = i.to_string();
            builder
                .push(Person { id: &id, level: i % 2, states: &states, actions: &actions, rewards: &rewards })
                .unwrap();
        }
        let panel = builder.finish();
        let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::PerLevel, ..FitSettings::default() };
        let fitted = fit(&panel, &settings).unwrap();
        let diagnostics = Diagnostics { residuals: vec![], dependence: vec![], support: vec![], unseen: vec![] };
        of_mechanism(&fitted, &People::from(panel), &diagnostics, &NoiseCheck { outputs: vec![], pairs: vec![] })
    }

    #[test]
    fn errors_that_may_grow_and_coefficients_that_are_not_determined_are_told() {
        assert_eq!(said_of(0.5, false), Vec::<String>::new());
        let growing = said_of(1.6, false);
        assert!(growing.len() == 1 && growing[0].contains("one-step gain ℓ = 1."), "{growing:?}");
        // Three decisions, so two steps: errors become 1.69 times as large.
        assert_eq!(said_of(1.3, false), Vec::<String>::new());
        // An intercept and two slopes for each of two actions, of which one slope is the other.
        let twice = said_of(0.5, true);
        let expected = "the data determine 4 of 6 coefficients";
        assert!(twice.len() == 2 && twice.iter().all(|line| line.contains(expected)), "{twice:?}");
        assert!(twice[0].contains("group 0") && twice[1].contains("group 1"), "{twice:?}");
    }

    #[test]
    fn many_levels_outside_their_data_share_a_line_about_the_worst() {
        let outside = |levels: usize| {
            said(|d, _| {
                d.support = (0..levels).map(|k| Support { level: k % 3, states: 100, outside: 20 + k }).collect();
            })
        };
        assert_eq!(outside(5).len(), 5);
        let lines = outside(6);
        assert!(lines.len() == 1 && lines[0].contains("25 of 100") && lines[0].contains("5 other groups"), "{lines:?}");
    }

    #[test]
    fn an_outcome_is_worth_a_word_only_when_it_is_bad() {
        let world = ThreeLevels::new(0.5);
        let panel = simulate(&world, &Exogenous::draw(&world, 9, 2, Stream::new(3)));
        let of = |outcome| of_outcome(outcome, &panel);
        assert_eq!(of(Outcome::Converged { iterations: 3 }), None);
        assert_eq!(of(Outcome::IterationLimit { iterations: 3, change: 0.1 }), None);
        let deficient = of(Outcome::RankDeficient { action: 2, rank: 4, features: 6 }).unwrap();
        assert!(deficient.contains("action 2") && deficient.contains("4 of 6"), "{deficient}");
        assert!(of(Outcome::Diverged { iteration: 17 }).unwrap().contains("iteration 17"));
    }

    #[test]
    fn a_policy_that_half_of_the_people_would_change_is_not_sold() {
        let stability = |changed| Stability { changed, most_changed: 0.9, at_stake: 0.03, value_sd: 0.6, splits: 3 };
        assert!(of_stability(&stability(0.19), Some(1)).is_empty());
        let unstable = of_stability(&stability(0.2), Some(1));
        assert!(unstable.len() == 1 && unstable[0].contains("20 %") && unstable[0].contains("5.0 %"), "{unstable:?}");
        let constant = of_stability(&stability(0.0), Some(0));
        assert!(constant.len() == 1 && constant[0].contains("one action is best for everybody"), "{constant:?}");
    }
}
