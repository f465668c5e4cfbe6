//! Every table at a small fixed size, rounded so that another processor gives the same text.

use super::small;
use counterfair::report::{real_data, sim_all};
use counterfair::reproduction::{Context, Grid, Label, Method, Plan, Record, Shard, Study, run};
use std::sync::OnceLock;

fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| Context::new(vec![Study::stand_in()]))
}

fn records() -> &'static [Record] {
    static RECORDS: OnceLock<Vec<Record>> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("counterfair-{}-tables", std::process::id()));
        let grid = Grid::new(&[Label::SimAll, Label::RealData], small(), context().studies());
        let plan = Plan { folder: folder.clone(), shard: Shard::WHOLE, resume: false, threads: None };
        let finished = run(&grid, context(), &plan, &|_| {}).expect("cells run");
        let _ = std::fs::remove_dir_all(folder);
        finished.records
    })
}

#[test]
fn the_tables_of_the_two_worlds_are_as_published() {
    let section = sim_all(records(), &small(), &|_| None);
    for (name, table) in ["linear", "nonlinear", "regret"].iter().zip(&section.tables) {
        insta::assert_snapshot!(format!("sim_all_{name}"), table.markdown());
    }
}

#[test]
fn the_table_of_the_stand_in_is_as_published() {
    let mut table = real_data(records(), &small(), &context().studies()[0]).tables[0].clone();
    // Unfairness goes through a net, whose training magnifies the last bit of a product: another processor may stop at another epoch.
    table.rows.retain(|row| row[0] == "Value");
    insta::assert_snapshot!("real_data_stand_in", table.markdown());
}

#[test]
fn on_the_stand_in_full_is_the_least_fair_for_every_attribute() {
    let table = &real_data(records(), &small(), &context().studies()[0]).tables[0];
    let mean = |row: usize, column: usize| -> f64 {
        let cell = &table.rows[row][column];
        cell.split(' ').next().and_then(|text| text.parse().ok()).expect("a mean before its deviation")
    };
    for attribute in 2..table.columns.len() {
        let [full, random, unaware, ours] = [0, 1, 2, 3].map(|row| mean(row, attribute));
        assert_eq!(random, 0.0);
        assert!(full > unaware.max(ours) && unaware.min(ours) > 0.0, "{}", table.columns[attribute]);
    }
}

#[test]
fn oracle_and_random_are_exactly_fair_and_true_means_are_the_oracle() {
    let mut seen = 0;
    for record in records() {
        for method in [Method::Oracle, Method::Random, Method::TrueMeans] {
            if let Some(measured) = record.measured(method) {
                assert_eq!(measured.unfairness.mean, 0.0, "{method} in {}", record.cell.key());
                seen += 1;
            }
        }
        if let (Some(oracle), Some(ours)) = (record.measured(Method::Oracle), record.measured(Method::TrueMeans)) {
            let gap = (oracle.value.mean - ours.value.mean).abs();
            assert!(gap <= counterfair::kernel::numeric::tolerance::ROUNDING * oracle.value.mean.abs(), "{gap}");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn everything_about_the_stand_in_says_that_it_is_simulated() {
    let section = real_data(records(), &small(), &context().studies()[0]);
    assert!(section.warning.contains("SIMULATED") && section.tables[0].caption.contains("SIMULATED"));
    for figure in &section.figures {
        assert!(figure.svg.contains("simulated") && figure.caption.contains("simulated"), "{}", figure.name);
    }
}
