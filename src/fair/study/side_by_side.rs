//! Policies side by side on one scale: value, difference to what people received, fair value, CF metric.

use super::cross_fit::{Crossed, LEARNED, always};
use super::data::by_column;
use super::{Bounded, CONFIDENCE, Number, PROGRAM};
use crate::audit::holm;
use crate::audit::recorded::{Dropout, RecordedSettings, RecordedValues, Resampled, recorded_values};
use crate::audit::{CrossFitted, ParityGap, SimulatedValue, Simulation, parity_gap_of};
use crate::fair::audit::contradicted;
use crate::fair::{Error, Learner, People};
use crate::kernel::numeric::{Estimate, Law};
use crate::kernel::people::Panel;
use serde::Serialize;

/// All policies of a study.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideBySide {
    /// γ.
    pub discount: f64,
    /// The longest horizon that anybody is valued over.
    pub horizon: usize,
    /// All that rewards allow a value to be.
    pub allowed: (f64, f64),
    /// What people received.
    pub received: Number,
    /// The standard deviation between people of what they received: a unit for differences.
    pub received_sd: Option<f64>,
    /// Σₜ γ^{t−1}, averaged over people: what a value is divided by to be one of a decision.
    pub discounted_decisions: f64,
    /// The same at each level.
    pub received_by_level: Vec<Option<Number>>,
    /// The parity gap of what people received, at the first decision.
    pub received_parity_gap: ParityGap,
    /// The policies: learned ones, mixtures, Random, each action for everybody.
    pub rows: Vec<PolicyRow>,
    /// Why there is no CF metric, where there is none.
    pub no_metric: Option<String>,
    /// Policies whose CF metric is withheld, by name, and why.
    pub withheld: Vec<(String, String)>,
    /// Why there is no fair value, where there is none.
    pub no_fair_value: Option<String>,
    /// What must be known before the numbers are used.
    pub warnings: Vec<String>,
    /// Per person, how often Ours would decide otherwise in another world.
    #[serde(skip)]
    pub(super) ours_by_person: Vec<f64>,
    /// Per decision, the probability of the action that was taken.
    #[serde(skip)]
    pub(super) taken: Vec<f64>,
    /// Policies that give one action to all of each fold, but not the same one in every fold: in how many folds which action.
    pub constant_by_fold: Vec<(String, Vec<(String, usize)>)>,
    /// CF metric between each pair of levels, for Ours, Full and Unaware.
    pub pairs: Vec<(String, String, Vec<Bounded>)>,
    /// Value at each level minus that at the first one, for Ours, Full and Unaware and for what was received, in this order.
    pub level_gaps: Vec<(String, Vec<Option<Number>>)>,
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PolicyRow {
    /// Its name.
    pub name: String,
    /// What it reads and does.
    pub meaning: String,
    /// Its value over the recorded horizon, by fitted Q evaluation.
    pub value: Number,
    /// That minus what people received, paired over people.
    pub minus_received: Number,
    /// Of no difference to what people received.
    pub p_value: f64,
    /// The same, corrected by Holm's method for the number of policies.
    pub p_holm: f64,
    /// The value by the doubly robust estimator, where weights leave enough people.
    pub doubly_robust: Option<Number>,
    /// Ṽ: the part of the value that does not come from treating levels differently.
    pub fair_value: Option<Number>,
    /// J − Ṽ, gained by unfairness; both from people followed with the fitted mechanism.
    pub gained_by_unfairness: Option<Number>,
    /// The CF metric; `None` where it is not known.
    pub cf_metric: Option<Bounded>,
    /// The parity gap at the first decision.
    pub parity_gap: Option<ParityGap>,
    /// The mean over decisions of the probability of an action which people like that hardly ever received.
    pub unsupported: Option<f64>,
    /// The share of action values that had to be held within what rewards allow.
    pub held: Option<f64>,
    /// Whether there were too few rows for functions as rich as they should be.
    pub poor: bool,
    /// Effective people at the last decision.
    pub effective_people: Option<f64>,
    /// Its value at each level.
    pub by_level: Vec<Option<Number>>,
}

/// Weights of Ours in the mixtures of Full and Ours.
const MIXTURES: [f64; 3] = [0.25, 0.5, 0.75];

