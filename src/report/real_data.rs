//! `table:real_data` and `fig:real_action_percentage`: what can be said from data alone.

use super::finding::{Agreement, Finding, range};
use super::number::{plain, with_deviation, with_interval};
use super::plot::{Axis, Dumbbell, Pair, Span, WIDTH};
use super::{Figure, Section, Table, comma_separated, safe_name};
use crate::kernel::numeric::Estimate;
use crate::reproduction::summary::{Point, curve};
use crate::reproduction::{Cell, Method, Origin, Record, Scale, Study};

/// Rows of the table, in the order of the paper's.
const METHODS: [Method; 4] = [Method::Full, Method::Random, Method::Unaware, Method::Ours];

/// Below this p-value the table says that one spread is denied: three attributes with three outputs each raise a false alarm in fewer than
/// one study in ten.
pub(super) const ADDITIVITY_LEVEL: f64 = 0.01;

/// The section of one study.
pub fn real_data(records: &[Record], scale: &Scale, study: &Study) -> Section {
    let mut section = Section {
        label: format!("table:real_data/{}", study.name()),
        title: match study.origin() {
            Origin::Simulated => "The application, on a simulated stand-in".into(),
            Origin::Public => "The application, on a public study: Project STAR".into(),
            Origin::File => "The application, on your file".into(),
        },
        warning: study.description().into(),
        command: "counterfair reproduce --only table:real_data".into(),
        ..Section::default()
    };
    section.tables.push(table(records, scale, study));
    section.findings = findings(records, study);
    let additivity = additivity_table(study);
    section.seen.extend(multiplicity(&additivity));
    section.tables.push(additivity);
    if study.is_simulated() {
        section.paper = [
            "Random is perfectly fair and worth least; Full is worth most for most attributes and is the least fair.",
            "Of the policies that are learned, Ours is the fairest for all four attributes.",
            "Full gives treatments more often to the younger, more educated, non-Hispanic and male.",
        ]
        .map(String::from)
        .to_vec();
        section.tables.push(paper_table());
    }
    for attribute in study.attributes() {
        section.seen.extend(observation(records, study, attribute));
        section.figures.extend(action_shares(records, study, attribute, WIDTH));
    }
    section
}

/// Unfairness of those that learn, and what they are worth, over attributes; beside the paper's where its study is stood in for.
fn findings(records: &[Record], study: &Study) -> Vec<Finding> {
    let of = |method| -> Vec<Point> {
        let points = study.attributes().filter_map(|attribute| summary(records, study, attribute, method));
        points.filter(|p| p.unfairness.count > 0).collect()
    };
    let (ours, unaware, full, random) = (of(Method::Ours), of(Method::Unaware), of(Method::Full), of(Method::Random));
    let all = [&ours, &unaware, &full, &random];
    if all.iter().any(|points| points.is_empty()) {
        return vec![];
    }
    let unfairness = |points: &[Point]| range(points.iter().map(|p| p.unfairness.mean), 2);
    let value = |points: &[Point]| range(points.iter().map(|p| p.value.mean), 2);
    let fairest = all.iter().all(|points| points.len() == ours.len())
        && (0..ours.len()).all(|i| {
            let [ours, unaware, full] = [&ours, &unaware, &full].map(|points| points[i].unfairness.mean);
            ours < unaware.min(full)
        });
    let stands_in = study.is_simulated();
    let printed = |metric: &str, methods: &[&str]| -> String {
        let table = paper_table();
        let of = |method: &&str| {
            let row = table.rows.iter().find(|row| row[0] == metric && row[1] == *method);
            range(row.into_iter().flat_map(|row| &row[2..]).filter_map(|cell| cell.split(' ').next()?.parse().ok()), 2)
        };
        methods.iter().map(of).collect::<Vec<_>>().join(", ")
    };
    let about = if stands_in { "stand-in, SIMULATED" } else { study.name() };
    let finding = |asked: &str, found: Vec<String>, paper: String, agreement| Finding {
        asked: format!("{asked}, over attributes ({about})"),
        found: found.join(", "),
        paper,
        agreement: if stands_in { agreement } else { Agreement::NotInThePaper },
    };
    let paper = |metric, methods: &[&str]| if stands_in { printed(metric, methods) } else { String::new() };
    vec![
        finding(
            "unfairness of Ours, Unaware, Full",
            vec![unfairness(&ours), unfairness(&unaware), unfairness(&full)],
            paper("Unfairness", &["Ours", "Unaware", "Full"]),
            Agreement::if_true(fairest),
        ),
        finding(
            "value of Ours, Random",
            vec![value(&ours), value(&random)],
            paper("Value", &["Ours", "Random"]),
            Agreement::if_true(ours.iter().zip(&random).all(|(ours, random)| ours.value.mean > random.value.mean)),
        ),
    ]
}

