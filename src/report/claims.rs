//! The theory as executable claims: verdicts in a table, rates in charts.

use super::notebook::law_chart;
use super::{Figure, Section, Table, comma_separated};
use crate::theory::{ARITHMETIC, Budget, Expected, Kind, Row, UNCHECKED, Verdict};
use std::collections::BTreeSet;

/// The section of some claims, examined; `left_out` counts those that were not.
pub fn claims(rows: &[Row], budget: Budget, left_out: usize) -> Section {
    let budget_name = budget.pick("quick", "full");
    let surprises: Vec<&str> = rows.iter().filter(|row| !row.as_expected).map(|row| row.claim.label).collect();
    let warning = if surprises.is_empty() {
        String::new()
    } else {
        format!("{} claims did not come back as expected: {}.", surprises.len(), surprises.join(", "))
    };
    Section {
        label: "claims".into(),
        title: "The theory as executable claims".into(),
        warning,
        paper: vec![
            "Four theorems and the displays of their proofs, numbered here in order: C for thm:sr_policy, D for thm:regret, E for \
             thm:cf_metric; X and M are remarks and what the statements leave out. Lines are those of its LaTeX source."
                .into(),
        ],
        seen: observations(rows, left_out),
        figures: rows.iter().enumerate().filter_map(|(i, row)| rate(i, row)).collect(),
        tables: vec![summary(rows), verdicts(rows), errata(rows), unchecked()],
        command: format!("counterfair verify --budget {budget_name}"),
        ..Section::default()
    }
}

/// What the rows say, in sentences made from them.
fn observations(rows: &[Row], left_out: usize) -> Vec<String> {
    let count = |keep: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| keep(row)).count();
    let refuted = |kind: Kind| count(&|row| row.claim.kind == kind && row.verdict.is(Expected::Refuted));
    let of = |kind: Kind| count(&|row| row.claim.kind == kind);
    let turned = count(&|row| row.claim.control_turns(&row.control));
    let mut seen = vec![
        format!(
            "{} of {} printed statements are refuted, each with a witness beside the source's own words; they come from {} errors.",
            refuted(Kind::Printed),
            of(Kind::Printed),
            roots(rows, Kind::Printed).len()
        ),
        format!(
            "Of {} statements that are implied and not printed {} fail; of {} assumptions {} fail in an example, which makes no statement \
             false.",
            of(Kind::Implied),
            refuted(Kind::Implied),
            of(Kind::Assumption),
            refuted(Kind::Assumption)
        ),
        format!("{} of {} statements of our own stand.", of(Kind::Ours) - refuted(Kind::Ours), of(Kind::Ours)),
        format!(
            "{} of {} claims run the library's code; the others are arithmetic.",
            count(&|row| row.claim.runs != ARITHMETIC),
            rows.len()
        ),
        format!("{turned} of {} controls came back with the opposite verdict, as they must.", rows.len()),
    ];
    if left_out > 0 {
        seen.push(format!(
            "{left_out} claims that take longer, all rates among them, are left to `counterfair verify`."
        ));
    }
    seen
}

/// The labels of the errors behind the refuted statements of a kind.
fn roots(rows: &[Row], kind: Kind) -> BTreeSet<&'static str> {
    let refuted = rows.iter().filter(|row| row.claim.kind == kind && row.verdict.is(Expected::Refuted));
    refuted.map(|row| row.claim.root).collect()
}

/// Verdicts by kind.
fn summary(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Claims by whose they are and what became of them; roots are the errors that the refuted ones follow from.",
        1,
        ["kind", "exact", "not refuted", "refuted", "roots", "inconclusive", "unexpected"],
    );
    for kind in Kind::ALL {
        let of_kind = || rows.iter().filter(move |row| row.claim.kind == kind);
        let came_back = |word: &str| of_kind().filter(|row| row.verdict.word() == word).count().to_string();
        table.push([
            kind.word().to_string(),
            came_back("exact"),
            came_back("not refuted"),
            came_back("refuted"),
            roots(rows, kind).len().to_string(),
            came_back("inconclusive"),
            of_kind().filter(|row| !row.as_expected).count().to_string(),
        ]);
    }
    table
}

/// What of the document is refuted, grouped by the error it follows from, with the document's words.
fn errata(rows: &[Row]) -> Table {
    let caption =
        "What does not hold as the document has it, grouped by root; a witness for each stands in the table above.";
    let mut table = Table::new(caption, 5, ["root", "label", "kind", "line", "words of the document"]).in_sentences();
    let refuted = |row: &&Row| row.claim.kind != Kind::Ours && row.verdict.is(Expected::Refuted);
    let mut order: Vec<&str> = vec![];
    for row in rows.iter().filter(refuted) {
        if !order.contains(&row.claim.root) {
            order.push(row.claim.root);
        }
    }
    for root in order {
        for row in rows.iter().filter(refuted).filter(|row| row.claim.root == root) {
            let (line, words) = quoted(row);
            table.push([root.into(), row.claim.label.into(), row.claim.kind.word().into(), line, words.to_string()]);
        }
    }
    table
}

