//! What is remembered stays, unless one says otherwise; and then only what is ours goes.

use std::fs;

use super::Machine;

fn used(machine: &Machine) {
    machine.run(&["memory", "add", "use tabs"]).expect(0);
    machine.home.set("k", "1");
    machine.run(&["judge", "status"]).expect(0);
    machine.run(&["exec", "--", "true"]).expect(0);
    machine.run(&["early-exit", "signal", "s", "a"]).expect(0);
    machine.home.write("recoup.toml", "store = \"sqlite:other.db\"\n");
    machine.run(&["trust", "--yes"]).expect(0);
    fs::remove_file(machine.home.project().join("recoup.toml")).unwrap();
}

#[test]
fn what_is_remembered_stays() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--judge", "no"]);
    used(&machine);
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("What is remembered and kept stays"), "{}", output.stderr);
    let rules = machine.run(&["memory", "list", "--json"]).expect(0);
    assert!(rules.text().contains("use tabs"));
    assert!(machine.home.recoup().join("config.toml").exists());
}

#[test]
fn purged_nothing_of_ours_is_left_and_everything_else_is() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--judge", "no"]);
    used(&machine);
    let output = machine.run(&["uninstall", "--purge"]).expect(2);
    assert!(output.stderr.contains("To be deleted, for good: "), "{}", output.stderr);
    assert!(machine.home.recoup().join("memory.db").exists());
    machine.uninstall(&["--purge"]);
    assert!(!machine.home.recoup().exists(), "{:?}", crate::support::tree(&machine.home.recoup()));
    assert!(!machine.path(".claude").exists());

    used(&machine);
    let kept = machine.home.recoup().join("thesis.tex");
    fs::write(&kept, "mine").unwrap();
    let output = machine.uninstall(&["--purge"]);
    assert!(output.stderr.contains("Not recoup's, and left: "), "{}", output.stderr);
    assert_eq!(fs::read_dir(machine.home.recoup()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
}

#[test]
fn a_home_is_never_purged() {
    let machine = Machine::new();
    machine.write("thesis.tex", "mine");
    machine.write("config.toml", "");
    for own in [machine.path("."), machine.path("").join("."), "/".into()] {
        let mut command = machine.command(&["uninstall", "--purge", "--yes"]);
        let output = crate::support::finish(command.env("RECOUP_HOME", &own)).expect(2);
        assert!(output.stderr.contains("nothing in it is deleted"), "{}", output.stderr);
    }
    assert!(machine.path("config.toml").exists());
}

#[test]
fn where_nothing_is_nothing_is_done() {
    let machine = Machine::new();
    for args in [&[][..], &["--purge"], &["--json"]] {
        machine.uninstall(args);
    }
    assert!(!machine.home.recoup().exists());
}
