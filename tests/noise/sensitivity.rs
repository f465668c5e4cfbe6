//! Where the violation of an assumption is known, the interval at that point of the curve covers the true CF metric.

use counterfair::audit::PanelDraws;
use counterfair::audit::sensitivity::{Violation, unfairness_against};
use counterfair::estimate::{Basis, FitSettings};
use counterfair::estimate::{Certificate, Refitter};
use counterfair::kernel::learn::{Deployed, Policy};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::numeric::fill_standard_normal;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use counterfair::kernel::preprocess::{StateOnly, Unaware};
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

/// Level 1 is this much above level 0, and people above the cut are treated.
const SHIFT: f64 = 0.8;
const CUT: f64 = 0.5;

struct Above;

impl Policy<StateOnly> for Above {
    fn actions(&self) -> usize {
        2
    }
    fn probabilities(&self, rows: &[f64], _: usize, out: &mut [f64]) {
        for (s, out) in rows.iter().zip(out.chunks_exact_mut(2)) {
            let treated = f64::from(u8::from(*s > CUT));
            out.copy_from_slice(&[1.0 - treated, treated]);
        }
    }
    fn is_deterministic(&self) -> bool {
        true
    }
}

/// S = 0.8 Z + U with standard normal U; two of five at level 1.
fn panel(people: usize, stream: Stream) -> Panel {
    let mut noise = vec![0.0; people];
    fill_standard_normal(&mut stream.rng(), &mut noise);
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
    for (i, u) in noise.iter().enumerate() {
        let level = u32::from(i % 5 < 2);
        let (id, states) = (format!("{i:05}"), [SHIFT * f64::from(level) + u]);
        builder.push(Person { id: &id, level, states: &states, actions: &[(i % 2) as u32], rewards: &[0.0] }).unwrap();
    }
    builder.finish()
}

/// How many of 60 studies (200 people learned from, 200 judged) have the truth in the central 95 % of the law at this violation.
fn covered(violation: Violation, at: f64, truth: f64) -> usize {
    let study = |seed: u64| {
        let stream = Stream::new(seed).named("violations");
        let (learn, judge) = (panel(200, stream.named("learn")), panel(200, stream.named("judge")));
        let refitter = Refitter::new(&learn, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).unwrap();
        let certificate = Certificate::new(&refitter, &learn, 100, seed).unwrap();
        let agent = Deployed::new(Unaware { state_dim: 1 }, Above);
        let draws = PanelDraws::draw(&judge, stream.named("draws"));
        let curve = unfairness_against(violation, &[at], &agent, &judge, &certificate, 100, &draws).unwrap();
        let (low, high) = curve.metric[0].interval(0.95);
        usize::from(low <= truth && truth <= high)
    };
    (0..60u64).into_par_iter().map(study).sum()
}

/// P(decisions differ) when noises of the two worlds have correlation ρ, by Simpson's rule over the noise of level 0.
fn correlated(correlation: f64) -> f64 {
    let normal = Normal::standard();
    let f = |x: f64| {
        let above = 1.0 - normal.cdf((CUT - SHIFT - correlation * x) / (1.0 - correlation * correlation).sqrt());
        let density = (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        density * if x > CUT { 1.0 - above } else { above }
    };
    let simpson = |low: f64, high: f64| {
        let n = 4000;
        let h = (high - low) / f64::from(n);
        // The cut itself belongs to the left part; a hair to the right of it to the right one.
        let weight = |i: i32| if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
        (0..=n).map(|i| weight(i) * f(low + 1e-12 + (h - 1e-15) * f64::from(i))).sum::<f64>() * h / 3.0
    };
    simpson(-9.0, CUT - 1e-9) + simpson(CUT + 1e-9, 9.0)
}

/// At 92 % coverage fewer than 48 of 60 have probability 0.0006 for each of four points.
#[test]
fn curves_cover_where_the_violation_is_known() {
    let normal = Normal::standard();
    let shared = |λ: f64| {
        let up = normal.cdf(CUT) - normal.cdf(CUT - λ * SHIFT);
        let down = normal.cdf(CUT - SHIFT + λ * SHIFT) - normal.cdf(CUT - SHIFT);
        0.6 * up + 0.4 * down
    };
    for (violation, at, truth) in [
        (Violation::CrossWorldCorrelation, 0.5, correlated(0.5)),
        (Violation::CrossWorldCorrelation, 0.9, correlated(0.9)),
        (Violation::CausalShare, 0.5, shared(0.5)),
        (Violation::CausalShare, 0.9, shared(0.9)),
    ] {
        let count = covered(violation, at, truth);
        println!("{violation:?} at {at}: truth {truth:.4}, {count} of 60");
        assert!(count >= 48, "{violation:?} at {at}: {count} of 60");
    }
    // The control: read at no violation, the interval misses what a violation makes of the metric.
    let held = covered(Violation::CausalShare, 1.0, shared(0.25));
    assert!(held <= 6, "{held} of 60");
}