impl SideBySide {
    pub(super) fn of(
        people: &People,
        crossed: &Crossed,
        learner: &Learner,
        settings: &RecordedSettings,
        unmeasured: Option<&str>,
        watch: &mut dyn FnMut(&str),
    ) -> Result<Self, Error> {
        let panel = people.panel();
        let policies = crossed.borrowed();
        let values = recorded_values(panel, &policies, settings)?;
        watch("following people in all worlds");
        // Where noise is not known or unfairness not measured, neither are the differences between worlds.
        let known = || unmeasured.map_or(Ok(()), |why| Err(why.to_string()));
        let laws: Result<Vec<CrossFitted>, String> =
            known().and_then(|()| (0..LEARNED.len()).map(|which| crossed.unfairness(which, CONFIDENCE)).collect());
        let no_metric = laws.as_ref().err().cloned();
        let laws = laws.unwrap_or_default();
        watch("following people under each policy");
        let simulation = Simulation {
            discount: settings.discount,
            replicates: learner.replicates,
            seed: learner.seed,
            shares: (!learner.preprocessing.level_weights.is_empty())
                .then(|| learner.preprocessing.weights_for(panel))
                .transpose()?,
            completed: settings.dropout != Dropout::AsRecorded,
        };
        let simulated = known().and_then(|()| crossed.simulated(&simulation));
        let no_fair_value = simulated.as_ref().err().cloned();
        let simulated = simulated.unwrap_or_default();
        let mut rows = rows(people, &values, &laws, &simulated);
        for row in rows.iter_mut().filter(|row| LEARNED.iter().any(|(name, _)| *name == row.name)) {
            row.parity_gap = crossed.parity_gap(panel, &row.name, CONFIDENCE);
        }
        let left: Vec<String> = rows
            .iter()
            .filter(|row| row.fair_value.is_none() && LEARNED.iter().any(|(name, _)| *name == row.name))
            .map(|row| row.name.clone())
            .collect();
        let no_fair_value = no_fair_value.or_else(|| {
            (!left.is_empty()).then(|| {
                format!(
                    "following people under {} with the fitted mechanism leads to rewards beyond any on record",
                    left.join(", ")
                )
            })
        });
        if let Some(program) = &crossed.program {
            let unmeasured = unmeasured.map(String::from).or_else(|| program.unmeasured());
            let law = program.unfairness(panel);
            let followed = program.simulated(panel, &simulation);
            program.failure()?;
            if let Some(row) = rows.iter_mut().find(|row| row.name == PROGRAM) {
                if let Ok(law) = law {
                    row.cf_metric = unmeasured.is_none().then(|| Bounded::from(&law.metric));
                    row.parity_gap = Some(law.parity_gap);
                }
                if let (Ok(found), None) = (followed, unmeasured) {
                    row.simulate(&found, values.allowed, panel.people());
                }
            }
        }
        let withheld = withhold(&mut rows);
        let corrected = holm(&rows.iter().map(|row| row.p_value).collect::<Vec<_>>());
        rows.iter_mut().zip(corrected).for_each(|(row, p)| row.p_holm = p);
        let name = |k: usize| panel.levels().name(k).to_string();
        // Where a bound is withheld, none is given of its pairs of levels, nor of anybody's decisions.
        let laws = if withheld.is_empty() { laws } else { vec![] };
        let pairs = laws.first().map_or(vec![], |first| {
            let of = |(i, ((a, b), _)): (usize, &((usize, usize), Law))| {
                (name(*a), name(*b), laws.iter().map(|found| Bounded::from(&found.law.pairs[i].1)).collect())
            };
            first.law.pairs.iter().enumerate().map(of).collect()
        });
        let gaps = |by_level: &[Option<Resampled>]| -> Vec<Option<Number>> {
            let first = by_level.first().and_then(Option::as_ref);
            by_level.iter().skip(1).map(|z| Some(Number::from(&z.as_ref()?.minus(first?)))).collect()
        };
        let mut level_gaps: Vec<_> = LEARNED
            .iter()
            .filter_map(|(name, _)| Some((name.to_string(), gaps(&values.policy(name)?.by_level))))
            .collect();
        level_gaps.push(("received".into(), gaps(&values.received_by_level)));
        Ok(Self {
            discount: values.discount,
            horizon: values.horizon,
            allowed: values.allowed,
            received: Number::from(&values.received).within(values.allowed),
            received_sd: received_sd(panel, settings.discount),
            discounted_decisions: discounted_decisions(panel, settings),
            received_by_level: numbers(&values.received_by_level, values.allowed),
            received_parity_gap: received_gap(panel),
            rows,
            no_metric,
            withheld,
            no_fair_value,
            // Warnings about policies that nobody would use say nothing about the study.
            warnings: values
                .warnings
                .iter()
                .filter(|text| !is_about_everybody(text))
                .map(|text| by_column(text, &people.state_names()))
                .collect(),
            taken: values.taken.clone(),
            ours_by_person: laws.first().map_or(vec![], |ours| crossed.in_panel_order(panel, &ours.by_person)),
            constant_by_fold: LEARNED
                .iter()
                .filter_map(|(name, _)| Some((name.to_string(), crossed.constant_by_fold(panel, name)?)))
                .collect(),
            pairs,
            level_gaps,
        })
    }

