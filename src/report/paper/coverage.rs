//! How often intervals hold the truth, from the tables that `tests/` made and keeps.

use crate::report::Table;
use std::collections::HashMap;

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

/// What `evaluate` prints of Ours at N = 400 and T = 8, by world.
pub(super) fn table() -> Table {
    let columns =
        ["world", "what is printed", "repetitions", "truth", "mean estimate", "50 %", "90 %", "95 %", "half-width"];
    let mut table = Table::new("", 2, columns);
    let wanted = lines(FRONT_DOOR).filter(|line| {
        (field(line, "people"), field(line, "horizon"), field(line, "method"))
            == ("400".into(), "8".into(), "ours".into())
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
    let chosen =
        |line: &HashMap<_, _>| field(line, "world") == "spread-by-level" && field(line, "number") == "CF metric";
    for line in lines(FRONT_DOOR).filter(|line| chosen(line) && field(line, "method") == "ours") {
        push("chosen by held-out people", &line);
    }
    table
}

/// How many intervals at 95 % there are in the table of the front door, and how many of them cover in 92 to 98 %.
pub(super) fn counts() -> (usize, usize) {
    let shares: Vec<f64> = lines(FRONT_DOOR).filter_map(|line| field(&line, "covers_95").parse().ok()).collect();
    let within = shares.iter().filter(|share| (0.92..=0.98).contains(*share)).count();
    (shares.len(), within)
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
        let (all, within) = counts();
        assert!(all > 30 && within <= all);
    }
}
