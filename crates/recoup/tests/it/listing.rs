//! `ls` and `show`: what a person reads about entries, and the same as JSON.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{Home, RECOUP};

/// `text` with what differs from run to run replaced: times, ages, the project.
fn redact(text: &str) -> String {
    let mut redacted = String::new();
    for piece in text.split_inclusive([' ', '\n']) {
        let word = piece.trim_matches(|c: char| "() \n".contains(c));
        redacted += &match name(word) {
            Some(name) => piece.replace(word, name),
            None => piece.to_owned(),
        };
    }
    redacted
}

fn name(word: &str) -> Option<&'static str> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    match word {
        _ if word.len() == 24 && word.ends_with('Z') => Some("[TIME]"),
        _ if word != unit && (unit == "ms" || unit == "s") => Some("[AGE]"),
        _ if word.starts_with("project:") => Some("[PROJECT]"),
        _ => None,
    }
}

/// One entry named by its parts, with a source and a tag.
fn scene() -> Home {
    let home = Home::new();
    home.write("src/a.rs", "fn a() {}");
    home.cache(&[
        "set", "--paths", "src/a.rs", "--query", "Find bugs", "--operation", "audit", "--sources",
        "src/a.rs", "--tag", "nightly", "--condensed", "{\"verdict\":\"PASS\"}",
    ])
    .expect(0);
    home
}

const KEY: &str = "345cf3460c5936cbff86d69ad7a93faf8923c117c5155e20731ef95e89dd783b";

