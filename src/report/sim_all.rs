//! `fig:sim_all`: what the paper shows, and three things beside it.

use super::finding::{Agreement, Finding, slope};
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
        section.seen.extend(over_strength(panels));
    }
    for (panels, letter) in worlds.iter().zip(['g', 'h']) {
        section.figures.push(panels.long_values(letter, optimum(panels.world)));
    }
    section.findings = worlds.iter().filter_map(fairest).chain(falling(&worlds)).collect();
    section.tables.push(regret_table(&worlds, optimum));
    section.tables.push(fair_table(&worlds));
    section.tables.retain(|table| !table.rows.is_empty());
    if scale.learner != Learner::Neural {
        section.seen.push(
            "Means and action values are fitted by least squares here, by networks in the paper: `counterfair reproduce --only table:learners` \
             puts both side by side."
                .into(),
        );
    }
    section
}

/// Whether Ours is the fairest of those that learn, at the figure's N and δ.
fn fairest(panels: &Panels) -> Option<Finding> {
    let at = |method| panels.at_center(method).filter(|p| p.unfairness.count > 0).map(|p| p.unfairness.mean);
    let (ours, unaware, full) = (at(Method::Ours)?, at(Method::Unaware)?, at(Method::Full)?);
    Some(Finding {
        asked: format!("CF metric of Ours, Unaware, Full ({} world, N = {})", panels.world, panels.scale.size),
        found: [ours, unaware, full].map(|x| plain(x, 3)).join(", "),
        paper: "Ours the lowest of the three (figure)".into(),
        agreement: Agreement::if_true(ours < unaware.min(full)),
    })
}

