//! Options that several commands share: where data come from and what to fit.

use super::choice::{Choices, one_of};
use super::error::CliError;
use super::output::{note, note_wrapped, warn};
use clap::{Args, ValueEnum};
use counterfair::estimate::{Basis, FitSettings, LevelCode, NoiseChoice, OutputSet, Pooling};
use counterfair::fair::{People, Preprocessing};
use counterfair::files::{
    Columns, Decimal, Encoding, MissingRepair, ReadOptions, Repairs, RowConvention, StepLength, TextFormat,
};
use counterfair::kernel::model::Scale;
use counterfair::kernel::numeric::Stream;
use std::path::PathBuf;

/// A file of people followed over time.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct DataOptions {
    /// The file: CSV (separated by commas, semicolons or tabs; gzip is read too), or Parquet in a build with that feature
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Whether a row holds the action and reward that led to its state, or those that followed it [default: as people's first rows show]
    #[arg(long, value_parser = one_of(ROWS))]
    pub rows: Option<RowConvention>,
    #[command(flatten)]
    pub reading: ReadingOptions,
    /// Column of the person
    #[arg(long, default_value = "ID", value_name = "COLUMN")]
    pub id: String,
    /// Column of the time
    #[arg(long, default_value = "timestamp", value_name = "COLUMN")]
    pub time: String,
    /// Column of the sensitive attribute, which says each person's group; several columns make a group of each combination
    #[arg(long, default_value = "z1", value_delimiter = ',', value_name = "COLUMN", value_parser = column)]
    pub z: Vec<String>,
    /// Column of the action
    #[arg(long, default_value = "action", value_name = "COLUMN")]
    pub action: String,
    /// Column of the reward
    #[arg(long, default_value = "reward", value_name = "COLUMN")]
    pub reward: String,
    /// Columns of the state [default: state1, state2, …]
    #[arg(long, value_delimiter = ',', value_name = "COLUMN", value_parser = column)]
    pub states: Vec<String>,
}

/// A column's name as a list has it: `"pain, interference"` names two, and blanks around a name are no part of it in a header either.
fn column(name: &str) -> Result<String, std::convert::Infallible> {
    Ok(name.trim().into())
}

/// Row conventions.
pub const ROWS: &Choices<RowConvention> = &[
    (
        "incoming",
        "Row t is s_t with the action and reward that led to it; blank on a person's first row",
        RowConvention::Incoming,
    ),
    ("outgoing", "Row t is s_t, a_t, r_t", RowConvention::Outgoing),
];

/// How a file is written, and what to do where it is not whole.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct ReadingOptions {
    /// What to do about missing cells and missing times
    #[arg(long, value_enum, default_value_t = Missing::Refuse)]
    pub missing: Missing,
    /// Time from one decision to the next when visits are not exactly regular: 6, or with dates 7d, 1mo, 1y, 12h [default: the smallest in
    /// the file; any other is a gap]
    #[arg(long, value_name = "STEP")]
    pub step: Option<StepLength>,
    /// What separates cells: comma, semicolon, tab or one character [default: as the header shows]
    #[arg(long, value_name = "NAME", value_parser = separator, hide_short_help = true)]
    pub separator: Option<u8>,
    /// Whether numbers have a decimal point or comma [default: as they show]
    #[arg(long, value_parser = one_of(DECIMALS), hide_short_help = true)]
    pub decimal: Option<Decimal>,
    /// How letters are stored [default: UTF-8, or UTF-16 where the file shows it]
    #[arg(long, value_enum, hide_short_help = true)]
    pub encoding: Option<EncodingName>,
    /// Name people in messages and summaries: who was cut by --missing, where and why, and whose cell is far from all others. Without it
    /// no id is shown
    #[arg(long, hide_short_help = true)]
    pub name_people: bool,
}

/// What to do about missing cells, as the command line spells it.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Stop and say where
    Refuse,
    /// End a person's trajectory before the first missing cell or time, and count who was cut; --name-people lists them
    DropTail,
    /// The same; and `evaluate` weights those who stayed by the inverse of their probability of staying, given group, state, action and
    /// reward. What is learned needs no weights as long as leaving depends on no more than these
    Weigh,
}

/// The byte between two cells.
fn separator(text: &str) -> Result<u8, String> {
    match (text, text.as_bytes()) {
        ("comma", _) => Ok(b','),
        ("semicolon", _) => Ok(b';'),
        ("tab", _) => Ok(b'\t'),
        (_, &[byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.".contains(&byte) => Ok(byte),
        _ => Err(format!("{text:?} is none of comma, semicolon, tab, and no single character such as |")),
    }
}

/// Decimal signs.
const DECIMALS: &Choices<Decimal> = &[("point", "1.5", Decimal::Point), ("comma", "1,5", Decimal::Comma)];

/// Encodings, as the command line spells them.
#[derive(Clone, Copy, ValueEnum)]
pub enum EncodingName {
    #[value(name = "utf-8")]
    Utf8,
    #[value(name = "utf-16")]
    Utf16,
    /// Also for Latin-1 (ISO 8859-1)
    #[value(name = "windows-1252", alias = "latin-1", alias = "latin1", alias = "iso-8859-1")]
    Windows1252,
}

impl ReadingOptions {
    /// How to read, but for columns and rows.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            missing: self.missing.into(),
            step: self.step,
            format: TextFormat {
                separator: self.separator,
                decimal: self.decimal,
                encoding: self.encoding.map(|encoding| match encoding {
                    EncodingName::Utf8 => Encoding::Utf8,
                    EncodingName::Utf16 => Encoding::Utf16,
                    EncodingName::Windows1252 => Encoding::Windows1252,
                }),
            },
            ..ReadOptions::default()
        }
    }
}

