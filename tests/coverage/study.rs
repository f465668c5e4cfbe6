//! The numbers of a study. The truth is that of the policies that were judged, fold by fold, followed with the true mechanism.

use super::bed::Bed;
use super::numbers::{Cell, Found};
use super::place::{Led, Place, Until, fair_value, follow, mean_return, record};
use super::policies::always;
use super::told::LEARNED;
use counterfair::fair::study::{Number, StudySettings, study};
use counterfair::fair::{Error, Learner, People};
use counterfair::kernel::numeric::Stream;

/// People followed for each truth.
const FOLLOWED: usize = 10_000;

/// One study.
///
/// # Errors
/// About settings.
pub fn repetition(cell: &Cell, settings: &StudySettings, repetition: u64) -> Result<Vec<Found>, Error> {
    let bed = Bed::named(&cell.world).expect("a bed of this name");
    let stream = Stream::new(repetition).named("study").named(&cell.world).index(cell.people as u64);
    let draw = |role: &str, people: usize| bed.draw(people, cell.horizon, stream.named(role));
    let panel = record(&bed, &*draw("people", cell.people), Until::TheyLeave);
    // With one seed for all studies the same quantiles of the same draws would be off in every one of them.
    let learner = Learner { seed: repetition, ..settings.learner.clone() };
    let made = study(&People::from(panel), &StudySettings { learner, ..settings.clone() }, &mut |_| {})?;

    let others = draw("truth", FOLLOWED);
    let received = mean_return(&record(&bed, &*others, Until::TheEnd));
    let policies = made.policies.expect("a study of these sizes");
    let mut found = Vec::new();
    for (which, name) in LEARNED.into_iter().enumerate() {
        let (mut value, mut fair, mut difference, mut metric) = (0.0, 0.0, -received, 0.0);
        for (people, judged) in &made.judged {
            let (share, agent) = (*people as f64 / cell.people as f64, judged[which].agent());
            let (of_value, of_fair) = fair_value(&bed, &*others, &*agent);
            (value, fair) = (value + share * of_value, fair + share * of_fair);
            // Paired with what the same people received, at their own level.
            difference += share * follow(&bed, &*others, &*agent, Led::ByThePolicy, Until::TheEnd).value;
            metric += share * follow(&bed, &*others, &*agent, Led::ByThePolicy, Until::TheEnd).metric;
        }
        let row = policies.row(name).expect("every method");
        let law = row.cf_metric.expect("refits were kept");
        let number = |what: &str, truth: f64, printed: Number| of(name, what, truth, printed);
        found.push(number("value", value, row.value));
        found.push(number("minus received", difference, row.minus_received));
        found.push(number("CF metric", metric, law.number).at_most(law.upper));
        found.push(number("fair value", fair, row.fair_value.expect("refits were kept")));
        let gained = row.gained_by_unfairness.expect("refits were kept");
        found.push(number("gained by unfairness", value - fair, gained));
    }
    let actions = bed.actions();
    for (action, name) in actions.names().iter().enumerate() {
        let name = format!("{name} for everybody");
        let row = policies.row(&name).expect("each action");
        let (value, fair) = fair_value(&bed, &*others, &*always(&bed, action));
        found.push(of(&name, "fair value", fair, row.fair_value.expect("refits were kept")));
        let gained = row.gained_by_unfairness.expect("refits were kept");
        found.push(of(&name, "gained by unfairness", value - fair, gained));
    }
    Ok(found.into_iter().map(|one| one.of(cell, repetition)).collect())
}

fn of(method: &str, what: &str, truth: f64, printed: Number) -> Found {
    let found = Found::new(method, what, truth, printed.mean);
    match printed.interval {
        Some(interval) => found.within_95(interval),
        None => found,
    }
}
