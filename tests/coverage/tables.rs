//! Writes tables of coverage, and reads them: `cargo test --release --test coverage_tables -- --help`.

#![allow(dead_code, reason = "the modules serve the quick tests too")]

mod bed;
mod calls;
mod front_door;
mod metric;
mod numbers;
mod place;
mod policies;
mod pooled;
mod rows;
mod scales;
mod studies;
mod study;
mod told;
mod values;

use bed::Bed;
use clap::{Parser, ValueEnum};
use counterfair::fair::study::StudySettings;
use counterfair::fair::{Learner, Method};
use counterfair::kernel::numeric::Stream;
use metric::Fitted;
use numbers::Found;
use policies::Which;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use studies::Row;
use values::Values;

/// Tables of coverage in worlds whose truth is known. Rows are appended as each piece of work ends; what is in the file is not made again.
#[derive(Parser)]
#[command(name = "coverage_tables")]
enum Arguments {
    /// Make studies, and follow people as their policies would treat them
    Studies(Studies),
    /// Print what the studies of these tables come to
    Pool(Pool),
    /// Make single numbers with their intervals: a row for each number of each repetition
    Numbers(Numbers),
    /// Print the lines that these numbers come to: coverage, width and error of each
    Lines {
        /// Tables that `numbers` wrote
        #[arg(required = true)]
        tables: Vec<PathBuf>,
    },
}

#[derive(clap::Args)]
struct Studies {
    /// The table to go on with
    #[arg(long, default_value = "studies.csv")]
    out: PathBuf,
    /// Only cells with all of these words, as `integer,none`
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Numbers of people
    #[arg(long, value_delimiter = ',', default_value = "207,600")]
    people: Vec<usize>,
    /// The first seed
    #[arg(long, default_value_t = 1)]
    first: u64,
    /// Seeds for each cell and number of people
    #[arg(long, default_value_t = 5)]
    seeds: u64,
    /// No study begins after so many minutes
    #[arg(long)]
    minutes: Option<f64>,
    /// Print the cells and stop
    #[arg(long)]
    list: bool,
}

#[derive(clap::Args)]
struct Pool {
    /// Tables that `studies` wrote
    #[arg(required = true)]
    tables: Vec<PathBuf>,
    /// Only cells with all of these words
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Lines for each cell too
    #[arg(long)]
    by_cell: bool,
}

#[derive(clap::Args)]
struct Numbers {
    /// What makes the numbers
    what: What,
    /// Worlds: linear, nonlinear, three-levels, spread-by-level, dropout, finite, linear-rounded, `control: withheld`, …
    #[arg(long, value_delimiter = ',', default_value = "linear")]
    worlds: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "400")]
    people: Vec<usize>,
    #[arg(long, value_delimiter = ',', default_value = "8")]
    horizon: Vec<usize>,
    /// The first repetition
    #[arg(long, default_value_t = 0)]
    first: u64,
    #[arg(long, default_value_t = 20)]
    repetitions: u64,
    /// No repetition begins after so many minutes
    #[arg(long)]
    minutes: Option<f64>,
    /// Methods of `front-door`
    #[arg(long, value_delimiter = ',', default_value = "ours")]
    methods: Vec<Method>,
    /// How `metric` fits mechanisms
    #[arg(long, value_enum, default_value = "chosen")]
    fitted: Fitting,
    /// The table to go on with
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// Values over the recorded horizon of policies that stay as they are
    Values,
    /// The law of the CF metric of the paper's plain policies
    Metric,
    /// What `evaluate` prints of what `learn` learned
    FrontDoor,
    /// The numbers of `study`
    Study,
    /// The CF metric of deployment in cells of `studies`, where states are on scales
    Scales,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fitting {
    /// Noise that held-out people favour
    Chosen,
    /// Additive noise
    Added,
    /// Straight means
    Straight,
}

fn main() -> io::Result<()> {
    match Arguments::parse() {
        Arguments::Studies(asked) => studies(&asked),
        Arguments::Pool(asked) => pool(&asked),
        Arguments::Numbers(asked) => numbers(&asked),
        Arguments::Lines { tables } => print_lines(&tables),
    }
}

fn limit(minutes: Option<f64>) -> Option<Duration> {
    minutes.map(|minutes| Duration::from_secs_f64(60.0 * minutes))
}

fn has_words(name: &str, words: &[String]) -> bool {
    words.iter().all(|word| name == word || name.split('-').any(|part| part == word))
}

