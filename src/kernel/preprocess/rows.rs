//! Views with what was done and received at each, as rows.

use super::{Experience, View};

/// Some people's views.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperienceRows {
    /// Views, row after row.
    pub views: Vec<f64>,
    /// The action of the transition that starts at a row, or |A| where none does: at a person's last view.
    pub actions: Vec<u32>,
    /// The reward of that transition.
    pub rewards: Vec<f64>,
}

impl ExperienceRows {
    /// Lines up actions and rewards with the rows of an experience.
    pub fn of<V: View>(experience: &Experience<V>) -> Self {
        let rows = experience.views().len() / experience.width();
        let (mut actions, mut rewards) = (vec![experience.actions_count() as u32; rows], vec![0.0; rows]);
        for i in 0..experience.people() {
            let (views, decisions) = (experience.views_of(i), experience.decisions_of(i));
            for t in 0..views.len() - 1 {
                actions[views.start + t] = experience.actions()[decisions.start + t];
                rewards[views.start + t] = experience.rewards()[decisions.start + t];
            }
        }
        Self { views: experience.views().to_vec(), actions, rewards }
    }
}
