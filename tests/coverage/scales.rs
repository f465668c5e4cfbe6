//! The bound of the CF metric of deployment where states are recorded on scales: of what `learn` learns, judged on the people it was learned from.

use super::numbers::{Cell, Found};
use super::place::{Led, Place, Until, follow, record};
use super::studies;
use counterfair::audit::{Judged, PanelDraws, Yardstick, unfairness};
use counterfair::estimate::{Certificate, Refitter};
use counterfair::fair::{Error, Learner, Method, People};
use counterfair::kernel::model::Scale;
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::Panel;

/// People followed in all worlds for the truth.
const FOLLOWED: usize = 4000;

/// The quantile of the standard normal law that a bound of 95 % is at.
const Z_95: f64 = 1.644_853_626_951_472_7;

/// The steps of a cell of studies, by its name; none where states are recorded as they are.
fn step(name: &str) -> Option<f64> {
    match name.split('-').next() {
        Some("integer") => Some(1.0),
        Some("half") => Some(0.5),
        _ if name == "linear-rounded" => Some(0.5),
        _ => None,
    }
}

/// The scale of each state, between the lowest and the highest record.
fn scales(panel: &Panel, step: f64) -> Vec<Option<Scale>> {
    let of = |j: usize| {
        let values = panel.states().iter().skip(j).step_by(panel.state_dim());
        let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(*x), h.max(*x)));
        Some(Scale::new(low, high, step).expect("records in whole steps"))
    };
    (0..panel.state_dim()).map(of).collect()
}

/// Learns and judges once. Beside the law on scales stands that of records taken as they are, which is a control, and the bound of a normal law.
///
/// # Errors
/// What learning meets.
pub fn repetition(cell: &Cell, replicates: usize, repetition: u64) -> Result<Vec<Found>, Error> {
    let made = studies::cells().into_iter().find(|made| made.name == cell.world).expect("a cell of this name");
    let place: &dyn Place = &*made.place;
    let stream = Stream::new(repetition).named("scales").named(&cell.world).index(cell.people as u64);
    let draw = |role: &str, people: usize| place.draw(people, cell.horizon, stream.named(role));
    let people = People::from(record(place, &*draw("people", cell.people), Until::TheyLeave));
    let (panel, others) = (people.panel(), draw("truth", FOLLOWED));
    let on_scales = step(&cell.world).map_or(vec![], |step| scales(panel, step));

    let learner = |method: Method| Learner { splits: 0, replicates: 0, seed: repetition, ..Learner::new(method) };
    let mechanism = &learner(Method::Ours).preprocessing.mechanism;
    let refitter = Refitter::new(panel, mechanism).expect("a panel that can be fitted");
    let certificate = Certificate::new(&refitter, panel, replicates, repetition).expect("refits with positive weights");
    let draws = PanelDraws::draw(panel, stream.named("draws"));
    let mut found = Vec::new();
    for (name, method) in [("ours", Method::Ours), ("unaware", Method::Unaware)] {
        let agent = learner(method).learn(&people)?.agent();
        let truth = follow(place, &*others, &*agent, Led::ByThePolicy, Until::TheyLeave).metric;
        let taken_as_it_is = (!on_scales.is_empty()).then_some(("CF metric, control: no scale", &[][..]));
        for (number, scales) in [("CF metric", &on_scales[..])].into_iter().chain(taken_as_it_is) {
            let yardstick = Yardstick::Certificate(&certificate);
            let judged = Judged { agent: &*agent, panel, draws: &draws, yardstick, scales };
            let law = unfairness(&[judged], 0.95).expect("people that stay finite").law;
            let metric = Found::new(name, number, truth, law.mean());
            found.push(metric.clone().within(|c| law.interval(c)).at_most(law.upper(0.95)));
            if number == "CF metric" {
                let normal = law.mean() + Z_95 * law.standard_error();
                found.push(Found { number: "CF metric, normal bound".into(), ..metric }.at_most(normal));
            }
        }
    }
    Ok(found.into_iter().map(|one| one.of(cell, repetition)).collect())
}
