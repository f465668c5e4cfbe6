//! Values over the recorded horizon of policies that stay as they are.

use super::bed::Bed;
use super::numbers::{Cell, Found};
use super::place::{DISCOUNT, Led, Place, Population, Until, follow, mean_return, record};
use super::policies::{FixedPolicy, Which, policies, random};
use counterfair::audit::recorded::{Caution, CautionAbout, Dropout, PolicyAlong, RecordedSettings, recorded_values};
use counterfair::kernel::learn::Agent;
use counterfair::kernel::numeric::Stream;
use std::collections::BTreeMap;

/// Policies in a bed, and what they are worth there when nobody leaves.
pub struct Values {
    bed: Bed,
    cell: Cell,
    stream: Stream,
    settings: RecordedSettings,
    policies: Vec<FixedPolicy>,
    truths: BTreeMap<&'static str, f64>,
}

impl Values {
    /// The truth is from `followed` people.
    pub fn new(bed: Bed, cell: Cell, which: Which, followed: usize, stream: Stream) -> Self {
        let policies = policies(&bed, which, stream.named("learn"));
        let truths = truths(&bed, &*bed.draw(followed, cell.horizon, stream.named("truth")), &policies);
        let dropout = if bed.leaving.is_some() { Dropout::Weighted { horizon: None } } else { Dropout::AsRecorded };
        let settings = RecordedSettings { discount: DISCOUNT, replicates: 60, dropout, ..RecordedSettings::default() };
        Self { bed, cell, stream, settings, policies, truths }
    }

    /// The same with other settings.
    pub fn with(mut self, change: impl FnOnce(&mut RecordedSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// One record; each has a stream of its own, so that more repetitions leave the first ones as they were.
    pub fn repetition(&self, repetition: u64) -> Vec<Found> {
        let stream = self.stream.named("people").index(repetition);
        let people = self.bed.draw(self.cell.people, self.cell.horizon, stream);
        let panel = record(&self.bed, &*people, Until::TheyLeave);
        let along: Vec<_> = self.policies.iter().map(|policy| policy.along(&panel)).collect();
        let asked: Vec<PolicyAlong<'_>> = self
            .policies
            .iter()
            .zip(&along)
            .map(|(policy, (probabilities, worlds))| PolicyAlong {
                name: policy.name,
                probabilities,
                worlds: worlds.as_deref(),
                parts: None,
            })
            .collect();
        let settings = RecordedSettings { seed: repetition, ..self.settings.clone() };
        let values = recorded_values(&panel, &asked, &settings).expect("policies for this panel");
        let mut found = vec![];
        for value in &values.policies {
            let truth = self.truths[value.name.as_str()];
            let mut note = |one: Found| {
                let warned = values.cautions.iter().any(|caution| is_about(caution, &value.name));
                found.push(one.warned(warned).of(&self.cell, repetition));
            };
            let of = |number: &str, truth: f64, estimate: f64| Found::new(&value.name, number, truth, estimate);
            note(of("value", truth, value.value.mean).within(|c| value.value.interval(c)));
            if let Ok(weighted) = &value.doubly_robust {
                note(of("doubly robust", truth, weighted.mean).within(|c| weighted.interval(c)));
            }
            for from in ["received", "Random", "Unaware"] {
                let Some(difference) = value.minus(from) else { continue };
                let truth = truth - self.truths[from];
                note(of(&format!("minus {from}"), truth, difference.mean).within(|c| difference.interval(c)));
            }
        }
        found
    }
}

/// What the policies are worth to people who stay to the end, and what these received.
fn truths(bed: &Bed, people: &dyn Population, policies: &[FixedPolicy]) -> BTreeMap<&'static str, f64> {
    let worth = |agent: &dyn Agent| follow(bed, people, agent, Led::ByThePolicy, Until::TheEnd).value;
    let mut truths: BTreeMap<_, _> = policies.iter().map(|policy| (policy.name, worth(&*policy.agent))).collect();
    truths.insert("Random", worth(&*random(bed)));
    truths.insert("received", mean_return(&record(bed, people, Until::TheEnd)));
    truths
}

/// Whether a caution is about this policy, or about the record as a whole.
fn is_about(caution: &Caution, policy: &str) -> bool {
    match &caution.about {
        CautionAbout::Policy(name) => name == policy,
        CautionAbout::Record | CautionAbout::Reward | CautionAbout::State(_) => true,
    }
}
