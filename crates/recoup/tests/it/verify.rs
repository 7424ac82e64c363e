//! `recoup cache verify`: finds everything that can't be served, and removes
//! exactly that when told to.

use serde_json::{Value, json};

use crate::support::Home;

/// Sound entries of every sort, two of each, the second of which gets damaged.
fn scene() -> Home {
    let home = Home::new();
    home.write("large.json", format!("\"{}\"", "x".repeat(3 << 20)));
    home.write("full.bin", "the full result ".repeat(50));
    home.write("other.bin", "another ".repeat(50));
    home.write("vast.bin", vec![7; 3 << 20]);
    for key in ["small", "small-bad", "header-bad"] {
        home.set(
            key,
            "{\"a\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
        );
    }
    for key in ["large", "large-bad"] {
        home.set(key, "@large.json");
    }
    for (key, file) in
        [("full", "full.bin"), ("full-bad", "other.bin"), ("full-vast-bad", "vast.bin")]
    {
        home.cache(&["set", "--key", key, "--condensed", "1", "--full", file]).expect(0);
    }
    home
}

fn harm(home: &Home) {
    let of = |key: &str| format!("(SELECT frames FROM entries WHERE key = '{key}')");
    let full_of = |key: &str| format!("sha256 = (SELECT full FROM entries WHERE key = '{key}')");
    let last = |frames: &str| {
        format!("frames = {frames} AND seq = (SELECT max(seq) FROM chunks WHERE frames = {frames})")
    };
    let vast = format!("(SELECT frames FROM fulls WHERE {})", full_of("full-vast-bad"));
    for sql in [
        "UPDATE entries SET body = substr(body, 1, 20) WHERE key = 'small-bad'".to_owned(),
        "UPDATE entries SET header = x'7b' WHERE key = 'header-bad'".to_owned(),
        format!("UPDATE chunks SET data = zeroblob(length(data)) WHERE {}", last(&of("large-bad"))),
        format!("UPDATE fulls SET body = zeroblob(9) WHERE {}", full_of("full-bad")),
        format!("UPDATE chunks SET data = zeroblob(length(data)) WHERE {}", last(&vast)),
    ] {
        assert_eq!(home.sql().execute(&sql, []).unwrap(), 1, "{sql}");
    }
}

const BAD: [&str; 5] = ["full-bad", "full-vast-bad", "header-bad", "large-bad", "small-bad"];

fn damaged(report: &Value) -> Vec<String> {
    let rows = report["damaged"].as_array().unwrap().iter();
    let mut keys: Vec<_> = rows.map(|row| row["key"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    keys
}

#[test]
fn everything_sound_is_said_to_be_so() {
    let home = scene();
    let output = home.cache(&["verify"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "8 entries: no damage found\n");
    let report = home.cache(&["verify", "--repair", "--json"]).expect(0).json();
    assert_eq!(report, json!({"entries": 8, "damaged": [], "repaired": false}));
}

#[test]
fn every_sort_of_damage_is_found_and_stays_until_it_is_repaired() {
    let home = scene();
    harm(&home);
    for _ in 0..2 {
        let report = home.cache(&["verify", "--json"]).expect(1).json();
        assert_eq!(damaged(&report), BAD);
        assert_eq!((&report["entries"], &report["repaired"]), (&json!(8), &json!(false)));
    }
    let output = home.cache(&["verify"]).expect(1);
    assert_eq!(output.text(), "");
    for key in BAD {
        assert!(output.stderr.contains(&format!("{key}: ")), "{}", output.stderr);
    }
    assert!(output.stderr.ends_with("8 entries: 5 damaged; use --repair to remove them\n"));
}

#[test]
fn repairing_removes_exactly_what_is_damaged() {
    let home = scene();
    harm(&home);
    let report = home.cache(&["verify", "--repair", "--json"]).expect(0).json();
    assert_eq!(
        (damaged(&report), &report["repaired"]),
        (BAD.map(str::to_owned).into(), &json!(true))
    );
    let report = home.cache(&["verify", "--json"]).expect(0).json();
    assert_eq!(report, json!({"entries": 3, "damaged": [], "repaired": false}));
    for key in BAD {
        home.get(key).expect_miss();
    }
    for key in ["small", "large", "full"] {
        home.get(key).expect(0);
    }
    let output = home.cache(&["show", "--key", "full", "--full"]).expect(0);
    assert_eq!(output.text(), "the full result ".repeat(50) + "\n");
}

#[test]
fn a_damaged_full_result_is_never_printed() {
    let home = scene();
    harm(&home);
    for key in ["full-bad", "full-vast-bad"] {
        let output = home.cache(&["show", "--key", key, "--full"]).expect(1);
        assert!(!output.stdout.ends_with(b"\n"), "{key}: it looks whole");
        assert!(output.stderr.starts_with("error: "), "{key}: {}", output.stderr);
    }
}

#[test]
fn other_scopes_are_not_looked_at() {
    let home = scene();
    harm(&home);
    let output = home.cache(&["verify", "--scope", "global"]).expect(0);
    assert_eq!(output.stderr, "0 entries: no damage found\n");
}

#[test]
fn verifying_nothing_begins_nothing() {
    let home = Home::new();
    home.cache(&["verify"]).expect(0);
    assert!(!home.recoup().exists());
}

/// An index that has lost rows hides entries; no entry by itself is damaged.
#[test]
fn a_broken_index_is_found_and_repaired() {
    let home = scene();
    let schema = |sql: &str| {
        home.sql().execute_batch(&format!("PRAGMA writable_schema = ON; {sql}")).unwrap();
    };
    schema(
        "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'entries_id';
         DELETE FROM sqlite_schema WHERE name = 'entries_id'",
    );
    home.sql().execute("UPDATE entries SET key = 'renamed' WHERE key = 'small'", []).unwrap();
    schema("INSERT INTO sqlite_schema SELECT * FROM kept");
    schema("DROP TABLE kept");
    let report = home.cache(&["verify", "--json"]).expect(1).json();
    assert!(report["database"].as_str().unwrap().contains("entries_id"), "{report}");
    let output = home.cache(&["verify"]).expect(1);
    assert!(output.stderr.contains("the database is damaged: "), "{}", output.stderr);
    home.cache(&["verify", "--repair"]).expect(0);
    home.get("renamed").expect(0);
    let report = home.cache(&["verify", "--json"]).expect(0).json();
    assert_eq!(report, json!({"entries": 8, "damaged": [], "repaired": false}));
}
