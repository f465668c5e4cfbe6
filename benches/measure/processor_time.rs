//! Criterion on one thread, by the processor's clock.

use super::clock::processor_time;
use criterion::Criterion;
use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use std::time::Duration;

/// Time on the processors instead of time on the wall.
pub struct ProcessorTime;

impl Measurement for ProcessorTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        processor_time()
    }

    fn end(&self, start: Duration) -> Duration {
        processor_time() - start
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Ten samples of a second in all: the whole of `cargo bench` is to fit into a coffee break.
///
/// One thread, so that an exponent is about work and not about how it was shared.
pub fn criterion() -> Criterion<ProcessorTime> {
    // A pool that exists already is that of an earlier group in the same program.
    rayon::ThreadPoolBuilder::new().num_threads(1).build_global().ok();
    Criterion::default()
        .with_measurement(ProcessorTime)
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(1000))
        .without_plots()
}
