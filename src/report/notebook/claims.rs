//! Claims with their verdicts, rates with their slopes, bounds with what happened.

use super::{Content, Gallery, OrStop, Show};
use crate::kernel::numeric::Estimate;
use crate::report::number::{plain, significant, with_bounds};
use crate::report::plot::{Axis, Chart, Ink, Series, Span};
use crate::report::{Detail, Table, claims_table};
use crate::theory::{Bounds, Budget, Claim, Law, Row, claims, examine};

impl Show for [Row] {
    fn content(&self) -> Content {
        Content::table(&verdicts("Claims, what became of them, and of their controls.", self))
    }
}

/// Examines the claims of some labels.
///
/// Ends the cell where a label has no claim, or where a verdict is not the expected one: text about it would be about something else.
pub fn about(labels: &[&str]) -> Examined {
    let chosen: Vec<Claim> = claims().into_iter().filter(|claim| labels.contains(&claim.label)).collect();
    let missing = labels.iter().find(|label| chosen.iter().all(|claim| claim.label != **label));
    missing.map_or(Ok(()), |label| Err(format!("no claim has the label {label}"))).or_stop();
    let rows = examine(&chosen, Budget::Quick, |_| {});
    let other = rows.iter().find(|row| !row.as_expected);
    other.map_or(Ok(()), |row| Err(format!("{} did not come back as expected", row.claim.label))).or_stop();
    Examined(rows)
}

/// Claims with their verdicts; what was found beside them is shown only when it is asked for.
#[derive(Debug, Clone)]
pub struct Examined(Vec<Row>);

impl Examined {
    /// The rows.
    pub fn rows(&self) -> &[Row] {
        &self.0
    }

    /// What refutes the printed statement of a label, with both sides of the inequality that fails.
    pub fn witness(&self, label: &str) -> String {
        let refuted = |row: &&Row| row.claim.label == label && row.verdict.word() == "refuted";
        let row = self.0.iter().find(refuted);
        row.map_or(format!("{label}: nothing is refuted"), |row| format!("{label}: {}", row.verdict.detail()))
    }
}

impl Show for Examined {
    fn content(&self) -> Content {
        let whole = claims_table("Claims, what became of them, and of their controls.", &self.0, Detail::Reproducible);
        let kept: Vec<usize> = (0..whole.columns.len()).filter(|&j| whole.columns[j] != "found").collect();
        let pick = |cells: &[String]| kept.iter().map(|&j| cells[j].clone()).collect::<Vec<_>>();
        let mut table = Table::new(&whole.caption, kept.len(), pick(&whole.columns));
        whole.rows.iter().for_each(|row| table.push(pick(row)));
        Content::table(&table)
    }
}

/// One row per claim; what took how long is left out, because it never comes twice.
pub fn verdicts(caption: &str, rows: &[Row]) -> Table {
    claims_table(caption, rows, Detail::Reproducible)
}

/// The rates among some rows: what theory gives, the slope with its interval, and the slope of the control.
pub fn laws(caption: &str, rows: &[Row]) -> Table {
    let mut table = Table::new(caption, 2, ["label", "claim", "sizes", "theory", "slope [interval]", "control"]);
    for (row, law) in rows.iter().filter_map(|row| Some((row, row.verdict.law()?))) {
        let (first, last) = (law.sizes.first().copied().unwrap_or(0.0), law.sizes.last().copied().unwrap_or(0.0));
        table.push([
            row.claim.label.to_string(),
            row.claim.statement.to_string(),
            format!("{} = {} … {}", law.axis, significant(first), significant(last)),
            plain(law.target, 1),
            with_bounds(law.slope, law.interval, 3),
            row.control.law().map_or("–".into(), |law| plain(law.slope, 2)),
        ]);
    }
    table
}

/// One panel a rate: what was measured, the slope of theory through its middle, and the control.
pub fn law_panels(rows: &[Row]) -> Gallery {
    let panels: Vec<Chart> = rows.iter().filter_map(law_chart).collect();
    Gallery::new(2, &panels)
}

/// The panel of a rate, in notebooks and in the report alike; nothing for a claim that is no rate.
pub(in crate::report) fn law_chart(row: &Row) -> Option<Chart> {
    let law = row.verdict.law()?;
    let measured = |law: &Law, name: &str, ink: Ink| {
        let count = law.runs / law.sizes.len().max(1);
        let each = law.sizes.iter().zip(&law.means).zip(&law.standard_errors);
        let points = each.map(|((&n, &mean), &standard_error)| (n, Span::of(Estimate { mean, standard_error, count })));
        Series::new(name, ink, points.map(|(n, span)| (Span::exact(n), span)))
    };
    let middle = |values: &[f64]| values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64;
    let height = middle(&law.means) - law.target * middle(&law.sizes);
    let line = law.sizes.iter().map(|n| (*n, (height + law.target * n.ln()).exp()));
    let quantity = quantity(row.claim.statement);
    let seeds = law.runs / law.sizes.len().max(1);
    let y = Axis::log(&format!("mean over {seeds} seeds"));
    let chart = Chart::new(&capitalised(quantity), Axis::log(&law.axis), y)
        .with(Series::new(&format!("theory: slope {}", law.target), Ink::THEORY, line))
        .with(measured(law, &format!("measured: {:.2}", law.slope), Ink::MEASURED));
    Some(match row.control.law() {
        Some(control) => chart.with(measured(control, &format!("control: {:.2}", control.slope), Ink::CONTROL)),
        None => chart,
    })
}

/// What a statement about a rate is about: the words before what it does.
fn quantity(statement: &str) -> &str {
    let ends = [" falls like", " grows like", " is of order", " has slope"];
    ends.iter().find_map(|end| statement.split_once(end)).map_or(statement, |(quantity, _)| quantity)
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

impl Show for [Bounds] {
    fn content(&self) -> Content {
        let caption = "Regret on the circle bed, and what was promised: as printed with C = κ = 1, corrected, and corrected with the data's own \
                       constants.";
        let columns = ["n", "ε_s", "ε_r", "‖f̂ − Q*‖∞", "regret", "printed", "corrected", "certificate"];
        let mut table = Table::new(caption, 0, columns);
        for row in self {
            let (given, found) = ([row.state_error, row.reward_error], [row.error, row.regret]);
            let promised = [row.printed, row.population, row.certificate];
            let numbers = given.into_iter().chain(found).chain(promised).map(significant);
            table.push(std::iter::once(row.tuples.to_string()).chain(numbers));
        }
        Content::table(&table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_is_named_after_what_was_measured() {
        assert_eq!(quantity("‖f̂ − Q*‖∞ falls like n^{−1/2}"), "‖f̂ − Q*‖∞");
        assert_eq!(
            capitalised(quantity("the error of counterfactual states falls like N^{−1/2}")),
            "The error of counterfactual states"
        );
        assert_eq!(quantity("something else"), "something else");
    }
}
