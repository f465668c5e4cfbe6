//! What is written and read is what the schemas say.

use super::follows::{follows, schema};
use super::*;
use std::fs;

#[test]
fn policies_requests_and_answers_follow_their_schemas() {
    let (policy, request, answer) = (schema("policy.json"), schema("request.json"), schema("answer.json"));
    for (method, model) in
        [("ours", "linear"), ("ours", "poly:2"), ("ours", "spline"), ("full", "linear"), ("unaware", "linear")]
    {
        let folder = Folder::new(&format!("schema-{method}-{}", model.replace(':', "-")));
        learned(&folder, "three-levels", method, model);
        let written: Value = serde_json::from_slice(&fs::read(folder.0.join("policy.json")).unwrap()).unwrap();
        assert_eq!(follows(&policy, &written), None, "{method} {model}");
        for (change, to) in [
            ("/version", json!(3)),
            ("/method", json!("fair")),
            ("/levels", json!([])),
            ("/q", json!({})),
            ("/seen/low", json!(["0"])),
        ] {
            let mut broken = written.clone();
            *broken.pointer_mut(change).unwrap() = to;
            assert!(follows(&policy, &broken).is_some(), "{change}");
        }
        let mut lines = requests(&folder);
        lines.truncate(200);
        lines.extend([json!({ "id": 7, "forget": true }), json!({ "id": lines[0]["id"], "forget": true })]);
        lines.iter().for_each(|line| assert_eq!(follows(&request, line), None));
        // Far away, of an unknown level, and repeated.
        let mut far = lines[0]["state"].clone();
        far[0] = json!(9e5);
        lines.push(json!({ "id": "far", "z": lines[0]["z"], "state": far }));
        lines.push(json!({ "id": "lost", "z": "no such level", "state": lines[0]["state"] }));
        for explain in [&[][..], &["--explain"]] {
            let command = [&["decide", "--policy", "policy.json", "--keep-going"], explain].concat();
            let given = answers(&folder, &command, &text(&lines));
            assert_eq!(given.len(), lines.len());
            given.iter().for_each(|line| assert_eq!(follows(&answer, line), None));
            assert!(given[202]["outside"] == true && given[203]["error"].is_string(), "{} {}", given[202], given[203]);
            assert_eq!(given[0].get("margin").is_some(), !explain.is_empty());
        }
    }
    for (line, schema) in [
        (json!({ "id": 1, "z": 1, "state": [0.5], "age": 3 }), &request),
        (json!({ "id": [1], "z": 1, "state": [0.5] }), &request),
        (json!({ "id": 1, "z": 1, "state": [0.5], "time": 0 }), &request),
        (json!({ "id": 1, "z": 1, "state": [0.5], "forget": true }), &request),
        (json!({ "id": 1, "action": 0 }), &answer),
        (json!({ "id": 1, "action": "0", "outside": false }), &answer),
    ] {
        assert!(follows(schema, &line).is_some(), "{line}");
    }
}
