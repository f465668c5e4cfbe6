//! Options that several commands share: where data come from and what to fit.

use super::error::CliError;
use super::output::{note, note_wrapped, warn};
use clap::{Args, ValueEnum};
use counterfair::estimate::{Basis, FitSettings, LevelCode, NoiseChoice, OutputSet, Pooling};
use counterfair::fair::{People, Preprocessing};
use counterfair::files::{
    Columns, Decimal, Encoding, MissingRepair, ReadOptions, RowConvention, StepLength, TextFormat,
};
use counterfair::kernel::numeric::Stream;
use std::path::PathBuf;
use std::str::FromStr;

/// A file of people followed over time.
#[derive(Args)]
#[command(next_help_heading = "Data")]
pub struct DataOptions {
    /// The file: CSV (separated by commas, semicolons or tabs; gzip is read too), or Parquet in a build with that feature
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// Whether a row holds the action and reward that led to its state, or those that followed it [default: as people's first rows show]
    #[arg(long, value_enum)]
    pub rows: Option<Rows>,
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

/// The row convention, as the command line spells it.
#[derive(Clone, Copy, ValueEnum)]
pub enum Rows {
    /// Row t is s_t with the action and reward that led to it; blank on a person's first row
    Incoming,
    /// Row t is s_t, a_t, r_t
    Outgoing,
}

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
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub separator: Option<Separator>,
    /// Whether numbers have a decimal point or comma [default: as they show]
    #[arg(long, value_enum, hide_short_help = true)]
    pub decimal: Option<DecimalName>,
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

/// A separator, as the command line spells it.
#[derive(Clone, Copy)]
pub struct Separator(u8);

impl FromStr for Separator {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.as_bytes()) {
            ("comma", _) => Ok(Self(b',')),
            ("semicolon", _) => Ok(Self(b';')),
            ("tab", _) => Ok(Self(b'\t')),
            (_, &[byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n.".contains(&byte) => {
                Ok(Self(byte))
            }
            _ => Err(format!("{text:?} is none of comma, semicolon, tab, and no single character such as |")),
        }
    }
}

/// Decimal signs, as the command line spells them.
#[derive(Clone, Copy, ValueEnum)]
pub enum DecimalName {
    /// 1.5
    Point,
    /// 1,5
    Comma,
}

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
                separator: self.separator.map(|Separator(byte)| byte),
                decimal: self.decimal.map(|decimal| match decimal {
                    DecimalName::Point => Decimal::Point,
                    DecimalName::Comma => Decimal::Comma,
                }),
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

