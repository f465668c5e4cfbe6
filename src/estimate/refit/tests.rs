use super::super::fit;
use super::super::rows::Weights;
use super::super::{FitSettings, LevelCode, Means, Pooling};
use super::*;
use crate::kernel::model::Mechanism;
use crate::kernel::model::worlds::ThreeLevels;
use crate::kernel::model::{Exogenous, simulate};
use crate::kernel::numeric::Stream;
use crate::kernel::people::{Labels, PanelBuilder, People, Person};

/// Normal equations against QR at condition numbers that [`GRAM_CONDITION`](crate::kernel::numeric::tolerance::GRAM_CONDITION) admits.
const TWO_ROUTES: f64 = 1e-7;

/// People of three levels, unequally many, with unequal horizons; every third lacks the state after the last decision.
fn panel(people: usize) -> Panel {
    let world = ThreeLevels::new(0.8);
    let whole = simulate(&world, &Exogenous::draw(&world, people, 6, Stream::new(31)));
    let mut builder = PanelBuilder::new(whole.levels().clone(), whole.action_names().clone(), 2).unwrap();
    for (i, person) in whole.iter().enumerate() {
        let t = 2 + i % 5;
        let states = &person.states[..2 * (t + usize::from(i % 3 != 0))];
        builder
            .push(Person { states, actions: &person.actions[..t], rewards: &person.rewards[..t], ..person })
            .unwrap();
    }
    builder.finish()
}

/// Everybody as often as their weight says.
fn repeated(panel: &Panel, weights: &[f64]) -> Panel {
    let mut builder =
        PanelBuilder::new(panel.levels().clone(), panel.action_names().clone(), panel.state_dim()).unwrap();
    for (person, &w) in panel.iter().zip(weights) {
        for copy in 0..w as usize {
            builder.push(Person { id: &format!("{} {copy}", person.id), ..person }).unwrap();
        }
    }
    builder.finish()
}

fn weights(people: usize) -> Vec<f64> {
    (0..people).map(|i| ((i * i + 3 * i) % 4) as f64).collect()
}

/// The largest difference of initial, transition and reward means over a grid.
fn difference(a: &Fitted, b: &Fitted) -> f64 {
    let mut largest = 0.0f64;
    for level in 0..a.levels() {
        let far = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        largest = largest.max(far(a.initial_mean(level), b.initial_mean(level)));
        for action in 0..a.actions() as u32 {
            for i in 0..49 {
                let state = [f64::from(i % 7) - 3.0, 0.7 * f64::from(i / 7) - 2.0];
                let mean = |m: &Fitted| {
                    let (mut next, mut reward) = ([0.0; 2], [0.0]);
                    m.mean(level, &state, &[action], &mut next, &mut reward);
                    [next[0], next[1], reward[0]]
                };
                largest = largest.max(far(&mean(a), &mean(b)));
            }
        }
    }
    largest
}

fn every_choice() -> impl Iterator<Item = FitSettings> {
    [Basis::Linear, Basis::Polynomial(2), Basis::Trigonometric, Basis::Spline].into_iter().flat_map(|basis| {
        [Pooling::Pooled, Pooling::PerLevel, Pooling::Chosen].into_iter().flat_map(move |pooling| {
            [LevelCode::Indicator, LevelCode::Number].map(|code| FitSettings {
                basis,
                pooling,
                code,
                ..FitSettings::default()
            })
        })
    })
}

#[test]
fn weight_one_for_everybody_is_the_fit_itself() {
    let panel = panel(240);
    for settings in every_choice() {
        let refitter = Refitter::new(&panel, &settings).unwrap();
        assert_eq!(refitter.fitted(), &fit(&panel, &settings).unwrap());
        // Any common factor is the same thing.
        let again = refitter.refit(&[2.5; 240]).unwrap();
        let far = difference(&again, refitter.fitted());
        assert!(far < TWO_ROUTES, "{settings:?}: {far}");
        for (a, b) in again.reports().iter().zip(refitter.fitted().reports()) {
            assert_eq!((a.level, a.rows, a.columns, a.rank), (b.level, b.rows, b.columns, b.rank));
        }
    }
}

#[test]
fn whole_weights_are_people_standing_there_as_often() {
    let panel = panel(240);
    let w = weights(240);
    let resampled = repeated(&panel, &w);
    for settings in every_choice() {
        let refitter = Refitter::new(&panel, &settings).unwrap();
        let refitted = refitter.refit(&w).unwrap();
        // The choices of the original panel, the regression of the repeated one.
        let census = Census::of(&resampled).unwrap();
        let rows = RowSource { people: &resampled, groups: &refitter.groups, kept: None };
        let regressions = Regressions { rows, census: &census };
        let (coefficients, reports) = regressions.fit(&Weights::default(), Care::Digits, None).unwrap();
        let initial = census.initial_means(resampled.shape()).unwrap();
        let expected = Fitted { initial, means: Means::Table(coefficients.into()), reports, ..refitted.clone() };
        let far = difference(&refitted, &expected);
        assert!(far < TWO_ROUTES, "{settings:?}: {far}");
        for (a, b) in refitted.reports().iter().zip(expected.reports()) {
            for (x, y) in a.residual_sd.iter().zip(&b.residual_sd) {
                assert!((x - y).abs() < TWO_ROUTES * y, "{settings:?}: residuals {x} and {y}");
            }
        }
    }
}

