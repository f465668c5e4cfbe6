//! The tables.

use super::numbers::{paired, to_error};
use super::{Peer, Quartiles, Results, Sources, coverage, noise_studies};
use crate::kernel::numeric::Estimate;
use crate::report::learners::{self, Tally};
use crate::report::number::{plain, with_bounds, with_interval};
use crate::report::plot::SIZE;
use crate::report::real_data::table as real_data;
use crate::report::regret;
use crate::report::regret_panels::RegretPanels;
use crate::report::sim_all::without_rounding;
use crate::report::sim_all_panels::Panels;
use crate::report::{Table, paper_table};
use crate::reproduction::{Label, Learner, Measured, Method, PaperWorld, Scale, Study};
use crate::theory::errata::{SLIPS, Stands, of_kind};
use std::collections::{BTreeMap, BTreeSet};

pub(super) const WORLDS: [PaperWorld; 2] = [PaperWorld::Linear, PaperWorld::Nonlinear];

/// Every table by name.
pub(super) fn tables(sources: &Sources) -> BTreeMap<String, Table> {
    let mut tables = BTreeMap::new();
    let mut add = |name: &str, table: Table| {
        tables.insert(name.to_string(), table);
    };
    add("methods", methods(sources));
    add("learners", learners(sources).0);
    let scale = sources.results.scale(Label::Regret);
    let worlds = regret_panels(sources.results, &scale);
    add("regret_slopes", regret::slopes(&worlds));
    add("regret_floors", regret::floors(&worlds));
    add("regret_learners", regret::both_learners(&worlds));
    add("fair_values", fair_values(&worlds));
    add("coverage", coverage::table());
    add("stable", coverage::stable());
    add("ladder", coverage::ladder());
    add("noise_studies", noise_studies::table());
    add("optima", optima(sources));
    add("laws", super::rates::table(sources.results));
    add("additivity", additivity(sources));
    add("peers", peers(sources));
    add("peers_fitted_q", peers_fitted_q(sources));
    add("claims", claims(sources));
    for stands in Stands::ALL {
        add(&format!("errata_{}", stands.word()), errata(sources, stands));
    }
    add("slips", slips());
    add("real_paper", paper_table());
    for study in sources.studies {
        let table = real_data(&sources.results.splits, &sources.results.scale(Label::RealData), study);
        add(&format!("real_{}", study.name().replace('-', "_")), table);
        if !study.is_simulated() {
            add(&format!("differences_{}", study.name()), differences(sources, study));
        }
    }
    tables
}

/// Every method at the figure's N and δ, world by world.
fn methods(sources: &Sources) -> Table {
    let scale = &sources.scale;
    let parts = ["CF metric", "value J", "fair value Ṽ", "J − Ṽ"];
    let mut table = Table::new("", 2, ["method", "world"].into_iter().chain(parts));
    let mixtures = scale.weights.iter().map(|&w| Method::Mixture(w));
    let methods: Vec<Method> =
        Method::PAPER.into_iter().chain([Method::TrueMeans, Method::KnownForm]).chain(mixtures).collect();
    for panels in WORLDS.map(|world| Panels { records: &sources.results.sim_all, scale, world, size: SIZE }) {
        for &method in &methods {
            let Some(point) = panels.at_center(method) else { continue };
            let measured = |estimate: Estimate| (estimate.count > 0).then(|| with_interval(estimate, 3));
            table.push([
                method.title(),
                panels.world.to_string(),
                with_interval(point.unfairness, 4),
                with_interval(point.value, 3),
                measured(point.fair).unwrap_or("–".into()),
                measured(without_rounding(point.gained)).unwrap_or("–".into()),
            ]);
        }
    }
    table
}

/// Networks less least squares, on the same panels.
pub(super) fn learners(sources: &Sources) -> (Table, Tally) {
    let Results { sim_all, networks, .. } = sources.results;
    learners::differences(&sim_all.iter().chain(networks).cloned().collect::<Vec<_>>(), &sources.scale)
}

/// The cells of `fig:regret`, world by world.
pub(super) fn regret_panels<'a>(results: &'a Results, scale: &'a Scale) -> [RegretPanels<'a>; 2] {
    WORLDS.map(|world| RegretPanels { records: &results.regret, scale, world, size: SIZE })
}

