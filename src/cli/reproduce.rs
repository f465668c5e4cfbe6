//! `counterfair reproduce` and `counterfair merge`.

use super::files::Files;
use super::output::{command_line, note, say, width};
use super::progress::stage;
use super::studies::{StudyError, given};
use clap::Args;
use counterfair::files::WriteError;
use counterfair::report::{
    Manifest, Report, Section, learners, real_data, regret, semi, sim_all, theorems as theorems_section,
};
use counterfair::reproduction::{
    Context, DISCOUNT, Finished, Grid, Label, Learner, Merged, PaperWorld, Plan, Progress, Record, RunError, Scale,
    Selection, Shard, Stages, merge as join, run, select,
};
use counterfair::theory::errata::{errata, recompute};
use counterfair::theory::optimum::optimum;
use counterfair::theory::theorems::{Examined, examine, swift};
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The full grids of the paper.
#[derive(Debug, Clone, Args)]
pub struct ReproduceArgs {
    /// Only this figure or table, by its label: those of the paper, fig:regret, or table:learners, which is not part of a full run; may be repeated
    #[arg(long, value_name = "LABEL")]
    pub only: Vec<Label>,
    /// Replicates of the simulations (default 100, 10 for table:learners; 6 and 2 with --quick)
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// Threads [default: RAYON_NUM_THREADS, or as many as there are cores]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Folder for results and report
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub out: PathBuf,
    /// Do only the cells that an earlier run has not done
    #[arg(long)]
    pub resume: bool,
    /// Only the k-th of n shares of the cells; join them with `merge`
    #[arg(long, value_name = "K/N", default_value = "1/1")]
    pub shard: Shard,
    /// How means and action values are fitted; table:learners takes least squares and networks, whatever is said here
    #[arg(long, value_name = "NAME", default_value = "least-squares")]
    pub learner: Learner,
    /// Small sizes, about a minute on two idle cores; without --only with the claims of the theory that take little time
    #[arg(long)]
    pub quick: bool,
    /// A study of your own for table:real_data, with columns ID, timestamp, z1, action, reward, state1, … and incoming rows
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Project STAR as star_long.csv (default: tests/fixtures/star of the checkout, where the program runs in one)
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub star: Option<PathBuf>,
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
    /// Project STAR, as in `reproduce`
    #[arg(long, value_name = "FILE", conflicts_with = "data")]
    pub star: Option<PathBuf>,
    /// Join what there is, though cells are missing
    #[arg(long)]
    pub partial: bool,
}

