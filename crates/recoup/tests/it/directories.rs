//! Stores in plain directories, which other programs read and write too.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Home, finish, tree};

fn in_dir(home: &Home, args: &[&str]) -> crate::support::Output {
    home.cache(&[args, &["--store", "dir:.cache"]].concat())
}

fn in_files(home: &Home, args: &[&str]) -> crate::support::Output {
    home.cache(&[args, &["--store", "file:answers"]].concat())
}

fn read(home: &Home, name: &str) -> Value {
    serde_json::from_slice(&fs::read(home.project().join(name)).unwrap()).unwrap()
}

#[test]
fn a_directory_is_kept_as_other_tools_read_it() {
    let home = Home::new();
    home.write("src/a.rs", "fn a() {}");
    let set = ["set", "--key", "k", "--condensed", r#"{"a": 1}"#, "--sources", "src/a.rs"];
    in_dir(&home, &set).expect(0);
    in_dir(&home, &["get", "--key", "k"]).expect_hit(r#"{"a": 1}"#);
    assert_eq!(
        fs::read_to_string(home.project().join(".cache/results/k.json")).unwrap(),
        r#"{"a": 1}"#
    );
    let index = read(&home, ".cache/index.json");
    assert_eq!(index["entries"]["k"]["source_paths"], json!(["src/a.rs"]));
    home.write("src/a.rs", "fn a() { changed() }");
    in_dir(&home, &["get", "--key", "k"]).expect_miss();
    let stats = in_dir(&home, &["stats", "--json"]).expect(0).text();
    let stats: Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["hits"], &stats["invalidations"]), (&json!(1), &json!(1)));
    assert_eq!(read(&home, ".cache/index.json")["stats"]["hits"], json!(1));
}

#[test]
fn an_index_that_was_lost_comes_back_with_the_next_write() {
    let home = Home::new();
    for key in ["a", "b"] {
        in_dir(&home, &["set", "--key", key, "--condensed", "1"]).expect(0);
    }
    for broken in ["", "{", "[]", r#"{"entries":{}}"#] {
        home.write(".cache/index.json", broken);
        in_dir(&home, &["get", "--key", "a"]).expect_hit("1");
    }
    in_dir(&home, &["set", "--key", "c", "--condensed", "1"]).expect(0);
    let index = read(&home, ".cache/index.json");
    assert_eq!(index["entries"].as_object().unwrap().len(), 3);
}

#[test]
fn a_file_is_kept_as_other_programs_read_it_and_theirs_are_read() {
    let home = Home::new();
    in_files(&home, &["set", "--key", "k", "--condensed", r#"{"a":1}"#, "--ttl", "1h"]).expect(0);
    let file = read(&home, "answers/k.json");
    assert_eq!(file["value"], json!(r#"{"a":1}"#));
    assert!(file["expires_at"].as_i64().unwrap() > 0);
    home.write("answers/theirs.json", r#"{"value":"an answer","expires_at":0}"#);
    in_files(&home, &["get", "--key", "theirs"]).expect_hit("an answer");
    home.write("answers/package.json", r#"{"name":"not ours"}"#);
    in_files(&home, &["set", "--key", "package", "--condensed", "1"])
        .expect_failure("is not a cache entry");
    in_files(&home, &["clear", "--yes"]).expect(0);
    assert_eq!(read(&home, "answers/package.json"), json!({"name": "not ours"}));
    assert!(!home.project().join("answers/k.json").exists());
}

#[test]
fn a_directory_is_a_scope_of_its_own_unless_one_is_named() {
    for store in ["dir:shared", "file:shared"] {
        let home = Home::new();
        let shared =
            format!("{}:{}", store.split_once(':').unwrap().0, home.path("shared").display());
        let other = home.path("other project");
        fs::create_dir(&other).unwrap();
        home.cache(&["set", "--key", "k", "--condensed", "1", "--store", &shared]).expect(0);
        let get = ["cache", "get", "--key", "k", "--store", &shared];
        home.run_in(&other, &get).expect_hit("1");
        let named = [
            "cache", "set", "--key", "k", "--condensed", "2", "--store", &shared, "--scope",
            "tenant:t",
        ];
        home.run_in(&other, &named).expect(0);
        home.run_in(&other, &[&get[..], &["--scope", "tenant:t"]].concat()).expect_hit("2");
        home.run_in(&other, &get).expect_hit("1");
        let inside = |path: &std::path::PathBuf| path.starts_with(home.path("shared/tenant/t"));
        assert!(tree(&home.path("shared")).iter().any(inside), "{store}");
        let mut command = home.command(&get);
        finish(command.env("RECOUP_SCOPE", "project")).expect_miss();
    }
}

#[test]
fn a_repositorys_limits_count_in_a_directory_of_its_own() {
    let home = Home::new();
    home.write("recoup.toml", "[cache]\nmax_entries = 2\n");
    for n in 0..4 {
        in_dir(&home, &["set", "--key", &n.to_string(), "--condensed", "1"]).expect(0);
    }
    assert_eq!(read(&home, ".cache/index.json")["entries"].as_object().unwrap().len(), 2);
}

#[test]
fn an_answer_to_an_agent_run_is_found_by_its_key() {
    let home = Home::new();
    let parts = ["--agent", "reviewer", "--system", "s", "--user", "u", "--model", "m"];
    let key = home.run(&[&["key", "agent-run"], &parts[..]].concat()).expect(0).text();
    let key = key.trim();
    home.write(&format!("answers/{key}.json"), r#"{"value":"fine","expires_at":0}"#);
    in_files(&home, &["get", "--key", key]).expect_hit("fine");
}
