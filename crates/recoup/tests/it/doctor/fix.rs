//! `--fix`: what it mends, what it says, and what it leaves alone.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{EVENTS, RECOUP, chmod, claude, contents, doctor, hook, report, settings, write};
use crate::support::{Home, finish, tree};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

/// A home that others can look into.
fn open_home() -> Home {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    home.set("k", "1");
    for path in tree(&home.recoup()) {
        chmod(&path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    chmod(&home.recoup(), 0o755);
    home
}

#[test]
fn what_is_open_to_others_is_closed() {
    let home = open_home();
    let all = tree(&home.recoup()).len();
    let before = report(&home, 0);
    let found = before.has("permissions", "open", "warn");
    assert_eq!(found["facts"]["open"], all);

    let text = doctor(&home, &["--fix"]).expect(0).text();
    assert!(text.contains("+ permissions     done: make"), "{text}");
    assert!(text.contains("✓ permissions"), "and looked at again: {text}");
    assert_eq!(mode(&home.recoup()), 0o755, "its mode is its maker's");
    for path in tree(&home.recoup()) {
        assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
    }
    assert_eq!(report(&home, 0).of("permissions"), [("ok", "ok")]);
}

#[test]
fn files_of_the_user_in_the_same_directory_keep_their_modes() {
    let home = open_home();
    let site = home.recoup().join("site");
    fs::create_dir(&site).unwrap();
    let (page, program) = (site.join("index.html"), home.recoup().join("run-me"));
    for path in [&page, &program] {
        fs::write(path, "").unwrap();
    }
    for (path, bits) in [(&site, 0o755), (&page, 0o644), (&program, 0o755)] {
        chmod(path, bits);
    }
    doctor(&home, &["--fix"]).expect(0);
    assert_eq!([&site, &page, &program].map(|path| mode(path) & 0o777), [0o755, 0o644, 0o755]);
    assert_eq!(mode(&home.recoup().join("memory.db")) & 0o077, 0);
}

#[test]
fn a_token_that_others_may_read_is_named_and_closed() {
    let home = Home::new();
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    let token = home.recoup().join("mcp-token");
    fs::write(&token, "0123456789abcdef\n").unwrap();
    chmod(&token, 0o644);
    let before = report(&home, 1);
    let found = before.has("permissions", "open-token", "fail");
    let remedy = found["remedy"].as_str().unwrap();
    assert!(remedy.contains("chmod 600") && remedy.contains("mcp-token"), "{found}");
    doctor(&home, &["--fix"]).expect(0);
    assert_eq!(mode(&token), 0o600);
    assert_eq!(report(&home, 0).of("permissions"), [("ok", "ok")]);
}

#[test]
fn it_changes_modes_and_nothing_else() {
    let home = open_home();
    let bytes = |home: &Home| {
        let all = contents(&home.path("")).into_iter();
        all.map(|(path, (_, bytes))| (path, bytes)).collect::<Vec<_>>()
    };
    let before = bytes(&home);
    doctor(&home, &["--fix"]).expect(0);
    assert!(before == bytes(&home));
    let again = doctor(&home, &["--fix", "--json"]).expect(0).json();
    assert_eq!(again["repairs"], serde_json::json!([]), "there is nothing left to do");
}

#[test]
fn what_a_link_leads_to_stays_as_it_is() {
    let home = open_home();
    let target = home.path("mine");
    fs::write(&target, "").unwrap();
    chmod(&target, 0o644);
    std::os::unix::fs::symlink(&target, home.recoup().join("link")).unwrap();
    doctor(&home, &["--fix"]).expect(0);
    assert_eq!(mode(&target), 0o644);
}

#[test]
fn a_damaged_database_is_set_aside_and_begun_anew() {
    let home = open_home();
    let damaged = b"wombats".repeat(999);
    fs::write(home.recoup().join("memory.db"), &damaged).unwrap();
    let said = doctor(&home, &["--fix", "--json"]).json();
    let [place] = &home.set_aside()[..] else { panic!("{said:#}") };
    assert_eq!(fs::read(place.join("memory.db")).unwrap(), damaged);
    assert_eq!(report(&home, 0).of("memory")[0], ("ok", "ok"));
}

/// This program where it would stay: hooks are not led to a build's directory.
fn installed(home: &Home) -> PathBuf {
    fs::create_dir(home.path("bin")).unwrap();
    let path = home.path("bin/recoup");
    let copy = [RECOUP.into(), path.clone().into_os_string()];
    finish(&mut home.prepared::<OsString>("cp", &copy)).expect(0);
    path
}

fn run(home: &Home, program: &Path, args: &[&str]) -> Value {
    let mut command = home.prepared(program, &[&["doctor", "--json"], args].concat());
    finish(command.env("PATH", "/usr/bin:/bin")).json()
}

#[test]
fn hooks_that_name_a_program_that_is_gone_are_led_to_this_one() {
    let home = Home::new();
    let program = installed(&home);
    let gone = home.path("old/recoup");
    let other = json!({"type": "command", "command": "make lint"});
    let mut all = settings(&EVENTS, &hook(&gone, &["hook"], 10));
    all["hooks"]["Stop"].as_array_mut().unwrap().push(json!({"hooks": [other]}));
    all["model"] = json!("opus");
    claude(&home, &all);
    let server = json!({"mcpServers": {"recoup": {"command": gone, "args": ["mcp"]}}});
    write(&home, ".claude.json", server.to_string());
    let before = contents(&home.path(".claude"));

    assert_eq!(run(&home, &program, &[])["ok"], false);
    assert!(before == contents(&home.path(".claude")), "not without --fix");

    let said = run(&home, &program, &["--fix"]);
    assert_eq!(said["ok"], true, "{said:#}");
    assert_eq!(said["repairs"][0]["check"], "hooks");
    let text = fs::read_to_string(home.path(".claude/settings.json")).unwrap();
    assert!(!text.contains("old/recoup") && text.contains("bin/recoup"), "{text}");
    assert!(text.contains("make lint") && text.contains("opus"), "{text}");
    let servers = fs::read_to_string(home.path(".claude.json")).unwrap();
    assert!(servers.contains("bin/recoup") && servers.contains("--with-hooks"), "{servers}");
    let copies = contents(&home.recoup().join("backups"));
    let kept = copies.values().any(|(_, bytes)| *bytes == all.to_string().as_bytes());
    assert!(kept, "there is a copy of what was there");

    let again = run(&home, &program, &["--fix"]);
    assert_eq!(again["repairs"], json!([]), "{again:#}");
}

#[test]
fn settings_that_can_not_be_read_are_not_mended() {
    let home = Home::new();
    let program = installed(&home);
    write(&home, ".claude/settings.json", "{\"hooks\": oops");
    let said = run(&home, &program, &["--fix"]);
    assert_eq!((&said["ok"], &said["repairs"]), (&json!(false), &json!([])));
    assert_eq!(fs::read(home.path(".claude/settings.json")).unwrap(), b"{\"hooks\": oops");
}

/// A team's files are shown before they are written: that is what `init` does.
#[test]
fn files_of_a_project_are_left_to_init() {
    let home = Home::new();
    let program = installed(&home);
    let gone = "/opt/gone/recoup";
    let server = json!({"servers": {"recoup": {"command": gone, "args": ["mcp"]}}});
    home.write(".vscode/mcp.json", server.to_string());
    let server = json!({"mcpServers": {"recoup": {"command": gone, "args": ["mcp"]}}});
    home.write(".cursor/mcp.json", server.to_string());
    let line = json!({"type": "command", "command": format!("{gone} hook"), "timeout": 5});
    home.write(".codex/hooks.json", settings(&["Stop"], &line).to_string());
    home.write(
        ".codex/config.toml",
        format!("[mcp_servers.recoup]\ncommand = {gone:?}\nargs = [\"mcp\"]\n"),
    );
    let hooks = settings(&["Stop"], &hook(gone, &["hook"], 5));
    home.write(".claude/settings.local.json", hooks.to_string());
    claude(&home, &settings(&EVENTS, &hook(gone, &["hook"], 10)));
    let before = contents(&home.project());

    let said = run(&home, &program, &["--fix"]);
    assert!(before == contents(&home.project()), "the team's files were written");
    let text = fs::read_to_string(home.path(".claude/settings.json")).unwrap();
    assert!(!text.contains(gone), "the user's own were mended: {text}");
    let servers = fs::read_to_string(home.path(".claude.json")).unwrap();
    assert!(!servers.contains("projects"), "{servers}");
    let repairs = said["repairs"].as_array().unwrap();
    assert_eq!(repairs.len(), 1, "{said:#}");
    for client in ["vscode", "cursor", "codex", "claude-code"] {
        let of = |it: &&Value| it["facts"]["client"] == client && it["state"] == "fail";
        let all = said["findings"].as_array().unwrap();
        let found = all.iter().filter(of).collect::<Vec<_>>();
        assert!(!found.is_empty(), "{client}: {said:#}");
        for found in found {
            let remedy = found["remedy"].as_str().unwrap();
            let command =
                format!("`recoup init --project --client {client}` sets it to this program");
            assert!(remedy.starts_with(&command), "{found:#}");
            assert_eq!(found["fixable"], false);
        }
    }
}

/// Who moves a client's settings into a repository has them shared.
#[test]
fn settings_that_were_moved_into_the_repository_are_left_to_init() {
    let home = Home::new();
    let program = installed(&home);
    let hooks = settings(&EVENTS, &hook("/opt/gone/recoup", &["hook"], 10));
    let file = home.write("claude/settings.json", hooks.to_string());
    let mut command = home.prepared(&program, &["doctor", "--json", "--fix"]);
    command.env("PATH", "/usr/bin:/bin").env("CLAUDE_CONFIG_DIR", home.project().join("claude"));
    let said = finish(&mut command).json();
    assert_eq!(said["repairs"], json!([]), "{said:#}");
    assert_eq!(fs::read_to_string(file).unwrap(), hooks.to_string());
}
