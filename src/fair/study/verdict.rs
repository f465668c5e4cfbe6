//! What a study comes to: one of four sentences, by stated rules.
//!
//! The rules are asked in this order; the first that applies decides.
//!
//! | verdict | when |
//! |---|---|
//! | no study is possible | nobody decided anything; one level or one action; one and the same reward throughout; nothing could be fitted |
//! | a policy that tells people apart | learning ended well, its contrasts between actions have degree 1 or more, and it gives no action in [`CONSTANT`] of decisions or more; the 95 % interval of Ours minus what people received is above 0; Ours is worth more than the best supported single action, if there is one; no doubt reverses it |
//! | give X to everybody | of the actions whose p-value, corrected by Holm's method over all actions, is below [`LEVEL`] and whose interval is above 0, X is worth most; no doubt about its value reverses it |
//! | a policy that tells people apart, not recommended | as above, but a doubt reverses it |
//! | no difference can be seen | otherwise; where the interval of Ours is below 0: keep what you do |
//!
//! A doubt has a size, and reverses a recommendation only when it is as large as what is recommended for:
//!
//! | doubt | size | reverses when |
//! |---|---|---|
//! | decisions without support; action values that had to be held | their share × a standard deviation of the reward, over all decisions | the lower end of the interval is no larger |
//! | too few rows for a quadratic | half the width of the interval | the same |
//! | the past predicts what the state does not (Markov) | the change of the difference when the past is read as well | its sign is lost |
//! | refits on halves of the people decide otherwise | their share × what is at stake, over all decisions | the difference is no larger |
//! | noise differs between groups beyond its model; other worlds' states where nobody was seen | a share of decisions | the bound of unfairness and it reach Unaware's CF metric |
//! | Ours is no fairer than Unaware, or its unfairness is not known | – | always |
//!
//! Doubts about other worlds do not touch one action for everybody. The numbers in the rules are conventions; they are printed with the verdict's
//! doubts so that a reader can disagree.

use super::{DataSummary, Number};
use crate::fair::caution::{Caution, Size, Subject};
use crate::fair::reservation::DataAlone;
use crate::kernel::people::Panel;
use serde::Serialize;

/// Fewer people at a level than this do not carry a mechanism of their own.
pub const FEWEST_AT_A_LEVEL: usize = 20;
/// Ratio of residual standard deviations from which counterfactuals are doubted.
pub const SD_RATIO: f64 = 1.25;
/// Kolmogorov distance of residual shapes from which counterfactuals are doubted.
pub const SHAPE_DISTANCE: f64 = 0.1;
/// Share of counterfactual states without data near them from which they are doubted.
pub const SUPPORT_OUTSIDE: f64 = 0.2;
/// Share of decisions with one action from which a policy counts as a constant.
pub const CONSTANT: f64 = 0.99;
/// The familywise error of "no action for everybody is better than what people received", Holm's method over the actions.
pub const LEVEL: f64 = 0.05;
/// Share of decisions without support, and of action values that were held, from which there is a doubt.
pub const NOTABLE: f64 = 0.05;
/// A value that moves by more than this share of its half-width when the past is read as well is doubted.
pub const MOVES: f64 = 0.5;
/// Share of decisions that refits on halves of the people may change without a word.
pub const MOST_CHANGED: f64 = 0.2;

/// What a study comes to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Verdict {
    /// No study is possible.
    NotPossible {
        /// Why, one reason each.
        because: Vec<String>,
    },
    /// One action for everybody.
    OneForAll {
        /// The action.
        action: String,
        /// Its value minus what people received.
        difference: Number,
    },
    /// A policy that tells people apart.
    TellsApart {
        /// Ours minus what people received.
        difference: Number,
        /// The single action that is worth most, and Ours minus it.
        best_single: Option<(String, Number)>,
        /// The CF metric is at most this, with 95 % confidence; `None` where it is not known.
        unfairness: Option<f64>,
        /// Whether it is recommended: no doubt could reverse it.
        recommended: bool,
    },
    /// Nothing that was learned can be told apart from what people received, or it is worth less.
    NoDifference {
        /// Ours minus what people received.
        difference: Number,
    },
}

impl Verdict {
    /// Whether a policy is recommended.
    pub fn recommends(&self) -> bool {
        matches!(self, Self::OneForAll { .. } | Self::TellsApart { recommended: true, .. })
    }
}

