//! What is left on disk: private to its owner, and nothing at all until there
//! is something to keep.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::support::{Home, finish, tree};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn assert_private(home: &Home) {
    assert_eq!(mode(&home.recoup()), 0o700);
    let files = tree(&home.recoup());
    assert!(files.contains(&home.db()));
    for path in files {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn the_home_and_all_files_in_it_are_private() {
    let home = Home::new();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    assert_private(&home);
    fs::write(home.db(), "garbage").unwrap();
    for sidecar in ["cache.db-wal", "cache.db-shm"] {
        fs::remove_file(home.recoup().join(sidecar)).unwrap();
    }
    home.set("k", "1");
    assert_eq!(home.set_aside().len(), 1);
    assert_private(&home);
}

#[test]
fn a_generous_umask_changes_nothing() {
    let home = Home::new();
    let script = "umask 000; exec \"$0\" cache set --key k --condensed 1";
    finish(&mut home.prepared("sh", &["-c", script, crate::support::RECOUP])).expect(0);
    assert_private(&home);
}

#[test]
fn a_home_that_was_there_keeps_its_mode_and_what_is_put_there_is_private() {
    let home = Home::new();
    fs::create_dir(home.recoup()).unwrap();
    fs::set_permissions(home.recoup(), fs::Permissions::from_mode(0o755)).unwrap();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    assert_eq!(mode(&home.recoup()), 0o755);
    for path in tree(&home.recoup()) {
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
}

#[test]
fn looking_creates_nothing_but_a_line_in_the_ledger() {
    let home = Home::new();
    let ledger = home.recoup().join("ledger");
    let outside_the_ledger = || -> Vec<_> {
        let files = tree(&home.path("")).into_iter().filter(|path| path.is_file());
        files.filter(|path| !path.starts_with(&ledger)).collect()
    };
    let before = outside_the_ledger();
    home.get("k").expect_miss();
    home.cache(&["get", "--key", "k", "--json"]).expect(1);
    home.cache(&["get", "--key", "k", "--store", "sqlite:a/b.db"]).expect_miss();
    home.cache(&["ls"]).expect(0);
    home.cache(&["show", "--key", "k"]).expect(1);
    assert_eq!(outside_the_ledger(), before);
}

#[test]
fn a_store_in_a_directory_of_the_user_s_leaves_its_mode() {
    let home = Home::new();
    let dir = home.project().join("data");
    fs::create_dir(&dir).unwrap();
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).unwrap();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--store", "sqlite:data/c.db"]).expect(0);
    assert_eq!(mode(&dir), 0o755);
    for path in tree(&dir) {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
