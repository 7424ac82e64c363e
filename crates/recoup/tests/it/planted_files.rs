//! Places where something else is: it is neither replaced nor believed.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::process::Command;

use crate::support::{Home, finish, store};

const SET: [&str; 5] = ["set", "--key", "k", "--condensed", "1"];

#[test]
fn what_is_no_file_is_not_replaced_by_a_database() {
    let home = Home::new();
    let pipe = home.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let url = store(&pipe).into_string().unwrap();
    home.cache(&[&SET[..], &["--store", &url]].concat()).expect(1);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
}

#[test]
fn a_link_to_nowhere_stays_a_link_and_the_database_is_made_behind_it() {
    let home = Home::new();
    let (link, real) = (home.path("link.db"), home.path("real.db"));
    symlink("real.db", &link).unwrap();
    let url = store(&link).into_string().unwrap();
    home.cache(&[&SET[..], &["--store", &url]].concat()).expect(0);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(real.is_file());
    home.cache(&["get", "--key", "k", "--store", &url]).expect_hit("1");
}

#[test]
fn a_file_beside_a_lock_of_another_program_is_left_alone() {
    let home = Home::new();
    let gemfile = home.write("Gemfile", "source 'https://rubygems.org'");
    home.write("Gemfile.lock", "GEM");
    let url = store(&gemfile).into_string().unwrap();
    home.cache(&["get", "--key", "k", "--store", &url]).expect_miss();
    home.cache(&[&SET[..], &["--store", &url]].concat()).expect(1);
    assert_eq!(fs::read_to_string(&gemfile).unwrap(), "source 'https://rubygems.org'");
}

/// Contract 1 joins the parts with a bar, so two questions may share a key.
#[test]
fn an_answer_to_another_question_is_not_given_out() {
    let home = Home::new();
    let asked = |paths, query| ["--paths", paths, "--query", query, "--operation", "op"];
    let set = [&["set", "--condensed", "1"][..], &asked("a|b", "c")].concat();
    home.cache(&set).expect(0);
    home.cache(&[&["get"][..], &asked("a|b", "c")].concat()).expect_hit("1");
    home.cache(&[&["get"][..], &asked("a", "b|c")].concat()).expect_miss();
}

/// Trust is in a name; what it leads to is up to whoever changes the repository.
#[test]
fn a_link_out_of_the_project_is_not_followed_for_the_store_or_the_notes() {
    let home = Home::new();
    let victim = home.path("victim");
    fs::write(&victim, "export PATH").unwrap();
    symlink(&victim, home.project().join("NOTES.md")).unwrap();
    let noting = ["cache", "set", "--key", "k", "--condensed", "1", "--synthesize", "x"];
    let output = finish(home.command(&noting).env("RECOUP_CACHE_NOTES", "NOTES.md")).expect(2);
    assert!(output.stderr.contains("a symbolic link leads out of it"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "export PATH");
    symlink(home.path("outside.db"), home.project().join("in.db")).unwrap();
    home.cache(&[&SET[..], &["--store", "sqlite:in.db"]].concat()).expect(2);
    assert!(!home.path("outside.db").exists());
}

#[test]
fn a_key_that_is_a_secret_is_refused() {
    let home = Home::new();
    let key = ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    let output = home.cache(&["set", "--key", &key, "--condensed", "1"]).expect(1);
    assert!(!output.stderr.contains(&key), "{}", output.stderr);
}

#[test]
fn a_read_does_not_wait_for_the_lock_of_its_ledger() {
    let home = Home::new();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    let ledger = fs::read_dir(home.recoup().join("ledger")).unwrap().next().unwrap().unwrap();
    let log = fs::File::open(ledger.path().join("open.log")).unwrap();
    log.lock().unwrap();
    // If it waited, it would wait for ever: the lock is let go only afterwards.
    home.get("k").expect_hit("1");
    drop(log);
}

#[test]
fn a_damaged_full_result_heals_when_it_is_stored_again() {
    let home = Home::new();
    home.write("full.txt", "all of it");
    let set = ["set", "--key", "k", "--condensed", "1", "--full", "full.txt"];
    home.cache(&set).expect(0);
    assert_eq!(home.sql().execute("UPDATE fulls SET body = x'00'", []).unwrap(), 1);
    home.cache(&["show", "--key", "k", "--full"]).expect(1);
    home.cache(&set).expect(0);
    assert_eq!(home.cache(&["show", "--key", "k", "--full"]).expect(0).text(), "all of it\n");
}