/// J, Ṽ, J − Ṽ and regret of those that learned something, at the figure's N.
fn fair_values(worlds: &[RegretPanels; 2]) -> Table {
    let columns = ["method", "world", "value J", "fair value Ṽ", "gained by unfairness J − Ṽ", "regret J*CF − Ṽ"];
    let mut table = Table::new("", 2, columns);
    let people = worlds[0].scale.size as f64;
    for panels in worlds {
        for method in [Method::Full, Method::Unaware, Method::Oracle, Method::Ours] {
            let parts: [fn(&Measured) -> Option<f64>; 4] = [
                |m| Some(m.value.mean),
                |m| m.fair.map(|e| e.mean),
                |m| m.gained.map(|e| e.mean),
                |m| m.regret.map(|e| e.mean),
            ];
            let cells = parts.map(|part| {
                let all = panels.over_size(Learner::LeastSquares, method, false, part);
                all.into_iter().find(|(at, _)| *at == people).map(|(_, values)| Estimate::of(&values))
            });
            if let [Some(value), Some(fair), Some(gained), Some(regret)] = cells {
                table.push([
                    method.title(),
                    panels.world.to_string(),
                    with_interval(value, 2),
                    with_interval(fair, 2),
                    with_interval(without_rounding(gained), 3),
                    with_interval(regret, 4),
                ]);
            }
        }
    }
    table
}

/// J*CF and J*Full over δ.
fn optima(sources: &Sources) -> Table {
    let columns = ["δ", "J*CF, linear", "J*Full, linear", "J*CF, non-linear", "J*Full, non-linear"];
    let mut table = Table::new("", 1, columns);
    let rows = &sources.results.measured.optima;
    let strengths: Vec<f64> = rows.iter().filter(|r| r.world == PaperWorld::Linear).map(|r| r.strength).collect();
    for strength in strengths {
        let cells = WORLDS.iter().flat_map(|world| {
            let row = rows.iter().find(|r| r.world == *world && r.strength == strength);
            row.map_or(["–", "–"].map(String::from), |r| {
                [r.fair, r.full].map(|(value, error)| to_error(value, error))
            })
        });
        table.push(std::iter::once(plain(strength, 1)).chain(cells));
    }
    table
}

/// Whether the spread of residuals depends on the level.
fn additivity(sources: &Sources) -> Table {
    let mut table = Table::new("", 2, ["attribute", "output", "χ²", "p"]);
    for row in &sources.results.measured.additivity {
        let p = super::labels::short(row.p_value);
        table.push([row.attribute.clone(), row.output.clone(), plain(row.statistic, 1), p]);
    }
    table
}

/// What Ours is worth beside Random, and how fair beside Unaware, split by split.
fn differences(sources: &Sources, study: &Study) -> Table {
    let columns = [
        "attribute",
        "unfairness, Ours − Unaware",
        "value, Ours − Random",
        "value, Unaware − Random",
        "value, Full − Random",
    ];
    let mut table = Table::new("", 1, columns);
    for attribute in study.attributes() {
        let of = |a, b, value| with_interval(paired(sources.results, study, attribute, a, b, value), 3);
        table.push([
            attribute.to_string(),
            of(Method::Ours, Method::Unaware, false),
            of(Method::Ours, Method::Random, true),
            of(Method::Unaware, Method::Random, true),
            of(Method::Full, Method::Random, true),
        ]);
    }
    table
}

/// The comparisons with one thread a side.
fn single<'a>(sources: &'a Sources<'a>) -> impl Iterator<Item = &'a Peer> {
    sources.results.peers.iter().filter(|row| row.threads == 1)
}

/// A median between its quartiles, with about three digits.
fn quartiles(q: Quartiles) -> String {
    let decimals = if q.median < 10.0 { 2 } else { usize::from(q.median < 100.0) };
    with_bounds(q.median, (q.low, q.high), decimals)
}

