//! A cell: the smallest piece of work, and everything its numbers depend on.

use super::{Method, RegretCell};
use crate::kernel::numeric::Stream;
use crate::theory::optimum::PaperWorld;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How means and action values are fitted in the experiments; [`fair::Learner`](crate::fair::Learner) has the settings of one fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learner {
    /// Means by natural cubic splines within levels, action values by quadratics: the default.
    LeastSquares,
    /// Means by pooled quadratics, action values by quadratics: the class of PyCFRL's least-squares learner.
    Quadratic,
    /// The networks of supplement F.1.
    Neural,
    /// Means as by least squares, action values by the penalised fit that the front door takes unless told otherwise.
    Stable,
    /// Means as by least squares, action values by polynomials of degree four: a richer class than the paper's, for large data.
    Quartic,
}

impl Learner {
    /// Every one there is.
    pub const EVERY: [Self; 5] = [Self::LeastSquares, Self::Quadratic, Self::Neural, Self::Stable, Self::Quartic];

    /// The name that tables and figures show.
    pub fn title(self) -> &'static str {
        match self {
            Self::LeastSquares => "plain quadratic",
            Self::Quadratic => "pooled quadratic",
            Self::Neural => "networks",
            Self::Stable => "stable",
            Self::Quartic => "plain quartic",
        }
    }
}

impl fmt::Display for Learner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::LeastSquares => "least-squares",
            Self::Quadratic => "quadratic",
            Self::Neural => "neural",
            Self::Stable => "stable",
            Self::Quartic => "quartic",
        })
    }
}

/// A name that is no learner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a learner; the learners are least-squares, quadratic, neural, stable, quartic")]
pub struct UnknownLearner(pub String);

impl FromStr for Learner {
    type Err = UnknownLearner;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::EVERY.into_iter().find(|learner| learner.to_string() == name).ok_or_else(|| UnknownLearner(name.into()))
    }
}

/// One training panel in one of the paper's worlds, and every method learned from it and followed on the same draws.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Synthetic {
    /// The world.
    pub world: PaperWorld,
    /// δ.
    pub strength: f64,
    /// N, people in the training panel.
    pub people: usize,
    /// T, decisions a person in the training panel.
    pub horizon: usize,
    /// People followed to evaluate a policy.
    pub evaluation_people: usize,
    /// Decisions they are followed for.
    pub evaluation_horizon: usize,
    /// Decisions for which those who learned something are followed once more, so that their value can be held against J*.
    pub long_horizon: Option<usize>,
    /// Who is compared.
    pub methods: Vec<Method>,
    /// How means and action values are fitted.
    pub learner: Learner,
    /// The replicate; equal seeds of different cells share no draw unless the training panel is the same.
    pub seed: u64,
}

/// One data set from a generative model fitted to a study (supplement F.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SemiSynthetic {
    /// The study the model was fitted to.
    pub study: String,
    /// The sensitive attribute.
    pub attribute: String,
    /// η, added to the states of the first level.
    pub shift: f64,
    /// N.
    pub people: usize,
    /// T.
    pub horizon: usize,
    /// People followed to evaluate a policy.
    pub evaluation_people: usize,
    /// Decisions they are followed for.
    pub evaluation_horizon: usize,
    /// Who is compared.
    pub methods: Vec<Method>,
    /// How means and action values are fitted.
    pub learner: Learner,
    /// The replicate.
    pub seed: u64,
}

/// One 80/20 split of a study (supplement G).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The study.
    pub study: String,
    /// The sensitive attribute.
    pub attribute: String,
    /// Who is compared.
    pub methods: Vec<Method>,
    /// How means and action values are fitted.
    pub learner: Learner,
    /// The replicate: which people are in the training part.
    pub seed: u64,
}

/// A piece of work that is done whole or not at all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Cell {
    /// A cell of `fig:sim_all`.
    Synthetic(Synthetic),
    /// A cell of `fig:semi`.
    SemiSynthetic(SemiSynthetic),
    /// A cell of `table:real_data` and `fig:real_action_percentage`.
    Split(Split),
    /// A cell of `fig:regret`.
    Regret(RegretCell),
}

