//! The numbers that the text names, each with its uncertainty, and the words that follow from them.

use super::{Results, Sources};
use crate::kernel::numeric::Estimate;
use crate::report::learners::Tally;
use crate::report::number::{plain, tick, with_bounds, with_interval};
use crate::report::plot::SIZE;
use crate::report::real_data::ADDITIVITY_LEVEL;
use crate::report::regret_panels::Quantity;
use crate::report::sim_all_panels::Panels;
use crate::reproduction::summary::{CONFIDENCE, rate};
use crate::reproduction::{Cell, DISCOUNT, Method, PaperWorld, Study};
use crate::theory::errata::{SLIPS, Stands, of_kind, roots};
use crate::theory::theorems::surprises;
use std::collections::BTreeMap;

/// Names and text.
pub(super) fn numbers(sources: &Sources) -> BTreeMap<String, String> {
    let mut all = Numbers::default();
    all.run(sources);
    all.learners(sources);
    all.regret(sources);
    for world in [PaperWorld::Linear, PaperWorld::Nonlinear] {
        all.world(sources, world);
    }
    for study in sources.studies {
        all.study(sources, study);
    }
    all.claims(sources);
    all.rates(sources);
    all.peers(sources);
    all.0
}

#[derive(Default)]
struct Numbers(BTreeMap<String, String>);

impl Numbers {
    fn put(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.insert(name.into(), text.into());
    }

    /// Sizes of the reproduction and what it took.
    fn run(&mut self, sources: &Sources) {
        let scale = &sources.scale;
        self.put("version", env!("CARGO_PKG_VERSION"));
        let count = |n: usize| tick(n as f64);
        let seeds = |records: &[crate::reproduction::Record]| records.iter().map(|r| r.cell.seed()).max().unwrap_or(0);
        self.put("seeds", seeds(&sources.results.sim_all).to_string());
        self.put("stable.seeds", seeds(&sources.results.stable).to_string());
        self.put("semi.seeds", seeds(&sources.results.semi).to_string());
        if let Some(Cell::SemiSynthetic(cell)) = sources.results.semi.first().map(|record| &record.cell) {
            self.put("semi.N", count(cell.people));
            self.put("semi.people", count(cell.evaluation_people));
        }
        self.put("splits", seeds(&sources.results.splits).to_string());
        self.put("people", count(scale.evaluation_people));
        self.put("decisions", count(scale.evaluation_horizon));
        self.put("long", count(scale.long_horizon));
        self.put("N", count(scale.size));
        self.put("N.first", scale.sizes.first().map_or("–".into(), |&n| count(n)));
        self.put("N.last", scale.sizes.last().map_or("–".into(), |&n| count(n)));
        self.put("cells", count(sources.results.sim_all.len()));
        self.put("tail", plain(DISCOUNT.powi(scale.evaluation_horizon as i32), 3));
        if let Some(run) = &sources.results.run {
            self.put("run.cells", count(run.cells));
            self.put("run.minutes", plain((run.wall_seconds / 60.0).ceil(), 0));
            self.put(
                "run.threads",
                if run.threads == 1 { "one thread".into() } else { format!("{} threads", run.threads) },
            );
        }
    }

    /// Least squares beside networks.
    fn learners(&mut self, sources: &Sources) {
        let Tally { panels, comparisons, differing, by_chance } = super::tables::learners(sources).1;
        self.put("learners.panels", panels);
        self.put("learners.comparisons", comparisons.to_string());
        self.put("learners.differing", differing.to_string());
        self.put("learners.chance", by_chance);
    }

