//! `counterfair`, `counterfair reproduce` and `counterfair merge`.

use clap::Args;
use counterfair::kernel::data::{DataError, ReadOptions, read};
use counterfair::report::{
    Manifest, Report, Section, WriteError, claims as claims_section, learners, real_data, semi, sim_all,
};
use counterfair::reproduction::summary::{missing_replicates, of_one_grid};
use counterfair::reproduction::{
    Attribute, Cell, Context, DISCOUNT, Finished, Label, Learner, Origin, Plan, Progress, Record, RunError, Scale,
    Setting, Shard, Stages, StarError, Study, merge as join, run,
};
use counterfair::theory::optimum::optimum;
use counterfair::theory::{Budget, Row, claims, examine, swift_claims};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The full grids of the paper.
#[derive(Debug, Clone, Args)]
pub struct ReproduceArgs {
    /// Only this figure or table, by its label in the paper, or table:learners, which is not part of a full run; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub only: Vec<Label>,
    /// Replicates of the simulations (default 100, 10 for table:learners; 6 and 2 with --quick)
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// Threads (default: as many as there are cores)
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Folder for results and report
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
    /// Keep the cells that an earlier run has done
    #[arg(long)]
    pub resume: bool,
    /// Only the k-th of n shares of the cells; join them with `merge`
    #[arg(long, value_name = "K/N", default_value = "1/1")]
    pub shard: Shard,
    /// How means and action values are fitted; table:learners takes least squares and networks, whatever is said here
    #[arg(long, value_name = "NAME", default_value = "least-squares")]
    pub learner: Learner,
    /// The sizes of the quick reproduction
    #[arg(long)]
    pub quick: bool,
    /// A study of your own for table:real_data, with columns ID, timestamp, z1, action, reward, state1, … and incoming rows
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Joins shards.
#[derive(Debug, Clone, Args)]
pub struct MergeArgs {
    /// Folders with results of shards
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Folder for the joined results and the report (default: the first folder)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The study that the shards were run on, when it was your own
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// Cells could not be done or joined.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A file of the user's.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The STAR extract.
    #[error("the STAR extract: {0}")]
    Star(#[from] StarError),
    /// The report could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Results on a study that is not there.
    #[error(
        "the results speak of the study {study:?}, which does not come with the program: name its file with --data"
    )]
    UnknownStudy {
        /// Its name.
        study: String,
    },
    /// Zero threads or seeds.
    #[error("--{option} is {value}; it must be at least 1")]
    Zero {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
    },
}

/// The quick reproduction of everything.
///
/// # Errors
/// Any [`ReproduceError`].
pub fn run_quick() -> Result<(), ReproduceError> {
    let args = ReproduceArgs {
        only: vec![],
        seeds: None,
        threads: None,
        out: "out".into(),
        resume: false,
        shard: Shard::WHOLE,
        learner: Learner::LeastSquares,
        quick: true,
        data: None,
    };
    reproduce_with(&args, || Some(swift_rows()))
}

/// The claims that take little time, examined.
fn swift_rows() -> Vec<Row> {
    examine(&swift_claims(), Budget::Quick, |_| {})
}

/// Does cells and, unless only a shard was asked for, writes the report.
///
/// # Errors
/// Any [`ReproduceError`].
pub fn reproduce(args: &ReproduceArgs) -> Result<(), ReproduceError> {
    reproduce_with(args, || None)
}

/// The same, with a section of claims in the report if there are any.
fn reproduce_with(args: &ReproduceArgs, examined: impl FnOnce() -> Option<Vec<Row>>) -> Result<(), ReproduceError> {
    let start = Instant::now();
    for (option, value) in [("threads", args.threads.map(|t| t as u64)), ("seeds", args.seeds)] {
        if let Some(value @ 0) = value {
            return Err(ReproduceError::Zero { option, value });
        }
    }
    let mut scale = if args.quick { Scale::quick() } else { Scale::paper() };
    if let Some(seeds) = args.seeds {
        (scale.seeds, scale.learner_seeds) = (seeds, seeds);
    }
    scale.learner = args.learner;
    let labels = if args.only.is_empty() { Label::PAPER.to_vec() } else { args.only.clone() };
    let context = Context::new(studies(args.data.as_deref())?);
    let cells = scale.cells(&labels, context.studies());
    let plan = Plan { folder: args.out.clone(), shard: args.shard, resume: args.resume, threads: args.threads };
    let Finished { records, file, stages, resumed } = with_bar(|progress| run(&cells, &context, &plan, progress))?;
    if !args.shard.is_whole() {
        println!("{} cells of shard {} in {}", records.len(), args.shard, file.display());
        return Ok(());
    }
    let manifest = manifest(&records, resumed, args.threads);
    let theory = examined().map(|rows| {
        let left_out = claims().len() - rows.len();
        claims_section(&rows, Budget::Quick, left_out)
    });
    publish(&records, (&labels, &scale), &context, theory, (manifest, stages, start), &args.out)
}

