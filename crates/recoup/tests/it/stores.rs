//! Where entries are kept: by default, by `RECOUP_STORE`, by `--store`; and
//! what is said about a place that can't be meant.

use std::fs;

use crate::support::{Home, finish, store, tree};

#[test]
fn by_default_the_store_is_in_the_user_s_home() {
    let home = Home::new();
    let run = |args: &[&str]| finish(home.command(args).env_remove("RECOUP_HOME"));
    run(&["cache", "set", "--key", "k", "--condensed", "1"]).expect(0);
    run(&["cache", "get", "--key", "k"]).expect_hit("1");
    assert!(home.path(".recoup/cache.db").is_file());
    assert!(!home.recoup().exists());
}

#[test]
fn empty_variables_are_as_good_as_none() {
    let home = Home::new();
    let mut command = home.command(&["cache", "set", "--key", "k", "--condensed", "1"]);
    for name in ["RECOUP_HOME", "RECOUP_STORE", "RECOUP_SCOPE"] {
        command.env(name, "");
    }
    finish(&mut command).expect(0);
    assert!(home.path(".recoup/cache.db").is_file());
}

#[test]
fn a_store_elsewhere_by_flag_and_by_environment() {
    let home = Home::new();
    let place = home.path("a b/it's.db");
    let url = store(&place);
    let url = url.to_str().unwrap();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--store", url]).expect(0);
    assert!(place.is_file());
    assert!(!home.path(".recoup/cache.db").exists(), "nothing is kept in our own home then");
    home.cache(&["--store", url, "get", "--key", "k"]).expect_hit("1");
    finish(home.command(&["cache", "get", "--key", "k"]).env("RECOUP_STORE", url)).expect_hit("1");
    home.get("k").expect_miss();
}

#[test]
fn the_flag_wins_over_the_environment() {
    let home = Home::new();
    let set = ["cache", "set", "--key", "k", "--condensed", "1", "--store", "sqlite:flag.db"];
    finish(home.command(&set).env("RECOUP_STORE", "sqlite:env.db")).expect(0);
    assert!(home.project().join("flag.db").is_file());
    assert!(!home.project().join("env.db").exists());
}

#[test]
fn a_tilde_is_the_user_s_home() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--store", "sqlite:~/mine.db"]).expect(0);
    assert!(home.path("mine.db").is_file());
}

#[test]
fn a_url_that_can_not_be_read_says_which_part_is_wrong() {
    let home = Home::new();
    let urls = [
        ("sqlite:", "the path is missing"),
        ("cache.db", "no scheme"),
        ("mysql://host/db", "unknown scheme \"mysql\""),
        ("SQLITE:x.db", "unknown scheme \"SQLITE\""),
        ("", "no scheme"),
    ];
    for (url, words) in urls {
        let output = home.cache(&["get", "--key", "k", "--store", url]);
        assert!(
            output.stderr.contains("expected sqlite:PATH, file:DIR, dir:DIR, redis://HOST"),
            "{}",
            output.stderr
        );
        output.expect_usage(words);
    }
    let mut command = home.command(&["cache", "get", "--key", "k"]);
    finish(command.env("RECOUP_STORE", "redis")).expect_usage("invalid store \"redis\"");
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_untouched() {
    let home = Home::new();
    let contents = "my notes\n".repeat(1000);
    home.write("notes.txt", &contents);
    let set = ["set", "--key", "k", "--condensed", "1", "--store", "sqlite:notes.txt"];
    home.cache(&set).expect_failure("not a cache database of recoup");
    home.cache(&["get", "--key", "k", "--store", "sqlite:notes.txt"])
        .expect_failure("not a cache database of recoup");
    home.cache(&["ls", "--store", "sqlite:notes.txt"])
        .expect_failure("not a cache database of recoup");
    assert_eq!(fs::read_to_string(home.project().join("notes.txt")).unwrap(), contents);
    assert_eq!(tree(&home.project()), [home.project().join("notes.txt")]);
}

#[test]
fn another_program_s_database_is_refused_and_untouched() {
    for version in [0, 1, 7] {
        let home = Home::new();
        let path = home.project().join("theirs.db");
        let theirs = rusqlite::Connection::open(&path).unwrap();
        let script = format!("CREATE TABLE t (a); PRAGMA user_version = {version};");
        theirs.execute_batch(&script).unwrap();
        theirs.close().unwrap();
        let before = fs::read(&path).unwrap();
        let url = "sqlite:theirs.db";
        home.cache(&["set", "--key", "k", "--condensed", "1", "--store", url])
            .expect_failure("belongs to another program");
        home.cache(&["get", "--key", "k", "--store", url])
            .expect_failure("belongs to another program");
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(tree(&home.project()), [path]);
    }
}

#[test]
fn a_directory_in_place_of_the_store_is_named() {
    let home = Home::new();
    fs::create_dir(home.project().join("dir")).unwrap();
    let args = ["set", "--key", "k", "--condensed", "1", "--store", "sqlite:dir"];
    home.cache(&args).expect_failure("project/dir");
    home.cache(&["get", "--key", "k", "--store", "sqlite:dir"]).expect_failure("project/dir");
}
