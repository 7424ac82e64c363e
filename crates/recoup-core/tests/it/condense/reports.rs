//! Reports as the tools themselves wrote them (`tests/fixtures/condense`), and
//! what in them is easily misread.

use serde_json::json;

use super::{identifiers, printed, summary, verdict};
use recoup_core::condense::CondenseStrategy;

/// All three forms of a report, short enough for a snapshot.
fn forms(fixture: &str) -> String {
    let path = format!("{}/tests/fixtures/condense/{fixture}", env!("CARGO_MANIFEST_DIR"));
    let input = std::fs::read(path).unwrap();
    let found = verdict(&input);
    let mut lines = vec![format!("{} {}", found["verdict"], found["severity_counts"])];
    lines.extend(found["top_findings"].as_array().unwrap().iter().map(ToString::to_string));
    lines.push(summary(&input)["description"].to_string());
    lines.push(identifiers(&input)["identifiers"].to_string());
    lines.join("\n")
}

#[test]
fn sarif() {
    insta::assert_snapshot!(forms("eslint.sarif"), @r#"
    "FAIL" {"critical":0,"high":3,"low":0,"medium":2}
    {"file":"/home/dev/demo/src/login.js","id":"eqeqeq","line":3,"message":"Expected '===' and instead saw '=='.","severity":"error"}
    {"file":"/home/dev/demo/src/login.js","id":"no-eval","line":4,"message":"eval can be harmful.","severity":"error"}
    {"file":"/home/dev/demo/src/broken.js","id":"ESL0999","line":1,"message":"Parsing error: Unexpected token (","severity":"error"}
    {"file":"/home/dev/demo/src/login.js","id":"no-var","line":1,"message":"Unexpected var, use let or const instead.","severity":"warning"}
    {"file":"/home/dev/demo/src/login.js","id":"no-unused-vars","line":1,"message":"'unused' is assigned a value but never used.","severity":"warning"}
    "ESLint: 5 results"
    ["/home/dev/demo/src/broken.js:1","/home/dev/demo/src/login.js:1","/home/dev/demo/src/login.js:3","/home/dev/demo/src/login.js:4"]
    "#);
}

#[test]
fn eslint() {
    insta::assert_snapshot!(forms("eslint.json"), @r#"
    "FAIL" {"critical":0,"high":3,"low":0,"medium":2}
    {"file":"/home/dev/demo/src/broken.js","id":"fatal","line":1,"message":"Parsing error: Unexpected token (","severity":"error"}
    {"file":"/home/dev/demo/src/login.js","id":"eqeqeq","line":3,"message":"Expected '===' and instead saw '=='.","severity":"error"}
    {"file":"/home/dev/demo/src/login.js","id":"no-eval","line":4,"message":"eval can be harmful.","severity":"error"}
    {"file":"/home/dev/demo/src/login.js","id":"no-var","line":1,"message":"Unexpected var, use let or const instead.","severity":"warning"}
    {"file":"/home/dev/demo/src/login.js","id":"no-unused-vars","line":1,"message":"'unused' is assigned a value but never used.","severity":"warning"}
    "3 errors, 2 warnings in 3 files"
    ["/home/dev/demo/src/broken.js:1","/home/dev/demo/src/login.js:1","/home/dev/demo/src/login.js:3","/home/dev/demo/src/login.js:4"]
    "#);
}

#[test]
fn cargo_with_errors() {
    insta::assert_snapshot!(forms("cargo-errors.jsonl"), @r#"
    "FAIL" {"critical":0,"high":1,"low":0,"medium":0}
    {"file":"src/lib.rs","id":"E0308","line":5,"message":"mismatched types","severity":"error"}
    "1 error, 0 warnings"
    ["src/lib.rs:5"]
    "#);
}

#[test]
fn cargo_with_tests_that_fail() {
    insta::assert_snapshot!(forms("cargo-tests.jsonl"), @r#"
    "FAIL" {"critical":0,"high":1,"low":0,"medium":1}
    {"file":"src/lib.rs","id":"tests::fails","line":15,"message":"assertion `left == right` failed: {not JSON","severity":"error"}
    {"file":"src/lib.rs","id":"unused_variables","line":4,"message":"unused variable: `unused`","severity":"warning"}
    "0 errors, 1 warning, 1 failed test"
    ["src/lib.rs:4","src/lib.rs:15"]
    "#);
}

#[test]
fn pytest() {
    insta::assert_snapshot!(forms("pytest.json"), @r#"
    "FAIL" {"critical":0,"high":4,"low":0,"medium":0}
    {"file":"test_import.py","id":"test_import.py","message":"ModuleNotFoundError: No module named 'nothing_of_that_name'","severity":"error"}
    {"file":"test_login.py","id":"test_login.py::test_direct","line":13,"message":"assert [1, 2] == [1, 3]\n  \n  At index 1 diff: 2 != 3\n  Use -v to get more diff","severity":"error"}
    {"file":"test_login.py","id":"test_login.py::test_in_helper","line":5,"message":"AssertionError: naïve – wrong value\nassert 1 == 2","severity":"error"}
    {"file":"test_login.py","id":"test_login.py::test_setup_error","line":22,"message":"RuntimeError: no database","severity":"error"}
    "2 failed, 1 error, 1 passed, 1 skipped, 1 xfailed"
    ["test_import.py:0","test_login.py:5","test_login.py:13","test_login.py:22"]
    "#);
}

#[test]
fn ripgrep() {
    insta::assert_snapshot!(forms("ripgrep.jsonl"), @r#"
    "FOUND" {"critical":0,"high":0,"low":5,"medium":0}
    {"file":"src/broken.js","id":"match","line":1,"message":"export function (","severity":"info"}
    {"file":"src/clean.js","id":"match","line":1,"message":"export const one = 1;","severity":"info"}
    {"file":"src/login.js","id":"match","line":2,"message":"export function login(user, password) {","severity":"info"}
    {"file":"src/login.js","id":"match","line":4,"message":"return eval(password);","severity":"info"}
    {"file":"src/login.js","id":"match","line":6,"message":"console.log(\"naïve – ünïcode 日本\");","severity":"info"}
    "5 matches in 3 files"
    ["src/broken.js:1","src/clean.js:1","src/login.js:2","src/login.js:4","src/login.js:6"]
    "#);
}

#[test]
fn junit() {
    insta::assert_snapshot!(forms("junit-junit2json.json"), @r#"
    "FAIL" {"critical":0,"high":4,"low":0,"medium":0}
    {"id":"test_import","message":"collection failure","severity":"error"}
    {"file":"test_login","id":"test_login.test_direct","message":"assert [1, 2] == [1, 3]\n  \n  At index 1 diff: 2 != 3\n  Use -v to get more diff","severity":"error"}
    {"file":"test_login","id":"test_login.test_in_helper","message":"AssertionError: naïve – wrong value\nassert 1 == 2","severity":"error"}
    {"file":"test_login","id":"test_login.test_setup_error","message":"failed on setup with \"RuntimeError: no database\"","severity":"error"}
    "4 failed of 7 tests"
    ["test_login:0"]
    "#);
}

#[test]
fn junit_by_other_converters_comes_to_the_same() {
    let known = forms("junit-junit2json.json");
    for converter in ["xmltodict", "xml2js", "xmljs"] {
        assert_eq!(forms(&format!("junit-{converter}.json")), known, "{converter}");
    }
    // This one leaves XML's own escapes in attributes as they are.
    assert_eq!(forms("junit-fxp.json").replace("&#10;", "\\n"), known);
}

#[test]
fn sarif_refers_to_rules_and_files_by_number() {
    let input = json!({"version": "2.1.0", "runs": [{
        "tool": {"driver": {"name": "scan", "rules": [{
            "id": "sql",
            "defaultConfiguration": {"level": "error"},
            "properties": {"security-severity": "9.1"},
            "messageStrings": {"bad": {"text": "{0} reaches {1}"}}
        }]}},
        "artifacts": [{"location": {"uri": "file:///src/a%20b.rs"}}],
        "results": [{
            "ruleIndex": 0,
            "message": {"id": "bad", "arguments": ["input", "a query"]},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"index": 0}, "region": {"startLine": 4}
            }}]
        }]
    }]});
    let finding = json!({"id": "sql", "severity": "critical", "file": "/src/a b.rs", "line": 4,
        "message": "input reaches a query"});
    assert_eq!(verdict(input.to_string())["top_findings"], json!([finding]));
}

#[test]
fn sarif_results_that_are_suppressed_passed_or_gone_do_not_count() {
    let results = json!([
        {"ruleId": "a", "suppressions": [{"kind": "inSource"}]},
        {"ruleId": "b", "kind": "pass"},
        {"ruleId": "c", "baselineState": "absent"},
        {"ruleId": "d", "suppressions": [{"kind": "external", "status": "rejected"}]},
        {"ruleId": "e", "kind": "review"}
    ]);
    let input = json!({"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{"tool": {"driver": {"name": "scan"}}, "results": results}]});
    let found = verdict(input.to_string());
    assert_eq!(found["verdict"], "PASS");
    let ids: Vec<_> =
        found["top_findings"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["d", "e"]);
}

#[test]
fn a_build_that_succeeds_passes_and_one_that_was_cut_off_is_unknown() {
    let artifact = r#"{"reason":"compiler-artifact","package_id":"demo"}"#;
    let finished = r#"{"reason":"build-finished","success":true}"#;
    assert_eq!(verdict(format!("{artifact}\n{finished}\n"))["verdict"], "PASS");
    assert_eq!(verdict(finished)["verdict"], "PASS");
    assert_eq!(verdict(artifact)["verdict"], "UNKNOWN");
    assert_eq!(verdict(format!("{finished}\n{{ not a message\n"))["verdict"], "PASS");
    let broken = format!("{artifact}\n{{\"reason\":\"build-fin");
    assert_eq!(verdict(broken)["verdict"], "UNKNOWN");
}

#[test]
fn a_search_without_a_match_and_paths_that_are_no_text() {
    let summary = r#"{"data":{"stats":{"matches":0}},"type":"summary"}"#;
    assert_eq!(verdict(summary)["verdict"], "NOT_FOUND");
    let event = r#"{"type":"match","data":{"path":{"bytes":"Zm9v/2Jhcg=="},"lines":{"text":"x\n"},"line_number":null,"submatches":[]}}"#;
    assert_eq!(identifiers(event)["identifiers"], json!(["foo\u{fffd}bar:0"]));
}

#[test]
fn the_order_in_which_files_were_searched_does_not_matter() {
    let event = |file, line| {
        let path = json!({"text": file});
        json!({"type": "match", "data": {"path": path, "line_number": line}}).to_string()
    };
    let one = [event("b", 2), event("b", 10), event("a", 1)].join("\n");
    let other = [event("a", 1), event("b", 2), event("b", 10)].join("\n");
    assert_eq!(verdict(one), verdict(other));
}

#[test]
fn results_of_agents_are_not_taken_for_reports() {
    for input in [
        r#"{"verdict": "ok", "runs": [1, 2]}"#,
        r#"{"verdict": "ok", "version": "2.1.0", "runs": 3}"#,
        r#"{"verdict": "ok", "testsuite": "auth"}"#,
        r#"{"verdict": "ok", "exitcode": 1, "summary": "text"}"#,
        r#"{"verdict": "ok", "type": "match", "data": []}"#,
        r#"{"verdict": "ok", "reason": "because"}"#,
    ] {
        assert_eq!(verdict(input)["verdict"], "ok", "{input}");
    }
}

#[test]
fn a_report_has_the_shape_of_any_other_result() {
    let events = r#"{"type":"summary","data":{"stats":{"matches":0}}}"#;
    insta::assert_snapshot!(printed(CondenseStrategy::StructuredVerdict, events), @r#"
    {
      "verdict": "NOT_FOUND",
      "severity_counts": {
        "critical": 0,
        "high": 0,
        "medium": 0,
        "low": 0
      },
      "top_findings": []
    }
    "#);
}
