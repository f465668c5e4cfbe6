//! `fig:regret`: what is lost to the best fair policy, against N and against an error in the means.

use super::finding::{Agreement, Finding, slope as slope_text};
use super::number::{plain, tick, with_bounds, with_interval};
use super::plot::SIZE;
use super::regret_panels::{Quantity, RegretPanels};
use super::{Section, Table};
use crate::kernel::numeric::{Estimate, SlopeError, SlopeFit};
use crate::reproduction::{Cell, Learner, Measured, Method, PaperWorld, Record, Scale};
use std::collections::BTreeMap;

const WORLDS: [PaperWorld; 2] = [PaperWorld::Linear, PaperWorld::Nonlinear];
const PLAIN: Learner = Learner::LeastSquares;

/// The section.
pub fn regret(records: &[Record], scale: &Scale) -> Section {
    let worlds = WORLDS.map(|world| RegretPanels { records, scale, world, size: SIZE });
    let mut section = Section {
        label: "fig:regret".into(),
        title: "Regret, against N and against an error in the means".into(),
        command: format!("counterfair reproduce --only fig:regret --seeds {}", scale.seeds),
        paper: vec![
            "Regret is at most of the order of the error in the means and of N^(−1/2), up to logarithms (Theorem 3); unfairness at most of \
             the order of their power α (Theorem 4)."
                .into(),
        ],
        ..Section::default()
    };
    for (panels, [a, b, c]) in worlds.iter().zip([['a', 'b', 'c'], ['d', 'e', 'f']]) {
        section.figures.push(panels.by_method(a));
        section.figures.push(panels.three_laws(b));
        section.figures.push(panels.in_error(c));
        section.seen.extend(observations(panels));
    }
    section.seen.extend(precision(&worlds));
    section.findings.extend(promised(&worlds));
    section.tables.push(slopes(&worlds));
    section.tables.push(values(&worlds));
    section.tables.push(floors(&worlds));
    section.tables.push(both_learners(&worlds));
    section.tables.retain(|table| !table.rows.is_empty());
    section
}

/// Whether the regret of Ours falls as fast as Theorem 3 promises.
fn promised(worlds: &[RegretPanels; 2]) -> Option<Finding> {
    let fits = worlds.each_ref().map(|w| w.slope(PLAIN, Method::Ours, Quantity::Regret));
    if fits.iter().all(Result::is_err) {
        return None;
    }
    // An upper bound is refuted by an interval that lies above it.
    let kept = fits.iter().flatten().all(|fit| fit.interval.0 <= -0.5);
    Some(Finding {
        asked: "slope of log regret of Ours in log N (linear; non-linear)".into(),
        found: fits.each_ref().map(slope_text).join("; "),
        paper: "at most −0.5 (Theorem 3)".into(),
        agreement: Agreement::if_true(kept),
    })
}

/// Every slope beside what theorems promise (where means err like N^−½, at a margin with α = 1) and what the law of that margin says.
pub(super) fn slopes(worlds: &[RegretPanels; 2]) -> Table {
    let scale = worlds[0].scale;
    let caption = format!(
        "Slopes of log mean against log N (N = {} to {}) and against log ε, with 95 % bootstrap intervals over panels; δ = {}.",
        tick(scale.regret.sizes.first().map_or(0.0, |&n| n as f64)),
        tick(scale.regret.sizes.last().map_or(0.0, |&n| n as f64)),
        scale.strength
    );
    let columns = ["quantity", "policy", "in", "promised", "law", "linear", "non-linear"];
    let mut table = Table::new(&caption, 3, columns);
    for Line { quantity, policy, in_error, fits, .. } in lines(worlds) {
        let (axis, promised) = if in_error { ("ε", "≥ 1.0") } else { ("N", "≤ −0.5") };
        let law = plain(quantity.law(in_error), 1);
        let [linear, nonlinear] = fits.map(|fit| slope_text(&fit));
        if linear != "–" || nonlinear != "–" {
            table.push([quantity.title().into(), policy, axis.into(), promised.into(), law, linear, nonlinear]);
        }
    }
    table
}

/// A line of the table of slopes.
struct Line {
    quantity: Quantity,
    policy: String,
    in_error: bool,
    is_control: bool,
    /// In either world.
    fits: [Result<SlopeFit, SlopeError>; 2],
}

