//! Projects of statements: where a rule is kept, and where it is not.

use std::fs;

use super::{PNPM, learn, remembered, state_twice, texts};
use crate::client_transcripts::Transcript;
use crate::support::Home;

#[test]
fn a_rule_of_several_projects_is_one_decision_and_kept_in_each() {
    let home = Home::new();
    let other = home.path("other");
    fs::create_dir_all(&other).unwrap();
    Transcript::claude_code(&home, "one", &home.project()).typed("2026-10-01T10:00:00.000Z", PNPM);
    Transcript::claude_code(&home, "two", &other).typed("2026-10-02T10:00:00.000Z", PNPM);
    let report = learn(&home, &["--yes"]);
    let [rule] = &report["rules"].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!(rule["universal"], false);
    assert_eq!(rule["kept"].as_array().unwrap().len(), 2);
    assert_eq!(remembered(&home).len(), 1);
    let there = home.run_in(&other, &["memory", "list", "--json"]).expect(0).json();
    assert_eq!(there.as_array().unwrap().len(), 1);
}

#[test]
fn a_rule_holds_everywhere_only_if_its_words_say_so() {
    let home = Home::new();
    state_twice(&home, "in all my projects, always answer in German");
    let report = learn(&home, &["--yes"]);
    assert_eq!(report["rules"][0]["universal"], true, "{report:#}");
    assert_eq!(remembered(&home)[0]["scope"], "universal");
}

#[test]
fn a_project_that_is_gone_gets_no_rule() {
    let home = Home::new();
    let gone = home.path("gone");
    for day in ["01", "02"] {
        Transcript::claude_code(&home, &format!("session-{day}"), &gone)
            .typed(&format!("2026-10-{day}T10:00:00.000Z"), PNPM);
    }
    let report = learn(&home, &["--yes"]);
    assert!(texts(&report).is_empty(), "{report:#}");
    assert_eq!(report["left_out"]["gone"], 1);
}

#[test]
fn one_project_or_a_period_can_be_asked_for() {
    let home = Home::new();
    state_twice(&home, PNPM);
    let other = home.path("other");
    fs::create_dir_all(&other).unwrap();
    for day in ["11", "12"] {
        Transcript::claude_code(&home, &format!("other-{day}"), &other)
            .typed(&format!("2026-10-{day}T10:00:00.000Z"), "always use tabs, never spaces");
    }
    assert_eq!(texts(&learn(&home, &[])).len(), 2);
    assert_eq!(texts(&learn(&home, &["--project"])).len(), 1);
    let late = learn(&home, &["--since", "2026-10-11"]);
    assert!(matches!(&texts(&late)[..], [text] if text.contains("tabs")), "{late:#}");
    home.run(&["learn", "--since", "soon"]).expect(2);
}

#[test]
fn moved_settings_of_clients_are_found() {
    let home = Home::new();
    let moved = home.path("moved");
    for day in ["01", "02"] {
        let path = moved.join(format!("projects/-work/session-{day}.jsonl"));
        Transcript::at(path, &format!("session-{day}"), &home.project())
            .typed(&format!("2026-10-{day}T10:00:00.000Z"), PNPM);
    }
    assert!(texts(&learn(&home, &[])).is_empty());
    let mut command = home.command(&["learn", "--json"]);
    let report = crate::support::finish(command.env("CLAUDE_CONFIG_DIR", &moved)).expect(0).json();
    assert_eq!(texts(&report).len(), 1);
}
