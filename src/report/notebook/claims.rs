//! Claims with what was found, and errata with their witnesses.

use super::{Content, Show};
use crate::report::Table;
use crate::report::claims::errata_table;
use crate::theory::errata::ErratumRow;
use crate::theory::theorems::{Cells, Row};

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