    /// The policy of this name.
    pub fn row(&self, name: &str) -> Option<&PolicyRow> {
        self.rows.iter().find(|row| row.name == name)
    }
}

/// Takes away bounds that lie below the lower bound of the same policy, and those of mixtures with it; says of which policies, and why.
fn withhold(rows: &mut [PolicyRow]) -> Vec<(String, String)> {
    let contradicts = |row: &PolicyRow| {
        let why = contradicted(row.cf_metric?.upper, row.parity_gap.as_ref()?)?;
        Some((row.name.clone(), why))
    };
    let mut withheld: Vec<(String, String)> = rows.iter().filter_map(contradicts).collect();
    if withheld.iter().any(|(name, _)| name == "Ours" || name == "Full") {
        let mixtures = rows.iter().filter(|row| row.name.contains(" % Ours, ") && row.cf_metric.is_some());
        withheld.extend(mixtures.map(|row| (row.name.clone(), "it mixes Ours and Full".into())));
    }
    for row in rows.iter_mut().filter(|row| withheld.iter().any(|(name, _)| *name == row.name)) {
        row.cf_metric = None;
    }
    withheld
}

fn is_about_everybody(text: &str) -> bool {
    text.split(": ").next().is_some_and(|name| name.ends_with(" for everybody") || name == "Random")
}

fn numbers(by_level: &[Option<Resampled>], allowed: (f64, f64)) -> Vec<Option<Number>> {
    by_level.iter().map(|value| value.as_ref().map(|value| Number::from(value).within(allowed))).collect()
}

impl PolicyRow {
    /// Puts in what following people showed, unless it left what rewards allow.
    ///
    /// Intervals are mean ± t standard errors, as those of values. The central share of the replicates covers as often (tests/coverage).
    fn simulate(&mut self, found: &SimulatedValue, allowed: (f64, f64), people: usize) {
        let number = |draws: Vec<f64>| {
            let law = Law::of(draws);
            Number::from(Estimate { mean: law.mean(), standard_error: law.standard_error(), count: people })
        };
        let fair = number(found.fair.clone());
        if (allowed.0..=allowed.1).contains(&fair.mean) {
            let most = allowed.1 - allowed.0;
            let draws: Vec<f64> = found.value.iter().zip(&found.fair).map(|(j, v)| j - v).collect();
            // A rule that looks at nobody gains exactly nothing; what is left of the subtraction is rounding.
            let rounding = 1e-9 * most.max(allowed.0.abs()).max(allowed.1.abs());
            let nothing = draws.iter().all(|gained| gained.abs() <= rounding);
            let gained = if nothing { Number::exact(0.0) } else { number(draws) };
            // Then Ṽ = J, and one number under two names is printed once.
            self.fair_value = Some(if nothing { self.value } else { fair.within(allowed) });
            self.gained_by_unfairness = Some(gained.within((-most, most)));
        }
    }
}

