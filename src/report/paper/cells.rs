//! Cells of a simulation as one line each: what the figures need of a journal, in a tenth of its size.
//!
//! ```text
//! world,delta,N,T,people,decisions,long,learner,seed,full.cf,full.value,full.long,unaware.cf,…
//! ```
//!
//! A part that no method of the file has is left out. `fair` is Ṽ and `gained` J − Ṽ, both of people followed at every level; where `value` follows them
//! at one that is drawn, it is not their sum. Nine significant digits are kept: another machine rounds the last bits otherwise, and no figure shows them.
//! A method that is not part of a cell leaves its fields empty; one that could not be learned has [`NOT_LEARNED`] in them. Spreads within a cell are not kept.

use crate::kernel::numeric::Estimate;
use crate::report::comma_separated;
use crate::reproduction::{Cell, Measured, Method, MethodOutcome, MethodResult, Record};
use serde_json::{Map, Value};
use std::collections::HashMap;

const NOT_LEARNED: &str = "x";
const PARTS: [&str; 6] = ["cf", "value", "long", "fair", "gained", "regret"];

/// The fields of cells of all kinds and the columns that hold them, in the order of the columns.
const COLUMNS: [(&str, &str); 13] = [
    ("study", "study"),
    ("attribute", "attribute"),
    ("world", "world"),
    ("strength", "delta"),
    ("shift", "eta"),
    ("people", "N"),
    ("horizon", "T"),
    ("evaluation_people", "people"),
    ("evaluation_horizon", "decisions"),
    ("long_horizon", "long"),
    ("error", "epsilon"),
    ("learner", "learner"),
    ("seed", "seed"),
];

/// The fields that hold words; all others hold numbers.
const WORDS: [&str; 4] = ["study", "attribute", "world", "learner"];

/// The digits that are kept.
pub(super) fn kept(x: f64) -> f64 {
    format!("{x:.8e}").parse().expect("a number that was just written")
}

/// The cells of one kind, in canonical order; splits of studies have no place here.
pub(super) fn pack(records: &[Record]) -> String {
    let mut methods: Vec<Method> = Vec::new();
    // From the cells with the most methods, so that every cell finds its own in its own order.
    let mut longest: Vec<&Record> = records.iter().collect();
    longest.sort_by_key(|record| std::cmp::Reverse(record.results.len()));
    for result in longest.iter().flat_map(|r| &r.results) {
        if !methods.contains(&result.method) {
            methods.push(result.method);
        }
    }
    let has = |part: usize| {
        let mut all = records.iter().flat_map(|record| methods.iter().map(move |method| numbers(record, *method)));
        all.any(|numbers| !matches!(numbers[part].as_str(), "" | NOT_LEARNED))
    };
    let parts: Vec<usize> = (0..PARTS.len()).filter(|&part| part < 3 || has(part)).collect();
    let cells: Vec<Map<String, Value>> = records.iter().map(|record| fields(&record.cell)).collect();
    let columns: Vec<(&str, &str)> =
        COLUMNS.into_iter().filter(|(field, _)| cells.iter().any(|cell| cell.contains_key(*field))).collect();
    let line = |(record, cell): (&Record, &Map<String, Value>)| {
        let address = columns.iter().map(|(field, _)| cell.get(*field).map_or(String::new(), text));
        let results = methods.iter().flat_map(|method| {
            let all = numbers(record, *method);
            parts.iter().map(move |&part| all[part].clone())
        });
        (record.cell.key(), comma_separated::line(address.chain(results)))
    };
    let mut lines: Vec<(String, String)> = records.iter().zip(&cells).map(line).collect();
    lines.sort();
    let results = methods.iter().flat_map(|m| parts.iter().map(move |&part| format!("{m}.{}", PARTS[part])));
    let header = columns.iter().map(|(_, column)| column.to_string()).chain(results);
    std::iter::once(comma_separated::line(header)).chain(lines.into_iter().map(|(_, line)| line)).collect()
}

