//! A repository is not the user: what its files say is not run, however much it looks like us.

use serde_json::json;

use super::{EVENTS, RECOUP, hook, report, script, settings};
use crate::support::{Home, finish};

/// A program in the repository that says when it was run.
fn trap(home: &Home) -> (std::path::PathBuf, std::path::PathBuf) {
    let marker = home.path("ran");
    let text = format!("#!/bin/sh\ntouch {}\ncat >/dev/null\n", marker.display());
    (script(home, "project/bin", &text), marker)
}

#[test]
fn a_program_of_the_repository_is_not_started() {
    let home = Home::new();
    let (program, marker) = trap(&home);
    let all = settings(&EVENTS, &hook(&program, &["hook"], 5)).to_string();
    home.write(".claude/settings.local.json", &all);
    home.write(
        ".codex/hooks.json",
        settings(
            &["Stop"],
            &json!({"type": "command",
        "command": format!("{} hook", program.display()), "timeout": 5}),
        )
        .to_string(),
    );
    home.write(
        ".cursor/mcp.json",
        json!({"mcpServers": {"recoup": {"command": program, "args": ["mcp"]}}}).to_string(),
    );
    let report = report(&home, 0);
    assert!(report.of("hooks").contains(&("withheld", "skipped")), "{:#}", report.0);
    report.has("mcp", "withheld", "skipped");
    assert!(!marker.exists(), "it was run");
}

#[test]
fn nor_what_its_shell_lines_smuggle_in() {
    let home = Home::new();
    let marker = home.path("ran");
    let touch = format!("touch {}", marker.display());
    for line in [
        format!("{RECOUP} hook; {touch}"),
        format!("{RECOUP} hook --client $({touch})"),
        format!("{RECOUP} hook --client=`{touch}`"),
        format!("{touch} | {RECOUP} hook"),
    ] {
        let hook = json!({"type": "command", "command": line, "timeout": 5});
        home.write(".codex/hooks.json", settings(&["Stop", "SessionStart"], &hook).to_string());
        let _ = report(&home, 0);
        assert!(!marker.exists(), "{line}");
    }
}

#[test]
fn a_relative_place_on_the_path_is_passed_over() {
    let home = Home::new();
    let (_, marker) = trap(&home);
    let all = settings(&EVENTS, &hook("recoup", &["hook"], 5)).to_string();
    home.write(".claude/settings.local.json", &all);
    let mut command = home.command(&["doctor", "--json"]);
    command.env("PATH", "bin:./bin:/usr/bin:/bin");
    finish(&mut command);
    assert!(!marker.exists(), "it was run");
}

#[test]
fn a_command_with_a_home_of_its_own_is_not_fired() {
    let home = Home::new();
    let real = home.path("real");
    let line = format!("RECOUP_HOME={} {RECOUP} hook", real.display());
    let hook = json!({"type": "command", "command": line, "timeout": 5});
    super::claude(&home, &settings(&EVENTS, &hook));
    report(&home, 0).has("hooks", "withheld", "skipped");
    assert!(!real.exists(), "it was fired into somebody's memory");
}

/// A client would ask its user first whether that server may be started.
#[test]
fn what_a_repository_tells_our_own_program_is_not_done() {
    let home = Home::new();
    let token = home.write("token", "0123456789abcdef");
    let listing = ["mcp", "--http", "127.0.0.1:0", "--token-file", token.to_str().unwrap()];
    for args in [&listing[..], &["mcp", "--with-hooks", "--with-hooks"], &["mcp", "--help"]] {
        home.write(
            ".cursor/mcp.json",
            json!({"mcpServers": {"recoup": {"command": RECOUP, "args": args}}}).to_string(),
        );
        report(&home, 0).has("mcp", "withheld", "skipped");
    }
    let all = settings(&EVENTS, &hook(RECOUP, &["hook", "--client", "codex", "--help"], 5));
    home.write(".claude/settings.local.json", all.to_string());
    assert!(report(&home, 0).of("hooks").contains(&("withheld", "skipped")));
    for args in [&["mcp"][..], &["mcp", "--with-hooks"]] {
        home.write(
            ".cursor/mcp.json",
            json!({"mcpServers": {"recoup": {"command": RECOUP, "args": args}}}).to_string(),
        );
        assert!(!report(&home, 0).of("mcp").contains(&("withheld", "skipped")));
    }
}

/// With a directory of the repository on the PATH (direnv does that), a name leads there.
#[test]
fn a_program_of_the_repository_on_the_path_is_not_started() {
    let home = Home::new();
    let (program, marker) = trap(&home);
    super::claude(&home, &settings(&EVENTS, &hook("recoup", &["hook"], 5)));
    home.write(
        ".cursor/mcp.json",
        json!({"mcpServers": {"recoup": {"command": "recoup", "args": ["mcp"]}}}).to_string(),
    );
    let dir = program.parent().unwrap().display();
    for path in [format!("{dir}:/usr/bin:/bin"), format!("/usr/bin:/bin:{dir}")] {
        let mut command = home.command(&["doctor", "--json"]);
        let output = finish(command.env("PATH", path));
        assert!(output.text().contains("was not run to get its version"), "{}", output.text());
        assert!(!marker.exists(), "it was run");
    }
}