/// Line and words of the document.
fn quoted(row: &Row) -> (String, &'static str) {
    row.claim.source.map_or(("–".into(), "–"), |source| (source.line.to_string(), source.words))
}

/// Columns of a terminal.
const WIDTH: usize = 100;

/// Every claim for a terminal, in lines of at most a hundred columns: a row of the table, then what is claimed and what was found.
pub fn claims_listing(rows: &[Row]) -> String {
    let line = |cells: [&str; 6]| {
        let [label, kind, line, verdict, control, runs] = cells;
        format!("{label:<20} {kind:<10} {line:>4}  {verdict:<16} {control:<12} {runs}\n")
    };
    let mut text = line(["label", "kind", "line", "verdict", "control", "runs"]);
    for row in rows {
        let (place, words) = quoted(row);
        let verdict = format!("{}{}", row.verdict.word(), if row.as_expected { "" } else { " (!)" });
        let claim = &row.claim;
        text += &line([claim.label, claim.kind.word(), &place, &verdict, row.control.word(), claim.runs]);
        text += &wrapped(claim.statement);
        if claim.source.is_some() && claim.kind != Kind::Ours {
            text += &wrapped(&format!("source: {words}"));
        }
        if claim.root != claim.label {
            text += &wrapped(&format!("follows from {}", claim.root));
        }
        text += &wrapped(&format!("found: {}", row.verdict.detail()));
    }
    let table = summary(rows);
    format!("{text}\n{}", table.terminal())
}

/// A paragraph, indented, in lines that fit; a word longer than a line is cut.
fn wrapped(text: &str) -> String {
    let room = WIDTH - 4;
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while !rest.is_empty() {
            let last = lines.last_mut().expect("never empty");
            let used = last.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + rest.len() <= room {
                last.push_str(if gap > 0 { " " } else { "" });
                last.extend(rest.drain(..));
            } else if used == 0 {
                last.extend(rest.drain(..room));
                lines.push(String::new());
            } else {
                lines.push(String::new());
            }
        }
    }
    lines.into_iter().filter(|line| !line.is_empty()).map(|line| format!("    {line}\n")).collect()
}

/// How much of a claim is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// With what it assumes and what its control found; errors with all their digits, and the time it took.
    Everything,
    /// What comes out the same on every machine: no times, and an error at rounding level as just that.
    Reproducible,
}

/// Deviations below this are those of sums of floating-point numbers.
const ROUNDING: f64 = 1e-10;

/// The table of claims, one row each: the one that pages and notebooks show.
pub fn claims_table(caption: &str, rows: &[Row], detail: Detail) -> Table {
    let everything = detail == Detail::Everything;
    let found = |verdict: &Verdict| match verdict {
        Verdict::Exact { error } if !everything && *error > 0.0 && *error < ROUNDING => {
            "error at rounding level".into()
        }
        other => other.detail(),
    };
    let surprise = match detail {
        Detail::Everything => " (!)",
        Detail::Reproducible => " (not expected)",
    };
    let columns = if everything {
        vec![
            "label",
            "kind",
            "line",
            "claim",
            "words of the document",
            "assumes",
            "verdict",
            "found",
            "control",
            "found by the control",
            "runs",
            "seconds",
        ]
    } else {
        vec!["label", "kind", "claim", "verdict", "found", "control"]
    };
    let words = columns.len() - usize::from(everything);
    let mut table = Table::new(caption, words, columns);
    for row in rows {
        let claim = &row.claim;
        let mut cells = vec![claim.label.to_string(), claim.kind.word().to_string()];
        let (line, words) = quoted(row);
        if everything {
            cells.extend([line, claim.statement.to_string(), words.to_string(), claim.assumes.join("; ")]);
        } else {
            cells.push(claim.statement.to_string());
        }
        cells.push(format!("{}{}", row.verdict.word(), if row.as_expected { "" } else { surprise }));
        cells.extend([found(&row.verdict), row.control.word().to_string()]);
        if everything {
            cells.extend([row.control.detail(), claim.runs.to_string(), format!("{:.1}", row.seconds)]);
        }
        table.push(cells);
    }
    table
}

/// Every claim with its verdict, its witness or worst ratio, and its control.
fn verdicts(rows: &[Row]) -> Table {
    let caption = "Every claim. A verdict is never “true”: exact means enumerated or in closed form, not refuted means searched. The control is the \
                   same check where its answer must turn.";
    claims_table(caption, rows, Detail::Everything).in_sentences()
}

