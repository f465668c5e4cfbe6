//! Who is in the data, who received what, and who left.

use crate::audit::recorded::{PropensityDiagnostics, RecordedValues, StayingModel};
use crate::fair::{People, Sample};
use crate::files::Repairs;
use crate::kernel::people::Panel;
use serde::Serialize;

/// The people of a study, counted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataSummary {
    /// The file.
    pub file: String,
    /// N.
    pub people: usize,
    /// Σ Tᵢ.
    pub decisions: usize,
    /// Decisions whose next state is known.
    pub transitions: usize,
    /// The longest horizon.
    pub horizon: usize,
    /// State columns.
    pub states: Vec<String>,
    /// The levels of the sensitive attribute.
    pub levels: Vec<LevelSummary>,
    /// The actions.
    pub actions: Vec<String>,
    /// How often an action was taken by people of a level: `taken[level][action]`.
    pub taken: Vec<Vec<usize>>,
    /// The share of an action among those of a level who decide at a time: `over_time[level][action][t]`; `None` where nobody does.
    pub over_time: Vec<Vec<Vec<Option<f64>>>>,
    /// The share of a level's people who still decide at a time: `remaining[level][t]`.
    pub remaining: Vec<Vec<f64>>,
    /// Levels and actions that never go together.
    pub never: Vec<(String, String)>,
    /// What was cut on request.
    pub repairs: Repairs,
    /// Which share of the file the people are; `None` if they are everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Sample>,
    /// Smallest, mean and largest reward; `None` without decisions.
    pub rewards: Option<(f64, f64, f64)>,
    /// Who left before the others; `None` when nobody did.
    pub staying: Option<StayingModel>,
    /// How people were treated, as predicted for people who were left out.
    pub propensity: Option<PropensityDiagnostics>,
}

/// The people of one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelSummary {
    /// Its name.
    pub name: String,
    /// People.
    pub people: usize,
    /// Their decisions.
    pub decisions: usize,
    /// The mean reward of a decision; `None` without decisions.
    pub mean_reward: Option<f64>,
}

impl DataSummary {
    /// Counts; `probed` is what values over the record tell beside.
    pub(super) fn of(people: &People, probed: Option<&RecordedValues>) -> Self {
        let panel = people.panel();
        let (levels, actions, horizon) = (panel.levels().len(), panel.action_names().len(), panel.horizon());
        let mut taken = vec![vec![0; actions]; levels];
        let mut at = vec![vec![vec![0usize; horizon]; actions]; levels];
        let mut deciding = vec![vec![0usize; horizon]; levels];
        for person in panel.iter() {
            let z = person.level as usize;
            for (t, &a) in person.actions.iter().enumerate() {
                taken[z][a as usize] += 1;
                at[z][a as usize][t] += 1;
                deciding[z][t] += 1;
            }
        }
        let share = |count: usize, of: usize| (of > 0).then(|| count as f64 / of as f64);
        let over_time = |z: usize| {
            let of = |by_time: &Vec<usize>| by_time.iter().zip(&deciding[z]).map(|(n, of)| share(*n, *of)).collect();
            at[z].iter().map(of).collect()
        };
        let of_level: Vec<LevelSummary> = (0..levels).map(|z| level(panel, z)).collect();
        let remaining =
            |z: usize| deciding[z].iter().map(|n| share(*n, of_level[z].people).unwrap_or(0.0)).collect::<Vec<f64>>();
        let pairs = (0..levels).flat_map(|z| (0..actions).map(move |a| (z, a)));
        let never = pairs.filter(|&(z, a)| taken[z][a] == 0);
        let names = |(z, a): (usize, usize)| (panel.levels().name(z).into(), panel.action_names().name(a).into());
        Self {
            file: people.name().into(),
            people: panel.people(),
            decisions: panel.decisions(),
            transitions: panel.transitions(),
            horizon,
            states: people.state_names(),
            actions: panel.action_names().names().to_vec(),
            over_time: (0..levels).map(over_time).collect(),
            remaining: (0..levels).map(remaining).collect(),
            never: never.map(names).collect(),
            taken,
            levels: of_level,
            repairs: people.repairs(),
            sample: people.sample().cloned(),
            rewards: rewards(panel),
            staying: probed.and_then(|values| values.staying.clone()).map(|staying| StayingModel {
                log_odds: staying
                    .log_odds
                    .into_iter()
                    .map(|(name, x)| (by_column(&name, &people.state_names()), x))
                    .collect(),
                ..staying
            }),
            propensity: probed.map(|values| values.propensity.clone()),
        }
    }
}

/// `state 2 …` and `next state 2 …` with the column's own name in the place of the number.
pub(super) fn by_column(text: &str, columns: &[String]) -> String {
    let (next, rest) = text.strip_prefix("next ").map_or(("", text), |rest| ("next ", rest));
    let found = rest.strip_prefix("state ").and_then(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let column = columns.get(rest[..end].parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{next}{column}{}", &rest[end..]))
    });
    found.unwrap_or_else(|| text.into())
}

fn level(panel: &Panel, z: usize) -> LevelSummary {
    let own = || panel.iter().filter(move |person| person.level as usize == z);
    let decisions = own().map(|person| person.actions.len()).sum();
    let sum: f64 = own().flat_map(|person| person.rewards).sum();
    LevelSummary {
        name: panel.levels().name(z).into(),
        people: own().count(),
        decisions,
        mean_reward: (decisions > 0).then(|| sum / decisions as f64),
    }
}

fn rewards(panel: &Panel) -> Option<(f64, f64, f64)> {
    let all = panel.rewards();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let low = all.iter().copied().reduce(f64::min)?;
    Some((low, mean, all.iter().copied().reduce(f64::max)?))
}

#[cfg(test)]
mod tests {
    use super::by_column;

    #[test]
    fn states_are_called_by_their_columns_and_nothing_else_is_touched() {
        let columns = ["CD4".to_string(), "age (years)".to_string()];
        for (text, expected) in [
            ("state 2", "age (years)"),
            ("next state 1 at level f", "next CD4 at level f"),
            ("state 3", "state 3"),
            ("state 0", "state 0"),
            ("action state 1", "action state 1"),
            ("state 2 drifts with time", "age (years) drifts with time"),
            ("reward", "reward"),
        ] {
            assert_eq!(by_column(text, &columns), expected);
        }
    }
}
