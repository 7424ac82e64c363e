//! The shapes that scripts read, and the names under which fields are found.

use serde_json::json;

use super::{identifiers, printed, summary, verdict};
use recoup_core::condense::CondenseStrategy;

#[test]
fn a_verdict_has_counts_and_the_gravest_findings_first() {
    let input = r#"{
        "verdict": "FAIL",
        "findings": [
            {"id": "F1", "severity": "low", "file": "src/a.rs", "line": 3, "message": "first"},
            {"id": "F2", "severity": "Critical", "file": "src/b.rs", "line": 7, "message": "second"},
            {"id": "F3", "severity": "warning", "file": "src/c.rs", "line": 9, "message": "third"}
        ]
    }"#;
    insta::assert_snapshot!(printed(CondenseStrategy::StructuredVerdict, input), @r#"
    {
      "verdict": "FAIL",
      "severity_counts": {
        "critical": 1,
        "high": 0,
        "medium": 1,
        "low": 1
      },
      "top_findings": [
        {
          "id": "F2",
          "severity": "Critical",
          "file": "src/b.rs",
          "line": 7,
          "message": "second"
        },
        {
          "id": "F3",
          "severity": "warning",
          "file": "src/c.rs",
          "line": 9,
          "message": "third"
        },
        {
          "id": "F1",
          "severity": "low",
          "file": "src/a.rs",
          "line": 3,
          "message": "first"
        }
      ]
    }
    "#);
}

#[test]
fn identifiers_are_unique_and_in_the_order_of_paths_and_numbers() {
    let input = r#"{
        "query": "login",
        "score": 0.75,
        "best_match": {"path": "src/b.rs", "line": 10},
        "matches": [
            {"path": "src/b.rs", "line_number": 10},
            "src/b.rs:9:4",
            {"file": "src/a.rs", "line": "100"},
            {"file": "src/b.rs", "line": 10},
            {"file": "src/a.rs", "line": 20},
            "README.md",
            {"file": "src/a.rs"}
        ]
    }"#;
    insta::assert_snapshot!(printed(CondenseStrategy::IdentifiersOnly, input), @r#"
    {
      "identifiers": [
        "README.md",
        "src/a.rs:0",
        "src/a.rs:20",
        "src/a.rs:100",
        "src/b.rs:9:4",
        "src/b.rs:10"
      ],
      "query": "login",
      "confidence": 0.75,
      "top_match": "src/b.rs:10"
    }
    "#);
}

#[test]
fn a_summary_has_a_description_and_a_count() {
    let input = r#"{"status": "ok", "summary": "All is well.", "items": [1, 2, 3]}"#;
    insta::assert_snapshot!(printed(CondenseStrategy::Summary, input), @r#"
    {
      "type": "summary",
      "verdict": "ok",
      "description": "All is well.",
      "item_count": 3
    }
    "#);
}

#[test]
fn an_object_without_any_of_the_fields_says_so() {
    let zero = json!({"critical": 0, "high": 0, "medium": 0, "low": 0});
    let nothing = json!({"verdict": "UNKNOWN", "severity_counts": zero, "top_findings": []});
    assert_eq!(verdict("{}"), nothing);
    assert_eq!(identifiers("{}"), json!({"identifiers": []}));
    let said = json!({"type": "summary", "verdict": "UNKNOWN", "item_count": 0});
    assert_eq!(summary("{}"), said);
}

#[test]
fn every_alias_of_a_field_is_known() {
    let wanted = json!([{"id": "x", "severity": "high", "file": "f", "line": 3, "message": "m"}]);
    for list in ["findings", "issues", "results", "vulnerabilities"] {
        for (id, severity, file, line, message) in [
            ("id", "severity", "file", "line", "message"),
            ("finding_id", "level", "path", "line_number", "description"),
            ("name", "severity", "location", "line", "title"),
        ] {
            let input =
                json!({list: [{id: "x", severity: "high", file: "f", line: 3, message: "m"}]});
            assert_eq!(verdict(input.to_string())["top_findings"], wanted, "{input}");
        }
    }
    for name in ["verdict", "status", "result"] {
        assert_eq!(verdict(json!({name: "PASS"}).to_string())["verdict"], "PASS");
    }
    for list in ["files", "matches", "results", "findings", "items"] {
        let input = json!({list: ["b", "a"]}).to_string();
        assert_eq!(identifiers(input)["identifiers"], json!(["a", "b"]));
    }
}

#[test]
fn the_first_name_wins_that_says_something() {
    let input = r#"{"verdict": null, "status": "ok", "findings": null, "issues": [{"id": 1}]}"#;
    assert_eq!(verdict(input)["verdict"], "ok");
    assert_eq!(verdict(input)["top_findings"][0]["id"], 1);
    assert_eq!(verdict(r#"{"verdict": false}"#)["verdict"], "false");
    assert_eq!(verdict(r#"{"verdict": false, "status": "bad"}"#)["verdict"], "bad");
    assert_eq!(verdict(r#"{"findings": {}, "results": [{"id": 2}]}"#)["top_findings"][0]["id"], 2);
}

#[test]
fn a_finding_has_the_fields_that_the_input_gives_and_no_others() {
    let top = |input: &str| verdict(input)["top_findings"].clone();
    assert_eq!(top(r#"{"findings": [{}]}"#), json!([{}]));
    assert_eq!(top(r#"{"findings": ["just words"]}"#), json!([{"message": "just words"}]));
    let odd = r#"{"findings": [{"id": "", "severity": null, "file": "a.rs", "message": ""}]}"#;
    assert_eq!(top(odd), json!([{"file": "a.rs"}]));
    assert_eq!(verdict(odd)["severity_counts"]["medium"], 1);
}

#[test]
fn counts_of_the_input_are_kept_and_otherwise_made() {
    let given = r#"{"severities": {"blocker": 7}, "findings": [{"severity": "low"}]}"#;
    assert_eq!(verdict(given)["severity_counts"], json!({"blocker": 7}));
    let words = ["error", "HIGH", "note", "info", "moderate", "fatal", "P1", "odd"];
    let findings: Vec<_> = words.iter().map(|word| json!({"severity": word})).collect();
    let made = verdict(json!({"findings": findings}).to_string());
    let counts = json!({"critical": 1, "high": 2, "medium": 1, "low": 2, "other": 2});
    assert_eq!(made["severity_counts"], counts);
}

#[test]
fn messages_and_descriptions_are_cut_between_characters() {
    let long = "日本語🦀é".repeat(60);
    let input = json!({"description": long, "findings": [{"message": long}]}).to_string();
    let first = |n| long.chars().take(n).collect::<String>();
    assert_eq!(verdict(&input)["top_findings"][0]["message"], first(100));
    assert_eq!(summary(&input)["description"], first(200));
}

#[test]
fn a_place_may_be_an_object() {
    let input = r#"{"findings": [{"location": {"path": "src/a.rs", "start_line": 12}}]}"#;
    assert_eq!(verdict(input)["top_findings"][0]["file"], "src/a.rs");
    assert_eq!(verdict(input)["top_findings"][0]["line"], 12);
    assert_eq!(identifiers(input)["identifiers"], json!(["src/a.rs:12"]));
}
