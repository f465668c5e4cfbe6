//! Whom to fit together, on which functions, and how smoothly.

use super::basis::StateBasis;
use super::cross_validation::{Smoothing, choose, spline_basis};
use super::design::Design;
use super::terms::blocks;
use super::{Basis, FitError, LevelCode, Pooling};
use crate::kernel::numeric::Monomials;
use crate::kernel::people::Panel;

/// People fitted in one regression.
pub(super) struct Group {
    /// The one level they have, or `None` when levels are pooled.
    pub only: Option<usize>,
    pub basis: StateBasis,
    /// How each output is smoothed; empty when it is not.
    pub smoothing: Vec<Smoothing>,
}

/// The groups of a regression, and whether they are one for all levels.
pub(super) fn groups(
    panel: &Panel,
    basis: Basis,
    pooling: Pooling,
    code: LevelCode,
    values: &[f64],
) -> Result<(Pooling, Vec<Group>), FitError> {
    let make = |pooling| -> Result<Vec<Group>, FitError> {
        let members: Vec<Option<usize>> = match pooling {
            Pooling::Pooled => vec![None],
            _ => (0..panel.levels().len()).map(Some).collect(),
        };
        members.into_iter().map(|only| group(panel, basis, only, code, values)).collect()
    };
    match pooling {
        Pooling::Pooled | Pooling::PerLevel => Ok((pooling, make(pooling)?)),
        Pooling::Chosen | Pooling::Cautious => {
            let (apart, together) = (make(Pooling::PerLevel)?, make(Pooling::Pooled)?);
            let are_together = pooled(pooling, &spreads(panel), panel.transitions(), &together, &apart);
            Ok(if are_together { (Pooling::Pooled, together) } else { (Pooling::PerLevel, apart) })
        }
    }
}

/// What levels apart must gain before [`Pooling::Cautious`] takes them, in units of log-likelihood. Without an effect of the kind that only
/// levels apart can show, ½χ² − (degrees of freedom) exceeds 0 with probability 0.16 (one degree) and 2 with probability 0.014.
const EVIDENCE: f64 = 2.0;

/// An output that is predicted to within this share of its spread has no noise.
const EXACT: f64 = 1e-12;

/// Whether levels are fitted together, by the rule and how both do on people left out; apart where neither can be judged.
///
/// # Equation
/// ```text
/// Chosen: Σ_o E_o(together) / S_o < Σ_o E_o(apart) / S_o        Cautious: Σ_o (n/2) ln (E_o(together) / E_o(apart)) ≤ 2
/// ```
/// over outputs o, with E the cross-validated sum of squares and S the spread.
pub(super) fn pooled(rule: Pooling, spreads: &[f64], rows: usize, together: &[Group], apart: &[Group]) -> bool {
    if rule == Pooling::Chosen {
        return error_over(spreads, together) < error_over(spreads, apart);
    }
    let gain = |(output, spread): (usize, &f64)| {
        let noise = |groups: &[Group]| error_of(groups, output).max(EXACT * spread).max(f64::MIN_POSITIVE);
        rows as f64 / 2.0 * (noise(together) / noise(apart)).ln()
    };
    spreads.iter().enumerate().map(gain).sum::<f64>() <= EVIDENCE
}

fn group(panel: &Panel, basis: Basis, only: Option<usize>, code: LevelCode, values: &[f64]) -> Result<Group, FitError> {
    let p = panel.state_dim();
    let basis = basis_without_knots(basis, p)?.unwrap_or_else(|| spline_basis(panel, only));
    let pooling = if only.is_some() { Pooling::PerLevel } else { Pooling::Pooled };
    let blocks = blocks(&basis, pooling, code, panel.action_names().len(), panel.levels().len());
    let design = Design { panel, basis: &basis, blocks: &blocks, values, only };
    design.check_size()?;
    let smoothing = choose(&design);
    Ok(Group { only, basis, smoothing })
}

/// The functions of p coordinates that do not depend on data; `None` for splines, whose knots do.
pub(super) fn basis_without_knots(basis: Basis, p: usize) -> Result<Option<StateBasis>, FitError> {
    Ok(match basis {
        Basis::Linear | Basis::Neural => Some(StateBasis::Linear { coordinates: p }),
        Basis::Polynomial(degree) => Some(StateBasis::Polynomial(Monomials::new(p, degree)?)),
        Basis::Trigonometric => Some(StateBasis::Trigonometric { coordinates: p }),
        Basis::Spline => None,
    })
}

