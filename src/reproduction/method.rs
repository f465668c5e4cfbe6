//! The policies that are compared.

use super::UnknownName;
use super::names::written_as_text;
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
    /// One coin per episode: Ours with this probability, otherwise Full.
    Mixture(f64),
}

impl Method {
    /// The six of the paper, in the order of its legend.
    pub const PAPER: [Self; 6] = [Self::Full, Self::Unaware, Self::Oracle, Self::Random, Self::Behaviour, Self::Ours];

    const UNMIXED: [Self; 9] = [
        Self::Full,
        Self::Unaware,
        Self::Oracle,
        Self::Random,
        Self::Behaviour,
        Self::Ours,
        Self::TrueMeans,
        Self::KnownForm,
        Self::BestRule,
    ];

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

impl FromStr for Method {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let weight = name.strip_prefix("mixture:").and_then(|weight| weight.parse().ok());
        let mixture = weight.filter(|w| (0.0..=1.0).contains(w)).map(Self::Mixture);
        let known = Self::UNMIXED.into_iter().find(|method| method.to_string() == name);
        known.or(mixture).ok_or_else(|| {
            let known = Self::UNMIXED.map(|method| method.to_string()).join(", ") + ", mixture:W";
            UnknownName { found: name.into(), kind: "method", known }
        })
    }
}

written_as_text!(Method);

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
        let refused = "mixture:1.5".parse::<Method>().map_err(|e| e.to_string());
        assert!(refused.is_err_and(|e| e.starts_with("`mixture:1.5` is not a method; the methods are full, unaware")));
    }
}
