//! The theory as executable claims: verdicts in a table, rates in charts.

use super::plot::{Axis, BLUE, Chart, INK, Ink, Marker, Series, Span, VERMILION};
use super::{Figure, Section, Table, comma_separated};
use crate::kernel::numeric::Estimate;
use crate::theory::{Budget, Expected, Form, Law, Row, UNCHECKED, Verdict};

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
             thm:cf_metric; X and M are remarks and what the statements leave out."
                .into(),
        ],
        seen: observations(rows, left_out),
        figures: rows.iter().enumerate().filter_map(|(i, row)| rate(i, row)).collect(),
        tables: vec![summary(rows), verdicts(rows), unchecked()],
        command: format!("counterfair verify --budget {budget_name}"),
    }
}

/// What the rows say, in sentences made from them.
fn observations(rows: &[Row], left_out: usize) -> Vec<String> {
    let count = |keep: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| keep(row)).count();
    let refuted = count(&|row| row.claim.form == Form::Printed && row.verdict.is(Expected::Refuted));
    let printed = count(&|row| row.claim.form == Form::Printed);
    let standing = count(&|row| row.claim.form == Form::Corrected && !row.verdict.is(Expected::Refuted));
    let turned = count(&|row| row.claim.control_turns(&row.control));
    let mut seen = vec![
        format!("{refuted} of {printed} printed statements are refuted, each with a witness."),
        format!("{standing} of {} corrected or added statements stand.", rows.len() - printed),
        format!("{turned} of {} controls came back with the opposite verdict, as they must.", rows.len()),
    ];
    if left_out > 0 {
        seen.push(format!(
            "{left_out} claims that take longer, all rates among them, are left to `counterfair verify`."
        ));
    }
    seen
}

/// Verdicts by form.
fn summary(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "Claims by what became of them.",
        1,
        ["statement", "exact", "not refuted", "refuted", "inconclusive", "unexpected"],
    );
    for (form, name) in [(Form::Printed, "as printed"), (Form::Corrected, "corrected or added")] {
        let of_form = || rows.iter().filter(move |row| row.claim.form == form);
        let mut cells = vec![name.to_string()];
        cells.extend(
            ["exact", "not refuted", "refuted", "inconclusive"]
                .map(|word| of_form().filter(|row| row.verdict.word() == word).count().to_string()),
        );
        cells.push(of_form().filter(|row| !row.as_expected).count().to_string());
        table.push(cells);
    }
    table
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

/// The table of claims, one row each: the one that `verify` prints and pages, notebooks show.
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
        vec!["label", "form", "claim", "assumes", "verdict", "found", "control", "found by the control", "seconds"]
    } else {
        vec!["label", "form", "claim", "verdict", "found", "control"]
    };
    let words = columns.len() - usize::from(everything);
    let mut table = Table::new(caption, words, columns);
    for row in rows {
        let claim = &row.claim;
        let mut cells = vec![claim.label.to_string(), form_name(claim.form).to_string(), claim.statement.to_string()];
        if everything {
            cells.push(claim.assumes.join("; "));
        }
        cells.push(format!("{}{}", row.verdict.word(), if row.as_expected { "" } else { surprise }));
        cells.extend([found(&row.verdict), row.control.word().to_string()]);
        if everything {
            cells.extend([row.control.detail(), format!("{:.1}", row.seconds)]);
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

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Printed => "printed",
        Form::Corrected => "corrected",
    }
}

/// Means against size for the claim and its control, both axes logarithmic, with the line that is claimed.
fn rate(index: usize, row: &Row) -> Option<Figure> {
    let law = row.verdict.law()?;
    let ink = |color, marker, dashed| Ink { color, marker, dashed };
    let measured = |law: &Law, name: &str, ink: Ink| {
        let each = law.sizes.iter().zip(&law.means).zip(&law.standard_errors);
        let count = law.runs / law.sizes.len();
        let points = each
            .map(|((&n, &mean), &standard_error)| (Span::exact(n), Span::of(Estimate { mean, standard_error, count })));
        Series { name: name.into(), ink, points: points.collect() }
    };
    // The claimed line goes through the middle of the measured means.
    let middle = |values: &[f64]| values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64;
    let height = middle(&law.means) - law.target * middle(&law.sizes);
    let line = law.sizes.iter().map(|n| (Span::exact(*n), Span::exact((height + law.target * n.ln()).exp())));
    let mut series = vec![
        measured(law, "claim", ink(BLUE, Marker::Disc, false)),
        Series { name: format!("slope {}", law.target), ink: ink(INK, Marker::Ring, true), points: line.collect() },
    ];
    series.extend(row.control.law().map(|law| measured(law, "control", ink(VERMILION, Marker::Square, false))));
    let chart = Chart {
        title: format!(
            "{} · slope {:.2} in [{:.2}, {:.2}]",
            row.claim.label, law.slope, law.interval.0, law.interval.1
        ),
        x: Axis::log(&law.axis),
        y: Axis::log("mean over seeds"),
        series,
        references: vec![],
    };
    let mut csv = comma_separated::line(["series", &law.axis, "mean", "standard_error"]);
    for (name, law) in [("claim", Some(law)), ("control", row.control.law())] {
        for ((n, mean), error) in law.iter().flat_map(|l| l.sizes.iter().zip(&l.means).zip(&l.standard_errors)) {
            csv += &comma_separated::line([name.to_string(), n.to_string(), mean.to_string(), error.to_string()]);
        }
    }
    let control = row.control.law().map_or(String::new(), |law| format!(" Control: slope {:.2}.", law.slope));
    let caption = format!(
        "{}: {}. {} runs; the interval holds {} % of bootstrap slopes.{control}",
        row.claim.label,
        row.claim.statement,
        law.runs,
        (100.0 * law.confidence).round()
    );
    Some(Figure { name: format!("claim_{}", index + 1), svg: chart.svg(), caption, csv })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::{Claim, claims as all, examine};

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
    fn an_unexpected_verdict_is_a_warning() {
        let mut rows = cheap();
        rows[0].verdict = Verdict::Inconclusive { reason: "no data".into() };
        rows[0].as_expected = false;
        let section = claims(&rows, Budget::Quick, 0);
        assert!(section.warning.contains("1 claims") && section.warning.contains(rows[0].claim.label));
        assert!(section.tables[1].rows[0][4].contains("(!)"));
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
        for word in ["claim", "control", "slope", "mean over seeds"] {
            assert!(figure.svg.contains(word), "{word} is missing");
        }
        assert_eq!(figure.csv.lines().count(), 7);
    }
}
