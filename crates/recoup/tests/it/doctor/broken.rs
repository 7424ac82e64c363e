//! Whatever is broken: it is told, in time, and stays as it is.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{Report, chmod, contents, doctor, report};
use crate::support::{Home, Output, RECOUP, finish, tree};

const NOBODY: u32 = 65534;

/// A home with something in memory and cache.
fn used() -> Home {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    home.set("k", "1");
    home
}

fn pipe(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// As a user whom modes bind.
fn as_user(home: &Home, args: &[&str]) -> Output {
    let copy = [RECOUP.into(), home.path("program").into_os_string()];
    finish(&mut home.prepared::<std::ffi::OsString>("cp", &copy)).expect(0);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        for path in tree(&home.path("")) {
            std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        chown(home.path(""), Some(NOBODY), Some(NOBODY)).unwrap();
    }
    chmod(&home.path(""), 0o755);
    chmod(&home.path("program"), 0o755);
    let mut command = home.prepared(home.path("program"), args);
    if is_root {
        command.uid(NOBODY).gid(NOBODY);
    }
    finish(&mut command)
}

#[test]
fn a_configuration_that_can_not_be_read() {
    let home = used();
    fs::write(home.recoup().join("config.toml"), "stroe = \"x\"\n[cache\n").unwrap();
    let report = report(&home, 1);
    report.has("configuration", "wrong", "fail");
    assert_eq!(report.of("cache"), [("ok", "ok")], "the rest is looked at all the same");
    report.has("judge", "unknown", "skipped");
}

#[test]
fn every_problem_of_the_configuration_is_named() {
    let home = Home::new();
    fs::create_dir_all(home.recoup()).unwrap();
    fs::write(home.recoup().join("config.toml"), "stroe = \"x\"\n[cache]\nttl = \"soon\"\n")
        .unwrap();
    let report = report(&home, 1);
    assert_eq!(report.of("configuration"), [("wrong", "fail"), ("wrong", "fail")]);
    assert!(report.0.to_string().contains("did you mean store?"), "{}", report.0);
    let remedies = report.0.to_string().matches("most commands fail until").count();
    assert_eq!(remedies, 1, "{}", report.0);
}

#[test]
fn a_faulty_file_of_the_repository_is_ignored_and_stops_no_command() {
    let home = Home::new();
    home.write("recoup.toml", "stroe = \"x\"\n");
    let report = report(&home, 1);
    let found = report.has("configuration", "wrong", "fail");
    let remedy = found["remedy"].as_str().unwrap();
    assert!(remedy.starts_with("this file is ignored until it is corrected"), "{remedy}");
}

#[test]
fn files_of_the_repository_that_wait_for_trust() {
    let home = Home::new();
    home.write("recoup.toml", "store = \"sqlite:here.db\"\n");
    home.write("recoup-rules.md", "# Rules\n");
    let report = report(&home, 0);
    assert_eq!(report.has("configuration", "untrusted", "warn")["facts"]["files"], 1);
    report.has("configuration", "team-rules", "warn");
}

#[test]
fn a_damaged_memory_is_told_and_not_touched() {
    let home = used();
    let path = home.recoup().join("memory.db");
    rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    for byte in &mut bytes[4096..20_000] {
        *byte = 0x5a;
    }
    fs::write(&path, &bytes).unwrap();
    let before = contents(&home.recoup());
    let report = report(&home, 1);
    let found = report.has("memory", "damaged", "fail");
    assert!(found["remedy"].as_str().unwrap().contains("recoup doctor --fix"), "{found}");
    assert!(before == contents(&home.recoup()), "looking is not mending");
    doctor(&home, &["--fix", "--json"]);
    assert_eq!(home.set_aside().len(), 1);
    assert_eq!(super::report(&home, 0).of("memory")[0], ("ok", "ok"));
}

#[test]
fn what_is_no_database_at_all() {
    let home = used();
    for name in ["memory.db", "cache.db"] {
        let path = home.recoup().join(name);
        for sidecar in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{sidecar}", path.display()));
        }
        fs::write(path, "wombats".repeat(1000)).unwrap();
    }
    let report = report(&home, 1);
    report.has("memory", "damaged", "fail");
    report.has("cache", "damaged", "fail");
    assert!(home.set_aside().is_empty());
}

#[test]
fn what_was_set_aside_is_remembered() {
    let home = used();
    fs::write(home.db(), "wombats".repeat(1000)).unwrap();
    home.set("k", "1");
    assert_eq!(home.set_aside().len(), 1);
    let report = report(&home, 0);
    assert_eq!(report.has("cache", "set-aside", "warn")["facts"]["set_aside"], 1);
}

