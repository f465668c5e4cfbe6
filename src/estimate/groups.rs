//! Whom to fit together, on which functions, and how smoothly.

use super::basis::StateBasis;
use super::bends::Bends;
use super::census::Census;
use super::cross_validation::{FoldSums, Smoothing, choose, knot_ranks};
use super::design::Design;
use super::ranks::order_statistics;
use super::spline::NaturalSpline;
use super::{Basis, FitError, FitSettings, Pooling};
use crate::kernel::numeric::Monomials;
use crate::kernel::people::{People, try_each};
use rayon::prelude::*;

/// People fitted in one regression: those of one level, or all of them.
pub(super) struct Group {
    pub design: Design,
    /// How each output is smoothed.
    pub smoothing: Vec<Smoothing>,
    /// The coordinates in which roughness is a sum of squares, where there are any.
    pub bends: Option<Bends>,
}

impl Group {
    fn new(design: Design, smoothing: Vec<Smoothing>) -> Self {
        Self { bends: Bends::new(&design), design, smoothing }
    }
}

/// The groups of a regression: one for all levels, or one for each.
pub(super) fn groups(
    people: &dyn People,
    census: &Census,
    settings: &FitSettings,
    values: &[f64],
) -> Result<Vec<Group>, FitError> {
    let apart = || (0..people.shape().levels.len()).map(Some);
    let members: Vec<Option<usize>> = match settings.pooling {
        Pooling::Pooled => vec![None],
        Pooling::PerLevel => apart().collect(),
        Pooling::Chosen | Pooling::Cautious => apart().chain([None]).collect(),
    };
    let bases = bases(people, census, settings.basis, &members)?;
    let mut designs = Vec::new();
    for (only, basis) in members.into_iter().zip(bases) {
        let design = Design::new(people.shape(), basis, only, settings.code, values);
        design.check_size(census.decisions(only), people.in_memory().is_some())?;
        designs.push(design);
    }
    let mut groups = smoothed(people, census, designs)?;
    if !matches!(settings.pooling, Pooling::Chosen | Pooling::Cautious) {
        return Ok(groups);
    }
    let together = groups.split_off(groups.len() - 1);
    let are_together = pooled(settings.pooling, &census.spreads(), census.transitions(None), &together, &groups);
    Ok(if are_together { together } else { groups })
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

/// The functions of each group's states; the knots of splines are quantiles of the states from which people moved on.
fn bases(
    people: &dyn People,
    census: &Census,
    basis: Basis,
    members: &[Option<usize>],
) -> Result<Vec<StateBasis>, FitError> {
    let p = people.shape().state_dim;
    match basis {
        Basis::Linear | Basis::Neural => return Ok(vec![StateBasis::Linear { coordinates: p }; members.len()]),
        Basis::Polynomial(degree) => {
            return Ok(vec![StateBasis::Polynomial(Monomials::new(p, degree)?); members.len()]);
        }
        Basis::Trigonometric => return Ok(vec![StateBasis::Trigonometric { coordinates: p }; members.len()]),
        Basis::Spline => {}
    }
    let sizes: Vec<usize> = members.iter().flat_map(|only| vec![census.decisions(*only); p]).collect();
    let quantiles = order_statistics(
        &sizes,
        |_, n| knot_ranks(n),
        people.room(),
        |see| {
            try_each(people, |block| {
                for person in block.iter() {
                    let level = person.level as usize;
                    for (g, _) in members.iter().enumerate().filter(|(_, only)| only.is_none_or(|k| k == level)) {
                        for state in person.states.chunks_exact(p).take(person.actions.len()) {
                            state.iter().enumerate().for_each(|(j, s)| see(g * p + j, *s));
                        }
                    }
                }
                Ok::<(), FitError>(())
            })
        },
    )?;
    let splines: Vec<NaturalSpline> = quantiles.into_iter().map(NaturalSpline::through).collect();
    Ok(splines.chunks_exact(p).map(|splines| StateBasis::Spline(splines.to_vec())).collect())
}

/// The smoothness of every design by cross-validation, from one pass.
fn smoothed(people: &dyn People, census: &Census, designs: Vec<Design>) -> Result<Vec<Group>, FitError> {
    let sums_of = |design: &Design| {
        let rows = census.transitions(design.only);
        Bends::new(design).map(|bends| (FoldSums::new(design, &bends, rows), bends))
    };
    let mut sums: Vec<_> = designs.iter().map(sums_of).collect();
    let mut counter = census.folds.counter();
    try_each(people, |block| {
        let folds: Vec<usize> = block.level_codes().iter().map(|&z| counter.next(z)).collect();
        sums.par_iter_mut().zip(&designs).for_each(|(sums, design)| {
            let Some((sums, bends)) = sums else { return };
            design.people(block).for_each(|(i, person)| sums.add(design, bends, folds[i], &person));
        });
        Ok::<(), FitError>(())
    })?;
    let group = |(design, sums): (Design, Option<(FoldSums, Bends)>)| {
        let smoothing = choose(&design, sums.map(|(sums, bends)| (sums.finish(&bends), bends)));
        Group::new(design, smoothing)
    };
    Ok(designs.into_par_iter().zip(sums).map(group).collect())
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
    use super::super::LevelCode;
    use super::*;
    use crate::kernel::people::{Labels, Panel, PanelBuilder, Person, Shape};

    fn groups_of(panel: &Panel, basis: Basis, pooling: Pooling) -> Result<Vec<Group>, FitError> {
        let settings = FitSettings { basis, pooling, ..FitSettings::default() };
        groups(panel, &Census::of(panel).unwrap(), &settings, &[0.0, 1.0])
    }

    fn straight(coordinates: usize, only: Option<usize>) -> Design {
        let shape = Shape { levels: Labels::numbered(2), actions: Labels::numbered(2), state_dim: coordinates };
        Design::new(&shape, StateBasis::Linear { coordinates }, only, LevelCode::Indicator, &[0.0, 1.0])
    }

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
        match groups_of(&panel, Basis::Linear, Pooling::PerLevel) {
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
        match groups_of(&builder.finish(), Basis::Linear, Pooling::Pooled) {
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
            Group::new(straight(2, Some(only)), smoothing)
        };
        let groups = [group(0, [1.0, 100.0, 2.0]), group(1, [0.5, 30.0, 4.0])];
        // Spreads of 3, 4, 2; of 20, 60, 30; and of 2, 4, 6: they are 2, 2600/3 and 8.
        let found = error_over(&Census::of(&builder.finish()).unwrap().spreads(), &groups);
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
                let chosen = groups_of(&panel(slope), Basis::Polynomial(1), rule).unwrap();
                let members: Vec<_> = chosen.iter().map(|group| group.design.only).collect();
                assert_eq!(members, if expected == Pooling::Pooled { vec![None] } else { vec![Some(0), Some(1)] });
            }
        }
    }

    #[test]
    fn the_cautious_rule_asks_for_evidence() {
        let group = |only, errors: [f64; 2]| {
            let smoothing = errors.map(|error| Smoothing { penalty: 0.0, error, degrees: 2.0 });
            Group::new(straight(1, only), smoothing.to_vec())
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
        let panel = builder.finish();
        for rule in [Pooling::Chosen, Pooling::Cautious] {
            let chosen = groups_of(&panel, Basis::Linear, rule).unwrap();
            assert!(chosen.iter().flat_map(|group| &group.smoothing).all(|s| s.error == f64::INFINITY));
            assert_eq!(chosen.len(), 2, "one for each level");
        }
    }
}
