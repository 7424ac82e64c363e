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
fn files_below_a_directory_that_git_ignores_are_told_of_once() {
    let home = scene();
    let exec = |sources: &[&str]| {
        let flags = sources.iter().flat_map(|source| ["--source", source]);
        let args: Vec<&str> = ["exec"].into_iter().chain(flags).chain(["--", "true"]).collect();
        home.run(&args).expect(0).stderr
    };
    let set = |key: &str, sources: &str| {
        let set = ["set", "--key", key, "--condensed", "1", "--sources", sources];
        home.cache(&set).expect(0).stderr
    };
    assert_eq!(exec(&["src"]), "", "nothing is ignored yet");
    home.write("src/deep/noise.log", "");
    let said = "files that git ignores are not watched, such as src/deep/noise.log: name them";
    assert_eq!(exec(&["src"]), "", "a hit");
    assert_eq!(exec(&["./src"]), format!("recoup: cached, but {said} with --source\n"));
    home.write("src/a.rs", "changed");
    assert_eq!(exec(&["./src"]), "", "run again");
    assert_eq!(exec(&["src", "src/deep/noise.log"]), "", "it is named");
    let cached = "Cached result for key: k\n";
    assert_eq!(set("k", "src"), format!("{cached}{said} in --sources\n"));
    assert_eq!(set("k", "src"), cached, "said before");
    home.get("k").expect_hit("1");
    assert_eq!(set("l", "src,src/deep/noise.log"), "Cached result for key: l\n");
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
