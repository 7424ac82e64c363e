//! `--fix`: what it mends, what it says, and what it leaves alone.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{chmod, contents, doctor, report};
use crate::support::{Home, tree};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// A home that others can look into.
fn open_home() -> Home {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    home.set("k", "1");
    for path in tree(&home.recoup()) {
        chmod(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    chmod(&home.recoup(), 0o755);
    home
}

#[test]
fn what_is_open_to_others_is_closed() {
    let home = open_home();
    let all = tree(&home.recoup()).len() + 1;
    let before = report(&home, 0);
    let found = before.has("permissions", "open", "warn");
    assert_eq!(found["facts"]["open"], all);
    assert_eq!(mode(&home.recoup()), 0o755, "not without --fix");

    let text = doctor(&home, &["--fix"]).expect(0).text();
    assert!(text.contains("+ permissions     done: close"), "{text}");
    assert!(text.contains("✓ permissions"), "and looked at again: {text}");
    assert_eq!(mode(&home.recoup()), 0o700);
    for path in tree(&home.recoup()) {
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
    assert_eq!(report(&home, 0).of("permissions"), [("ok", "ok")]);
}

#[test]
fn it_changes_modes_and_nothing_else() {
    let home = open_home();
    let bytes = |home: &Home| {
        let all = contents(&home.path("")).into_iter();
        all.map(|(path, (_, bytes))| (path, bytes)).collect::<Vec<_>>()
    };
    let before = bytes(&home);
    doctor(&home, &["--fix"]).expect(0);
    assert!(before == bytes(&home));
    let again = doctor(&home, &["--fix", "--json"]).expect(0).json();
    assert_eq!(again["repairs"], serde_json::json!([]), "there is nothing left to do");
}

#[test]
fn what_a_link_leads_to_stays_as_it_is() {
    let home = open_home();
    let target = home.path("mine");
    fs::write(&target, "").unwrap();
    chmod(&target, 0o644);
    std::os::unix::fs::symlink(&target, home.recoup().join("link")).unwrap();
    doctor(&home, &["--fix"]).expect(0);
    assert_eq!(mode(&target), 0o644);
}

#[test]
fn a_damaged_database_is_left_to_those_who_mend_it() {
    let home = open_home();
    fs::write(home.recoup().join("memory.db"), "wombats".repeat(999)).unwrap();
    let said = doctor(&home, &["--fix", "--json"]).expect(1).json();
    assert_eq!(fs::read(home.recoup().join("memory.db")).unwrap(), b"wombats".repeat(999));
    assert!(home.set_aside().is_empty(), "{said:#}");
}
