//! How evaluation scales with N·T: following a policy in a known world, and fitted Q evaluation on recorded histories.

mod measure;

use counterfair::audit::{EvaluationSettings, fitted_q_evaluation, probabilities_along};
use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Deployed, Greedy, Settings, fitted_q_iteration};
use counterfair::kernel::model::worlds::Linear;
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Sequential, batch};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::processor_time::{ProcessorTime, criterion};
use std::hint::black_box;

const SIZES: [(usize, usize); 5] = [(500, 20), (2_000, 5), (2_000, 20), (2_000, 80), (8_000, 20)];

fn value_and_fairness(c: &mut Criterion<ProcessorTime>) {
    let world = Linear::new(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 500, 10, Stream::new(1)));
    let preprocessor = Sequential::new(world.clone(), panel.level_shares());
    let experience = batch(&preprocessor, &panel).expect("finite states");
    let features = Polynomial::for_rows(experience.views(), 2, 1, 2).expect("two coordinates");
    let q = fitted_q_iteration(&experience, &features, Settings::default()).expect("tuples").q;
    let agent = Deployed::new(preprocessor, Greedy(q));
    for (people, horizon) in SIZES {
        let draws = Exogenous::draw(&world, people, horizon, Stream::new(2));
        let id = format!("evaluate/people={people}/horizon={horizon}");
        c.bench_function(&id, |b| b.iter(|| evaluate(&world, &agent, black_box(&draws), 0.9)));

        let panel = simulate(&world, &draws);
        let along = probabilities_along(&panel, &agent, &vec![0.0; people]).expect("one agent, one panel");
        let judged = batch(&Sequential::new(world.clone(), panel.level_shares()), &panel).expect("finite states");
        let judged = judged.with_level(&panel);
        let features = Polynomial::for_rows(judged.views(), 2, 2, 2).expect("two coordinates");
        let settings = EvaluationSettings::default();
        let id = format!("fitted_q_evaluation/people={people}/horizon={horizon}");
        c.bench_function(&id, |b| b.iter(|| fitted_q_evaluation(black_box(&judged), &along, &features, settings)));
    }
}

criterion_group! { name = benches; config = criterion(); targets = value_and_fairness }
criterion_main!(benches);