impl From<Missing> for MissingRepair {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Refuse => Self::Refuse,
            Missing::DropTail | Missing::Weigh => Self::DropTail,
        }
    }
}

impl DataOptions {
    pub fn columns(&self) -> Columns {
        Columns {
            id: self.id.clone(),
            time: self.time.clone(),
            level: self.z.clone(),
            action: self.action.clone(),
            reward: self.reward.clone(),
            states: self.states.clone(),
        }
    }

    /// How the file is to be read.
    pub fn options(&self) -> ReadOptions {
        let rows = self.rows.unwrap_or_default();
        ReadOptions { columns: self.columns(), rows, find_rows: self.rows.is_none(), ..self.reading.options() }
    }

    /// Reads the file, and says what was found out about it, what was cut on request, and what is odd about it.
    pub fn read(&self) -> Result<People, CliError> {
        self.read_within(None, 0)
    }

    /// The same, of a file of which not everybody may be judged in so many bytes of memory: then a sample by `seed`.
    pub fn read_within(&self, memory: Option<u64>, seed: u64) -> Result<People, CliError> {
        let people = match memory {
            Some(bytes) => People::read_within(&self.data, &self.options(), bytes, seed)?,
            None => People::read_with(&self.data, &self.options())?,
        };
        let people = people.naming_people(self.reading.name_people);
        say_about(&people);
        Ok(people)
    }
}

/// Cuts that are listed on a terminal; the rest is counted, and `--json` has them all.
const LISTED: usize = 20;

/// What was cut on request: how many people, of them so many at a missing time; of the cuts that are known the first, by name.
pub fn say_repairs(repairs: &Repairs, (cuts, gaps): (usize, usize), elsewhere: &str) {
    if repairs.is_none() {
        return;
    }
    note(format_args!(
        "repaired: {} rows dropped; {} people truncated, {} removed; {gaps} at a time that is not there, {} at a missing cell",
        repairs.rows_dropped,
        repairs.people_cut,
        repairs.people_dropped,
        cuts - gaps
    ));
    let listed = repairs.cuts.len().min(LISTED);
    repairs.cuts.iter().take(listed).for_each(|cut| note(format_args!("  {cut}")));
    if listed > 0 && cuts > listed {
        note(format_args!("  and {} more people{elsewhere}", cuts - listed));
    }
}

/// What was found out about a file, what was cut on request, and what is odd about it.
pub fn say_about(people: &People) {
    for line in people.notes() {
        note_wrapped(format_args!("{}: {line}", people.name()));
    }
    if let Some(sample) = people.sample() {
        note_wrapped(format_args!("{}: {sample}", people.name()));
    }
    say_repairs(&people.repairs(), people.cuts(), " (--json lists them all)");
    warn(&people.remarks());
}

/// What mechanism to fit.
#[derive(Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// The mechanism: spline, linear, poly:D, trig or neural
    #[arg(long, default_value = "spline", value_name = "MODEL", value_parser = basis)]
    pub model: Basis,
    /// One regression for all groups, one for each, or as held-out people decide
    #[arg(long, value_parser = one_of(FITS), default_value = "chosen", hide_short_help = true)]
    pub fit: Pooling,
    /// How groups enter a pooled regression
    #[arg(long, value_parser = one_of(CODES), default_value = "indicator", hide_short_help = true)]
    pub level_code: LevelCode,
    /// How noise is carried from group to group: the model that predicts held-out people best, or one of the three. A state with few values
    /// stays additive when chosen and takes the model asked for otherwise; its counterfactual states are not to be believed either way
    #[arg(long, value_parser = one_of(NOISES), default_value = "chosen")]
    pub noise: NoiseChoice,
    /// State columns (or `reward`) kept as observed in every group's counterfactual state. Unfairness that goes through them is then accepted by assumption, not
    /// measured: no bound of it is given and no policy is recommended
    #[arg(long, value_delimiter = ',', value_name = "COLUMN", value_parser = column)]
    pub keep: Vec<String>,
    /// The scale on which a state is recorded, as `pain=0..10` or in steps of a half `pain=0..10/0.5`; of the others it is seen in the data.
    /// Other groups' worlds are recorded on it too, and a person's noise is drawn within its steps
    #[arg(long = "scale", value_name = "STATE=LOW..HIGH[/STEP]", value_delimiter = ',', value_parser = state_scale)]
    pub scales: Vec<(String, Scale)>,
    /// Population weight of each group in sorted order, instead of the shares in the file
    #[arg(long, value_delimiter = ',', value_name = "P", hide_short_help = true)]
    pub weights: Vec<f64>,
    /// Seed of whatever is random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Pooled or not.
