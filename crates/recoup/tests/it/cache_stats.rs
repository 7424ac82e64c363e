//! `recoup cache stats`: the shape that scripts know, and the right numbers.

use std::sync::Barrier;
use std::thread;

use serde_json::Value;

use crate::support::Home;

fn stats(home: &Home) -> Value {
    home.cache(&["stats", "--json"]).expect(0).json()
}

#[test]
fn an_empty_cache_has_every_field_in_its_order() {
    let home = Home::new();
    let output = home.cache(&["stats", "--json", "--scope", "global"]).expect(0);
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(output.text(), @r#"
    {
      "enabled": true,
      "entries": 0,
      "hits": 0,
      "misses": 0,
      "invalidations": 0,
      "hit_rate_pct": "0.00",
      "size_mb": "0.00",
      "max_size_mb": "100",
      "scope": "global",
      "counts": {}
    }
    "#);
    assert!(!home.recoup().exists(), "looking begins nothing");
}

#[test]
fn each_look_up_is_counted_by_how_it_went() {
    let home = Home::new();
    home.write("a", "one");
    home.cache(&["set", "--key", "src", "--condensed", "1", "--sources", "a"]).expect(0);
    home.set("good", "1");
    home.set("bad", "[1,2,3]");
    // Last: the next write would remove it.
    home.cache(&["set", "--key", "old", "--condensed", "1", "--ttl", "1ms"]).expect(0);
    home.get("good").expect_hit("1");
    home.get("good").expect_hit("1");
    home.get("none").expect_miss();
    home.write("a", "changed");
    home.get("src").expect_miss();
    thread::sleep(std::time::Duration::from_millis(5));
    home.get("old").expect_miss();
    home.sql().execute("UPDATE entries SET body = x'00' WHERE key = 'bad'", []).unwrap();
    home.get("bad").expect_miss();
    let stats = stats(&home);
    assert_eq!((&stats["hits"], &stats["misses"]), (&2.into(), &4.into()));
    assert_eq!(stats["invalidations"], 1);
    assert_eq!(stats["hit_rate_pct"], "33.33");
    let counts: Value = serde_json::json!(
        {"hit": 2, "absent": 1, "expired": 1, "invalidated": 1, "corrupt": 1, "stored": 4}
    );
    assert_eq!(stats["counts"], counts);
    assert_eq!(self::stats(&home), stats, "asking counts nothing");
}

#[test]
fn what_was_found_damaged_goes_when_it_is_counted() {
    let home = Home::new();
    home.set("bad", "[1,2,3]");
    home.sql().execute("UPDATE entries SET body = x'00'", []).unwrap();
    home.get("bad").expect_miss();
    assert_eq!(stats(&home)["entries"], 0);
    let miss = home.cache(&["get", "--key", "bad", "--json"]).expect(1).json();
    assert_eq!(miss["status"], "miss");
}

#[test]
fn entries_invalidated_by_hand_count_as_invalidations_and_not_as_misses() {
    let home = Home::new();
    for key in ["a", "b", "c"] {
        home.cache(&["set", "--key", key, "--condensed", "1", "--tag", "t"]).expect(0);
    }
    home.cache(&["invalidate", "--tag", "t"]).expect(0);
    let stats = stats(&home);
    assert_eq!((&stats["invalidations"], &stats["misses"]), (&3.into(), &0.into()));
    assert_eq!(stats["counts"], serde_json::json!({"removed": 3, "stored": 3}));
}

#[test]
fn sizes_have_two_decimals() {
    let home = Home::new();
    let body = format!("\"{}\"", "x".repeat(3 << 20));
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], body.as_bytes())
        .expect(0);
    let stats = stats(&home);
    assert_eq!((&stats["entries"], &stats["size_mb"]), (&1.into(), &"3.00".into()));
}

#[test]
fn each_scope_has_its_own_numbers() {
    let home = Home::new();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    home.cache(&["get", "--key", "k", "--scope", "global"]).expect_miss();
    let global = home.cache(&["stats", "--json", "--scope", "global"]).expect(0).json();
    assert_eq!((&global["hits"], &global["misses"]), (&0.into(), &1.into()));
    assert_eq!((&stats(&home)["hits"], &stats(&home)["misses"]), (&1.into(), &0.into()));
}

#[test]
fn people_are_told_the_same() {
    let home = Home::new();
    home.set("k", "1");
    home.get("k").expect_hit("1");
    home.get("none").expect_miss();
    let text = home.cache(&["stats"]).expect(0).text();
    let has = |name: &str, value: &str| {
        text.lines().any(|line| line.trim_start().starts_with(name) && line.ends_with(value))
    };
    assert!(has("hit rate", "50.00 %") && has("entries", "1") && has("absent", "1"), "{text}");
}

/// Everyone reads and writes at once; whoever writes also folds what all have read.
#[test]
fn every_look_up_of_many_processes_is_counted_once() {
    const PROCESSES: usize = 16;
    const ROUNDS: usize = 12;
    let home = Home::new();
    home.set("shared", "1");
    let start = Barrier::new(PROCESSES);
    thread::scope(|scope| {
        for number in 0..PROCESSES {
            let (home, start) = (&home, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..ROUNDS {
                    home.get("shared").expect_hit("1");
                    home.get(&format!("none-{number}-{round}")).expect_miss();
                    if round % 3 == number % 3 {
                        home.set(&format!("own-{number}-{round}"), "1");
                    }
                    if round % 5 == 0 {
                        home.cache(&["stats", "--json"]).expect(0);
                    }
                }
            });
        }
    });
    let (stats, each) = (stats(&home), PROCESSES * ROUNDS);
    assert_eq!((&stats["hits"], &stats["misses"]), (&each.into(), &each.into()));
    assert_eq!(stats["hit_rate_pct"], "50.00");
    assert_eq!(stats["entries"], 1 + each / 3);
    let shown = home.cache(&["show", "--key", "shared", "--json"]).expect(0).json();
    assert_eq!(shown["hits"], each);
}
