//! The page of theorems: every claim with its limit, margin and control, every slope as a picture, and the errata.

use super::notebook::slope_chart;
use super::number::{plain, with_bounds};
use super::{Figure, Section, Table, comma_separated};
use crate::theory::errata::{ErratumRow, SLIPS, Stands, of_kind, roots};
use crate::theory::theorems::{Cells, Examined, Found, Limit, Rank, Row, Slope, sides, theorems as all};

/// The section of what was examined.
pub fn theorems(examined: &Examined) -> Section {
    let Examined { theorems: rows, errata } = examined;
    let fallen = rows.iter().filter(|row| !row.as_expected()).map(|row| row.claim.label);
    let other = errata.iter().filter(|row| !row.as_expected()).map(|row| row.erratum.label);
    let surprises: Vec<&str> = fallen.chain(other).collect();
    let warning = if surprises.is_empty() {
        String::new()
    } else {
        format!("{} rows are not as expected: {}.", surprises.len(), surprises.join(", "))
    };
    let kinds = Stands::ALL.map(|stands| errata_table(about(stands), &of_kind(errata, stands)));
    Section {
        label: "claims".into(),
        title: "Theorems and errata".into(),
        warning,
        paper: vec![
            "Four theorems and the displays of their proofs, numbered here in order: C for thm:sr_policy, D for thm:regret, E for \
             thm:cf_metric; X and M are remarks and what the statements leave out. Lines are those of its LaTeX source."
                .into(),
        ],
        seen: observations(examined),
        figures: rows.iter().enumerate().filter_map(|(i, row)| slope(i, row)).collect(),
        tables: std::iter::once(theorems_table(EVERY_CLAIM, rows)).chain(kinds).chain([slips()]).collect(),
        command: "counterfair verify".into(),
        ..Section::default()
    }
}

const EVERY_CLAIM: &str = "Every claim that was examined: what was found, the limit it must keep, the margin between the two, and what the \
                           control found, the same run with one part changed, which must break the limit. None is shown to be true.";

/// What stands above the errata of one kind.
fn about(stands: Stands) -> &'static str {
    match stands {
        Stands::Printed => "Errata, printed as statements; consequences stand under their root.",
        Stands::Step => "Steps of proofs that fail; the statement that a step serves may be right all the same.",
        Stands::Implied => "What the document needs without printing it, and what does not hold.",
        Stands::Assumed => "Assumptions that fail in an example, which makes no statement false.",
    }
}

/// What the rows say, in sentences made from them.
fn observations(examined: &Examined) -> Vec<String> {
    let Examined { theorems: rows, errata } = examined;
    let of = |rank: Rank| rows.iter().filter(move |row| row.claim.rank == rank);
    let holding = |rank: Rank| of(rank).filter(|row| row.as_expected()).count();
    let turned = rows.iter().filter(|row| row.control_turns()).count();
    let count = |stands: Stands| of_kind(errata, stands).len();
    let mut seen = vec![
        format!(
            "{} of {} theorems and {} of {} lemmas came back as expected; each ran the program's own code.",
            holding(Rank::Headline),
            of(Rank::Headline).count(),
            holding(Rank::Lemma),
            of(Rank::Lemma).count()
        ),
        format!("{turned} of {} controls broke the limit that their claim keeps, as they must.", rows.len()),
        format!(
            "{} printed statements are false at a witness, which come from {} errors; {} steps of proofs fail, {} statements that are needed and \
             not printed fail, and {} assumptions fail in an example.",
            count(Stands::Printed),
            roots(errata, Stands::Printed).len(),
            count(Stands::Step),
            count(Stands::Implied),
            count(Stands::Assumed)
        ),
    ];
    let left_out = all().len().saturating_sub(rows.len());
    if left_out > 0 {
        seen.push(format!(
            "{left_out} claims that take longer, all rates among them, are left to `counterfair verify`."
        ));
    }
    seen
}

