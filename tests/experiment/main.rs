//! The runner: results are bit-identical whatever the threads, shards and interruptions, and files that do not fit are refused; and the
//! tables of a small reproduction.

mod files;
mod meanwhile;
mod runner;
mod tables;

use counterfair::reproduction::{Context, Grid, Label, Learner, Plan, Progress, Scale, run};
use std::fs;
use std::path::{Path, PathBuf};

/// A grid of seconds, off every special point: two sizes, δ = 0.7, unequal horizons of data and evaluation.
fn small() -> Scale {
    Scale {
        sizes: vec![60, 120],
        size: 60,
        strengths: vec![0.0, 0.7],
        strength: 0.7,
        horizon: 6,
        evaluation_people: 300,
        evaluation_horizon: 8,
        long_horizon: 30,
        weights: vec![0.3],
        shifts: vec![0.5],
        semi_people: 80,
        semi_horizon: 7,
        seeds: 4,
        learner_sizes: vec![60],
        learner_seeds: 1,
        splits: 2,
        regret: Default::default(),
        learner: Learner::LeastSquares,
    }
}

/// The two worlds at that size.
fn grid() -> Grid {
    Grid::new(&[Label::SimAll], small(), &[])
}

/// A folder of its own for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("counterfair-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("cells.jsonl")
    }

    fn text(&self) -> Vec<u8> {
        fs::read(self.file()).expect("a file of results")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn plan(folder: &Path, shard: &str, resume: bool, threads: usize) -> Plan {
    Plan { folder: folder.into(), shard: shard.parse().expect("k/n"), resume, threads: Some(threads) }
}

fn quiet(_: Progress) {}

/// The file of a run of everything on one thread, which is made once.
fn serial(folder: &Folder) -> Vec<u8> {
    static TEXT: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    let text = TEXT.get_or_init(|| {
        let scratch = Folder::new("serial");
        run(&grid(), &Context::default(), &plan(&scratch.0, "1/1", false, 1), &quiet).expect("cells run");
        scratch.text()
    });
    fs::create_dir_all(&folder.0).expect("a folder");
    fs::write(folder.file(), text).expect("a copy");
    text.clone()
}