#[test]
fn a_database_of_a_newer_version() {
    let home = used();
    home.sql().pragma_update(None, "user_version", 99).unwrap();
    report(&home, 1).has("cache", "too-new", "fail");
}

#[test]
fn pipes_in_place_of_files_are_not_waited_for() {
    let home = used();
    for name in [
        "memory.db", "cache.db", "config.toml", "logs/hooks.log", "trust.json", "judge.json",
        "queue/abc/lock", "queue/abc/1-a.0.json", "ledger/x/open.log",
    ] {
        let path = home.recoup().join(name);
        for sidecar in ["-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{sidecar}", path.display()));
        }
        pipe(&path);
    }
    for name in [
        ".claude/settings.json", ".claude.json", ".codex/config.toml",
        ".pi/agent/extensions/recoup.ts", ".pi/agent/mcp.json",
    ] {
        pipe(&home.path(name));
    }
    pipe(&home.project().join("recoup.toml"));
    let began = Instant::now();
    let report = report(&home, 1);
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    report.has("memory", "unusable", "fail");
    report.has("cache", "unusable", "fail");
    assert!(!report.0.to_string().contains("too-late"), "{:#}", report.0);
}

#[test]
fn a_home_that_is_a_file() {
    let home = Home::new();
    fs::write(home.recoup(), "").unwrap();
    let report = report(&home, 1);
    report.has("permissions", "no-directory", "fail");
}

#[test]
fn no_home_at_all() {
    let home = Home::new();
    let mut command = home.command(&["doctor", "--json"]);
    command.env_remove("HOME").env_remove("RECOUP_HOME");
    let report = Report(finish(&mut command).expect(1).json());
    report.has("home", "no-home", "fail");
    let mut command = home.command(&["doctor"]);
    command.env_remove("HOME").env_remove("RECOUP_HOME");
    let text = finish(&mut command).expect(1).text();
    assert!(text.contains("set HOME"), "{text}");
    // Without HOME, but with a place of our own, there is much to look at.
    let mut command = home.command(&["doctor", "--json"]);
    command.env_remove("HOME");
    finish(&mut command).expect(0);
}

#[test]
fn a_working_directory_that_is_gone() {
    let home = Home::new();
    let line = format!("mkdir gone && cd gone && rmdir ../gone && {RECOUP} doctor --json");
    let said = finish(&mut home.prepared("sh", &["-c", &line])).expect(1).json();
    Report(said).has("home", "no-home", "fail");
}

#[test]
fn a_home_that_can_be_read_and_not_written() {
    let home = used();
    let prepare = |mode| {
        for path in tree(&home.recoup()) {
            chmod(&path, if path.is_dir() { 0o500 } else { 0o400 });
        }
        chmod(&home.recoup(), mode);
    };
    prepare(0o500);
    let report = Report(as_user(&home, &["doctor", "--json"]).expect(1).json());
    report.has("memory", "read-only", "fail");
    report.has("cache", "read-only", "fail");
    report.has("permissions", "closed", "fail");
    chmod(&home.recoup(), 0o000);
    let report = Report(as_user(&home, &["doctor", "--json"]).expect(1).json());
    assert_eq!(report.has("permissions", "closed", "fail")["fixable"], true);
    chmod(&home.recoup(), 0o700);
}

#[test]
fn things_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = used();
    chown(home.db(), Some(12345), None).unwrap();
    let report = report(&home, 1);
    let found = report.has("permissions", "foreign", "fail");
    assert_eq!((&found["facts"]["foreign"], &found["fixable"]), (&1.into(), &false.into()));
}

#[test]
fn no_room_for_a_probe() {
    let home = used();
    super::with_hooks(&home);
    let mut command = home.command(&["doctor", "--json"]);
    command.env("TMPDIR", home.path("nowhere"));
    let report = Report(finish(&mut command).expect(1).json());
    report.has("hooks", "no-room", "fail");
}

#[test]
fn a_disk_that_takes_nothing_more() {
    // Files may have no byte: as on a full disk, whatever is written fails.
    let home = used();
    super::with_hooks(&home);
    let line = format!("ulimit -f 0; exec {RECOUP} doctor --json | cat");
    let said = finish(&mut home.prepared("sh", &["-c", &line]));
    let report = Report(said.json());
    report.has("memory", "no-room", "fail");
    report.has("hooks", "no-room", "fail");
    assert!(said.stderr.is_empty(), "{}", said.stderr);
}