/// Σ (y − ȳ)² of each output.
fn spreads(panel: &Panel) -> Vec<f64> {
    let p = panel.state_dim();
    (0..=p)
        .map(|output| {
            let values = panel.iter().flat_map(|person| {
                let next = person.states.iter().skip(p + output).step_by(p);
                let known = person.states.len() / p - 1;
                let rewards = person.rewards.iter().take(known);
                if output < p { next.copied().collect::<Vec<_>>() } else { rewards.copied().collect() }
            });
            let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
            values.for_each(|y| {
                count += 1.0;
                sum += y;
                squares += y * y;
            });
            squares - sum * sum / f64::max(count, 1.0)
        })
        .collect()
}

/// Cross-validated sum of squares of one output.
fn error_of(groups: &[Group], output: usize) -> f64 {
    groups.iter().map(|group| group.smoothing[output].error).sum()
}

/// Cross-validated sum of squares of each output over its spread, added up: a scale-free measure of how unseen people are predicted.
fn error_over(spreads: &[f64], groups: &[Group]) -> f64 {
    let share = |(output, spread): (usize, &f64)| error_of(groups, output) / spread.max(f64::MIN_POSITIVE);
    spreads.iter().enumerate().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::people::{Labels, PanelBuilder, Person};

    #[test]
    fn a_fit_that_there_is_no_room_for_is_refused_before_it_is_begun() {
        let width = 6000;
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), width).unwrap();
        for (id, level) in [("a", 0), ("b", 1), ("c", 1)] {
            let states: Vec<f64> = (0..2 * width).map(|j| (j * 7 % 11) as f64).collect();
            builder.push(Person { id, level, states: &states, actions: &[level], rewards: &[0.5] }).unwrap();
        }
        let panel = builder.finish();
        // An intercept and a slope per state, for each of two actions.
        match groups(&panel, Basis::Linear, Pooling::PerLevel, LevelCode::Indicator, &[0.0, 1.0]) {
            Err(FitError::TooLarge { columns, rows, needed, allowed }) => {
                assert_eq!((columns, rows, allowed), (2 * (width + 1), 1, 4.0));
                assert!(needed > 15.0 && needed < 25.0, "{needed}");
            }
            other => panic!("{:?}", other.map(|_| "a fit")),
        }
    }

    #[test]
    fn a_fit_that_there_is_no_time_for_is_refused_before_it_is_begun() {
        let (width, begun) = (1700, std::time::Instant::now());
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), width).unwrap();
        for (id, level) in [("a", 0), ("b", 1), ("c", 1)] {
            let states: Vec<f64> = (0..2 * width).map(|j| (j * 7 % 11) as f64).collect();
            builder.push(Person { id, level, states: &states, actions: &[level], rewards: &[0.5] }).unwrap();
        }
        match groups(&builder.finish(), Basis::Linear, Pooling::Pooled, LevelCode::Indicator, &[0.0, 1.0]) {
            Err(FitError::TooLong { columns, rows, minutes, allowed }) => {
                assert_eq!((rows, allowed), (3, 10.0));
                assert!(
                    columns > 3 * width && minutes > 10.0 && minutes < 60.0,
                    "{columns} columns, {minutes} minutes"
                );
            }
            other => panic!("{:?}", other.map(|_| "a fit")),
        }
        assert!(begun.elapsed().as_secs() < 60, "it was begun");
    }

    #[test]
    fn errors_of_outputs_are_measured_by_the_spread_of_what_was_seen_to_follow() {
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
        let states = [1.0, 10.0, 3.0, 20.0, 4.0, 60.0];
        builder.push(Person { id: "a", level: 0, states: &states, actions: &[0, 1], rewards: &[2.0, 4.0] }).unwrap();
        // The state after the second decision was not seen, so its reward is nobody's output.
        let states = [9.0, 90.0, 2.0, 30.0];
        builder.push(Person { id: "b", level: 1, states: &states, actions: &[1, 0], rewards: &[6.0, 100.0] }).unwrap();
        let group = |only, errors: [f64; 3]| {
            let smoothing = errors.map(|error| Smoothing { penalty: 0.5, error, degrees: 3.0 }).to_vec();
            Group { only: Some(only), basis: StateBasis::Linear { coordinates: 2 }, smoothing }
        };
        let groups = [group(0, [1.0, 100.0, 2.0]), group(1, [0.5, 30.0, 4.0])];
        // Spreads of 3, 4, 2; of 20, 60, 30; and of 2, 4, 6: they are 2, 2600/3 and 8.
        let found = error_over(&spreads(&builder.finish()), &groups);
        assert!((found - (1.5 / 2.0 + 130.0 / (2600.0 / 3.0) + 6.0 / 8.0)).abs() < 1e-12, "{found}");
    }

    #[test]
    fn levels_are_fitted_together_where_they_differ_by_a_constant_and_apart_where_their_slopes_differ() {
        // On straight lines a pooled fit spends four parameters and two fits six; the scatter is a formula that no line explains.
        let panel = |slope: [f64; 2]| {
            let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
            for i in 0..45u32 {
                let (level, action, x) = (u32::from(i % 4 == 3), (i / 3) % 2, f64::from(i));
                let (s, scatter) = (2.0 * (1.7 * x).sin(), 0.4 * (7.3 * x * x).sin());
                let next = slope[level as usize] * s + 0.3 * f64::from(level) - 0.2 * f64::from(action) + scatter;
                let person = Person {
                    id: &i.to_string(),
                    level,
                    states: &[s, next],
                    actions: &[action],
                    rewards: &[0.7 * s + 0.4 * (5.1 * x * x).cos()],
                };
                builder.push(person).unwrap();
            }
            builder.finish()
        };
        for (slope, expected) in [([0.6, 0.6], Pooling::Pooled), ([0.8, -0.8], Pooling::PerLevel)] {
            for rule in [Pooling::Chosen, Pooling::Cautious] {
                let chosen =
                    groups(&panel(slope), Basis::Polynomial(1), rule, LevelCode::Indicator, &[0.0, 1.0]).unwrap();
                let members: Vec<_> = chosen.1.iter().map(|group| group.only).collect();
                let named = if expected == Pooling::Pooled { vec![None] } else { vec![Some(0), Some(1)] };
                assert_eq!((chosen.0, members), (expected, named));
            }
        }
    }

    #[test]
    fn the_cautious_rule_asks_for_evidence() {
        let group = |only, errors: [f64; 2]| Group {
            only,
            basis: StateBasis::Linear { coordinates: 1 },
            smoothing: errors.map(|error| Smoothing { penalty: 0.0, error, degrees: 2.0 }).to_vec(),
        };
        // Of a state with spread 40 and a reward with spread 9, over 80 rows; the second reward has no noise.
        let is_pooled = |rule, gain: f64, reward: [f64; 2]| {
            let together = [group(None, [12.0 * (gain / 40.0).exp(), reward[0]])];
            let apart = [group(Some(0), [5.0, reward[1]]), group(Some(1), [7.0, 0.0])];
            pooled(rule, &[40.0, 9.0], 80, &together, &apart)
        };
        for (gain, chosen, cautious) in
            [(-0.1, true, true), (0.1, false, true), (1.9, false, true), (2.1, false, false)]
        {
            for reward in [[4.0, 4.0], [2e-29, 1e-30]] {
                assert_eq!(is_pooled(Pooling::Chosen, gain, reward), chosen, "{gain}");
                assert_eq!(is_pooled(Pooling::Cautious, gain, reward), cautious, "{gain}");
            }
        }
        // 1.2 from the state and 80/2 ln(4.1/4) = 0.99 from the reward.
        assert!(!is_pooled(Pooling::Cautious, 1.2, [4.1, 4.0]));
        for (together, apart) in [(f64::INFINITY, false), (4.0, true)] {
            assert_eq!(is_pooled(Pooling::Cautious, 0.0, [together, f64::INFINITY]), apart);
        }
    }

    #[test]
    fn levels_that_cannot_be_judged_are_fitted_apart() {
        // Leaving out one of two people leaves a line undetermined, together and apart.
        let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 1).unwrap();
        for (id, level) in [("a", 0), ("b", 1)] {
            let person = Person { id, level, states: &[0.5, 1.5], actions: &[level], rewards: &[2.0] };
            builder.push(person).unwrap();
        }
        let values = [0.0, 1.0];
        let panel = builder.finish();
        for rule in [Pooling::Chosen, Pooling::Cautious] {
            let chosen = groups(&panel, Basis::Linear, rule, LevelCode::Indicator, &values).unwrap();
            assert!(chosen.1.iter().flat_map(|group| &group.smoothing).all(|s| s.error == f64::INFINITY));
            assert_eq!(chosen.0, Pooling::PerLevel);
        }
    }
}
