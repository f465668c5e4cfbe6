//! The reader in Python decides as the program does.

use super::*;

/// Python with NumPy: `COUNTERFAIR_PYTHON`, or python3.
fn python() -> Option<String> {
    let program = std::env::var("COUNTERFAIR_PYTHON").unwrap_or("python3".into());
    let found = Command::new(&program).args(["-c", "import numpy"]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(program)
}

#[test]
fn the_reader_in_python_decides_alike_to_twelve_digits() {
    let Some(python) = python() else {
        eprintln!("skipped: no python3 with numpy");
        return;
    };
    let cases = [("ours", "linear"), ("ours", "poly:2"), ("ours", "spline"), ("full", "linear"), ("unaware", "linear")];
    for (method, model) in cases {
        let folder = Folder::new(&format!("reader-{method}-{}", model.replace(':', "-")));
        learned(&folder, "three-levels", method, model);
        let mut requests = requests(&folder);
        // Beyond the knots on both sides, too.
        requests.truncate(300);
        for (i, by) in [(0, 40.0), (1, -40.0)] {
            let x = requests[i]["state"][0].as_f64().unwrap();
            requests[i]["state"][0] = json!(x + by);
        }
        let ours = answers(&folder, &["decide", "--policy", "policy.json", "--explain"], &text(&requests));
        let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reader/decide.py");
        let mut child = Command::new(&python)
            .args([script.as_os_str(), folder.0.join("policy.json").as_os_str()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let lines = text(&requests);
        let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap().unwrap();
        let theirs: Vec<Value> =
            String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(theirs.len(), requests.len());
        for (a, b) in ours.iter().zip(&theirs) {
            assert_eq!((&a["id"], &a["action"]), (&b["id"], &b["action"]), "{method} {model}");
            for part in ["values", "counterfactual_states"] {
                assert_close(&a[part], &b[part], &format!("{method} {model}: {a} {b}"));
            }
        }
    }
}

/// Equal to 1e-12 of the larger of 1 and the number's size.
fn assert_close(a: &Value, b: &Value, context: &str) {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            assert!(a.keys().eq(b.keys()), "{context}");
            a.values().zip(b.values()).for_each(|(a, b)| assert_close(a, b, context));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{context}");
            a.iter().zip(b).for_each(|(a, b)| assert_close(a, b, context));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-12 * a.abs().max(1.0), "{a} and {b} in {context}");
        }
        _ => assert_eq!(a, b, "{context}"),
    }
}
