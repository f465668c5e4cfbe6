//! `table:learners`: what changes when the paper's networks take the place of least squares.

use super::number::{plain, tick, with_interval};
use super::{Section, Table};
use crate::kernel::numeric::Estimate;
use crate::reproduction::summary::CONFIDENCE;
use crate::reproduction::{Cell, Learner, Measured, Method, PaperWorld, Record, Scale, Synthetic};
use std::collections::{BTreeMap, BTreeSet};

/// Those that learn something; "known form" learns its action values only, and so tells errors of means from errors of action values.
const METHODS: [Method; 5] = [Method::Full, Method::Unaware, Method::Oracle, Method::Ours, Method::KnownForm];

/// What is compared: its name, what a cell says of it, and the decimals that its uncertainty allows.
type Quantity = (&'static str, fn(&Measured) -> f64, usize);
const QUANTITIES: [Quantity; 2] = [("CF metric", |m| m.unfairness.mean, 4), ("value", |m| m.value.mean, 3)];

/// One quantity of one method, by both learners from the same panels and followed on the same draws.
struct Compared {
    world: PaperWorld,
    people: usize,
    method: Method,
    quantity: Quantity,
    least_squares: Estimate,
    networks: Estimate,
    /// Networks less least squares, panel by panel.
    difference: Estimate,
}

impl Compared {
    /// Whether the interval of the difference leaves 0 out.
    fn differ(&self) -> bool {
        let (low, high) = self.difference.interval(CONFIDENCE);
        low > 0.0 || high < 0.0
    }

    /// Whether chance could make them differ: what is exactly 0 by both learners is not a comparison.
    fn may_differ(&self) -> bool {
        self.difference.count > 1 && self.difference.standard_error > 0.0
    }
}

/// The section, from whatever cells of the scale's δ and T were done by both learners; `None` when there are none.
pub fn learners(records: &[Record], scale: &Scale) -> Option<Section> {
    let compared = compare(records, scale);
    if compared.is_empty() {
        return None;
    }
    let networks = records.iter().filter(|record| record.cell.learner() == Learner::Neural);
    let seeds = networks.map(|record| record.cell.seed()).max().unwrap_or(0);
    let mut section = Section {
        label: "table:learners".into(),
        title: "Two learners: least squares and the paper's networks".into(),
        command: format!("counterfair reproduce --only table:learners --seeds {seeds}"),
        paper: vec![
            "The paper fits means by networks of [64, 64] and action values by networks of [32] (supplement F.1); least squares is ours."
                .into(),
        ],
        ..Section::default()
    };
    let worlds: BTreeSet<PaperWorld> = compared.iter().map(|c| c.world).collect();
    section.tables.extend(worlds.into_iter().map(|world| table(&compared, scale, world)));
    section.seen = observations(&compared);
    Some(section)
}

/// How often the learners were compared, and how often their difference is not put down to chance.
pub(super) struct Tally {
    /// How many panels both learned from, in words.
    pub panels: String,
    pub comparisons: usize,
    pub differing: usize,
    /// How many would differ if nothing did.
    pub by_chance: String,
}

/// Differences side by side, both worlds in one table, for a page that has no room for more.
pub(super) fn differences(records: &[Record], scale: &Scale) -> (Table, Tally) {
    let compared = compare(records, scale);
    let columns = ["N", "method", "CF metric, linear", "value, linear", "CF metric, non-linear", "value, non-linear"];
    let mut table = Table::new("", 2, columns);
    let sizes: BTreeSet<usize> = compared.iter().map(|c| c.people).collect();
    for people in sizes {
        for method in METHODS {
            let cell = |world: PaperWorld, (name, _, decimals): Quantity| {
                let here = |c: &&Compared| (c.world, c.people, c.method, c.quantity.0) == (world, people, method, name);
                compared.iter().find(here).map_or("–".into(), |c| marked(c, decimals))
            };
            let cells =
                [PaperWorld::Linear, PaperWorld::Nonlinear].into_iter().flat_map(|w| QUANTITIES.map(|q| cell(w, q)));
            table.push([tick(people as f64), method.title()].into_iter().chain(cells));
        }
    }
    (table, tally(&compared))
}

fn tally(compared: &[Compared]) -> Tally {
    let comparisons = compared.iter().filter(|c| c.may_differ()).count();
    Tally {
        panels: panels(compared.iter()),
        comparisons,
        differing: compared.iter().filter(|c| c.may_differ() && c.differ()).count(),
        by_chance: plain(comparisons as f64 * (1.0 - CONFIDENCE), 1),
    }
}

/// `5 panels`, or `10 panels at N = 100, 5 at N = 1 000` where it is not the same number for every N.
fn panels<'a>(compared: impl Iterator<Item = &'a Compared>) -> String {
    let mut counts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for c in compared {
        counts.entry(c.people).or_default().insert(c.difference.count);
    }
    let span = |counts: &BTreeSet<usize>| match (counts.first(), counts.last()) {
        (Some(low), Some(high)) if low < high => format!("{low} to {high}"),
        (Some(only), _) => only.to_string(),
        _ => "0".into(),
    };
    let spans: Vec<(usize, String)> = counts.iter().map(|(people, counts)| (*people, span(counts))).collect();
    match &spans[..] {
        [] => "0 panels".into(),
        [(_, first), others @ ..] if others.iter().all(|(_, other)| other == first) => format!("{first} panels"),
        [(people, first), others @ ..] => {
            let rest = others.iter().map(|(people, count)| format!(", {count} at N = {}", tick(*people as f64)));
            format!("{first} panels at N = {}{}", tick(*people as f64), rest.collect::<String>())
        }
    }
}

