//! What is kept under `paper/results/`: long computations, small enough to be committed.

use super::cells::{kept, pack, unpack};
use crate::files::{WriteError, atomically};
use crate::reproduction::{DISCOUNT, Label, Learner, NotLearned, PaperWorld, Record, Scale, Selection, Study};
use crate::theory::optimum::{OptimumError, optimum};
use crate::theory::theorems::{Examined, RowsError, read as read_examined};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The results from which the paper's numbers, tables and figures are made.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Cells of `fig:sim_all`; spreads within a cell are not kept.
    pub sim_all: Vec<Record>,
    /// The same figure by the learner that `learn` takes by default, likewise.
    pub stable: Vec<Record>,
    /// Cells of `table:learners` by networks, likewise; those by least squares are among `fig:sim_all`'s.
    pub networks: Vec<Record>,
    /// Cells of `fig:semi`, likewise.
    pub semi: Vec<Record>,
    /// Cells of `fig:regret`, likewise.
    pub regret: Vec<Record>,
    /// Cells of `table:real_data`, whole.
    pub splits: Vec<Record>,
    /// The scale at which the cells of each label were asked for, by the label's name.
    pub scales: BTreeMap<String, Scale>,
    /// How long the cells of `fig:sim_all` took, where that is known.
    pub run: Option<Run>,
    /// Theorems and errata, examined.
    pub examined: Examined,
    /// Optima and tests of additivity.
    pub measured: Measured,
    /// Comparisons of speed; none when nobody has measured them.
    pub peers: Vec<Peer>,
}

/// What a reproduction took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Cells in its report.
    pub cells: usize,
    /// Of these, taken over from an earlier run.
    pub resumed: usize,
    /// Threads.
    pub threads: usize,
    /// Seconds from start to report.
    pub wall_seconds: f64,
}

/// Smaller computations, done together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    /// J*CF and J*Full.
    pub optima: Vec<OptimumRow>,
    /// Tests of additivity.
    pub additivity: Vec<AdditivityRow>,
}

/// The optima of a world.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OptimumRow {
    /// The world.
    pub world: PaperWorld,
    /// δ.
    pub strength: f64,
    /// J*CF and its error.
    pub fair: (f64, f64),
    /// J*Full and its error.
    pub full: (f64, f64),
}

/// A test of additivity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AdditivityRow {
    /// The study.
    pub study: String,
    /// The attribute.
    pub attribute: String,
    /// The output.
    pub output: String,
    /// The statistic.
    pub statistic: f64,
    /// The p-value.
    pub p_value: f64,
}

/// One comparison with another library, as `benches/peers/run` writes it; what nobody measured is absent.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Peer {
    /// What both do.
    pub what: String,
    /// The other library.
    pub peer: String,
    /// Threads of each side.
    pub threads: usize,
    /// Rows, columns, people, whatever says how large the task is.
    pub size: serde_json::Map<String, serde_json::Value>,
    /// (Their time)/(our time).
    pub ratio: Option<Quartiles>,
    /// (Our time)/(their time), where less than a bar was asked for.
    pub times: Option<Quartiles>,
    /// The ratio that was asked for beforehand.
    pub bar: Option<f64>,
    /// Whether it was reached.
    pub reached: Option<bool>,
}

/// A median between its quartiles.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Quartiles {
    /// The median.
    pub median: f64,
    /// The lower quartile.
    pub low: f64,
    /// The upper quartile.
    pub high: f64,
}

impl Peer {
    /// A size by name, when it is a number.
    pub fn count(&self, name: &str) -> Option<f64> {
        self.size.get(name)?.as_f64()
    }
}

/// Results that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file that does not hold what it should.
    #[error("{path}, line {line}: {reason}")]
    Content {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        reason: String,
    },
    /// An optimum that cannot be computed.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    /// Verdicts on other claims than this program makes.
    #[error("{path}: {source}")]
    Verdicts {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: RowsError,
    },
    /// A study whose mechanism cannot be fitted.
    #[error(transparent)]
    NotLearned(#[from] NotLearned),
}

const SIM_ALL: &str = "sim_all.csv";
const STABLE: &str = "sim_all_stable.csv";
const NETWORKS: &str = "networks.csv";
/// The name of its scale among those of the labels.
const STABLE_SCALE: &str = "fig:sim_all, stable";
const SEMI: &str = "semi.csv";
const REGRET: &str = "regret.csv";
const SPLITS: &str = "splits.jsonl";
const SCALES: &str = "scales.json";
const RUN: &str = "run.json";
const VERDICTS: &str = "verdicts.json";
const MEASURED: &str = "measured.json";

