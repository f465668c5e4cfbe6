//! The table of theorems in a terminal: what `cargo test --test theorems` and `counterfair verify` print.

use super::{Expected, Found, Limit, NEAR, Rank, Row, Verdict};
use crate::theory::errata::{ErratumRow, SLIPS, Sides, Slip, Stands, of_kind};

/// What the table's last line says of errata and proofs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// Errata, recomputed.
    pub errata: &'a [ErratumRow],
    /// Theorems in `proofs/`, where that folder is at hand.
    pub proved: Option<usize>,
}

/// Widths of the columns: check, says, found, limit, margin; the control takes what it needs.
const WIDTHS: [usize; 5] = [14, 48, 22, 10, 8];

/// Rows of the table as text: those of rank headline, or all; then a line for the lemmas and one for the errata.
pub fn table(rows: &[Row], beside: Beside<'_>, all: bool) -> String {
    let mut text = line(["check", "says", "found", "limit", "margin", "control"]);
    for row in rows.iter().filter(|row| all || row.claim.rank == Rank::Headline || !row.as_expected()) {
        text += &entry(row);
    }
    text.push('\n');
    text += &lemmas(rows);
    let fallen = beside.errata.iter().filter(|row| !row.as_expected()).count();
    if !beside.errata.is_empty() {
        text += &format!(" · {} errata recomputed", beside.errata.len());
        if fallen > 0 {
            text += &format!(", {fallen} NOT AS EXPECTED");
        }
    }
    if let Some(count) = beside.proved {
        text += &format!(" · {count} theorems in Coq");
    }
    if !all {
        text += " · all rows: cargo test --test theorems -- --all, or counterfair verify --all";
    }
    text.push('\n');
    if all && !beside.errata.is_empty() {
        text += &errata(beside.errata);
    }
    text
}

/// One claim: its cells, what it says wrapped below itself.
fn entry(row: &Row) -> String {
    let Cells { found, limit, margin, control } = Cells::of(row);
    let says = wrapped(row.claim.says, WIDTHS[1]);
    let mut text = line([row.claim.label, &says[0], &found, &limit, &margin, &control]);
    for more in &says[1..] {
        text += &line(["", more, "", "", "", ""]);
    }
    if !row.as_expected() {
        for more in wrapped(&surprise(row), WIDTHS[1]) {
            text += &line(["", &more, "", "", "", ""]);
        }
    }
    text
}

/// What a surprising row needs beside its numbers: the case that breaks it.
fn surprise(row: &Row) -> String {
    let of = |found: &Found| match found {
        Found::Sides(worst) => worst.text.clone(),
        Found::Slope(slope) => format!("{} at {}: means {:?}", slope.quantity, slope.axis, slope.means),
        Found::Nothing { reason } => reason.clone(),
    };
    if !row.control_turns() { format!("the control changes nothing: {}", of(&row.control)) } else { of(&row.stated) }
}

/// The cells of a row that hold numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    /// What was found, with its interval.
    pub found: String,
    /// What must be kept.
    pub limit: String,
    /// The distance between the two: a ratio for two sides, a difference for slopes.
    pub margin: String,
    /// What the control found, and whether it was caught.
    pub control: String,
}

impl Cells {
    /// The cells of a row.
    pub fn of(row: &Row) -> Self {
        let limit = row.claim.limit;
        let caught = match (row.control_turns(), row.claim.expected) {
            (true, Expected::Holds) => "caught",
            (true, Expected::Outside) => "accepted",
            (false, _) => "NOT CAUGHT",
        };
        let margin = match row.verdict() {
            Verdict::Exact => "exact".into(),
            Verdict::Inconclusive => "open".into(),
            _ if row.claim.expected == Expected::Outside => "outside".into(),
            Verdict::Refuted => "BROKEN".into(),
            Verdict::NotRefuted => match margin(limit, &row.stated) {
                // The slope's interval holds the promised slope: neither above it nor clear of it.
                Some(margin) if margin < 0.0 => "at limit".into(),
                Some(margin) => short(margin),
                None => "–".into(),
            },
        };
        Self {
            found: found(&row.stated),
            limit: limit_text(limit, &row.stated),
            margin,
            control: format!("{}: {caught}", control(limit, &row.control)),
        }
    }
}

