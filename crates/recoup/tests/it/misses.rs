//! Why a `get` was no hit, as scripts read it. The JSON has two spaces, and a
//! `reason` only where there is one.

use crate::support::{Home, Output};

fn get_json(home: &Home) -> Output {
    home.cache(&["get", "--key", "k", "--json"]).expect(1)
}

fn damage(home: &Home, sql: &str) {
    assert_eq!(home.sql().execute(sql, []).unwrap(), 1);
}

#[test]
fn an_absent_entry() {
    let output = get_json(&Home::new());
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(output.text(), @r#"
    {
      "status": "miss",
      "key": "k"
    }
    "#);
}

#[test]
fn an_expired_entry() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", "1ms"]).expect(0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    insta::assert_snapshot!(get_json(&home).text(), @r#"
    {
      "status": "expired",
      "key": "k"
    }
    "#);
    assert_eq!(home.get("k").expect_miss().stderr, "expired: the entry has expired\n");
}

#[test]
fn an_entry_older_than_the_reader_accepts() {
    let home = Home::new();
    home.set("k", "1");
    home.cache(&["get", "--key", "k", "--max-age", "1h"]).expect(0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    let output = home.cache(&["get", "--key", "k", "--max-age", "1ms"]).expect_miss();
    assert_eq!(output.stderr, "expired: the entry has expired\n");
    home.get("k").expect(0);
    let output = home.cache(&["get", "--key", "k", "--max-age", "old"]).expect(2);
    assert!(
        output.stderr.contains("--max-age: expected off, forever or a duration"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_modified_source() {
    let home = Home::new();
    home.write("src/a.rs", "one");
    home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", "src/a.rs"]).expect(0);
    home.write("src/a.rs", "two");
    insta::assert_snapshot!(get_json(&home).text(), @r#"
    {
      "status": "invalidated",
      "key": "k",
      "reason": "source_modified"
    }
    "#);
    let told = home.get("k").expect_miss().stderr;
    assert_eq!(told, "invalidated: the source src/a.rs has changed\n");
}

#[test]
fn a_missing_source() {
    let home = Home::new();
    let source = home.write("src/a.rs", "one");
    home.cache(&["set", "--key", "k", "--condensed", "1", "--sources", "src/a.rs"]).expect(0);
    std::fs::remove_file(source).unwrap();
    insta::assert_snapshot!(get_json(&home).text(), @r#"
    {
      "status": "invalidated",
      "key": "k",
      "reason": "source_missing"
    }
    "#);
    let told = home.get("k").expect_miss().stderr;
    assert_eq!(told, "invalidated: the source src/a.rs is missing\n");
}

#[test]
fn a_body_that_is_not_the_one_that_was_stored() {
    let home = Home::new();
    home.set("k", "[1]");
    damage(&home, "UPDATE entries SET body = CAST('[2]' AS BLOB)");
    insta::assert_snapshot!(get_json(&home).text(), @r#"
    {
      "status": "corrupt",
      "key": "k",
      "reason": "integrity_mismatch"
    }
    "#);
    let told = home.get("k").expect_miss().stderr;
    assert_eq!(told, "corrupt: the entry is damaged: the body does not match its checksum\n");
}

#[test]
fn a_body_that_can_not_be_decoded() {
    let home = Home::new();
    home.set("k", &format!("\"{}\"", "a".repeat(1000)));
    damage(&home, "UPDATE entries SET body = substr(body, 1, 9)");
    insta::assert_snapshot!(get_json(&home).text(), @r#"
    {
      "status": "corrupt",
      "key": "k",
      "reason": "unreadable"
    }
    "#);
}

#[test]
fn a_header_that_can_not_be_read() {
    let home = Home::new();
    home.set("k", "1");
    damage(&home, "UPDATE entries SET header = CAST('{' AS BLOB)");
    let json = get_json(&home).json();
    assert_eq!(json["status"], "corrupt");
    assert_eq!(json["reason"], "unreadable");
    assert_eq!(home.set_aside().len(), 0, "one bad entry is no bad database");
}

#[test]
fn a_large_body_with_a_damaged_end_gives_nothing_out() {
    let home = Home::new();
    let body = format!("\"{}\"", "x".repeat(3 << 20));
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
        .expect(0);
    damage(&home, "UPDATE chunks SET data = substr(data, 1, length(data) - 1) WHERE seq = 3");
    home.get("k").expect_miss();
    let json = get_json(&home).json();
    assert_eq!(json["status"], "corrupt");
    assert_eq!(json["reason"], "integrity_mismatch");
}

#[test]
fn a_large_body_without_its_end_gives_nothing_out() {
    let home = Home::new();
    let body = format!("\"{}\"", "x".repeat(3 << 20));
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
        .expect(0);
    damage(&home, "DELETE FROM chunks WHERE seq = 4");
    home.get("k").expect_miss();
    assert_eq!(get_json(&home).json()["status"], "corrupt");
}

#[test]
fn what_was_damaged_can_be_set_again() {
    let home = Home::new();
    home.set("k", "[1]");
    damage(&home, "UPDATE entries SET body = CAST('[2]' AS BLOB)");
    home.get("k").expect_miss();
    home.set("k", "[3]");
    home.get("k").expect_hit("[3]");
}
