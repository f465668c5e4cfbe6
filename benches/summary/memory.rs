//! Memory that a fit takes beyond the data it is given.

use super::measure::data::Shape;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{Settings, fitted_q_iteration};
use counterfair::kernel::preprocess::{Unaware, batch};

/// Argument of the process that measures.
pub const MEASURE: &str = "--memory";

/// Measures in a process of its own, in which glibc gives back at once what is freed in pieces of 16 kB and more: memory that a fit
/// takes from what the data's making left behind would not be seen.
pub fn report() -> std::io::Result<()> {
    let measuring = std::env::current_exe()?;
    let status = std::process::Command::new(measuring).arg(MEASURE).env("MALLOC_MMAP_THRESHOLD_", "16384").status()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("measuring memory ended with {status}"))) }
}

pub fn measure() {
    for (people, coordinates) in [(10_000, 4), (40_000, 4), (40_000, 8)] {
        let shape = Shape { people, horizon: 20, coordinates, levels: 1, actions: 2 };
        let experience = batch(&Unaware { state_dim: coordinates }, &shape.panel()).expect("finite states");
        let features = Polynomial::new(coordinates, 2).expect("few coordinates");
        let Some(before) = reset() else {
            return println!("this system does not tell");
        };
        let fit = fitted_q_iteration(&experience, &features, Settings::default());
        let d = fit.expect("tuples to learn from").q.weights().len() / shape.actions;
        let Some(peak) = field("VmHWM:") else { return };
        let (n, stored) = (shape.tuples() as f64, (shape.people * (shape.horizon + 1) * d * 8) as f64);
        println!(
            "n = {n}, d = {d}: {:.1} bytes a tuple, {:.1} % of what storing the features would take",
            (peak - before) / n,
            100.0 * (peak - before) / stored
        );
    }
}

/// Forgets the largest memory held so far and gives what is held now, in bytes.
fn reset() -> Option<f64> {
    std::fs::write("/proc/self/clear_refs", "5").ok()?;
    field("VmRSS:")
}

fn field(name: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(1024.0 * line.split_whitespace().nth(1)?.parse::<f64>().ok()?)
}