const FITS: &Choices<Pooling> = &[
    ("pooled", "One regression in which the group interacts with state and action", Pooling::Pooled),
    ("per-level", "One regression per group", Pooling::PerLevel),
    (
        "chosen",
        "Together, unless held-out people are predicted better one group at a time by more than chance; networks are fitted per group",
        Pooling::Cautious,
    ),
];

/// Noise models.
const NOISES: &Choices<NoiseChoice> = &[
    ("additive", "Noise is added, as in the paper", NoiseChoice::Additive),
    (
        "scale",
        "The spread of noise depends on the group, and on state and action where that predicts better",
        NoiseChoice::Scale,
    ),
    ("rank", "Noise has a shape of its own in each group: ranks are carried over", NoiseChoice::Rank),
    (
        "chosen",
        "For each state by a score on held-out people, the simpler model unless another is better by a standard error",
        NoiseChoice::Chosen,
    ),
];

/// Level codes.
const CODES: &Choices<LevelCode> = &[
    ("indicator", "Indicators of the groups", LevelCode::Indicator),
    ("number", "The number that a group's name spells, and its powers", LevelCode::Number),
];

/// The functions of the state.
fn basis(text: &str) -> Result<Basis, String> {
    match (text, text.strip_prefix("poly:")) {
        ("spline", _) => Ok(Basis::Spline),
        ("trig", _) => Ok(Basis::Trigonometric),
        ("linear", _) => Ok(Basis::Linear),
        ("neural", _) => Ok(Basis::Neural),
        (_, Some(degree)) => match degree.parse() {
            Ok(degree) if degree >= 1 => Ok(Basis::Polynomial(degree)),
            _ => Err(format!("{degree:?} is not a degree of 1 or more")),
        },
        _ => Err(format!("{text:?} is none of spline, linear, poly:D, trig, neural")),
    }
}

impl ModelOptions {
    fn settings(&self, people: &People) -> Result<FitSettings, CliError> {
        Ok(FitSettings {
            basis: self.model,
            pooling: self.fit,
            code: self.level_code,
            stream: Stream::new(self.seed).named("mechanism"),
            noise: self.noise,
            keep: self.kept(people)?,
        })
    }

    /// The outputs that `--keep` names.
    fn kept(&self, people: &People) -> Result<OutputSet, CliError> {
        let names = people.state_names();
        self.keep.iter().try_fold(OutputSet::default(), |set, name| {
            let output = match names.iter().position(|n| n == name) {
                Some(output) => output,
                None if name == "reward" => names.len(),
                None => {
                    return Err(CliError::Argument(format!(
                        "--keep {name}: the state columns are {}; the reward is called `reward`",
                        names.join(", ")
                    )));
                }
            };
            set.with(output).ok_or_else(|| {
                CliError::Argument(format!("--keep {name}: only the first {} outputs can be kept", OutputSet::CAPACITY))
            })
        })
    }

    /// `alg:cf:1` with these options.
    pub fn preprocessing(&self, people: &People, folds: Option<usize>) -> Result<Preprocessing, CliError> {
        let mechanism = self.settings(people)?;
        Ok(Preprocessing { mechanism, folds, level_weights: self.weights.clone(), scales: self.on_scales(people)? })
    }

    /// The states that `--scale` names, by number.
    fn on_scales(&self, people: &People) -> Result<Vec<(usize, Scale)>, CliError> {
        let names = people.state_names();
        let numbered = |(name, scale): &(String, Scale)| {
            let state = names.iter().position(|n| n == name).ok_or_else(|| {
                CliError::Argument(format!("--scale {name}=…: the state columns are {}", names.join(", ")))
            })?;
            if self.scales.iter().filter(|(other, _)| other == name).count() > 1 {
                return Err(CliError::Argument(format!("--scale {name}=…: {name} has more than one scale")));
            }
            if self.keep.contains(name) {
                return Err(CliError::Argument(format!(
                    "--scale {name}=… with --keep {name}: a state that is kept is not followed in other worlds"
                )));
            }
            Ok((state, *scale))
        };
        self.scales.iter().map(numbered).collect()
    }
}

/// `pain=0..10` or `pain=0..10/0.5`.
fn state_scale(text: &str) -> Result<(String, Scale), String> {
    let form = || format!("{text:?} is not of the form STATE=LOW..HIGH or STATE=LOW..HIGH/STEP");
    let (name, ends) = text.rsplit_once('=').ok_or_else(form)?;
    let (low, rest) = ends.split_once("..").ok_or_else(form)?;
    let (high, step) = rest.split_once('/').unwrap_or((rest, "1"));
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| format!("{}: {text:?} is not a number", form()));
    let scale = Scale::new(number(low)?, number(high)?, number(step)?).map_err(|error| error.to_string())?;
    Ok((name.trim().into(), scale))
}
