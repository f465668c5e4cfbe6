//! What was chosen for each output's noise, and why.

use super::spread::SpreadForm;
use crate::kernel::model::Rung;
use crate::kernel::numeric::Estimate;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The noise of every output: p state coordinates, then the reward.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NoiseReport {
    /// One per output.
    pub outputs: Vec<OutputReport>,
}

/// The noise of one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutputReport {
    /// The state coordinate from 0, or p for the reward.
    pub output: usize,
    /// Whether it is the reward.
    pub is_reward: bool,
    /// The rung in use.
    pub rung: Rung,
    /// What the spread depends on.
    pub spread: SpreadForm,
    /// Whether the first state has a law of its own.
    pub first_apart: bool,
    /// Knots of each level's law; 0 below the rank rung.
    pub knots: usize,
    /// What can be said about the output itself.
    pub nature: Nature,
    /// Gains in held-out score, in the order in which they were looked at.
    pub scores: Vec<Score>,
}

/// What kind of output it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nature {
    /// A number with noise.
    Continuous,
    /// Its mean says everything: there is no noise to carry over.
    Noiseless,
    /// It takes so few values that a value does not determine its noise; no rung is right for it.
    FewValues(
        /// How many.
        usize,
    ),
    /// Kept as observed in every world.
    Kept,
}

/// Two models compared on people who were left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The richer model.
    pub model: Candidate,
    /// The simpler one it is compared with.
    pub over: Candidate,
    /// Mean gain in log score per person; above one standard error the richer model is taken.
    pub gain: Estimate,
    /// Whether it was.
    pub is_chosen: bool,
}

/// A model of spread or shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Candidate {
    /// One σ.
    OneSpread,
    /// σ by level.
    SpreadByLevel,
    /// σ by level, state and action.
    SpreadByState,
    /// One law of standardised residuals.
    OneShape,
    /// A law of its own for first states.
    FirstApart,
    /// A law for each level.
    ShapeByLevel,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OneSpread => "one spread",
            Self::SpreadByLevel => "spread by level",
            Self::SpreadByState => "spread by level, state and action",
            Self::OneShape => "one shape",
            Self::FirstApart => "another shape for first states",
            Self::ShapeByLevel => "shape by level",
        })
    }
}

impl NoiseReport {
    /// The report, one line per output, each under its name: the columns of a file, say.
    pub fn named(&self, names: &[String]) -> String {
        let line = |output: &OutputReport| match names.get(output.output) {
            Some(name) => format!("{name}: {}", Findings(output)),
            None => output.to_string(),
        };
        self.outputs.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for OutputReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reward {
            write!(f, "reward: {}", Findings(self))
        } else {
            write!(f, "state {}: {}", self.output + 1, Findings(self))
        }
    }
}

/// What is said about an output, without its name.
struct Findings<'a>(&'a OutputReport);

impl std::ops::Deref for Findings<'_> {
    type Target = OutputReport;

    fn deref(&self) -> &OutputReport {
        self.0
    }
}

impl fmt::Display for Findings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nature {
            Nature::Kept => return write!(f, "kept as observed in every world"),
            Nature::Noiseless => return write!(f, "no noise"),
            Nature::FewValues(count) => write!(
                f,
                "{} noise; takes {count} values, which do not determine its noise: its counterfactuals are not to be believed",
                self.rung
            )?,
            Nature::Continuous => {
                write!(f, "{} noise, {}", self.rung, self.spread)?;
                if self.rung == Rung::Rank {
                    write!(f, ", shape by level ({} knots)", self.knots)?;
                }
            }
        }
        for Score { model, over, gain, is_chosen } in &self.scores {
            let verdict = if *is_chosen { "taken" } else { "not taken" };
            write!(
                f,
                "; {model} over {over}: gain {:+.4} (s.e. {:.4}) per person, {verdict}",
                gain.mean, gain.standard_error
            )?;
        }
        Ok(())
    }
}

impl fmt::Display for NoiseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, output) in self.outputs.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{output}")?;
        }
        Ok(())
    }
}