/// What a policy is worth beyond what people received, and what speaks against the number.
#[derive(Debug, Clone)]
pub struct Gain {
    /// The policy, as the page calls it.
    pub name: String,
    /// Its value minus what people received.
    pub difference: Number,
    /// The same when a person's past is read as well.
    pub with_history: Option<Number>,
    /// Share of its decisions without support.
    pub unsupported: f64,
    /// Share of its action values that had to be held.
    pub held: f64,
    /// Whether its regressions are poorer than they should be.
    pub poor: bool,
}

/// One action for everybody.
#[derive(Debug, Clone)]
pub struct Single {
    /// The action.
    pub action: String,
    /// What it is worth.
    pub gain: Gain,
    /// Of no difference to what people received, corrected for the number of actions.
    pub p: f64,
}

/// The policy that was learned.
#[derive(Debug, Clone)]
pub struct Learned {
    /// What it is worth.
    pub gain: Gain,
    /// Learning that did not end well, in words.
    pub unfit: Option<String>,
    /// The degree of the differences between actions; 0 treats everybody alike.
    pub contrast_degree: Option<usize>,
    /// The action that it takes most often, and its share of decisions.
    pub most_taken: Option<(String, f64)>,
    /// The single action that is worth most, and Ours minus it.
    pub minus_best: Option<(String, Number)>,
    /// Share of decisions that change between refits on halves, and the value at stake in each.
    pub changed: Option<(f64, f64)>,
    /// The upper bound of its CF metric.
    pub unfairness: Option<f64>,
    /// The estimates of its CF metric and of Unaware's.
    pub fairer: Option<(f64, f64)>,
    /// Why there is no CF metric.
    pub no_metric: Option<String>,
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
    /// What was learned.
    pub ours: Option<Learned>,
    /// Each action for everybody.
    pub singles: Vec<Single>,
    /// Doubts about counterfactuals, with sizes as shares of decisions.
    pub counterfactuals: Vec<Caution>,
    /// One standard deviation of the reward in every decision: Σₜ γ^{t−1} sd.
    pub spread: f64,
    /// Σₜ γ^{t−1}, averaged over people.
    pub decisions: f64,
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

    /// Why no study is possible, one reason each.
    pub(super) fn not_possible(&self) -> Vec<String> {
        self.failed.iter().cloned().chain(self.data.reasons()).collect()
    }

    /// Of the actions that are worth more than what people received, the one that is worth most.
    fn best_single(&self) -> Option<&Single> {
        let supported =
            |single: &&Single| single.p < LEVEL && single.gain.is_above_zero() && !self.reversed(&single.gain);
        self.singles
            .iter()
            .filter(supported)
            .max_by(|one, other| one.gain.difference.mean.total_cmp(&other.gain.difference.mean))
    }

    fn reversed(&self, gain: &Gain) -> bool {
        self.about_value(gain).iter().any(|doubt| doubt.withdraws)
    }

    /// Doubts about a value.
    fn about_value(&self, gain: &Gain) -> Vec<Caution> {
        let Gain { name, difference, with_history, unsupported, held, poor } = gain;
        let (low, high) = difference.interval.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let half = (high - low) / 2.0;
        let mut found = Vec::new();
        let mut push = |says: String, size: f64, reverses: bool| {
            found.push(Caution::new(Subject::Value, says).sized(Size::Value(size), reverses));
        };
        for (share, of_what) in [
            (unsupported, "of its decisions are actions that people like that hardly ever received"),
            (held, "of its action values had to be held within what rewards allow"),
        ] {
            if *share > NOTABLE {
                let size = share * self.spread;
                push(
                    format!(
                        "{name}: {:.0} % {of_what}: were the reward wrong by a standard deviation in each, its value would be wrong by {size:.3}",
                        100.0 * share
                    ),
                    size,
                    low <= size,
                );
            }
        }
        if *poor {
            let says = format!(
                "{name}: there are too few rows for its regressions, and its value may be biased by half of its interval"
            );
            push(says, half, low <= half);
        }
        if let Some(past) = with_history {
            let size = (past.mean - difference.mean).abs();
            if size > MOVES * half {
                let lost = past.mean.signum() != difference.mean.signum();
                push(
                    format!(
                        "{name}: read with a person's past as well it is worth {:.3} beyond what people received, and {:.3} without: the state \
                         alone does not tell what follows (the Markov assumption fails), as when something about the person is not recorded",
                        past.mean, difference.mean
                    ),
                    size,
                    lost,
                );
            }
        }
        found
    }