fn summary(records: &[Record], study: &Study, attribute: &str, method: Method) -> Option<Point> {
    let here = |cell: &Cell| match cell {
        Cell::Split(c) if c.study == study.name() && c.attribute == attribute => Some(0.0),
        _ => None,
    };
    curve(records, method, here).pop()
}

/// `table:real_data` of one study.
pub(super) fn table(records: &[Record], scale: &Scale, study: &Study) -> Table {
    let simulated = if study.is_simulated() { "SIMULATED stand-in: " } else { "" };
    let caption = format!(
        "{simulated}{} people, {} decisions; mean (standard deviation) over {} splits of the people, 80 % to learn and 20 % to judge. Unfairness is \
         the CF metric along recorded histories, through a generative model fitted to everybody; value is by fitted Q evaluation on \
         quadratics in state and level, the same class for every policy, γ = {}.",
        study.people(),
        study.decisions(),
        scale.splits,
        crate::reproduction::DISCOUNT
    );
    let columns = ["metric", "method"].into_iter().chain(study.attributes());
    let mut table = Table::new(&caption, 2, columns);
    for (metric, unfairness) in [("Unfairness", true), ("Value", false)] {
        for method in METHODS {
            let cells = study.attributes().map(|attribute| match summary(records, study, attribute, method) {
                Some(p) if p.unfairness.count > 0 => {
                    let (mean, deviation) =
                        if unfairness { (p.unfairness.mean, p.deviations.0) } else { (p.value.mean, p.deviations.1) };
                    with_deviation(mean, deviation, 2)
                }
                _ => "–".into(),
            });
            table.push([metric.to_string(), method.title()].into_iter().chain(cells));
        }
    }
    table
}

/// How many tests the table of additivity makes, and how many would deny by chance alone.
fn multiplicity(additivity: &Table) -> Option<String> {
    let verdicts = || additivity.rows.iter().filter_map(|row| row.last());
    let tests = verdicts().filter(|verdict| verdict.ends_with("denied")).count();
    let denied = verdicts().filter(|verdict| *verdict == "denied").count();
    (tests > 1).then(|| {
        format!(
            "Equal spread of noise: rejected for {denied} of {tests} outputs at p < {ADDITIVITY_LEVEL}; {} expected by chance. With Bonferroni's \
             correction for {tests} tests a p-value counts below {}.",
            plain(ADDITIVITY_LEVEL * tests as f64, 2),
            plain(ADDITIVITY_LEVEL / tests as f64, 5)
        )
    })
}

/// Whether the noise of each output has one spread at all levels: what `alg:cf:1` supposes and data can deny.
pub fn additivity_table(study: &Study) -> Table {
    let caption = "Does the noise depend on the attribute? Mean absolute residual of each output at each level, people as units, and the p-value of \
                   equality. Additive noise means equality; a small p-value means that counterfactual states of this output are not to be trusted, a \
                   large one only that nothing was seen. Denied: below 0.01.";
    let mut table = Table::new(caption, 2, ["attribute", "output", "mean absolute residual", "p-value", "one spread"]);
    for attribute in study.attributes() {
        let levels = study.attribute(attribute).map(|a| &a.levels);
        match study.additivity(attribute) {
            Some(Ok(tests)) => {
                for test in tests {
                    let output = study.state_names().get(test.output).map_or("reward", String::as_str);
                    let spreads = test.spread.iter().enumerate().map(|(z, spread)| {
                        let level = levels.map_or("", |levels| levels.name(z));
                        format!("{level} {}", with_interval(*spread, 3))
                    });
                    let spreads = spreads.collect::<Vec<_>>().join(", ");
                    let p_value = if test.p_value < 1e-4 { "< 0.0001".into() } else { plain(test.p_value, 4) };
                    let kept = if test.p_value < ADDITIVITY_LEVEL { "denied" } else { "not denied" };
                    table.push([attribute.into(), output.into(), spreads, p_value, kept.to_string()]);
                }
            }
            Some(Err(reason)) => table.push([attribute.into(), "–".into(), reason.to_string(), "–".into(), "–".into()]),
            None => {}
        }
    }
    table
}

