//! Directories and globs as sources, as a person gives them.

use std::fs;

use crate::support::Home;

/// A repository with two files in `src`, and something that it ignores.
fn scene() -> Home {
    let home = Home::new();
    home.write(".git/HEAD", "ref: refs/heads/main\n");
    home.write(".git/config", "");
    home.write(".gitignore", "*.log\n");
    home.write("src/a.rs", "a");
    home.write("src/deep/b.rs", "b");
    home
}

fn set(home: &Home, sources: &str) {
    home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", sources]).expect(0);
    home.get("k").expect_hit("1");
}

#[test]
fn a_new_a_changed_and_a_deleted_file_invalidate() {
    for sources in ["src", "src/", "./src/**", "**/*.rs", "src/*.rs,src/deep"] {
        let home = scene();
        set(&home, sources);
        home.write("src/deep/new.rs", "");
        let miss = home.cache(&["get", "--key", "k", "--json"]).expect(1).json();
        assert_eq!(miss["reason"], "source_modified", "{sources}");
        set(&home, sources);
        home.write("src/a.rs", "changed");
        home.get("k").expect_miss();
        set(&home, sources);
        fs::remove_file(home.project().join("src/a.rs")).unwrap();
        let miss = home.cache(&["get", "--key", "k", "--json"]).expect(1).json();
        assert_eq!(miss["reason"], "source_missing", "{sources}");
    }
}

#[test]
fn what_the_repository_ignores_does_not_invalidate() {
    let home = scene();
    set(&home, "src");
    home.write("src/noise.log", "");
    home.get("k").expect_hit("1");
    set(&home, "src,src/noise.log");
    home.write("src/noise.log", "more");
    home.get("k").expect_miss();
}

#[test]
fn from_a_sub_directory_a_directory_is_given_from_there() {
    let home = scene();
    home.write("docs/x.md", "x");
    let deep = home.project().join("src/deep");
    let set = ["cache", "set", "--key", "k", "--condensed", "1", "--sources", "../../docs"];
    home.run_in(&deep, &set).expect(0);
    home.get("k").expect_hit("1");
    home.write("docs/y.md", "y");
    home.get("k").expect_miss();
}

#[test]
fn a_glob_that_can_not_be_meant_is_wrong_usage_and_keeps_the_old_value() {
    let home = scene();
    set(&home, "src");
    for (glob, words) in [("src/*.py", "matches no file"), ("src/[a", "invalid glob")] {
        home.cache(&["set", "--key", "k", "--condensed", "2", "--sources", glob])
            .expect_usage(words);
        home.cache(&["get", "--key", "none", "--token", "--sources", glob]).expect_usage(words);
    }
    home.get("k").expect_hit("1");
}