/// One row per claim, as `cargo test --test theorems` shows it, with its hypotheses and its theorem in Coq.
pub fn theorems_table(caption: &str, rows: &[Row]) -> Table {
    let columns =
        ["label", "claim", "assumes", "found", "limit", "margin", "control", "what the control changes", "runs", "Coq"];
    let mut table = Table::new(caption, columns.len(), columns).in_sentences();
    for row in rows {
        let Cells { found, limit, margin, control } = Cells::of(row);
        let claim = &row.claim;
        table.push([
            claim.label.to_string(),
            claim.says.to_string(),
            claim.assumes.join("; "),
            found,
            limit,
            margin,
            control,
            claim.control.to_string(),
            claim.runs.to_string(),
            claim.proved_by.join(", "),
        ]);
    }
    table
}

/// The slopes among some rows: what theory says of each, what was measured, and the control's slope.
pub fn slopes_table(caption: &str, rows: &[Row]) -> Table {
    let columns = ["label", "claim", "theory", "slope [95 % interval]", "last three sizes", "control"];
    let mut table = Table::new(caption, 2, columns);
    for (row, slope) in rows.iter().filter_map(|row| Some((row, row.slope()?))) {
        table.push([
            row.claim.label.to_string(),
            row.claim.says.to_string(),
            theory(row.claim.limit),
            with_bounds(slope.slope, slope.interval, 2),
            plain(slope.last_three, 2),
            row.control.slope().map_or("–".into(), |control| with_bounds(control.slope, control.interval, 2)),
        ]);
    }
    table
}

/// What theory says of a slope.
fn theory(limit: Limit) -> String {
    let number = |slope: f64| plain(slope, 1);
    match limit {
        Limit::SlopeAtMost { slope } => format!("at most {}", number(slope)),
        Limit::SlopeAtLeast { slope } => format!("at least {}", number(slope)),
        Limit::Law { slope } => number(slope),
        Limit::AtMost | Limit::Equal => "–".into(),
    }
}

/// One row per erratum: the document's words and what they say, why it fails, both sides of a witness, and how it should read.
pub fn errata_table(caption: &str, rows: &[&ErratumRow]) -> Table {
    let columns = [
        "label",
        "line",
        "words of the document",
        "what it says",
        "fails because",
        "it would say",
        "witness",
        "right",
        "Coq",
    ];
    let mut table = Table::new(caption, columns.len(), columns).in_sentences();
    for row in rows {
        let (erratum, witness) = (&row.erratum, &row.witness);
        let root = if row.is_root() { String::new() } else { format!(" (from {})", erratum.root) };
        let mark = if row.as_expected() { "" } else { " (!)" };
        table.push([
            format!("{}{root}{mark}", erratum.label),
            erratum.source.line.to_string(),
            erratum.source.words.to_string(),
            erratum.says.to_string(),
            erratum.why.to_string(),
            sides(witness.printed),
            witness.text.clone(),
            erratum.right.to_string(),
            erratum.proved_by.join(", "),
        ]);
    }
    table
}

/// Slips of the document.
fn slips() -> Table {
    let caption = "Slips of index, sign or letter, which count towards nothing.";
    let mut table = Table::new(caption, 4, ["label", "line", "words of the document", "meant"]).in_sentences();
    for slip in SLIPS {
        table.push([slip.label, &slip.source.line.to_string(), slip.source.words, slip.meant]);
    }
    table
}

