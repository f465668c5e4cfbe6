//! What the machine can do, and fitted Q iteration beside it: bytes read a second, fused products a second.

mod measure;

use counterfair::learn::features::Polynomial;
use counterfair::learn::{Settings, fitted_q_iteration};
use counterfair::preprocess::{Unaware, batch};
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

/// Fused products in registers: 12 vectors of four, more than the units can have under way.
fn fused(c: &mut Criterion<ProcessorTime>) {
    c.bench_function("fused/products=4800000", |b| b.iter(|| Arch::new().dispatch(Fused(black_box(0.999)))));
}

struct Fused(f64);

impl WithSimd for Fused {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let (x, y) = ([self.0; 4], [1.0 - self.0; 4]);
        let mut sums = [[0.5f64; 4]; 12];
        for _ in 0..100_000 {
            for sum in &mut sums {
                for lane in 0..4 {
                    sum[lane] = sum[lane].mul_add(x[lane], y[lane]);
                }
            }
        }
        sums.as_flattened().iter().sum()
    }
}

/// `fitted_q` of 100 iterations at the sizes of the limits, and of one iteration: the difference is 99 passes over the data.
fn passes(c: &mut Criterion<ProcessorTime>) {
    for n in [200_000, 2_000_000] {
        for p in [2, 4, 8] {
            let shape = Shape { people: n / 20, horizon: 20, coordinates: p, levels: 1, actions: 2 };
            let experience = batch(&Unaware { state_dim: p }, &shape.panel()).expect("finite states");
            let features = Polynomial::new(p, 2).expect("few coordinates");
            let d = (p + 1) * (p + 2) / 2;
            let most = if d == 15 || n == 200_000 { 100 } else { 20 };
            for iterations in [1, most] {
                let settings = Settings { iterations, ..Settings::default() };
                let id = format!("passes/n={n}/d={d}/coordinates={p}/actions=2/iterations={iterations}");
                c.bench_function(&id, |b| b.iter(|| fitted_q_iteration(black_box(&experience), &features, settings)));
            }
        }
    }
}

criterion_group! { name = benches; config = criterion(); targets = stream, fused, passes }
criterion_main!(benches);