/// What a journal says of a cell.
fn fields(cell: &Cell) -> Map<String, Value> {
    match serde_json::to_value(cell) {
        Ok(Value::Object(fields)) => fields,
        other => panic!("a cell is an object: {other:?}"),
    }
}

/// A field as its column has it; nothing for an option that is not taken.
fn text(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        number => number.as_f64().map_or(String::new(), |x| x.to_string()),
    }
}

/// The field that a column's text stands for.
fn value(field: &str, text: &str) -> Value {
    match text.parse::<u64>() {
        _ if WORDS.contains(&field) => text.into(),
        _ if text.is_empty() => Value::Null,
        Ok(count) => count.into(),
        Err(_) => text.parse::<f64>().map_or(text.into(), Value::from),
    }
}

fn numbers(record: &Record, method: Method) -> [String; PARTS.len()] {
    let Some(result) = record.results.iter().find(|r| r.method == method) else { return Default::default() };
    match &result.outcome {
        MethodOutcome::NotLearned(_) => [NOT_LEARNED; PARTS.len()].map(String::from),
        MethodOutcome::Evaluated(m) => {
            let all = [Some(m.unfairness), Some(m.value), m.long_value, m.fair, m.gained, m.regret];
            all.map(|estimate| estimate.map_or(String::new(), |e| kept(e.mean).to_string()))
        }
    }
}

/// A line that is no cell: its number, counted from 1, and what is wrong with it.
pub(super) type Flaw = (u64, String);

/// Reads back what [`pack`] wrote.
pub(super) fn unpack(text: &[u8]) -> Result<Vec<Record>, Flaw> {
    let flaw = |error: csv::Error| (error.position().map_or(1, csv::Position::line), error.to_string());
    let mut reader = csv::Reader::from_reader(text);
    let names: Vec<String> = reader.headers().map_err(flaw)?.iter().map(String::from).collect();
    let mut records = Vec::new();
    for row in reader.records() {
        let row = row.map_err(flaw)?;
        let line = row.position().map_or(0, csv::Position::line);
        let fields: HashMap<&str, &str> = names.iter().map(String::as_str).zip(row.iter()).collect();
        records.push(record(&names, &fields).map_err(|reason| (line, reason))?);
    }
    Ok(records)
}

fn record(names: &[String], fields: &HashMap<&str, &str>) -> Result<Record, String> {
    let mut results = Vec::new();
    for name in names.iter().filter_map(|name| name.strip_suffix(".cf")) {
        let method: Method = name.parse().map_err(|e| format!("{e}"))?;
        let parts = PARTS.map(|part| fields.get(format!("{name}.{part}").as_str()).copied().unwrap_or(""));
        let outcome = match parts[0] {
            "" => continue,
            NOT_LEARNED => MethodOutcome::NotLearned("as the journal says".into()),
            _ => MethodOutcome::Evaluated(measured(parts)?),
        };
        results.push(MethodResult { method, outcome });
    }
    let kind = ["study", "long"].map(|column| fields.contains_key(column));
    let kind = match kind {
        [true, _] => "semi-synthetic",
        [_, true] => "synthetic",
        _ => "regret",
    };
    let methods: Vec<String> = results.iter().map(|r| r.method.to_string()).collect();
    let mut cell = Map::from_iter([("kind".into(), kind.into()), ("methods".into(), methods.into())]);
    for (field, column) in COLUMNS {
        cell.extend(fields.get(column).map(|text| (field.to_string(), value(field, text))));
    }
    let cell = serde_json::from_value(cell.into()).map_err(|error| error.to_string())?;
    Ok(Record { cell, results })
}

