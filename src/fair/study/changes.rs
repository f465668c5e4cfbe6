//! What Ours would change of what was done, along the recorded histories.

use crate::kernel::people::Panel;
use serde::Serialize;

/// Recorded decisions beside those that Ours would take in their place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Changes {
    /// `decisions[received][ours]`: how many decisions, by the action that was received and the action that Ours would take.
    pub decisions: Vec<Vec<f64>>,
    /// The same at each level, in fewer numbers.
    pub by_level: Vec<LevelChanges>,
}

/// What would change for the people of one level.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LevelChanges {
    /// The level.
    pub level: String,
    /// People with a decision.
    pub people: usize,
    /// Those of whom at least one decision would be another.
    pub people_changed: f64,
    /// Decisions.
    pub decisions: usize,
    /// Those that would be others.
    pub decisions_changed: f64,
}

impl Changes {
    /// `along` are the action probabilities of Ours, |A| numbers for each state row.
    pub(super) fn of(panel: &Panel, along: &[f64]) -> Self {
        let actions = panel.action_names().len();
        let mut decisions = vec![vec![0.0; actions]; actions];
        let levels = panel.levels().names().iter();
        let mut by_level: Vec<LevelChanges> = levels
            .map(|level| LevelChanges {
                level: level.clone(),
                people: 0,
                people_changed: 0.0,
                decisions: 0,
                decisions_changed: 0.0,
            })
            .collect();
        for i in (0..panel.people()).filter(|&i| !panel.decisions_of(i).is_empty()) {
            let own = &mut by_level[panel.level_codes()[i] as usize];
            let mut as_recorded = 1.0;
            for (row, at) in panel.states_of(i).zip(panel.decisions_of(i)) {
                let received = panel.actions()[at] as usize;
                let ours = &along[row * actions..(row + 1) * actions];
                decisions[received].iter_mut().zip(ours).for_each(|(sum, p)| *sum += p);
                as_recorded *= ours[received];
                own.decisions += 1;
                own.decisions_changed += 1.0 - ours[received];
            }
            own.people += 1;
            own.people_changed += 1.0 - as_recorded;
        }
        Self { decisions, by_level }
    }
}
