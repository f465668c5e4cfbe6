//! The front door from people to numbers: what `learn` and `evaluate` print by default, on people who were not learned from.

use super::bed::Bed;
use super::numbers::{Cell, Found};
use super::place::{Led, Place, Until, follow, mean_return, record};
use super::policies::random;
use counterfair::audit::recorded::{Differences, Dropout, RecordedValues, Resampled};
use counterfair::audit::{PanelDraws, parity_gap};
use counterfair::estimate::NoiseChoice;
use counterfair::fair::{Audit, AuditSettings, Error, JUDGED, Learner, Method, People, Policy, Subject};
use counterfair::kernel::learn::Agent;
use counterfair::kernel::numeric::Stream;

/// The methods that are tried, and how differences between worlds enter values: chosen by the number of rows when `None`, as by default.
#[derive(Debug, Clone)]
pub struct Settings {
    pub methods: Vec<Method>,
    pub differences: Option<Differences>,
}

/// People behind each truth: its own error has a twentieth of the estimate's variance, or less.
fn many(people: usize) -> usize {
    (20 * people).max(6_000)
}

/// Learned from the cell's number of people, judged on as many others.
///
/// # Errors
/// What a policy or its audit meets.
pub fn repetition(cell: &Cell, settings: &Settings, repetition: u64) -> Result<Vec<Found>, Error> {
    // Controls are beds whose record, or whose mechanism, is taken for what it is not.
    let bed = Bed::named(match cell.world.as_str() {
        "control: dropout as recorded" => "dropout",
        "control: additive noise" => "spread-by-level",
        name => name,
    })
    .expect("a bed of this name");
    let stream = Stream::new(repetition).named("front door").named(&cell.world).index(cell.people as u64);
    let draw = |role: &str, people: usize, horizon: usize| bed.draw(people, horizon, stream.named(role));
    let recorded = |role: &str| People::from(record(&bed, &*draw(role, cell.people, cell.horizon), Until::TheyLeave));
    let (learned_from, judged) = (recorded("learn"), recorded("judge"));
    let others = draw("truth", many(cell.people), cell.horizon);
    let worth = |agent: &dyn Agent| follow(&bed, &*others, agent, Led::ByThePolicy, Until::TheEnd).value;
    let received = mean_return(&record(&bed, &*others, Until::TheEnd));
    let first = record(&bed, &*draw("first", 20 * many(cell.people), 1), Until::TheEnd);

    // A seed of its own for every study: with one for all, the same quantiles of the same draws would be off in every one of them.
    let mut audit = AuditSettings { seed: repetition, ..AuditSettings::default() };
    audit.values.seed = repetition;
    audit.values.differences = settings.differences;
    if cell.world == "dropout" {
        audit.values.dropout = Dropout::Weighted { horizon: None };
    }
    let learn = |method: Method| {
        let mut learner = Learner { splits: 0, seed: repetition, ..Learner::new(method) };
        if cell.world == "control: additive noise" {
            learner.preprocessing.mechanism.noise = NoiseChoice::Additive;
        }
        Ok((method, learner.learn(&learned_from)?))
    };
    let policies: Vec<(Method, Policy)> = settings.methods.iter().copied().map(learn).collect::<Result<_, Error>>()?;
    let unaware = policies.iter().find(|(method, _)| *method == Method::Unaware).map(|(_, policy)| policy);
    let mut against = vec![("received", received), ("Random", worth(&*random(&bed)))];
    against.extend(unaware.map(|policy| ("Unaware", worth(&*policy.agent()))));

    let mut found = Vec::new();
    for (place, (method, policy)) in policies.iter().enumerate() {
        let beside: Vec<(&str, &Policy)> =
            unaware.filter(|_| *method != Method::Unaware).map(|policy| ("Unaware", policy)).into_iter().collect();
        let told = policy.audit(&judged, &beside, &audit, &mut |_| {})?;
        let (name, agent) = (method.to_string(), policy.agent());
        values(&mut found, &name, &told.values, JUDGED, worth(&*agent), &against);
        if place == 0 {
            values(&mut found, "random", &told.values, "Random", against[1].1, &against[..1]);
            let warned = !told.values.cautions.is_empty();
            found.push(resampled("received", "value", received, &told.values.received).warned(warned));
        }
        let truth = follow(&bed, &*others, &*agent, Led::ByThePolicy, Until::TheyLeave);
        if let Ok(law) = &told.unfairness {
            let metric = Found::new(&name, "CF metric", truth.metric, law.mean());
            let metric = metric.within(|c| law.interval(c)).at_most(law.upper(0.95));
            found.push(metric.warned(warned_of_mechanism(&told)));
        }
        let gap = parity_gap(&first, &*agent, &PanelDraws::draw(&first, Stream::new(0)).coins, 0.95).estimate;
        found.push(Found::new(&name, "parity gap", gap, told.parity_gap.estimate).within_95(told.parity_gap.interval));
        if let Some(share) = &told.rates[0][1] {
            let treated = Found::new(&name, "share treated at the first level", truth.treated, share.mean);
            found.push(treated.within(|c| share.interval(c)));
        }
    }
    Ok(found.into_iter().map(|one| one.of(cell, repetition)).collect())
}

fn resampled(method: &str, number: &str, truth: f64, printed: &Resampled) -> Found {
    Found::new(method, number, truth, printed.mean).within(|c| printed.interval(c))
}

/// The printed values of a policy beside the truth: its own, and minus each of the others.
fn values(found: &mut Vec<Found>, method: &str, told: &RecordedValues, name: &str, truth: f64, others: &[(&str, f64)]) {
    let warned = !told.cautions.is_empty();
    let value = told.policy(name).expect("a policy of this name");
    found.push(resampled(method, "value", truth, &value.value).warned(warned));
    for (other, worth) in others {
        if let Some(minus) = value.minus(other) {
            let number = format!("minus {}", other.to_lowercase());
            found.push(resampled(method, &number, truth - worth, minus).warned(warned));
        }
    }
    if let Ok(robust) = &value.doubly_robust {
        let robust = Found::new(method, "doubly robust", truth, robust.mean).within(|c| robust.interval(c));
        found.push(robust.warned(warned));
    }
}

/// Whether the words beside the CF metric speak of the mechanism.
fn warned_of_mechanism(told: &Audit) -> bool {
    told.cautions.iter().any(|caution| caution.about == Subject::Counterfactuals)
}