/// Project STAR; its licence stands beside it.
const STAR: &[u8] = include_bytes!("../../tests/fixtures/star/star_long.csv");

/// The studies that come with the program.
pub fn shipped() -> Result<Vec<Study>, ReproduceError> {
    Ok(vec![Study::stand_in(), Study::star(STAR)?])
}

/// The studies that come with the program, or the user's instead.
fn studies(data: Option<&Path>) -> Result<Vec<Study>, ReproduceError> {
    let Some(path) = data else { return shipped() };
    let panel = read(path, &ReadOptions::default())?.panel;
    let codes = panel.level_codes().to_vec();
    let attribute = Attribute { name: "z1".into(), levels: panel.levels().clone(), codes };
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let description = format!("Read from {}.", path.file_name().unwrap_or_default().to_string_lossy());
    Ok(vec![Study::new(&name, Origin::File, &description, &[], vec![attribute], panel)])
}

/// Joins shards and writes the report.
///
/// # Errors
/// Any [`ReproduceError`].
pub fn merge(args: &MergeArgs) -> Result<(), ReproduceError> {
    let start = Instant::now();
    let out = args.out.clone().unwrap_or_else(|| args.folders[0].clone());
    let (_, records) = join(&args.folders, &out)?;
    let scale = Scale::covering(&records);
    let context = Context::new(studies(args.data.as_deref())?);
    let known = |name: &str| context.studies().iter().any(|study| study.name() == name);
    if let Some(study) = records.iter().filter_map(|record| record.cell.study()).find(|name| !known(name)) {
        return Err(ReproduceError::UnknownStudy { study: study.into() });
    }
    let missing = missing_replicates(&records);
    if missing > 0 {
        let all = records.len() + missing;
        eprintln!(
            "warning: {missing} of {all} cells are missing; run the shards that were cut off again with --resume"
        );
    }
    let manifest = manifest(&records, records.len(), Some(1));
    publish(&records, (&shown(&records, &scale), &scale), &context, None, (manifest, Stages::default(), start), &out)
}

/// The labels of results whose command nobody remembers. Cells of `table:learners` are cells of `fig:sim_all` too, but too few to draw it.
fn shown(records: &[Record], scale: &Scale) -> Vec<Label> {
    let compared = |cell: &Cell| matches!(cell, Cell::Synthetic(c) if c.strength == scale.strength && scale.learner_sizes.contains(&c.people));
    let only_compared = learners(records, scale).is_some()
        && records.iter().all(|record| record.cell.kind() != "synthetic" || compared(&record.cell));
    Label::EVERY.into_iter().filter(|label| !(only_compared && *label == Label::SimAll)).collect()
}

fn manifest(records: &[Record], resumed: usize, threads: Option<usize>) -> Manifest {
    let seeds = |splits: bool| {
        let wanted = records.iter().filter(|record| (record.cell.kind() == "split") == splits);
        wanted.map(|record| record.cell.seed()).max().unwrap_or(0)
    };
    let learners: BTreeSet<Learner> = records.iter().map(|record| record.cell.learner()).collect();
    let available = || std::thread::available_parallelism().map_or(1, usize::from);
    Manifest {
        version: env!("CARGO_PKG_VERSION").into(),
        command: std::iter::once("counterfair".to_string())
            .chain(std::env::args().skip(1))
            .collect::<Vec<_>>()
            .join(" "),
        seeds: seeds(false),
        splits: seeds(true),
        learner: learners.iter().map(Learner::to_string).collect::<Vec<_>>().join(" and "),
        cells: records.len(),
        resumed,
        threads: threads.unwrap_or_else(available),
        wall_seconds: 0.0,
        stage_seconds: [0.0; 4],
        peak_mebibytes: None,
    }
}