/// Whether the CF metric of Ours falls with N.
fn falling(worlds: &[Panels; 2]) -> Option<Finding> {
    let fits = worlds.each_ref().map(|panels| rate(panels.records, Method::Ours, panels.by_size()));
    if fits.iter().all(Result::is_err) {
        return None;
    }
    Some(Finding {
        asked: "slope of log CF metric of Ours in log N (linear; non-linear)".into(),
        found: fits.each_ref().map(slope).join("; "),
        paper: "falls with N (theory: −0.5)".into(),
        agreement: Agreement::if_true(fits.iter().flatten().all(|fit| fit.interval.1 < 0.0)),
    })
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

/// J, Ṽ and J − Ṽ of every method at the figure's N and δ, where they were measured.
fn fair_table(worlds: &[Panels; 2]) -> Table {
    let scale = worlds[0].scale;
    let caption = format!(
        "Value J, fair value Ṽ and what is gained by unfairness, J − Ṽ, at δ = {}, N = {} over {} decisions: \
         mean ± 95 % interval over seeds. Ṽ is what of the value does not come from treating levels differently; it and J − Ṽ \
         follow everybody at both levels, J at one that is drawn.",
        scale.strength, scale.size, scale.evaluation_horizon
    );
    let mut table = Table::new(&caption, 2, ["world", "method", "J", "Ṽ", "J − Ṽ"]);
    for panels in worlds {
        for method in Method::PAPER.into_iter().chain([Method::TrueMeans, Method::KnownForm]) {
            let Some(point) = panels.at_center(method).filter(|point| point.gained.count > 0) else { continue };
            table.push([
                panels.world.to_string(),
                method.title(),
                with_interval(point.value, 3),
                with_interval(point.fair, 3),
                with_interval(without_rounding(point.gained), 3),
            ]);
        }
    }
    table
}

/// What an exactly fair policy gains is the rounding of two equal sums: it is shown as the 0 that it is.
pub(super) fn without_rounding(gained: Estimate) -> Estimate {
    let rounding = gained.mean.abs() < 1e-9 && gained.standard_error < 1e-9;
    if rounding { Estimate { mean: 0.0, standard_error: 0.0, ..gained } } else { gained }
}

/// Values over a long horizon beside the best, with the effect of stopping early beside it.
fn regret_table(worlds: &[Panels; 2], optimum: &dyn Fn(PaperWorld) -> Option<(f64, f64)>) -> Table {
    let scale = worlds[0].scale;
    let caption = format!(
        "Beyond the paper: values at δ = {} over {} decisions, as in the paper, and over {}; J*CF is the best fair value over an endless \
         horizon, J*Full the best of all. γ^{} = {} of the weight lies beyond the paper's horizon. J*CF − J is not regret: J may exceed J*CF by what \
         unfairness gains, so entries below 0 are that or Monte-Carlo error; regret J*CF − Ṽ is in fig:regret.",
        scale.strength,
        scale.evaluation_horizon,
        scale.long_horizon,
        scale.evaluation_horizon,
        plain(crate::reproduction::DISCOUNT.powi(scale.evaluation_horizon as i32), 3)
    );
    let short = format!("value, {}", scale.evaluation_horizon);
    let long = format!("value, {}", scale.long_horizon);
    let columns = ["world", "method", "N", &short, &long, "J*CF", "J*Full", "J*CF − J"];
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
        (Method::Ours, "means smoothed by splines"),
        (Method::KnownForm, "means fitted in a class that contains the truth, for which theory has −1/2"),
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
    seen.extend(against_known_form(panels));
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

/// Where the slope of Ours comes from: its CF metric in units of the one with means of known form, on the same panels.
fn against_known_form(panels: &Panels) -> Option<String> {
    let (ours, known) = (panels.over_size(Method::Ours), panels.over_size(Method::KnownForm));
    let ratios: Vec<(f64, f64)> =
        ours.iter().zip(&known).map(|(a, b)| (a.at, a.unfairness.mean / b.unfairness.mean)).collect();
    let ([(first, a), .., (last, b)], true) = (&ratios[..], ours.len() == known.len()) else { return None };
    let word = if b > a { "grows" } else { "shrinks" };
    Some(format!(
        "{}: the CF metric of Ours in units of the one with known form {word} from {} at N = {} to {} at N = {}.",
        panels.world,
        plain(*a, 2),
        plain(*first, 0),
        plain(*b, 2),
        plain(*last, 0)
    ))
}

/// How unfairness goes with δ, method by method, in words that follow from the numbers.
fn over_strength(panels: &Panels) -> Vec<String> {
    let mut seen = Vec::new();
    for method in [Method::Full, Method::Unaware, Method::Ours] {
        let points: Vec<(f64, Estimate)> = panels.over_strength(method).iter().map(|p| (p.at, p.unfairness)).collect();
        seen.extend(
            course(&points).map(|words| format!("{}: the CF metric of {} {words}.", panels.world, method.title())),
        );
    }
    seen.extend(without_effect(panels));
    seen
}

/// The course of a curve: where it rises, where it falls, and by how much where that is not beyond chance.
pub(super) fn course(points: &[(f64, Estimate)]) -> Option<String> {
    let ([(first, begin), .., (last, end)], steps) = (points, points.windows(2)) else { return None };
    let falls: Vec<String> = steps
        .filter(|pair| pair[1].1.mean < pair[0].1.mean)
        .map(|pair| {
            let [(from, a), (to, b)] = [pair[0], pair[1]];
            let standard_error = a.standard_error.hypot(b.standard_error);
            let difference = Estimate { mean: b.mean - a.mean, standard_error, count: a.count.min(b.count) };
            format!("falls between {} and {} (by {})", plain(from, 1), plain(to, 1), with_interval(difference, 4))
        })
        .collect();
    let ends = format!(
        "goes from {} at δ = {} to {} at δ = {}",
        with_interval(*begin, 4),
        plain(*first, 1),
        with_interval(*end, 4),
        plain(*last, 1)
    );
    Some(if falls.is_empty() {
        format!("{ends}, rising at every step")
    } else {
        format!("{ends}; it {}", falls.join(", "))
    })
}

/// Who is fairer where the attribute has no effect through δ.
pub(super) fn without_effect(panels: &Panels) -> Option<String> {
    let by_strength = panels.by_strength();
    let pairs: Vec<(f64, f64)> = panels
        .records
        .iter()
        .filter(|record| by_strength(&record.cell) == Some(0.0))
        .filter_map(|r| Some((r.measured(Method::Ours)?.unfairness.mean, r.measured(Method::Unaware)?.unfairness.mean)))
        .collect();
    let less_fair = pairs.iter().filter(|(ours, unaware)| ours > unaware).count();
    (!pairs.is_empty()).then(|| {
        format!("{}: at δ = 0 Ours is less fair than Unaware in {less_fair} of {} panels.", panels.world, pairs.len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(delta: f64, mean: f64) -> (f64, Estimate) {
        (delta, Estimate { mean, standard_error: 0.01, count: 100 })
    }

    #[test]
    fn a_curve_that_rises_is_told_from_one_that_falls_somewhere() {
        let rising = course(&[at(0.0, 0.1), at(1.0, 0.2), at(2.0, 0.4)]).expect("three points");
        assert_eq!(rising, "goes from 0.1000 ± 0.0198 at δ = 0.0 to 0.4000 ± 0.0198 at δ = 2.0, rising at every step");
        let falling = course(&[at(0.0, 0.1), at(1.5, 0.4), at(2.0, 0.3)]).expect("three points");
        assert!(falling.ends_with("; it falls between 1.5 and 2.0 (by −0.1000 ± 0.0281)"), "{falling}");
        assert_eq!(course(&[at(0.0, 0.1)]), None);
    }

    #[test]
    fn rounding_is_shown_as_zero_and_a_gain_is_not() {
        let gain = |mean| Estimate { mean, standard_error: 1e-17, count: 9 };
        assert_eq!(with_interval(without_rounding(gain(3e-16)), 3), "0 exactly");
        assert_eq!(without_rounding(gain(3e-3)), gain(3e-3));
    }

    #[test]
    fn values_are_set_beside_the_best_fair_value() {
        use crate::reproduction::{Label, Measured, MethodOutcome, MethodResult};
        let scale = Scale { seeds: 2, ..Scale::quick() };
        let number = |mean| Estimate { mean, standard_error: 0.01, count: 30 };
        let measured = Measured {
            unfairness: number(0.3),
            value: number(2.5),
            long_value: Some(number(7.0)),
            fair: None,
            gained: None,
            regret: None,
            shares: vec![vec![0.25, 0.75], vec![0.5, 0.5]],
            learning: None,
        };
        let record = |cell: crate::reproduction::Cell| {
            let outcome = MethodOutcome::Evaluated(measured.clone());
            let results =
                cell.methods().iter().map(|&method| MethodResult { method, outcome: outcome.clone() }).collect();
            Record { cell, results }
        };
        let records: Vec<Record> = scale.cells(&[Label::SimAll], &[]).into_iter().map(record).collect();
        let worlds = [PaperWorld::Linear, PaperWorld::Nonlinear].map(|world| Panels {
            records: &records,
            scale: &scale,
            world,
            size: (640, 400),
        });
        let table = regret_table(&worlds, &|world| (world == PaperWorld::Linear).then_some((7.25, 9.5)));
        let row = |world: PaperWorld| table.rows.iter().find(|row| row[0] == world.to_string()).expect("a row");
        let linear = row(PaperWorld::Linear);
        assert!(linear[3].starts_with("2.500") && linear[4].starts_with("7.000"), "{linear:?}");
        assert_eq!((linear[5].as_str(), linear[6].as_str()), ("7.2500", "9.5000"));
        assert!(linear[7].starts_with("0.250"), "{linear:?}");
        assert_eq!(row(PaperWorld::Nonlinear)[5..], ["–", "–", "–"].map(String::from));
    }
}
