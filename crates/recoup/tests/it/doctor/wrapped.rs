//! Calls of the user's own that start us through another program: that one must find nothing
//! in the repository that we happen to be in, or is not run.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{EVENTS, RECOUP, Report, claude, hook, script, settings, write};
use crate::support::{Home, finish};

/// A repository whose programs say when they are run.
struct Trap {
    home: Home,
    marker: PathBuf,
}

impl Trap {
    fn new() -> Self {
        let home = Home::new();
        let marker = home.path("ran");
        let text = format!("#!/bin/sh\ntouch {}\ncat >/dev/null\n", marker.display());
        for dir in ["project/bin", "project/node_modules/.bin"] {
            script(&home, dir, &text);
        }
        for other in ["sh", "env", "mine"] {
            fs::copy(home.path("project/bin/recoup"), home.path("project/bin").join(other))
                .unwrap();
        }
        home.write("package.json", r#"{"name": "x", "bin": {"recoup": "bin/recoup"}}"#);
        home.write("lib.sh", format!("touch {}\n", marker.display()));
        Self { home, marker }
    }

    fn report(&self, path: &str, more: &[(&str, &Path)]) -> Report {
        let mut command = self.home.command(&["doctor", "--json"]);
        command.env("PATH", path).envs(more.iter().copied());
        let report = Report(finish(&mut command).json());
        assert!(!self.marker.exists(), "the repository's program was run: {:#}", report.0);
        report
    }

    /// A machine on which the repository has the first word on the PATH.
    fn misleading(&self) -> String {
        format!("{}:/usr/bin:/bin", self.home.path("project/bin").display())
    }
}

fn line(text: &str) -> Value {
    json!({"type": "command", "command": text, "timeout": 5})
}

/// Why the hooks were not tried.
#[track_caller]
fn withheld(report: &Report) -> String {
    report.has("hooks", "withheld", "skipped")["what"].as_str().unwrap().to_owned()
}

/// A program called `npx` that runs what a project has, as the real one does.
fn npx(home: &Home) -> String {
    let text = "#!/bin/sh\nshift\nexec ./node_modules/.bin/\"$@\"\n";
    let path = script(home, "tools", text);
    fs::rename(&path, path.with_file_name("npx")).unwrap();
    format!("{}:/usr/bin:/bin", home.path("tools").display())
}

#[test]
fn what_chooses_by_the_directory_is_not_run() {
    let trap = Trap::new();
    let path = npx(&trap.home);
    for call in [
        hook("npx", &["-y", "recoup", "hook"], 5),
        line("npx -y recoup hook"),
        line("env A=1 npx -y recoup hook"),
        line("sh -c 'true; npx -y recoup hook'"),
        hook("sh", &["-c", "exec npx -y recoup hook"], 5),
    ] {
        claude(&trap.home, &settings(&EVENTS, &call));
        let why = withheld(&trap.report(&path, &[]));
        assert!(
            why.contains("not tested: which program npx starts depends on the directory"),
            "{why}"
        );
    }
    let server =
        json!({"mcpServers": {"recoup": {"command": "npx", "args": ["-y", "recoup", "mcp"]}}});
    write(&trap.home, ".claude.json", server.to_string());
    let report = trap.report(&path, &[]);
    let found = report.has("mcp", "withheld", "skipped");
    assert!(found["what"].as_str().unwrap().contains("which program npx starts"), "{found:#}");
}

#[test]
fn a_shell_does_not_find_the_repositorys_program() {
    let trap = Trap::new();
    let misleading = trap.misleading();
    let relative = "bin:.:/usr/bin:/bin".to_owned();
    for path in [misleading, relative] {
        for call in [
            hook("/bin/sh", &["-c", "recoup hook"], 5),
            hook("sh", &["-c", "recoup hook"], 5),
            line("true && recoup hook"),
            line("mine; recoup hook"),
            line("/usr/bin/env A=1 recoup hook"),
            line("recoup hook"),
        ] {
            claude(&trap.home, &settings(&EVENTS, &call));
            let why = withheld(&trap.report(&path, &[]));
            assert!(why.contains("is part of the repository, or refers to it"), "{call}: {why}");
        }
    }
    let server =
        json!({"mcpServers": {"recoup": {"command": "env", "args": ["A=1", "recoup", "mcp"]}}});
    write(&trap.home, ".claude.json", server.to_string());
    trap.report(&trap.misleading(), &[]).has("mcp", "withheld", "skipped");
}

#[test]
fn nor_does_what_goes_there_or_is_led_there_by_a_variable() {
    let trap = Trap::new();
    let project = trap.home.project();
    for text in [
        "cd \"$OLDPWD\"; ./bin/recoup hook",
        "cd ~/project && ./bin/recoup hook",
        "\"$CLAUDE_PROJECT_DIR\"/bin/recoup hook",
        "\"$PWD\"/bin/recoup hook",
        "${OURS}/bin/recoup hook",
        &format!(". $OURS/lib.sh; {RECOUP} hook"),
        &format!(". ~/project/lib.sh; {RECOUP} hook"),
        "./bin/recoup hook",
        "timeout 5 bin/recoup hook",
    ] {
        claude(&trap.home, &settings(&EVENTS, &line(text)));
        let more = [("OURS", &*project), ("OLDPWD", &*project), ("PWD", &*project)];
        withheld(&trap.report("/usr/bin:/bin", &more));
    }
}

/// What a shell reads before anything else is not the repository's either.
#[test]
fn a_wrapped_call_runs_outside_of_the_repository() {
    let trap = Trap::new();
    let (lib, seen) = (trap.home.project().join("lib.sh"), trap.home.path("seen"));
    let text = format!("(pwd; env) >> {}; {RECOUP} hook", seen.display());
    claude(&trap.home, &settings(&EVENTS, &hook("bash", &["-c", &text], 5)));
    let path = format!("/usr/bin:bin:{}:/bin", trap.home.path("project/bin").display());
    let inside = trap.home.path("project/tmp");
    fs::create_dir(&inside).unwrap();
    let report = trap.report(&path, &[("BASH_ENV", &lib), ("TMPDIR", &inside)]);
    assert_eq!(report.of("hooks"), [("ok", "ok")], "{:#}", report.0);
    let seen = fs::read_to_string(seen).unwrap();
    assert!(!seen.contains(trap.home.project().to_str().unwrap()), "{seen}");
    assert!(seen.contains("PATH=/usr/bin:/bin\n"), "{seen}");
}

/// A project may be a directory of a repository.
#[test]
fn the_repository_is_all_of_it() {
    let trap = Trap::new();
    fs::create_dir(trap.home.project().join(".git")).unwrap();
    trap.home.write("sub/recoup.toml", "");
    claude(&trap.home, &settings(&EVENTS, &hook("recoup", &["hook"], 5)));
    let mut command = trap.home.command(&["doctor", "--json"]);
    command.env("PATH", trap.misleading()).current_dir(trap.home.project().join("sub"));
    let report = Report(finish(&mut command).json());
    assert!(!trap.marker.exists(), "{:#}", report.0);
    withheld(&report);
}

/// A variable says that the repository has the user's settings.
#[test]
fn settings_that_lie_in_the_repository_are_not_the_users() {
    let trap = Trap::new();
    let dir = trap.home.project().join("claude");
    let touch = format!("touch {}; {RECOUP} hook", trap.marker.display());
    let path = trap.home.project().join("bin/recoup");
    for call in [line(&touch), hook(&path, &["hook"], 5)] {
        trap.home.write("claude/settings.json", settings(&EVENTS, &call).to_string());
        withheld(&trap.report("/usr/bin:/bin", &[("CLAUDE_CONFIG_DIR", &dir)]));
    }
    let ours = settings(&EVENTS, &hook(RECOUP, &["hook"], 5));
    trap.home.write("claude/settings.json", ours.to_string());
    let report = trap.report("/usr/bin:/bin", &[("CLAUDE_CONFIG_DIR", &dir)]);
    assert_eq!(report.of("hooks"), [("ok", "ok")], "{:#}", report.0);
}

#[test]
fn what_would_reach_somebodys_own_memory_is_not_run() {
    let home = Home::new();
    for text in [
        format!("env -i {RECOUP} hook"),
        format!("env -u RECOUP_HOME {RECOUP} hook"),
        format!("sudo -n {RECOUP} hook"),
    ] {
        claude(&home, &settings(&EVENTS, &line(&text)));
        let tools = script(&home, "tools", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
        fs::rename(&tools, tools.with_file_name("sudo")).unwrap();
        let mut command = home.command(&["doctor", "--json"]);
        let path = format!("{}:/usr/bin:/bin", home.path("tools").display());
        withheld(&Report(finish(command.env("PATH", path)).json()));
        assert!(!home.path("ran").exists() && !home.path(".recoup").exists(), "{text}");
    }
}
