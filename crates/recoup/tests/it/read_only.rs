//! A store that can be read and not written: a hit is still a hit, and a write
//! fails with words that name the remedy.
//!
//! Modes do not bind root, so the program then runs as nobody.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;

use crate::support::{Home, Output, RECOUP, finish, tree};

const NOBODY: u32 = 65534;

/// A home with one entry, owned by whoever runs the program.
fn scene() -> Home {
    let home = Home::new();
    // By another process: ours forks all the time, and a fork that still has the
    // copy open for writing would keep it from being run.
    let copy = [RECOUP.into(), home.path("program").into_os_string()];
    finish(&mut home.prepared::<OsString>("cp", &copy)).expect(0);
    home.set("k", "1");
    if is_root(&home) {
        for path in tree(&home.path("")) {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    chmod(&home, "", 0o755);
    chmod(&home, "program", 0o755);
    home
}

fn is_root(home: &Home) -> bool {
    fs::metadata(home.path("")).unwrap().uid() == 0
}

fn chmod(home: &Home, name: &str, mode: u32) {
    fs::set_permissions(home.path(name), Permissions::from_mode(mode)).unwrap();
}

fn protect(home: &Home) {
    for path in tree(&home.recoup()) {
        fs::set_permissions(path, Permissions::from_mode(0o400)).unwrap();
    }
    chmod(home, "recoup", 0o500);
}

fn run(home: &Home, args: &[&str]) -> Output {
    let mut command = home.prepared(home.path("program"), args);
    if is_root(home) {
        command.uid(NOBODY).gid(NOBODY);
    }
    finish(&mut command)
}

const SET: [&str; 6] = ["cache", "set", "--key", "k", "--condensed", "2"];
const GET: [&str; 4] = ["cache", "get", "--key", "k"];

#[test]
fn a_hit_is_still_a_hit_and_a_write_names_the_remedy() {
    let home = scene();
    run(&home, &GET).expect_hit("1");
    protect(&home);
    run(&home, &GET).expect_hit("1");
    run(&home, &["cache", "ls"]).expect(0);
    let output = run(&home, &SET).expect_failure("error: the cache ");
    assert!(output.stderr.contains("use --store for another store"), "{}", output.stderr);
    run(&home, &["cache", "delete", "--key", "k"]).expect(1);
    run(&home, &GET).expect_hit("1");
    chmod(&home, "recoup", 0o700);
}

#[test]
fn a_database_without_its_log_is_a_miss_with_a_warning() {
    let home = scene();
    home.checkpoint();
    for name in ["recoup/cache.db-wal", "recoup/cache.db-shm"] {
        let _ = fs::remove_file(home.path(name));
    }
    protect(&home);
    // SQLite can't make the files that it shares a log with.
    let output = run(&home, &GET).expect_miss();
    assert!(output.stderr.starts_with("warning: the cache "), "{}", output.stderr);
    let output = run(&home, &SET).expect_failure("error: the cache ");
    assert!(output.stderr.contains("use --store for another store"), "{}", output.stderr);
    chmod(&home, "recoup", 0o700);
}

#[test]
fn a_home_that_can_not_be_made_is_named() {
    let home = scene();
    fs::create_dir(home.path("locked")).unwrap();
    chmod(&home, "locked", 0o555);
    let mut command = home.prepared(home.path("program"), &SET);
    command.env("RECOUP_HOME", home.path("locked/recoup"));
    if is_root(&home) {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = finish(&mut command).expect_failure("locked/recoup");
    // There is no store that could be read, and early-exit has its sessions elsewhere.
    assert!(output.stderr.contains("set RECOUP_HOME to another directory"), "{}", output.stderr);
    assert!(!output.stderr.contains("can be read"), "{}", output.stderr);
}

#[test]
fn another_user_s_home_is_not_written_to() {
    let home = scene();
    if !is_root(&home) {
        return; // Only root can give a file away.
    }
    home.cache(&["set", "--key", "k", "--condensed", "2"])
        .expect_failure("owned by another user; choose another directory");
    run(&home, &GET).expect_hit("1");
}

#[test]
fn a_store_that_may_not_be_read_is_a_miss_with_a_warning() {
    let home = scene();
    chmod(&home, "recoup/cache.db", 0o000);
    let output = run(&home, &GET).expect_miss();
    assert!(output.stderr.starts_with("warning: the cache "), "{}", output.stderr);
    assert_eq!(home.set_aside().len(), 0);
}