/// Means against size for the claim and its control, both axes logarithmic, with theory's line.
fn slope(index: usize, row: &Row) -> Option<Figure> {
    let chart = slope_chart(row)?;
    let stated = row.slope()?;
    let mut csv = comma_separated::line(["series", &stated.axis, "mean", "standard_error"]);
    let series = [("claim", &row.stated), ("control", &row.control)].map(|(name, found)| (name, Found::slope(found)));
    for (name, slope) in series.into_iter().filter_map(|(name, slope)| Some((name, slope?))) {
        let Slope { sizes, means, standard_errors, .. } = slope;
        for ((n, mean), error) in sizes.iter().zip(means).zip(standard_errors) {
            csv += &comma_separated::line([name.to_string(), n.to_string(), mean.to_string(), error.to_string()]);
        }
    }
    let control =
        row.control.slope().map_or(String::new(), |slope| format!(" Control: slope {}.", plain(slope.slope, 2)));
    let caption = format!(
        "{}: {}. Black: what was measured, means over {} seeds with 95 % intervals; slope {}, of the last three sizes alone {}. Grey: theory, {}. \
         Brown: the control, {}.{control}",
        row.claim.label,
        row.claim.says,
        stated.seeds,
        with_bounds(stated.slope, stated.interval, 2),
        plain(stated.last_three, 2),
        theory(row.claim.limit),
        row.claim.control
    );
    Some(Figure { name: format!("claim_{}", index + 1), svg: chart.svg(), caption, csv })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::theory::errata::{errata, recompute};
    use crate::theory::theorems::{Claim, Run, Worst};

    fn measured(slope: f64) -> Found {
        let sizes = vec![10.0, 100.0, 1000.0];
        Found::Slope(Box::new(Slope {
            quantity: "regret".into(),
            axis: "N".into(),
            means: sizes.iter().map(|n: &f64| n.powf(slope)).collect(),
            sizes,
            standard_errors: vec![0.01; 3],
            seeds: 60,
            slope,
            intercept: 0.0,
            interval: (slope - 0.05, slope + 0.05),
            last_three: slope,
        }))
    }

    /// A rate that is kept, whose control is not.
    pub(in crate::report) fn rate() -> Row {
        let check = |run: Run| measured(run.pick(-0.5, 0.0));
        Claim {
            label: "rate:n",
            says: "regret falls like N^−½",
            limit: Limit::Law { slope: -0.5 },
            check,
            ..Claim::HEADLINE
        }
        .examine()
    }

    fn bound(run: Run) -> Found {
        let mut worst = Worst::default();
        worst.at_most(1.0, run.pick(2.0, 0.5), || "one".into());
        worst.found()
    }

    fn examined() -> Examined {
        let lemma = Claim { label: "x", says: "one is at most two", check: bound, ..Claim::LEMMA };
        let some: Vec<_> =
            errata().into_iter().filter(|erratum| ["D4", "X2", "D13"].contains(&erratum.label)).collect();
        Examined { theorems: vec![rate(), lemma.examine()], errata: recompute(&some) }
    }

    #[test]
    fn a_section_shows_every_row_and_warns_of_none() {
        let examined = examined();
        let section = theorems(&examined);
        assert!(section.warning.is_empty(), "{}", section.warning);
        assert_eq!((section.tables[0].rows.len(), section.figures.len()), (2, 1));
        let errata: usize = section.tables[1..5].iter().map(|table| table.rows.len()).sum();
        assert_eq!(errata, examined.errata.len());
        assert!(section.seen[0].starts_with("1 of 1 theorems and 1 of 1 lemmas"), "{:?}", section.seen);
    }

    #[test]
    fn consequences_stand_under_their_root_with_the_words_of_the_document() {
        let section = theorems(&examined());
        let implied: Vec<[&str; 2]> = section.tables[3].rows.iter().map(|row| [&*row[0], &*row[1]]).collect();
        assert_eq!(implied, [["X2", "381"], ["D13 (from X2)", "758"], ["D4", "787"]]);
    }

    #[test]
    fn what_is_not_as_expected_is_a_warning() {
        let mut examined = examined();
        examined.theorems[1].stated = Found::Nothing { reason: "no data".into() };
        examined.errata[0].witness.printed = crate::theory::errata::Sides::equals(1.0, 1.0);
        let section = theorems(&examined);
        assert!(section.warning.starts_with("2 rows are not as expected: x, "), "{}", section.warning);
    }

    #[test]
    fn a_slope_is_drawn_with_its_control_and_theory() {
        let figure = slope(0, &rate()).expect("a slope");
        for word in ["measured", "control", "theory", "mean over"] {
            assert!(figure.svg.contains(word), "{word} is missing");
        }
        assert_eq!(figure.csv.lines().count(), 7);
        assert_eq!(slopes_table("", &[rate()]).rows[0][3], "−0.50 [−0.55, −0.45]");
    }
}
