//! How preprocessing (`alg:cf:1`) scales: with people N, horizon T, levels K and state columns p.

mod measure;

use counterfair::estimate::Refitter;
use counterfair::estimate::{Basis, FitSettings, NoiseChoice, fit};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::numeric::person_weights;
use counterfair::kernel::preprocess::{Sequential, batch};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::data::Shape;
use measure::processor_time::{ProcessorTime, criterion};
use std::hint::black_box;

/// Lines 3 to 11: counterfactual states and rewards, with means that are there already.
fn reconstruct(c: &mut Criterion<ProcessorTime>) {
    for (people, horizon, levels) in around([500, 2_000, 8_000], [5, 20, 80], [2, 4, 8]) {
        let panel = Shape { people, horizon, levels, coordinates: 2, actions: 2 }.panel();
        let means = fit(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).expect("full rank");
        let sequential = Sequential::new(means, panel.level_shares());
        let id = format!("preprocess/people={people}/horizon={horizon}/levels={levels}");
        c.bench_function(&id, |b| b.iter(|| batch(black_box(&sequential), &panel)));
    }
}

/// Lines 1 and 2: the default fit of the means.
fn fit_means(c: &mut Criterion<ProcessorTime>) {
    for (people, horizon, levels) in around([125, 500, 2_000], [5, 10, 20], [2, 4, 8]) {
        let panel = Shape { people, horizon, levels, coordinates: 2, actions: 2 }.panel();
        let id = format!("fit_means/people={people}/horizon={horizon}/levels={levels}");
        c.bench_function(&id, |b| b.iter(|| fit(black_box(&panel), &FitSettings::default())));
    }
}

/// The default fit with the noise model chosen, where a study is wide or has many levels: 600 decisions of 60 people in p columns, 3200
/// of 400 people with 40 levels, and 60 people of whom no two share a level.
fn fit_wide(c: &mut Criterion<ProcessorTime>) {
    let wide = [1, 3, 10, 20, 30].map(|coordinates| (60, 10, 2, coordinates));
    for (people, horizon, levels, coordinates) in wide.into_iter().chain([(400, 8, 40, 2), (60, 8, 60, 2)]) {
        let panel = Shape { people, horizon, levels, coordinates, actions: 2 }.panel();
        let settings = FitSettings { noise: NoiseChoice::Chosen, ..FitSettings::default() };
        let id = format!("fit_wide/coordinates={coordinates}/people={people}/horizon={horizon}/levels={levels}");
        c.bench_function(&id, |b| b.iter(|| fit(black_box(&panel), &settings)));
    }
}

/// Refits of the default mechanism with weights on people: intervals ask for hundreds.
fn refit(c: &mut Criterion<ProcessorTime>) {
    for coordinates in [1, 3, 10] {
        let panel = Shape { people: 1000, horizon: 10, levels: 2, coordinates, actions: 2 }.panel();
        let refitter = Refitter::new(&panel, &FitSettings::default()).expect("full rank");
        let weights = person_weights(panel.ids(), Stream::new(3));
        c.bench_function(&format!("refit/coordinates={coordinates}/people=1000/horizon=10"), |b| {
            b.iter(|| refitter.refit(black_box(&weights)));
        });
    }
}

/// One axis at a time through the middle of N and T and the least K.
fn around(people: [usize; 3], horizon: [usize; 3], levels: [usize; 3]) -> Vec<(usize, usize, usize)> {
    let mut all: Vec<_> = people.map(|n| (n, horizon[1], levels[0])).to_vec();
    all.extend([horizon[0], horizon[2]].map(|t| (people[1], t, levels[0])));
    all.extend([levels[1], levels[2]].map(|k| (people[1], horizon[1], k)));
    all
}

criterion_group! { name = benches; config = criterion(); targets = reconstruct, fit_means, fit_wide, refit }
criterion_main!(benches);