fn rows(
    people: &People,
    values: &RecordedValues,
    laws: &[CrossFitted],
    simulated: &[SimulatedValue],
) -> Vec<PolicyRow> {
    let panel = people.panel();
    let most = values.allowed.1 - values.allowed.0;
    let row = |name: String, meaning: String, value: &Resampled| {
        let minus = value.minus(&values.received);
        PolicyRow {
            name,
            meaning,
            value: Number::from(value).within(values.allowed),
            minus_received: Number::from(&minus).within((-most, most)),
            p_value: minus.p_value(),
            p_holm: 1.0,
            doubly_robust: None,
            fair_value: None,
            gained_by_unfairness: None,
            cf_metric: None,
            parity_gap: None,
            unsupported: None,
            held: None,
            poor: false,
            effective_people: None,
            by_level: vec![],
        }
    };
    let of = |name: &str, meaning: &str| -> Option<PolicyRow> {
        let found = values.policy(name)?;
        Some(PolicyRow {
            doubly_robust: found.doubly_robust.as_ref().ok().map(|e| Number::from(*e).within(values.allowed)),
            unsupported: Some(found.weights.unsupported.clamp(0.0, 1.0)),
            held: Some(found.held),
            poor: found.poor,
            effective_people: found.weights.effective_people.last().copied(),
            by_level: numbers(&found.by_level, values.allowed),
            ..row(name.into(), meaning.into(), &found.value)
        })
    };
    let mut rows = Vec::new();
    let meanings = [
        "fair: decides from the states of all levels at once",
        "reads the state and the level",
        "reads the state without the level",
    ];
    for (which, ((name, _), meaning)) in LEARNED.iter().zip(meanings).enumerate() {
        let Some(mut found) = of(name, meaning) else { continue };
        if let Some(law) = laws.get(which) {
            found.cf_metric = Some(Bounded::from(&law.law.metric));
        }
        if let Some(simulated) = simulated.get(which) {
            found.simulate(simulated, values.allowed, panel.people());
        }
        rows.push(found);
    }
    if let (Some(ours), Some(full)) = (values.policy("Ours"), values.policy("Full")) {
        for weight in MIXTURES {
            let percent = (100.0 * weight).round();
            let blended = full.value.blended(&ours.value, weight);
            let meaning = format!("each person by Ours with probability {percent} %, otherwise by Full, throughout");
            let mut found = row(format!("{percent} % Ours, {} % Full", 100.0 - percent), meaning, &blended);
            if let [ours, full, ..] = laws {
                found.cf_metric = Some(Bounded::from(&mixed(ours, full, weight)));
            }
            if let [ours, full, ..] = simulated {
                found.simulate(&blended_simulation(ours, full, weight), values.allowed, panel.people());
            }
            rows.push(found);
        }
    }
    let nobody = Bounded { number: Number::exact(0.0), upper: 0.0 };
    let none = ParityGap { estimate: 0.0, interval: (0.0, 0.0), pair: (0, 0) };
    // Who does not look at people gains nothing by it: J = Ṽ.
    let blind = |found: PolicyRow| PolicyRow {
        cf_metric: Some(nobody),
        parity_gap: Some(none),
        fair_value: Some(found.value),
        gained_by_unfairness: Some(Number::exact(0.0)),
        ..found
    };
    rows.extend(of(PROGRAM, "decides elsewhere; judged on everybody"));
    rows.extend(of("Random", "every action with equal probability").map(blind));
    for action in panel.action_names().names() {
        rows.extend(of(&always(action), "the same for everybody").map(blind));
    }
    rows
}

/// The law of the CF metric of a mixture with one coin a person: shares of decisions mix as the policies do, replicate by replicate.
fn mixed(ours: &CrossFitted, full: &CrossFitted, weight: f64) -> Law {
    let draws = ours.shares.iter().zip(&full.shares).map(|(ours, full)| {
        let both = ours.iter().zip(full).map(|(o, f)| weight * o + (1.0 - weight) * f);
        both.fold(0.0, f64::max)
    });
    Law::of(draws.collect())
}

/// J and Ṽ of the same mixture.
fn blended_simulation(ours: &SimulatedValue, full: &SimulatedValue, weight: f64) -> SimulatedValue {
    let blend = |ours: &[f64], full: &[f64]| -> Vec<f64> {
        ours.iter().zip(full).map(|(o, f)| weight * o + (1.0 - weight) * f).collect()
    };
    SimulatedValue { value: blend(&ours.value, &full.value), fair: blend(&ours.fair, &full.fair) }
}

/// The standard deviation of discounted sums of rewards between people with a decision; `None` of fewer than two.
fn received_sd(panel: &Panel, discount: f64) -> Option<f64> {
    let deciding = panel.iter().filter(|person| !person.rewards.is_empty());
    let sums: Vec<f64> =
        deciding.map(|person| person.rewards.iter().rev().fold(0.0, |later, r| r + discount * later)).collect();
    let found = Estimate::of(&sums);
    (found.count > 1).then(|| found.standard_error * (found.count as f64).sqrt())
}

/// How many decisions a value is a sum over, each counted by its discount.
fn discounted_decisions(panel: &Panel, settings: &RecordedSettings) -> f64 {
    let sum = |decisions: usize| (0..decisions).map(|t| settings.discount.powi(t as i32)).sum::<f64>();
    match settings.dropout {
        Dropout::Weighted { horizon } => sum(horizon.unwrap_or(panel.horizon())),
        Dropout::AsRecorded => {
            let own: Vec<f64> = panel.iter().map(|p| p.actions.len()).filter(|n| *n > 0).map(sum).collect();
            own.iter().sum::<f64>() / own.len().max(1) as f64
        }
    }
}

/// The parity gap of the first actions that people received.
fn received_gap(panel: &Panel) -> ParityGap {
    let actions = panel.action_names().len();
    let (mut own, mut taken) = (vec![], vec![]);
    for person in panel.iter() {
        if let Some(&first) = person.actions.first() {
            own.push(person.level);
            taken.extend((0..actions).map(|a| f64::from(u8::from(a == first as usize))));
        }
    }
    parity_gap_of(&own, panel.levels().len(), &taken, actions, CONFIDENCE)
}
