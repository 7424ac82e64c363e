//! Inputs that nobody should write, and somebody does.

use recoup_core::condense::{CondenseOptions, CondenseStrategy};
use serde_json::json;

use super::{identifiers, printed, refusal, summary, verdict, with};

#[test]
fn what_is_not_json_is_refused_with_the_place() {
    for input in ["", " ", "{", "{\"a\":}", "no JSON", "{} {}", "{\"a\":1}\n{\"a\":2}", "\u{0}"] {
        assert!(refusal(input).starts_with("Invalid JSON input: "), "{input:?}");
    }
    assert!(refusal("{\"a\": [1,\n]}").ends_with("line 2 column 1"));
    assert!(refusal(b"{\"a\": \"\xff\"}").starts_with("Invalid JSON input: invalid utf-8"));
}

#[test]
fn json_that_is_neither_object_nor_report_is_refused() {
    for input in ["[]", "[1]", "1", "null", "\"text\"", "true", "[{}]"] {
        assert!(refusal(input).contains("neither an object nor a known report"), "{input}");
    }
}

#[test]
fn a_byte_order_mark_is_no_fault() {
    assert_eq!(verdict("\u{feff}{\"verdict\": \"ok\"}")["verdict"], "ok");
}

#[test]
fn of_two_fields_with_one_name_the_last_counts() {
    let input = r#"{"verdict": "old", "findings": [{"id": 1}], "verdict": "new", "findings": []}"#;
    assert_eq!(verdict(input)["verdict"], "new");
    assert_eq!(verdict(input)["top_findings"], json!([]));
}

#[test]
fn names_may_be_written_with_escapes() {
    assert_eq!(verdict(r#"{"\u0076erdict": "o\u006b"}"#)["verdict"], "ok");
}

#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    let input =
        r#"{"verdict": "cut \ud83d", "\udc00": 1, "findings": [{"id": "\ud83d\ude00 \udc00"}]}"#;
    assert_eq!(verdict(input)["verdict"], "cut \u{fffd}");
    assert_eq!(verdict(input)["top_findings"][0]["id"], "😀 \u{fffd}");
    assert_eq!(summary(input)["item_count"], 1);
}

#[test]
fn numbers_of_any_size_come_through() {
    let input = r#"{"findings": [{"id": 123456789012345678901234567890, "file": "a", "line": 12345678901234567890123}]}"#;
    let printed = printed(CondenseStrategy::StructuredVerdict, input);
    assert!(printed.contains("\"id\": 123456789012345678901234567890,"), "{printed}");
    assert!(printed.contains("\"line\": 12345678901234567890123\n"), "{printed}");
    assert_eq!(identifiers(input)["identifiers"], json!(["a:12345678901234567890123"]));
    let order = r#"{"files": ["a:100000000000000000000", "a:99999999999999999999"]}"#;
    assert_eq!(identifiers(order)["identifiers"][0], "a:99999999999999999999");
}

#[test]
fn items_that_say_nothing_about_a_place_are_no_identifiers() {
    let input = r#"{"files": [1, null, {}, [], "", {"line": 3}, {"path": "a", "line": null}]}"#;
    assert_eq!(identifiers(input)["identifiers"], json!(["a:0"]));
}

#[test]
fn deep_nesting_costs_neither_the_stack_nor_the_square_of_its_depth() {
    let depth = 200_000;
    let deep =
        format!(r#"{{"verdict": "ok", "deep": {}1{}}}"#, "[".repeat(depth), "]".repeat(depth));
    let options =
        CondenseOptions { preserve: vec!["deep".to_owned()], ..CondenseOptions::default() };
    let printed = with(&options, &deep);
    assert!(printed.len() < deep.len() + 10_000, "{} bytes", printed.len());
    assert_eq!(printed.matches('[').count(), depth + 1);
}

#[test]
fn any_number_of_top_findings_may_be_asked_for() {
    let input = json!({"findings": [{"id": 1}, {"id": 2}]}).to_string();
    for (top, shown) in [(0, 0), (1, 1), (2, 2), (usize::MAX, 2)] {
        let printed = with(&CondenseOptions { top, ..CondenseOptions::default() }, &input);
        assert_eq!(printed.matches("\"id\"").count(), shown);
    }
}
