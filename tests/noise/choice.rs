//! Which rung the data choose, and what the choice may not depend on.

use counterfair::audit::noise_check::{Belief, check_noise};
use counterfair::estimate::{FitSettings, Fitted, NoiseChoice, fit};
use counterfair::estimate::{Nature, SpreadForm};
use counterfair::kernel::model::Rung;
use counterfair::kernel::model::worlds::{by_name, three_levels_mixed};
use counterfair::kernel::model::{Exogenous, Mechanism, simulate};
use counterfair::kernel::numeric::Stream;
use counterfair::kernel::people::{Labels, Panel, PanelBuilder, Person};
use rayon::prelude::*;

fn panel(name: &str, people: usize, stream: Stream) -> Panel {
    let world = by_name(name, 1.0).unwrap();
    simulate(&*world, &Exogenous::draw(&*world, people, 8, stream.named(name)))
}

fn chosen(panel: &Panel) -> Fitted {
    fit(panel, &FitSettings { noise: NoiseChoice::Chosen, ..FitSettings::default() }).unwrap()
}

/// How many of ten seeds choose this rung and form for the first coordinate.
fn hits(name: &str, people: usize, rung: Rung, form: Option<SpreadForm>) -> usize {
    let hit = |seed: u64| {
        let fitted = chosen(&panel(name, people, Stream::new(41).index(seed)));
        let found = &fitted.fitted_noise().unwrap().report().outputs[0];
        usize::from(found.rung == rung && form.is_none_or(|form| found.spread == form))
    };
    (0..10).into_par_iter().map(hit).sum()
}

/// Measured: the additive rung was kept in 71 of 72 samples (N = 100, 400, 1600 in both worlds). At 98 % fewer than nine of ten have
/// probability 1.6 % a world; the seeds are fixed, so this is the probability that a change of streams alone turns the test red.
#[test]
fn additive_noise_is_left_additive_in_both_of_the_papers_worlds() {
    for name in ["linear", "nonlinear"] {
        let kept = hits(name, 400, Rung::Additive, None);
        assert!(kept >= 9, "{name}: {kept} of 10");
    }
}

#[test]
fn noise_that_is_not_additive_is_seen_at_400_people() {
    for (name, rung, form) in [
        ("spread-by-level", Rung::Scale, Some(SpreadForm::PerLevel)),
        ("spread-by-state", Rung::Scale, Some(SpreadForm::LogLinear)),
        ("skewed", Rung::Rank, None),
    ] {
        let right = hits(name, 400, rung, form);
        assert!(right >= 8, "{name}: {right} of 10");
    }
}

#[test]
fn coordinates_choose_for_themselves() {
    let world = three_levels_mixed(1.0);
    let panel = simulate(&world, &Exogenous::draw(&world, 800, 8, Stream::new(42)));
    let fitted = chosen(&panel);
    let rungs: Vec<Rung> = fitted.fitted_noise().unwrap().report().outputs.iter().map(|o| o.rung).collect();
    assert_eq!(rungs, [Rung::Rank, Rung::Scale, Rung::Additive], "{}", fitted.fitted_noise().unwrap().report());
}

#[test]
fn the_choice_does_not_depend_on_the_order_of_people() {
    let panel = panel("spread-by-state", 150, Stream::new(43));
    let shuffled: Vec<usize> = (0..150).map(|i| (i * 77 + 13) % 150).collect();
    let (a, b) = (chosen(&panel), chosen(&panel.select(&shuffled)));
    let (a, b) = (a.fitted_noise().unwrap().report(), b.fitted_noise().unwrap().report());
    for (x, y) in a.outputs.iter().zip(&b.outputs) {
        assert_eq!((x.rung, x.spread, x.scores.len()), (y.rung, y.spread, y.scores.len()));
        for (s, t) in x.scores.iter().zip(&y.scores) {
            // Means are smoothed by folds in file order, which may choose another penalty; scores of spread follow residuals closely.
            assert!((s.gain.mean - t.gain.mean).abs() < 0.05, "{s:?} and {t:?}");
        }
    }
}

