//! No space is left: a write fails with words or succeeds, and whatever was
//! acknowledged before is there afterwards. A limit on the size of files
//! stands in for the full disk.

use std::fs;

use serde_json::json;

use crate::support::{Home, Output, RECOUP, finish};

/// `recoup cache set` that may not make a file larger than this many blocks of
/// 512 bytes.
fn set_within(home: &Home, blocks: u32, key: &str, body: &str) -> Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let set = ["-c", &script, "sh", RECOUP, "cache", "set", "--key", key, "--condensed", body];
    finish(&mut home.prepared("sh", &set))
}

/// Stored, or refused in words that a person understands.
fn was_stored(output: &Output) -> bool {
    assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
    match output.code {
        Some(0) => true,
        Some(1) => {
            assert!(output.stderr.starts_with("error: "), "{}", output.stderr);
            assert!(output.stderr.contains("\nhint: make room for it"), "{}", output.stderr);
            false
        }
        other => panic!("{other:?}: {}", output.stderr),
    }
}

#[test]
fn a_write_without_room_loses_nothing() {
    let home = Home::new();
    let body = format!("\"{}\"", "x".repeat(200));
    let mut acknowledged = Vec::new();
    let mut refused = 0;
    for round in 0..3 {
        for blocks in [0, 1, 8, 60, 100, 200, 300, 400, 600] {
            let key = format!("{round}-{blocks}");
            if was_stored(&set_within(&home, blocks, &key, &body)) {
                acknowledged.push(key);
            } else {
                refused += 1;
            }
            let free = format!("{round}-{blocks}-free");
            home.set(&free, &body);
            acknowledged.push(free);
        }
    }
    assert!(refused > 0, "no limit was met");
    for key in acknowledged {
        home.get(&key).expect_hit(&body);
    }
    assert_eq!(home.set_aside().len(), 0);
}

#[test]
fn a_large_body_without_room_leaves_no_trace() {
    let home = Home::new();
    home.set("k", "1");
    home.write("large.json", format!("\"{}\"", "x".repeat(2 << 20)));
    for blocks in [100, 1000, 3000, 4000] {
        assert!(!was_stored(&set_within(&home, blocks, "k", "@large.json")), "{blocks}");
        home.get("k").expect_hit("1");
    }
    let chunks: i64 =
        home.sql().query_row("SELECT count(*) FROM chunks", [], |r| r.get(0)).unwrap();
    assert_eq!(chunks, 0);
    home.set("k", "@large.json");
    home.get("k").expect_hit(fs::read(home.project().join("large.json")).unwrap());
}

#[test]
fn a_database_that_could_not_be_begun_is_begun_later() {
    for blocks in [0, 1, 4, 7, 8, 16, 24, 32, 48, 63, 64, 65, 80, 96] {
        let home = Home::new();
        let stored = was_stored(&set_within(&home, blocks, "k", "1"));
        let output = home.get("k");
        if stored {
            output.expect_hit("1");
        } else {
            assert_eq!(output.expect_miss().stderr, "miss: there is no entry\n", "{blocks} blocks");
        }
        home.set("k", "2");
        home.get("k").expect_hit("2");
        assert_eq!(home.set_aside().len(), 0, "{blocks} blocks");
    }
}

#[test]
fn a_full_stdout_is_not_mistaken_for_a_full_store() {
    let home = Home::new();
    home.set("k", "1");
    let script = "exec \"$0\" cache get --key k > /dev/full";
    let output = finish(&mut home.prepared("sh", &["-c", script, RECOUP])).expect(1);
    assert!(output.stderr.starts_with("error: writing to stdout: "), "{}", output.stderr);
    assert!(!output.stderr.contains("--store"), "{}", output.stderr);
}

/// SQLite sorts in a file what is more than a megabyte.
#[test]
fn a_long_list_of_memories_needs_no_room() {
    let home = Home::new();
    let line = |at: u32| {
        let text = format!("use tool {at} {}", "x".repeat(900));
        let (id, time) = (format!("{at:08}"), 1_794_848_589_214 + u64::from(at / 2));
        let note = json!({
            "id": id, "kind": "preference", "text": text, "source": "manual", "scope": "universal",
            "status": "active", "evidence": 1, "tokens": 12, "created": time, "updated": time,
        });
        format!("{note}\n")
    };
    let head = json!({ "recoup": "memory", "version": 1 });
    home.write("notes.jsonl", format!("{head}\n{}", (0..2400).map(line).collect::<String>()));
    home.run(&["memory", "import", "notes.jsonl"]).expect(0);
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$0\" memory list";
    let output = finish(&mut home.prepared("sh", &["-c", script, RECOUP])).expect(0);
    let text = output.text();
    let ids: Vec<&str> = text.lines().skip(1).filter_map(|it| it.split(' ').next()).collect();
    // The latest first, and of those at one time the last one written.
    let expected: Vec<String> = (0..2400).rev().map(|at| format!("{at:08}")).collect();
    assert_eq!(ids, expected);
}
