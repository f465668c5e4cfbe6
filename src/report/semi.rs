//! `fig:semi`: a study's dynamics with the states of one group moved.

use super::finding::{Agreement, Finding};
use super::plot::{Axis, Chart, SIZE};
use super::sim_all_panels::{figure, unfairness_series};
use super::{Section, safe_name};
use crate::reproduction::summary::curve;
use crate::reproduction::{Cell, Method, Record, Scale, Study};

/// The section of one study.
pub fn semi(records: &[Record], scale: &Scale, study: &Study) -> Section {
    semi_at(records, scale, study, SIZE)
}

/// The same with charts of another size.
pub(super) fn semi_at(records: &[Record], scale: &Scale, study: &Study, size: (u32, u32)) -> Section {
    let simulated = if study.is_simulated() { ", fitted to a SIMULATED study" } else { "" };
    let mut section = Section {
        label: "fig:semi".into(),
        title: "Semi-synthetic: a fitted generative model".into(),
        warning: if study.is_simulated() { study.description().into() } else { String::new() },
        command: format!("counterfair reproduce --only fig:semi --seeds {}", scale.seeds),
        paper: [
            "Full is very unfair whatever η; Unaware becomes less fair as η grows; Ours is fairer than both.",
            "What is left of the unfairness of Ours is error in the counterfactual states: the Oracle has none.",
        ]
        .map(String::from)
        .to_vec(),
        ..Section::default()
    };
    section.seen.push(
        "The paper does not say which group η moves. Both signs are shown, because the answer depends on it: where η moves the groups' states \
         towards each other, Unaware can become fairer instead of less fair."
            .into(),
    );
    let methods = [Method::Full, Method::Unaware, Method::Ours, Method::Oracle, Method::Random];
    let (mut points, mut fairest) = (0, 0);
    for attribute in study.attributes() {
        let at = |cell: &Cell| match cell {
            Cell::SemiSynthetic(c) if c.study == study.name() && c.attribute == attribute => Some(c.shift),
            _ => None,
        };
        let curves = methods.map(|m| (m, curve(records, m, at))).to_vec();
        if curves[0].1.is_empty() {
            continue;
        }
        let chart = Chart {
            title: format!("{attribute}{}", simulated_word(study)),
            x: Axis::linear("η, added to the states of one group").with_ticks(scale.shifts.iter().copied()),
            y: Axis::linear("CF metric").from_zero(),
            series: curves.iter().map(|(m, points)| unfairness_series(*m, points)).collect(),
            references: vec![],
        };
        let caption = format!(
            "CF metric against η for {attribute}; N = {}, T = {}, {} seeds; nets of [32, 32] for each level{simulated}.",
            scale.semi_people, scale.semi_horizon, scale.seeds
        );
        let words = |m: Method| {
            let points = curves.iter().find(|(c, _)| *c == m).map_or(&[][..], |(_, points)| points);
            let means: Vec<String> = points.iter().map(|p| format!("{:.2}", p.unfairness.mean)).collect();
            format!("{} {}", m.title(), means.join(" → "))
        };
        for ((full, unaware), ours) in curves[0].1.iter().zip(&curves[1].1).zip(&curves[2].1) {
            points += 1;
            fairest += usize::from(ours.unfairness.mean < full.unfairness.mean.min(unaware.unfairness.mean));
        }
        let [full, unaware, ours, ..] = methods.map(words);
        section.seen.push(format!("{attribute}, from the least to the largest η: {full}; {unaware}; {ours}."));
        let svg = chart.svg_at(size.0, size.1);
        section.figures.push(figure(&safe_name(&format!("semi_{attribute}")), svg, &caption, &curves, "eta"));
    }
    if points > 0 {
        section.findings.push(Finding {
            asked: format!("Ours fairer than Full and Unaware, at each attribute and η{}", simulated_word(study)),
            found: format!("at {fairest} of {points}"),
            paper: "at all (figure)".into(),
            agreement: Agreement::if_true(fairest == points),
        });
    }
    section
}

fn simulated_word(study: &Study) -> &'static str {
    if study.is_simulated() { " (simulated)" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::numeric::Estimate;
    use crate::reproduction::{Grid, Label, Measured, MethodOutcome, MethodResult, Origin};

    /// Records of made-up numbers about a study called `name`.
    fn records(scale: &Scale, drawn: &Study, name: &str) -> Vec<Record> {
        let studies = std::slice::from_ref(drawn);
        let cells = Grid::new(&[Label::Semi], scale.clone(), studies).cells(studies);
        let estimate = Estimate { mean: 0.25, standard_error: 0.0, count: 1 };
        let (unfairness, value) = (estimate, estimate);
        let (long_value, fair, gained, regret) = (None, None, None, None);
        let measured = Measured { unfairness, value, long_value, fair, gained, regret, shares: vec![], learning: None };
        let result = |method| MethodResult { method, outcome: MethodOutcome::Evaluated(measured.clone()) };
        let about = |mut cell: Cell| {
            if let Cell::SemiSynthetic(c) = &mut cell {
                c.study = name.into();
            }
            let results = cell.methods().iter().copied().map(result).collect();
            Record { cell, results }
        };
        cells.into_iter().map(about).collect()
    }

    /// A study that nobody drew says nothing of simulation, and one that was drawn says so wherever it is shown.
    #[test]
    fn only_a_simulated_study_is_called_simulated() {
        let (drawn, scale) = (Study::stand_in(), Scale { seeds: 1, ..Scale::quick() });
        let name = drawn.attributes().next().expect("an attribute").to_string();
        let (attribute, panel) =
            (drawn.attribute(&name).expect("its own").clone(), drawn.panel(&name).expect("its own"));
        let observed = Study::new("observed", Origin::File, "Read from a file.", &[], vec![attribute], panel);
        let said = |section: &Section| {
            let figure = &section.figures[0];
            [&section.warning, &figure.caption, &figure.svg].map(|text| text.to_lowercase().contains("simulated"))
        };
        assert_eq!(said(&semi(&records(&scale, &drawn, drawn.name()), &scale, &drawn)), [true; 3]);
        assert_eq!(said(&semi(&records(&scale, &drawn, "observed"), &scale, &observed)), [false; 3]);
    }
}
