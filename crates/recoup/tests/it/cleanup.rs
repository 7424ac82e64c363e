//! `recoup cache cleanup`: first what has expired, then what was used least
//! recently.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::Home;

/// Entries of about 90 KiB each, stored in this order.
fn scene(keys: &[&str]) -> Home {
    let home = Home::new();
    for key in keys {
        set_large(&home, key, &[]);
    }
    home
}

fn set_large(home: &Home, key: &str, more: &[&str]) {
    // Digits that no compression makes smaller than half.
    let mut state = 88_172_645_463_325_252_u64;
    let mut body = String::from("[0");
    while body.len() < 200_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        write!(body, ",{state}").unwrap();
    }
    body.push(']');
    let set = [&["cache", "set", "--key", key, "--condensed", "-"], more].concat();
    home.run_with_stdin(&set, body.as_bytes()).expect(0);
    // Times are kept in milliseconds, and the order is by time.
    thread::sleep(Duration::from_millis(2));
}

fn left(home: &Home) -> Vec<String> {
    let listed = home.cache(&["ls", "--json"]).expect(0).json();
    let entries = listed.as_array().unwrap().iter();
    let mut keys: Vec<_> = entries.map(|entry| entry["key"].as_str().unwrap().to_owned()).collect();
    keys.sort();
    keys
}

fn cleanup(home: &Home, mebibytes: &str) -> serde_json::Value {
    home.cache(&["cleanup", "--json", "--max-size-mb", mebibytes]).expect(0).json()
}

#[test]
fn what_has_expired_goes_first() {
    let home = scene(&["a", "b"]);
    set_large(&home, "old", &["--ttl", "30ms"]);
    thread::sleep(Duration::from_millis(50));
    let report = home.cache(&["cleanup", "--json"]).expect(0).json();
    assert_eq!((&report["expired"], &report["evicted"]), (&json!(1), &json!(0)));
    assert!(report["freed_bytes"].as_u64().unwrap() > 50_000, "{report}");
    assert_eq!(left(&home), ["a", "b"]);
}

#[test]
fn then_what_was_used_least_recently_goes_and_a_get_counts_as_use() {
    let home = scene(&["a", "b", "c"]);
    home.get("a").expect(0);
    let report = cleanup(&home, "0.22");
    assert_eq!((&report["expired"], &report["evicted"]), (&json!(0), &json!(1)));
    assert_eq!(left(&home), ["a", "c"]);
    assert_eq!(cleanup(&home, "0.22")["evicted"], 0, "once is enough");
    assert_eq!(cleanup(&home, "0.13")["evicted"], 1);
    assert_eq!(left(&home), ["a"]);
}

#[test]
fn a_limit_of_nothing_leaves_nothing() {
    let home = scene(&["a", "b"]);
    home.cache(&["set", "--scope", "global", "--key", "k", "--condensed", "1"]).expect(0);
    let report = cleanup(&home, "0");
    assert_eq!(report["evicted"], 2);
    assert_eq!(left(&home), [""; 0]);
    let stats = home.cache(&["stats", "--json"]).expect(0).json();
    assert_eq!((&stats["entries"], &stats["size_mb"]), (&json!(0), &json!("0.00")));
    home.cache(&["get", "--scope", "global", "--key", "k"]).expect_hit("1");
}

#[test]
fn full_results_go_with_their_entries() {
    let home = Home::new();
    home.write("full.bin", vec![7; 3 << 20]);
    home.cache(&["set", "--key", "k", "--condensed", "1", "--full", "full.bin"]).expect(0);
    assert_eq!(cleanup(&home, "4")["evicted"], 0);
    let report = cleanup(&home, "2");
    assert_eq!(report["evicted"], 1);
    assert!(report["freed_bytes"].as_u64().unwrap() > 3 << 20, "{report}");
    let sum = "SELECT (SELECT count(*) FROM fulls) + (SELECT count(*) FROM chunks)";
    assert_eq!(home.sql().query_row(sum, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn what_is_no_size_is_wrong_usage() {
    let home = scene(&["a"]);
    for bad in ["", "x", "-1", "1MB", "NaN", "inf", "1e300", "1,5"] {
        let flag = format!("--max-size-mb={bad}");
        home.cache(&["cleanup", &flag]).expect_usage("--max-size-mb");
    }
    assert_eq!(left(&home), ["a"]);
}

#[test]
fn people_are_told_what_went() {
    let home = scene(&["a"]);
    let output = home.cache(&["cleanup"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "Removed 0 expired and 0 least recently used entries (0 B)\n");
}

#[test]
fn cleaning_nothing_begins_nothing() {
    let home = Home::new();
    home.cache(&["cleanup"]).expect(0);
    assert!(!home.recoup().exists());
}