fn publish(
    records: &[Record],
    (labels, scale): (&[Label], &Scale),
    context: &Context,
    theory: Option<Section>,
    (manifest, stages, start): (Manifest, Stages, Instant),
    out: &Path,
) -> Result<(), ReproduceError> {
    let mut sections: Vec<Section> = Vec::new();
    let own = &of_one_grid(records, scale.learner);
    let any = |wanted: &dyn Fn(&Cell) -> bool| own.iter().any(|record| wanted(&record.cell));
    if labels.contains(&Label::SimAll) && any(&|cell| matches!(cell, Cell::Synthetic(_))) {
        sections.push(sim_all(own, scale, &best_values(scale)));
    }
    if labels.contains(&Label::Learners) {
        sections.extend(learners(records, scale));
    }
    for study in context.studies() {
        if any(&|cell| matches!(cell, Cell::SemiSynthetic(c) if c.study == study.name())) {
            sections.push(semi(own, scale, study));
        }
    }
    for study in context.studies() {
        if any(&|cell| matches!(cell, Cell::Split(c) if c.study == study.name())) {
            sections.push(real_data(own, scale, study));
        }
    }
    sections.extend(theory);
    let manifest = manifest.measured(start.elapsed(), stages);
    let report = Report { manifest, sections };
    let page = report.write(&out.join("report"))?;
    println!("{}", report.terminal());
    println!("{}\nreport: {}", report.manifest.line(), page.display());
    Ok(())
}

/// (J*CF, J*Full) of a world at the figure's δ.
fn best_values(scale: &Scale) -> impl Fn(Setting) -> Option<(f64, f64)> {
    let solve =
        |world: Setting| optimum(world.into(), scale.strength, DISCOUNT).ok().map(|o| (o.fair.value, o.full.value));
    let known = [Setting::Linear, Setting::Nonlinear].map(|world| (world, solve(world)));
    move |world| known.iter().find(|(w, _)| *w == world).and_then(|(_, best)| *best)
}

/// Seconds between lines of progress where there is no terminal to draw a bar on: in the log of a job, say.
const SECONDS_BETWEEN_LINES: u64 = 60;

/// Runs with a bar that shows cells done, rate and time left.
fn with_bar<T>(work: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> T) -> T {
    let bar = ProgressBar::new(0);
    let (start, lines) = (OnceLock::new(), AtomicU64::new(0));
    let style = "{bar:40} {pos}/{len} cells, {per_sec}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style).expect("a constant that is right"));
    let result = work(&|progress| {
        bar.set_length(progress.total as u64);
        if progress.done == progress.resumed {
            bar.reset_eta();
        }
        bar.set_position(progress.done as u64);
        // What was read before the first call took no part in the work.
        let elapsed = start.get_or_init(Instant::now).elapsed();
        let due = elapsed.as_secs() / SECONDS_BETWEEN_LINES;
        if bar.is_hidden() && progress.done > progress.resumed && lines.fetch_max(due, Ordering::Relaxed) < due {
            eprintln!("{}", line(progress, elapsed));
        }
    });
    bar.finish_and_clear();
    result
}

/// Cells done, rate and time left, in words.
fn line(progress: Progress, elapsed: Duration) -> String {
    let Progress { done, resumed, total } = progress;
    let rate = (done - resumed) as f64 / elapsed.as_secs_f64();
    let minutes = ((total - done) as f64 / rate / 60.0).ceil();
    format!("{done}/{total} cells, {rate:.2}/s, {minutes} min left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_progress_leaves_out_what_was_done_before() {
        let progress = Progress { done: 130, resumed: 100, total: 200 };
        assert_eq!(line(progress, Duration::from_secs(120)), "130/200 cells, 0.25/s, 5 min left");
    }

    #[test]
    fn results_of_both_learners_alone_are_not_drawn_as_the_figure() {
        let scale = Scale { learner_seeds: 2, seeds: 3, ..Scale::quick() };
        let cells = |labels: &[Label]| -> Vec<Record> {
            let record = |cell: Cell| Record { cell, results: vec![] };
            scale.cells(labels, &[]).into_iter().map(record).collect()
        };
        let draws = |records: &[Record]| shown(records, &Scale::covering(records)).contains(&Label::SimAll);
        assert!(!draws(&cells(&[Label::Learners])));
        assert!(draws(&cells(&[Label::SimAll])) && draws(&cells(&[Label::SimAll, Label::Learners])));
        let manifest = manifest(&cells(&[Label::SimAll, Label::Learners]), 0, Some(1));
        assert_eq!((manifest.seeds, manifest.splits), (3, 0));
        assert_eq!(manifest.learner, "least-squares and neural");
    }
}
