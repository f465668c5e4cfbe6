//! `fig:semi`: a study's dynamics with the states of one group moved.

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
            title: format!("{attribute}{}", if study.is_simulated() { " (simulated)" } else { "" }),
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
        let [full, unaware, ours, ..] = methods.map(words);
        section.seen.push(format!("{attribute}, from the least to the largest η: {full}; {unaware}; {ours}."));
        let svg = chart.svg_at(size.0, size.1);
        section.figures.push(figure(&safe_name(&format!("semi_{attribute}")), svg, &caption, &curves, "eta"));
    }
    section
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Grid, Label, Origin};

    /// A study that nobody drew says nothing of simulation, and one that was drawn says so wherever it is shown.
    #[test]
    fn only_a_simulated_study_is_called_simulated() {
        let drawn = Study::stand_in();
        let attribute = drawn
            .attribute("gender")
            .or_else(|| drawn.attribute(drawn.attributes().next()?))
            .expect("an attribute")
            .clone();
        let panel = drawn.panel(&attribute.name).expect("its own attribute");
        let scale = Scale { seeds: 1, ..Scale::quick() };
        let cells =
            Grid::new(&[Label::Semi], scale.clone(), std::slice::from_ref(&drawn)).cells(std::slice::from_ref(&drawn));
        let records: Vec<Record> = cells.into_iter().map(|cell| Record { cell, results: vec![] }).collect();
        let observed = Study::new("observed", Origin::File, "Read from a file.", &[], vec![attribute], panel);
        let (drawn, observed) = (semi(&records, &scale, &drawn), semi(&records, &scale, &observed));
        assert!(drawn.warning.to_lowercase().contains("simulated"), "{}", drawn.warning);
        assert_eq!(observed.warning, "");
        assert!(observed.figures.is_empty(), "there are no cells about it");
    }
}