/// The difference with its interval, and a star where that leaves 0 out.
fn marked(compared: &Compared, decimals: usize) -> String {
    with_interval(compared.difference, decimals) + if compared.differ() { " *" } else { "" }
}

/// Every method at every N that has cells by both learners at the scale's δ and T, in the order of the tables.
fn compare(records: &[Record], scale: &Scale) -> Vec<Compared> {
    // What makes a panel and the draws on which policies are followed: all of the cell but its learner.
    let panel = |c: &Synthetic| (c.world, c.people, c.seed, c.evaluation_people, c.evaluation_horizon);
    let mut pairs = BTreeMap::new();
    for record in records {
        let Cell::Synthetic(cell) = &record.cell else { continue };
        if (cell.strength, cell.horizon) != (scale.strength, scale.horizon) {
            continue;
        }
        let pair: &mut [Option<&Record>; 2] = pairs.entry(panel(cell)).or_default();
        match cell.learner {
            Learner::LeastSquares => pair[0] = Some(record),
            Learner::Neural => pair[1] = Some(record),
            Learner::Quadratic | Learner::Stable | Learner::Quartic => {}
        }
    }
    let both: Vec<_> =
        pairs.into_iter().filter_map(|(key, [one, other])| Some(((key.0, key.1), one?, other?))).collect();
    let settings: BTreeSet<(PaperWorld, usize)> = both.iter().map(|(setting, ..)| *setting).collect();
    let mut compared = Vec::new();
    for (world, people) in settings {
        for method in METHODS {
            for quantity in QUANTITIES {
                let here = both.iter().filter(|(setting, ..)| *setting == (world, people));
                let numbers: Vec<(f64, f64)> = here
                    .filter_map(|(_, one, other)| {
                        Some((quantity.1(one.measured(method)?), quantity.1(other.measured(method)?)))
                    })
                    .collect();
                let over = |of: fn(&(f64, f64)) -> f64| Estimate::of(&numbers.iter().map(of).collect::<Vec<_>>());
                let (least_squares, networks, difference) = (over(|n| n.0), over(|n| n.1), over(|n| n.1 - n.0));
                compared.push(Compared { world, people, method, quantity, least_squares, networks, difference });
            }
        }
    }
    compared
}