#[test]
fn a_log_with_faults_of_the_last_day() {
    let home = used();
    home.run_with_stdin(&["hook"], b"no json").expect(0);
    home.run_with_stdin(&["hook"], b"").expect(0);
    let old = "2020-01-01T00:00:00.000Z - a hook panicked: somewhere\n";
    let path = home.recoup().join("logs/hooks.log");
    fs::write(&path, format!("{old}{}", fs::read_to_string(&path).unwrap())).unwrap();
    let report = report(&home, 0);
    let found = report.has("log", "faults", "warn");
    assert_eq!(found["facts"]["payload-not-understood"], 2, "{found}");
    assert!(found["facts"]["panicked"].is_null(), "{found}");
}

/// What a line is about is said at its beginning: the words of an error may be any.
#[test]
fn each_fault_counts_as_what_it_is_in_all_files_of_the_log() {
    let home = used();
    let now = recoup_core::base::clock::Clock::now(&recoup_core::base::clock::SystemClock);
    let logs = home.recoup().join("logs");
    fs::create_dir_all(&logs).unwrap();
    let lines = [
        ("hooks.2.log", "- memory: the database can't be read"),
        ("hooks.2.log", "- the worker: a job failed: the receipt can't be read"),
        ("hooks.1.log", "claude-code Stop: nothing was written down: it took too long"),
        ("hooks.1.log", "- the worker: job 1-a can't be read"),
        ("hooks.log", "- the worker: job 1-a was given up after 3 tries"),
        ("hooks.log", "- a hook: it took too long, and was given up"),
    ];
    for (name, line) in lines {
        let path = logs.join(name);
        let text = fs::read_to_string(&path).unwrap_or_default();
        fs::write(path, format!("{text}{now} {line}\n")).unwrap();
    }
    let report = report(&home, 0);
    let facts = &report.has("log", "faults", "warn")["facts"];
    for kind in
        ["memory", "job-failed", "not-written", "job-unreadable", "job-given-up", "took-too-long"]
    {
        assert_eq!(facts[kind], 1, "{kind} in {facts}");
    }
}

#[test]
fn a_ledger_with_lines_that_are_none() {
    let home = used();
    let dir = fs::read_dir(home.recoup().join("ledger")).unwrap().next().unwrap().unwrap().path();
    let log = dir.join("open.log");
    let text = fs::read_to_string(&log).unwrap_or_default();
    fs::write(&log, format!("{text}wombat\nhalf a line")).unwrap();
    let report = report(&home, 0);
    assert_eq!(report.has("ledger", "unreadable", "warn")["facts"]["unreadable"], 2);
}

#[test]
fn a_model_without_a_key_and_one_that_is_paused() {
    let home = Home::new();
    fs::create_dir_all(home.recoup()).unwrap();
    chmod(&home.recoup(), 0o700);
    fs::write(home.recoup().join("config.toml"), "[judge]\nenabled = true\n").unwrap();
    report(&home, 0).has("judge", "no-key", "warn");
    let mut command = home.command(&["doctor", "--json"]);
    command.env("ANTHROPIC_API_KEY", "sk-ant-wombat");
    let said = finish(&mut command).expect(0);
    assert!(!said.text().contains("wombat"));
    Report(said.json()).has("judge", "ok", "ok");
}

#[test]
fn memory_that_is_paused() {
    let home = used();
    home.run(&["pause"]).expect(0);
    report(&home, 0).has("memory", "paused", "warn");
}

/// Ten days ago, in milliseconds before now, as SQLite says it.
const LONG_AGO: &str = "(unixepoch() - 864000) * 1000";

#[test]
fn a_memory_without_a_snapshot_is_told_once_it_is_old_enough_for_one() {
    let home = used();
    fs::remove_dir_all(home.recoup().join("snapshots")).unwrap();
    assert_eq!(report(&home, 0).of("memory").len(), 2, "nothing is said on the first day");
    let memory = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    memory.execute(&format!("UPDATE notes SET created = {LONG_AGO}"), []).unwrap();
    report(&home, 0).has("memory", "no-snapshot", "warn");
    let dir = home.recoup().join("snapshots");
    fs::create_dir(&dir).unwrap();
    chmod(&dir, 0o700);
    let today: String = memory.query_row("SELECT date()", [], |row| row.get(0)).unwrap();
    let copy = dir.join(format!("memory-{today}.db"));
    memory.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    chmod(&copy, 0o600);
    let report = report(&home, 0);
    assert!(report.of("memory").iter().all(|it| it.1 == "ok"), "{:?}", report.of("memory"));
    assert_eq!(report.all("memory").last().unwrap()["facts"]["snapshots"], 1);
}
