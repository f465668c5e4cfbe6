//! Time on the clock, and time on the processors.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// What a piece of work took.
#[derive(Debug, Clone, Copy, serde::Serialize)]
pub struct Seconds {
    /// On the clock.
    pub wall: f64,
    /// On the processors, all threads together.
    pub cpu: f64,
}

/// Does the work so many times and gives back the last result with the seconds of one time.
pub fn timed<T>(repeat: usize, mut work: impl FnMut() -> T) -> (T, Seconds) {
    let (clock, processor) = (Instant::now(), processor_time());
    let mut result = work();
    for _ in 1..repeat {
        result = work();
    }
    let times = repeat.max(1) as f64;
    let wall = clock.elapsed().as_secs_f64() / times;
    let cpu = (processor_time() - processor).as_secs_f64() / times;
    (result, Seconds { wall, cpu })
}

/// Time this process has spent on processors, all threads together.
///
/// On a machine that others use too it is what a piece of work costs, where the clock also counts waiting.
pub fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