/// `table:real_data` as printed in the paper, from data that are private.
pub fn paper_table() -> Table {
    let caption = "From the paper, for comparison: the PowerED study, 207 patients, whose data are private; mean (standard deviation) over 10 seeds.";
    let mut table = Table::new(caption, 2, ["metric", "method", "education", "age", "sex", "ethnicity"]);
    for row in [
        ["Unfairness", "Full", "0.44 (0.14)", "0.59 (0.15)", "0.61 (0.15)", "0.39 (0.13)"],
        ["Unfairness", "Random", "0.00 (0.00)", "0.00 (0.00)", "0.00 (0.00)", "0.00 (0.00)"],
        ["Unfairness", "Unaware", "0.10 (0.03)", "0.10 (0.02)", "0.08 (0.03)", "0.21 (0.05)"],
        ["Unfairness", "Ours", "0.06 (0.02)", "0.08 (0.02)", "0.07 (0.02)", "0.16 (0.03)"],
        ["Value", "Full", "57.09 (0.31)", "57.29 (0.30)", "57.20 (0.39)", "56.87 (0.33)"],
        ["Value", "Random", "56.61 (0.22)", "56.66 (0.27)", "56.53 (0.27)", "56.54 (0.39)"],
        ["Value", "Unaware", "57.01 (0.18)", "57.21 (0.29)", "56.96 (0.32)", "57.00 (0.31)"],
        ["Value", "Ours", "57.05 (0.30)", "57.11 (0.28)", "56.95 (0.51)", "56.93 (0.48)"],
    ] {
        table.push(row);
    }
    table
}

/// Who is the fairest of the policies that are learned, by how much.
fn observation(records: &[Record], study: &Study, attribute: &str) -> Option<String> {
    let of = |method| summary(records, study, attribute, method).filter(|p| p.unfairness.count > 0);
    let (ours, unaware, full) = (of(Method::Ours)?, of(Method::Unaware)?, of(Method::Full)?);
    let fairest = ours.unfairness.mean <= unaware.unfairness.mean.min(full.unfairness.mean);
    Some(format!(
        "{attribute}: unfairness {} for Ours, {} for Unaware, {} for Full; Ours is {}the fairest of the three.",
        plain(ours.unfairness.mean, 2),
        plain(unaware.unfairness.mean, 2),
        plain(full.unfairness.mean, 2),
        if fairest { "" } else { "not " }
    ))
}

/// `fig:real_action_percentage`: how often each group would receive the most intensive action.
pub(super) fn action_shares(records: &[Record], study: &Study, attribute: &str, width: u32) -> Option<Figure> {
    let levels = &study.attribute(attribute)?.levels;
    if levels.len() != 2 {
        return None;
    }
    let (action, name) = intensive(study);
    let mut csv = comma_separated::line(["method", "level", "action", "splits", "share", "share_se"]);
    let mut rows = Vec::new();
    for method in METHODS {
        let share = |z: usize| {
            let shares = records.iter().filter_map(|record| match &record.cell {
                Cell::Split(c) if c.study == study.name() && c.attribute == attribute => {
                    record.measured(method).and_then(|m| m.shares.get(z)?.get(action).copied())
                }
                _ => None,
            });
            Estimate::of(&shares.collect::<Vec<_>>())
        };
        let shares = [share(0), share(1)];
        if shares[0].count == 0 {
            continue;
        }
        for (z, s) in shares.iter().enumerate() {
            let numbers = [s.count.to_string(), s.mean.to_string(), s.standard_error.to_string()];
            let words = [method.to_string(), levels.name(z).to_string(), name.clone()];
            csv += &comma_separated::line(words.into_iter().chain(numbers));
        }
        rows.push(Pair { name: method.title(), shares: shares.map(Span::share) });
    }
    let simulated = if study.is_simulated() { " (simulated)" } else { "" };
    let chart = Dumbbell {
        title: format!("{attribute}{simulated}"),
        x: Axis::linear(&format!("share of decisions: {name}")),
        groups: [levels.name(0).into(), levels.name(1).into()],
        rows,
    };
    let caption = format!(
        "fig:real_action_percentage, {attribute}{simulated}: how often each policy gives {name} to each group; bars are intervals over splits."
    );
    let file = safe_name(&format!("real_action_percentage_{}_{attribute}", study.name()));
    Some(Figure { name: file, svg: chart.svg_at(width), caption, csv })
}