/// Columns are padded by what ages are; one space says the same.
fn squeeze(text: &str) -> String {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn ls_is_a_table_with_the_newest_first() {
    let home = scene();
    std::thread::sleep(std::time::Duration::from_millis(3));
    home.cache(&["set", "--key", "short", "--condensed", "1", "--ttl", "forever"]).expect(0);
    let output = home.cache(&["ls"]).expect(0);
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(redact(&squeeze(&output.text())), @"
    KEY KIND STORED EXPIRES SIZE HITS ABOUT
    short result [AGE] ago never 1 B 0
    345cf3460c5936cb result [AGE] ago in 30d 18 B 0 audit · find bugs · src/a.rs · nightly
    ");
}

#[test]
fn show_tells_everything_but_the_body() {
    let home = scene();
    let output = home.cache(&["show", "--key", KEY]).expect(0);
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(redact(&output.text()), @"
    key        345cf3460c5936cbff86d69ad7a93faf8923c117c5155e20731ef95e89dd783b
    scope      [PROJECT]
    kind       result
    status     valid
    stored     [TIME] ([AGE] ago)
    expires    [TIME] (in 30d)
    size       18 B
    sha256     32e3c0215358a1f45d846a4a2d924cf7901caa608db81c166e70fc4ac2fecd9a
    hits       0
    paths      src/a.rs
    query      find bugs
    operation  audit
    tag        nightly
    source     src/a.rs (9 B)
    ");
}

#[test]
fn show_says_what_get_would_say() {
    let home = scene();
    home.write("src/a.rs", "changed");
    let text = home.cache(&["show", "--key", KEY]).expect(0).text();
    assert!(text.contains("\nstatus     invalidated: the source src/a.rs has changed\n"), "{text}");
    let json = home.cache(&["show", "--key", KEY, "--json"]).expect(0).json();
    assert_eq!(json["status"], "invalidated");
    assert_eq!(json["reason"], "source_modified");
}

#[test]
fn json_has_the_same_fields_in_ls_and_show() {
    let home = scene();
    let output = home.cache(&["ls", "--json"]).expect(0);
    assert!(output.text().starts_with("[\n  {\n    \"key\": "), "two spaces: {}", output.text());
    let mut shown = home.cache(&["show", "--key", KEY, "--json"]).expect(0).json();
    assert_eq!(shown.as_object_mut().unwrap().remove("status").unwrap(), "hit");
    assert_eq!(output.json(), serde_json::json!([shown]));
    assert_eq!(shown["tags"], serde_json::json!(["nightly"]));
    assert_eq!(shown["size"], 18);
    assert_eq!(shown["hits"], 0);
    assert_eq!(shown["kind"], "result");
    assert_eq!(shown["sources"]["files"][0]["path"], "src/a.rs");
}

#[test]
fn a_key_as_ls_prints_it_is_a_key_everywhere() {
    let home = scene();
    let table = home.cache(&["ls"]).text();
    let short = table.lines().nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(short, &KEY[..16]);
    for short in [short, &KEY[..8], &KEY[..63], KEY] {
        assert!(home.cache(&["show", "--key", short]).expect(0).text().contains(KEY));
        assert_eq!(home.cache(&["get", "--key", short]).expect(0).text().len(), 19);
        assert!(home.run(&["explain", short]).expect(0).text().starts_with("hit: "));
    }
    for other in [&KEY[..7], "01234567", &KEY[1..20]] {
        home.cache(&["show", "--key", other]).expect(1);
        home.cache(&["get", "--key", other]).expect(1);
        home.cache(&["delete", "--key", other]).expect(1);
        home.run(&["explain", other]).expect(1);
    }
    let deleted = home.cache(&["delete", "--key", short]).expect(0).stderr;
    assert_eq!(deleted, format!("Deleted entry for key: {KEY}\n"));
    home.cache(&["get", "--key", KEY]).expect(1);
}

/// A missing key must not be answered with another's result.
#[test]
fn a_key_of_ones_own_is_meant_whole() {
    let home = Home::new();
    home.set("build-2026-01-15", "1");
    home.set("deadbeef-and-more", "2");
    for key in ["build-2026-01", "deadbeef"] {
        home.get(key).expect_miss();
        home.cache(&["delete", "--key", key]).expect(1);
        home.cache(&["show", "--key", key]).expect(1);
    }
    let table = home.cache(&["ls"]).text();
    assert!(table.contains("build-2026-01-15") && table.contains("deadbeef-and-more"), "{table}");
}

/// `exec --tty` gives a command a terminal.
#[test]
fn a_terminal_shows_a_page_and_a_count_and_a_pipe_everything() {
    let home = Home::new();
    home.set("first", "1");
    home.multiply(1_234);
    let on_terminal = |args: &[&str]| {
        let command =
            ["exec", "--tty", "--no-cache", "--", env!("CARGO_BIN_EXE_recoup"), "cache", "ls"];
        home.run(&[&command[..], args].concat()).expect(0).text()
    };
    let page = on_terminal(&[]);
    assert_eq!(page.lines().count(), 52, "{page}");
    assert!(page.ends_with("… 1,185 more: --limit N, --all\r\n"), "{page}");
    assert_eq!(on_terminal(&["--limit", "3"]).lines().count(), 4);
    assert_eq!(on_terminal(&["--all"]).lines().count(), 1_236);
    let piped = home.cache(&["ls"]).expect(0).text();
    assert_eq!(piped.lines().count(), 1_236);
    assert!(piped.lines().all(|line| line.len() < 100), "as wide as its columns: {piped}");
    let listed = home.cache(&["ls", "--json"]).expect(0).json();
    assert_eq!(listed.as_array().unwrap().len(), 1_235);
}

/// What a terminal with this many columns shows.
fn on_terminal(home: &Home, columns: u16, args: &[&str]) -> String {
    let script = format!("stty cols {columns} <&1; exec \"$@\"");
    let shell = ["exec", "--tty", "--no-cache", "--", "sh", "-c", &script, "sh", RECOUP];
    home.run(&[&shell, args].concat()).expect(0).text()
}

#[test]
fn ids_stay_whole_however_narrow_the_terminal() {
    let home = scene();
    home.set("a-key-of-ones-own-with-40-characters-abc", "1");
    let rule = "The staging server listens on port 4242, and not on the usual one";
    let added = home.run(&["memory", "add", rule, "--json", "--kind", "project-knowledge"]);
    let id = added.expect(0).json()["id"].as_str().unwrap().to_owned();
    let id = id.as_str();
    for columns in [20, 40, 60, 80] {
        for args in [&["list"][..], &["list", "--all"], &["search", "port"], &["report"]] {
            let shown = on_terminal(&home, columns, &[&["memory"], args].concat());
            assert!(shown.contains(&format!("\n{id} ")), "{args:?} in {columns}: {shown}");
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(words.join(" ").contains("TEXT"), "{args:?} in {columns}: {shown}");
            let table = shown.lines().skip_while(|line| !line.starts_with("ID"));
            let widest = table.map(|line| line.trim_end().chars().count()).max().unwrap();
            assert!(widest <= usize::from(columns.max(30)), "{args:?} in {columns}: {shown}");
            for word in ["project-knowledge", "active"] {
                let is_whole = words.contains(&word);
                let is_gone = !shown.contains(&word[..4]);
                assert!(is_whole || is_gone, "{args:?} in {columns}: {shown}");
            }
        }
        let shown = on_terminal(&home, columns, &["cache", "ls"]);
        for key in [&KEY[..16], "a-key-of-ones-own-with-40-characters-abc"] {
            assert!(shown.contains(&format!("\n{key}")), "{columns}: {shown}");
        }
    }
}

#[test]
fn a_narrow_list_still_says_which_files_a_rule_is_for() {
    let home = Home::new();
    home.run(&["memory", "add", "--paths", "db/**", "never edit a migration that has run"])
        .expect(0);
    let shown = on_terminal(&home, 60, &["memory", "list"]);
    assert!(shown.contains("db/**") && !shown.contains("SOURCE"), "{shown}");
}

#[test]
fn a_wide_terminal_shows_every_column() {
    let home = scene();
    home.run(&["memory", "add", "use tabs"]).expect(0);
    let list = on_terminal(&home, 120, &["memory", "list"]);
    assert!(squeeze(&list).starts_with("ID KIND SCOPE STATUS SOURCE TEXT\n"), "{list}");
    let entries = on_terminal(&home, 120, &["cache", "ls"]);
    let headings = "KEY KIND STORED EXPIRES SIZE HITS ABOUT\n";
    assert!(squeeze(&entries).starts_with(headings), "{entries}");
}

#[test]
fn memory_list_shows_everything_on_a_terminal_with_all() {
    let home = Home::new();
    for number in 0..60 {
        let rule = format!("The service s{number} listens on port {}", 4_000 + number);
        home.run(&["memory", "add", &rule]).expect(0);
    }
    let on_terminal = |args: &[&str]| {
        let command =
            ["exec", "--tty", "--no-cache", "--", env!("CARGO_BIN_EXE_recoup"), "memory", "list"];
        home.run(&[&command[..], args].concat()).expect(0).text()
    };
    let page = on_terminal(&[]);
    assert!(page.ends_with("… 10 more: --limit N\r\n"), "{page}");
    let all = on_terminal(&["--all"]);
    assert!((0..60).all(|number| all.contains(&format!("s{number} "))), "{all}");
    assert!(!all.contains("more:"), "{all}");
}

#[test]
fn a_beginning_that_is_not_enough_is_wrong_usage() {
    let home = Home::new();
    let key = |end: &str| format!("{}{end}", "ab".repeat(31));
    for end in ["00", "01"] {
        home.set(&key(end), "1");
    }
    for command in ["show", "get", "delete"] {
        let args = [command, "--key", "abababab"];
        home.cache(&args).expect_usage("2 keys begin with abababab");
    }
    home.cache(&["show", "--key", &key("0")]).expect_usage("2 keys begin with");
    home.cache(&["show", "--key", &key("01")]).expect(0);
    home.cache(&["show", "--key", "x"]).expect_failure("no entry for key x");
}

#[test]
fn an_empty_listing_says_so_to_people_and_is_a_list_to_scripts() {
    let home = Home::new();
    let output = home.cache(&["ls", "--scope", "global"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "No entries in global\n");
    assert_eq!(home.cache(&["ls"]).expect(0).stderr, "No entries in this project\n");
    assert_eq!(home.cache(&["ls", "--json"]).expect(0).text(), "[]\n");
    assert!(!home.recoup().exists(), "nothing was begun");
}

#[test]
fn ls_keeps_to_its_scope_and_its_limit() {
    let home = Home::new();
    for key in ["a", "b", "c"] {
        home.set(key, "1");
    }
    home.cache(&["set", "--scope", "global", "--key", "g", "--condensed", "1"]).expect(0);
    let count = |args: &[&str]| home.cache(args).expect(0).json().as_array().unwrap().len();
    assert_eq!(count(&["ls", "--json"]), 3);
    assert_eq!(count(&["ls", "--json", "--limit", "2"]), 2);
    assert_eq!(count(&["ls", "--json", "--scope", "global"]), 1);
    assert_eq!(count(&["ls", "--json", "--limit", "0"]), 0);
}

#[test]
fn nothing_that_a_terminal_would_obey_is_printed() {
    let home = Home::new();
    let evil = "\u{1b}[31mred\u{1b}]0;title\u{7}\r\u{9b}2J";
    let set = ["set", "--paths", "a", "--query", evil, "--operation", evil, "--tag", evil];
    home.cache(&[&set[..], &["--condensed", "1"]].concat()).expect(0);
    let key = home.cache(&["ls", "--json"]).json()[0]["key"].as_str().unwrap().to_owned();
    let shown = ["show", "--key", &key, "--json"];
    for args in [&["ls"][..], &shown[..3]] {
        let output = home.cache(args).expect(0);
        let bad = output.text().chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(bad, None, "{args:?}: {:?}", output.text());
    }
    for args in [&["ls", "--json"], &shown[..]] {
        assert!(!home.cache(args).expect(0).text().contains('\u{1b}'));
    }
}

#[test]
fn a_damaged_entry_does_not_hide_the_others() {
    let home = Home::new();
    home.set("bad", "1");
    home.set("good", "1");
    home.sql().execute("UPDATE entries SET header = x'00' WHERE key = 'bad'", []).unwrap();
    let output = home.cache(&["ls"]).expect(0);
    assert!(output.text().contains("good"));
    assert!(output.stderr.starts_with("warning: bad: "), "{}", output.stderr);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let home = Home::new();
    home.set("k", "1");
    // More than a pipe holds.
    home.multiply(3000);
    for args in [&["cache", "ls"][..], &["cache", "ls", "--json"]] {
        let mut child =
            home.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut one = [0];
        child.stdout.take().unwrap().read_exact(&mut one).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn what_nobody_sees_is_shown_escaped() {
    let home = Home::new();
    let query = "find\u{200b} bugs\u{200d} here\u{feff}";
    home.cache(&[
        "set", "--paths", "a", "--query", query, "--operation", "audit", "--condensed", "1",
    ])
    .expect(0);
    let shown = home.cache(&["ls"]).expect(0).text();
    for escaped in ["find\\u{200b}", "bugs\\u{200d}", "here\\u{feff}"] {
        assert!(shown.contains(escaped), "{shown}");
    }
}