impl Cell {
    /// The name of a cell: equal for equal cells only, and in text order the order of the finished file.
    pub fn key(&self) -> String {
        let list = |methods: &[Method]| methods.iter().map(Method::to_string).collect::<Vec<_>>().join("+");
        match self {
            Self::Synthetic(c) => format!(
                "synthetic/{}/{}/E={:06}x{:04}+{:04}/delta={:08.4}/N={:07}/T={:04}/{}/seed={:06}",
                c.learner,
                c.world,
                c.evaluation_people,
                c.evaluation_horizon,
                c.long_horizon.unwrap_or(0),
                c.strength,
                c.people,
                c.horizon,
                list(&c.methods),
                c.seed
            ),
            Self::SemiSynthetic(c) => format!(
                "semi-synthetic/{}/{}/{}/E={:06}x{:04}/eta={:08.4}/N={:07}/T={:04}/{}/seed={:06}",
                c.learner,
                c.study,
                c.attribute,
                c.evaluation_people,
                c.evaluation_horizon,
                c.shift,
                c.people,
                c.horizon,
                list(&c.methods),
                c.seed
            ),
            Self::Split(c) => {
                format!("split/{}/{}/{}/{}/seed={:06}", c.learner, c.study, c.attribute, list(&c.methods), c.seed)
            }
            Self::Regret(c) => format!(
                "regret/{}/{}/E={:06}x{:04}/epsilon={}/delta={:08.4}/N={:07}/T={:04}/{}/seed={:06}",
                c.learner,
                c.world,
                c.evaluation_people,
                c.evaluation_horizon,
                c.error.map_or("none".into(), |error| format!("{error:+08.4}")),
                c.strength,
                c.people,
                c.horizon,
                list(&c.methods),
                c.seed
            ),
        }
    }

    /// The replicate.
    pub fn seed(&self) -> u64 {
        match self {
            Self::Synthetic(c) => c.seed,
            Self::SemiSynthetic(c) => c.seed,
            Self::Split(c) => c.seed,
            Self::Regret(c) => c.seed,
        }
    }

    /// The study it is about, if it is about one.
    pub fn study(&self) -> Option<&str> {
        match self {
            Self::Synthetic(_) | Self::Regret(_) => None,
            Self::SemiSynthetic(c) => Some(&c.study),
            Self::Split(c) => Some(&c.study),
        }
    }

    /// The first word of its name.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Synthetic(_) => "synthetic",
            Self::SemiSynthetic(_) => "semi-synthetic",
            Self::Split(_) => "split",
            Self::Regret(_) => "regret",
        }
    }

    /// People followed to evaluate a policy, where it is followed in a world.
    pub fn evaluation_people(&self) -> Option<usize> {
        match self {
            Self::Synthetic(c) => Some(c.evaluation_people),
            Self::SemiSynthetic(c) => Some(c.evaluation_people),
            Self::Regret(c) => Some(c.evaluation_people),
            Self::Split(_) => None,
        }
    }

    /// Who is compared.
    pub fn methods(&self) -> &[Method] {
        match self {
            Self::Synthetic(c) => &c.methods,
            Self::SemiSynthetic(c) => &c.methods,
            Self::Split(c) => &c.methods,
            Self::Regret(c) => &c.methods,
        }
    }

    /// How means and action values are fitted.
    pub fn learner(&self) -> Learner {
        match self {
            Self::Synthetic(c) => c.learner,
            Self::SemiSynthetic(c) => c.learner,
            Self::Split(c) => c.learner,
            Self::Regret(c) => c.learner,
        }
    }
}

impl Synthetic {
    /// The cell's random numbers. Neither the methods, nor the learner, nor the size of the evaluation is part of the address: a method
    /// that is added moves no other method's digits, and a longer evaluation judges the same policies.
    pub fn stream(&self) -> Stream {
        Self::address(self.world, self.strength, self.people, self.horizon, self.seed)
    }

    /// The same, from what it depends on.
    pub(super) fn address(world: PaperWorld, strength: f64, people: usize, horizon: usize, seed: u64) -> Stream {
        let world = Stream::new(seed).named("synthetic").named(&world.to_string());
        world.index(strength.to_bits()).index(people as u64).index(horizon as u64)
    }
}

impl SemiSynthetic {
    /// The cell's random numbers: see [`Synthetic::stream`].
    pub fn stream(&self) -> Stream {
        let study = Stream::new(self.seed).named("semi-synthetic").named(&self.study).named(&self.attribute);
        study.index(self.shift.to_bits()).index(self.people as u64).index(self.horizon as u64)
    }
}

impl Split {
    /// The cell's random numbers. One seed splits a study the same way for every attribute.
    pub fn stream(&self) -> Stream {
        Stream::new(self.seed).named("split").named(&self.study)
    }
}
