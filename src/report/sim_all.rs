//! `fig:sim_all`: what the paper shows, and three things beside it.

use super::number::{plain, with_bounds, with_interval};
use super::plot::SIZE;
use super::sim_all_panels::Panels;
use super::{Section, Table};
use crate::kernel::numeric::Estimate;
use crate::reproduction::summary::rate;
use crate::reproduction::{Learner, Method, PaperWorld, Record, Scale};

/// The section; `optimum` gives (J*CF, J*Full) of a world at the figure's δ where they are known.
pub fn sim_all(records: &[Record], scale: &Scale, optimum: &dyn Fn(PaperWorld) -> Option<(f64, f64)>) -> Section {
    let worlds = [PaperWorld::Linear, PaperWorld::Nonlinear].map(|world| Panels { records, scale, world, size: SIZE });
    let mut section = Section {
        label: "fig:sim_all".into(),
        title: "Two worlds with a known mechanism".into(),
        command: format!("counterfair reproduce --only fig:sim_all --seeds {}", scale.seeds),
        paper: [
            "Oracle and Random are perfectly fair; Full and Unaware are not; the CF metric of Ours is low and falls with N.",
            "Full has the largest value; what is fair is worth less.",
            "The CF metric of Full and Unaware grows with δ; that of Ours stays small.",
        ]
        .map(String::from)
        .to_vec(),
        ..Section::default()
    };
    let letters = [['a', 'b', 'c'], ['d', 'e', 'f']];
    for (panels, [a, b, c]) in worlds.iter().zip(letters) {
        section.figures.push(panels.unfairness_over_size(a));
        section.figures.push(panels.value_over_unfairness(b));
        section.figures.push(panels.unfairness_over_strength(c));
        section.tables.push(methods_table(panels));
        section.seen.extend(observations(panels));
    }
    for (panels, letter) in worlds.iter().zip(['g', 'h']) {
        section.figures.push(panels.long_values(letter, optimum(panels.world)));
    }
    section.tables.push(regret_table(&worlds, optimum));
    if scale.learner != Learner::Neural {
        section.seen.push(
            "Means and action values are fitted by least squares here, by networks in the paper: `counterfair reproduce --only table:learners` \
             puts both side by side."
                .into(),
        );
    }
    section
}

/// Every method at the figure's N and δ.
fn methods_table(panels: &Panels) -> Table {
    let Panels { scale, world, .. } = panels;
    let caption = format!(
        "The {world} world at δ = {}, N = {}, T = {}; {} people followed for {} decisions, {} seeds. Mean ± 95 % interval over seeds.",
        scale.strength, scale.size, scale.horizon, scale.evaluation_people, scale.evaluation_horizon, scale.seeds
    );
    let mut table = Table::new(&caption, 1, ["method", "CF metric", "value"]);
    let mixtures = scale.weights.iter().map(|&w| Method::Mixture(w));
    for method in Method::PAPER.into_iter().chain([Method::TrueMeans, Method::KnownForm]).chain(mixtures) {
        if let Some(point) = panels.at_center(method) {
            table.push([method.title(), with_interval(point.unfairness, 4), with_interval(point.value, 3)]);
        }
    }
    table
}

/// Regret over a long horizon, with the effect of stopping early beside it.
fn regret_table(worlds: &[Panels; 2], optimum: &dyn Fn(PaperWorld) -> Option<(f64, f64)>) -> Table {
    let scale = worlds[0].scale;
    let caption = format!(
        "Beyond the paper: values at δ = {} over {} decisions, as in the paper, and over {}; J*CF is the best fair value over an endless \
         horizon, J*Full the best of all. γ^{} = {} of the weight lies beyond the paper's horizon.",
        scale.strength,
        scale.evaluation_horizon,
        scale.long_horizon,
        scale.evaluation_horizon,
        plain(crate::reproduction::DISCOUNT.powi(scale.evaluation_horizon as i32), 3)
    );
    let short = format!("value, {}", scale.evaluation_horizon);
    let long = format!("value, {}", scale.long_horizon);
    let columns = ["world", "method", "N", &short, &long, "J*CF", "J*Full", "regret to J*CF"];
    let mut table = Table::new(&caption, 2, columns);
    for panels in worlds {
        let best = optimum(panels.world);
        for method in [Method::Full, Method::Oracle, Method::Ours] {
            for point in panels.over_size(method) {
                let regret = best.map_or("–".into(), |(fair, _)| {
                    let mean = fair - point.long_value.mean;
                    with_interval(Estimate { mean, ..point.long_value }, 3)
                });
                table.push([
                    panels.world.to_string(),
                    method.title(),
                    plain(point.at, 0),
                    with_interval(point.value, 3),
                    with_interval(point.long_value, 3),
                    best.map_or("–".into(), |(fair, _)| plain(fair, 4)),
                    best.map_or("–".into(), |(_, full)| plain(full, 4)),
                    regret,
                ]);
            }
        }
    }
    table
}

/// What the numbers say, in sentences made from them.
fn observations(panels: &Panels) -> Vec<String> {
    let world = panels.world;
    let mut seen = Vec::new();
    for (method, class) in [
        (Method::Ours, "means smoothed by splines; for curved means theory promises −2/5"),
        (Method::KnownForm, "means fitted in a class that contains the truth; theory promises −1/2"),
    ] {
        let name = method.title();
        match rate(panels.records, method, panels.by_size()) {
            Ok(fit) => {
                let holds = fit.interval.0 <= -0.5 && -0.5 <= fit.interval.1;
                seen.push(format!(
                    "{world}: the CF metric of {name} falls like N to the power {}; the 95 % interval {} −1/2 ({class}).",
                    with_bounds(fit.slope, fit.interval, 3),
                    if holds { "contains" } else { "does not contain" }
                ));
            }
            Err(reason) => seen.push(format!("{world}: no rate for {name} ({reason}).")),
        }
    }
    let zero = |method| {
        let points = panels.over_size(method).into_iter().chain(panels.over_strength(method));
        let largest = points.map(|p| p.unfairness.mean).fold(0.0, f64::max);
        if largest == 0.0 { "exactly 0".into() } else { format!("at most {}", plain(largest, 6)) }
    };
    let (oracle, random): (String, String) = (zero(Method::Oracle), zero(Method::Random));
    seen.push(format!("{world}: the CF metric is {oracle} for Oracle and {random} for Random, at every N and δ."));
    let gap = panels
        .over_size(Method::TrueMeans)
        .iter()
        .zip(panels.over_size(Method::Oracle))
        .map(|(a, b)| (a.value.mean - b.value.mean).abs())
        .fold(0.0, f64::max);
    seen.push(format!(
        "{world}: Ours with true means and Oracle differ in value by {}.",
        if gap == 0.0 { "nothing at all".into() } else { format!("at most {gap:.1e}") }
    ));
    let not_learned: usize = panels.over_size(Method::Ours).iter().map(|p| p.missing).sum();
    if not_learned > 0 {
        seen.push(format!(
            "{world}: Ours could not be learned in {not_learned} cells, which are left out of its means."
        ));
    }
    seen
}