/// Means without their spread: what is left of estimates that were packed.
fn measured(parts: [&str; PARTS.len()]) -> Result<Measured, String> {
    let mut means = [None; PARTS.len()];
    for (mean, text) in means.iter_mut().zip(parts).filter(|(_, text)| !text.is_empty()) {
        let number = text.parse().map_err(|_| format!("`{text}` is not a number"))?;
        *mean = Some(Estimate { mean: number, standard_error: f64::NAN, count: 0 });
    }
    let [Some(unfairness), Some(value), long_value, fair, gained, regret] = means else {
        return Err("a method has a CF metric and no value".into());
    };
    Ok(Measured { long_value, fair, gained, regret, ..Measured::of(unfairness, value) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduction::{Label, Learner, Scale};

    fn some(label: Label) -> Vec<Record> {
        let scale = Scale { sizes: vec![60], size: 60, seeds: 2, strengths: vec![0.7], ..Scale::quick() };
        let cells = scale.cells(&[label], &[]);
        let number = |i: usize| Estimate { mean: 1.0 / (i as f64 + 3.7), standard_error: f64::NAN, count: 0 };
        let regret = label == Label::Regret;
        let outcome = |i: usize, long: bool| {
            if i == 3 {
                return MethodOutcome::NotLearned("as the journal says".into());
            }
            let long_value = long.then(|| number(i + 2));
            let (fair, gained) = (regret.then(|| number(i + 5)), regret.then(|| number(i + 3)));
            let regret = regret.then(|| number(i + 4));
            let measured = Measured { long_value, fair, gained, regret, ..Measured::of(number(i), number(i + 1)) };
            MethodOutcome::Evaluated(measured)
        };
        let record = |cell: Cell| {
            let methods = cell.methods().iter().enumerate();
            let long = matches!(&cell, Cell::Synthetic(c) if c.long_horizon.is_some());
            let results = methods.map(|(i, &method)| MethodResult { method, outcome: outcome(i, long) }).collect();
            Record { cell, results }
        };
        cells.into_iter().map(record).collect()
    }

    #[test]
    fn what_is_packed_is_read_back_to_nine_digits() {
        for label in [Label::SimAll, Label::Regret] {
            packs(&some(label));
        }
        assert!(pack(&some(Label::Regret)).contains("ours.fair,ours.gained,ours.regret"));
        assert!(!pack(&some(Label::SimAll)).contains("gained"), "a part that no method has");
    }

    fn packs(records: &[Record]) {
        let back = unpack(pack(records).as_bytes()).expect("our own lines");
        assert_eq!(back.len(), records.len());
        assert!(records.iter().any(|r| r.cell.learner() == Learner::LeastSquares));
        for (record, read) in records.iter().zip(&back) {
            assert_eq!(read.cell, record.cell);
            for (a, b) in record.results.iter().zip(&read.results) {
                let (MethodOutcome::Evaluated(x), MethodOutcome::Evaluated(y)) = (&a.outcome, &b.outcome) else {
                    assert_eq!(a, b);
                    continue;
                };
                for (p, q) in [(x.unfairness, y.unfairness), (x.value, y.value)] {
                    assert_eq!((a.method, kept(p.mean)), (b.method, q.mean));
                }
                let optional = |m: &Measured| [m.long_value, m.fair, m.gained, m.regret];
                for (p, q) in optional(x).into_iter().zip(optional(y)) {
                    assert_eq!(p.map(|v| kept(v.mean)), q.map(|v| v.mean));
                }
            }
        }
        assert_eq!(pack(&back), pack(records), "packing again changes nothing");
    }

    #[test]
    fn a_line_that_is_no_cell_is_named() {
        let text = pack(&some(Label::SimAll)).replacen("linear,0.7,60", "linear,0.7,sixty", 1);
        assert!(unpack(text.as_bytes()).is_err_and(|(line, reason)| line == 2 && reason.contains("sixty")));
        let text = pack(&some(Label::SimAll)).replacen("linear,", "sideways,", 1);
        assert!(unpack(text.as_bytes()).is_err_and(|(line, reason)| line == 2 && reason.contains("sideways")));
    }
}