/// Why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// Cells could not be done or joined.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A study cannot be read.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The report could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A file that is read would be written.
    #[error(transparent)]
    SameFile(#[from] counterfair::files::SameFile),
    /// The folder cannot be written to.
    #[error(transparent)]
    Folder(#[from] counterfair::report::study::FolderError),
    /// What was to be printed could not be.
    #[error(transparent)]
    Output(#[from] std::io::Error),
    /// Zero threads or seeds.
    #[error("--{option} is {value}; it must be at least 1")]
    Zero {
        /// The option.
        option: &'static str,
        /// Its value.
        value: u64,
    },
}

/// The claims that take little time, and all errata.
fn swift_rows() -> Examined {
    Examined { theorems: examine(&swift(), |_| {}), errata: recompute(&errata()) }
}

/// Does cells and, unless only a shard was asked for, writes the report; that of a quick run of everything has a section of claims.
///
/// # Errors
/// Any [`ReproduceError`].
pub fn reproduce(args: &ReproduceArgs) -> Result<(), ReproduceError> {
    let start = Instant::now();
    for (option, value) in [("threads", args.threads.map(|t| t as u64)), ("seeds", args.seeds)] {
        if let Some(value @ 0) = value {
            return Err(ReproduceError::Zero { option, value });
        }
    }
    let files = Files::default().reading("--data", &args.data).reading("--star", &args.star);
    check(&filled(files, &args.out))?;
    let (scale, labels) = asked_for(args);
    let given = given(args.data.as_deref(), args.star.as_deref())?;
    let context = Context::new(given.studies);
    let grid = Grid::new(&labels, scale, context.studies());
    let plan = Plan { folder: args.out.clone(), shard: args.shard, resume: args.resume, threads: args.threads };
    let finished = with_bar(|progress| run(&grid, &context, &plan, progress))?;
    let Finished { records, file, stages, resumed, damaged, set_aside } = finished;
    if let Some((aside, why)) = set_aside {
        note(format!("{why}; it is now {}", aside.display()));
    }
    for damage in damaged {
        note(format!("{}, line {} was dropped and done again: {}", file.display(), damage.line, damage.reason));
    }
    if !args.shard.is_whole() {
        return Ok(say(format!("{} cells of shard {} in {}", records.len(), args.shard, file.display()))?);
    }
    let manifest = manifest(&records, resumed, args.threads);
    let theory =
        (args.quick && args.only.is_empty()).then(|| theorems_section(&stage("examining the theory", swift_rows)));
    let selections = select(std::slice::from_ref(&grid), &records, context.studies());
    let mut sections = sections(&selections, &context);
    sections.extend(given.left_out.filter(|_| asks_for_studies(&labels)));
    sections.extend(theory);
    publish(sections, (manifest, stages, start), &args.out)
}

/// Adds what is written into the folder of a reproduction: files of results, and the report.
fn filled(files: Files, out: &Path) -> Files {
    files.filling("--out", out, |name| name.ends_with(".jsonl")).filling("--out", &out.join("report"), |_| true)
}

/// What can be seen before any work.
fn check(files: &Files) -> Result<(), ReproduceError> {
    files.check()?;
    Ok(files.check_folders()?)
}

/// Whether a study that is left out matters to those who asked for these labels.
fn asks_for_studies(labels: &[Label]) -> bool {
    labels.iter().any(|label| matches!(label, Label::RealData | Label::RealActionPercentage))
}

/// The sizes, and the figures and tables, that the options ask for.
fn asked_for(args: &ReproduceArgs) -> (Scale, Vec<Label>) {
    let mut scale = if args.quick { Scale::quick() } else { Scale::paper() };
    if let Some(seeds) = args.seeds {
        (scale.seeds, scale.learner_seeds) = (seeds, seeds);
    }
    scale.learner = args.learner;
    let labels = if args.only.is_empty() { Label::PAPER.to_vec() } else { args.only.clone() };
    (scale, labels)
}

/// Joins shards and writes the report.
///
/// # Errors
/// Any [`ReproduceError`].
pub fn merge(args: &MergeArgs) -> Result<(), ReproduceError> {
    let start = Instant::now();
    let out = args.out.clone().unwrap_or_else(|| args.folders[0].clone());
    let files = Files::default().reading("--data", &args.data).reading("--star", &args.star);
    check(&filled(files, &out))?;
    let context = Context::new(given(args.data.as_deref(), args.star.as_deref())?.studies);
    let Merged { contents, missing, damaged } = join(&args.folders, &out, &context, args.partial)?;
    for (file, damage) in damaged {
        note(format!("{}, line {} was dropped: {}", file.display(), damage.line, damage.reason));
    }
    if missing > 0 {
        note(format!("warning: {missing} of {} cells are missing", contents.records.len() + missing));
    }
    let selections = select(&contents.grids, &contents.records, context.studies());
    for Selection { label, records, total, .. } in selections.iter().filter(|selection| selection.others > 0) {
        note(format!(
            "{label} was run at several sizes; the report shows the largest ({} of {total} cells)",
            records.len()
        ));
    }
    let manifest = manifest(&contents.records, contents.records.len(), Some(1));
    publish(sections(&selections, &context), (manifest, Stages::default(), start), &out)
}

fn manifest(records: &[Record], resumed: usize, threads: Option<usize>) -> Manifest {
    let seeds = |splits: bool| {
        let wanted = records.iter().filter(|record| (record.cell.kind() == "split") == splits);
        wanted.map(|record| record.cell.seed()).max().unwrap_or(0)
    };
    let learners: BTreeSet<Learner> = records.iter().map(|record| record.cell.learner()).collect();
    Manifest {
        version: env!("CARGO_PKG_VERSION").into(),
        command: command_line(),
        seeds: seeds(false),
        splits: seeds(true),
        learner: learners.iter().map(Learner::to_string).collect::<Vec<_>>().join(" and "),
        cells: records.len(),
        resumed,
        threads: threads.unwrap_or_else(rayon::current_num_threads),
        wall_seconds: 0.0,
        stage_seconds: [0.0; 4],
        peak_mebibytes: None,
    }
}

/// One section per figure or table, of the cells that were asked for under its label.
fn sections(selections: &[Selection], context: &Context) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for Selection { label, scale, records, .. } in selections {
        let about = |name: &str| records.iter().any(|record| record.cell.study() == Some(name));
        let studies = context.studies().iter().filter(|study| about(study.name()));
        match label {
            Label::SimAll => sections.push(sim_all(records, scale, &best_values(scale))),
            Label::Semi => sections.extend(studies.map(|study| semi(records, scale, study))),
            Label::Learners => sections.extend(learners(records, scale)),
            Label::Regret => sections.push(regret(records, scale)),
            // The same cells, and one section for both.
            Label::RealActionPercentage if selections.iter().any(|other| other.label == Label::RealData) => {}
            Label::RealData | Label::RealActionPercentage => {
                sections.extend(studies.map(|study| real_data(records, scale, study)));
            }
        }
    }
    sections
}

/// Saves the report, then prints its tables.
fn publish(
    sections: Vec<Section>,
    (manifest, stages, start): (Manifest, Stages, Instant),
    out: &Path,
) -> Result<(), ReproduceError> {
    let report = Report { manifest: manifest.measured(start.elapsed(), stages), sections };
    let page = report.write(&out.join("report"))?;
    say(format!("{}\n{}\nThe report: {}", report.screen(width()), report.manifest.line(), page.display()))?;
    Ok(())
}

/// (J*CF, J*Full) of a world at the figure's δ.
fn best_values(scale: &Scale) -> impl Fn(PaperWorld) -> Option<(f64, f64)> {
    let solve = |world: PaperWorld| optimum(world, scale.strength, DISCOUNT).ok().map(|o| (o.fair.value, o.full.value));
    let known = [PaperWorld::Linear, PaperWorld::Nonlinear].map(|world| (world, solve(world)));
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
            note(line(progress, elapsed));
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

    /// `--learner` and full sizes take hours to be seen from outside.
    #[test]
    fn sizes_learner_seeds_and_labels_are_those_of_the_options() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            args: ReproduceArgs,
        }
        let asked = |line: &str| asked_for(&<Line as clap::Parser>::parse_from(line.split(' ')).args);
        assert_eq!(asked("reproduce"), (Scale::paper(), Label::PAPER.to_vec()));
        let (scale, labels) = asked("reproduce --quick --learner neural --only fig:semi --only fig:sim_all");
        assert_eq!(scale, Scale { learner: Learner::Neural, ..Scale::quick() });
        assert_eq!(labels, [Label::Semi, Label::SimAll]);
        let (scale, _) = asked("reproduce --seeds 7");
        assert_eq!(scale, Scale { seeds: 7, learner_seeds: 7, ..Scale::paper() });
    }

    #[test]
    fn a_report_has_the_sections_that_were_asked_for() {
        let scale = Scale { learner_seeds: 2, seeds: 3, ..Scale::quick() };
        let shown = |labels: &[Label]| -> Vec<String> {
            let grid = Grid::new(labels, scale.clone(), &[]);
            let cells = grid.cells(&[]).into_iter();
            let records: Vec<Record> = cells.map(|cell| Record { cell, results: vec![] }).collect();
            sections(&select(&[grid], &records, &[]), &Context::default()).into_iter().map(|s| s.label).collect()
        };
        assert_eq!(shown(&[Label::Learners]), ["table:learners"], "too few cells to draw the figure");
        assert_eq!(shown(&[Label::SimAll]), ["fig:sim_all"]);
        assert_eq!(shown(&[Label::SimAll, Label::Learners]), ["fig:sim_all", "table:learners"]);
    }

    #[test]
    fn a_study_that_is_left_out_matters_to_those_who_asked_for_it() {
        assert!(asks_for_studies(&Label::PAPER) && asks_for_studies(&[Label::SimAll, Label::RealActionPercentage]));
        assert!(!asks_for_studies(&[Label::SimAll, Label::Semi, Label::Learners, Label::Regret]));
    }

    #[test]
    fn a_manifest_counts_seeds_and_names_learners() {
        let scale = Scale { learner_seeds: 2, seeds: 3, ..Scale::quick() };
        let cells = scale.cells(&[Label::SimAll, Label::Learners], &[]).into_iter();
        let records: Vec<Record> = cells.map(|cell| Record { cell, results: vec![] }).collect();
        let manifest = manifest(&records, 0, Some(1));
        assert_eq!((manifest.seeds, manifest.splits), (3, 0));
        assert_eq!(manifest.learner, "least-squares and neural");
    }
}
