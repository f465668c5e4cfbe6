//! What the ladder does to real studies: which rung, what the diagnostics say before and after it, and what becomes of unfairness and of who is treated.
//!
//! `STUDIES=<folder of the files> cargo test --release --test noise -- --ignored real_studies` writes `tests/noise/real_studies_noise.csv`
//! and `tests/noise/real_studies_policies.csv`.

use counterfair::audit::noise_check::check_noise;
use counterfair::estimate::{NoiseChoice, fit};
use counterfair::fair::{AuditSettings, Learner, Method, People, Preprocessing, ValueClass};
use counterfair::files::{Columns, MissingRepair, ReadOptions, RowConvention, read_csv_from};
use counterfair::kernel::learn::Settings;
use counterfair::kernel::people::Panel;
use counterfair::reproduction::Study;
use std::fmt::Write;
use std::path::Path;

/// A file with default names of columns, action and reward blank on each person's first row, as rows about what led to a state have them.
fn regular(path: &Path, names: [&str; 5], states: &[&str]) -> String {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let header = reader.headers().unwrap().clone();
    let at = |name: &str| header.iter().position(|column| column == name).unwrap();
    let ([id, time, level, action, reward], states) = (names.map(at), states.iter().map(|s| at(s)).collect::<Vec<_>>());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let first = rows.iter().map(|row| row[time].parse::<u32>().unwrap()).min();
    let numbered: Vec<String> = (1..=states.len()).map(|j| format!("state{j}")).collect();
    let mut text = format!("ID,timestamp,z1,action,reward,{}\n", numbered.join(","));
    for row in &rows {
        let begins = row[time].parse().ok() == first;
        let (action, reward) = if begins { ("", "") } else { (&row[action], &row[reward]) };
        let states: Vec<&str> = states.iter().map(|&j| &row[j]).collect();
        writeln!(text, "{},{},{},{action},{reward},{}", &row[id], &row[time], &row[level], states.join(",")).unwrap();
    }
    text
}

/// Study, attribute, people.
fn studies(folder: &Path) -> Vec<(&'static str, String, Panel)> {
    let file = |name: &str, names: [&str; 5], states: &[&str]| {
        let columns =
            Columns { states: (1..=states.len()).map(|j| format!("state{j}")).collect(), ..Columns::default() };
        let options = ReadOptions {
            columns,
            rows: RowConvention::Incoming,
            missing: MissingRepair::DropTail,
            ..Default::default()
        };
        let text = regular(&folder.join(name), names, states);
        read_csv_from(text.as_bytes(), name, &options).unwrap_or_else(|problem| panic!("{name}: {problem}")).panel
    };
    let help: &[&str] = &["state1", "state2", "state3"];
    let mut all = vec![];
    for attribute in ["sex", "race"] {
        let panel = file("help_trial.csv", ["ID", "timestamp", attribute, "action", "reward"], help);
        all.push(("HELP", attribute.to_string(), panel));
        let panel = file("actg175_long.csv", ["patient", "week", attribute, "treatment", "cd4"], &["cd4"]);
        all.push(("ACTG 175", attribute.to_string(), panel));
    }
    let star = Study::star(&std::fs::read(folder.join("star_long.csv")).unwrap()).unwrap();
    let attributes: Vec<String> = star.attributes().map(str::to_string).collect();
    all.extend(attributes.into_iter().map(|a| ("STAR", a.clone(), star.panel(&a).unwrap())));
    all
}