/// The action whose share is shown: a live call, a small class, or the last one by name.
fn intensive(study: &Study) -> (usize, String) {
    let actions = study.action_names();
    let known = ["live call", "small"].iter().find_map(|name| actions.code(name));
    let action = known.unwrap_or(actions.len() - 1);
    (action, actions.name(action).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::model::worlds::{Linear, spread_by_level};
    use crate::kernel::model::{Exogenous, World, simulate};
    use crate::kernel::numeric::Stream;
    use crate::reproduction::{Attribute, Learner, Measured, MethodOutcome, MethodResult, Split};

    /// Three hundred people of a world, as somebody's file.
    fn study(world: &impl World) -> Study {
        let panel = simulate(world, &Exogenous::draw(world, 300, 5, Stream::new(8)));
        let (levels, codes) = (panel.levels().clone(), panel.level_codes().to_vec());
        Study::new("mine", Origin::File, "", &["score"], vec![Attribute { name: "group".into(), levels, codes }], panel)
    }

    /// Two splits, in which these methods have these unfairnesses and values; the last cannot be learned in the second split.
    fn records(numbers: [(Method, f64, f64); 3]) -> Vec<Record> {
        let number = |mean| Estimate { mean, standard_error: 0.01, count: 30 };
        let methods = numbers.map(|(method, ..)| method).to_vec();
        [1, 2]
            .map(|seed| {
                let (study, attribute) = ("mine".into(), "group".into());
                let (methods, learner) = (methods.clone(), Learner::LeastSquares);
                let cell = Cell::Split(Split { study, attribute, methods, learner, seed });
                let result = |(method, unfairness, value)| {
                    let measured = Measured {
                        unfairness: number(unfairness),
                        value: number(value),
                        long_value: None,
                        fair: None,
                        gained: None,
                        regret: None,
                        shares: vec![vec![0.25, 0.75], vec![0.5, 0.5]],
                        learning: None,
                    };
                    let outcome = match (seed, method) {
                        (2, Method::Full) => MethodOutcome::NotLearned("overflowed".into()),
                        _ => MethodOutcome::Evaluated(measured),
                    };
                    MethodResult { method, outcome }
                };
                Record { cell, results: numbers.map(result).to_vec() }
            })
            .to_vec()
    }

    #[test]
    fn the_fairest_is_said_to_be_only_where_it_is() {
        let study = study(&Linear::new(1.0));
        let said = |ours| {
            let records = records([(Method::Ours, ours, 5.0), (Method::Unaware, 0.1, 6.0), (Method::Full, 0.4, 7.0)]);
            observation(&records, &study, "group").expect("all three were learned")
        };
        assert!(
            said(0.2)
                .ends_with("0.20 for Ours, 0.10 for Unaware, 0.40 for Full; Ours is not the fairest of the three.")
        );
        assert!(said(0.05).ends_with("Ours is the fairest of the three."));
    }

    #[test]
    fn unfairness_stands_under_unfairness_and_cells_that_were_not_learned_are_counted() {
        let study = study(&Linear::new(1.0));
        let records = records([(Method::Ours, 0.2, 5.0), (Method::Unaware, 0.1, 6.0), (Method::Full, 0.4, 7.0)]);
        let table = table(&records, &Scale::quick(), &study);
        let cell = |metric: &str, method: Method| {
            let row = table.rows.iter().find(|row| row[0] == metric && row[1] == method.title()).expect("a row");
            row[2].clone()
        };
        assert_eq!(
            (cell("Unfairness", Method::Ours), cell("Value", Method::Ours)),
            ("0.20 (0.00)".into(), "5.00 (0.00)".into())
        );
        assert_eq!(
            (cell("Unfairness", Method::Full), cell("Value", Method::Full)),
            ("0.40 (0.00)".into(), "7.00 (0.00)".into())
        );
        assert_eq!(cell("Value", Method::Random), "–");
        let missing = |method| summary(&records, &study, "group", method).expect("a point").missing;
        assert_eq!((missing(Method::Ours), missing(Method::Full)), (0, 1));
    }

    /// False alarm: 2 tests at 0.01 each on one fixed seed.
    #[test]
    fn one_spread_is_denied_where_levels_differ_and_not_where_they_do_not() {
        let verdicts = |study: &Study| -> Vec<String> {
            additivity_table(study).rows.iter().map(|row| row.last().expect("five cells").clone()).collect()
        };
        let unequal = study(&spread_by_level(1.0));
        assert!(verdicts(&unequal).contains(&"denied".to_string()), "{:?}", verdicts(&unequal));
        let equal = study(&Linear::new(1.0));
        assert!(verdicts(&equal).iter().all(|verdict| verdict == "not denied"), "{:?}", verdicts(&equal));
    }
}
