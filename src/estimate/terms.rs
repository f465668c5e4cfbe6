//! Which products of state functions, action indicators and level indicators a regression contains.

use super::basis::StateBasis;
use super::{LevelCode, Pooling};

/// Some columns of a design: an indicator product times the first `functions` functions of the basis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term {
    /// Times 1{a = action}, unless `None`.
    pub action: Option<usize>,
    /// Times a function of the level.
    pub level: LevelFactor,
    /// How many functions of the basis, from the constant on.
    pub functions: usize,
}

/// The level's factor in a term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LevelFactor {
    /// 1.
    One,
    /// 1{z = k}.
    Indicator(usize),
    /// zᵉ, for levels that are numbers.
    Power(usize),
}

impl Term {
    /// The factor at an action and a level, whose number is `level_value`.
    pub fn factor(&self, action: usize, level: usize, level_value: f64) -> f64 {
        if self.action.is_some_and(|a| a != action) {
            return 0.0;
        }
        match self.level {
            LevelFactor::One => 1.0,
            LevelFactor::Indicator(k) => f64::from(u8::from(k == level)),
            LevelFactor::Power(e) => level_value.powi(e as i32),
        }
    }
}

/// The terms of a regression, in full-rank form: the first action and the first level are the reference.
///
/// Polynomials keep every monomial of total degree ≤ D in state, action indicators and level factors. Linear and spline bases keep all
/// interactions of two: state × action, state × level, action × level.
pub fn terms(basis: &StateBasis, pooling: Pooling, code: LevelCode, actions: usize, levels: usize) -> Vec<Term> {
    let highest = match basis {
        StateBasis::Polynomial(monomials) => Some(monomials),
        _ => None,
    };
    // How many basis functions may stand beside indicators that use up `used` of the degree.
    let beside = |used: usize| match highest {
        Some(monomials) => monomials.degree().checked_sub(used).map_or(0, |left| monomials.up_to(left)),
        None if used >= 2 => 1,
        None => basis.count(),
    };
    let level_factors: Vec<(usize, LevelFactor)> = match code {
        _ if pooling != Pooling::Pooled => vec![],
        LevelCode::Indicator => (1..levels).map(|k| (1, LevelFactor::Indicator(k))).collect(),
        // zᵉ with e < K: higher powers are combinations of these on K points.
        LevelCode::Number => (1..levels).map(|e| (e, LevelFactor::Power(e))).collect(),
    };
    let level_factors = || std::iter::once((0, LevelFactor::One)).chain(level_factors.iter().copied());
    let action_factors = || std::iter::once((0, None)).chain((1..actions).map(|a| (1, Some(a))));
    let mut terms = Vec::new();
    for (level_degree, level) in level_factors() {
        for (action_degree, action) in action_factors() {
            let functions = beside(level_degree + action_degree);
            if functions > 0 {
                terms.push(Term { action, level, functions });
            }
        }
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Monomials;

    fn columns(terms: &[Term]) -> usize {
        terms.iter().map(|b| b.functions).sum()
    }

    #[test]
    fn quadratic_pooled_is_the_peer_librarys_full_rank_form() {
        // 1, x, x²; 1{a}{1, x}; z{1, x}; z·1{a}: eight columns for one coordinate, two actions and two levels.
        let basis = StateBasis::Polynomial(Monomials::new(1, 2).unwrap());
        let pooled = terms(&basis, Pooling::Pooled, LevelCode::Indicator, 2, 2);
        assert_eq!(columns(&pooled), 8);
        assert_eq!(
            pooled,
            terms(&basis, Pooling::Pooled, LevelCode::Number, 2, 2)
                .iter()
                .map(|b| Term {
                    level: if b.level == LevelFactor::Power(1) { LevelFactor::Indicator(1) } else { b.level },
                    ..*b
                })
                .collect::<Vec<_>>()
        );
        assert_eq!(columns(&terms(&basis, Pooling::PerLevel, LevelCode::Indicator, 2, 2)), 5);
    }

    #[test]
    fn numbered_levels_spend_degree_on_their_powers() {
        // Two coordinates (6 monomials), three actions, three levels. No level: 6 + 2·3; z: 3 + 2·1; z²: 1.
        let basis = StateBasis::Polynomial(Monomials::new(2, 2).unwrap());
        assert_eq!(columns(&terms(&basis, Pooling::Pooled, LevelCode::Number, 3, 3)), 12 + 5 + 1);
        // Indicators: the same for each of two levels: 12 + 2·(3 + 2).
        assert_eq!(columns(&terms(&basis, Pooling::Pooled, LevelCode::Indicator, 3, 3)), 22);
    }

    #[test]
    fn a_linear_basis_keeps_interactions_of_two() {
        let basis = StateBasis::Linear { coordinates: 1 };
        assert_eq!(columns(&terms(&basis, Pooling::Pooled, LevelCode::Indicator, 2, 2)), 7);
        assert_eq!(columns(&terms(&basis, Pooling::PerLevel, LevelCode::Indicator, 3, 2)), 6);
    }

    #[test]
    fn factors_select_their_action_and_level() {
        let term = Term { action: Some(1), level: LevelFactor::Indicator(2), functions: 1 };
        assert_eq!([term.factor(1, 2, 0.0), term.factor(0, 2, 0.0), term.factor(1, 1, 0.0)], [1.0, 0.0, 0.0]);
        let power = Term { action: None, level: LevelFactor::Power(2), functions: 1 };
        assert_eq!(power.factor(3, 1, 5.0), 25.0);
        assert_eq!(Term { action: None, level: LevelFactor::One, functions: 1 }.factor(1, 1, 5.0), 1.0);
    }

    #[test]
    fn interactions_beyond_the_degree_leave_no_empty_term() {
        // With three numbered levels z² beside an action has degree three.
        let basis = StateBasis::Polynomial(Monomials::new(2, 2).unwrap());
        let sizes: Vec<usize> =
            terms(&basis, Pooling::Pooled, LevelCode::Number, 3, 3).iter().map(|b| b.functions).collect();
        assert_eq!(sizes, [6, 3, 3, 3, 1, 1, 1]);
    }
}
