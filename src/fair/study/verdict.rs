//! What a study comes to: one of a few sentences, by stated rules.
//!
//! The rules are asked in this order; the first that applies decides.
//!
//! | verdict | when |
//! |---|---|
//! | data cannot support a policy | one level or one action; one and the same reward throughout; a level with fewer than [`FEWEST_AT_A_LEVEL`] people; a fit that failed; learning that did not end well; Ours takes one action for everybody; refits on half of the people change at least [`MOST_CHANGED`] of the decisions; at least [`UNSUPPORTED`] of Ours' decisions are actions that people like that hardly ever received; at least [`HELD`] of its action values had to be held within what rewards allow; no interval |
//! | counterfactuals are not to be believed | a coordinate recorded in categories that is carried over; residual spread ([`SD_RATIO`]) or shape ([`SHAPE_DISTANCE`]) that differs between levels beyond the noise model, by a p-value below 0.01 after Holm's correction; [`SUPPORT_OUTSIDE`] or more of a level's counterfactual states where nobody of that level was seen; no CF metric |
//! | unfairness is not measured | a state is kept as observed in every world: unfairness that goes through it is accepted by assumption |
//! | worth more, worth less | the 95 % interval of Ours minus what people received excludes 0 |
//! | no difference can be seen | otherwise |
//!
//! The numbers in the rules are conventions; they are printed with the verdict's reasons so that a reader can disagree.

use super::cross_fit::Crossed;
use super::{DataSummary, Number, SideBySide};
use crate::fair::reservation::DataAlone;
use crate::kernel::people::Panel;
use serde::Serialize;

/// Fewer people at a level than this do not carry a mechanism of their own.
pub const FEWEST_AT_A_LEVEL: usize = 20;
/// Share of decisions that refits on half of the people may not reach.
pub const MOST_CHANGED: f64 = 0.2;
/// Share of decisions that may be extrapolated.
pub const UNSUPPORTED: f64 = 0.1;
/// Share of action values that may have to be held.
pub const HELD: f64 = 0.1;
/// Ratio of residual standard deviations from which counterfactuals are doubted.
pub const SD_RATIO: f64 = 1.25;
/// Kolmogorov distance of residual shapes from which counterfactuals are doubted.
pub const SHAPE_DISTANCE: f64 = 0.1;
/// Share of counterfactual states without data near them from which they are doubted.
pub const SUPPORT_OUTSIDE: f64 = 0.2;
/// Share of decisions with one action from which a policy counts as a constant.
const CONSTANT: f64 = 0.99;

/// What a study comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// The data cannot support a policy.
    CannotSupport {
        /// Why, one reason each.
        because: Vec<String>,
    },
    /// The counterfactuals are not to be believed.
    NotBelievable {
        /// Why, one reason each.
        because: Vec<String>,
    },
    /// Unfairness that goes through a kept state is accepted by assumption: there is no bound of it, and no recommendation.
    NotMeasured {
        /// Ours minus what people received.
        difference: Number,
    },
    /// Ours cannot be told apart from what people received.
    NoDifference {
        /// Ours minus what people received.
        difference: Number,
        /// The CF metric is at most this, with 95 % confidence.
        unfairness: f64,
    },
    /// Ours is worth more than what people received.
    Better {
        /// Ours minus what people received.
        difference: Number,
        /// The CF metric is at most this, with 95 % confidence.
        unfairness: f64,
    },
    /// Ours is worth less than what people received.
    Worse {
        /// Ours minus what people received.
        difference: Number,
        /// The CF metric is at most this, with 95 % confidence.
        unfairness: f64,
    },
}

impl Verdict {
    /// Whether a policy is recommended.
    pub fn recommends(&self) -> bool {
        matches!(self, Self::Better { .. })
    }
}

/// What the rules read.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// What may leave nothing to learn.
    pub data: DataAlone,
    /// The level with the fewest people.
    pub smallest_level: Option<(String, usize)>,
    /// A fit that failed, in words.
    pub failed: Option<String>,
    /// Learning that did not end well, in words.
    pub unfit: Option<String>,
    /// The degree of the differences between actions; 0 treats everybody alike.
    pub contrast_degree: Option<usize>,
    /// The action that Ours takes most often, and its share of decisions.
    pub most_taken: Option<(String, f64)>,
    /// Share of decisions that change between refits on halves.
    pub changed: f64,
    /// Share of Ours' decisions without support.
    pub unsupported: f64,
    /// Share of action values that had to be held.
    pub held: f64,
    /// Doubts about counterfactuals.
    pub doubts: Vec<String>,
    /// Ours minus what people received.
    pub difference: Option<Number>,
    /// The upper bound of Ours' CF metric.
    pub unfairness: Option<f64>,
    /// Why there is no CF metric.
    pub no_metric: Option<String>,
    /// Whether unfairness that goes through a state is accepted by assumption.
    pub accepts: bool,
}

