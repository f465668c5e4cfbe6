//! What must be said wherever a policy goes: why no study of its people is possible, and why its unfairness is not known.

use super::People;
use super::recorded_steps::{Coarse, Grain, Values};
use crate::estimate::{Fitted, FittedNoise, Nature, OutputSet};
use crate::kernel::people::{BlocksError, Panel, People as Source, Shape, try_each};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A reason not to rely on a policy that no number tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reservation {
    /// What it is about.
    pub about: About,
    /// The reason, in words.
    pub says: String,
}

/// What a reservation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum About {
    /// The data leave nothing to learn: one group, one action, one reward, no decision.
    Data,
    /// A state is kept: unfairness that goes through it is accepted by assumption.
    KeptState,
    /// A state is recorded in categories, which do not determine a person's noise.
    RecordedSteps,
}

impl fmt::Display for Reservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.says)
    }
}

impl Reservation {
    /// Whether it keeps unfairness from being measured.
    pub fn is_about_fairness(&self) -> bool {
        self.about != About::Data
    }
}

/// Why data leave nothing to learn, whatever the method.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DataAlone {
    /// K.
    pub levels: usize,
    /// |A|.
    pub actions: usize,
    /// Σ Tᵢ.
    pub decisions: usize,
    /// The smallest and the largest reward.
    pub rewards: Option<(f64, f64)>,
}

impl DataAlone {
    fn add(&mut self, panel: &Panel) {
        self.decisions += panel.decisions();
        for &r in panel.rewards() {
            let (low, high) = self.rewards.unwrap_or((r, r));
            self.rewards = Some((low.min(r), high.max(r)));
        }
    }

    /// One reason each.
    pub fn reasons(&self) -> Vec<String> {
        let mut because = Vec::new();
        if self.decisions == 0 {
            because.push("there is no decision on record".to_string());
        }
        if self.levels < 2 {
            because.push("everybody is in the same group: there is nobody to be fair between".into());
        }
        if self.actions < 2 {
            because.push("everybody received the same action: nothing is known about another".into());
        }
        if let Some((reward, _)) = self.rewards.filter(|(low, high)| low == high) {
            because.push(format!("the reward is {reward} after every decision: no policy is worth more than another"));
        }
        because
    }

    fn reservations(&self) -> Vec<Reservation> {
        self.reasons().into_iter().map(|says| Reservation { about: About::Data, says }).collect()
    }
}

/// Why people leave nothing to learn.
pub(super) fn about_data(people: &dyn Source) -> Result<Vec<Reservation>, BlocksError> {
    let Shape { levels, actions, .. } = people.shape();
    let mut found = DataAlone { levels: levels.len(), actions: actions.len(), ..DataAlone::default() };
    try_each(people, |block| {
        found.add(block);
        Ok::<(), BlocksError>(())
    })?;
    Ok(found.reservations())
}

/// What keeps the unfairness of policies from being measured with a mechanism fitted to people with these values.
pub(super) fn of_mechanism(mechanism: &Fitted, values: &Values, people: &People) -> Vec<Reservation> {
    let names = people.state_names();
    accepted(mechanism, &people.output_names()).into_iter().chain(recorded_steps(mechanism, values, &names)).collect()
}

/// What is accepted because outputs are kept as observed in every world.
pub(super) fn accepted(mechanism: &Fitted, outputs: &[String]) -> Option<Reservation> {
    let kept = natures(mechanism).filter(|(_, nature)| *nature == Nature::Kept);
    let kept = kept.fold(OutputSet::default(), |set, (output, _)| set.with(output).unwrap_or(set));
    accepted_through(kept, outputs).map(|says| Reservation { about: About::KeptState, says })
}

/// The same of the outputs that shall be kept: in words, if there are any.
pub(super) fn accepted_through(kept: OutputSet, outputs: &[String]) -> Option<String> {
    let names = outputs.iter().enumerate().filter(|(output, _)| kept.contains(*output)).map(|(_, name)| name.as_str());
    let names: Vec<&str> = names.collect();
    (!names.is_empty())
        .then(|| format!("unfairness that goes through {} is accepted by assumption, not measured", listed(&names)))
}

/// States that are carried over and recorded in steps, one reservation each.
fn recorded_steps(mechanism: &Fitted, values: &Values, names: &[String]) -> Vec<Reservation> {
    let nature = |state: usize| natures(mechanism).find(|(output, _)| *output == state).map(|(_, nature)| nature);
    let coarse = values.coarse(mechanism);
    let of_state = |state: usize| match (nature(state), coarse.iter().find(|found| found.state == state)) {
        (Some(Nature::Kept | Nature::Noiseless), _) | (None | Some(Nature::Continuous), None) => None,
        (_, Some(found)) => Some(in_words(found, &names[state])),
        (Some(Nature::FewValues(count)), None) => Some(format!("{} takes {count} values", names[state])),
    };
    let says = |lies: String| {
        format!(
            "{lies}: a record in categories determines a person's noise only up to a category, so that no unfairness can be bounded"
        )
    };
    let found = (0..names.len()).filter_map(of_state);
    found.map(|lies| Reservation { about: About::RecordedSteps, says: says(lies) }).collect()
}

fn natures(mechanism: &Fitted) -> impl Iterator<Item = (usize, Nature)> {
    let outputs = mechanism.fitted_noise().map(FittedNoise::report).map_or(&[][..], |report| &report.outputs);
    outputs.iter().map(|output| (output.output, output.nature))
}

fn in_words(coarse: &Coarse, name: &str) -> String {
    match coarse.grain {
        Grain::Steps(step) => format!(
            "{name} is recorded in steps of {}, which is coarse beside its noise (standard deviation {}) and so many people",
            short(step),
            short(coarse.noise)
        ),
        Grain::OneValue { value, share } => {
            format!("{name} is {} in {:.0} % of its records", short(value), 100.0 * share)
        }
    }
}

/// A number to three digits, without zeros that say nothing.
fn short(x: f64) -> String {
    let digits = if x == 0.0 { 0 } else { (2 - x.abs().log10().floor() as i32).clamp(0, 12) as usize };
    let text = format!("{x:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => only.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_and_numbers_short() {
        assert_eq!(listed(&["pain"]), "pain");
        assert_eq!(listed(&["pain", "sleep", "mood"]), "pain, sleep and mood");
        assert_eq!(
            [1.0, 0.5, 1.0 / 3.0, 1234.5, 0.0, 1e-7].map(short),
            ["1", "0.5", "0.333", "1234", "0", "0.0000001"]
        );
    }
}
