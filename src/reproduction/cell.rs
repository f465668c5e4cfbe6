//! A cell: the smallest piece of work, and everything its numbers depend on.

use super::names::named;
use super::{Method, RegretCell};
use crate::kernel::numeric::Stream;
use crate::theory::optimum::PaperWorld;
use serde::{Deserialize, Serialize};

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

named!(
    Learner,
    "learner",
    LeastSquares = "least-squares",
    Quadratic = "quadratic",
    Neural = "neural",
    Stable = "stable",
    Quartic = "quartic"
);

impl Learner {
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
    /// T, decisions per person in the training panel.
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

/// What cells of every kind have.
macro_rules! in_every_kind {
    ($cell:expr, $c:ident => $value:expr) => {
        match $cell {
            Cell::Synthetic($c) => $value,
            Cell::SemiSynthetic($c) => $value,
            Cell::Split($c) => $value,
            Cell::Regret($c) => $value,
        }
    };
}

impl Cell {
    /// The name of a cell: equal for equal cells only, and in text order the order of the finished file.
    pub fn key(&self) -> String {
        let (learner, seed) = (self.learner(), self.seed());
        let methods: Vec<String> = self.methods().iter().map(Method::to_string).collect();
        let place = match self {
            Self::Synthetic(c) => {
                let long = c.long_horizon.unwrap_or(0);
                let followed = format!("E={:06}x{:04}+{long:04}", c.evaluation_people, c.evaluation_horizon);
                format!("{}/{followed}/delta={:08.4}/N={:07}/T={:04}", c.world, c.strength, c.people, c.horizon)
            }
            Self::SemiSynthetic(c) => {
                let followed = format!("E={:06}x{:04}", c.evaluation_people, c.evaluation_horizon);
                let data = format!("eta={:08.4}/N={:07}/T={:04}", c.shift, c.people, c.horizon);
                format!("{}/{}/{followed}/{data}", c.study, c.attribute)
            }
            Self::Split(c) => format!("{}/{}", c.study, c.attribute),
            Self::Regret(c) => {
                let error = c.error.map_or("none".into(), |error| format!("{error:+08.4}"));
                let followed = format!("E={:06}x{:04}/epsilon={error}", c.evaluation_people, c.evaluation_horizon);
                format!("{}/{followed}/delta={:08.4}/N={:07}/T={:04}", c.world, c.strength, c.people, c.horizon)
            }
        };
        format!("{}/{learner}/{place}/{}/seed={seed:06}", self.kind(), methods.join("+"))
    }

    /// The replicate.
    pub fn seed(&self) -> u64 {
        in_every_kind!(self, c => c.seed)
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
        in_every_kind!(self, c => &c.methods)
    }

    /// How means and action values are fitted.
    pub fn learner(&self) -> Learner {
        in_every_kind!(self, c => c.learner)
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