#[test]
fn a_weight_of_two_is_the_person_twice() {
    let panel = panel("spread-by-state", 120, Stream::new(44));
    let fitted = fit(&panel, &FitSettings { noise: NoiseChoice::Scale, ..FitSettings::default() }).unwrap();
    let twice: Vec<usize> = (0..120).chain((0..120).filter(|i| i % 3 == 0)).collect();
    let weights: Vec<f64> = (0..120).map(|i| if i % 3 == 0 { 2.0 } else { 1.0 }).collect();
    let noise = fitted.fitted_noise().unwrap();
    let mut builder = PanelBuilder::new(panel.levels().clone(), panel.action_names().clone(), 1).unwrap();
    for (place, &i) in twice.iter().enumerate() {
        builder.push(Person { id: &place.to_string(), ..panel.person(i) }).unwrap();
    }
    let doubled = noise.refit_around(&fitted, &[], &builder.finish(), None).unwrap();
    let weighted = noise.refit_around(&fitted, &[], &panel, Some(&weights)).unwrap();
    let plain = noise.refit_around(&fitted, &[], &panel, None).unwrap();
    let spread = |noise: &counterfair::estimate::FittedNoise| {
        let mut all = vec![];
        for level in 0..2 {
            let (mut next, mut rewards) = ([0.0; 3], [0.0; 3]);
            use counterfair::kernel::model::NoiseLaw;
            noise.spread(level, &[-1.0, 0.3, 2.0], &[0, 1, 1], &mut next, &mut rewards);
            all.extend(next);
        }
        all
    };
    let apart = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    // Scoring stops at steps of 1e-8. First states are inflated by √(n/(n−1)) with n of the panel, later states are not inflated here.
    assert!(apart(spread(&doubled), spread(&weighted)) < 1e-7);
    assert!(apart(spread(&plain), spread(&weighted)) > 1e-3, "weights matter");
}

/// A coordinate that is 0 or 1 beside one that is continuous.
fn with_indicator() -> Panel {
    let source = panel("spread-by-level", 200, Stream::new(45));
    let mut builder = PanelBuilder::new(Labels::numbered(2), Labels::numbered(2), 2).unwrap();
    for person in source.iter() {
        let states: Vec<f64> =
            person.states.iter().flat_map(|s| [*s, f64::from(u8::from((7.0 * s).sin() > 0.2))]).collect();
        builder.push(Person { states: &states, ..person }).unwrap();
    }
    builder.finish()
}

#[test]
fn few_values_are_noticed_and_no_rung_is_chosen_for_them() {
    let panel = with_indicator();
    let fitted = chosen(&panel);
    let report = fitted.fitted_noise().unwrap().report();
    assert_eq!((report.outputs[1].nature, report.outputs[1].rung), (Nature::FewValues(2), Rung::Additive));
    assert_eq!((report.outputs[0].nature, report.outputs[0].rung), (Nature::Continuous, Rung::Scale));
    // The paper's rewards have no noise.
    assert_eq!(report.outputs[2].nature, Nature::Noiseless);
    let check = check_noise(&fitted, &panel, Some(report));
    let verdicts: Vec<Belief> = check.outputs.iter().map(|o| o.verdict).collect();
    use Belief::{Believable, FewValues, NothingToCarry};
    assert_eq!(verdicts, [Believable, FewValues, Believable, FewValues, NothingToCarry], "{check:?}");
}

/// Rejections have p < 0.01 each; under the right model one of the two tests of a coordinate errs with probability 2 % at most.
#[test]
fn the_check_rejects_before_and_believes_after() {
    for name in ["spread-by-level", "skewed"] {
        let panel = panel(name, 600, Stream::new(46));
        let fitted = chosen(&panel);
        let noise = fitted.fitted_noise().unwrap();
        let check = check_noise(&fitted, &panel, Some(noise.report()));
        let next = &check.outputs[1];
        assert_eq!(next.verdict, Belief::Believable, "{next}");
        if name == "skewed" {
            // sup |Φ − F| of the standard normal and the centred gamma is 0.0945; two samples of 2400 estimate it to ±0.015 or so.
            assert!(next.before.shape_p < 1e-6 && (next.before.shape_distance - 0.0945).abs() < 0.03, "{next:?}");
            assert!(next.after.shape_distance < 0.05, "{next:?}");
        } else {
            assert!(next.before.variance_p < 1e-6 && (next.before.sd_ratio - 2.0).abs() < 0.2, "{next:?}");
            assert!((next.after.sd_ratio - 1.0).abs() < 0.05, "{next:?}");
        }
        // With additive noise the same people are not believed.
        let additive = fit(&panel, &FitSettings::default()).unwrap();
        let check = check_noise(&additive, &panel, None);
        assert_eq!(check.outputs[1].verdict, Belief::Differs);
        // The reward of these worlds has no noise: its residuals are rounding, and their shape is no reason for doubt.
        assert_eq!(check.outputs[2].verdict, Belief::NothingToCarry);
    }
}

#[test]
fn a_gain_above_one_is_seen_when_the_spread_makes_it() {
    let panel = panel("spread-by-state", 400, Stream::new(47));
    let (additive, scale) = (fit(&panel, &FitSettings::default()).unwrap(), chosen(&panel));
    assert!(scale.noise().is_some());
    assert!(scale.gain() > additive.gain() + 0.05, "{} and {}", scale.gain(), additive.gain());
}
