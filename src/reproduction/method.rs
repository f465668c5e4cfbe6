//! The policies that are compared.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// A policy of `sec:num_exp`, or one of those we put beside them; [`fair::Method`](crate::fair::Method) has those that can be learned from a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Reads the state and the sensitive level.
    Full,
    /// Reads the state alone.
    Unaware,
    /// Reads the true counterfactual states.
    Oracle,
    /// Acts at random.
    Random,
    /// The policy that collected the data.
    Behaviour,
    /// `alg:cf:1` with fitted means, then `alg:cf:2`.
    Ours,
    /// `alg:cf:1` with the true means: must coincide with the Oracle to rounding.
    TrueMeans,
    /// `alg:cf:1` with means fitted in a class that contains the world: the estimation error falls like N^{−1/2}, as the theorems suppose.
    KnownForm,
    /// The best fair rule itself, read through `alg:cf:1` with the means that Ours has: what is lost is due to those means alone.
    BestRule,
    /// One coin an episode: Ours with this probability, otherwise Full.
    Mixture(f64),
}

impl Method {
    /// The six of the paper, in the order of its legend.
    pub const PAPER: [Self; 6] = [Self::Full, Self::Unaware, Self::Oracle, Self::Random, Self::Behaviour, Self::Ours];

    /// The name that tables and figures show.
    pub fn title(self) -> String {
        match self {
            Self::Full => "Full".into(),
            Self::Unaware => "Unaware".into(),
            Self::Oracle => "Oracle".into(),
            Self::Random => "Random".into(),
            Self::Behaviour => "Behaviour".into(),
            Self::Ours => "Ours".into(),
            Self::TrueMeans => "Ours, true means".into(),
            Self::KnownForm => "Ours, known form".into(),
            Self::BestRule => "Best rule, our means".into(),
            Self::Mixture(weight) => format!("Mixture, w = {weight}"),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("full"),
            Self::Unaware => f.write_str("unaware"),
            Self::Oracle => f.write_str("oracle"),
            Self::Random => f.write_str("random"),
            Self::Behaviour => f.write_str("behaviour"),
            Self::Ours => f.write_str("ours"),
            Self::TrueMeans => f.write_str("true-means"),
            Self::KnownForm => f.write_str("known-form"),
            Self::BestRule => f.write_str("best-rule"),
            Self::Mixture(weight) => write!(f, "mixture:{weight}"),
        }
    }
}

/// A name that is no method.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a method; the methods are full, unaware, oracle, random, behaviour, ours, true-means, known-form, best-rule, mixture:W"
)]
pub struct UnknownMethod(pub String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownMethod(name.into());
        Ok(match name {
            "full" => Self::Full,
            "unaware" => Self::Unaware,
            "oracle" => Self::Oracle,
            "random" => Self::Random,
            "behaviour" => Self::Behaviour,
            "ours" => Self::Ours,
            "true-means" => Self::TrueMeans,
            "known-form" => Self::KnownForm,
            "best-rule" => Self::BestRule,
            _ => {
                let weight = name.strip_prefix("mixture:").ok_or_else(unknown)?;
                let weight: f64 = weight.parse().map_err(|_| unknown())?;
                Self::Mixture(Some(weight).filter(|w| (0.0..=1.0).contains(w)).ok_or_else(unknown)?)
            }
        })
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_read_back_from_its_name() {
        for method in Method::PAPER.into_iter().chain([
            Method::TrueMeans,
            Method::KnownForm,
            Method::BestRule,
            Method::Mixture(0.25),
        ]) {
            assert_eq!(method.to_string().parse(), Ok(method));
        }
    }

    #[test]
    fn a_mixture_weight_outside_the_unit_interval_is_no_method() {
        assert_eq!("mixture:1.5".parse::<Method>(), Err(UnknownMethod("mixture:1.5".into())));
    }
}
