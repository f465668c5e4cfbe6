//! How often intervals hold the truth, from the tables that `tests/` made and keeps.

use crate::report::Table;
use std::collections::{HashMap, HashSet};

const FRONT_DOOR: &str = include_str!("../../../tests/coverage/front_door.csv");
const UNFAIRNESS: &str = include_str!("../../../tests/coverage/unfairness.csv");

const STABLE: &str = include_str!("../../../tests/stable_learner.csv");

/// The stable learner beside the plain quadratic, from the table that `tests/stable_learner.rs` made: other panels than those of the figure.
pub(super) fn stable() -> Table {
    let columns = ["world", "states", "N", "plain regret", "stable regret", "plain CF metric", "stable CF metric"];
    let mut table = Table::new("", 2, columns);
    let of = |learner: &'static str| lines(STABLE).filter(move |line| field(line, "learner") == learner);
    for (plain, stable) in of("plain").zip(of("stable")) {
        let place = ["world", "states", "people"];
        if place.iter().any(|name| field(&plain, name) != field(&stable, name)) {
            continue;
        }
        let pair = |name: &str| {
            [&plain, &stable].map(|line| {
                let number = |name: &str| field(line, name).parse::<f64>().unwrap_or(f64::NAN);
                let (mean, error) = (number(name), number(&format!("{name}_se")));
                if mean == 0.0 { "0 exactly".to_string() } else { format!("{mean:.4} ({error:.4})") }
            })
        };
        let numbers = pair("regret").into_iter().chain(pair("cf_metric"));
        table.push(place.map(|name| field(&plain, name)).into_iter().chain(numbers));
    }
    table
}

/// The lines of a comma-separated text by column.
pub(super) fn lines(text: &'static str) -> impl Iterator<Item = HashMap<&'static str, &'static str>> {
    let mut all = text.lines();
    let names: Vec<&str> = all.next().unwrap_or_default().split(',').collect();
    all.map(move |line| names.iter().copied().zip(line.split(',')).collect())
}

pub(super) fn field(line: &HashMap<&'static str, &'static str>, name: &str) -> String {
    line.get(name).copied().unwrap_or_default().to_string()
}

/// What is left to say of a row: numbers made with the present default, or, where there are none, with an earlier one.
fn present() -> Vec<HashMap<&'static str, &'static str>> {
    let key = |line: &HashMap<&'static str, &'static str>| {
        ["world", "people", "horizon", "method", "number"].map(|name| field(line, name))
    };
    let is_present = |line: &HashMap<&'static str, &'static str>| field(line, "made_with") == "cautious";
    let anew: HashSet<[String; 5]> = lines(FRONT_DOOR).filter(is_present).map(|line| key(&line)).collect();
    lines(FRONT_DOOR).filter(|line| is_present(line) || !anew.contains(&key(line))).collect()
}

/// What `evaluate` prints of Ours at N = 400 and T = 8, by world.
pub(super) fn table() -> Table {
    let columns =
        ["world", "what is printed", "repetitions", "truth", "mean estimate", "50 %", "90 %", "95 %", "half-width"];
    let mut table = Table::new("", 2, columns);
    let wanted = present().into_iter().filter(|line| {
        (field(line, "people"), field(line, "horizon"), field(line, "method"))
            == ("400".into(), "8".into(), "ours".into())
            && ["value", "minus received", "CF metric"].contains(&field(line, "number").as_str())
    });
    for line in wanted {
        let names = [
            "world",
            "number",
            "repetitions",
            "truth",
            "estimate",
            "covers_50",
            "covers_90",
            "covers_95",
            "half_width_95",
        ];
        table.push(names.map(|name| field(&line, name)));
    }
    table
}

/// The world whose noise spreads by level, with noise that is merely added and with the noise model that held-out people favour.
pub(super) fn ladder() -> Table {
    let columns =
        ["noise model", "N", "true CF metric of Ours", "mean estimate", "95 % interval covers", "upper bound covers"];
    let mut table = Table::new("", 1, columns);
    let mut push = |model: &str, line: &HashMap<&'static str, &'static str>| {
        let names = ["people", "truth", "estimate", "covers_95", "upper_95"];
        table.push(std::iter::once(model.to_string()).chain(names.map(|name| field(line, name))));
    };
    let added = |line: &HashMap<_, _>| field(line, "setting") == "spread by level" && field(line, "judged") == "fresh";
    for line in lines(UNFAIRNESS).filter(|line| added(line) && field(line, "policy") == "ours") {
        push("additive, as in the source", &line);
    }
    let chosen = ["spread-by-level", "400", "8", "ours", "CF metric"];
    let names = ["world", "people", "horizon", "method", "number"];
    for line in present().iter().filter(|line| names.map(|name| field(line, name)) == chosen) {
        push("chosen by held-out people", line);
    }
    table
}

/// How often intervals at 95 % hold the truth where their assumptions hold, over all settings with the present default.
pub(super) struct Pooled {
    /// Settings: world, people, horizon.
    pub settings: usize,
    /// Share of intervals of values and differences, and how many there were.
    pub values: (f64, f64),
    /// Share of intervals of the CF metric, and of its upper bounds. Four states do not determine their noise: the finite world is left out.
    pub metric: (f64, f64),
}

impl Pooled {
    pub fn new() -> Self {
        let made: Vec<_> = lines(FRONT_DOOR)
            .filter(|line| field(line, "made_with") == "cautious" && !field(line, "world").starts_with("control"))
            .collect();
        let settings: HashSet<_> =
            made.iter().map(|line| ["world", "people", "horizon"].map(|name| field(line, name))).collect();
        let pooled = |is_one: &dyn Fn(&HashMap<&'static str, &'static str>) -> bool, column: &str| {
            let counted = made.iter().filter(|line| is_one(line)).filter_map(|line| {
                Some((field(line, "repetitions").parse::<f64>().ok()?, field(line, column).parse::<f64>().ok()?))
            });
            let (all, held) = counted.fold((0.0, 0.0), |(all, held), (n, share)| (all + n, held + n * share));
            (held / all, all)
        };
        let is_value = |line: &HashMap<_, _>| {
            let number = field(line, "number");
            number == "value" || number.starts_with("minus")
        };
        let is_metric = |line: &HashMap<_, _>| field(line, "number") == "CF metric" && field(line, "world") != "finite";
        Self {
            settings: settings.len(),
            values: pooled(&is_value, "covers_95"),
            metric: (pooled(&is_metric, "covers_95").0, pooled(&is_metric, "upper_95").0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_have_their_rows() {
        assert_eq!(table().rows.len() % 3, 0, "three numbers for each world");
        let stable = stable();
        assert!(stable.rows.len() >= 12 && stable.rows.iter().all(|row| !row[3].contains("NaN")), "{:?}", stable.rows);
        let ladder = ladder();
        assert_eq!(ladder.rows.len(), 2);
        let truth = |row: usize| ladder.rows[row][2].parse::<f64>().expect("a number");
        assert!(truth(0) > 3.0 * truth(1), "the wrong noise model is what costs: {:?}", ladder.rows);
        let pooled = Pooled::new();
        assert!(pooled.settings >= 12 && pooled.values.1 > 1000.0, "{} settings", pooled.settings);
        for share in [pooled.values.0, pooled.metric.0, pooled.metric.1] {
            assert!((0.92..=0.98).contains(&share), "{share}");
        }
    }
}
