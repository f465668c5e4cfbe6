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
use crate::reproduction::{
    Cell, Measured, Method, MethodOutcome, MethodResult, Record, RegretCell, SemiSynthetic, Synthetic,
};
use serde::de::DeserializeOwned;
use std::collections::HashMap;

const NOT_LEARNED: &str = "x";
const SYNTHETIC: [&str; 9] = ["world", "delta", "N", "T", "people", "decisions", "long", "learner", "seed"];
const SEMI: [&str; 9] = ["study", "attribute", "eta", "N", "T", "people", "decisions", "learner", "seed"];
const REGRET: [&str; 9] = ["world", "delta", "N", "T", "people", "decisions", "epsilon", "learner", "seed"];
const PARTS: [&str; 6] = ["cf", "value", "long", "fair", "gained", "regret"];

/// The digits that are kept.
pub(super) fn kept(x: f64) -> f64 {
    format!("{x:.8e}").parse().expect("a number that was just written")
}

/// The cells of one kind, in canonical order; studies' splits have no place here.
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
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    let mut header: Vec<String> = Vec::new();
    for record in records {
        let (names, mut fields) = address(&record.cell);
        if header.is_empty() {
            let named = methods.iter().flat_map(|m| parts.iter().map(move |&part| format!("{m}.{}", PARTS[part])));
            header = names.iter().map(|n| n.to_string()).chain(named).collect();
        }
        for method in &methods {
            let all = numbers(record, *method);
            fields.extend(parts.iter().map(|&part| all[part].clone()));
        }
        lines.push((record.cell.key(), fields));
    }
    lines.sort();
    let rows = std::iter::once(header).chain(lines.into_iter().map(|(_, fields)| fields));
    rows.map(crate::report::comma_separated::line).collect()
}

fn address(cell: &Cell) -> (&'static [&'static str], Vec<String>) {
    match cell {
        Cell::Synthetic(c) => {
            let long = c.long_horizon.map_or(String::new(), |long| long.to_string());
            let fields = [
                c.world.to_string(),
                c.strength.to_string(),
                c.people.to_string(),
                c.horizon.to_string(),
                c.evaluation_people.to_string(),
                c.evaluation_horizon.to_string(),
                long,
                c.learner.to_string(),
                c.seed.to_string(),
            ];
            (&SYNTHETIC, fields.to_vec())
        }
        Cell::SemiSynthetic(c) => {
            let fields = [
                c.study.clone(),
                c.attribute.clone(),
                c.shift.to_string(),
                c.people.to_string(),
                c.horizon.to_string(),
                c.evaluation_people.to_string(),
                c.evaluation_horizon.to_string(),
                c.learner.to_string(),
                c.seed.to_string(),
            ];
            (&SEMI, fields.to_vec())
        }
        Cell::Regret(c) => {
            let fields = [
                c.world.to_string(),
                c.strength.to_string(),
                c.people.to_string(),
                c.horizon.to_string(),
                c.evaluation_people.to_string(),
                c.evaluation_horizon.to_string(),
                c.error.map_or(String::new(), |error| error.to_string()),
                c.learner.to_string(),
                c.seed.to_string(),
            ];
            (&REGRET, fields.to_vec())
        }
        Cell::Split(_) => unreachable!("splits are kept whole"),
    }
}

fn numbers(record: &Record, method: Method) -> [String; PARTS.len()] {
    let Some(result) = record.results.iter().find(|r| r.method == method) else { return Default::default() };
    let text = |x: f64| kept(x).to_string();
    match &result.outcome {
        MethodOutcome::NotLearned(_) => [NOT_LEARNED; PARTS.len()].map(String::from),
        MethodOutcome::Evaluated(m) => {
            let optional = |estimate: Option<Estimate>| estimate.map_or(String::new(), |v| text(v.mean));
            let (cf, value) = (text(m.unfairness.mean), text(m.value.mean));
            [cf, value, optional(m.long_value), optional(m.fair), optional(m.gained), optional(m.regret)]
        }
    }
}

/// A line that is no cell: its number, counted from 1, and what is wrong with it.
pub(super) type Flaw = (u64, String);