fn table(compared: &[Compared], scale: &Scale, world: PaperWorld) -> Table {
    let here = |c: &&Compared| c.world == world;
    let panels = panels(compared.iter().filter(here));
    let caption = format!(
        "The {world} world at δ = {}, T = {}: least squares, networks, and networks less least squares on the same {panels}. \
         Mean ± 95 % interval over panels; * where the interval of the difference leaves 0 out.",
        scale.strength, scale.horizon
    );
    let columns = ["N", "method", "quantity", "least squares", "networks", "difference"];
    let mut table = Table::new(&caption, 3, columns);
    for c in compared.iter().filter(here) {
        let (name, _, decimals) = c.quantity;
        table.push([
            tick(c.people as f64),
            c.method.title(),
            name.into(),
            with_interval(c.least_squares, decimals),
            with_interval(c.networks, decimals),
            marked(c, decimals),
        ]);
    }
    table
}

/// Where they differ, in sentences made from the numbers.
fn observations(compared: &[Compared]) -> Vec<String> {
    let Tally { comparisons, differing: count, by_chance, .. } = tally(compared);
    let mut seen = vec![format!(
        "Of {comparisons} comparisons, {count} have a difference whose 95 % interval leaves 0 out; chance alone would give {by_chance}."
    )];
    let differing: Vec<&Compared> = compared.iter().filter(|c| c.may_differ() && c.differ()).collect();
    for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
        for (name, _, decimals) in QUANTITIES {
            let of = |higher: bool| {
                let here = differing.iter().filter(|c| c.world == world && c.quantity.0 == name);
                here.filter(|c| (c.difference.mean > 0.0) == higher)
                    .map(|c| {
                        let by = with_interval(Estimate { mean: c.difference.mean.abs(), ..c.difference }, decimals);
                        format!("{} at N = {} (by {by})", c.method.title(), tick(c.people as f64))
                    })
                    .collect::<Vec<_>>()
            };
            for (word, list) in [("higher", of(true)), ("lower", of(false))] {
                if !list.is_empty() {
                    seen.push(format!("{world}: with networks the {name} is {word} for {}.", list.join(", ")));
                }
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Label, MethodOutcome, MethodResult};

    /// Results in which networks add `shift(method)` to the CF metric and twice that to the value, with a little spread over seeds.
    /// Beside them stand cells that must not be compared: of another δ by both learners, and by least squares with fewer people followed.
    fn records(shift: impl Fn(Method) -> f64) -> (Vec<Record>, Scale) {
        let scale = Scale { learner_sizes: vec![100, 1000], learner_seeds: 5, ..Scale::quick() };
        let exact = |mean: f64| Estimate { mean, standard_error: 0.0, count: 9 };
        let other = |learner| Scale { strengths: vec![2.0], sizes: vec![], seeds: 3, learner, ..scale.clone() };
        let quick = Scale { evaluation_people: 50, learner: Learner::LeastSquares, ..scale.clone() };
        let mut cells = scale.cells(&[Label::Learners], &[]);
        for others in [other(Learner::LeastSquares), other(Learner::Neural), quick] {
            cells.extend(others.cells(&[Label::SimAll], &[]));
        }
        let record = |cell: Cell| {
            let Cell::Synthetic(c) = &cell else { unreachable!("only simulations were asked for") };
            let result = |&method: &Method| {
                let added = if c.learner == Learner::Neural { shift(method) } else { 0.0 };
                let wobble = if c.learner == Learner::Neural { 1e-3 * (c.seed as f64 - 3.0) } else { 0.0 };
                let elsewhere = if c.strength == 1.0 && c.evaluation_people == 2000 { 0.0 } else { 100.0 };
                let base = c.people as f64 / 1e4 + c.seed as f64 + elsewhere;
                let (unfairness, value) = (exact(base + added + wobble), exact(7.0 * base + 2.0 * added + wobble));
                let measured = Measured {
                    unfairness,
                    value,
                    long_value: None,
                    fair: None,
                    gained: None,
                    regret: None,
                    shares: vec![],
                    learning: None,
                };
                MethodResult { method, outcome: MethodOutcome::Evaluated(measured) }
            };
            let results = c.methods.iter().map(result).collect();
            Record { cell, results }
        };
        (cells.into_iter().map(record).collect(), scale)
    }

    #[test]
    fn differences_are_taken_panel_by_panel_and_told_by_name() {
        let (mut records, scale) = records(|m| if m == Method::Unaware { -0.25 } else { 0.0 });
        let section = learners(&records, &scale).expect("cells by both");
        records.reverse();
        assert_eq!(learners(&records, &scale).as_ref(), Some(&section), "whatever order cells come in");
        assert_eq!(
            (section.tables.len(), section.command.as_str()),
            (2, "counterfair reproduce --only table:learners --seeds 5")
        );
        // Base values 1 … 5 spread by t₄ · √(2.5/5) = 1.9632, and by a thousandth more with networks: only pairs can see a quarter.
        let markdown = section.tables[0].markdown();
        let rows: Vec<String> = markdown.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for row in [
            "| 100 | Unaware | CF metric | 3.0100 ± 1.9632 | 2.7600 ± 1.9652 | −0.2500 ± 0.0020 * |",
            "| 100 | Full | CF metric | 3.0100 ± 1.9632 | 3.0100 ± 1.9652 | 0.0000 ± 0.0020 |",
        ] {
            assert!(rows.iter().any(|r| r == row), "{row} is not in\n{markdown}");
        }
        assert_eq!(
            section.seen,
            [
                "Of 40 comparisons, 8 have a difference whose 95 % interval leaves 0 out; chance alone would give 2.0.",
                "linear: with networks the CF metric is lower for Unaware at N = 100 (by 0.2500 ± 0.0020), Unaware at N = 1\u{2009}000 (by 0.2500 ± 0.0020).",
                "linear: with networks the value is lower for Unaware at N = 100 (by 0.500 ± 0.002), Unaware at N = 1\u{2009}000 (by 0.500 ± 0.002).",
                "nonlinear: with networks the CF metric is lower for Unaware at N = 100 (by 0.2500 ± 0.0020), Unaware at N = 1\u{2009}000 (by 0.2500 ± 0.0020).",
                "nonlinear: with networks the value is lower for Unaware at N = 100 (by 0.500 ± 0.002), Unaware at N = 1\u{2009}000 (by 0.500 ± 0.002).",
            ]
        );
    }

    #[test]
    fn a_panel_that_one_learner_has_not_seen_is_not_compared() {
        let (records, scale) = records(|_| 0.0);
        let lone = |r: &Record| r.cell.learner() == Learner::Neural && r.cell.seed() == 2;
        let kept: Vec<Record> = records.into_iter().filter(|r| !lone(r)).collect();
        assert!(compare(&kept, &scale).iter().all(|c| (c.difference.count, c.least_squares.count) == (4, 4)));
        assert_eq!(compare(&kept, &scale).len(), 2 * 2 * METHODS.len() * QUANTITIES.len());
        assert_eq!(panels(compare(&kept, &scale).iter()), "4 panels");
        let small = |r: &Record| matches!(&r.cell, Cell::Synthetic(c) if c.people == 100 && c.seed > 3);
        let fewer: Vec<Record> = kept.into_iter().filter(|r| !small(r)).collect();
        assert_eq!(panels(compare(&fewer, &scale).iter()), "2 panels at N = 100, 4 at N = 1\u{2009}000");
        assert_eq!(panels([].iter()), "0 panels");
        let alone: Vec<Record> = fewer.into_iter().filter(|r| r.cell.learner() == Learner::LeastSquares).collect();
        assert_eq!(learners(&alone, &scale), None);
    }
}
