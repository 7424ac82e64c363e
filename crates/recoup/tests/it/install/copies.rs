//! Copies of what was there: those that are needed stay, and of the others the newest.

use std::collections::BTreeMap;
use std::fs;

use super::{CLAUDE, Machine, SETTINGS};

/// What is in each copy, by its name.
fn copies(machine: &Machine) -> BTreeMap<String, String> {
    let files = fs::read_dir(machine.path("recoup/backups")).unwrap().map(Result::unwrap);
    let read = |path| fs::read_to_string(path).unwrap();
    files.map(|it| (it.file_name().into_string().unwrap(), read(it.path()))).collect()
}

/// In and out again, with other settings each time.
fn often(machine: &Machine, times: usize) {
    for number in 0..times {
        machine.write(SETTINGS, format!("{{\"n\":{number}}}"));
        machine.init(&CLAUDE);
        machine.uninstall(&CLAUDE);
    }
}

#[test]
fn few_are_kept_of_each_file() {
    let machine = Machine::new();
    machine.write(".gemini/settings.json", "{\"mine\":1}");
    machine.init(&["--client", "gemini"]);
    machine.uninstall(&["--client", "gemini"]);
    often(&machine, 9);
    let copies = copies(&machine);
    let of_claude = copies.values().filter(|text| text.contains("\"n\"")).count();
    assert_eq!(of_claude, 5, "{:?}", copies.keys());
    assert!(copies.values().any(|text| text.starts_with("{\"n\":8,")), "the newest");
    assert!(copies.values().any(|text| text == "{\"mine\":1}"), "a file of the same name");
}

#[test]
fn what_is_needed_to_go_back_is_kept() {
    let machine = Machine::with_settings("{\"first\":true}");
    machine.init(&CLAUDE);
    for number in 0..8 {
        let program = machine.path(&format!("bin{number}/recoup"));
        fs::create_dir(program.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(crate::support::RECOUP, &program).unwrap();
        machine.init(&[&CLAUDE[..], &["--program", program.to_str().unwrap()]].concat());
    }
    assert_eq!(copies(&machine).values().filter(|it| *it == "{\"first\":true}").count(), 1);
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), "{\"first\":true}");
}

#[test]
fn only_what_has_our_names_is_deleted() {
    let machine = Machine::new();
    let others = ["mine.json", "2020-01-01T000000Z-x-settings.json", "2020-01-01-settings.json"];
    for other in others {
        machine.write(&format!("recoup/backups/{other}"), "mine");
    }
    fs::create_dir(machine.path("recoup/backups/2020-01-01T000000Z-0-settings.json")).unwrap();
    often(&machine, 9);
    for other in others {
        assert_eq!(machine.text(&format!("recoup/backups/{other}")), "mine");
    }
    assert!(machine.path("recoup/backups/2020-01-01T000000Z-0-settings.json").is_dir());
}

#[test]
fn whoever_leaves_is_told_where_they_are() {
    let machine = Machine::with_settings("{}");
    machine.init(&CLAUDE);
    let report = machine.uninstall(&["--json"]).json();
    let copy = report["files"][0]["backup"].as_str().unwrap_or_default();
    assert!(fs::read_to_string(copy).unwrap().contains("SessionStart"), "{report}");
    machine.init(&CLAUDE);
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("in ~/recoup/backups"), "{}", output.stderr);
}
