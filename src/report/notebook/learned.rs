//! Fitted mechanisms, action values, and what to look at before trusting them.

use super::{Content, Show};
use crate::audit::diagnostics::Diagnostics;
use crate::estimate::Fitted;
use crate::kernel::learn::FittedQ;
use crate::kernel::people::Panel;
use crate::report::Table;
use crate::report::number::{plain, significant, with_interval};

impl Show for Fitted {
    fn content(&self) -> Content {
        let caption = format!("A fitted mechanism; one-step gain ℓ = {}.", plain(self.gain(), 3));
        let outputs = self.reports().first().map_or(0, |r| r.residual_sd.len());
        let name = |j: usize| if j + 1 == outputs { "reward".to_string() } else { format!("state{}", j + 1) };
        let columns = ["level", "rows", "columns", "rank"].map(String::from).into_iter();
        let mut table =
            Table::new(&caption, 1, columns.chain((0..outputs).map(|j| format!("residual sd, {}", name(j)))));
        for report in self.reports() {
            let level = report.level.map_or("all".into(), |k| k.to_string());
            let sizes = [report.rows, report.columns, report.rank].map(|n| n.to_string());
            let deviations = report.residual_sd.iter().map(|sd| plain(*sd, 4));
            table.push(std::iter::once(level).chain(sizes).chain(deviations));
        }
        Content::table(&table)
    }
}

impl<V, F> Show for FittedQ<V, F> {
    fn content(&self) -> Content {
        let mut table = Table::new("Fitted Q iteration.", 1, ["", "found"]);
        table.push(["tuples", &self.transitions.to_string()]);
        table.push(["condition number of the regressions", &plain(self.condition, 1)]);
        table.push(["ended", &self.outcome.to_string()]);
        Content::table(&table)
    }
}

/// The name of an output of a mechanism.
fn output(panel: &Panel, names: &[String], output: usize) -> String {
    if output < panel.state_dim() {
        names.get(output).cloned().unwrap_or_else(|| format!("state{}", output + 1))
    } else {
        "reward".into()
    }
}

/// Does the spread of the noise depend on the level? One row an output; small p-values speak against additivity.
pub fn dependence(diagnostics: &Diagnostics, panel: &Panel, states: &[String]) -> Table {
    let caption =
        "Mean absolute residual by level: under additivity one noise serves every level, and these are equal.";
    let columns = ["output".to_string()].into_iter().chain(panel.levels().names().iter().cloned());
    let mut table = Table::new(caption, 1, columns.chain(["χ²", "p"].map(String::from)));
    for test in &diagnostics.dependence {
        let spread = test.spread.iter().map(|s| with_interval(*s, 3));
        let judged = [plain(test.statistic, 1), significant(test.p_value)];
        table.push(std::iter::once(output(panel, states, test.output)).chain(spread).chain(judged));
    }
    table
}

/// How many counterfactual states of each level lie where that level has no data.
pub fn support(diagnostics: &Diagnostics, panel: &Panel) -> Table {
    let caption = "Counterfactual states of each level, made from people of the other levels.";
    let mut table = Table::new(caption, 1, ["level", "states", "outside the level's data", "share"]);
    for s in &diagnostics.support {
        let share = s.outside as f64 / s.states.max(1) as f64;
        let level = panel.levels().name(s.level);
        table.push([level, &s.states.to_string(), &s.outside.to_string(), &plain(share, 4)]);
    }
    table
}
