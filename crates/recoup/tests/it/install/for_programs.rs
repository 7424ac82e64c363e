//! `--json`: what would be done is said, whether it is done or not, and what is missing for it.

use serde_json::json;

use super::{CLAUDE, Machine, SETTINGS};

#[test]
fn without_a_yes_it_says_what_it_would_do_and_that_it_was_not_done() {
    let machine = Machine::with_settings("{}\n");
    let output = machine.run(&["init", "--json"]).expect(2);
    let report = output.json();
    assert_eq!(report["written"], false);
    assert_eq!(report["missing"], "--yes");
    assert_eq!(report["clients"][0]["files"][0]["state"], "changed", "{report}");
    assert!(output.stderr.contains("repeat the command with --yes"), "{}", output.stderr);
    let dry = machine.run(&["init", "--json", "--dry-run"]).expect(0).json();
    assert_eq!(dry.get("missing"), None);
    assert_eq!(dry["clients"], report["clients"]);
    assert_eq!(machine.text(SETTINGS), "{}\n");

    machine.init(&CLAUDE);
    let output = machine.run(&["uninstall", "--json"]).expect(2);
    let report = output.json();
    assert_eq!((&report["written"], &report["missing"]), (&json!(false), &json!("--yes")));
    assert_eq!(report["files"].as_array().unwrap().len(), 2, "{report}");
    assert!(output.stderr.contains("repeat the command with --yes"), "{}", output.stderr);
}

#[test]
fn without_a_client_it_says_so() {
    let machine = Machine::new();
    for args in [&["init", "--json"][..], &["init", "--json", "--yes"], &["init", "--json", "-n"]] {
        let output = machine.run(args).expect(1);
        let report = output.json();
        assert_eq!(report["missing"], "--client");
        assert_eq!((&report["written"], &report["clients"]), (&json!(false), &json!([])));
        assert!(output.stderr.contains("no supported client found"), "{}", output.stderr);
    }
    let report = machine.run(&["uninstall", "--json"]).expect(0).json();
    assert_eq!((&report["written"], &report["files"]), (&json!(false), &json!([])));
}

#[test]
fn an_error_is_told_as_one() {
    let machine = Machine::with_settings("{");
    let output = machine.run(&["init", "--json", "--yes", "--client", "claude-code"]).expect(1);
    let error = output.json()["error"].as_str().unwrap().to_owned();
    assert!(error.contains("~/.claude/settings.json, line 1"), "{error}");
    assert!(output.stderr.contains(&error), "{}", output.stderr);
    let output = machine.run(&["init", "--json", "--client", "nobody"]).expect(2);
    assert!(output.json()["error"].as_str().unwrap().contains("nobody"), "{}", output.stderr);
    // One that was only found is left out, and named in the answer.
    let report = machine.run(&["init", "--json", "--yes"]).expect(1).json();
    assert_eq!(report["failed"][0]["client"], "claude-code", "{report}");
}

#[test]
fn a_damaged_receipt_is_named() {
    let machine = Machine::with_settings("{}\n");
    machine.init(&CLAUDE);
    machine.write("recoup/installed.json", "{oops");
    machine.write(SETTINGS, "{}\n");
    for args in [&["init", "--json", "--yes"][..], &["uninstall", "--json", "--yes"]] {
        let output = machine.run(args).expect(1);
        let report = output.json();
        let error = report["error"].as_str().unwrap();
        assert!(error.contains("~/recoup/installed.json can't be read"), "{error}");
        assert_eq!(report.as_object().unwrap().len(), 1, "{report}");
        assert_eq!(machine.text(SETTINGS), "{}\n");
    }
    let report = machine.run(&["doctor", "--json"]).expect(1).json();
    let found = report["findings"].as_array().unwrap();
    let found = found.iter().find(|it| it["code"] == "unreadable").unwrap();
    assert!(found["what"].as_str().unwrap().contains("installed.json can't be read"), "{found}");
}
