//! What TRIPOD+AI (Collins et al. 2024, BMJ 385:e078378) asks of a report of a prediction model, answered as far as a file can.

use super::Table;
use super::words::shown;
use crate::fair::study::Study;

/// What only the people behind the study know.
const UNKNOWN: &str = "unknown to the program: to be answered by the authors";

/// One row for each item.
pub(super) fn table(study: &Study) -> Table {
    let mut table = Table::new(
        "Items of TRIPOD+AI, in short, and what this page answers. A policy is not a prediction model; items are read as far as they apply.",
        3,
        ["item", "asks for", "answer"],
    )
    .in_sentences();
    for (item, asks, answer) in items(study) {
        table.push([item.to_string(), asks.to_string(), answer]);
    }
    table
}

/// What was said with `--note`.
fn noted(study: &Study) -> String {
    match study.notes.is_empty() {
        true => format!("{UNKNOWN} beyond that"),
        false => {
            format!("noted with the file: {}", study.notes.iter().map(|note| shown(note)).collect::<Vec<_>>().join(" "))
        }
    }
}

fn items(study: &Study) -> Vec<(&'static str, &'static str, String)> {
    let data = &study.data;
    let unknown = || UNKNOWN.to_string();
    let answer = |text: &str| text.to_string();
    let smallest = data.levels.iter().map(|level| level.people).min().unwrap_or(0);
    let repairs = &data.repairs;
    vec![
        ("1–2", "title and abstract", unknown()),
        ("3a–b", "context, rationale, target population", unknown()),
        (
            "3c",
            "known health inequalities between groups",
            format!("{}; what people received by group is in section 5", UNKNOWN),
        ),
        (
            "4",
            "objectives",
            answer("a policy that treats people as it would had their attribute been different, and its worth"),
        ),
        ("5a", "source of data", format!("the file {}; {}", shown(&data.file), noted(study))),
        ("5b", "dates of data", unknown()),
        ("6a–b", "setting, eligibility", unknown()),
        ("6c", "treatments received", answer("section 2, by group and over time")),
        (
            "7",
            "data preparation",
            format!(
                "{} rows, {} people removed and {} people cut on request; nothing else",
                repairs.rows_dropped, repairs.people_dropped, repairs.people_cut
            ),
        ),
        (
            "8a–c",
            "outcome and how it was assessed",
            format!("the reward column {}; {UNKNOWN} beyond that", shown(&study.done.columns[4])),
        ),
        (
            "9a–c",
            "predictors",
            format!(
                "state columns {}; {UNKNOWN} beyond that",
                data.states.iter().map(|s| shown(s)).collect::<Vec<_>>().join(", ")
            ),
        ),
        (
            "10",
            "sample size",
            format!(
                "{} people with {} decisions; the smallest group has {smallest} people; no calculation beforehand is known",
                data.people, data.decisions
            ),
        ),
        ("11", "missing data", answer("refused or cut as asked (section 7); people who left: section 2")),
        ("12a–b", "how data were used and predictors handled", answer("folds of people; splines; see section 7")),
        (
            "12c",
            "type of model",
            answer("counterfactual states by a fitted mechanism, then penalised fitted Q iteration"),
        ),
        ("12d", "heterogeneity between clusters (hospitals, countries)", answer("not examined: clusters are not read")),
        (
            "12e",
            "measures of performance",
            answer("value over the recorded horizon, CF metric, parity gap; sections 4 and 5"),
        ),
        ("12f", "model updating", answer("none")),
        ("12g", "how predictions are computed", answer("policy.json, where a policy is recommended")),
        ("13", "class imbalance", answer("none corrected for; shares of actions in section 2")),
        (
            "14",
            "fairness: approaches and rationale",
            answer(
                "counterfactual fairness, with demographic parity beside it; whether the attribute's effect should be removed is for the authors",
            ),
        ),
        ("15", "output of the model", answer("one action for each decision")),
        (
            "16",
            "differences between training and evaluation",
            answer("none by design: folds of one study. Other populations were not tried"),
        ),
        ("17", "ethical approval", unknown()),
        (
            "18a–f",
            "funding, interests, protocol, registration, data, code",
            format!("code: {}; {UNKNOWN} for the rest", study.done.program),
        ),
        ("19", "patient and public involvement", unknown()),
        ("20a–b", "flow and characteristics of participants", answer("section 2")),
        (
            "20c",
            "comparison of development and evaluation data",
            answer("folds by a hash of the id: the same in distribution"),
        ),
        (
            "21",
            "participants and events in each analysis",
            format!("everybody in each; folds of {:?} people", study.done.fold_sizes),
        ),
        (
            "22",
            "full specification of the model",
            answer("policy.json, where a policy is recommended; otherwise counterfair learn"),
        ),
        ("23a", "performance with intervals, also in subgroups", answer("sections 4 and 5")),
        ("23b", "heterogeneity of performance between clusters", answer("not examined: clusters are not read")),
        ("24", "results of updating", answer("none")),
        ("25", "interpretation, fairness in context", unknown()),
        (
            "26",
            "limitations",
            format!(
                "{} cautions below the verdict; one sentence per section on what it does not show",
                study.cautions.len()
            ),
        ),
        (
            "27a–b",
            "poor input and skill needed in use",
            answer("counterfair decide refuses input that is not finite and marks states beyond the data"),
        ),
        (
            "27c",
            "next steps",
            answer(if study.verdict.recommends() {
                "a trial of the policy; sensitivity in section 6"
            } else {
                "more data, or another question"
            }),
        ),
    ]
}
