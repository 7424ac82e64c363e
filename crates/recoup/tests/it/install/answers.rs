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
    assert!(output.stderr.contains("mend it first (`recoup config check`)"), "{}", output.stderr);
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
