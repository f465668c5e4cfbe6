//! The laws among the claims: what falls or grows, on what bed, with what slope.

use super::Results;
use crate::theory::{Law, Row};

/// A law as the table shows it.
pub(super) struct Rate<'a> {
    /// The label of its claim.
    pub label: &'a str,
    /// The test bed or the world.
    pub bed: &'a str,
    /// What falls or grows.
    pub quantity: &'a str,
    /// The numbers.
    pub law: &'a Law,
}

/// Every law that was measured; one that stands beside several controls is shown once.
pub(super) fn rates(results: &Results) -> Vec<Rate<'_>> {
    let mut all: Vec<Rate> = Vec::new();
    for row in &results.verdicts {
        let Some(law) = row.verdict.law() else { continue };
        if all.iter().all(|rate| rate.law != law) {
            all.push(Rate { label: row.claim.label, bed: bed(row), quantity: quantity(row.claim.statement), law });
        }
    }
    all
}

/// What a statement of the form "… falls like …" is about.
fn quantity(statement: &str) -> &str {
    let ends = [" falls like", " grows like"].iter().filter_map(|words| statement.find(words));
    let subject = &statement[..ends.min().unwrap_or(statement.len())];
    subject.rsplit(": ").next().unwrap_or(subject)
}

/// Where a law was measured: the bed or the world among its assumptions, or its own label.
fn bed(row: &Row) -> &'static str {
    let place = |text: &&&str| text.starts_with("bed:") || text.contains("world");
    row.claim.assumes.iter().find(place).map_or(row.claim.label, |text| text.split(',').next().unwrap_or(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_of_a_law_is_what_stands_before_its_verb() {
        for (statement, subject) in [
            ("regret falls like N^{−1} (margin α = 1)", "regret"),
            ("|f̂(ε) − f̂(0)| grows like ε on the same data", "|f̂(ε) − f̂(0)|"),
            ("Ours approaches the Oracle in value: |J − J of the Oracle| falls like N^{−1}", "|J − J of the Oracle|"),
            ("something else", "something else"),
        ] {
            assert_eq!(quantity(statement), subject);
        }
    }
}
