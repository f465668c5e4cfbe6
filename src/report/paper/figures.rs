//! The figures, by the report's own drawing code.

use super::rates::rates;
use super::tables::WORLDS;
use super::{Files, Sources};
use crate::kernel::numeric::Estimate;
use crate::report::Figure;
use crate::report::plot::{Axis, BLUE, Chart, GREEN, Ink, Marker, ORANGE, Series, Span, VERMILION};
use crate::report::real_data::action_shares;
use crate::report::regret_panels::RegretPanels;
use crate::report::semi::semi_at;
use crate::report::sim_all_panels::Panels;
use crate::reproduction::{Label, PaperWorld, Record, Scale};

/// Pixels of a chart that stands beside two others: its text is then about as large as a caption's.
const THIRD: (u32, u32) = (330, 262);
/// Pixels of a chart that stands beside one other.
const HALF: (u32, u32) = (390, 270);

/// Every figure as `name.svg`.
pub(super) fn figures(sources: &Sources) -> Files {
    let Sources { results, studies, scale, .. } = sources;
    let mut figures: Vec<Figure> = Vec::new();
    if !results.sim_all.is_empty() {
        figures.extend(sim_all(&results.sim_all, scale));
        for (world, letter) in WORLDS.into_iter().zip(['g', 'h']) {
            let panels = Panels { records: &results.sim_all, scale, world, size: HALF };
            figures.push(panels.long_values(letter, super::numbers::optimum_at(results, world, scale.strength)));
        }
    }
    if let Some(scale) = results.stable_scale() {
        let stable = sim_all(&results.stable, scale);
        figures.extend(stable.into_iter().map(|f| Figure { name: f.name.replace("sim_all", "sim_all_stable"), ..f }));
    }
    let regret_scale = results.scale(Label::Regret);
    if !results.regret.is_empty() {
        let letters = [['a', 'b', 'c'], ['d', 'e', 'f']];
        for (panels, [a, b, c]) in super::tables::regret_panels(results, &regret_scale).into_iter().zip(letters) {
            let panels = RegretPanels { size: HALF, ..panels };
            figures.extend([panels.by_method(a), panels.three_laws(b), panels.in_error(c)]);
        }
    }
    for study in *studies {
        figures.extend(semi_at(&results.semi, &results.scale(Label::Semi), study, HALF).figures);
        if !study.is_simulated() {
            let shares = |attribute| action_shares(&results.splits, study, attribute, THIRD.0);
            figures.extend(study.attributes().filter_map(shares));
        }
    }
    let mut files: Files = figures.into_iter().map(|f| (format!("{}.svg", f.name), f.svg)).collect();
    files.insert("rates.svg".into(), end_to_end(sources).svg_at(HALF.0, HALF.1));
    files
}

/// The six panels that the source shows.
fn sim_all(records: &[Record], scale: &Scale) -> Vec<Figure> {
    let worlds = WORLDS.into_iter().zip([['a', 'b', 'c'], ['d', 'e', 'f']]);
    let of_a_world = |(world, [a, b, c]): (PaperWorld, [char; 3])| {
        let panels = Panels { records, scale, world, size: THIRD };
        [panels.unfairness_over_size(a), panels.value_over_unfairness(b), panels.unfairness_over_strength(c)]
    };
    worlds.flat_map(of_a_world).collect()
}

/// The whole method on the circle bed: four errors against N.
fn end_to_end(sources: &Sources) -> Chart {
    let inks =
        [(BLUE, Marker::Disc), (VERMILION, Marker::Square), (GREEN, Marker::Diamond), (ORANGE, Marker::Triangle)];
    let laws = rates(sources.results).into_iter().filter(|rate| rate.label == "rate:end-to-end");
    let series: Vec<Series> = laws
        .zip(inks)
        .map(|(rate, (color, marker))| {
            let count = rate.law.runs / rate.law.sizes.len().max(1);
            let each = rate.law.sizes.iter().zip(&rate.law.means).zip(&rate.law.standard_errors);
            let estimate = |mean, standard_error| Span::of(Estimate { mean, standard_error, count });
            let points = each.map(|((&size, &mean), &error)| (Span::exact(size), estimate(mean, error))).collect();
            Series { name: brief(rate.quantity).into(), ink: Ink { color, marker, dashed: false }, points }
        })
        .collect();
    let ticks: Vec<f64> = series.first().map_or(vec![], |s| s.points.iter().step_by(2).map(|p| p.0.mean).collect());
    Chart {
        title: "bed:circle, from data to policy".into(),
        x: Axis::log("N, people in the data").with_ticks(ticks),
        y: Axis::log("mean over seeds"),
        series,
        references: vec![],
    }
}

/// A quantity in as few letters as the end of a line has room for.
fn brief(quantity: &str) -> &str {
    match quantity {
        "the error of counterfactual states" => "error of states",
        "unfairness at t = 1" => "unfairness",
        other => other,
    }
}
