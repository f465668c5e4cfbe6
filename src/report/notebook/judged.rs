//! What policies are worth, how fair they are, and whom they treat.

use super::{Content, Show};
use crate::audit::FittedEvaluation;
use crate::kernel::evaluate::{ActionRates, Evaluation};
use crate::kernel::people::Panel;
use crate::report::Table;
use crate::report::number::{plain, with_interval};
use crate::report::plot::{Axis, Dumbbell, Pair, Span};
use crate::theory::optimum::{Bounded, Optimum};
use crate::theory::rules::{Paths, StrictUnfairness};

impl Show for Evaluation {
    fn content(&self) -> Content {
        Content::table(&comparison("One policy, followed in a known world.", [("policy", self)]))
    }
}

/// Several policies, followed on the same draws: `eq:cf_metric`, total variation and value, each with its 95 % interval over people.
pub fn comparison<'a, S: ToString>(caption: &str, policies: impl IntoIterator<Item = (S, &'a Evaluation)>) -> Table {
    let mut table = Table::new(caption, 1, ["policy", "CF metric", "total variation", "value"]);
    for (name, found) in policies {
        table.push([
            name.to_string(),
            with_interval(found.unfairness.metric, 4),
            with_interval(found.unfairness.total_variation, 4),
            with_interval(found.value, 3),
        ]);
    }
    table
}

impl Show for [(&str, Paths)] {
    fn content(&self) -> Content {
        let caption =
            "Total variation between worlds, by what changes: what the policy is told, where the person is, or both.";
        let mut table = Table::new(caption, 1, ["policy", "direct", "indirect", "total"]);
        for (name, Paths { direct, indirect, total }) in self {
            let cells = [direct, indirect, total].map(|path| with_interval(*path, 4));
            table.push(std::iter::once(name.to_string()).chain(cells));
        }
        Content::table(&table)
    }
}

impl Show for StrictUnfairness {
    fn content(&self) -> Content {
        let mut table = Table::new("The strict CF metric: other levels and other pasts.", 1, ["", "found"]);
        let past = self
            .past
            .as_ref()
            .map_or("each person's own".into(), |past| past.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
        table.push(["metric".to_string(), with_interval(self.metric, 4)]);
        table.push(["attained between levels".to_string(), format!("{} and {}", self.levels.0, self.levels.1)]);
        table.push(["attained by the past".to_string(), past]);
        table.push(["pasts tried".to_string(), self.tried.to_string()]);
        Content::table(&table)
    }
}

impl Show for Optimum {
    fn content(&self) -> Content {
        let mut table = Table::new("Optimal values over an endless horizon.", 1, ["", "value", "error"]);
        let mut push = |name: &str, Bounded { value, error }: Bounded| {
            // What is left of the error below this is rounding, which is another on every machine.
            let error = if error < 1e-9 { "< 1e-9".into() } else { format!("{error:.0e}") };
            table.push([name.to_string(), plain(value, 6), error]);
        };
        push("J*CF, the best fair policy", self.fair);
        push("J*Full, the best of all", self.full);
        push("price of fairness", self.price_of_fairness());
        Content::table(&table)
    }
}

impl<V, F> Show for FittedEvaluation<V, F> {
    fn content(&self) -> Content {
        let mut table = Table::new("Fitted Q evaluation.", 1, ["", "found"]);
        table.push(["value".to_string(), self.value.map_or("none: diverged".into(), |v| with_interval(v, 3))]);
        table.push(["tuples".to_string(), self.transitions.to_string()]);
        table.push(["condition number of the regressions".to_string(), plain(self.condition, 1)]);
        table.push(["ended".to_string(), self.outcome.to_string()]);
        Content::table(&table)
    }
}

/// The share of decisions that gave each action, by group.
pub fn rates(caption: &str, rates: &ActionRates, panel: &Panel) -> Table {
    let actions = panel.action_names().names();
    let mut table = Table::new(caption, 1, ["group"].into_iter().chain(actions.iter().map(String::as_str)));
    for (k, level) in panel.levels().names().iter().enumerate() {
        let share = |a: usize| rates.overall(k, a).map_or("–".into(), |share| with_interval(share, 3));
        table.push(std::iter::once(level.clone()).chain((0..actions.len()).map(share)));
    }
    table
}

/// How often each of two groups receives one action, a row a policy: `fig:real_action_percentage`.
pub fn shares<'a>(
    title: &str,
    panel: &Panel,
    action: usize,
    policies: impl IntoIterator<Item = (&'a str, &'a ActionRates)>,
) -> Dumbbell {
    let share = |rates: &ActionRates, k: usize| rates.overall(k, action).map_or(Span::exact(0.0), Span::share);
    let row =
        |(name, rates): (&str, &ActionRates)| Pair { name: name.into(), shares: [share(rates, 0), share(rates, 1)] };
    Dumbbell {
        title: title.into(),
        x: Axis::linear(&format!("share of decisions: {}", panel.action_names().name(action))),
        groups: [0, 1].map(|k| panel.levels().name(k).to_string()),
        rows: policies.into_iter().map(row).collect(),
    }
}