impl Results {
    /// Reads a folder; a file that is not there stands for no results of its kind. `peers` is the file of the speed comparisons.
    ///
    /// # Errors
    /// [`ResultsError`] with file and line.
    pub fn read(folder: &Path, peers: &Path) -> Result<Self, ResultsError> {
        let mut results = Self::read_all_but_verdicts(folder, peers)?;
        let path = folder.join(VERDICTS);
        if let Some(text) = text(&path)? {
            let examined = read_examined(&String::from_utf8_lossy(&text));
            results.examined = examined.map_err(|source| ResultsError::Verdicts { path, source })?;
        }
        Ok(results)
    }

    /// The same without the verdicts, which may be on claims that are no longer made.
    ///
    /// # Errors
    /// [`ResultsError`] with file and line.
    pub fn read_all_but_verdicts(folder: &Path, peers: &Path) -> Result<Self, ResultsError> {
        let cells = |name: &str| match text(&folder.join(name))? {
            None => Ok(Vec::new()),
            Some(text) => unpack(&text).map_err(|(line, reason)| content(&folder.join(name), line, reason)),
        };
        let mut splits = Vec::new();
        let lines = text(&folder.join(SPLITS))?.unwrap_or_default();
        for (i, line) in lines.split(|&b| b == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let record = serde_json::from_slice(line);
            splits.push(record.map_err(|e| content(&folder.join(SPLITS), i as u64 + 1, e.to_string()))?);
        }
        Ok(Self {
            sim_all: cells(SIM_ALL)?,
            stable: cells(STABLE)?,
            networks: cells(NETWORKS)?,
            semi: cells(SEMI)?,
            regret: cells(REGRET)?,
            splits,
            scales: json(&folder.join(SCALES))?.unwrap_or_default(),
            run: json::<Option<Run>>(&folder.join(RUN))?.flatten(),
            examined: Examined::default(),
            measured: json(&folder.join(MEASURED))?.unwrap_or_default(),
            peers: read_peers(peers)?,
        })
    }

    /// Takes over the cells of a reproduction, label by label; what it has no cells of stays as it is. What it took is kept for `fig:sim_all`.
    pub fn take_cells(&mut self, selections: Vec<Selection>, run: Option<&Run>) {
        for Selection { label, scale, records, .. } in selections {
            match label {
                Label::SimAll if scale.learner == Learner::Stable => {
                    self.stable = records;
                    self.scales.insert(STABLE_SCALE.into(), scale);
                    continue;
                }
                Label::SimAll if scale.learner != Learner::LeastSquares => continue,
                Label::SimAll => {
                    // Of a run that was resumed, or did other things too, nobody knows how long these cells took.
                    self.run = run.filter(|run| run.resumed == 0 && run.cells == records.len()).cloned();
                    self.sim_all = records;
                }
                // Those by least squares are among the cells of the figure.
                Label::Learners => {
                    self.networks = records.into_iter().filter(|r| r.cell.learner() == Learner::Neural).collect();
                }
                Label::Semi => self.semi = records,
                Label::Regret => self.regret = records,
                Label::RealData => self.splits = records,
                // The same cells as `table:real_data`.
                Label::RealActionPercentage => continue,
            }
            self.scales.insert(label.to_string(), scale);
        }
    }

    /// The scale of `fig:sim_all` by the default learner, where it was run.
    pub fn stable_scale(&self) -> Option<&Scale> {
        self.scales.get(STABLE_SCALE)
    }

    /// The scale at which the cells of a label were asked for; the paper's where there are none.
    pub fn scale(&self, label: Label) -> Scale {
        self.scales.get(&label.to_string()).cloned().unwrap_or_else(Scale::paper)
    }

    /// Writes everything but the comparisons of speed, which have a file of their own.
    ///
    /// # Errors
    /// [`ResultsError::Io`].
    pub fn write(&self, folder: &Path) -> Result<(), ResultsError> {
        fs::create_dir_all(folder).map_err(|source| ResultsError::Io { path: folder.into(), source })?;
        let put = |name: &str, text: String| {
            atomically(&folder.join(name), |out| out.write_all(text.as_bytes())).map_err(ResultsError::from)
        };
        let files = [
            (SIM_ALL, &self.sim_all),
            (STABLE, &self.stable),
            (NETWORKS, &self.networks),
            (SEMI, &self.semi),
            (REGRET, &self.regret),
        ];
        for (name, records) in files {
            if !records.is_empty() {
                put(name, pack(records))?;
            }
        }
        let line = |record: &Record| serde_json::to_string(record).expect("records are plain") + "\n";
        put(SPLITS, self.splits.iter().map(line).collect())?;
        put(SCALES, super::pretty(&self.scales))?;
        put(RUN, super::pretty(&self.run))?;
        put(VERDICTS, super::pretty(&self.examined))?;
        put(MEASURED, super::pretty(&self.measured))
    }
}

