//! How fitted Q iteration scales: with tuples n, features d, actions, iterations B and levels K.

mod measure;

use counterfair::estimate::{Basis, FitSettings, fit};
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Settings, fitted_q_iteration};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::preprocess::{Experience, Sequential, Unaware, View, batch};
use counterfair::nets::{NeuralSettings, neural_fitted_q_iteration};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::data::Shape;
use measure::processor_time::{ProcessorTime, criterion};
use std::hint::black_box;

const HORIZON: usize = 20;
const N: usize = 20_000;
const ITERATIONS: usize = 20;

/// n tuples in p coordinates, of which monomials up to degree two make d = (p + 1)(p + 2)/2 features.
fn shape(n: usize, coordinates: usize, actions: usize) -> Shape {
    Shape { people: n / HORIZON, horizon: HORIZON, coordinates, levels: 1, actions }
}

fn least_squares(c: &mut Criterion<ProcessorTime>) {
    let mut run = |n: usize, p: usize, actions: usize, iterations: &[usize]| {
        let experience = batch(&Unaware { state_dim: p }, &shape(n, p, actions).panel()).expect("finite states");
        let features = Polynomial::new(p, 2).expect("few coordinates");
        for &iterations in iterations {
            let d = (p + 1) * (p + 2) / 2;
            let id = format!("fitted_q/n={n}/d={d}/actions={actions}/iterations={iterations}");
            let settings = Settings { iterations, ..Settings::default() };
            c.bench_function(&id, |b| b.iter(|| fitted_q_iteration(black_box(&experience), &features, settings)));
        }
    };
    for n in [2_000, 200_000, 2_000_000] {
        run(n, 4, 2, &[ITERATIONS]);
    }
    for p in [2, 6, 8] {
        run(N, p, 2, &[ITERATIONS]);
    }
    for actions in [4, 8] {
        run(N, 4, actions, &[ITERATIONS]);
    }
    run(N, 4, 2, &[5, ITERATIONS, 80, 320]);
}

/// Levels enter through the augmented state [ŝ¹, …, ŝᴷ]: K coordinates where there was one.
fn levels(c: &mut Criterion<ProcessorTime>) {
    for levels in [2, 4, 8] {
        let panel = Shape { levels, ..shape(N, 1, 2) }.panel();
        let means = fit(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).expect("full rank");
        let experience = batch(&Sequential::new(means, panel.level_shares()), &panel).expect("finite states");
        let features = Polynomial::for_rows(experience.views(), levels, 1, 2).expect("few coordinates");
        let settings = Settings { iterations: ITERATIONS, ..Settings::default() };
        let id = format!("fitted_q_augmented/n={N}/levels={levels}/iterations={ITERATIONS}");
        c.bench_function(&id, |b| b.iter(|| fitted_q_iteration(black_box(&experience), &features, settings)));
    }
}

fn neural(c: &mut Criterion<ProcessorTime>) {
    let run = |c: &mut Criterion<ProcessorTime>, experience: &Experience<_>, n: usize, hidden: usize| {
        let steps = 10;
        let settings = NeuralSettings { iterations: 2, steps, hidden: vec![hidden], ..NeuralSettings::default() };
        let id = format!("neural_fitted_q/n={n}/hidden={hidden}/steps={}", 2 * steps);
        c.bench_function(&id, |b| b.iter(|| train(experience, &settings)));
    };
    for n in [500, 2_000, 8_000] {
        let experience = batch(&Unaware { state_dim: 2 }, &shape(n, 2, 2).panel()).expect("finite states");
        run(c, &experience, n, 32);
        if n == 2_000 {
            run(c, &experience, n, 64);
            run(c, &experience, n, 128);
        }
    }
}

fn train<V: View>(experience: &Experience<V>, settings: &NeuralSettings) {
    let fitted = neural_fitted_q_iteration(black_box(experience), 1, settings, Stream::new(1));
    black_box(fitted.expect("tuples to learn from"));
}

criterion_group! { name = benches; config = criterion(); targets = least_squares, levels, neural }
criterion_main!(benches);