fn lines(worlds: &[RegretPanels; 2]) -> Vec<Line> {
    let of = |quantity, method: Method, learner: Learner| Line {
        quantity,
        policy: format!("{}, {}", method.title(), learner.title()),
        in_error: false,
        is_control: false,
        fits: worlds.map(|w| w.slope(learner, method, quantity)),
    };
    let mut lines: Vec<Line> = [PLAIN, Learner::Stable]
        .into_iter()
        .flat_map(|learner| [Method::Oracle, Method::Ours].map(|method| of(Quantity::Regret, method, learner)))
        .collect();
    let best = of(Quantity::Regret, Method::BestRule, PLAIN);
    lines.push(Line { policy: Method::BestRule.title(), ..best });
    lines.extend([Quantity::Gained, Quantity::Metric].map(|quantity| of(quantity, Method::Ours, PLAIN)));
    // What is not preprocessed stays as unfair, and as far from the best fair policy, as it is.
    lines.extend(Quantity::EVERY.map(|quantity| {
        let line = of(quantity, Method::Unaware, PLAIN);
        Line { policy: format!("control: {}", line.policy), is_control: true, ..line }
    }));
    lines.extend(Quantity::EVERY.map(|quantity| Line {
        quantity,
        policy: "Best rule".into(),
        in_error: true,
        is_control: false,
        fits: worlds.map(|w| w.slope_in_error(Method::BestRule, quantity)),
    }));
    lines
}

/// How many slopes were measured, controls apart, and how many of their intervals leave the law's value out.
pub(super) fn outside_the_law(worlds: &[RegretPanels; 2]) -> (usize, usize) {
    let judged = |line: &Line| {
        let law = line.quantity.law(line.in_error);
        let inside = |fit: &SlopeFit| (fit.interval.0..=fit.interval.1).contains(&law);
        line.fits.iter().flatten().map(inside).collect::<Vec<bool>>()
    };
    let all: Vec<bool> = lines(worlds).iter().filter(|line| !line.is_control).flat_map(judged).collect();
    (all.len(), all.iter().filter(|inside| !**inside).count())
}

/// J, Ṽ, J − Ṽ and regret, by world, method and N.
fn values(worlds: &[RegretPanels; 2]) -> Table {
    let scale = worlds[0].scale;
    let caption = format!(
        "J, the fair value Ṽ, what is gained by unfairness J − Ṽ, and regret J*CF − Ṽ, plain quadratics, δ = {}, {} decisions: mean ± 95 % \
         interval over panels.",
        scale.strength, scale.regret.evaluation_horizon
    );
    let mut table = Table::new(&caption, 2, ["world", "method", "N", "J", "Ṽ", "J − Ṽ", "J*CF − Ṽ"]);
    for panels in worlds {
        for method in [Method::Full, Method::Unaware, Method::Oracle, Method::Ours] {
            let parts: [fn(&Measured) -> Option<f64>; 4] = [
                |m| Some(m.value.mean),
                |m| m.fair.map(|e| e.mean),
                |m| m.gained.map(|e| e.mean),
                |m| m.regret.map(|e| e.mean),
            ];
            let columns = parts.map(|part| panels.over_size(PLAIN, method, false, part));
            for (i, (people, _)) in columns[0].iter().enumerate() {
                let cell = |j: usize, decimals| with_interval(small_as_zero(&columns[j][i].1), decimals);
                let row = [
                    panels.world.to_string(),
                    method.title(),
                    tick(*people),
                    cell(0, 3),
                    cell(1, 3),
                    cell(2, 3),
                    cell(3, 4),
                ];
                table.push(row);
            }
        }
    }
    table
}

/// What is gained by a policy that is exactly fair is rounding of sums; it is shown as the 0 that it is.
fn small_as_zero(values: &[f64]) -> Estimate {
    let rounding = values.iter().all(|v| v.abs() < 1e-9);
    Estimate::of(&if rounding { vec![0.0; values.len()] } else { values.to_vec() })
}

