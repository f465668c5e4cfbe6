//! How a report came to be.

use crate::reproduction::Stages;
use serde::Serialize;
use std::time::Duration;

/// Everything one needs to make a report again, and what it took.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// The program's version.
    pub version: String,
    /// The command.
    pub command: String,
    /// Replicates 1 … of the simulations; each cell's random numbers follow from its seed and its own settings.
    pub seeds: u64,
    /// Splits 1 … of the studies.
    pub splits: u64,
    /// How means and action values are fitted.
    pub learner: String,
    /// Cells in the report.
    pub cells: usize,
    /// Of these, taken over from an earlier run.
    pub resumed: usize,
    /// Threads.
    pub threads: usize,
    /// Seconds from start to report.
    pub wall_seconds: f64,
    /// Seconds all threads spent simulating, fitting means, learning and evaluating.
    pub stage_seconds: [f64; 4],
    /// The most memory the process held, in mebibytes, where the system tells.
    pub peak_mebibytes: Option<f64>,
}

impl Manifest {
    /// Of a report without cells: a command, and how many threads it had.
    pub fn of_command(version: &str, command: String, threads: usize) -> Self {
        Self {
            version: version.into(),
            command,
            seeds: 0,
            splits: 0,
            learner: String::new(),
            cells: 0,
            resumed: 0,
            threads,
            wall_seconds: 0.0,
            stage_seconds: [0.0; 4],
            peak_mebibytes: None,
        }
    }

    /// Fills in what took how long.
    pub fn measured(mut self, wall: Duration, stages: Stages) -> Self {
        self.wall_seconds = wall.as_secs_f64();
        self.stage_seconds =
            [stages.simulate, stages.fit, stages.learn, stages.evaluate].map(|stage| stage.as_secs_f64());
        self.peak_mebibytes = peak_mebibytes();
        self
    }

    /// One line for a terminal.
    pub fn line(&self) -> String {
        let memory = self.peak_mebibytes.map_or(String::new(), |m| format!(", {m:.0} MiB at most"));
        format!("{} cells in {:.1} s on {} threads{memory}", self.cells, self.wall_seconds, self.threads)
    }

    /// The entries, by name.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let [simulate, fit, learn, evaluate] = self.stage_seconds;
        let memory = self.peak_mebibytes.map_or("not told by this system".into(), |m| format!("{m:.0} MiB"));
        let mut entries = vec![
            ("Version", format!("counterfair {}", self.version)),
            ("Command", self.command.clone()),
            ("Wall time", format!("{:.1} s on {} threads", self.wall_seconds, self.threads)),
            ("Peak memory", memory),
        ];
        // A report of claims has no cells; its seeds are fixed.
        if self.cells > 0 {
            entries.extend([
                ("Seeds", format!("1–{} (simulations), 1–{} (splits)", self.seeds, self.splits)),
                ("Learner", self.learner.clone()),
                ("Cells", format!("{} ({} from an earlier run)", self.cells, self.resumed)),
                (
                    "Thread time",
                    format!(
                        "simulate {simulate:.1} s, fit means {fit:.1} s, learn {learn:.1} s, evaluate {evaluate:.1} s"
                    ),
                ),
            ]);
        }
        entries
    }
}

/// `VmHWM` of this process.
fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}