#[test]
fn weights_that_leave_coefficients_undetermined_give_the_solution_of_least_norm() {
    let panel = panel(60);
    let settings = FitSettings { basis: Basis::Polynomial(2), pooling: Pooling::PerLevel, ..FitSettings::default() };
    // One person of each level.
    let mut w = vec![0.0; 60];
    for level in 0..3 {
        w[panel.level_codes().iter().position(|&z| z == level).unwrap()] = 1.0;
    }
    let refitted = Refitter::new(&panel, &settings).unwrap().refit(&w).unwrap();
    let few = repeated(&panel, &w);
    let expected = fit(&few, &settings).unwrap();
    assert!(expected.reports()[0].rank < expected.reports()[0].columns);
    assert!(difference(&refitted, &expected) < TWO_ROUTES);
    assert_eq!(refitted.reports()[0].rank, expected.reports()[0].rank);
}

#[test]
fn what_cannot_be_refitted_is_said() {
    let panel = panel(30);
    let neural = FitSettings { basis: Basis::Neural, ..FitSettings::default() };
    assert_eq!(Refitter::new(&panel, &neural).err(), Some(RefitError::Neural));
    let settings = FitSettings { basis: Basis::Linear, pooling: Pooling::Pooled, ..FitSettings::default() };
    let refitter = Refitter::new(&panel, &settings).unwrap();
    assert_eq!(refitter.refit(&[1.0; 29]).err(), Some(RefitError::WeightCount { found: 29, people: 30 }));
    let mut w = vec![1.0; 30];
    w[7] = -0.5;
    assert_eq!(refitter.refit(&w).err(), Some(RefitError::Weight { position: 7, weight: -0.5 }));
    let w: Vec<f64> = panel.level_codes().iter().map(|&z| f64::from(u8::from(z != 1))).collect();
    let level = panel.levels().name(1).to_string();
    assert_eq!(refitter.refit(&w).err(), Some(RefitError::EmptyLevel { level }));
    let one_level = PanelBuilder::new(Labels::numbered(2), Labels::numbered(1), 1).unwrap();
    assert!(matches!(Refitter::new(&one_level.finish(), &settings), Err(RefitError::Fit(_))));
}

#[test]
fn noise_is_refitted_with_the_means_and_weight_one_is_the_fit_itself() {
    use crate::estimate::NoiseChoice;
    use crate::kernel::model::worlds::spread_by_level;
    let world = spread_by_level(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 200, 4, Stream::new(5)));
    let settings = FitSettings { noise: NoiseChoice::Scale, ..FitSettings::default() };
    let refitter = Refitter::new(&panel, &settings).unwrap();
    let spread = |fitted: &Fitted, level: usize| {
        let (mut next, mut rewards) = ([0.0; 3], [0.0; 3]);
        let law = fitted.noise().unwrap();
        law.spread(level, &[-1.0, 0.2, 1.1], &[0, 1, 1], &mut next, &mut rewards);
        [law.initial_spread(level), &next].concat()
    };
    let same = refitter.refit(&[2.5; 200]).unwrap();
    let other = refitter.refit(&weights(200)).unwrap();
    for level in 0..2 {
        for (x, y) in spread(&same, level).iter().zip(spread(refitter.fitted(), level)) {
            assert!((x - y).abs() < TWO_ROUTES, "{x} and {y}");
        }
        assert_ne!(spread(&other, level), spread(refitter.fitted(), level));
    }
    // Means are reweighted by the spread in both.
    let mean = |fitted: &Fitted| {
        let (mut next, mut reward) = ([0.0], [0.0]);
        fitted.mean(1, &[0.3], &[1], &mut next, &mut reward);
        next[0]
    };
    assert!((mean(&same) - mean(refitter.fitted())).abs() < TWO_ROUTES);
}

/// Draws have the mean of refits and, at each state, the variance σ²λn (A⁻¹PA⁻¹) of what the penalty holds back.
#[test]
fn draws_spread_round_the_refit_and_only_where_something_is_penalised() {
    let panel = panel(240);
    let w = weights(240);
    let stream = |b: u64| Stream::new(5).named("draws").index(b);
    let straight = Refitter::new(&panel, &FitSettings { basis: Basis::Linear, ..FitSettings::default() }).unwrap();
    assert_eq!(difference(&straight.refit(&w).unwrap(), &straight.draw(&w, stream(0)).unwrap()), 0.0);

    let splines = Refitter::new(&panel, &FitSettings { pooling: Pooling::PerLevel, ..FitSettings::default() }).unwrap();
    let middle = splines.refit(&w).unwrap();
    let one = splines.draw(&w, stream(0)).unwrap();
    assert!(difference(&middle, &one) > 1e-3, "a penalised function that is drawn moves");
    assert_eq!(difference(&one, &splines.draw(&w, stream(0)).unwrap()), 0.0);
    // Only ratios of weights matter, as in refits.
    let larger: Vec<f64> = w.iter().map(|w| 7.0 * w).collect();
    let again = splines.draw(&larger, stream(0)).unwrap();
    let moved = difference(&one, &again);
    assert!(moved < TWO_ROUTES, "{moved}");

    let at = |m: &Fitted| {
        let (mut next, mut reward) = ([0.0; 2], [0.0]);
        m.mean(1, &[0.4, -0.6], &[2], &mut next, &mut reward);
        [next[0], next[1], reward[0]]
    };
    let draws: Vec<[f64; 3]> = (0..400).map(|b| at(&splines.draw(&w, stream(b)).unwrap())).collect();
    for (output, expected) in at(&middle).iter().enumerate() {
        let mean = draws.iter().map(|d| d[output]).sum::<f64>() / 400.0;
        let sd = (draws.iter().map(|d| (d[output] - mean).powi(2)).sum::<f64>() / 399.0).sqrt();
        // Five standard errors: 6e-7 each.
        assert!((mean - expected).abs() <= 5.0 * sd / 20.0 + TWO_ROUTES, "{output}: {mean} and {expected}, sd {sd}");
        assert!(sd > 0.0);
    }
}
