//! Programs that decide, well and badly: what this test binary is when it is started with `--child`.

use counterfair::fair::Features;
use counterfair::fair::Policy;
use counterfair::fair::StoredQ;
use counterfair::kernel::learn::ActionValue;
use counterfair::kernel::learn::LinearQ;
use counterfair::kernel::preprocess::StateOnly;
use serde_json::{Value, json};
use std::io::{BufRead, Read, Write};
use std::time::Duration;

/// Plays a part until the input ends.
pub fn play(part: &str, file: Option<&str>) {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut say = |text: &str| {
        // Whoever started us may have had enough.
        let _ = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    };
    if part == "exits-at-once" {
        std::process::exit(3);
    }
    if part == "says-something-else" {
        say("Loading model, please wait ...\n");
    }
    let mut greeting = String::new();
    input.read_line(&mut greeting).unwrap();
    let greeting: Value = serde_json::from_str(&greeting).expect("a greeting");
    let actions: Vec<String> =
        greeting["actions"].as_array().unwrap().iter().map(|a| a.as_str().unwrap().into()).collect();
    match part {
        "never-ready" => sleep(),
        "another-version" => say("{\"version\": 2, \"answers\": \"actions\"}\n"),
        "endless-line" => (0..1100).for_each(|_| say(&"x".repeat(1 << 16))),
        "probabilities" | "sums-to-less" => say("{\"version\": 1, \"answers\": \"probabilities\"}\n"),
        _ => say("{\"version\": 1, \"answers\": \"actions\"}\n"),
    }
    if part == "policy" && file.is_none() {
        eprintln!("the child was given no policy");
        std::process::exit(5);
    }
    let policy = file.filter(|_| part == "policy").map(|file| Policy::load(file).unwrap());
    let mut asked = 0;
    loop {
        if part == "talks-before-it-listens" {
            // More than any pipe holds, before the question is read; blanks before an object are JSON.
            let _ = input.read(&mut [0; 0]);
            say(&" ".repeat(1 << 22));
        }
        let mut line = String::new();
        if input.read_line(&mut line).unwrap() == 0 {
            break;
        }
        if part == "records" {
            let mut log = std::fs::OpenOptions::new().create(true).append(true).open(file.unwrap()).unwrap();
            log.write_all(line.as_bytes()).unwrap();
        }
        let question: Value = serde_json::from_str(&line).expect("a batch");
        let batch = question["batch"].as_u64().unwrap();
        let views: Vec<Vec<f64>> =
            question["views"].as_array().unwrap().iter().map(|v| serde_json::from_value(v.clone()).unwrap()).collect();
        asked += 1;
        let zeros = |n: usize| vec![actions[0].clone(); n];
        let answer = match part {
            "policy" => json!({ "batch": batch, "actions": greedy(policy.as_ref().unwrap(), &views) }),
            "probabilities" => {
                // ∝ exp(a · mean of the view), a = 0, 1, …
                let rows = views.iter().map(|view| {
                    let mean = view.iter().sum::<f64>() / view.len() as f64;
                    let odds: Vec<f64> = (0..actions.len()).map(|a| (a as f64 * mean).exp()).collect();
                    odds.iter().map(|odd| odd / odds.iter().sum::<f64>()).collect::<Vec<_>>()
                });
                let rows: Vec<_> = rows.collect();
                json!({ "batch": batch, "probabilities": rows })
            }
            "sums-to-less" => json!({ "batch": batch, "probabilities": vec![[0.5, 0.25]; views.len()] }),
            "too-few" => json!({ "batch": batch, "actions": zeros(views.len() - 1) }),
            "too-many" => json!({ "batch": batch, "actions": zeros(views.len() + 1) }),
            "unknown-action" => json!({ "batch": batch, "actions": vec!["surgery"; views.len()] }),
            "another-batch" => json!({ "batch": batch + 7, "actions": zeros(views.len()) }),
            "in-turns" => json!({ "batch": batch, "actions": vec![&actions[asked % 2]; views.len()] }),
            "dies-later" if asked == 3 => std::process::exit(4),
            // After every recorded history was followed once, in the worlds that the CF metric compares.
            "dies-much-later" if asked == 10 => std::process::exit(4),
            "falls-silent" if asked == 3 => return sleep(),
            "is-cut-off" => {
                say("{\"batch\": 1, \"act");
                std::process::exit(0);
            }
            "rubbish" => json!("yes"),
            _ => json!({ "batch": batch, "actions": zeros(views.len()) }),
        };
        say(&format!("{answer}\n"));
    }
    if part == "lingers" {
        // A sign of life now and then, although the input has ended.
        for beat in 0..600 {
            std::fs::write(file.unwrap(), beat.to_string()).unwrap();
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn sleep() {
    std::thread::sleep(Duration::from_secs(60));
}

/// The first of the largest values, of a least-squares policy.
fn greedy(policy: &Policy, views: &[Vec<f64>]) -> Vec<String> {
    let StoredQ::Linear { features, weights } = &policy.q else { panic!("a least-squares policy") };
    let q: LinearQ<StateOnly, Features> = LinearQ::new(features.clone(), policy.actions.len(), weights.clone());
    let best = |view: &Vec<f64>| {
        let mut values = vec![0.0; policy.actions.len()];
        q.values(view, &mut values);
        let best = (1..values.len()).fold(0, |best, a| if values[a] > values[best] { a } else { best });
        policy.actions.name(best).to_string()
    };
    views.iter().map(best).collect()
}
