//! What is remembered stays, unless one says otherwise; and then only what is ours goes.

use std::fs;

use rusqlite::Connection;

use super::Machine;

fn used(machine: &Machine) {
    machine.run(&["memory", "add", "use tabs"]).expect(0);
    machine.home.set("k", "1");
    machine.run(&["judge", "status"]).expect(0);
    let snapshots = machine.home.recoup().join("snapshots");
    fs::create_dir_all(&snapshots).unwrap();
    let copy = snapshots.join("memory-2026-11-15.db");
    let memory = Connection::open(machine.home.recoup().join("memory.db")).unwrap();
    memory.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    fs::write(snapshots.join("memory-2026-11-16.db.part"), "").unwrap();
    machine.run(&["exec", "--", "true"]).expect(0);
    // As if many sources had been touched.
    for ledger in fs::read_dir(machine.home.recoup().join("ledger")).unwrap() {
        let ledger = ledger.unwrap().path();
        for name in ["verified.log", "verified.1.log", "verified.lock"] {
            if ledger.is_dir() {
                fs::write(ledger.join(name), "").unwrap();
            }
        }
    }
    // As commands of agents, unfinished runs, replays and the gateway leave them.
    let (digest, own) = ("0a".repeat(32), machine.home.recoup());
    for (name, content) in [
        (format!("running/{digest}/{digest}"), "x"),
        (format!("runs/{digest}.77.jsonl"), "{}"),
        (format!("cassettes/{}.json", &digest[..32]), "{}"),
        ("logs/commands.jsonl".to_owned(), "{}"),
        ("logs/gateway-requests.1.jsonl".to_owned(), "{}"),
        ("gateway-spend.json".to_owned(), r#"{"day":1,"tenants":{}}"#),
        ("gateway-key".to_owned(), "0123456789abcdef0123456789abcdef"),
    ] {
        let path = own.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    machine.run(&["early-exit", "signal", "s", "a"]).expect(0);
    machine.home.write("recoup.toml", "store = \"sqlite:other.db\"\n");
    machine.run(&["trust", "--yes"]).expect(0);
    fs::remove_file(machine.home.project().join("recoup.toml")).unwrap();
}

#[test]
fn what_is_remembered_stays() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--judge", "no"]);
    used(&machine);
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("Memories and cached results stay"), "{}", output.stderr);
    let rules = machine.run(&["memory", "list", "--json"]).expect(0);
    assert!(rules.text().contains("use tabs"));
    assert!(machine.home.recoup().join("config.toml").exists());
}

#[test]
fn purged_nothing_of_ours_is_left_and_everything_else_is() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--judge", "no"]);
    used(&machine);
    // As a server that does not answer leaves them.
    let breakers = machine.home.recoup().join("breakers");
    fs::create_dir_all(&breakers).unwrap();
    for name in ["0123456789abcdef", "0123456789abcdef.lock"] {
        fs::write(breakers.join(name), "").unwrap();
    }
    let output = machine.run(&["uninstall", "--purge"]).expect(2);
    assert!(output.stderr.contains("To be deleted permanently: "), "{}", output.stderr);
    assert!(machine.home.recoup().join("memory.db").exists());
    machine.uninstall(&["--purge"]);
    assert!(!machine.home.recoup().exists(), "{:?}", crate::support::tree(&machine.home.recoup()));
    assert!(!machine.path(".claude").exists());

    used(&machine);
    let kept = machine.home.recoup().join("thesis.tex");
    fs::write(&kept, "mine").unwrap();
    let output = machine.uninstall(&["--purge"]);
    assert!(
        output.stderr.contains("Left, because it may not belong to recoup: "),
        "{}",
        output.stderr
    );
    assert_eq!(fs::read_dir(machine.home.recoup()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(kept).unwrap(), "mine");
}