fn found(found: &Found) -> String {
    match found {
        Found::Sides(worst) => short(worst.left),
        Found::Slope(slope) => {
            format!("{} [{}, {}]", signed(slope.slope), signed(slope.interval.0), signed(slope.interval.1))
        }
        Found::Nothing { .. } => "nothing".into(),
    }
}

fn limit_text(limit: Limit, found: &Found) -> String {
    match (limit, found) {
        (Limit::Equal, _) => "0".into(),
        (Limit::AtMost, Found::Sides(worst)) => short(worst.right),
        (Limit::AtMost, _) => "–".into(),
        (Limit::SlopeAtMost { slope }, _) => format!("≤ {}", plain(slope)),
        (Limit::SlopeAtLeast { slope }, _) => format!("≥ {}", plain(slope)),
        (Limit::Law { slope }, _) => format!("{} ± {NEAR}", plain(slope)),
    }
}

/// How far what was found is from its limit.
pub fn margin(limit: Limit, found: &Found) -> Option<f64> {
    match (limit, found) {
        (Limit::AtMost, Found::Sides(worst)) => Some(1.0 / worst.ratio()),
        (Limit::SlopeAtMost { slope }, Found::Slope(found)) => Some(slope - found.interval.1),
        (Limit::SlopeAtLeast { slope }, Found::Slope(found)) => Some(found.interval.0 - slope),
        (Limit::Law { slope }, Found::Slope(found)) => Some(NEAR - (found.slope - slope).abs()),
        _ => None,
    }
}

fn control(limit: Limit, control: &Found) -> String {
    match (limit, control) {
        (Limit::AtMost, Found::Sides(worst)) if worst.ratio().is_finite() => {
            format!("{} × limit", short(worst.ratio()))
        }
        (_, Found::Sides(worst)) => short(worst.left),
        (_, Found::Slope(slope)) => signed(slope.slope),
        (_, Found::Nothing { .. }) => "nothing".into(),
    }
}

/// The line that counts the lemmas, with the smallest margin and the loosest limit among them.
fn lemmas(rows: &[Row]) -> String {
    let lemmas: Vec<&Row> = rows.iter().filter(|row| row.claim.rank == Rank::Lemma).collect();
    let holding = lemmas.iter().filter(|row| row.as_expected()).count();
    let ratio = |row: &&&Row| match (&row.stated, row.claim.limit) {
        (Found::Sides(worst), Limit::AtMost) if worst.ratio() > 0.0 => Some(1.0 / worst.ratio()),
        _ => None,
    };
    let margins: Vec<(f64, &str)> = lemmas.iter().filter_map(|row| Some((ratio(&row)?, row.claim.label))).collect();
    let tightest = margins.iter().min_by(|a, b| a.0.total_cmp(&b.0));
    let loosest = margins.iter().max_by(|a, b| a.0.total_cmp(&b.0));
    let mut text = format!("{holding} of {} lemmas hold", lemmas.len());
    if let (Some((small, tight)), Some((large, loose))) = (tightest, loosest) {
        text += &format!(" (smallest margin {small:.2}, {tight}; loosest {}, {loose})", short(*large));
    }
    text
}

/// Every erratum with its witness, a paragraph each, by how it stands in the document; consequences after their root, slips last.
fn errata(rows: &[ErratumRow]) -> String {
    let mut text = String::from("\nerrata: what the document says, why it fails, a witness, and how it should read\n");
    for row in Stands::ALL.into_iter().flat_map(|stands| of_kind(rows, stands)) {
        let (erratum, witness) = (&row.erratum, &row.witness);
        let mark = if row.as_expected() { "" } else { "NOT AS EXPECTED: " };
        let root = if row.is_root() { String::new() } else { format!(", follows from {}", erratum.root) };
        let coq = if erratum.proved_by.is_empty() { "no theorem in Coq".into() } else { erratum.proved_by.join(", ") };
        text += &format!("{mark}{} ({}{root})\n", erratum.label, erratum.stands.word());
        for part in [
            erratum.says.to_string(),
            format!("line {}: {}", erratum.source.line, erratum.source.words),
            format!("fails: {}", erratum.why),
            format!("witness: {}; it would say {}", witness.text, sides(witness.printed)),
            format!("right: {} ({})", erratum.right, sides(witness.corrected)),
            format!("Coq: {coq}"),
        ] {
            wrapped(&part, 104).iter().for_each(|line| text += &format!("    {line}\n"));
        }
    }
    text += "\nslips of index, sign or letter, which count towards nothing\n";
    for Slip { label, source, meant } in SLIPS {
        text += &format!("{label} (line {}): {} means {meant}\n", source.line, source.words);
    }
    text
}