    /// Doubts about the policy that was learned.
    fn about_ours(&self, ours: &Learned) -> Vec<Caution> {
        let mut doubts = self.about_value(&ours.gain);
        if let Some((changed, stake)) = ours.changed.filter(|(changed, _)| *changed >= MOST_CHANGED) {
            let size = changed * stake * self.decisions;
            let says = format!(
                "learned from half of the people, Ours decides otherwise in {:.0} % of decisions, with {size:.3} of value at stake in all",
                100.0 * changed
            );
            let reverses = ours.gain.difference.mean <= size;
            doubts.push(Caution::new(Subject::Stability, says).sized(Size::Value(size), reverses));
        }
        doubts.extend(self.about_fairness(ours));
        doubts
    }

    fn about_fairness(&self, ours: &Learned) -> Vec<Caution> {
        let mut doubts: Vec<Caution> = Vec::new();
        let unaware = ours.fairer.map(|(_, unaware)| unaware);
        for doubt in &self.counterfactuals {
            let reverses = match (doubt.size, ours.unfairness, unaware) {
                (Some(Size::Unfairness(size)), Some(upper), Some(unaware)) => upper + size >= unaware,
                _ => true,
            };
            doubts.push(Caution { withdraws: reverses, ..doubt.clone() });
        }
        if let Some((name, people)) = self.smallest_level.as_ref().filter(|(_, n)| *n < FEWEST_AT_A_LEVEL) {
            let says = format!(
                "group {name} has {people} people, and {FEWEST_AT_A_LEVEL} are the fewest for a group's own mechanism"
            );
            doubts.push(Caution::new(Subject::Counterfactuals, says).of_unknown_size());
        }
        match (ours.unfairness, ours.fairer) {
            (None, _) => {
                // Why there is no CF metric may be one of the doubts, which is said once.
                let why = ours.no_metric.clone().unwrap_or("people could not be followed in other worlds".into());
                match doubts.iter_mut().find(|doubt| doubt.says == why) {
                    Some(said) => said.withdraws = true,
                    None => {
                        let says = format!("how unfair Ours is, is not known: {why}");
                        doubts.push(Caution::new(Subject::Counterfactuals, says).of_unknown_size());
                    }
                }
            }
            (Some(_), Some((own, unaware))) if own >= unaware => {
                let says = format!(
                    "Ours is no fairer than a policy that does not read the group: {own:.3} of its decisions would differ in another world, and \
                     {unaware:.3} of Unaware's"
                );
                doubts.push(Caution::new(Subject::Counterfactuals, says).sized(Size::Unfairness(own - unaware), true));
            }
            _ => {}
        }
        doubts
    }
}

impl Gain {
    fn is_above_zero(&self) -> bool {
        self.difference.interval.is_some_and(|(low, _)| low > 0.0)
    }
}

impl Learned {
    /// Whether it was learned to its end, and gives people different actions.
    fn tells_people_apart(&self) -> bool {
        let constant = self.most_taken.as_ref().is_some_and(|(_, share)| *share >= CONSTANT);
        self.unfit.is_none() && self.contrast_degree != Some(0) && !constant
    }
}

/// Decides by the rules of this module: the verdict, and the doubts about what it says.
pub fn decide(evidence: &Evidence) -> (Verdict, Vec<Caution>) {
    let because = evidence.not_possible();
    if !because.is_empty() {
        return (Verdict::NotPossible { because }, vec![]);
    }
    let single = evidence.best_single();
    let one_for_all = |single: &Single| {
        let verdict = Verdict::OneForAll { action: single.action.clone(), difference: single.gain.difference };
        (verdict, evidence.about_value(&single.gain))
    };
    let Some(ours) = &evidence.ours else {
        return single.map_or_else(
            || (Verdict::NotPossible { because: vec!["no policy could be learned".into()] }, vec![]),
            one_for_all,
        );
    };
    let difference = ours.gain.difference;
    let beats = |(_, number): &(String, Number)| number.mean > 0.0;
    let better = ours.tells_people_apart()
        && ours.gain.is_above_zero()
        && (single.is_none() || ours.minus_best.as_ref().is_none_or(beats));
    let doubts = if better { evidence.about_ours(ours) } else { vec![] };
    let recommended = better && !doubts.iter().any(|doubt| doubt.withdraws);
    match single {
        Some(single) if !recommended => one_for_all(single),
        _ if better => {
            let (best_single, unfairness) = (ours.minus_best.clone(), ours.unfairness);
            (Verdict::TellsApart { difference, best_single, unfairness, recommended }, doubts)
        }
        _ => (Verdict::NoDifference { difference }, evidence.about_value(&ours.gain)),
    }
}

