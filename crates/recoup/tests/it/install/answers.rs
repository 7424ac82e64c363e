//! What is said once is written down, and is not asked again.

use super::Machine;

const CONFIG: &str = "recoup/config.toml";

#[test]
fn flags_are_written_into_the_configuration_with_its_comments_kept() {
    let machine = Machine::new();
    machine.write(CONFIG, "# mine\n[cache]\nttl = \"7d\" # a week\n\n[judge]\nmodel = \"x\"\n");
    machine.init(&["--client", "pi", "--judge", "yes"]);
    assert_eq!(
        machine.text(CONFIG),
        "# mine\n[cache]\nttl = \"7d\" # a week\n\n[judge]\nmodel = \"x\"\nenabled = true\n"
    );
    machine.run(&["config", "check"]).expect(0);
    let output = machine.init(&["--client", "pi", "--judge", "yes"]);
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
    machine.init(&["--client", "pi", "--judge", "no"]);
    assert!(machine.text(CONFIG).ends_with("enabled = false\n"));
    machine.uninstall(&[]);
    assert!(machine.text(CONFIG).ends_with("enabled = false\n"), "it is no client's");
}

#[test]
fn every_answer_leaves_a_configuration_that_is_sound() {
    let all: [&[&str]; 6] = [
        &["--judge", "yes"],
        &["--sync-rules", "no"],
        &["--skills", "off"],
        &["--skills", "user"],
        &["--skills", "project"],
        &["--judge", "no", "--sync-rules", "yes", "--skills", "user"],
    ];
    for said in all {
        let machine = Machine::new();
        machine.init(&[&["--client", "pi"], said].concat());
        assert!(machine.path(CONFIG).exists(), "{said:?}");
        machine.run(&["config", "check"]).expect(0);
    }
}

#[test]
fn nothing_is_written_into_a_configuration_that_is_wrong() {
    let machine = Machine::new();
    machine.write(CONFIG, "[judge]\nno_such_key = 1\n");
    let output = machine.run(&["init", "--yes", "--client", "pi", "--judge", "no"]).expect(1);
    assert!(output.stderr.contains("no_such_key"), "{}", output.stderr);
    assert!(output.stderr.contains("fix it first (`recoup config check`)"), "{}", output.stderr);
    assert_eq!(machine.text(CONFIG), "[judge]\nno_such_key = 1\n");
    assert!(!machine.path(".pi").exists());
}

#[test]
fn without_a_person_nothing_is_agreed_to() {
    let machine = Machine::new();
    machine.init(&["--client", "pi"]);
    assert!(!machine.path(CONFIG).exists());
}

#[test]
fn a_configuration_that_cant_be_read_is_named() {
    let machine = Machine::new();
    machine.write(CONFIG, "[judge\n");
    let output = machine.run(&["init", "--yes", "--client", "pi", "--judge", "no"]).expect(1);
    assert!(output.stderr.contains("config.toml, line 1, column 7: "), "{}", output.stderr);
    assert!(!machine.path(".pi").exists());
}

#[test]
fn rules_sync_and_skills_are_said_the_same_way() {
    let machine = Machine::new();
    machine.init(&["--client", "pi", "--sync-rules", "yes", "--skills", "user"]);
    assert_eq!(
        machine.text(CONFIG),
        "[rules]\nsync = true\n\n[skills]\nenabled = true\nplace = \"user\"\n"
    );
    machine.run(&["config", "check"]).expect(0);
    machine.init(&["--client", "pi", "--skills", "off"]);
    assert!(machine.text(CONFIG).contains("enabled = false\nplace = \"user\""));
}

/// Rules that were written into Claude Code's own memory go with everything else.
#[test]
fn what_was_written_for_claude_code_goes_too() {
    let machine = Machine::with_settings("{}\n");
    machine.init(&["--client", "pi", "--sync-rules", "yes"]);
    machine.run(&["memory", "add", "use tabs"]).expect(0);
    let synced = machine.run(&["memory", "sync"]).expect(0);
    assert!(machine.path(".claude/projects").exists(), "{}{}", synced.text(), synced.stderr);
    machine.uninstall(&["--client", "codex"]);
    let rules = || {
        let all = crate::support::tree(&machine.path(".claude"));
        all.into_iter().filter(|path| path.extension().is_some_and(|it| it == "md")).count()
    };
    assert_eq!(rules(), 2, "the rule, and the index");
    let report = machine.uninstall(&["--json"]).json();
    assert_eq!(report["mirrored"]["changes"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(rules(), 0);
}

#[test]
fn whether_agents_may_record_rules_is_said_for_clients_without_hooks() {
    let machine = Machine::new();
    machine.init(&["--client", "cursor", "--client", "pi"]);
    assert!(!machine.path(CONFIG).exists(), "no is the default, and nothing was asked");
    machine.init(&["--client", "cursor", "--client", "pi", "--record-rules", "yes"]);
    assert_eq!(machine.text(CONFIG), "[record]\nallow = \"cursor\"\n");
    machine.init(&["--client", "zed", "--record-rules", "yes"]);
    machine.init(&["--client", "cursor", "--record-rules", "no"]);
    assert_eq!(machine.text(CONFIG), "[record]\nallow = \"zed\"\ndeny = \"cursor\"\n");
    machine.run(&["config", "check"]).expect(0);
    machine.write(CONFIG, "[record]\nallow = \"claude-code\"\n");
    machine.run(&["config", "check"]).expect(2);
}