/// The regret of the Oracle at large N, by class of action values.
pub(super) fn floors(worlds: &[RegretPanels; 2]) -> Table {
    let mut table = Table::new(
        "Regret of Oracle, which errs in no state, at N far beyond the paper's, by class of action values: what a class cannot express stays, what it must estimate falls. \
         Mean ± 95 % interval over panels.",
        1,
        ["action values", "N", "linear", "panels", "non-linear", "panels"],
    );
    let floors = &worlds[0].scale.regret.floors;
    for learner in [Learner::LeastSquares, Learner::Stable, Learner::Quartic] {
        for floor in floors {
            let found = worlds.map(|w| {
                let all = w.over_size(learner, Method::Oracle, true, |m| Quantity::Regret.of(m));
                all.into_iter().find(|(at, _)| *at == floor.people as f64).map(|(_, values)| Estimate::of(&values))
            });
            if let [Some(linear), nonlinear] = found {
                let nonlinear = nonlinear.unwrap_or(Estimate::of(&[]));
                table.push([
                    learner.title().to_string(),
                    tick(floor.people as f64),
                    with_interval(linear, 5),
                    linear.count.to_string(),
                    with_interval(nonlinear, 5),
                    nonlinear.count.to_string(),
                ]);
            }
        }
    }
    table
}

