//! The stable learner beside the paper's plain quadratic: regret and CF metric in the paper's worlds.

use counterfair::kernel::evaluate::evaluate;
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{
    Agent, Coordinates, Deployed, Greedy, Outcome, Settings, StableSettings, fitted_q_iteration, stable_fitted_q,
};
use counterfair::kernel::model::fitted::{Basis, FitSettings, Pooling, fit};
use counterfair::kernel::model::worlds::{Linear, Nonlinear, World};
use counterfair::kernel::model::{Exogenous, simulate};
use counterfair::kernel::numeric::{Estimate, Stream};
use counterfair::kernel::preprocess::{Augmented, Oracle, Preprocessor, Sequential, batch};
use counterfair::theory::RegretMeter;
use counterfair::theory::optimum::PaperWorld;
use rayon::prelude::*;

const DISCOUNT: f64 = 0.9;

/// A policy learned through a preprocessor, by the plain quadratic (`None`) or the stable learner.
fn learned<P: Preprocessor<View = Augmented> + Clone + 'static>(
    preprocessor: &P,
    weights: &[f64],
    panel: &counterfair::kernel::data::Panel,
    settings: Option<&StableSettings>,
) -> (Box<dyn Agent>, Outcome, usize, f64) {
    let experience = batch(preprocessor, panel).unwrap();
    match settings {
        None => {
            let features = Polynomial::for_rows(experience.views(), weights.len(), 1, 2).unwrap();
            let fitted = fitted_q_iteration(&experience, &features, Settings::default()).unwrap();
            (Box::new(Deployed::new(preprocessor.clone(), Greedy(fitted.q))), fitted.outcome, 2, 0.0)
        }
        Some(settings) => {
            let fitted = stable_fitted_q(&experience, Coordinates::Worlds { weights }, settings).unwrap();
            let agent = Box::new(Deployed::new(preprocessor.clone(), Greedy(fitted.q)));
            (agent, fitted.outcome, fitted.contrast_degree, fitted.design_effect)
        }
    }
}

#[derive(Clone, Copy)]
struct Row {
    regret: f64,
    metric: f64,
    degree: f64,
    effect: f64,
    converged: bool,
}

fn replicate<W: World + Clone + 'static>(
    world: &W,
    meter: &RegretMeter,
    people: usize,
    seed: u64,
    variants: &[Option<StableSettings>],
    estimated: bool,
) -> Vec<Row> {
    let stream = Stream::new(seed).named("stable learner").index(people as u64);
    let panel = simulate(world, &Exogenous::draw(world, people, 10, stream.named("train")));
    let (followed, metric_people) = if people >= 1000 { (6000, 4000) } else { (2000, 2000) };
    let test = Exogenous::draw(world, followed, 60, stream.named("test"));
    let short = Exogenous::draw(world, metric_people, 20, stream.named("test"));
    let means = estimated.then(|| {
        let settings = FitSettings {
            basis: Basis::Spline,
            pooling: Pooling::Chosen,
            stream: stream.named("means"),
            ..FitSettings::default()
        };
        std::sync::Arc::new(fit(&panel, &settings).unwrap())
    });
    variants
        .iter()
        .map(|settings| {
            let (agent, outcome, degree, effect) = match &means {
                None => {
                    let weights = world.level_probabilities().to_vec();
                    learned(&Oracle::new(world.clone(), weights.clone()), &weights, &panel, settings.as_ref())
                }
                Some(means) => {
                    let weights = panel.level_shares();
                    let preprocessor = Sequential::new(means.clone(), weights.clone());
                    learned(&preprocessor, &weights, &panel, settings.as_ref())
                }
            };
            Row {
                regret: meter.measure(&*agent, &test).regret.mean,
                metric: evaluate(world, &*agent, &short, DISCOUNT).unfairness.metric.mean,
                degree: degree as f64,
                effect,
                converged: matches!(outcome, Outcome::Converged { .. }),
            }
        })
        .collect()
}

fn cell(
    kind: PaperWorld,
    people: usize,
    seeds: u64,
    variants: &[Option<StableSettings>],
    estimated: bool,
) -> Vec<Vec<Row>> {
    let meter = RegretMeter::new(kind, 1.0, DISCOUNT).unwrap();
    (0..seeds)
        .into_par_iter()
        .map(|seed| match kind {
            PaperWorld::Linear => replicate(&Linear::new(1.0), &meter, people, seed, variants, estimated),
            PaperWorld::Nonlinear => replicate(&Nonlinear::new(1.0), &meter, people, seed, variants, estimated),
        })
        .collect()
}

#[test]
#[ignore = "minutes"]
fn scratch() {
    use counterfair::kernel::learn::Contrast;
    let d = StableSettings::default();
    let variants = [
        ("plain", None),
        ("default", Some(d)),
        ("factor 1", Some(StableSettings { deviation_factor: 1.0, ..d })),
        ("factor 1000", Some(StableSettings { deviation_factor: 1000.0, ..d })),
        ("c=1", Some(StableSettings { contrast: Contrast::Degree(1), ..d })),
        ("c=2", Some(StableSettings { contrast: Contrast::Degree(2), ..d })),
    ];
    let only: Vec<_> = variants.iter().map(|v| v.1).collect();
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(or);
    for kind in [PaperWorld::Linear, PaperWorld::Nonlinear] {
        for estimated in [false, true] {
            for people in std::env::var("NS").unwrap_or("100,500".into()).split(',').map(|n| n.parse().unwrap()) {
                let start = std::time::Instant::now();
                let rows = cell(kind, people, number("SEEDS", 24), &only, estimated);
                for (v, (name, _)) in variants.iter().enumerate() {
                    let of = |f: &dyn Fn(&Row) -> f64| Estimate::of(&rows.iter().map(|r| f(&r[v])).collect::<Vec<_>>());
                    let (regret, metric) = (of(&|r| 1000.0 * r.regret), of(&|r| r.metric));
                    println!(
                        "{kind:?} estimated={estimated} N={people} {name:>12}: regret {:8.2} ± {:6.2}  metric {:.4} ± {:.4} degree {:.2} effect {:.2} conv {:.2}",
                        regret.mean,
                        regret.standard_error,
                        metric.mean,
                        metric.standard_error,
                        of(&|r| r.degree).mean,
                        of(&|r| r.effect).mean,
                        of(&|r| f64::from(u8::from(r.converged))).mean
                    );
                }
                println!("  {:?}", start.elapsed());
            }
        }
    }
}