impl Evidence {
    /// What the data alone say.
    pub(super) fn of_data(data: &DataSummary) -> Self {
        let smallest = data.levels.iter().min_by_key(|level| level.people);
        Self {
            data: DataAlone {
                levels: data.levels.len(),
                actions: data.actions.len(),
                decisions: data.decisions,
                rewards: data.rewards.map(|(low, _, high)| (low, high)),
            },
            smallest_level: smallest.map(|level| (level.name.clone(), level.people)),
            ..Self::default()
        }
    }

    /// Whether the data alone decide.
    pub(super) fn stops(&self) -> bool {
        !self.about_data().is_empty()
    }

    /// What policies side by side say.
    pub(super) fn read(&mut self, policies: &SideBySide, panel: &Panel, crossed: &Crossed) {
        if let Some(ours) = policies.row("Ours") {
            self.difference = Some(ours.minus_received);
            self.unfairness = ours.cf_metric.map(|metric| metric.upper);
            self.unsupported = ours.unsupported.unwrap_or(0.0);
            self.held = ours.held.unwrap_or(0.0);
        }
        let of_ours = policies.withheld.iter().find(|(name, _)| name == "Ours").map(|(_, why)| why.clone());
        self.no_metric = policies.no_metric.clone().or(of_ours);
        self.most_taken = crossed.probabilities("Ours").and_then(|along| most_taken(panel, along));
    }

    fn about_data(&self) -> Vec<String> {
        let mut because: Vec<String> = self.failed.iter().cloned().collect();
        because.extend(self.data.reasons());
        if let Some((name, people)) = self.smallest_level.as_ref().filter(|(_, n)| *n < FEWEST_AT_A_LEVEL) {
            because.push(format!(
                "group {name} has {people} people, and {FEWEST_AT_A_LEVEL} are the fewest for a group's own mechanism"
            ));
        }
        because
    }

    fn about_policy(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.0} %", 100.0 * share);
        let mut because: Vec<String> = self.unfit.iter().cloned().collect();
        if self.contrast_degree == Some(0) {
            because.push(
                "no difference between actions that depends on the person can be seen: what was learned from everybody gives one action to all"
                    .into(),
            );
        }
        // A policy that treats everybody alike is no policy, whatever its class could have said.
        let tells_apart = |share: f64| share < CONSTANT || self.contrast_degree == Some(0);
        if let Some((action, share)) = self.most_taken.as_ref().filter(|(_, share)| !tells_apart(*share)) {
            because.push(format!(
                "what was learned gives {action} in {} of decisions: it hardly tells people apart",
                percent(*share)
            ));
        }
        if self.changed >= MOST_CHANGED {
            because.push(format!(
                "learned from half of the people, {} of its decisions change ({} is the limit)",
                percent(self.changed),
                percent(MOST_CHANGED)
            ));
        }
        if self.unsupported >= UNSUPPORTED {
            because.push(format!(
                "{} of its decisions are actions that people like that hardly ever received ({} is the limit)",
                percent(self.unsupported),
                percent(UNSUPPORTED)
            ));
        }
        if self.held >= HELD {
            because.push(format!(
                "{} of its action values had to be held within what rewards allow ({} is the limit): the regressions extrapolate",
                percent(self.held),
                percent(HELD)
            ));
        }
        if self.difference.is_none_or(|difference| difference.interval.is_none()) {
            because.push("its value has no interval".into());
        }
        because
    }
}

/// Decides by the rules of this module.
pub fn decide(evidence: &Evidence) -> Verdict {
    let because = evidence.about_data();
    if !because.is_empty() {
        return Verdict::CannotSupport { because };
    }
    let because = evidence.about_policy();
    if !because.is_empty() {
        return Verdict::CannotSupport { because };
    }
    if let (Some(difference), true, true) = (evidence.difference, evidence.accepts, evidence.doubts.is_empty()) {
        return Verdict::NotMeasured { difference };
    }
    // Why there is no CF metric may be one of the doubts, which is said once.
    let unsaid = evidence.no_metric.iter().filter(|why| !evidence.doubts.contains(why));
    let because: Vec<String> = evidence.doubts.iter().chain(unsaid).cloned().collect();
    let (Some(difference), Some(unfairness), true) = (evidence.difference, evidence.unfairness, because.is_empty())
    else {
        let none = || vec!["people could not be followed in other worlds".to_string()];
        return Verdict::NotBelievable { because: if because.is_empty() { none() } else { because } };
    };
    match difference.excludes_zero() {
        false => Verdict::NoDifference { difference, unfairness },
        true if difference.mean > 0.0 => Verdict::Better { difference, unfairness },
        true => Verdict::Worse { difference, unfairness },
    }
}

