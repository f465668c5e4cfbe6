//! PyCFRL 0.3.2, the authors' own library, on the same file: preprocessed states and rewards, and its least-squares FQI.

use counterfair::estimate::{Basis, FitSettings, LevelCode, Pooling, fit};
use counterfair::files::{Columns, ReadOptions, RowConvention, read_csv};
use counterfair::kernel::learn::features::Polynomial;
use counterfair::kernel::learn::{ActionValue, FittedQ, Outcome, Settings, fitted_q_iteration};
use counterfair::kernel::people::Panel;
use counterfair::kernel::preprocess::{Augmented, Experience, Sequential, batch};
use std::path::Path;

/// The peer's own files agree with an independent full-rank regression to 2e-14; states are near 1 and ten steps long.
const AGREEMENT: f64 = 1e-11;

fn panel(file: &str) -> Panel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peer").join(file);
    let options = ReadOptions { columns: Columns::default(), rows: RowConvention::Incoming, ..ReadOptions::default() };
    read_csv(&path, &options).unwrap().panel
}

fn preprocessed(pooling: Pooling, code: LevelCode) -> Experience<Augmented> {
    let data = panel("data_linear_N200.csv");
    let settings = FitSettings { basis: Basis::Polynomial(2), pooling, code, ..FitSettings::default() };
    let mechanism = fit(&data, &settings).unwrap();
    batch(&Sequential::new(mechanism, data.level_shares()), &data).unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn pooled_quadratic_preprocessing_equals_the_peers_single_model() {
    let theirs = panel("pre_linear_N200_lm_single.csv");
    for code in [LevelCode::Indicator, LevelCode::Number] {
        let ours = preprocessed(Pooling::Pooled, code);
        assert!(largest_difference(ours.views(), theirs.states()) < AGREEMENT);
        assert!(largest_difference(ours.rewards(), theirs.rewards()) < AGREEMENT);
    }
}

#[test]
fn quadratic_preprocessing_by_level_equals_the_peers_sensitive_model() {
    let theirs = panel("pre_linear_N200_lm_sensitive.csv");
    let ours = preprocessed(Pooling::PerLevel, LevelCode::Indicator);
    assert!(largest_difference(ours.views(), theirs.states()) < AGREEMENT);
    assert!(largest_difference(ours.rewards(), theirs.rewards()) < AGREEMENT);
}

#[test]
fn the_two_peer_models_differ_so_that_agreement_with_each_means_something() {
    let (single, sensitive) = (panel("pre_linear_N200_lm_single.csv"), panel("pre_linear_N200_lm_sensitive.csv"));
    assert!(largest_difference(single.states(), sensitive.states()) > 1e-3);
}

#[test]
fn least_squares_fqi_equals_the_peers_after_one_two_and_a_hundred_iterations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peer/linear_N200_fit.json");
    let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let models = [("single", Pooling::Pooled), ("sensitive", Pooling::PerLevel)];
    for (name, pooling) in models {
        let experience = preprocessed(pooling, LevelCode::Indicator);
        let features = Polynomial::for_rows(experience.views(), 2, 1, 2).unwrap();
        for iterations in [1, 2, 100] {
            let settings = Settings { iterations, ..Settings::default() };
            let FittedQ { q, outcome, .. } = fitted_q_iteration(&experience, &features, settings).unwrap();
            assert!(matches!(outcome, Outcome::IterationLimit { iterations: done, .. } if done == iterations));
            let theirs = &file["models"][name]["fqi_lm"][iterations.to_string()]["Q_first5_rows"];
            let mut ours = [0.0; 10];
            q.values(&experience.views()[..10], &mut ours);
            for i in 0..5 {
                for a in 0..2 {
                    let theirs = theirs[i][a].as_f64().unwrap();
                    let ours = ours[a * 5 + i];
                    assert!(
                        (ours - theirs).abs() < AGREEMENT * 100.0,
                        "{name} {iterations} row {i} action {a}: {ours} {theirs}"
                    );
                }
            }
        }
    }
}