/// Optima and tests of additivity, computed anew: a minute or two.
///
/// # Errors
/// [`ResultsError`].
pub fn refresh(studies: &[Study]) -> Result<Measured, ResultsError> {
    let mut measured = Measured::default();
    for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
        for strength in Scale::paper().strengths {
            measured.optima.push(best(world, strength)?);
        }
    }
    for study in studies.iter().filter(|study| !study.is_simulated()) {
        for attribute in study.attributes() {
            for test in study.additivity(attribute).expect("an attribute of the study")? {
                measured.additivity.push(AdditivityRow {
                    study: study.name().into(),
                    attribute: attribute.into(),
                    output: study.state_names().get(test.output).map_or("reward", String::as_str).into(),
                    statistic: kept(test.statistic),
                    p_value: kept(test.p_value),
                });
            }
        }
    }
    Ok(measured)
}

/// The optima of one world.
///
/// # Errors
/// [`ResultsError::Optimum`].
fn best(world: PaperWorld, strength: f64) -> Result<OptimumRow, ResultsError> {
    let found = optimum(world, strength, DISCOUNT)?;
    let [fair, full] = [found.fair, found.full].map(|b| (kept(b.value), kept(b.error)));
    Ok(OptimumRow { world, strength, fair, full })
}

/// A file, or `None` when there is none.
fn text(path: &Path) -> Result<Option<Vec<u8>>, ResultsError> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ResultsError::Io { path: path.into(), source }),
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ResultsError> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_slice(&text).map(Some).map_err(|e| content(path, e.line() as u64, e.to_string()))
}

fn content(path: &Path, line: u64, reason: String) -> ResultsError {
    ResultsError::Content { path: path.into(), line, reason }
}

/// A list of comparisons, alone or under `rows`.
fn read_peers(path: &Path) -> Result<Vec<Peer>, ResultsError> {
    let Some(mut value) = json::<serde_json::Value>(path)? else { return Ok(Vec::new()) };
    if let Some(rows) = value.get_mut("rows") {
        value = rows.take();
    }
    serde_json::from_value(value).map_err(|e| content(path, 1, e.to_string()))
}

/// What a reproduction's manifest says of its cost, where there is one.
///
/// # Errors
/// [`ResultsError`] when it cannot be read.
pub fn read_run(manifest: &Path) -> Result<Option<Run>, ResultsError> {
    json(manifest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selection(scale: &Scale, label: Label) -> Vec<Selection> {
        let cells = scale.cells(&[label], &[]);
        let records: Vec<Record> = cells.into_iter().map(|cell| Record { cell, results: vec![] }).collect();
        vec![Selection { label, scale: scale.clone(), total: records.len(), records, others: 0 }]
    }

    fn run(cells: usize) -> Option<Run> {
        Some(Run { cells, resumed: 0, threads: 2, wall_seconds: 60.0 })
    }

    #[test]
    fn cells_of_the_learners_do_not_take_the_place_of_the_figure() {
        let scale = Scale { seeds: 4, learner_seeds: 2, ..Scale::paper() };
        let mut results = Results::default();
        results.take_cells(selection(&scale, Label::SimAll), run(4 * 18).as_ref());
        assert_eq!((results.sim_all.len(), results.networks.len(), results.run.clone()), (4 * 18, 0, run(4 * 18)));
        results.take_cells(selection(&scale, Label::Learners), run(16).as_ref());
        assert_eq!((results.sim_all.len(), results.networks.len(), results.run.clone()), (4 * 18, 8, run(4 * 18)));
        // Cells of the figure do, and those that were resumed have no time.
        let more = Scale { seeds: 5, ..scale.clone() };
        let resumed = run(5 * 18).map(|run| Run { resumed: 1, ..run });
        results.take_cells(selection(&more, Label::SimAll), resumed.as_ref());
        assert_eq!((results.sim_all.len(), results.networks.len(), results.run.clone()), (5 * 18, 8, None));
        assert_eq!((results.scale(Label::SimAll), results.scale(Label::Learners)), (more, scale.clone()));
        assert_eq!(results.scale(Label::Semi), Scale::paper());
        // The figure by networks is not the figure of the paper.
        let networks = Scale { learner: Learner::Neural, ..scale.clone() };
        results.take_cells(selection(&networks, Label::SimAll), None);
        assert_eq!((results.sim_all.len(), results.stable.len(), results.stable_scale()), (5 * 18, 0, None));
        // That by the default learner stands beside it.
        let stable = Scale { learner: Learner::Stable, seeds: 3, ..scale };
        results.take_cells(selection(&stable, Label::SimAll), None);
        assert_eq!(
            (results.sim_all.len(), results.stable.len(), results.stable_scale()),
            (5 * 18, 3 * 18, Some(&stable))
        );
    }
}
