//! What the machine can do, and fitted Q iteration beside it: bytes read a second, fused products a second.

mod measure;

use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Clipping, Settings, fitted_q_iteration};
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

criterion_group! { name = benches; config = criterion(); targets = stream, fused, passes }
criterion_main!(benches);