/// Fitted Q iteration: their time in units of ours over n, one row a peer and d.
fn peers_fitted_q(sources: &Sources) -> Table {
    let rows: Vec<&Peer> = single(sources).filter(|row| row.count("n").is_some() && row.times.is_none()).collect();
    let distinct = |name: &str| {
        let mut values: Vec<f64> = rows.iter().filter_map(|row| row.count(name)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    let sizes = distinct("n");
    let columns = ["peer".to_string(), "d".into()].into_iter();
    let titles = sizes.iter().map(|&n| format!("n = {}", crate::report::number::tick(n)));
    let mut table = Table::new("", 1, columns.chain(titles).chain(["bar".to_string()]));
    let mut peers: Vec<&str> = Vec::new();
    for row in &rows {
        if !peers.contains(&row.peer.as_str()) {
            peers.push(&row.peer);
        }
    }
    for peer in peers {
        for &d in &distinct("d") {
            let of = |n: f64| {
                rows.iter().find(|row| row.peer == peer && row.count("d") == Some(d) && row.count("n") == Some(n))
            };
            let cells = sizes.iter().map(|&n| of(n).and_then(|row| row.ratio).map_or("–".into(), quartiles));
            let bar = sizes.iter().find_map(|&n| of(n)?.bar).map_or("–".into(), crate::report::number::tick);
            let head = [peer.to_string(), crate::report::number::tick(d)];
            table.push(head.into_iter().chain(cells).chain([bar]));
        }
    }
    table
}

/// What ran on either side, where it is not the same algorithm.
fn unlike(row: &Peer) -> Option<&'static str> {
    (row.peer == "PyCFRL" && row.what == "file to policy and value").then_some("our least squares, its networks")
}

/// Everything else that was compared.
fn peers(sources: &Sources) -> Table {
    let mut table = Table::new("", 3, ["task", "peer", "size", "their time / ours", "bar", "reached"]);
    let mut rows: Vec<&Peer> = single(sources).filter(|row| row.count("n").is_none() || row.times.is_some()).collect();
    // What compares like with like comes first.
    rows.sort_by_key(|row| unlike(row).is_some());
    for row in rows {
        let value = |value: &serde_json::Value| value.as_f64().map_or(value.to_string(), crate::report::number::tick);
        let size: Vec<String> = row.size.iter().map(|(name, x)| format!("{name} {}", value(x))).collect();
        let bar = row.bar.map_or("–".into(), |bar| {
            let sign = if row.times.is_some() { "ours/theirs ≤" } else { "≥" };
            format!("{sign} {}", crate::report::number::tick(bar))
        });
        let ratio = row.ratio.map_or("–".into(), quartiles);
        let reached = row.reached.map_or("–", |yes| if yes { "yes" } else { "no" });
        let what = unlike(row).map_or(row.what.clone(), |words| format!("{}: {words}", row.what));
        table.push([what, row.peer.clone(), size.join(", "), ratio, bar, reached.into()]);
    }
    table
}

/// Every label: where it is proved, how it stands among the errata, and what became of its claims.
fn claims(sources: &Sources) -> Table {
    let mut table = Table::new("", 4, ["label", "Coq", "errata", "claims"]);
    for (label, entry) in super::labels::labels(sources) {
        let files: BTreeSet<&str> = entry.proofs.iter().map(|(file, _)| file.trim_end_matches(".v")).collect();
        let files = files.into_iter().collect::<Vec<_>>().join(", ");
        let errata = counted(entry.errata.iter().map(|erratum| erratum.stands));
        table.push([label, files, errata, counted(entry.claims.iter().map(|claim| claim.verdict))]);
    }
    table
}

/// Words in the order in which they come, each once, with its count.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for word in words {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let text = |(word, count): (&str, usize)| if count == 1 { word.into() } else { format!("{word} ×{count}") };
    counts.into_iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Errata of one kind, consequences after their root.
fn errata(sources: &Sources, stands: Stands) -> Table {
    let columns = ["label", "line", "words", "says", "fails because", "witness", "at", "instead", "Coq"];
    let mut table = Table::new("", columns.len(), columns);
    for row in of_kind(&sources.results.examined.errata, stands) {
        let (erratum, sides) = (&row.erratum, row.witness.printed);
        let root = if row.is_root() { String::new() } else { format!(" (from {})", erratum.root) };
        let short = super::labels::short;
        table.push([
            format!("{}{root}", erratum.label),
            erratum.source.line.to_string(),
            erratum.source.words.to_string(),
            erratum.says.to_string(),
            erratum.why.to_string(),
            format!("{} {} {}", short(sides.is), super::labels::against(sides.relation), short(sides.said)),
            row.witness.text.clone(),
            erratum.right.to_string(),
            erratum.proved_by.join(", "),
        ]);
    }
    table
}

/// Slips of index, sign or letter.
fn slips() -> Table {
    let mut table = Table::new("", 4, ["label", "line", "words", "meant"]);
    for slip in SLIPS {
        table.push([slip.label, &slip.source.line.to_string(), slip.source.words, slip.meant]);
    }
    table
}