    /// One of the two simulated worlds.
    fn world(&mut self, sources: &Sources, world: PaperWorld) {
        let scale = &sources.scale;
        let panels = Panels { records: &sources.results.sim_all, scale, world, size: SIZE };
        let name = |what: &str| format!("{world}.{what}");
        for (method, which) in [(Method::Ours, "slope"), (Method::KnownForm, "known.slope")] {
            match rate(panels.records, method, panels.by_size()) {
                Ok(fit) => {
                    let half = (fit.interval.0..=fit.interval.1).contains(&-0.5);
                    self.put(name(which), with_bounds(fit.slope, fit.interval, 3));
                    self.put(name(&format!("{which}.verdict")), if half { "contains" } else { "excludes" });
                }
                Err(reason) => {
                    self.put(name(which), format!("none ({reason})"));
                    self.put(name(&format!("{which}.verdict")), "is missing for");
                }
            }
        }
        for method in Method::PAPER {
            if let Some(p) = panels.at_center(method) {
                self.put(name(&format!("cf.{method}")), with_interval(p.unfairness, 4));
                self.put(name(&format!("value.{method}")), with_interval(p.value, 3));
            }
            for (at, strengths) in [("first", 0.0), ("last", f64::INFINITY)] {
                let points = panels.over_strength(method);
                let point = if strengths == 0.0 { points.first() } else { points.last() };
                if let Some(p) = point {
                    self.put(name(&format!("cf.{method}.strength.{at}")), with_interval(p.unfairness, 3));
                }
            }
        }
        let ours = panels.over_size(Method::Ours);
        for (at, point) in [("first", ours.first()), ("last", ours.last())] {
            if let Some(p) = point {
                self.put(name(&format!("cf.ours.{at}")), with_interval(p.unfairness, 4));
            }
        }
        let gap = panels
            .over_size(Method::TrueMeans)
            .iter()
            .zip(panels.over_size(Method::Oracle))
            .map(|(a, b)| (a.value.mean - b.value.mean).abs())
            .fold(0.0, f64::max);
        self.put(name("truth.gap"), if gap == 0.0 { "0".into() } else { super::labels::short(gap) });
        let missing: usize = ours.iter().chain(&panels.over_strength(Method::Ours)).map(|p| p.missing).sum();
        self.put(name("missing"), missing.to_string());
        for (at, strength) in [("0", 0.0), ("1", scale.strength)] {
            let row = sources.results.measured.optima.iter().find(|r| r.world == world && r.strength == strength);
            if let Some(row) = row {
                self.put(name(&format!("fair.{at}")), to_error(row.fair.0, row.fair.1));
                self.put(name(&format!("full.{at}")), to_error(row.full.0, row.full.1));
                let price = (row.full.0 - row.fair.0, row.full.1 + row.fair.1);
                // A price below its own error is not told apart from zero.
                let text = if price.0.abs() <= price.1 { "0".into() } else { to_error(price.0, price.1) };
                self.put(name(&format!("price.{at}")), text);
            }
        }
        if let Some((fair, _)) = optimum_at(sources.results, world, scale.strength) {
            let above = |m: &crate::reproduction::Measured| m.long_value.is_some_and(|v| v.mean > fair);
            let by_size = panels.by_size();
            let here = panels.records.iter().filter(|r| by_size(&r.cell).is_some());
            let ours: Vec<bool> = here.filter_map(|r| r.measured(Method::Ours)).map(above).collect();
            let count = ours.iter().filter(|above| **above).count();
            self.put(name("ours.above.best"), format!("{} of {}", tick(count as f64), tick(ours.len() as f64)));
        }
        let ratio = |at: Option<&crate::reproduction::summary::Point>,
                     other: Option<&crate::reproduction::summary::Point>| {
            at.zip(other).map_or("–".into(), |(a, b)| plain(a.unfairness.mean / b.unfairness.mean, 2))
        };
        let known = panels.over_size(Method::KnownForm);
        self.put(name("known.ratio.first"), ratio(ours.first(), known.first()));
        self.put(name("known.ratio.last"), ratio(ours.last(), known.last()));
        for method in [Method::Full, Method::Unaware, Method::Ours] {
            let points: Vec<_> = panels.over_strength(method).iter().map(|p| (p.at, p.unfairness)).collect();
            let words = crate::report::sim_all::course(&points).unwrap_or("–".into());
            self.put(name(&format!("course.{method}")), words);
        }
        if let Some(words) = crate::report::sim_all::without_effect(&panels) {
            self.put(name("without.effect"), words);
        }
    }

