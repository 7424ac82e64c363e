//! `recoup stats`: what the cache was worth, for people and for programs.

mod cost;
mod prices;
mod watch;

use std::fs;

use serde_json::Value;

use crate::support::Home;

/// Days before today, as `stats` writes them.
fn date(home: &Home, ago: i64) -> String {
    home.sql()
        .query_row("SELECT date('now', ?1)", [format!("-{ago} day")], |row| row.get(0))
        .unwrap()
}

/// Counts as if they had been folded in, `ago` days before today.
fn count(home: &Home, ago: i64, kind: &str, what: &str, by: &str, amounts: [i64; 5]) {
    let [count, millis, input, output, dollars] = amounts;
    home.sql()
        .execute(
            "INSERT INTO tallies
             VALUES ('global', ?1, unixepoch('now') / 86400 - ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            rusqlite::params![kind, ago, what, by, count, millis, input, output, dollars],
        )
        .unwrap();
}

/// A home in which something happened on several days.
fn used() -> Home {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--took", "90s", "--scope", "global"])
        .expect(0);
    for _ in 0..2 {
        home.cache(&["get", "--key", "k", "--scope", "global"]).expect_hit("1");
    }
    home.run(&["stats"]).expect(0);
    home.sql().execute("DELETE FROM tallies", []).unwrap();
    count(&home, 0, "command", "hit", "claude", [40, 1_920_000, 900_000, 31_000, 8_400_000]);
    count(&home, 0, "command", "invalidated", "claude", [4, 0, 0, 0, 0]);
    count(&home, 1, "command", "absent", "claude", [10, 0, 0, 0, 0]);
    count(&home, 1, "command", "hit", "claude", [5, 240_000, 0, 0, 4_000]);
    count(&home, 3, "result", "hit", "security-audit", [12, 1_080_000, 0, 0, 0]);
    count(&home, 3, "result", "expired", "security-audit", [3, 0, 0, 0, 0]);
    count(&home, 3, "result", "stored", "", [3, 0, 0, 0, 0]);
    count(&home, 3, "result", "evicted", "", [1, 0, 0, 0, 0]);
    count(&home, 50, "result", "hit", "long ago", [1_000, 1, 1, 1, 1]);
    home
}

/// Writes the user's own configuration.
fn configure(home: &Home, toml: &str) {
    fs::create_dir_all(home.recoup()).unwrap();
    fs::write(home.recoup().join("config.toml"), toml).unwrap();
}

fn stats(home: &Home, flags: &[&str]) -> Value {
    home.run(&[&["stats", "--json"], flags].concat()).expect(0).json()
}

#[test]
fn a_new_machine_gets_a_friendly_line_and_nothing_is_made() {
    let home = Home::new();
    let told = home.run(&["stats"]).expect(0);
    assert_eq!(told.text(), "");
    assert!(told.stderr.starts_with("No look-ups or entries yet"), "{}", told.stderr);
    assert!(!home.recoup().exists());
    assert_eq!(stats(&home, &[])["hits"], 0);
}

#[test]
fn the_report_for_people() {
    let home = used();
    let mut text = home.run(&["stats"]).expect(0).text();
    assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for ago in [0, 1, 3, 29] {
        text = text.replace(&date(&home, ago), &format!("-{ago:>2} days   "));
    }
    let (before, disk) = text.split_once("on disk").unwrap();
    assert!(disk.contains("cache.db") && disk.contains("ledger") && disk.contains("together"));
    assert!(disk.trim_end().ends_with("prices: built-in, of 2025-11"));
    insta::assert_snapshot!(before, @"
    What the cache saved · all projects · -29 days    to - 0 days   

      saved     54m · 931.0k tokens · $8.40
      hits      57 of 74 look-ups (77.0 %)
      hit rate  ▆·▃▇
      entries   1 now · 3 stored · 1 evicted

    misses, by reason
      no entry              10  ████████████████████████████████████
      a source changed       4  ██████████████
      expired                3  ███████████

    by day
      - 3 days     ██████████░░                          12 of 15
      - 1 days     ████░░░░░░░░                          5 of 15
      - 0 days     █████████████████████████████████░░░  40 of 44

    by kind
      command                        45 hits   76 %  36m · 931.0k tokens · $8.40
      result                         12 hits   80 %  18m

    by project
      global                         57 hits   77 %  54m · 931.0k tokens · $8.40

    by agent, tool or command
      claude                         45 hits   76 %  36m · 931.0k tokens · $8.40
      security-audit                 12 hits   80 %  18m

    most valuable entries, since they were stored
      k         result                                        2×  3m
    ");
}

#[test]
fn the_report_for_programs() {
    let home = used();
    let report = stats(&home, &[]);
    let fields: Vec<&String> = report.as_object().unwrap().keys().collect();
    let expected = [
        "scope", "store", "since", "until", "hits", "misses", "saved", "hit_rate_pct", "counts",
        "entries", "days", "kinds", "projects", "identities", "most_valuable", "disk", "prices",
        "rules",
    ];
    let mut sorted: Vec<&str> = expected.to_vec();
    sorted.sort_unstable();
    let mut found: Vec<&str> = fields.iter().map(|field| field.as_str()).collect();
    found.sort_unstable();
    assert_eq!(found, sorted);
    assert_eq!((&report["hits"], &report["misses"]), (&57.into(), &17.into()));
    assert_eq!(report["hit_rate_pct"], "77.0");
    let saved = serde_json::json!({
        "millis": 3_240_000, "input_tokens": 900_000, "output_tokens": 31_000, "micro_dollars": 8_404_000
    });
    assert_eq!(report["saved"], saved);
    let days = report["days"].as_array().unwrap();
    assert_eq!(days.len(), 30, "every day, also those without anything");
    assert_eq!(days[29]["date"], date(&home, 0));
    assert_eq!((&days[29]["hits"], &days[29]["misses"]), (&40.into(), &4.into()));
    let names = |what: &str| -> Vec<String> {
        let shares = report[what].as_array().unwrap().iter();
        shares.map(|share| share["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names("identities"), ["claude", "security-audit"]);
    assert_eq!(names("kinds"), ["command", "result"]);
    assert_eq!(names("projects"), ["global"]);
    let top = &report["most_valuable"][0];
    assert_eq!((&top["key"], &top["hits"]), (&"k".into(), &2.into()));
    assert_eq!(top["saved"]["millis"], 180_000);
}

#[test]
fn since_takes_a_duration_or_a_date() {
    let home = used();
    let hits = |since: &str| stats(&home, &["--since", since])["hits"].as_u64().unwrap();
    assert_eq!(hits("1d"), 40, "today");
    assert_eq!(hits("2d"), 45);
    assert_eq!(hits("90d"), 1_057);
    assert_eq!(hits("forever"), 1_057);
    assert_eq!(hits(&date(&home, 1)), 45);
    home.run(&["stats", "--since", "2999-01-01"]).expect_usage("the date is in the future");
    for wrong in ["yesterday", "2026-13-01", "", "-1d", "off", "1 d"] {
        home.run(&["stats", "--since", wrong]).expect_usage("invalid --since");
    }
}

#[test]
fn all_projects_are_told_of_unless_a_scope_is_named() {
    let home = Home::new();
    let other = home.path("somewhere/else");
    fs::create_dir_all(&other).unwrap();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    home.run_in(&other, &["cache", "get", "--key", "none"]).expect_miss();
    home.run_in(&other, &["cache", "set", "--key", "k", "--condensed", "2"]).expect(0);
    let all = stats(&home, &[]);
    assert_eq!(
        (&all["scope"], &all["hits"], &all["misses"]),
        (&"all".into(), &1.into(), &1.into())
    );
    let projects = all["projects"].as_array().unwrap();
    let names: Vec<&Value> = projects.iter().map(|share| &share["name"]).collect();
    assert_eq!(names, ["project", "else"], "by the name of their root");
    assert_eq!(projects[1]["root"], other.to_str().unwrap());
    assert_eq!(stats(&home, &["--all"]), all);
    let one = stats(&home, &["--scope", "project"]);
    assert_eq!((&one["hits"], &one["misses"]), (&1.into(), &0.into()));
    assert!(home.run(&["stats", "--scope", "project"]).expect(0).text().contains("· project ·"));
    home.run(&["stats", "--all", "--scope", "global"]).expect_usage("cannot be used with");
}

#[test]
fn sums_are_said_as_people_say_them() {
    let home = used();
    let said = [
        ([1, 999, 999, 0, 4_200], "999ms · 999 tokens · $0.0042"),
        ([1, 1_560, 1_000, 560, 10_000], "1.5s · 1.5k tokens · $0.01"),
        ([1, 59_999, 1_500_000, 0, 999_999], "59s · 1.5M tokens · $1.00"),
        ([1, 61_000, 0, 2_000_000_000, 9_999_999_999], "1m 1s · 2.0G tokens · $10,000.00"),
        ([1, 90_000_000, 0, 0, 0], "1d 1h"),
        ([1_234_567, 0, 0, 0, 0], "1,234,567 hits  100 %"),
    ];
    for (number, (amounts, _)) in said.iter().enumerate() {
        count(&home, 0, "result", "hit", &format!("agent-{number}"), *amounts);
    }
    let text = home.run(&["stats", "--top", "20"]).expect(0).text();
    for (number, (_, words)) in said.iter().enumerate() {
        let name = format!("agent-{number} ");
        let line = text.lines().find(|line| line.contains(&name)).unwrap();
        assert!(line.ends_with(words), "{line}");
    }
}

#[test]
fn a_name_can_not_order_the_terminal_about() {
    let home = used();
    count(&home, 0, "command", "hit", "\u{1b}[2Jevil\nname", [1, 1, 0, 0, 0]);
    let text = home.run(&["stats"]).expect(0).text();
    assert!(!text.contains('\u{1b}') && text.contains("evil\\nname"), "{text}");
}

#[test]
fn what_is_switched_off_is_not_written() {
    let home = Home::new();
    configure(&home, "log.hits = false\n");
    home.set("k", "1");
    home.get("k").expect_hit("1");
    assert!(!home.path("recoup/logs").exists());
    assert_eq!(stats(&home, &[])["hits"], 1);
    configure(&home, "ledger.enabled = false\n");
    let before = stats(&home, &[]);
    home.get("k").expect_hit("1");
    assert_eq!(stats(&home, &[])["counts"], before["counts"]);
    assert!(!home.path("recoup/logs").exists());
}

#[test]
fn the_hit_log_has_a_line_for_each_hit_and_no_body() {
    let home = Home::new();
    let named = ["--paths", "a.rs", "--query", "q", "--operation", "audit"];
    home.cache(&[&["set", "--condensed", "{\"verdict\":\"SECRETBODY\"}"], &named[..]].concat())
        .expect(0);
    for _ in 0..3 {
        home.cache(&[&["get"], &named[..]].concat()).expect(0);
    }
    home.get("missing").expect_miss();
    let log = fs::read_to_string(home.path("recoup/logs/hits.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 3, "{log}");
    assert!(!log.contains("SECRETBODY"));
    let line: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&line["current"]["name"], &line["stored"]["name"]),
        (&"audit".into(), &"audit".into())
    );
}