/// Reads back what [`pack`] wrote.
pub(super) fn unpack(text: &[u8]) -> Result<Vec<Record>, Flaw> {
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

fn flaw(error: csv::Error) -> Flaw {
    (error.position().map_or(1, csv::Position::line), error.to_string())
}

fn record(names: &[String], fields: &HashMap<&str, &str>) -> Result<Record, String> {
    let text = |name: &str| fields.get(name).copied().ok_or_else(|| format!("there is no column {name}"));
    let mut results = Vec::new();
    for name in names.iter().filter_map(|name| name.strip_suffix(".cf")) {
        let method: Method = name.parse().map_err(|e| format!("{e}"))?;
        let [cf, value, long, fair, gained, regret] =
            PARTS.map(|part| fields.get(format!("{name}.{part}").as_str()).copied().unwrap_or(""));
        let outcome = match cf {
            "" => continue,
            NOT_LEARNED => MethodOutcome::NotLearned("as the journal says".into()),
            _ => {
                let optional = |text: &str| if text.is_empty() { Ok(None) } else { estimate(text).map(Some) };
                MethodOutcome::Evaluated(Measured {
                    unfairness: estimate(cf)?,
                    value: estimate(value)?,
                    long_value: optional(long)?,
                    fair: optional(fair)?,
                    gained: optional(gained)?,
                    regret: optional(regret)?,
                    shares: vec![],
                    learning: None,
                })
            }
        };
        results.push(MethodResult { method, outcome });
    }
    let methods = results.iter().map(|r| r.method).collect();
    let cell = if fields.contains_key("epsilon") {
        let error = text("epsilon")?;
        Cell::Regret(RegretCell {
            world: word(text("world")?)?,
            strength: parse(text("delta")?)?,
            people: parse(text("N")?)?,
            horizon: parse(text("T")?)?,
            evaluation_people: parse(text("people")?)?,
            evaluation_horizon: parse(text("decisions")?)?,
            error: if error.is_empty() { None } else { Some(parse(error)?) },
            methods,
            learner: word(text("learner")?)?,
            seed: parse(text("seed")?)?,
        })
    } else if fields.contains_key("world") {
        let long = text("long")?;
        Cell::Synthetic(Synthetic {
            world: word(text("world")?)?,
            strength: parse(text("delta")?)?,
            people: parse(text("N")?)?,
            horizon: parse(text("T")?)?,
            evaluation_people: parse(text("people")?)?,
            evaluation_horizon: parse(text("decisions")?)?,
            long_horizon: if long.is_empty() { None } else { Some(parse(long)?) },
            methods,
            learner: word(text("learner")?)?,
            seed: parse(text("seed")?)?,
        })
    } else {
        Cell::SemiSynthetic(SemiSynthetic {
            study: text("study")?.into(),
            attribute: text("attribute")?.into(),
            shift: parse(text("eta")?)?,
            people: parse(text("N")?)?,
            horizon: parse(text("T")?)?,
            evaluation_people: parse(text("people")?)?,
            evaluation_horizon: parse(text("decisions")?)?,
            methods,
            learner: word(text("learner")?)?,
            seed: parse(text("seed")?)?,
        })
    };
    Ok(Record { cell, results })
}

/// A mean without its spread: what is left of an estimate that was packed.
fn estimate(text: &str) -> Result<Estimate, String> {
    Ok(Estimate { mean: parse(text)?, standard_error: f64::NAN, count: 0 })
}

fn parse<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

/// A word as the journal writes it.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(serde_json::Value::String(text.into())).map_err(|e| e.to_string())
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
            let (unfairness, value) = (number(i), number(i + 1));
            let (fair, gained) = (regret.then(|| number(i + 5)), regret.then(|| number(i + 3)));
            let regret = regret.then(|| number(i + 4));
            let (shares, learning) = (vec![], None);
            MethodOutcome::Evaluated(Measured { unfairness, value, long_value, fair, gained, regret, shares, learning })
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
        assert!(!pack(&some(Label::SimAll)).contains("gained"), "a part that nobody has");
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
        assert_eq!(unpack(text.as_bytes()), Err((2, "`sixty` is not a number".into())));
        let text = pack(&some(Label::SimAll)).replacen("linear,", "sideways,", 1);
        assert!(unpack(text.as_bytes()).is_err_and(|(line, reason)| line == 2 && reason.contains("sideways")));
    }
}