/// The action with the largest share of decisions along a policy.
pub(super) fn most_taken(panel: &Panel, along: &[f64]) -> Option<(String, f64)> {
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

    fn gain(low: f64, high: f64) -> Gain {
        let difference = number(low, high);
        Gain { name: "Ours".into(), difference, with_history: None, unsupported: NOTABLE, held: NOTABLE, poor: false }
    }

    fn single(action: &str, low: f64, high: f64, p: f64) -> Single {
        Single { action: action.into(), gain: Gain { name: format!("{action} for everybody"), ..gain(low, high) }, p }
    }

    /// Everything just within its limit.
    fn sound() -> Evidence {
        Evidence {
            data: DataAlone { levels: 2, actions: 3, decisions: 9, rewards: Some((-1.0, 2.5)) },
            smallest_level: Some(("f".into(), FEWEST_AT_A_LEVEL)),
            failed: None,
            ours: Some(Learned {
                gain: gain(0.1, 0.7),
                unfit: None,
                contrast_degree: Some(1),
                most_taken: Some(("a".into(), 0.98)),
                minus_best: Some(("a".into(), number(-0.1, 0.3))),
                changed: Some((0.19, 9.0)),
                unfairness: Some(0.04),
                fairer: Some((0.02, 0.3)),
                no_metric: None,
            }),
            singles: vec![],
            counterfactuals: vec![],
            spread: 8.0,
            decisions: 4.0,
        }
    }

    fn changed(change: impl FnOnce(&mut Evidence)) -> (Verdict, Vec<Caution>) {
        let mut evidence = sound();
        change(&mut evidence);
        decide(&evidence)
    }

    fn ours(change: impl FnOnce(&mut Learned)) -> (Verdict, Vec<Caution>) {
        changed(|evidence| change(evidence.ours.as_mut().expect("a policy")))
    }

    #[test]
    fn just_within_every_limit_a_policy_is_recommended_without_a_doubt() {
        let (verdict, doubts) = decide(&sound());
        let expected = Verdict::TellsApart {
            difference: number(0.1, 0.7),
            best_single: Some(("a".into(), number(-0.1, 0.3))),
            unfairness: Some(0.04),
            recommended: true,
        };
        assert_eq!((&verdict, doubts.len()), (&expected, 0));
        assert!(verdict.recommends());
    }

    #[test]
    fn no_study_is_possible_for_reasons_that_lie_in_the_data_alone() {
        let one = |(verdict, doubts): (Verdict, Vec<Caution>), word: &str| match verdict {
            Verdict::NotPossible { because } => {
                assert!(because.len() == 1 && because[0].contains(word) && doubts.is_empty(), "{because:?}");
            }
            other => panic!("{other:?}"),
        };
        one(changed(|e| e.data.levels = 1), "same group");
        one(changed(|e| e.data.actions = 1), "same action");
        one(changed(|e| e.data.decisions = 0), "no decision");
        one(changed(|e| e.data.rewards = Some((2.5, 2.5))), "2.5 after every decision");
        one(changed(|e| e.failed = Some("a level without data".into())), "without data");
    }

    #[test]
    fn what_treats_everybody_alike_or_did_not_end_well_tells_nobody_apart() {
        let none =
            |found: (Verdict, Vec<Caution>)| assert!(matches!(found.0, Verdict::NoDifference { .. }), "{found:?}");
        none(ours(|o| o.contrast_degree = Some(0)));
        none(ours(|o| o.most_taken = Some(("a".into(), CONSTANT))));
        none(ours(|o| o.unfit = Some("diverged".into())));
        none(ours(|o| o.gain.difference = number(0.0, 0.7)));
        none(ours(|o| o.gain.difference = number(-0.7, -0.1)));
        none(ours(|o| o.gain.difference.interval = None));
    }

    #[test]
    fn of_two_the_one_that_is_worth_more_is_said_and_the_fair_one_where_the_other_is_doubted() {
        let go = || vec![single("go", 0.2, 0.4, 0.01), single("stay", 0.1, 0.3, 0.01)];
        let apart = changed(|e| e.singles = go()).0;
        assert!(matches!(apart, Verdict::TellsApart { recommended: true, .. }), "{apart:?}");
        let one = Verdict::OneForAll { action: "go".into(), difference: number(0.2, 0.4) };
        let less = changed(|e| {
            e.singles = go();
            e.ours.as_mut().unwrap().minus_best = Some(("go".into(), number(-0.3, 0.2)));
        });
        assert_eq!(less.0, one);
        // A doubt about other worlds leaves it untouched, and unsaid.
        let doubted = changed(|e| {
            e.singles = go();
            e.smallest_level = Some(("f".into(), 3));
        });
        assert_eq!(doubted, (one, vec![]));
    }

    #[test]
    fn an_action_for_all_needs_its_interval_its_corrected_p_and_a_value_that_no_doubt_reverses() {
        let verdict = |change: &dyn Fn(&mut Single)| {
            let mut go = single("go", 0.1, 0.5, 0.049);
            change(&mut go);
            let found = changed(|e| {
                e.ours.as_mut().unwrap().contrast_degree = Some(0);
                e.singles = vec![go];
            });
            matches!(found.0, Verdict::OneForAll { .. })
        };
        assert!(verdict(&|_| {}));
        assert!(!verdict(&|go| go.p = LEVEL));
        assert!(!verdict(&|go| go.gain.difference = number(0.0, 0.5)));
        assert!(!verdict(&|go| go.gain.difference.interval = None));
        assert!(!verdict(&|go| go.gain.unsupported = 0.06), "0.06 × 8 is more than 0.1");
        assert!(!verdict(&|go| go.gain.held = 0.06));
        assert!(!verdict(&|go| go.gain.poor = true));
        assert!(!verdict(&|go| go.gain.with_history = Some(number(-0.2, 0.1))));
        assert!(verdict(&|go| go.gain.with_history = Some(number(0.0, 0.1))), "the sign is kept");
    }

    #[test]
    fn a_doubt_withdraws_what_it_could_reverse_and_nothing_else() {
        let one = |found: (Verdict, Vec<Caution>), about: Subject, word: &str, withdraws: bool| {
            let (verdict, doubts) = found;
            assert!(
                matches!(verdict, Verdict::TellsApart { recommended, .. } if recommended != withdraws),
                "{verdict:?}"
            );
            assert!(doubts.len() == 1 && doubts[0].about == about && doubts[0].says.contains(word), "{doubts:?}");
            assert_eq!(doubts[0].withdraws, withdraws, "{doubts:?}");
        };
        let far = |o: &mut Learned| o.gain.difference = number(1.0, 1.6);
        one(ours(|o| o.gain.unsupported = 0.06), Subject::Value, "hardly ever", true);
        one(ours(|o| (far(o), o.gain.unsupported = 0.06).0), Subject::Value, "0.480", false);
        one(ours(|o| o.gain.held = 0.06), Subject::Value, "held", true);
        one(ours(|o| o.gain.poor = true), Subject::Value, "too few rows", true);
        one(ours(|o| (far(o), o.gain.poor = true).0), Subject::Value, "too few rows", false);
        one(ours(|o| o.changed = Some((MOST_CHANGED, 0.6))), Subject::Stability, "20 %", true);
        one(ours(|o| o.changed = Some((MOST_CHANGED, 0.4))), Subject::Stability, "0.320", false);
        one(ours(|o| o.gain.with_history = Some(number(-0.3, 0.2))), Subject::Value, "Markov", true);
        one(ours(|o| o.gain.with_history = Some(number(0.1, 0.38))), Subject::Value, "0.240", false);
        assert!(ours(|o| o.gain.with_history = Some(number(0.1, 0.42))).1.is_empty(), "less than half a half-width");
        one(ours(|o| o.unfairness = None), Subject::Counterfactuals, "not known", true);
        one(ours(|o| o.fairer = Some((0.3, 0.3))), Subject::Counterfactuals, "no fairer", true);
        let small = |e: &mut Evidence| e.smallest_level = Some(("f".into(), FEWEST_AT_A_LEVEL - 1));
        one(changed(small), Subject::Counterfactuals, "group f has 19 people", true);
        let shape = |size| Caution::new(Subject::Counterfactuals, "shape").sized(Size::Unfairness(size), false);
        one(changed(|e| e.counterfactuals = vec![shape(0.2)]), Subject::Counterfactuals, "shape", false);
        one(changed(|e| e.counterfactuals = vec![shape(0.26)]), Subject::Counterfactuals, "shape", true);
    }

    #[test]
    fn why_there_is_no_cf_metric_is_said_once() {
        let coarse = Caution::new(Subject::Counterfactuals, "coarse");
        let (verdict, doubts) = changed(|e| {
            e.counterfactuals = vec![coarse];
            let ours = e.ours.as_mut().unwrap();
            (ours.unfairness, ours.fairer, ours.no_metric) = (None, None, Some("coarse".into()));
        });
        assert!(!verdict.recommends());
        assert!(doubts.len() == 1 && doubts[0].withdraws, "{doubts:?}");
    }
}