fn studies(asked: &Studies) -> io::Result<()> {
    let cells: Vec<studies::Cell> =
        studies::cells().into_iter().filter(|cell| has_words(&cell.name, &asked.only)).collect();
    if asked.list {
        cells.iter().for_each(|cell| println!("{}", cell.name));
        return Ok(());
    }
    let made: Vec<Row> = rows::read(&asked.out)?;
    let is_made = |cell: &studies::Cell, people: usize, seed: u64| {
        made.iter().any(|row| (row.cell.as_str(), row.people, row.seed) == (&cell.name, people, seed))
    };
    // Seed by seed, so that a limit leaves cells with equally many studies.
    let mut jobs = vec![];
    for seed in asked.first..asked.first + asked.seeds {
        for cell in &cells {
            let people = asked.people.iter().filter(|people| !is_made(cell, **people, seed));
            jobs.extend(people.map(|&people| (cell, people, seed)));
        }
    }
    let settings = StudySettings::default();
    let done = rows::append(&asked.out, &jobs, limit(asked.minutes), |&(cell, people, seed)| {
        let row = studies::run(cell, people, seed, &settings).unwrap_or_else(|error| Row {
            cell: cell.name.clone(),
            people,
            seed,
            kind: format!("failed: {error}"),
            ..Row::default()
        });
        eprintln!("{} {people} {seed}: {} {}, {:.0} s", cell.name, row.kind, row.recommended, row.seconds);
        vec![row]
    })?;
    println!("{done} of {} studies made; {} were in {}", jobs.len(), made.len(), asked.out.display());
    pool(&Pool { tables: vec![asked.out.clone()], only: asked.only.clone(), by_cell: false })
}

fn read_all<R: serde::de::DeserializeOwned>(tables: &[PathBuf]) -> io::Result<Vec<R>> {
    let read: Vec<Vec<R>> = tables.iter().map(|table| rows::read(Path::new(table))).collect::<io::Result<_>>()?;
    Ok(read.into_iter().flatten().collect())
}

fn pool(asked: &Pool) -> io::Result<()> {
    let mut all: Vec<Row> = read_all(&asked.tables)?;
    all.retain(|row| has_words(&row.cell, &asked.only));
    let print = |name: &str, rows: &[Row]| {
        let seconds = rows.iter().map(|row| row.seconds).sum::<f64>() / rows.len() as f64;
        println!("\n{name}: {} studies, {seconds:.1} s each", rows.len());
        pooled::lines(rows).iter().for_each(|(says, share)| println!("  {says:<68} {share}"));
        println!("  {:<68} {:.2}", "gain realised, of what there is", pooled::realised(rows));
    };
    if asked.by_cell {
        for cell in studies::cells() {
            let rows: Vec<Row> = all.iter().filter(|row| row.cell == cell.name).cloned().collect();
            if !rows.is_empty() {
                print(&cell.name, &rows);
            }
        }
    }
    print("all", &all);
    Ok(())
}

fn numbers(asked: &Numbers) -> io::Result<()> {
    let made: Vec<Found> = rows::read(&asked.out)?;
    for world in &asked.worlds {
        let bed = || Bed::named(world).ok_or_else(|| io::Error::other(format!("there is no world {world:?}")));
        // The front door's controls are beds that it takes for what they are not; scales are tried in cells of studies.
        if !matches!(asked.what, What::FrontDoor | What::Scales) {
            bed()?;
        }
        for (&people, &horizon) in asked.people.iter().flat_map(|n| asked.horizon.iter().map(move |t| (n, t))) {
            let cell = numbers::Cell { world: world.clone(), people, horizon };
            let is_made = |repetition: &u64| {
                let key = (world, people, horizon, *repetition);
                made.iter().any(|one| (&one.world, one.people, one.horizon, one.repetition) == key)
            };
            let jobs: Vec<u64> =
                (asked.first..asked.first + asked.repetitions).filter(|repetition| !is_made(repetition)).collect();
            let work: Box<dyn Fn(u64) -> Vec<Found> + Sync> = match asked.what {
                What::Values => {
                    let which = match world.as_str() {
                        "control: withheld" => Which::Always,
                        "control: drifting" => Which::Rule,
                        _ => Which::All,
                    };
                    let values = Values::new(bed()?, cell, which, 200_000, Stream::new(71).named(world));
                    Box::new(move |i| values.repetition(i))
                }
                What::Metric => {
                    let fitted = match asked.fitted {
                        Fitting::Chosen => Fitted::Chosen,
                        Fitting::Added => Fitted::Added,
                        Fitting::Straight => Fitted::Straight,
                    };
                    Box::new(move |i| metric::repetition(&cell, fitted, 100, i))
                }
                What::FrontDoor => {
                    let settings = front_door::Settings { methods: asked.methods.clone(), differences: None };
                    Box::new(move |i| or_said(front_door::repetition(&cell, &settings, i)))
                }
                What::Scales => Box::new(move |i| or_said(scales::repetition(&cell, 100, i))),
                What::Study => {
                    let learner = Learner { splits: 0, ..Learner::new(Method::Ours) };
                    let settings = StudySettings { learner, group_replicates: 2, ..StudySettings::default() };
                    Box::new(move |i| or_said(study::repetition(&cell, &settings, i)))
                }
            };
            let done = rows::append(&asked.out, &jobs, limit(asked.minutes), |&i| work(i))?;
            eprintln!("{world}, {people} people, {horizon} decisions: {done} repetitions");
        }
    }
    print_lines(std::slice::from_ref(&asked.out))
}

/// Nothing where a repetition came to nothing, which is said.
fn or_said(found: Result<Vec<Found>, counterfair::fair::Error>) -> Vec<Found> {
    found.unwrap_or_else(|error| {
        eprintln!("a repetition came to nothing: {error}");
        vec![]
    })
}

fn print_lines(tables: &[PathBuf]) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(io::stdout());
    numbers::lines(&read_all(tables)?).iter().try_for_each(|line| out.serialize(line)).map_err(io::Error::other)?;
    out.flush()
}
