//! What is easily taken for something else: failed runs for good ones, results
//! of agents for reports, logs for broken JSON, long answers for verdicts.

use serde_json::{Value, json};

use super::{identifiers, refusal, summary, verdict};

fn sarif(run: &Value) -> String {
    json!({"version": "2.1.0", "runs": [run]}).to_string()
}

#[test]
fn sarif_rules_of_extensions_are_found() {
    let rule =
        |id: &str, score: &str| json!({"id": id, "properties": {"security-severity": score}});
    let tool = json!({
        "driver": {"name": "CodeQL", "rules": [rule("js/note", "1.0")]},
        "extensions": [
            {"name": "a", "rules": [rule("js/low", "2.0")]},
            {"name": "b", "guid": "g", "rules": [rule("js/mid", "5.0"), rule("js/sql", "9.8")]}
        ]
    });
    let in_b = |rule: Value| json!({"message": {"text": "m"}, "rule": rule});
    for result in [
        json!({"ruleId": "js/sql", "ruleIndex": 1, "rule": {"id": "js/sql", "index": 1, "toolComponent": {"index": 1}}}),
        in_b(json!({"index": 1, "toolComponent": {"index": 1}})),
        in_b(json!({"index": 1, "toolComponent": {"name": "b"}})),
        in_b(json!({"index": 1, "toolComponent": {"index": -1, "guid": "g"}})),
        in_b(json!({"id": "js/sql", "index": 77, "toolComponent": {"index": 99}})),
        // The number is of another rule, of none, or missing.
        json!({"ruleId": "js/sql", "ruleIndex": 0}),
        json!({"ruleId": "js/sql", "ruleIndex": 50}),
        json!({"ruleId": "js/sql"}),
        json!({"ruleId": "js/sql/more", "ruleIndex": -1}),
    ] {
        let found = verdict(sarif(&json!({"tool": tool, "results": [result]})));
        assert_eq!(found["verdict"], "FAIL", "{result}");
        assert_eq!(found["top_findings"][0]["severity"], "critical", "{result}");
    }
}

#[test]
fn a_sarif_tool_that_failed_did_not_pass() {
    let failed = |invocation: Value| {
        let tool = json!({"driver": {"name": "scan"}});
        verdict(sarif(&json!({"tool": tool, "invocations": [invocation], "results": []})))
    };
    let found =
        failed(json!({"executionSuccessful": false, "exitCodeDescription": "out of memory"}));
    assert_eq!(found["verdict"], "FAIL");
    assert_eq!(found["top_findings"][0]["message"], "out of memory");
    assert_eq!(failed(json!({"executionSuccessful": true}))["verdict"], "PASS");
    let told = json!({"executionSuccessful": false, "toolExecutionNotifications": [
        {"level": "error", "message": {"text": "no such file"}}]});
    assert_eq!(failed(told)["severity_counts"]["high"], 1, "told once");
}