/// Statements without a claim, and why.
fn unchecked() -> Table {
    let mut table =
        Table::new("Statements of the paper without a claim of their own.", 2, ["label", "reason"]).in_sentences();
    for (label, reason) in UNCHECKED {
        table.push([*label, *reason]);
    }
    table
}

/// Means against size for the claim and its control, both axes logarithmic, with the line that is claimed.
fn rate(index: usize, row: &Row) -> Option<Figure> {
    let law = row.verdict.law()?;
    let chart = law_chart(row)?;
    let mut csv = comma_separated::line(["series", &law.axis, "mean", "standard_error"]);
    for (name, law) in [("claim", Some(law)), ("control", row.control.law())] {
        for ((n, mean), error) in law.iter().flat_map(|l| l.sizes.iter().zip(&l.means).zip(&l.standard_errors)) {
            csv += &comma_separated::line([name.to_string(), n.to_string(), mean.to_string(), error.to_string()]);
        }
    }
    let control = row.control.law().map_or(String::new(), |law| format!(" Control: slope {:.2}.", law.slope));
    let caption = format!(
        "{}: {}. Black: what was measured, means over {} seeds with 95 % intervals; slope {:.2}, of which {} % of bootstrap slopes lie in \
         [{:.2}, {:.2}]. Grey: the slope claimed. Brown: the control.{control}",
        row.claim.label,
        row.claim.statement,
        law.runs / law.sizes.len().max(1),
        law.slope,
        (100.0 * law.confidence).round(),
        law.interval.0,
        law.interval.1
    );
    Some(Figure { name: format!("claim_{}", index + 1), svg: chart.svg(), caption, csv })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Claim, Law, claims as all, examine};

    fn cheap() -> Vec<Row> {
        let some: Vec<Claim> = all().into_iter().filter(|claim| ["D4", "E8"].contains(&claim.label)).collect();
        examine(&some, Budget::Quick, |_| {})
    }

    #[test]
    fn a_section_shows_every_row_and_warns_of_none() {
        let rows = cheap();
        let section = claims(&rows, Budget::Quick, 7);
        assert!(section.warning.is_empty(), "{}", section.warning);
        assert_eq!(section.tables[1].rows.len(), rows.len());
        assert!(section.seen.iter().any(|line| line.starts_with("7 claims")), "{:?}", section.seen);
    }

    #[test]
    fn a_terminal_of_a_hundred_columns_has_room_for_every_line() {
        let rows = cheap();
        let text = claims_listing(&rows);
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{line}");
        }
        for row in &rows {
            assert!(text.contains(row.claim.label) && text.contains(row.claim.runs));
        }
        let long = format!("a {} b", "x".repeat(250));
        assert!(wrapped(&long).lines().all(|line| line.chars().count() <= WIDTH));
        let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        assert_eq!(letters(&wrapped(&long)), letters(&long), "nothing is lost");
    }

    #[test]
    fn errata_are_grouped_by_root_and_carry_the_words_of_the_document() {
        let some: Vec<Claim> = all().into_iter().filter(|claim| ["X2", "D13"].contains(&claim.label)).collect();
        let table = errata(&examine(&some, Budget::Quick, |_| {}));
        let found: Vec<[&str; 3]> = table.rows.iter().map(|row| [&*row[0], &*row[1], &*row[3]]).collect();
        assert_eq!(found, [["X2", "D13", "758"], ["X2", "X2", "381"]]);
    }

    #[test]
    fn an_unexpected_verdict_is_a_warning() {
        let mut rows = cheap();
        rows[0].verdict = Verdict::Inconclusive { reason: "no data".into() };
        rows[0].as_expected = false;
        let section = claims(&rows, Budget::Quick, 0);
        assert!(section.warning.contains("1 claims") && section.warning.contains(rows[0].claim.label));
        assert!(section.tables[1].rows[0][6].contains("(!)"));
    }

    #[test]
    fn a_rate_is_drawn_with_its_control_and_its_target() {
        let law = Law {
            axis: "N".into(),
            sizes: vec![10.0, 100.0, 1000.0],
            means: vec![1.0, 0.3, 0.1],
            standard_errors: vec![0.1, 0.03, 0.01],
            runs: 180,
            slope: -0.5,
            intercept: 0.0,
            interval: (-0.6, -0.4),
            confidence: 0.99,
            target: -0.5,
        };
        let mut row = cheap().remove(0);
        let text = String::new();
        row.verdict = Verdict::NotRefuted { trials: 180, worst_ratio: 0.0, law: Some(Box::new(law.clone())) };
        let witness = crate::theory::Witness { text, left: 0.0, right: 0.0, law: Some(Box::new(law)) };
        row.control = Verdict::Refuted { witness };
        let figure = rate(0, &row).expect("a law");
        for word in ["measured", "control", "slope", "mean over"] {
            assert!(figure.svg.contains(word), "{word} is missing");
        }
        assert_eq!(figure.csv.lines().count(), 7);
    }
}
