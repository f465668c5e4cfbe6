//! The figures, by the report's own drawing code.

use super::tables::WORLDS;
use super::{Files, Sources};
use crate::report::Figure;
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
    files.extend(super::rates::figures(results, HALF));
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
