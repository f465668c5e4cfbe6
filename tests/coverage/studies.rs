//! Whole studies in places whose truth is known: what each tells its reader, and what is so.

use super::bed::Bed;
use super::place::{Followed, Led, Place, Until, follow, mean_return, record};
use super::policies::always;
use super::told::{Recommended, Told};
use counterfair::fair::study::{Number, StudySettings, study};
use counterfair::fair::{Error, Learner, People};
use counterfair::kernel::learn::Agent;
use counterfair::kernel::numeric::Stream;
use counterfair::reproduction::{CallEffect, ScoreScale, WeeklyCalls};
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Standard deviation of the unobserved trait, where there is one.
const TRAIT: f64 = 0.7;

/// People followed for each truth.
const FOLLOWED: usize = 3000;

/// Where studies are made, and over how many decisions.
pub struct Cell {
    pub name: String,
    pub place: Box<dyn Place>,
    pub horizon: usize,
}

/// Weekly calls by scale, what is hidden, and for whom calls are good, as `integer-trait-none`; then other worlds.
pub fn cells() -> Vec<Cell> {
    let mut cells = vec![];
    for (scale, of_scale) in
        [("integer", ScoreScale::Integer), ("half", ScoreScale::Half), ("exact", ScoreScale::Exact)]
    {
        for hidden in ["", "-latent", "-trait"] {
            // A record on no scale hides nothing of the state.
            if (scale, hidden) == ("exact", "-latent") {
                continue;
            }
            for (benefit, effect) in
                [("some", CallEffect::Some), ("everybody", CallEffect::Everybody), ("none", CallEffect::None)]
            {
                let trait_sd = if hidden == "-trait" { TRAIT } else { 0.0 };
                let latent = hidden == "-latent";
                let trial = WeeklyCalls { scale: of_scale, effect, latent, trait_sd, ..WeeklyCalls::default() };
                cells.push(Cell { name: format!("{scale}{hidden}-{benefit}"), place: Box::new(trial), horizon: 12 });
            }
        }
    }
    for name in ["linear", "nonlinear", "spread-by-level", "linear-rounded"] {
        let bed = Bed::named(name).expect("a bed of this name");
        cells.push(Cell { name: name.into(), place: Box::new(bed), horizon: 8 });
    }
    cells
}

/// One study beside the truth. Differences are to what people received; truths are those of what the interval is about, for Ours of the policies of the
/// folds, each weighted by its people.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Row {
    pub cell: String,
    pub people: usize,
    pub seed: u64,
    pub kind: String,
    /// `Ours`, or an action for everybody; empty where nothing is recommended.
    pub recommended: String,
    pub says_worse: bool,
    pub doubted: bool,
    pub ours: Option<f64>,
    pub ours_low: Option<f64>,
    pub ours_high: Option<f64>,
    pub ours_truth: Option<f64>,
    /// The action that looks best for everybody.
    pub single: String,
    pub single_difference: Option<f64>,
    pub single_low: Option<f64>,
    pub single_high: Option<f64>,
    pub single_truth: Option<f64>,
    /// The CF metric of deployment, of the policies of the folds and of the policy that was learned from everybody.
    pub ours_bound: Option<f64>,
    pub ours_metric: Option<f64>,
    pub ours_metric_everybody: Option<f64>,
    pub full_bound: Option<f64>,
    pub full_metric: Option<f64>,
    pub unaware_bound: Option<f64>,
    pub unaware_metric: Option<f64>,
    /// What is gained by doing as told: 0 where nothing is recommended.
    pub realised: f64,
    /// The most that Ours, one action for everybody, or no change would gain.
    pub available: f64,
    pub seconds: f64,
}

/// Makes a study of new people, and follows others as its policies would treat them.
pub fn run(cell: &Cell, people: usize, seed: u64, settings: &StudySettings) -> Result<Row, Error> {
    let began = Instant::now();
    let place = &*cell.place;
    let stream = Stream::new(seed).named("studies").named(&cell.name).index(people as u64);
    let drawn = place.draw(people, cell.horizon, stream.named("people"));
    let panel = record(place, &*drawn, Until::TheyLeave);
    // With one seed for all studies the same quantiles of the same draws would be off in every one of them.
    let learner = Learner { seed, ..settings.learner.clone() };
    let made = study(&People::from(panel), &StudySettings { learner, ..settings.clone() }, &mut |_| {})?;
    let told = Told::by(&made);

    let until = if told.to_the_end { Until::TheEnd } else { Until::TheyLeave };
    let others = place.draw(FOLLOWED, cell.horizon, stream.named("followed"));
    let received = mean_return(&record(place, &*others, until));
    let truth = |agent: &dyn Agent| follow(place, &*others, agent, Led::ByThePolicy, until);
    // Of one method: the policies of the folds, weighted by their people.
    let judged = |which: usize| -> Option<Followed> {
        let all: f64 = made.judged.iter().map(|(people, _)| *people as f64).sum();
        (all > 0.0).then(|| {
            made.judged.iter().fold(Followed::default(), |mut sum, (people, policies)| {
                let (share, found) = (*people as f64 / all, truth(&*policies[which].agent()));
                sum.value += share * found.value;
                sum.metric += share * found.metric;
                sum
            })
        })
    };
    let [ours, full, unaware] = [0, 1, 2].map(judged);
    let everybody = made.policy.as_ref().map(|policy| truth(&*policy.agent()));
    let actions = place.actions();
    let singles: Vec<f64> = (0..actions.len()).map(|a| truth(&*always(place, a)).value - received).collect();
    let single = |action: &str| actions.code(action).map(|code| singles[code]);
    let gained = everybody.as_ref().map(|found| found.value - received);
    let interval = |number: Option<Number>| number.and_then(|number| number.interval);
    let of_ours = interval(told.ours);
    let of_single = interval(told.single.as_ref().map(|(_, number)| *number));
    let metric = |found: &Option<Followed>| found.as_ref().map(|found| found.metric);
    let name = told.single.as_ref().map_or(String::new(), |(action, _)| action.clone());
    Ok(Row {
        cell: cell.name.clone(),
        people,
        seed,
        kind: told.kind,
        says_worse: told.says_worse,
        doubted: told.doubted,
        ours: told.ours.map(|number| number.mean),
        ours_low: of_ours.map(|(low, _)| low),
        ours_high: of_ours.map(|(_, high)| high),
        ours_truth: ours.as_ref().map(|found| found.value - received),
        single_difference: told.single.as_ref().map(|(_, number)| number.mean),
        single_low: of_single.map(|(low, _)| low),
        single_high: of_single.map(|(_, high)| high),
        single_truth: single(&name),
        single: name,
        ours_bound: told.bounds[0],
        ours_metric: metric(&ours),
        ours_metric_everybody: metric(&everybody),
        full_bound: told.bounds[1],
        full_metric: metric(&full),
        unaware_bound: told.bounds[2],
        unaware_metric: metric(&unaware),
        realised: match &told.recommended {
            Recommended::Nothing => 0.0,
            Recommended::Ours => gained.unwrap_or(f64::NAN),
            Recommended::Always(action) => single(action).unwrap_or(f64::NAN),
        },
        recommended: match told.recommended {
            Recommended::Nothing => String::new(),
            Recommended::Ours => "Ours".into(),
            Recommended::Always(action) => action,
        },
        available: singles.iter().copied().chain(gained).fold(0.0, f64::max),
        seconds: began.elapsed().as_secs_f64(),
    })
}
