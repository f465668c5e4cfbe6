//! What the noise models do to real studies, from the tables that `tests/noise` made and keeps.

use super::coverage::{field, lines};
use crate::report::Table;
use std::collections::HashMap;

const NOISE: &str = include_str!("../../../tests/noise/real_studies_noise.csv");
const POLICIES: &str = include_str!("../../../tests/noise/real_studies_policies.csv");

type Line = HashMap<&'static str, &'static str>;

/// A row for each study and attribute: which coordinates needed more than added noise, what the diagnostics say after it, and what it does to
/// the plain quadratic policy that reads all worlds (the default learner gives everybody the same action in all of them).
pub(super) fn table() -> Table {
    let columns = [
        "study",
        "attribute",
        "more than added noise",
        "not to be believed after it",
        "people",
        "CF metric, additive",
        "CF metric, chosen",
        "%, additive",
        "%, chosen",
    ];
    let mut table = Table::new("", 4, columns);
    for (study, attribute, people) in studies() {
        let here = |line: &Line| field(line, "study") == study && field(line, "attribute") == attribute;
        let outputs: Vec<Line> = lines(NOISE).filter(|line| here(line)).collect();
        let ours =
            |line: &Line| here(line) && field(line, "method") == "ours" && field(line, "learner") == "plain quadratic";
        let of = |noise: &str| lines(POLICIES).find(|line| ours(line) && field(line, "noise") == noise);
        let (Some(additive), Some(chosen)) = (of("additive"), of("chosen")) else { continue };
        let cells = [
            listed(outputs.iter().filter(|line| field(line, "rung") != "additive"), |line| field(line, "rung")),
            listed(outputs.iter().filter(|line| field(line, "verdict") != "Believable"), |line| {
                if field(line, "verdict") == "FewValues" { "few values".into() } else { "levels differ".into() }
            }),
            people,
            metric(&additive),
            metric(&chosen),
            shares(&additive),
            shares(&chosen),
        ];
        table.push([study, attribute].into_iter().chain(cells));
    }
    table
}

/// Study, attribute and people, in the order of the file.
fn studies() -> Vec<(String, String, String)> {
    let mut all: Vec<(String, String, String)> = Vec::new();
    for line in lines(NOISE) {
        let of = ["study", "attribute", "people"].map(|name| field(&line, name));
        let [study, attribute, people] = of;
        if !all.iter().any(|(s, a, _)| (s, a) == (&study, &attribute)) {
            all.push((study, attribute, people));
        }
    }
    all.sort();
    all
}

/// `reward scale; state1 first, state1 rank`: the coordinates of each kind.
fn listed<'a>(outputs: impl Iterator<Item = &'a Line>, kind: impl Fn(&Line) -> String) -> String {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for line in outputs {
        let (kind, name) = (kind(line), field(line, "output"));
        match kinds.iter_mut().find(|(k, _)| *k == kind) {
            Some((_, names)) => names.push(name),
            None => kinds.push((kind, vec![name])),
        }
    }
    if kinds.is_empty() {
        return "none".into();
    }
    let told: Vec<String> = kinds.into_iter().map(|(kind, names)| format!("{kind}: {}", names.join(", "))).collect();
    told.join("; ")
}

fn metric(line: &Line) -> String {
    let number = |name: &str| field(line, name).parse::<f64>().ok();
    match (number("cf_metric"), number("low_95"), number("high_95")) {
        (Some(mean), Some(low), Some(high)) => format!("{mean:.3} [{low:.3}, {high:.3}]"),
        _ => "–".into(),
    }
}

/// The shares, in per cent, of all actions but the first, which follow from the others, level by level.
fn shares(line: &Line) -> String {
    let of_level = |level: &str| {
        let each: Vec<String> = level.split(' ').filter(|share| !share.is_empty()).skip(1).map(percent).collect();
        each.join("/")
    };
    field(line, "actions_by_level").split('|').map(of_level).collect::<Vec<_>>().join(" | ")
}

fn percent(share: &str) -> String {
    share.parse::<f64>().map_or("–".into(), |share| format!("{:.0}", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_has_its_row() {
        let table = table();
        assert_eq!(table.rows.len(), 7, "{:?}", table.rows);
        let row = |study: &str, attribute: &str| {
            let found = table.rows.iter().find(|row| (row[0].as_str(), row[1].as_str()) == (study, attribute));
            found.unwrap_or_else(|| panic!("no row of {study}, {attribute}")).clone()
        };
        let sex = row("HELP", "sex");
        assert!(sex[2].contains("rank: ") && sex[2].contains("state1 first") && sex[3] == "none", "{sex:?}");
        assert!(row("HELP", "race")[3].contains("levels differ: "));
        assert!(row("STAR", "gender")[3].contains("few values: "), "whether the class is small is one of two values");
    }

    #[test]
    fn shares_leave_the_first_action_out() {
        let line: Line = [("actions_by_level", "0.628 0.372 0.1 | none 0.422 0.2")].into_iter().collect();
        assert_eq!(shares(&line), "37/10 | 42/20");
    }
}
