//! The figures of speed in benches/README.md, made from what was measured: nobody types one.

use serde_json::Value;
use std::fmt::Write;

const BEGIN: &str = "<!-- speed: written by benches/peers/run -->";
const END: &str = "<!-- speed: end -->";

/// benches/README.md with its section on speed made from these measurements; none when it has no such section.
pub fn with_speed(page: &str, peers: &Value, scaling: &Value) -> Option<String> {
    replaced(page, &section(peers, scaling))
}

fn replaced(page: &str, section: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{section}{END}{after}"))
}

/// Nothing where nothing was measured.
fn section(peers: &Value, scaling: &Value) -> String {
    if peers.is_null() {
        return String::new();
    }
    let rows: Vec<&Value> = peers["rows"].as_array().into_iter().flatten().collect();
    let mut text = String::new();
    let machine = &peers["machine"];
    // Writing to a string does not fail.
    let mut line = |words: String| writeln!(text, "{words}").expect("a string takes every line");
    line(format!(
        "How many times faster than the peer, in turns on {} ({} cores, {}, load {} from other work): median and quartiles of the ratios, one thread each.",
        words(&machine["processor"]),
        machine["cores"],
        words(&machine["date"]),
        machine["load"]
    ));
    if let Some(note) = machine["note"].as_str() {
        line(note.into());
    }
    line(String::new());
    line(
        "| fitted Q iteration, mean over 100 iterations, n tuples | d = 6 | d = 15 | d = 50 |\n|---|---|---|---|"
            .into(),
    );
    for peer in ["NumPy", "scikit-learn"] {
        for n in [1_000, 10_000, 200_000, 2_000_000] {
            let cell = |d: u64| {
                ratio(find(&rows, |r| {
                    is(r, "fitted Q iteration", peer, 1) && r["size"]["n"] == n && r["size"]["d"] == d
                }))
            };
            line(format!("| {peer}, n = {} | {} | {} | {} |", thousands(n), cell(6), cell(15), cell(50)));
        }
    }
    line(String::new());
    line("| other | times faster (below 1: slower) |\n|---|---|".into());
    for row in rows.iter().filter(|r| r["threads"] == 1 && r["what"] != "fitted Q iteration" && r["times"].is_null()) {
        line(format!(
            "| {}: {} ({}) | {} |",
            words(&row["peer"]),
            words(&row["what"]),
            size(&row["size"]),
            ratio(Some(row))
        ));
    }
    line(String::new());
    for row in rows.iter().filter(|r| !r["times"].is_null()) {
        line(format!(
            "100 iterations over {} tuples, d = {}, take {:.2} times as long as reading their features 100 times at {:.1} GB/s.",
            thousands(row["size"]["n"].as_u64().unwrap_or(0)),
            row["size"]["d"],
            number(&row["times"]["median"]),
            number(&row["gigabytes_a_second"])
        ));
    }
    let missed: Vec<&&Value> = rows.iter().filter(|r| r["reached"] == false).collect();
    let held = rows.iter().filter(|r| !r["reached"].is_null()).count();
    line(format!("{} of {held} targets met{}", held - missed.len(), if missed.is_empty() { "." } else { "; missed:" }));
    for row in missed {
        line(format!(
            "{} against {} ({}), {} where {} is asked.",
            words(&row["what"]),
            words(&row["peer"]),
            size(&row["size"]),
            if row["times"].is_null() { ratio(Some(row)) } else { format!("{:.2}", number(&row["times"]["median"])) },
            row["bar"]
        ));
    }
    line(String::new());
    let exponents: Vec<String> = scaling["scaling"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|r| ["fitted_q", "preprocess", "evaluate"].iter().any(|name| r["what"] == *name))
        .map(|r| format!("{} ∝ {}^{:.2}", words(&r["what"]), words(&r["axis"]), number(&r["exponent"])))
        .collect();
    if !exponents.is_empty() {
        line(format!("What to expect at other sizes (`cargo bench`): {}.", exponents.join(", ")));
        line("\nBeside the machine's limits, one thread:\n".into());
    }
    for limit in scaling["limits"].as_array().into_iter().flatten() {
        line(format!(
            "- n = {}, d = {}: a plain pass takes {:.1} ns per tuple ({:.0} % of the bound set by {}), an iteration {:.1} ns, mean over 100.",
            thousands(number(&limit["n"]) as u64),
            number(&limit["d"]),
            number(&limit["pass_nanoseconds_a_tuple"]),
            100.0 * number(&limit["share"]),
            words(&limit["binds"]),
            number(&limit["iteration_nanoseconds_a_tuple"])
        ));
    }
    text
}

fn is(row: &Value, what: &str, peer: &str, threads: u64) -> bool {
    row["what"] == what && row["peer"] == peer && row["threads"] == threads
}

fn find<'a>(rows: &[&'a Value], wanted: impl Fn(&Value) -> bool) -> Option<&'a Value> {
    rows.iter().find(|row| wanted(row)).copied()
}

/// `3.4 [3.1, 3.6]`, or a dash where nothing was measured.
fn ratio(row: Option<&Value>) -> String {
    let Some(ratio) = row.map(|r| &r["ratio"]) else { return "–".into() };
    let digits = if number(&ratio["median"]) >= 100.0 { 0 } else { 1 };
    let [median, low, high] = ["median", "low", "high"].map(|key| format!("{:.digits$}", number(&ratio[key])));
    format!("{median} [{low}, {high}]")
}

fn size(size: &Value) -> String {
    let parts = size.as_object().into_iter().flatten().map(|(key, value)| format!("{key} {value}"));
    parts.collect::<Vec<_>>().join(", ")
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// 200000 as `200 000`.
fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
