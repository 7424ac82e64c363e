//! Where sessions are: by the store, or where the user says.

use std::fs;
use std::os::unix::fs::symlink;

use super::{command, early_exit};
use crate::support::{Home, finish};

#[test]
fn each_store_has_its_place() {
    let home = Home::new();
    let (dir, chosen) = (home.path("shared"), home.path("chosen"));
    let url = format!("dir:{}", dir.display());
    early_exit(&home, &["signal", "s", "--store", &url]).expect(0);
    assert!(dir.join("early-exit/s/WINNER").is_dir());
    assert_eq!(fs::read_to_string(dir.join(".gitignore")).unwrap(), "*\n");
    assert!(!home.recoup().join("early-exit").exists());
    early_exit(&home, &["check", "s", "--store", &url]).expect(1);
    early_exit(&home, &["check", "s"]).expect(0);
    early_exit(&home, &["signal", "s"]).expect(0);
    assert!(home.recoup().join("early-exit/s/WINNER").is_dir());
    let file = format!("file:{}", home.path("files").display());
    early_exit(&home, &["check", "s", "--store", &file]).expect(1);
    let there = |args: &[&str]| finish(command(&home, args).env("RECOUP_EARLY_EXIT_DIR", &chosen));
    there(&["check", "s"]).expect(0);
    there(&["signal", "s", "a", "--store", &url]).expect(0);
    assert!(chosen.join("s/WINNER").is_dir());
    home.cache(&["set", "--key", "k", "--condensed", "1", "--store", &url]).expect(0);
    early_exit(&home, &["check", "s", "--store", &url]).expect(1);
}

#[test]
fn a_link_that_came_with_a_repository_is_not_followed() {
    let home = Home::new();
    let (dir, outside) = (home.project().join("cache"), home.path("outside"));
    fs::create_dir_all(&dir).unwrap();
    fs::create_dir(&outside).unwrap();
    symlink(&outside, dir.join("early-exit")).unwrap();
    let url = format!("dir:{}", dir.display());
    early_exit(&home, &["signal", "s", "--store", &url]).expect_failure("symbolic link");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 0);
}

#[test]
fn who_cannot_be_asked_has_signalled_nothing() {
    let home = Home::new();
    fs::create_dir_all(home.recoup().join("early-exit/s/WINNER")).unwrap();
    fs::write(home.recoup().join("early-exit/s/WINNER/winner.json"), "{").unwrap();
    let output = early_exit(&home, &["check", "s"]).expect(0);
    assert!(output.stderr.contains("damaged"), "{}", output.stderr);
    early_exit(&home, &["signal", "s"]).expect_failure("damaged");
    early_exit(&home, &["cleanup", "s"]).expect(0);
    early_exit(&home, &["signal", "s"]).expect(0);
}
