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
