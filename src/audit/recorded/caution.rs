//! What a reader must know before using values.

use serde::Serialize;

/// A caution and what it is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Caution {
    /// What it is about.
    pub about: CautionAbout,
    /// What is to be known of it, in words that follow its name.
    pub says: String,
}

/// What a caution is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CautionAbout {
    /// Who was followed, and how they were treated.
    Record,
    /// The reward.
    Reward,
    /// A coordinate of the state, from 0.
    State(usize),
    /// The policy of this name.
    Policy(String),
}

impl Caution {
    /// The caution as a sentence; `states` are the names of the coordinates, which are numbered where there are none.
    pub fn told(&self, states: &[String]) -> String {
        match &self.about {
            CautionAbout::Record => self.says.clone(),
            CautionAbout::Reward => format!("reward {}", self.says),
            CautionAbout::State(j) => match states.get(*j) {
                Some(name) => format!("{name} {}", self.says),
                None => format!("state {} {}", j + 1, self.says),
            },
            CautionAbout::Policy(name) => format!("{name}: {}", self.says),
        }
    }
}
