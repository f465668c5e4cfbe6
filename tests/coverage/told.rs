//! What a study tells its reader. This file alone knows how a study says it.

use counterfair::audit::recorded::Dropout;
use counterfair::fair::Subject;
use counterfair::fair::study::{Number, Study, Verdict};
use serde_json::Value;

/// The policies that are learned fold by fold, in the order in which a study keeps them.
pub const LEARNED: [&str; 3] = ["Ours", "Full", "Unaware"];

/// What a study's reader is told.
pub struct Told {
    /// The kind of verdict, as `study.json` spells it.
    pub kind: String,
    pub recommended: Recommended,
    /// Whether the reader is told to keep to what was done because Ours is worth less.
    pub says_worse: bool,
    /// Whether the first lines hold a doubt about what a policy is worth.
    pub doubted: bool,
    /// Whether values are those of everybody staying to the end.
    pub to_the_end: bool,
    /// Ours minus what people received.
    pub ours: Option<Number>,
    /// The best action for everybody minus what people received.
    pub single: Option<(String, Number)>,
    /// Bounds of the CF metric, in the order of [`LEARNED`].
    pub bounds: [Option<f64>; 3],
}

/// What a reader is told to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recommended {
    Nothing,
    Ours,
    /// The same action for everybody.
    Always(String),
}

impl Told {
    pub fn by(study: &Study) -> Self {
        let policies = study.policies.as_ref();
        let row = |name: &str| policies.and_then(|policies| policies.row(name));
        let recommended = match &study.verdict {
            Verdict::OneForAll { action, .. } => Recommended::Always(action.clone()),
            Verdict::TellsApart { recommended: true, .. } => Recommended::Ours,
            _ => Recommended::Nothing,
        };
        let is_below = |number: &Number| number.interval.is_some_and(|(_, high)| high < 0.0);
        let actions = study.data.actions.iter();
        let singles = actions.filter_map(|a| Some((a.clone(), row(&format!("{a} for everybody"))?.minus_received)));
        let verdict = serde_json::to_value(&study.verdict).expect("a verdict is written to study.json");
        Self {
            kind: verdict["kind"].as_str().expect("a verdict has a kind").into(),
            recommended,
            says_worse: matches!(&study.verdict, Verdict::NoDifference { difference } if is_below(difference)),
            doubted: study.doubts.iter().any(|doubt| doubt.about == Subject::Value),
            to_the_end: is_to_the_end(study),
            ours: row("Ours").map(|row| row.minus_received),
            single: singles.max_by(|one, other| one.1.mean.total_cmp(&other.1.mean)),
            bounds: LEARNED.map(|name| Some(row(name)?.cf_metric?.upper)),
        }
    }
}

/// Whether people who left were weighted for.
fn is_to_the_end(study: &Study) -> bool {
    let study = serde_json::to_value(study).expect("a study is written to study.json");
    let as_recorded = serde_json::to_value(Dropout::AsRecorded).expect("a setting is written to study.json");
    study["done"]["dropout"] != Value::Null && study["done"]["dropout"] != as_recorded
}