/// Both sides of a comparison as numbers.
pub fn sides(sides: Sides) -> String {
    format!("{} {} {}", short(sides.is), sides.relation.symbol(), short(sides.said))
}

fn line(cells: [&str; 6]) -> String {
    let mut text = String::new();
    for (cell, width) in cells.iter().zip(WIDTHS) {
        let pad = width.saturating_sub(cell.chars().count());
        text += cell;
        text += &" ".repeat(pad + 1);
    }
    text += cells[5];
    format!("{}\n", text.trim_end())
}

/// Lines of at most `room` characters, broken at blanks; a longer word stands on a line of its own.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("never empty");
        if last.is_empty() {
            last.push_str(word);
        } else if last.chars().count() + 1 + word.chars().count() <= room {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

/// A slope, with two digits after the point.
fn signed(x: f64) -> String {
    format!("{x:.2}").replace('-', "−")
}

/// A promised slope, as short as it is.
fn plain(x: f64) -> String {
    x.to_string().replace('-', "−")
}

/// Two significant digits.
fn short(x: f64) -> String {
    let size = x.abs();
    let text = match size {
        _ if x == 0.0 || x.is_nan() => x.to_string(),
        _ if size.is_infinite() => "∞".into(),
        _ if (100.0..1e5).contains(&size) => format!("{x:.0}"),
        _ if (10.0..100.0).contains(&size) => format!("{x:.1}"),
        _ if (0.01..10.0).contains(&size) => format!("{x:.2}"),
        _ => format!("{x:.1e}"),
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::theorems::{Claim, Run, Worst};

    fn halves(run: Run) -> Found {
        let mut worst = Worst::default();
        worst.at_most(1.0, run.pick(1.25, 0.5), || "one against a bound".into());
        worst.found()
    }

    fn rows() -> Vec<Row> {
        let claim = Claim { label: "x", says: "one is at most five quarters", check: halves, ..Claim::HEADLINE };
        vec![claim.examine(), Claim { label: "lemma", rank: Rank::Lemma, ..claim }.examine()]
    }

    #[test]
    fn a_row_shows_both_sides_their_ratio_and_the_control() {
        let cells = Cells::of(&rows()[0]);
        assert_eq!((cells.found.as_str(), cells.limit.as_str(), cells.margin.as_str()), ("1.00", "1.25", "1.25"));
        assert_eq!(cells.control, "2.00 × limit: caught");
    }

    #[test]
    fn lemmas_are_counted_and_shown_on_request_or_when_they_surprise() {
        let mut rows = rows();
        let short = table(&rows, Beside::default(), false);
        assert!(short.contains("1 of 1 lemmas hold (smallest margin 1.25, lemma; loosest 1.25, lemma)"), "{short}");
        assert!(!short.lines().any(|line| line.starts_with("lemma ")));
        assert!(table(&rows, Beside::default(), true).lines().any(|line| line.starts_with("lemma ")));
        rows[1].control = rows[1].stated.clone();
        let surprised = table(&rows, Beside::default(), false);
        assert!(surprised.contains("NOT CAUGHT") && surprised.contains("0 of 1 lemmas hold"), "{surprised}");
    }

    #[test]
    fn text_is_broken_at_blanks() {
        assert_eq!(wrapped("a bc def", 4), ["a bc", "def"]);
        assert_eq!(wrapped("abcdefgh i", 4), ["abcdefgh", "i"]);
    }
}
