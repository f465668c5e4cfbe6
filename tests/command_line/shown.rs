//! What is printed for people is what `--json` says.

use super::folder::Folder;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// `mean` and `low to high`, as tables print them.
fn cells(estimate: &Value) -> [String; 2] {
    let ends = estimate["interval"].as_array().unwrap();
    [format!("{:.4}", number(&estimate["mean"])), format!("{:.4} to {:.4}", number(&ends[0]), number(&ends[1]))]
}

#[test]
fn the_tables_of_an_evaluation_show_the_numbers_of_its_json() {
    let folder = Folder::new("shown");
    for (seed, file) in [("3", "data.csv"), ("4", "others.csv")] {
        folder.succeed(&["simulate", "--world", "linear", "--n", "90", "--t", "4", "--seed", seed, "--out", file]);
    }
    let learn = ["learn", "--data", "data.csv", "--model", "linear", "--replicates", "20", "--splits", "0"];
    folder.succeed(&[&learn[..], &["--save", "ours.json", "--save-anyway"]].concat());
    folder.succeed(&[&learn[..], &["--method", "unaware", "--save", "blind.json", "--save-anyway"]].concat());
    let evaluate = ["evaluate", "--policy", "ours.json", "--against", "blind.json", "--data", "others.csv"];
    let evaluate = [&evaluate[..], &["--replicates", "50"]].concat();
    let json: Value = serde_json::from_str(&folder.succeed(&[&evaluate[..], &["--json"]].concat())).unwrap();
    let output = folder.run(&evaluate);
    let (text, remarks) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    let row = |name: &str| text.lines().find(|line| line.trim_start().starts_with(name)).unwrap_or_default();
    for (name, of) in [
        ("policy, fitted Q evaluation", &json["value"]["fitted Q evaluation, recorded horizon"]),
        ("what people received", &json["value"]["what people received, recorded horizon"]),
        ("blind", &json["value"]["blind, fitted Q evaluation, recorded horizon"]),
        ("policy minus blind", &json["difference"]["policy minus blind, recorded horizon"]),
        (
            "policy minus what people received",
            &json["difference"]["policy minus what people received, recorded horizon"],
        ),
        ("0 against 1", &json["pairs"][0]["disagreement"]),
    ] {
        for cell in cells(of) {
            assert!(row(name).contains(&cell), "{name}: {cell} is not in {:?}", row(name));
        }
    }
    let metric = &json["cf_metric"];
    let [mean, interval] = cells(metric);
    let said =
        format!("CF metric {mean}, interval {interval}: at most {:.4} with 95 % confidence", number(&metric["upper"]));
    assert!(text.contains(&said), "{said}\n{text}");
    let [gap, interval] = cells(&json["parity_gap"]);
    assert!(text.contains(&format!("first decision {gap}, interval {interval})")), "{text}");
    // Every warning is given to those who read tables, too: here that there are few people.
    let warnings = json["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning.as_str().unwrap().contains("90 people learned from and 90 judged on"))
    );
    for warning in warnings {
        assert!(remarks.contains(&format!("warning: {}", warning.as_str().unwrap())), "{warning}\n{remarks}");
    }
}