    /// What is lost to the best fair policy.
    fn regret(&mut self, sources: &Sources) {
        let scale = sources.results.scale(crate::reproduction::Label::Regret);
        let worlds = super::tables::regret_panels(sources.results, &scale);
        let count = |n: usize| tick(n as f64);
        self.put("regret.cells", count(sources.results.regret.len()));
        self.put("regret.N.first", scale.regret.sizes.first().map_or("–".into(), |&n| count(n)));
        self.put("regret.N.last", scale.regret.sizes.last().map_or("–".into(), |&n| count(n)));
        self.put("regret.people", count(scale.regret.evaluation_people));
        self.put("regret.decisions", count(scale.regret.evaluation_horizon));
        self.put("regret.precision", crate::report::regret::precision(&worlds).unwrap_or("–".into()));
        let (slopes, outside) = crate::report::regret::outside_the_law(&worlds);
        self.put("regret.slopes", slopes.to_string());
        self.put("regret.slopes.outside", outside.to_string());
        for panels in &worlds {
            let name = |what: &str| format!("{}.regret.{what}", panels.world);
            let text = |fit: Result<crate::kernel::numeric::SlopeFit, _>| {
                fit.map_or("–".into(), |fit| with_bounds(fit.slope, fit.interval, 2))
            };
            let plain = crate::reproduction::Learner::LeastSquares;
            for quantity in Quantity::EVERY {
                let slope = panels.slope(plain, Method::Ours, quantity);
                self.put(name(&format!("ours.{}", quantity.name())), text(slope));
                self.put(
                    name(&format!("error.{}", quantity.name())),
                    text(panels.slope_in_error(Method::BestRule, quantity)),
                );
            }
            self.put(name("oracle"), text(panels.slope(plain, Method::Oracle, Quantity::Regret)));
            self.put(name("best-rule"), text(panels.slope(plain, Method::BestRule, Quantity::Regret)));
            let seeds = panels.over_size(plain, Method::Ours, false, |m| m.regret.map(|e| e.mean));
            let counts: Vec<usize> = seeds.iter().map(|(_, values)| values.len()).collect();
            let (low, high) = (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
            self.put(
                name("panels"),
                if low == high { count(low) } else { format!("{} to {}", count(low), count(high)) },
            );
        }
        let pooled = super::coverage::Pooled::new();
        self.put("coverage.settings", pooled.settings.to_string());
        self.put("coverage.intervals", pooled.values.1.to_string());
        let shares = [("values", pooled.values.0), ("metric", pooled.metric.0), ("upper", pooled.metric.1)];
        for (name, share) in shares {
            self.put(format!("coverage.{name}"), format!("{:.1}", 100.0 * share));
        }
    }

    /// One study: sizes, and what the policies are worth beside each other.
    fn study(&mut self, sources: &Sources, study: &Study) {
        let name = |what: &str| format!("{}.{what}", study.name());
        self.put(name("people"), tick(study.people() as f64));
        self.put(name("decisions"), tick(study.decisions() as f64));
        let all: Vec<&str> = study.attributes().collect();
        let compared = |a, b, value| -> [Vec<&str>; 2] {
            let side = |wanted: f64| {
                let on = |attribute: &&&str| {
                    let difference = paired(sources.results, study, attribute, a, b, value);
                    let (low, high) = difference.interval(CONFIDENCE);
                    if wanted < 0.0 { high < 0.0 } else { low > 0.0 }
                };
                all.iter().filter(on).copied().collect()
            };
            [side(-1.0), side(1.0)]
        };
        let mean = |a, b, value, attribute: &str| paired(sources.results, study, attribute, a, b, value).mean;
        let below = |attribute: &&str| mean(Method::Ours, Method::Random, true, attribute) < 0.0;
        let below: Vec<&str> = all.iter().copied().filter(below).collect();
        let word = if below.is_empty() { "favourable" } else { "unfavourable" };
        self.put(name("result"), word);
        self.put(name("ours.below.random.in.mean"), words(&below));
        let [less, more] = compared(Method::Ours, Method::Random, true);
        self.put(name("ours.less.than.random"), words(&less));
        self.put(name("ours.more.than.random"), words(&more));
        let [fairer, less_fair] = compared(Method::Ours, Method::Unaware, false);
        self.put(name("ours.fairer.than.unaware"), words(&fairer));
        self.put(name("ours.less.fair.than.unaware"), words(&less_fair));
        self.put(name("attributes"), words(&all));
        for attribute in &all {
            let value = paired(sources.results, study, attribute, Method::Ours, Method::Random, true);
            self.put(name(&format!("{attribute}.value.ours-random")), with_interval(value, 3));
            let cf = paired(sources.results, study, attribute, Method::Ours, Method::Unaware, false);
            self.put(name(&format!("{attribute}.cf.ours-unaware")), with_interval(cf, 3));
        }
        let tests: Vec<_> = sources.results.measured.additivity.iter().filter(|r| r.study == study.name()).collect();
        let doubtful: Vec<String> = tests
            .iter()
            .filter(|r| r.p_value < ADDITIVITY_LEVEL)
            .map(|r| format!("{} under {}", r.output, r.attribute))
            .collect();
        self.put(name("additivity.level"), format!("{} %", tick(100.0 * ADDITIVITY_LEVEL)));
        self.put(name("additivity.tests"), tests.len().to_string());
        self.put(name("additivity.rejected"), doubtful.len().to_string());
        self.put(name("additivity.doubtful"), words(&doubtful.iter().map(String::as_str).collect::<Vec<_>>()));
    }

    /// How many claims, errata and theorems in Coq there are, and how they came back.
    fn claims(&mut self, sources: &Sources) {
        let (claims, errata) = (&sources.results.examined.theorems, &sources.results.examined.errata);
        self.put("claims", claims.len().to_string());
        let fallen = errata.iter().filter(|row| !row.as_expected()).count();
        self.put("claims.unexpected", (surprises(claims) + fallen).to_string());
        self.put("errata", errata.len().to_string());
        for stands in Stands::ALL {
            self.put(format!("errata.{}", stands.word()), of_kind(errata, stands).len().to_string());
            self.put(format!("errata.{}.roots", stands.word()), roots(errata, stands).len().to_string());
        }
        self.put("slips", SLIPS.len().to_string());
        let labelled: Vec<_> = sources.proofs.iter().filter(|theorem| !theorem.labels.is_empty()).collect();
        self.put("theorems", labelled.len().to_string());
        let files: std::collections::BTreeSet<_> = labelled.iter().map(|theorem| &theorem.file).collect();
        self.put("theorems.files", files.len().to_string());
    }

    fn rates(&mut self, sources: &Sources) {
        for (name, text) in super::rates::numbers(sources.results) {
            self.put(name, text);
        }
    }

    fn peers(&mut self, sources: &Sources) {
        let peers = &sources.results.peers;
        self.put("peers", peers.len().to_string());
        let judged: Vec<bool> = peers.iter().filter_map(|p| p.reached).collect();
        self.put("peers.judged", judged.len().to_string());
        self.put("peers.reached", judged.iter().filter(|yes| **yes).count().to_string());
        let missed: Vec<String> = peers
            .iter()
            .filter(|p| p.reached == Some(false))
            .map(|p| {
                let size = |name: &str| p.count(name).map(|x| format!(", {name} = {}", tick(x))).unwrap_or_default();
                format!("{} ({}{}{})", p.what, p.peer, size("n"), size("d"))
            })
            .collect();
        self.put("peers.missed", words(&missed.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

/// (J*CF, J*Full) of a world.
pub(super) fn optimum_at(results: &Results, world: PaperWorld, strength: f64) -> Option<(f64, f64)> {
    let row = results.measured.optima.iter().find(|r| r.world == world && r.strength == strength)?;
    Some((row.fair.0, row.full.0))
}

/// The difference between two methods, split by split.
pub(super) fn paired(
    results: &Results,
    study: &Study,
    attribute: &str,
    one: Method,
    other: Method,
    value: bool,
) -> Estimate {
    let differences = results.splits.iter().filter_map(|record| {
        let Cell::Split(cell) = &record.cell else { return None };
        if cell.study != study.name() || cell.attribute != attribute {
            return None;
        }
        let (a, b) = (record.measured(one)?, record.measured(other)?);
        Some(if value { a.value.mean - b.value.mean } else { a.unfairness.mean - b.unfairness.mean })
    });
    Estimate::of(&differences.collect::<Vec<_>>())
}

/// A number with the decimals that its error allows, nine at most.
pub(super) fn to_error(value: f64, error: f64) -> String {
    let decimals = if error > 0.0 { (-(2.0 * error).log10()).floor().clamp(0.0, 9.0) } else { 9.0 };
    plain(value, (decimals as usize).min(6))
}

/// `a, b and c`; `none` of nothing.
fn words(list: &[&str]) -> String {
    match list {
        [] => "none".into(),
        [one] => one.to_string(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_shows_no_digit_that_its_error_may_change() {
        assert_eq!(to_error(8.151_677_259, 1e-9), "8.151677");
        assert_eq!(to_error(6.086_73, 5e-6), "6.08673");
        assert_eq!(to_error(6.086_73, 2e-3), "6.09");
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(words(&[]), "none");
        assert_eq!(words(&["a"]), "a");
        assert_eq!(words(&["a", "b", "c"]), "a, b and c");
    }
}
