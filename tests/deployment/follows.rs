//! A checker for the schemas in src/fair/schema.

use serde_json::Value;
use std::fs;
use std::path::Path;

pub fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fair/schema").join(name);
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The keywords that our schemas use; any other is an error, so that none is silently not checked.
const KNOWN: [&str; 15] = [
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "oneOf",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
];

/// The first place where a value does not follow a schema.
fn problem(root: &Value, schema: &Value, value: &Value, at: &str) -> Option<String> {
    let keywords = schema.as_object().unwrap();
    for keyword in keywords.keys() {
        assert!(KNOWN.contains(&keyword.as_str()) || keyword == "minimum", "{keyword} is not checked");
    }
    let is = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other} is no type"),
    };
    if let Some(reference) = keywords.get("$ref") {
        let target = root.pointer(&reference.as_str().unwrap()[1..]).expect("a reference within the schema");
        if let Some(problem) = problem(root, target, value, at) {
            return Some(problem);
        }
    }
    let typed = match keywords.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(is),
        Some(name) => is(name),
    };
    let fixed = keywords.get("const").is_none_or(|fixed| fixed == value)
        && keywords.get("enum").is_none_or(|these| these.as_array().unwrap().contains(value));
    let least = keywords.get("minimum").zip(value.as_f64()).is_none_or(|(least, x)| x >= least.as_f64().unwrap());
    let many =
        keywords.get("minItems").zip(value.as_array()).is_none_or(|(n, a)| a.len() as u64 >= n.as_u64().unwrap());
    if !typed || !fixed || !least || !many {
        return Some(format!("{at}: {value} is not {schema}"));
    }
    if let Some(choices) = keywords.get("oneOf") {
        let problems: Vec<_> = choices.as_array().unwrap().iter().map(|s| problem(root, s, value, at)).collect();
        if problems.iter().filter(|problem| problem.is_none()).count() != 1 {
            return Some(format!("{at}: not exactly one of {problems:?}"));
        }
    }
    if let Some(entries) = value.as_object() {
        let properties = keywords.get("properties").and_then(Value::as_object);
        for name in keywords.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !entries.contains_key(name.as_str().unwrap()) {
                return Some(format!("{at}: {name} is missing"));
            }
        }
        for (name, entry) in entries {
            let at = format!("{at}/{name}");
            let inner = match (properties.and_then(|p| p.get(name)), keywords.get("additionalProperties")) {
                (Some(inner), _) => problem(root, inner, entry, &at),
                (None, Some(Value::Bool(false))) => Some(format!("{at}: not in the schema")),
                (None, Some(inner)) if inner.is_object() => problem(root, inner, entry, &at),
                _ => None,
            };
            if inner.is_some() {
                return inner;
            }
        }
    }
    let items = keywords.get("items").zip(value.as_array());
    items.and_then(|(inner, array)| {
        array.iter().enumerate().find_map(|(i, item)| problem(root, inner, item, &format!("{at}/{i}")))
    })
}

pub fn follows(schema: &Value, value: &Value) -> Option<String> {
    problem(schema, schema, value, "")
}