/// One row for each coordinate: the rung, and equality of noise between levels before and after it.
fn noise_rows(study: &str, attribute: &str, panel: &Panel) -> String {
    let mut text = String::new();
    let settings = Preprocessing::default().mechanism;
    let fitted = match fit(panel, &settings) {
        Ok(fitted) => fitted,
        Err(problem) => return format!("{study},{attribute},{},,{problem}\n", panel.people()),
    };
    let report = fitted.fitted_noise().unwrap().report();
    let check = check_noise(&fitted, panel, Some(report));
    for output in &check.outputs {
        let of = &report.outputs[output.output];
        let name = match (output.is_reward, output.is_first) {
            (true, _) => "reward".to_string(),
            (_, true) => format!("state{} first", output.output + 1),
            _ => format!("state{}", output.output + 1),
        };
        write!(
            text,
            "{study},{attribute},{},{name},{},{}",
            panel.people(),
            of.rung,
            of.spread.to_string().replace(',', "")
        )
        .unwrap();
        for e in [output.before, output.after] {
            write!(text, ",{:.3},{:.2e},{:.3},{:.2e}", e.sd_ratio, e.variance_p, e.shape_distance, e.shape_p).unwrap();
        }
        writeln!(text, ",{:?}", output.verdict).unwrap();
    }
    text
}

/// One row for each noise model and learner: CF metric and the share of decisions with each action at each level.
fn policy_rows(study: &str, attribute: &str, panel: &Panel) -> String {
    let people = People::from(panel.clone());
    let mut text = String::new();
    let quadratic = ValueClass::Polynomial { degree: 2, iteration: Settings::default() };
    for method in [Method::Ours, Method::Unaware] {
        for (class, values) in [("default", None), ("plain quadratic", Some(quadratic.clone()))] {
            for (noise, choice) in [("additive", NoiseChoice::Additive), ("chosen", NoiseChoice::Chosen)] {
                let mut learner = Learner { splits: 0, ..Learner::new(method) };
                learner.preprocessing.mechanism.noise = choice;
                if let Some(values) = &values {
                    learner.values = values.clone();
                }
                write!(text, "{study},{attribute},{},{method},{class},{noise}", panel.people()).unwrap();
                let found = learner
                    .learn(&people)
                    .and_then(|policy| policy.audit(&people, &[], &AuditSettings::default(), &mut |_| {}));
                match found {
                    Err(problem) => writeln!(text, ",,,,,{}", problem.to_string().replace([',', '\n'], ";")).unwrap(),
                    Ok(audit) => {
                        match &audit.unfairness {
                            Ok(law) => {
                                let (low, high) = law.interval(0.95);
                                write!(text, ",{:.4},{low:.4},{high:.4},{:.4}", law.mean(), law.upper(0.95)).unwrap();
                            }
                            Err(_) => text.push_str(",,,,"),
                        }
                        let rates = audit.rates.iter().map(|by_action| {
                            let shares: Vec<String> = by_action
                                .iter()
                                .map(|rate| rate.as_ref().map_or("none".into(), |r| format!("{:.3}", r.mean)))
                                .collect();
                            shares.join(" ")
                        });
                        writeln!(text, ",{}", rates.collect::<Vec<_>>().join(" | ")).unwrap();
                    }
                }
            }
        }
    }
    text
}

#[test]
#[ignore = "needs the files of real studies in the folder STUDIES; minutes"]
fn real_studies() {
    let folder = std::env::var("STUDIES").expect("the folder of the studies");
    let mut noise = String::from(
        "study,attribute,people,output,rung,spread,sd_ratio_before,variance_p_before,shape_distance_before,shape_p_before,\
         sd_ratio_after,variance_p_after,shape_distance_after,shape_p_after,verdict\n",
    );
    let mut policies = String::from(
        "study,attribute,people,method,learner,noise,cf_metric,low_95,high_95,upper_95,actions_by_level\n",
    );
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/noise");
    for (study, attribute, panel) in studies(Path::new(&folder)) {
        println!("{study}, {attribute}");
        noise += &noise_rows(study, &attribute, &panel);
        std::fs::write(here.join("real_studies_noise.csv"), &noise).unwrap();
        policies += &policy_rows(study, &attribute, &panel);
        std::fs::write(here.join("real_studies_policies.csv"), &policies).unwrap();
    }
}
