//! Fields that are kept as they are.

use recoup_core::condense::{CondenseOptions, CondenseStrategy, InputDocument, missing_paths};
use serde_json::{Value, json};

use super::with;

fn preserving(paths: &[&str]) -> CondenseOptions {
    let preserve = paths.iter().map(|path| (*path).to_owned()).collect();
    CondenseOptions { strategy: CondenseStrategy::Summary, preserve, ..CondenseOptions::default() }
}

fn kept(input: &str, path: &str) -> Option<Value> {
    let json: Value = serde_json::from_str(&with(&preserving(&[path]), input)).unwrap();
    json.get(path).cloned()
}

#[test]
fn dots_lead_into_objects_and_lists() {
    let input = r#"{"a": {"b": [1, {"c": "found"}]}}"#;
    assert_eq!(kept(input, "a.b.1.c"), Some(json!("found")));
    assert_eq!(kept(input, "a"), Some(json!({"b": [1, {"c": "found"}]})));
    assert_eq!(kept(input, "a.b.2"), None);
    assert_eq!(kept(input, "a.x.c"), None);
}

#[test]
fn false_and_null_are_values() {
    let input = r#"{"off": false, "none": null, "in": {"off": false}}"#;
    assert_eq!(kept(input, "off"), Some(json!(false)));
    assert_eq!(kept(input, "none"), Some(Value::Null));
    assert_eq!(kept(input, "in.off"), Some(json!(false)));
}

#[test]
fn a_name_may_have_dots_itself() {
    assert_eq!(kept(r#"{"a.b": 1}"#, "a.b"), Some(json!(1)));
    assert_eq!(kept(r#"{"a.b": {"c.d": 1}}"#, "a.b.c.d"), Some(json!(1)));
    assert_eq!(kept(r#"{"a.b": 1, "a": {"b": 2}}"#, "a.b"), Some(json!(2)));
}

#[test]
fn numbers_keep_their_digits() {
    let digits = "[12345678901234567890123, 1.10, 1E400, -0, 0.1e-7]";
    let printed = with(&preserving(&["n"]), format!(r#"{{"n": {digits}}}"#));
    for number in digits.trim_matches(['[', ']']).split(", ") {
        assert!(printed.contains(&format!("    {number}")), "{number}: {printed}");
    }
}

#[test]
fn the_fields_of_the_strategy_come_first() {
    let input = r#"{"verdict": {"ok": true}, "type": 1, "item_count": "x", "mine": 2,
        "identifiers": 1, "severity_counts": 7, "top_findings": 8, "files": ["a:1"]}"#;
    let printed = with(&preserving(&["verdict", "type", "item_count", "mine"]), input);
    insta::assert_snapshot!(printed, @r#"
    {
      "type": "summary",
      "verdict": "UNKNOWN",
      "item_count": 1,
      "mine": 2
    }
    "#);
    let own = ["identifiers", "severity_counts", "top_findings", "verdict"];
    for strategy in [CondenseStrategy::IdentifiersOnly, CondenseStrategy::StructuredVerdict] {
        let shape = with(&CondenseOptions { strategy, ..CondenseOptions::default() }, input);
        let shape: Value = serde_json::from_str(&shape).unwrap();
        let kept = with(&CondenseOptions { strategy, ..preserving(&own) }, input);
        let kept: Value = serde_json::from_str(&kept).unwrap();
        for (name, value) in shape.as_object().unwrap() {
            assert_eq!(&kept[name], value, "{strategy}: {name}");
        }
    }
}

#[test]
fn what_is_not_there_is_named() {
    let options = preserving(&["verdict", "nothing", "a.b"]);
    let document = InputDocument::read(br#"{"verdict": null, "a": {}}"#).unwrap();
    assert_eq!(missing_paths(&document, &options), ["nothing", "a.b"]);
}
