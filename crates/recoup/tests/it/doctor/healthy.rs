//! Nothing is wrong: it says so, and changes nothing.

use serde_json::json;

use super::{EVENTS, RECOUP, claude, contents, doctor, hook, report, settings, with_hooks, write};
use crate::support::Home;

/// The program on the PATH, so that nothing is to be said about that.
fn on_path(home: &Home) -> std::process::Command {
    let mut command = home.command(&["doctor"]);
    let dir = std::path::Path::new(RECOUP).parent().unwrap();
    command.env("PATH", format!("{}:/usr/bin:/bin", dir.display()));
    command
}

#[test]
fn a_new_user_has_nothing_to_mend_and_nothing_is_made() {
    let home = Home::new();
    let said = crate::support::finish(&mut on_path(&home)).expect(0);
    let text = said.text();
    assert!(text.ends_with("\nAll is well\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a pipe: {text}");
    assert_eq!(said.stderr, "");
    assert!(!home.recoup().exists(), "looking is not making");
}

#[test]
fn each_line_has_its_place() {
    let home = Home::new();
    let text = doctor(&home, &[]).expect(0).text();
    let names: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(['✓', '!', '·', '✗']))
        .map(|line| line.split_whitespace().nth(1).unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "program", "configuration", "permissions", "disk", "memory", "cache", "ledger",
            "installed", "hooks", "mcp", "synced", "worker", "log", "judge"
        ],
        "{text}"
    );
    let column = |line: &str| line.chars().take(18).collect::<String>();
    for line in text.lines().take_while(|line| !line.is_empty()) {
        assert!(column(line).ends_with(' '), "{line}");
    }
}

#[test]
fn hooks_are_fired_and_the_server_is_greeted() {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    with_hooks(&home);
    let server = json!({"mcpServers": {"recoup": {
        "type": "stdio", "command": RECOUP, "args": ["mcp", "--with-hooks"]}}});
    write(&home, ".claude.json", server.to_string());
    let report = report(&home, 0);
    let fired = report.has("hooks", "ok", "ok");
    assert_eq!(fired["facts"]["fired"], 12, "each event that was recorded");
    assert_eq!(fired["facts"]["client"], "claude-code");
    assert!(fired["what"].as_str().unwrap().ends_with("rules are delivered"), "{fired}");
    let greeted = report.has("mcp", "ok", "ok");
    assert_eq!(greeted["facts"]["tools"], 8);
    assert_eq!(greeted["facts"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report.0["ok"], true);
    assert_eq!(report.all("memory")[0]["facts"]["active"], 1);
    assert_eq!(report.all("memory")[1]["facts"]["rules"], 1);
}

#[test]
fn it_leaves_no_trace() {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    home.set("k", "1");
    home.get("k").expect(0);
    with_hooks(&home);
    let server = json!({"mcpServers": {"recoup": {"command": RECOUP, "args": ["mcp"]}}});
    write(&home, ".claude.json", server.to_string());
    let before = contents(&home.path(""));
    doctor(&home, &[]).expect(0);
    doctor(&home, &["--json"]).expect(0);
    let after = contents(&home.path(""));
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert!(before == after, "a file has changed");
    let events: i64 = rusqlite::Connection::open(home.recoup().join("memory.db"))
        .unwrap()
        .query_row("SELECT count(*) FROM events", [], |row| row.get(0))
        .unwrap();
    assert_eq!(events, 0, "nothing was fired into the user's own memory");
}

#[test]
fn what_a_sound_home_has_is_told() {
    let home = Home::new();
    home.set("k", "1");
    home.set("l", "2");
    let report = report(&home, 0);
    assert_eq!(report.of("cache"), [("ok", "ok")]);
    assert_eq!(report.all("cache")[0]["facts"]["entries"], 2);
    assert_eq!(report.all("cache")[0]["facts"]["store"], "sqlite");
    assert_eq!(report.of("permissions"), [("ok", "ok")]);
    assert!(report.all("ledger")[0]["facts"]["waiting"].as_u64().unwrap() >= 2);
}

#[test]
fn clients_without_our_hooks_are_told_how_to_get_them() {
    let home = Home::new();
    claude(&home, &json!({}));
    let report = report(&home, 0);
    let bare = report.has("hooks", "not-installed", "skipped");
    assert!(bare["remedy"].as_str().unwrap().contains("recoup init --client claude-code"));
}

#[test]
fn other_tools_hooks_are_not_run() {
    let home = Home::new();
    let marker = home.path("ran");
    let line = format!("touch {}", marker.display());
    let other = json!({"type": "command", "command": line});
    let mut all = settings(&EVENTS, &hook(RECOUP, &["hook"], 10));
    all["hooks"]["Stop"].as_array_mut().unwrap().push(json!({"hooks": [other]}));
    claude(&home, &all);
    report(&home, 0).has("hooks", "ok", "ok");
    assert!(!marker.exists());
}

#[test]
fn wrong_usage_is_refused() {
    let home = Home::new();
    doctor(&home, &["--everything"]).expect_usage("unexpected argument");
    doctor(&home, &["--bundle"]).expect_usage("a value is required");
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    let home = Home::new();
    let line = format!("{RECOUP} doctor | head -n 1");
    let said = crate::support::finish(&mut home.prepared("sh", &["-c", &line])).expect(0);
    assert_eq!(said.stderr, "");
}

#[test]
fn notes_of_more_than_a_day_without_any_snapshot_are_told() {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    std::fs::remove_dir_all(home.recoup().join("snapshots")).unwrap();
    let states = |home: &Home| {
        let found = report(home, 0);
        found.of("memory").iter().any(|(code, _)| *code == "no-snapshot")
    };
    assert!(!states(&home), "a new note has a day");
    let memory = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    memory
        .execute_batch(
            "UPDATE notes SET created = created - 90000000, updated = updated - 90000000",
        )
        .unwrap();
    report(&home, 0).has("memory", "no-snapshot", "warn");
}