/// What is compared between learners.
type Compared = (&'static str, fn(&Measured) -> Option<f64>, usize);
const COMPARED: [Compared; 3] = [
    ("CF metric", |m| Some(m.unfairness.mean), 4),
    ("J − Ṽ", |m| m.gained.map(|e| e.mean), 3),
    ("J*CF − Ṽ", |m| m.regret.map(|e| e.mean), 4),
];

/// The stable learner less the plain one, on the same panels of `fig:sim_all`.
pub(super) fn both_learners(worlds: &[RegretPanels; 2]) -> Table {
    let mut table = Table::new(
        "`fig:sim_all` with both learners: plain quadratic, and the stable learner less the plain one, on the same panels; mean ± 95 % interval.",
        2,
        ["world", "method", "N", "quantity", "plain quadratic", "stable − plain"],
    );
    for panels in worlds {
        for method in [Method::Full, Method::Unaware, Method::Oracle, Method::Ours] {
            for (name, part, decimals) in COMPARED {
                for (people, plain_values, difference) in paired(panels, method, part) {
                    // What is exactly 0 by both learners is not a comparison.
                    if plain_values.mean.abs() < 1e-9 && difference.mean.abs() < 1e-9 {
                        continue;
                    }
                    table.push([
                        panels.world.to_string(),
                        method.title(),
                        tick(people),
                        name.into(),
                        with_interval(plain_values, decimals),
                        with_interval(difference, decimals),
                    ]);
                }
            }
        }
    }
    table
}

/// N, the plain learner's estimate, and the stable one's less it, over the panels that both learned from.
pub(super) fn paired(
    panels: &RegretPanels,
    method: Method,
    part: impl Fn(&Measured) -> Option<f64>,
) -> Vec<(f64, Estimate, Estimate)> {
    let mut pairs: BTreeMap<(usize, u64), [Option<f64>; 2]> = BTreeMap::new();
    for record in panels.records {
        let Cell::Regret(c) = &record.cell else { continue };
        let which = match c.learner {
            Learner::LeastSquares => 0,
            Learner::Stable => 1,
            _ => continue,
        };
        if c.world == panels.world && c.error.is_none() && panels.scale.regret.sizes.contains(&c.people) {
            let value = record.measured(method).and_then(&part);
            pairs.entry((c.people, c.seed)).or_default()[which] = value;
        }
    }
    let mut found = Vec::new();
    for &people in &panels.scale.regret.sizes {
        let here = pairs.range((people, 0)..=(people, u64::MAX)).filter_map(|(_, pair)| match pair {
            [Some(plain), Some(stable)] => Some((*plain, *stable)),
            _ => None,
        });
        let (plain, difference): (Vec<f64>, Vec<f64>) = here.map(|(plain, stable)| (plain, stable - plain)).unzip();
        if !plain.is_empty() {
            found.push((people as f64, Estimate::of(&plain), Estimate::of(&difference)));
        }
    }
    found
}

/// What the numbers of one world say, in sentences made from them.
fn observations(panels: &RegretPanels) -> Vec<String> {
    let world = panels.world;
    let mut seen = Vec::new();
    for (quantity, method) in [
        (Quantity::Regret, Method::Oracle),
        (Quantity::Regret, Method::Ours),
        (Quantity::Gained, Method::Ours),
        (Quantity::Metric, Method::Ours),
    ] {
        if let Ok(fit) = panels.slope(PLAIN, method, quantity) {
            let of = format!("{world}: {} of {} goes like N to the power", quantity.title(), method.title());
            seen.push(beside_law(&of, &fit, quantity.law(false)));
        }
    }
    for quantity in Quantity::EVERY {
        if let Ok(fit) = panels.slope_in_error(Method::BestRule, quantity) {
            let of = format!(
                "{world}: with an error ε in the means, {} of the best fair policy goes like ε to the power",
                quantity.title()
            );
            seen.push(beside_law(&of, &fit, quantity.law(true)));
        }
    }
    seen.extend(signs(panels));
    seen.extend(above_the_best(panels));
    seen.extend(identity(panels));
    seen
}

/// A slope, and whether its interval holds the one of the margin's law.
pub(super) fn beside_law(of: &str, fit: &SlopeFit, law: f64) -> String {
    let holds = (fit.interval.0..=fit.interval.1).contains(&law);
    let word = if holds { "contains" } else { "excludes" };
    format!("{of} {}; the interval {word} the law's {}.", with_bounds(fit.slope, fit.interval, 2), tick(law))
}

/// What an error of either sign does to J − Ṽ.
fn signs(panels: &RegretPanels) -> Option<String> {
    let gained = |negative| panels.over_error_of(Method::BestRule, negative, |m| m.gained.map(|e| e.mean));
    let (below, above) = (gained(true), gained(false));
    let (at, positive) = above.into_iter().find(|(at, _)| below.iter().any(|(other, _)| other == at))?;
    let negative = below.into_iter().find(|(other, _)| *other == at)?.1;
    let [a, b] = [&negative, &positive].map(|values| Estimate::of(values));
    let word = if a.mean * b.mean < 0.0 { "of either sign" } else { "of one sign" };
    Some(format!(
        "{}: what is gained by unfairness is {word}: J − Ṽ of the best fair policy is {} at ε = −{} and {} at ε = {}.",
        panels.world,
        with_interval(a, 3),
        tick(at),
        with_interval(b, 3),
        tick(at)
    ))
}

/// In how many panels J is above J*CF, which Ṽ never is.
fn above_the_best(panels: &RegretPanels) -> Option<String> {
    let over = |m: &Measured| Some(f64::from(u8::from(m.gained?.mean > m.regret?.mean)));
    let all: Vec<f64> = panels.over_size(PLAIN, Method::Ours, false, over).into_iter().flat_map(|(_, v)| v).collect();
    let count = all.iter().sum::<f64>();
    (!all.is_empty()).then(|| {
        format!(
            "{}: J of Ours is above J*CF in {} of {} panels, by what unfairness gains; Ṽ cannot be.",
            panels.world,
            tick(count),
            tick(all.len() as f64)
        )
    })
}

/// That `alg:cf:1` with the true means is the Oracle, panel by panel.
fn identity(panels: &RegretPanels) -> Option<String> {
    let of = |method| panels.over_size(PLAIN, method, false, |m| Quantity::Regret.of(m));
    let (truth, oracle) = (of(Method::TrueMeans), of(Method::Oracle));
    let pairs = truth.iter().zip(&oracle).flat_map(|((_, a), (_, b))| a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    let largest = pairs.fold(0.0, f64::max);
    (!truth.is_empty()).then(|| {
        format!(
            "{}: regrets of Ours with true means and of Oracle differ by at most {largest:.0e} in any panel.",
            panels.world
        )
    })
}

/// How precise the drawn regrets are, and whether the smallest can be told from 0.
pub(super) fn precision(worlds: &[RegretPanels; 2]) -> Option<String> {
    let all: Vec<Estimate> = worlds.iter().flat_map(|w| w.drawn()).map(|(_, _, e)| e).collect();
    let relative = |e: &Estimate| e.standard_error / e.mean;
    let worst = all.iter().map(relative).fold(0.0, f64::max);
    let least = all.iter().min_by(|a, b| a.mean.total_cmp(&b.mean))?;
    Some(format!(
        "Relative standard error of the regrets drawn: at most {} %; the smallest, {:.1e}, is {} times its standard error.",
        plain(100.0 * worst, 0),
        least.mean,
        plain(1.0 / relative(least), 0)
    ))
}