impl From<Rows> for RowConvention {
    fn from(rows: Rows) -> Self {
        match rows {
            Rows::Incoming => Self::Incoming,
            Rows::Outgoing => Self::Outgoing,
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
        let rows = self.rows.map_or(RowConvention::default(), Rows::into);
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
pub const LISTED: usize = 20;

/// What was found out about a file, what was cut on request, and what is odd about it.
pub fn say_about(people: &People) {
    for line in people.notes() {
        note_wrapped(format_args!("{}: {line}", people.name()));
    }
    if let Some(sample) = people.sample() {
        note_wrapped(format_args!("{}: {sample}", people.name()));
    }
    let repairs = people.repairs();
    let (cuts, gaps) = people.cuts();
    if !repairs.is_none() {
        note(format_args!(
            "repaired: {} rows dropped; {} people truncated, {} removed; {gaps} at a time that is not there, {} at a missing cell",
            repairs.rows_dropped,
            repairs.people_cut,
            repairs.people_dropped,
            cuts - gaps
        ));
        repairs.cuts.iter().take(LISTED).for_each(|cut| note(format_args!("  {cut}")));
        if repairs.cuts.len() > LISTED {
            note(format_args!("  and {} more people (--json lists them all)", repairs.cuts.len() - LISTED));
        }
    }
    warn(&people.remarks());
}

/// What mechanism to fit.
#[derive(Args)]
#[command(next_help_heading = "Model")]
pub struct ModelOptions {
    /// The mechanism: spline, linear, poly:D, trig or neural
    #[arg(long, default_value = "spline", value_name = "MODEL")]
    pub model: Model,
    /// One regression for all groups, one for each, or as held-out people decide
    #[arg(long, value_enum, default_value_t = FitKind::Chosen, hide_short_help = true)]
    pub fit: FitKind,
    /// How groups enter a pooled regression
    #[arg(long, value_enum, default_value_t = Code::Indicator, hide_short_help = true)]
    pub level_code: Code,
    /// How noise is carried from group to group: the model that predicts held-out people best, or one of the three. A state with few values
    /// stays additive when chosen and takes the model asked for otherwise; its counterfactual states are not to be believed either way
    #[arg(long, value_enum, default_value_t = Noise::Chosen)]
    pub noise: Noise,
    /// State columns (or `reward`) kept as observed in every group's counterfactual state. Unfairness that goes through them is then accepted by assumption, not
    /// measured: no bound of it is given and no policy is recommended
    #[arg(long, value_delimiter = ',', value_name = "COLUMN", value_parser = column)]
    pub keep: Vec<String>,
    /// Population weight of each group in sorted order, instead of the shares in the file
    #[arg(long, value_delimiter = ',', value_name = "P", hide_short_help = true)]
    pub weights: Vec<f64>,
    /// Seed of whatever is random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Pooled or not, as the command line spells it.
#[derive(Clone, Copy, ValueEnum)]
pub enum FitKind {
    /// One regression in which the group interacts with state and action
    Pooled,
    /// One regression per group
    PerLevel,
    /// Together, unless held-out people are predicted better one group at a time by more than chance; networks are fitted per group
    Chosen,
}

/// Noise models, as the command line spells them.
#[derive(Clone, Copy, ValueEnum)]
pub enum Noise {
    /// Noise is added, as in the paper
    Additive,
    /// The spread of noise depends on the group, and on state and action where that predicts better
    Scale,
    /// Noise has a shape of its own in each group: ranks are carried over
    Rank,
    /// For each state by a score on held-out people, the simpler model unless another is better by a standard error
    Chosen,
}

/// Level coding, as the command line spells it.
#[derive(Clone, Copy, ValueEnum)]
pub enum Code {
    /// Indicators of the groups
    Indicator,
    /// The number that a group's name spells, and its powers
    Number,
}

/// The functions of the state, as the command line spells them.
#[derive(Clone, Copy)]
pub struct Model(pub Basis);

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("poly:")) {
            ("spline", _) => Ok(Self(Basis::Spline)),
            ("trig", _) => Ok(Self(Basis::Trigonometric)),
            ("linear", _) => Ok(Self(Basis::Linear)),
            ("neural", _) => Ok(Self(Basis::Neural)),
            (_, Some(degree)) => match degree.parse() {
                Ok(degree) if degree >= 1 => Ok(Self(Basis::Polynomial(degree))),
                _ => Err(format!("{degree:?} is not a degree of 1 or more")),
            },
            _ => Err(format!("{text:?} is none of spline, linear, poly:D, trig, neural")),
        }
    }
}

impl ModelOptions {
    fn settings(&self, people: &People) -> Result<FitSettings, CliError> {
        Ok(FitSettings {
            basis: self.model.0,
            pooling: match self.fit {
                FitKind::Pooled => Pooling::Pooled,
                FitKind::PerLevel => Pooling::PerLevel,
                FitKind::Chosen => Pooling::Cautious,
            },
            code: match self.level_code {
                Code::Indicator => LevelCode::Indicator,
                Code::Number => LevelCode::Number,
            },
            stream: Stream::new(self.seed).named("mechanism"),
            noise: match self.noise {
                Noise::Additive => NoiseChoice::Additive,
                Noise::Scale => NoiseChoice::Scale,
                Noise::Rank => NoiseChoice::Rank,
                Noise::Chosen => NoiseChoice::Chosen,
            },
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
        Ok(Preprocessing { mechanism: self.settings(people)?, folds, level_weights: self.weights.clone() })
    }
}
