//! `recoup init` by a package runner, whose cache does not last: clients get a copy that does.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::{CLAUDE, Machine, SETTINGS};
use crate::support::RECOUP;

/// The native program of an npm package, as npx keeps it.
const CACHED: &str = ".npm/_npx/3f/node_modules/recoup-linux-x64/bin/recoup";

/// A machine that has the program in the cache of npx, and nowhere else.
fn machine_with_cached_program() -> (Machine, String) {
    let machine = Machine::new();
    fs::remove_file(machine.path("bin/recoup")).unwrap();
    machine.write(CACHED, "");
    let cached = machine.path(CACHED);
    fs::remove_file(&cached).unwrap();
    if fs::hard_link(RECOUP, &cached).is_err() {
        fs::copy(RECOUP, &cached).unwrap();
    }
    let cached = cached.display().to_string();
    (machine, cached)
}

#[test]
fn clients_start_a_copy_of_a_program_that_does_not_last() {
    let (machine, cached) = machine_with_cached_program();
    let copy = machine.home.recoup().join("bin/recoup");
    let init = |more: &[&str]| {
        let args = [&["init"], &CLAUDE[..], more].concat();
        crate::support::finish(&mut machine.prepared(&cached, &args)).expect(0)
    };
    let shown = init(&["--dry-run"]);
    assert!(shown.stderr.contains("Copies recoup itself to "), "{}", shown.stderr);
    assert!(shown.stderr.contains(", because npx clears its cache"), "{}", shown.stderr);
    assert!(!copy.exists());

    init(&["--yes"]);
    assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read(&copy).unwrap(), fs::read(RECOUP).unwrap());
    let settings = machine.text(SETTINGS);
    assert!(settings.contains(copy.to_str().unwrap()), "{settings}");
    assert!(!settings.contains("_npx"), "{settings}");
    let again = init(&["--yes"]);
    assert!(again.stderr.contains("Nothing was changed."), "{}", again.stderr);

    // An older version gives way, although the settings stay as they are.
    fs::write(&copy, "older").unwrap();
    let newer = init(&["--yes"]);
    assert!(newer.stderr.contains("Copies recoup itself to "), "{}", newer.stderr);
    assert_eq!(copy.metadata().unwrap().len(), fs::metadata(RECOUP).unwrap().len());
    assert_eq!(machine.text(SETTINGS), settings);

    machine.write("bin/recoup", "");
    let purge = ["uninstall", "--yes", "--purge"];
    crate::support::finish(&mut machine.prepared(&cached, &purge)).expect(0);
    assert!(!machine.home.recoup().exists());
}

#[test]
fn a_permanent_program_that_is_named_needs_no_copy() {
    let (machine, cached) = machine_with_cached_program();
    let lasting = machine.path("opt/recoup");
    fs::create_dir(machine.path("opt")).unwrap();
    fs::copy(RECOUP, &lasting).unwrap();
    let lasting = lasting.display().to_string();
    let args = [&["init", "--yes", "--program", &lasting], &CLAUDE[..]].concat();
    crate::support::finish(&mut machine.prepared(&cached, &args)).expect(0);
    assert!(machine.text(SETTINGS).contains(&lasting));
    assert!(!machine.home.recoup().join("bin").exists());
}
