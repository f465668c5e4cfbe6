//! Claims with their verdicts, rates with their slopes, bounds with what happened.

use super::{Content, Show};
use crate::report::number::{plain, significant, with_bounds};
use crate::report::{Detail, Table, claims_table};
use crate::theory::{Bounds, Row};

impl Show for [Row] {
    fn content(&self) -> Content {
        Content::table(&verdicts("Claims, what became of them, and of their controls.", self))
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

impl Show for [Bounds] {
    fn content(&self) -> Content {
        let caption = "Regret on the hat bed, and what was promised: as printed with C = κ = 1, corrected, and corrected with the data's own \
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