/// The action with the largest share of decisions along a policy.
fn most_taken(panel: &Panel, along: &[f64]) -> Option<(String, f64)> {
    let actions = panel.action_names().len();
    let mut sums = vec![0.0; actions];
    for i in 0..panel.people() {
        let first = panel.states_of(i).start;
        for t in 0..panel.decisions_of(i).len() {
            let row = &along[(first + t) * actions..(first + t + 1) * actions];
            sums.iter_mut().zip(row).for_each(|(sum, p)| *sum += p);
        }
    }
    let (action, sum) = sums.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (panel.decisions() > 0).then(|| (panel.action_names().name(action).into(), sum / panel.decisions() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(low: f64, high: f64) -> Number {
        Number { mean: (low + high) / 2.0, standard_error: Some(0.1), interval: Some((low, high)) }
    }

    fn sound() -> Evidence {
        Evidence {
            data: DataAlone { levels: 2, actions: 3, decisions: 9, rewards: Some((-1.0, 2.5)) },
            smallest_level: Some(("f".into(), FEWEST_AT_A_LEVEL)),
            contrast_degree: Some(1),
            most_taken: Some(("a".into(), 0.98)),
            changed: 0.19,
            unsupported: 0.09,
            held: 0.09,
            difference: Some(number(0.1, 0.7)),
            unfairness: Some(0.04),
            ..Evidence::default()
        }
    }

    /// The reasons, when the data cannot support a policy.
    fn reasons(change: impl FnOnce(&mut Evidence)) -> Vec<String> {
        let mut evidence = sound();
        change(&mut evidence);
        match decide(&evidence) {
            Verdict::CannotSupport { because } => because,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn just_within_every_limit_a_policy_is_recommended() {
        let verdict = decide(&sound());
        assert_eq!(verdict, Verdict::Better { difference: number(0.1, 0.7), unfairness: 0.04 });
        assert!(verdict.recommends());
    }

    #[test]
    fn each_limit_by_itself_stops_the_recommendation() {
        let one = |found: Vec<String>, word: &str| assert!(found.len() == 1 && found[0].contains(word), "{found:?}");
        one(reasons(|e| e.data.levels = 1), "same group");
        one(reasons(|e| e.data.actions = 1), "same action");
        one(reasons(|e| e.smallest_level = Some(("f".into(), FEWEST_AT_A_LEVEL - 1))), "group f has 19 people");
        one(reasons(|e| e.failed = Some("a level without data".into())), "without data");
        one(reasons(|e| e.data.rewards = Some((2.5, 2.5))), "2.5 after every decision");
        one(reasons(|e| e.unfit = Some("learning diverged".into())), "diverged");
        one(reasons(|e| e.contrast_degree = Some(0)), "one action to all");
        one(reasons(|e| (e.contrast_degree, e.most_taken) = (Some(0), Some(("a".into(), 1.0)))), "one action to all");
        one(reasons(|e| e.most_taken = Some(("a".into(), 0.99))), "gives a in 99 %");
        one(reasons(|e| e.changed = MOST_CHANGED), "half of the people, 20 %");
        one(reasons(|e| e.unsupported = UNSUPPORTED), "hardly ever");
        one(reasons(|e| e.held = HELD), "held");
        one(reasons(|e| e.difference = None), "no interval");
        one(reasons(|e| e.difference = Some(Number { interval: None, ..number(0.1, 0.7) })), "no interval");
    }

    #[test]
    fn data_are_asked_before_the_policy_and_the_policy_before_counterfactuals() {
        let all = |e: &mut Evidence| {
            e.data.levels = 1;
            e.changed = 0.5;
            e.doubts = vec!["few values".into()];
        };
        assert_eq!(reasons(all).len(), 1);
        assert!(reasons(|e| (e.changed, e.doubts) = (0.5, vec!["few values".into()]))[0].contains("half"));
        let doubted = Evidence { doubts: vec!["few values".into()], ..sound() };
        assert_eq!(decide(&doubted), Verdict::NotBelievable { because: vec!["few values".into()] });
        let none = Evidence { unfairness: None, no_metric: Some("a net".into()), ..sound() };
        assert_eq!(decide(&none), Verdict::NotBelievable { because: vec!["a net".into()] });
        let same = Evidence { doubts: vec!["a net".into(), "few values".into()], ..none };
        assert_eq!(decide(&same), Verdict::NotBelievable { because: vec!["a net".into(), "few values".into()] });
    }

    /// Whatever it would be worth, and whether or not somebody computed a bound.
    #[test]
    fn what_is_accepted_by_assumption_is_never_recommended() {
        for (low, high) in [(0.1, 0.7), (-0.1, 0.7), (-0.7, -0.1)] {
            let evidence = Evidence { accepts: true, difference: Some(number(low, high)), ..sound() };
            let verdict = decide(&evidence);
            assert_eq!(verdict, Verdict::NotMeasured { difference: number(low, high) });
            assert!(!verdict.recommends());
            let doubted = Evidence { doubts: vec!["coarse".into()], ..evidence };
            assert_eq!(decide(&doubted), Verdict::NotBelievable { because: vec!["coarse".into()] });
        }
    }

    #[test]
    fn the_sign_of_the_interval_decides_and_zero_inside_is_no_difference() {
        let of = |low, high| decide(&Evidence { difference: Some(number(low, high)), ..sound() });
        assert!(matches!(of(-0.1, 0.7), Verdict::NoDifference { .. }));
        assert!(matches!(of(-0.7, -0.1), Verdict::Worse { .. }));
        assert!(!of(-0.7, -0.1).recommends() && !of(-0.1, 0.7).recommends());
    }
}