#[test]
fn a_home_is_never_purged() {
    let machine = Machine::new();
    machine.write("thesis.tex", "mine");
    machine.write("config.toml", "");
    let above = machine.path("above");
    let user = above.join("user");
    fs::create_dir_all(&user).unwrap();
    let refused = "is refused";
    for (own, user, words) in [
        (machine.path("."), machine.path(""), refused),
        (machine.path("").join("."), machine.path(""), refused),
        ("/".into(), machine.path(""), refused),
        (above, user, "nothing in it is deleted"),
    ] {
        let mut command = machine.command(&["uninstall", "--purge", "--yes"]);
        command.env("RECOUP_HOME", &own).env("HOME", user);
        let output = crate::support::finish(&mut command).expect(2);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    assert!(machine.path("config.toml").exists());
}

#[test]
fn where_nothing_is_nothing_is_done() {
    let machine = Machine::new();
    for args in [&[][..], &["--purge"], &["--json"]] {
        machine.uninstall(args);
    }
    assert!(!machine.home.recoup().exists());
}

/// Somebody gave us a directory that had things in it, under names that we use too.
#[test]
fn what_only_has_a_name_like_ours_is_left() {
    let machine = Machine::new();
    let theirs = [
        ("Docs/projects/thesis/main.tex", "mine"),
        ("Docs/projects/notes.txt", "mine"),
        ("Docs/backups/photos/1.jpg", "mine"),
        ("Docs/logs/today.log", "mine"),
        ("Docs/queue/1.json", "{}"),
        ("Docs/early-exit/plan/talk.md", "mine"),
        ("Docs/hooks/pre-commit", "mine"),
        ("Docs/history/1848.txt", "mine"),
        ("Docs/ledger/2024.csv", "mine"),
        ("Docs/trusted/people.txt", "mine"),
        ("Docs/config.toml", "baseURL = \"https://example.org\"\n"),
        ("Docs/trust.json", "{\"people\": []}"),
        ("Docs/near.db", "mine"),
        ("Docs/cache.db.bak", "mine"),
    ];
    for (name, text) in theirs {
        machine.write(name, text);
    }
    // As it is left beside a database that turned out not to be ours.
    machine.write("Docs/near.db.recoup-lock", "");
    fs::create_dir_all(machine.path("Docs/projects-2024")).unwrap();
    let docs = machine.path("Docs");
    let run = |args: &[&str]| {
        crate::support::finish(machine.command(args).env("RECOUP_HOME", &docs)).expect(0)
    };
    // The configuration there is not ours: nothing else would run.
    fs::rename(docs.join("config.toml"), machine.path("aside")).unwrap();
    run(&["memory", "add", "use tabs"]);
    run(&["exec", "--", "true"]);
    run(&["early-exit", "signal", "s", "a"]);
    fs::rename(machine.path("aside"), docs.join("config.toml")).unwrap();
    assert!(docs.join("memory.db").exists());
    let output = run(&["uninstall", "--purge", "--yes"]);
    assert!(output.stderr.contains("Left, because it "), "{}", output.stderr);
    assert!(
        !output.stderr.contains("all memories and cached results are deleted"),
        "{}",
        output.stderr
    );
    for (name, text) in theirs {
        assert_eq!(machine.text(name), text, "{name}");
    }
    let mut left: Vec<_> = crate::support::tree(&docs);
    left.retain(|path| path.is_file());
    assert_eq!(left.len(), theirs.len(), "{left:?}");
    assert!(machine.path("Docs/projects-2024").exists());
}

#[test]
fn what_is_kept_elsewhere_is_named() {
    let machine = Machine::new();
    let config = machine.home.recoup().join("config.toml");
    fs::create_dir_all(config.parent().unwrap()).unwrap();
    fs::write(&config, "store = \"sqlite:~/st/c.db\"\n").unwrap();
    fs::create_dir(machine.path("st")).unwrap();
    machine.home.set("k", "1");
    assert!(machine.path("st/c.db").exists());
    let output = machine.uninstall(&["--purge"]);
    let place = format!(
        "Left, because it is outside recoup's directory: sqlite:{}",
        machine.path("st/c.db").display()
    );
    assert!(output.stderr.contains(&place), "{}", output.stderr);
    assert!(
        !output.stderr.contains("all memories and cached results are deleted"),
        "{}",
        output.stderr
    );
    assert!(machine.path("st/c.db").exists());
    assert!(!machine.home.recoup().exists());
}

#[test]
fn what_hooks_may_still_need_is_not_deleted() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--judge", "no"]);
    used(&machine);
    machine.write(super::SETTINGS, format!("{}}}", machine.text(super::SETTINGS)));
    let output = machine.run(&["uninstall", "--purge", "--yes"]).expect(1);
    assert!(output.stderr.contains("Nothing was changed: "), "{}", output.stderr);
    assert!(machine.home.recoup().join("memory.db").exists());
    assert!(machine.path(".claude.json").exists());
}

/// Makes of a memory what the first version would have left.
const FIRST: &str = "
DROP TABLE givings;
DROP INDEX events_edited;
DROP INDEX events_denied;
DROP INDEX events_call;
CREATE TABLE injections (context, note, at, times, lost);
DROP TABLE note_ends;
DROP TABLE check_keys;
DROP TABLE checks;
PRAGMA user_version = 1;
";

/// An upgrade leaves a copy of everything, a repair the damaged one, and those who were ended
/// in the middle of either what they had so far.
#[test]
fn copies_of_what_was_remembered_go_with_it() {
    let machine = Machine::new();
    machine.run(&["memory", "add", "use tabs"]).expect(0);
    let own = machine.home.recoup();
    let database = own.join("memory.db");
    Connection::open(&database).unwrap().execute_batch(FIRST).unwrap();
    machine.run(&["memory", "list"]).expect(0);
    assert!(own.join("memory.db.backup-1").exists());
    let log = "PRAGMA wal_checkpoint(TRUNCATE)";
    Connection::open(&database).unwrap().query_row(log, [], |_| Ok(())).unwrap();
    let mut bytes = fs::read(&database).unwrap();
    bytes[..100].fill(0);
    fs::write(&database, bytes).unwrap();
    machine.run(&["memory", "add", "use spaces"]).expect(0);
    let is_aside =
        |path: &std::path::PathBuf| path.to_string_lossy().contains("memory.db.damaged-");
    assert!(crate::support::tree(&own).iter().any(is_aside), "it was repaired");
    for kind in [".copy", ".new", ".mended"] {
        for log in ["", "-wal", "-shm", "-journal"] {
            fs::copy(&database, own.join(format!("memory.db{kind}{log}"))).unwrap();
        }
    }
    let output = machine.uninstall(&["--purge"]);
    assert!(!own.exists(), "{:?}: {}", crate::support::tree(&own), output.stderr);
}

/// Names that only look like those of copies.
#[test]
fn what_is_no_copy_of_ours_is_left() {
    let machine = Machine::new();
    machine.run(&["memory", "add", "use tabs"]).expect(0);
    let own = machine.home.recoup();
    let theirs =
        ["memory.db.backup-1", "memory.db.backup-", "memory.db.backup-x", "memory.db.copy2"];
    for name in theirs {
        fs::write(own.join(name), "mine").unwrap();
    }
    machine.uninstall(&["--purge"]);
    assert_eq!(crate::support::tree(&own).len(), theirs.len(), "{:?}", crate::support::tree(&own));
}