#[test]
fn sarif_without_a_run_is_unknown() {
    let said = summary(r#"{"version": "2.1.0", "runs": []}"#);
    assert_eq!(said["verdict"], "UNKNOWN");
    assert_eq!(said["description"], "SARIF without runs: no tool ran");
}

#[test]
fn sarif_arguments_are_put_in_once_and_drives_have_no_slash() {
    let result = json!({
        "message": {"text": "m {0} {1} {2} {x", "arguments": ["{1}", "X"]},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": "file:///C:/a%20b"}}}]
    });
    let found = verdict(sarif(&json!({"tool": {"driver": {"name": "t"}}, "results": [result]})));
    assert_eq!(found["top_findings"][0]["message"], "m {1} X {2} {x");
    assert_eq!(found["top_findings"][0]["file"], "C:/a b");
}

#[test]
fn the_fields_of_the_contract_come_before_what_looks_like_a_report() {
    for head in [
        r#""version": "2.0", "runs": [1]"#,
        r#""version": "2.1.0", "runs": []"#,
        r#""testsuite": {"name": "x"}"#,
        r#""testsuites": {"failures": "0", "tests": "2"}"#,
        r#""type": "summary", "data": {}"#,
        r#""type": "summary", "data": {"stats": {}}"#,
        r#""reason": "build-finished", "success": true"#,
        r#""exitcode": 0, "summary": {}, "tests": []"#,
    ] {
        for name in ["verdict", "status", "result"] {
            let input = format!(r#"{{{head}, "{name}": "FAIL", "findings": [{{"id": "F1"}}]}}"#);
            let found = verdict(&input);
            assert_eq!(found["verdict"], "FAIL", "{input}");
            assert_eq!(found["top_findings"][0]["id"], "F1", "{input}");
        }
    }
}

#[test]
fn what_only_resembles_a_report_is_an_object_that_says_nothing() {
    for input in [
        r#"{"version": "2.0", "runs": [{"tool": {"driver": {}}}]}"#,
        r#"{"version": "2.1.0", "runs": [{"tool": "x"}]}"#,
        r#"{"testsuite": {"name": "x"}}"#,
        r#"{"type": "summary", "data": {}}"#,
        r#"{"type": "match", "data": {"path": "a"}}"#,
    ] {
        assert_eq!(verdict(input)["verdict"], "UNKNOWN", "{input}");
    }
    // Messages within a result make no log of it.
    let inner = "{\"notes\": [\n{\"reason\":\"build-finished\",\"success\":true}\n]}";
    assert_eq!(verdict(inner)["verdict"], "UNKNOWN");
}

#[test]
fn junit_failures_without_text_and_sums_without_cases_count() {
    let empty =
        r#"{"testsuites":{"testsuite":{"@failures":"1","testcase":{"@name":"t","failure":null}}}}"#;
    assert_eq!(verdict(empty)["verdict"], "FAIL");
    assert_eq!(verdict(empty)["top_findings"][0]["id"], "t");
    let sums = r#"{"testsuites":{"failures":"3","errors":"1","testsuite":[]}}"#;
    assert_eq!(verdict(sums)["verdict"], "FAIL");
    assert_eq!(summary(sums)["description"], "4 failed of 4 tests");
    let inner =
        r#"{"testsuites":{"testsuite":[{"$":{"tests":"5","errors":"2"}},{"$":{"tests":"4"}}]}}"#;
    assert_eq!(summary(inner)["description"], "2 failed of 9 tests");
    let absent =
        r#"{"testsuites":{"testsuite":{"failures":"0","testcase":{"name":"t","failure":null}}}}"#;
    assert_eq!(verdict(absent)["verdict"], "PASS", "some write null for what is not there");
}

#[test]
fn a_long_answer_is_a_description_and_no_verdict() {
    let long = "word ".repeat(20_000);
    let input = json!({"type": "result", "subtype": "success", "result": long}).to_string();
    assert_eq!(verdict(&input)["verdict"], "UNKNOWN");
    assert_eq!(summary(&input)["verdict"], "UNKNOWN");
    assert_eq!(summary(&input)["description"], &long[..200]);
    let with_status = json!({"status": "done", "result": long}).to_string();
    assert_eq!(summary(&with_status)["verdict"], "done");
    assert_eq!(summary(&with_status)["description"], &long[..200]);
    let phrase = format!("FAIL\n\n{long}");
    assert_eq!(verdict(json!({"verdict": phrase}).to_string())["verdict"], "FAIL");
    assert_eq!(verdict(json!({"verdict": long}).to_string())["verdict"], long[..80].trim_end());
}

#[test]
fn an_object_or_a_list_is_no_verdict() {
    assert_eq!(verdict(r#"{"result": {"a": 1}}"#)["verdict"], "UNKNOWN");
    assert_eq!(
        verdict(r#"{"verdict": {"a": 1}, "status": ["x"], "result": "ok"}"#)["verdict"],
        "ok"
    );
    assert_eq!(verdict(r#"{"verdict": {"a": 1}, "result": false}"#)["verdict"], "false");
}

#[test]
fn cargo_messages_are_found_among_other_lines() {
    let artifact = r#"{"reason":"compiler-artifact","package_id":"demo"}"#;
    let finished = r#"{"reason":"build-finished","success":true}"#;
    let log = format!("   Compiling x v0.1.0\n{artifact}\n    Finished `dev`\n{finished}\n");
    assert_eq!(verdict(&log)["verdict"], "PASS");
    assert_eq!(verdict(format!("{{ odd\n{finished}"))["verdict"], "PASS");
    let cut = format!("   Compiling x v0.1.0\n{artifact}\n{{\"reason\":\"compiler-mess");
    assert_eq!(summary(&cut)["verdict"], "UNKNOWN");
    assert_eq!(summary(&cut)["description"], "0 errors, 0 warnings, cut off");
    let died = format!("{artifact}\n{finished}\nerror: test failed, to rerun pass `--lib`\n");
    assert_eq!(verdict(died)["verdict"], "FAIL");
    assert!(
        refusal("   Compiling x\n{\"reason\":\"compiler-mess").starts_with("Invalid JSON input")
    );
}

#[test]
fn ripgrep_events_are_found_among_other_lines() {
    let event =
        r#"{"type":"match","data":{"path":{"text":"a"},"lines":{"text":"x"},"line_number":3}}"#;
    let end = r#"{"type":"summary","data":{"stats":{"matches":0}}}"#;
    let denied = "rg: x: Permission denied (os error 13)";
    let log = format!("{denied}\n{event}\n{denied}\n{end}\n");
    assert_eq!(verdict(&log)["verdict"], "FOUND");
    assert_eq!(identifiers(&log)["identifiers"], json!(["a:3"]));
    assert_eq!(summary(&log)["description"], "1 match in 0 files");
    assert_eq!(verdict(format!("{denied}\n{end}"))["verdict"], "NOT_FOUND");
    let begin = r#"{"type":"begin","data":{"path":{"text":"a"}}}"#;
    assert_eq!(verdict(format!("{begin}\n{{\"type\":\"mat"))["verdict"], "UNKNOWN");
    assert_eq!(summary(format!("{event}\n{{\"ty"))["description"], "1 match in 0 files, cut off");
}

#[test]
fn odd_places_give_sound_identifiers() {
    let items = json!([
        {"location": "w.rs:4"}, {"file": ""}, {"file": ["a"]}, {"file": "", "path": "b", "line": 2},
        {"path": "c", "line": []}, "a:100-102", "a:20-22", {"file": "a", "line": "3-4"}
    ]);
    let input = json!({"items": items}).to_string();
    let wanted = json!(["a:3-4", "a:20-22", "a:100-102", "b:2", "c:0", "w.rs:4"]);
    assert_eq!(identifiers(input)["identifiers"], wanted);
}
