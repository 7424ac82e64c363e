//! No space is left: a write fails with words or succeeds, and whatever was
//! acknowledged before is there afterwards. A limit on the size of files
//! stands in for the full disk.

use std::fs;

use serde_json::json;

use crate::support::{Home, Output, RECOUP, finish};

/// A disk of 2 MB that is full to the last byte: filled with entries until one is refused, and
/// then with a file. Nothing in it is ours that could go, but entries. In a name space of its own,
/// so that it vanishes with the script.
const FULL_DISK: &str = r#"
mount -t tmpfs -o size=2m,mode=700 tmpfs "$RECOUP_HOME" || exit 77
n=0
while "$0" cache set $STORE --key "k$n" --condensed "@$BODY" 2> "$HOME/refused"; do n=$((n + 1)); done
[ $n -gt 5 ] || { cat "$HOME/refused"; exit 3; }
cat /dev/zero > "$RECOUP_HOME/other" 2> /dev/null
free() { df --output=avail -k "$RECOUP_HOME" | tail -n 1; }
[ $(free) -eq 0 ] || { free; exit 4; }
"#;

/// Runs a script on a full disk, with a store of that kind. None where this user may not mount one.
fn on_full_disk(store: &str, script: &str) -> Option<Output> {
    let home = Home::new();
    fs::create_dir(home.recoup()).unwrap();
    // What can't be packed.
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + u8::try_from((state >> 16) % 26).unwrap())
    };
    let noise: String = (0..120_000).map(|_| letter()).collect();
    let body = home.write("body.json", format!("\"{noise}\""));
    let script = format!("{FULL_DISK}{script}");
    let mut command =
        home.prepared("unshare", &["--mount", "--map-root-user", "sh", "-c", &script, RECOUP]);
    let files = home.recoup().join("files");
    let store = match store {
        "" => String::new(),
        kind => format!("--store={kind}:{}", files.display()),
    };
    let output = finish(command.env("BODY", body).env("STORE", store));
    let may_not = output.code == Some(77) || output.stderr.contains("unshare failed");
    (!may_not).then_some(output)
}

#[test]
fn what_removes_works_on_a_full_disk_and_frees_room() {
    for store in ["", "file", "dir"] {
        for (removes, freed) in [
            ("cache delete $STORE --key k1", 60),
            ("cache cleanup $STORE --max-size-mb 0.3", 300),
            ("cache clear $STORE --yes", 700),
        ] {
            let script = format!(
                "\"$0\" {removes} || exit 5
                 [ $(free) -ge {freed} ] || {{ free; ls -l \"$RECOUP_HOME\"; exit 6; }}
                 \"$0\" cache set $STORE --key new --condensed 1 || exit 7
                 \"$0\" cache get $STORE --key new"
            );
            let Some(output) = on_full_disk(store, &script) else { return };
            let output = output.expect(0);
            assert!(output.text().ends_with("1\n"), "{removes}: {}", output.text());
            assert!(!output.stderr.contains("damaged"), "{removes}: {}", output.stderr);
        }
    }
}

/// Entries of others, and those that nobody asked to remove, are as they were.
#[test]
fn what_is_not_removed_on_a_full_disk_stays() {
    let script = "\"$0\" cache delete --key k1 || exit 5
                  \"$0\" cache get --key k1 && exit 6
                  i=2; while [ $i -lt $n ]; do
                      \"$0\" cache get --key k$i | cmp - \"$BODY\" >&2; i=$((i + 1))
                  done
                  \"$0\" cache get --key k0 > /dev/null && \"$0\" cache verify";
    let Some(output) = on_full_disk("", script) else { return };
    let output = output.expect(0);
    assert!(output.stderr.contains("no damage found"), "{}", output.stderr);
    assert!(!output.stderr.contains("differ"), "{}", output.stderr);
}

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
            assert!(output.stderr.contains("\nhint: free disk space"), "{}", output.stderr);
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
            assert_eq!(
                output.expect_miss().stderr,
                "miss: no entry for this key\n",
                "{blocks} blocks"
            );
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
