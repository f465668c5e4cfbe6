//! What the machine can do, and fitted Q iteration beside it: bytes read a second, fused products a second.

mod measure;

use counterfair::kernel::learn::features::{FeatureMap, Polynomial};
use counterfair::kernel::learn::{Clipping, Settings, fitted_q_iteration};
use counterfair::kernel::numeric::block;
use counterfair::kernel::preprocess::{Unaware, batch};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::data::Shape;
use measure::processor_time::{ProcessorTime, criterion};
use measure::stream::read;
use pulp::{Arch, Simd, WithSimd};
use std::hint::black_box;

/// Numbers read from a feature matrix of n rows.
fn stream(c: &mut Criterion<ProcessorTime>) {
    for (n, d) in [(200_000, 15), (2_000_000, 15)] {
        let matrix = vec![1.5; n * d];
        c.bench_function(&format!("stream/n={n}/d={d}"), |b| b.iter(|| read(black_box(&matrix))));
    }
}

const PRODUCTS: usize = 4_800_000;

/// Fused products in registers: 12 vectors, more than the units can have under way.
fn fused(c: &mut Criterion<ProcessorTime>) {
    let id = format!("fused/products={PRODUCTS}");
    c.bench_function(&id, |b| b.iter(|| Arch::new().dispatch(Fused(black_box(0.999)))));
}

struct Fused(f64);

impl WithSimd for Fused {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let (x, y) = (simd.splat_f64s(self.0), simd.splat_f64s(1.0 - self.0));
        let mut sums = [simd.splat_f64s(0.5); 12];
        for _ in 0..PRODUCTS / (12 * S::F64_LANES) {
            for sum in &mut sums {
                *sum = simd.mul_add_f64s(*sum, x, y);
            }
        }
        sums.into_iter().map(|sum| simd.reduce_sum_f64s(sum)).sum()
    }
}

/// Fitted Q of many iterations and of one; the difference is what the others cost.
///
/// Targets held in bounds that nothing reaches make every iteration a plain pass over the data: `passes`. Without bounds greedy
/// actions are held once they hardly change: `iterations`.
fn passes(c: &mut Criterion<ProcessorTime>) {
    for n in [200_000, 2_000_000] {
        for p in [2, 4, 8] {
            let shape = Shape { people: n / 20, horizon: 20, coordinates: p, levels: 1, actions: 2 };
            let experience = batch(&Unaware { state_dim: p }, &shape.panel()).expect("finite states");
            let features = Polynomial::new(p, 2).expect("few coordinates");
            let d = (p + 1) * (p + 2) / 2;
            for (name, clipping, most) in [("passes", Clipping::Rewards(1e9), 11), ("iterations", Clipping::Off, 101)] {
                for iterations in [1, most] {
                    let settings = Settings { iterations, clipping, ..Settings::default() };
                    let id = format!("{name}/n={n}/d={d}/coordinates={p}/actions=2/iterations={iterations}");
                    c.bench_function(&id, |b| {
                        b.iter(|| fitted_q_iteration(black_box(&experience), &features, settings))
                    });
                }
            }
        }
    }
}

/// How far a pass goes.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Until {
    Features,
    Values,
    Targets,
    Moments,
}

/// A plain pass over rows that stay in the cache, from the same pieces as `passes`, until some part: what a part takes is what it adds.
fn parts(c: &mut Criterion<ProcessorTime>) {
    let (n, actions) = (20_000, 2);
    for p in [2, 4, 8] {
        let features = Polynomial::new(p, 2).expect("few coordinates");
        let d = features.count();
        let numbers = |count: usize| (0..count).map(|i| (1.7 * i as f64).sin()).collect::<Vec<f64>>();
        let rows = Rows {
            views: numbers(n * p),
            rewards: numbers(n),
            actions: (0..n as u32).map(|i| i * i % 7 % 2).collect(),
        };
        let weights = numbers(actions * d);
        for (name, until) in [
            ("features", Until::Features),
            ("values", Until::Values),
            ("targets", Until::Targets),
            ("moments", Until::Moments),
        ] {
            let id = format!("parts/n={n}/d={d}/coordinates={p}/actions={actions}/until={name}");
            c.bench_function(&id, |b| b.iter(|| pass(black_box(&rows), &features, &weights, actions, until)));
        }
    }
}

struct Rows {
    views: Vec<f64>,
    rewards: Vec<f64>,
    actions: Vec<u32>,
}

/// As `Sweep::targets` does it, but for the order of blocks.
fn pass(rows: &Rows, features: &Polynomial, weights: &[f64], actions: usize, until: Until) -> Vec<f64> {
    let (n, d) = (rows.rewards.len(), features.count());
    let (p, size) = (rows.views.len() / n, block::rows(d));
    let mut space = vec![0.0; d * size + 8];
    let line = space.as_ptr().align_offset(64).min(8);
    let (mut q, mut y) = (vec![0.0; actions * size], vec![0.0; actions * size]);
    let (mut values, mut sums) = (vec![0.0; size], vec![0.0; actions * d]);
    for start in (0..n).step_by(size) {
        let m = size.min(n - start);
        let columns = &mut space[line..line + d * m];
        features.fill(&rows.views[start * p..(start + m) * p], columns);
        black_box(&*columns);
        if until >= Until::Values {
            let q = &mut q[..actions * m];
            block::combine(columns, m, weights, q);
            let (first, others) = q.split_at(m);
            values[..m].copy_from_slice(first);
            for q in others.chunks_exact(m) {
                values.iter_mut().zip(q).for_each(|(v, q)| *v = if *q > *v { *q } else { *v });
            }
            black_box(&values);
        }
        if until >= Until::Targets {
            let taken = &rows.actions[start..start + m];
            block::masked_targets(&rows.rewards[start..start + m], &values[..m], 0.9, taken, &mut y[..actions * m]);
            black_box(&y);
        }
        if until >= Until::Moments {
            block::accumulate(columns, m, &y[..actions * m], &mut sums);
        }
    }
    sums
}

criterion_group! { name = benches; config = criterion(); targets = stream, fused, passes, parts }
criterion_main!(benches);
