//! Claims with what was found, errata with their witnesses, slopes as pictures, bounds with what happened.

use super::{Content, Gallery, Show};
use crate::kernel::numeric::Estimate;
use crate::report::number::significant;
use crate::report::plot::{Axis, Chart, Ink, Series, Span};
use crate::report::{Table, errata_table};
use crate::theory::Bounds;
use crate::theory::errata::ErratumRow;
use crate::theory::theorems::{Cells, Row, Slope};

impl Show for [Row] {
    fn content(&self) -> Content {
        let mut table = Table::new(
            "What was found, the limit, the margin between the two, and what the control found.",
            6,
            ["label", "claim", "found", "limit", "margin", "control"],
        );
        for row in self {
            let Cells { found, limit, margin, control } = Cells::of(row);
            table.push([row.claim.label.into(), row.claim.says.to_string(), found, limit, margin, control]);
        }
        Content::table(&table)
    }
}

impl Show for [ErratumRow] {
    fn content(&self) -> Content {
        let rows: Vec<&ErratumRow> = self.iter().collect();
        Content::table(&errata_table("Errata, each with a witness that was recomputed.", &rows))
    }
}

/// One panel per slope: what was measured, the slope of theory through its middle, and the control.
pub fn slope_panels(rows: &[Row]) -> Gallery {
    let panels: Vec<Chart> = rows.iter().filter_map(slope_chart).collect();
    Gallery::new(2, &panels)
}

/// The panel of a slope, in notebooks and in the report alike; nothing for a claim that is about none.
pub(in crate::report) fn slope_chart(row: &Row) -> Option<Chart> {
    let (slope, target) = (row.slope()?, row.claim.limit.slope()?);
    let measured = |slope: &Slope, name: &str, ink: Ink| {
        let count = slope.seeds;
        let each = slope.sizes.iter().zip(&slope.means).zip(&slope.standard_errors);
        let points = each.map(|((&n, &mean), &standard_error)| (n, Span::of(Estimate { mean, standard_error, count })));
        Series::new(name, ink, points.map(|(n, span)| (Span::exact(n), span)))
    };
    let middle = |values: &[f64]| values.iter().map(|x| x.ln()).sum::<f64>() / values.len() as f64;
    let height = middle(&slope.means) - target * middle(&slope.sizes);
    let line = slope.sizes.iter().map(|n| (*n, (height + target * n.ln()).exp()));
    let y = Axis::log(&format!("mean over {} seeds", slope.seeds));
    let chart = Chart::new(&slope.quantity, Axis::log(&slope.axis), y)
        .with(Series::new(&format!("theory: slope {target}"), Ink::THEORY, line))
        .with(measured(slope, &format!("measured: {:.2}", slope.slope), Ink::MEASURED));
    Some(match row.control.slope() {
        Some(control) => chart.with(measured(control, &format!("control: {:.2}", control.slope), Ink::CONTROL)),
        None => chart,
    })
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
