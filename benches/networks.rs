//! The networks of supplement F.1, and a cell of `fig:sim_all` by least squares: what a run of the paper is made of.

mod measure;

use counterfair::kernel::numeric::Stream;
use counterfair::nets::{Adam, Examples, Loss, Network, Trainer, gradient_steps};
use counterfair::reproduction::{Learner, Method, PaperWorld, Synthetic};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::processor_time::{ProcessorTime, criterion};
use std::hint::black_box;

const ROWS: usize = 10_000;

/// So many numbers between −1 and 1 that no product of theirs is special.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (1.7 * i as f64).sin()).collect()
}

/// Ten steps of Adam on all rows in double precision, every output compared: what PyTorch is timed at in benches/peers.
fn steps_in_double_precision(c: &mut Criterion<ProcessorTime>) {
    for hidden in [&[32][..], &[64, 64]] {
        let widths: Vec<usize> = [4].iter().chain(hidden).chain(&[1]).copied().collect();
        let (inputs, targets) = (numbers(4 * ROWS), numbers(ROWS));
        let id = format!("ten_steps/layers={}/units={}/rows={ROWS}", hidden.len(), hidden[0]);
        c.bench_function(&id, |b| b.iter(|| steps(&widths, &inputs, &targets, Loss::Squared, 10)));
    }
}

/// Ten steps on a Q net of 32 hidden units, two actions and d inputs: a policy of the paper takes 50 000.
fn steps_on_a_q_net(c: &mut Criterion<ProcessorTime>) {
    let actions: Vec<u32> = (0..ROWS as u32).map(|i| i * i % 7 % 2).collect();
    for d in [1, 2, 3] {
        let (inputs, targets) = (numbers(d * ROWS), numbers(ROWS));
        let id = format!("ten_q_steps/inputs={d}/rows={ROWS}");
        let loss = Loss::SelectedOutput(&actions);
        c.bench_function(&id, |b| b.iter(|| steps(&[d, 32, 2], &inputs, &targets, loss, 10)));
    }
}

fn steps(widths: &[usize], inputs: &[f64], targets: &[f64], loss: Loss<'_>, count: usize) -> Network {
    let mut network = Network::new(widths, &mut Stream::new(1).rng());
    let mut adam = Adam::new(0.01, network.parameters());
    let examples = Examples { inputs: black_box(inputs), targets, loss };
    gradient_steps(&mut network, &mut adam, examples, count, &mut Trainer::default());
    network
}

/// The cell of `fig:sim_all` that most of the figure is made of, in the world that costs most.
fn cell(c: &mut Criterion<ProcessorTime>) {
    let cell = Synthetic {
        world: PaperWorld::Nonlinear,
        strength: 1.0,
        people: 1000,
        horizon: 10,
        evaluation_people: 10_000,
        evaluation_horizon: 20,
        long_horizon: Some(100),
        methods: vec![
            Method::Full,
            Method::Unaware,
            Method::Oracle,
            Method::Random,
            Method::Behaviour,
            Method::Ours,
            Method::TrueMeans,
            Method::KnownForm,
        ],
        learner: Learner::LeastSquares,
        seed: 1,
    };
    c.bench_function("cell/people=1000/followed=10000", |b| b.iter(|| black_box(&cell).run()));
}

criterion_group! { name = benches; config = criterion(); targets = steps_in_double_precision, steps_on_a_q_net, cell }
criterion_main!(benches);
