//! Commands of an agent that are answered from the cache: the second run of a named command is
//! replaced by its replay, and everything that could make the answer another one prevents that.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::{Talk, changed, hook, log, pi};
use crate::support::{Home, Output, finish};

/// The user's configuration, and the permissions of Claude Code.
struct Setting {
    home: Home,
}

/// What the hook made of a call.
enum Call {
    /// It runs as it is.
    Untouched,
    /// Another line runs, with this decision.
    Replaced(String, Value),
}

impl Setting {
    fn new(config: &str) -> Self {
        let home = Home::new();
        home.write("../recoup/config.toml", config);
        let project = home.project();
        fs::write(
            project.join("check"),
            "#!/bin/sh\necho run >> \"$HOME/runs\"\ncat data.txt\necho seen >&2\n",
        )
        .unwrap();
        fs::write(project.join("data.txt"), "one\n").unwrap();
        let setting = Self { home };
        setting.sh("chmod +x check; git init -q; printf 'out\\n' > .gitignore; git add -A");
        setting.permits(&["Bash(recoup replay:*)", "Bash(./check:*)"]);
        setting
    }

    fn permits(&self, allow: &[&str]) {
        self.settings(&json!({"permissions": {"allow": allow}}));
    }

    fn settings(&self, settings: &Value) {
        self.home.write("../.claude/settings.json", settings.to_string());
    }

    /// A shell of the agent, in which `recoup` is found.
    fn shell(&self, line: &str) -> Command {
        let mut shell = self.home.prepared("sh", &["-c", line]);
        let own = Path::new(env!("CARGO_BIN_EXE_recoup")).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        shell.env("PATH", format!("{}:{path}", own.display()));
        shell
    }

    #[track_caller]
    fn sh(&self, line: &str) -> Output {
        finish(&mut self.shell(line)).expect(0)
    }

    fn tell(&self, event: &str, changes: Value) -> Value {
        let payload = Talk::new(&self.home, "s").payload(event, changes);
        let mut command = self.shell("exec recoup hook");
        command.env("CLAUDE_CODE_ENTRYPOINT", "cli");
        let output = hook(command, payload.to_string().as_bytes()).expect(0);
        if output.stdout.is_empty() { Value::Null } else { output.json() }
    }

    fn before(&self, id: &str, changes: Value) -> Call {
        let mut changes = changes;
        changes["tool_use_id"] = id.into();
        changes["permission_mode"] =
            changes.get("permission_mode").cloned().unwrap_or("default".into());
        let reply = self.tell("PreToolUse-Bash", changes.clone());
        let own = &reply["hookSpecificOutput"];
        match own["updatedInput"]["command"].as_str() {
            None => Call::Untouched,
            Some(line) => {
                let mut rest = own["updatedInput"].clone();
                rest["command"] = changes["tool_input"]["command"].clone();
                assert_eq!(rest, changes["tool_input"], "everything else stays");
                Call::Replaced(line.to_owned(), own["permissionDecision"].clone())
            }
        }
    }

    fn ended(&self, id: &str, input: &Value, output: &Output) {
        let (stdout, stderr) = (output.text(), output.stderr.clone());
        let call = json!({"tool_input": input, "tool_use_id": id, "duration_ms": 1_500});
        let (event, result) = match output.code {
            Some(0) => (
                "PostToolUse-Bash",
                json!({"tool_response": {"stdout": stdout.trim_end(), "stderr": stderr.trim_end(),
                       "interrupted": false, "isImage": false}}),
            ),
            code => {
                let code = code.unwrap();
                let error = format!("Exit code {code}\n{}{}", stdout, stderr.trim_end());
                ("PostToolUseFailure-Bash", json!({"error": error}))
            }
        };
        let mut changes = call;
        for (name, value) in result.as_object().unwrap() {
            changes[name] = value.clone();
        }
        self.tell(event, changes);
    }

    /// A call as the client makes it: what runs then, and whether it was a replay.
    #[track_caller]
    fn call(&self, line: &str) -> (bool, Output) {
        self.call_with(line, json!({}))
    }

    #[track_caller]
    fn call_with(&self, line: &str, changes: Value) -> (bool, Output) {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let id = format!("call-{}", CALLS.fetch_add(1, Ordering::Relaxed));
        let mut changes = changes;
        if changes.get("tool_input").is_none() {
            changes["tool_input"] = json!({"command": line, "description": "check it"});
        }
        match self.before(&id, changes.clone()) {
            Call::Untouched => {
                let output = finish(&mut self.shell(line));
                self.ended(&id, &changes["tool_input"], &output);
                (false, output)
            }
            Call::Replaced(replay, _) => (true, finish(&mut self.shell(&replay))),
        }
    }

    fn runs(&self) -> usize {
        fs::read_to_string(self.home.path("runs")).unwrap_or_default().lines().count()
    }

    #[track_caller]
    fn is_replayed(&self, line: &str) {
        assert!(self.call(line).0, "{line} is a replay; {}", log(&self.home));
    }

    #[track_caller]
    fn is_run(&self, line: &str) {
        assert!(!self.call(line).0, "{line} is run");
    }
}

const CHECK: &str = "[commands]\n\"./check *\" = { failures = true }\n";

#[test]
fn the_second_run_is_replayed_and_says_so() {
    let setting = Setting::new(CHECK);
    let (replayed, first) = setting.call("./check a");
    assert!(!replayed);
    let (replayed, second) = setting.call("./check a");
    assert!(replayed, "{}", log(&setting.home));
    assert_eq!(setting.runs(), 1);
    assert_eq!((second.code, second.text()), (Some(0), first.text()));
    let mut lines = second.stderr.lines();
    assert_eq!(lines.next(), Some("seen"));
    let last = lines.next().unwrap();
    assert!(
        last.starts_with("recoup: from cache, ")
            && last.ends_with("RECOUP=off ./check a runs it again"),
        "{last}"
    );
    setting.is_run("./check b");
    setting.is_run("RECOUP=off ./check a");
    assert_eq!(log(&setting.home), "");
}

#[test]
fn a_change_runs_it_and_the_old_contents_are_the_old_answer() {
    let setting = Setting::new(CHECK);
    setting.is_run("./check");
    setting.sh("echo two > data.txt");
    let (replayed, output) = setting.call("./check");
    assert!(!replayed);
    assert_eq!(output.text(), "two\n");
    setting.is_replayed("./check");
    setting.sh("echo new > untracked.txt");
    setting.is_run("./check");
    setting.is_replayed("./check");
    setting.sh("mkdir out; echo ignored > out/x; touch data.txt");
    setting.is_replayed("./check");
    setting.sh("git add -A");
    setting.is_replayed("./check");
}

#[test]
fn a_failure_is_replayed_as_a_failure_if_the_user_says_so() {
    for (config, replayed) in [(CHECK, true), ("[commands]\n\"./check *\" = \"1h\"\n", false)] {
        let setting = Setting::new(config);
        setting.sh("printf '#!/bin/sh\\necho out; echo broken >&2; exit 3\\n' > check");
        let (_, first) = setting.call("./check");
        let (is_replay, second) = setting.call("./check");
        assert_eq!(is_replay, replayed, "{config}");
        assert_eq!((first.code, second.code), (Some(3), Some(3)));
        if replayed {
            assert_eq!(second.text(), "out\nbroken\n", "the client reports both streams as one");
        }
    }
}

#[test]
fn only_whole_lines_that_are_named_are_answered() {
    let setting = Setting::new(CHECK);
    for line in [
        "./check; true", "./check | cat", "./check > out/x", "./check $HOME", "./check $(echo a)",
        "true && ./check", "./check && true", "env ./check", "./check *", "./check &",
        "./check\ntrue",
    ] {
        setting.sh("mkdir -p out");
        setting.call(line);
        setting.is_run(line);
    }
    let setting = Setting::new("[commands]\n\"./check * 2>&1 | tail *\" = \"1h\"\n");
    setting.permits(&["Bash"]);
    setting.is_run("./check a 2>&1 | tail -1");
    setting.is_replayed("./check a 2>&1 | tail -1");
    setting.is_run("./check a");
}

#[test]
fn a_change_into_a_directory_of_the_project_counts_as_the_directory() {
    let setting = Setting::new("[commands]\n\"../check\" = \"1h\"\n\"./check\" = \"1h\"\n");
    setting.permits(&["Bash(recoup replay:*)"]);
    setting.sh("mkdir -p 'a b' && cp data.txt 'a b/' && git add -A");
    setting.is_run("cd 'a b' && ../check");
    let (replayed, output) = setting.call("cd 'a b' && ../check");
    assert!(replayed);
    assert_eq!(output.text(), "one\n");
    setting.is_run("cd . && ./check");
    setting.is_replayed("./check");
    // The client tells of the end of a call in the directory that it has led to.
    let input = json!({"command": "cd 'a b' && ../check"});
    setting.sh("echo two >> 'a b/data.txt'");
    assert!(matches!(setting.before("x", json!({"tool_input": input})), Call::Untouched));
    let inside = setting.home.project().join("a b");
    setting.tell(
        "PostToolUse-Bash",
        json!({"tool_input": input, "tool_use_id": "x", "cwd": inside,
        "tool_response": {"stdout": "one\ntwo", "stderr": ""}}),
    );
    setting.is_replayed("cd 'a b' && ../check");
    // Another repository is another project, and what is outside is none.
    setting.sh("mkdir inner && cp check data.txt inner && git init -q inner");
    setting.is_run("cd inner && ./check");
    setting.is_run("cd inner && ./check");
    setting.is_run("cd /tmp && ./check; true");
}

#[test]
fn what_the_client_cut_off_or_runs_in_the_background_is_not_kept() {
    let setting = Setting::new(CHECK);
    let input = json!({"command": "./check", "run_in_background": true});
    setting.call_with("./check", json!({"tool_input": input}));
    assert!(matches!(
        setting.before("x", json!({"tool_input": {"command": "./check"}})),
        Call::Untouched
    ));
    let ended = |response: Value| {
        setting.tell(
            "PostToolUse-Bash",
            json!({"tool_input": {"command": "./check"}, "tool_use_id": "x",
            "tool_response": response}),
        );
        setting.before("x", json!({"tool_input": {"command": "./check"}}))
    };
    let cut = json!({"stdout": "o", "stderr": "", "interrupted": true});
    assert!(matches!(ended(cut), Call::Untouched));
    let persisted =
        json!({"stdout": "o", "stderr": "", "interrupted": false, "persistedOutputPath": "/x"});
    assert!(matches!(ended(persisted), Call::Untouched));
    let whole = json!({"stdout": "o", "stderr": "", "interrupted": false});
    assert!(matches!(ended(whole), Call::Replaced(..)));
}

#[test]
fn what_changes_while_it_runs_is_not_kept() {
    let setting = Setting::new(CHECK);
    let input = json!({"command": "./check"});
    assert!(matches!(setting.before("x", json!({"tool_input": input})), Call::Untouched));
    setting.sh("echo two > data.txt");
    let output = setting.sh("./check");
    setting.ended("x", &input, &output);
    setting.is_run("./check");
    setting.is_replayed("./check");
    // Nor is what changes, and is as before at the end.
    setting.sh("echo three > data.txt");
    assert!(matches!(setting.before("y", json!({"tool_input": input})), Call::Untouched));
    setting.sh("echo four > data.txt");
    let output = setting.sh("./check");
    setting.sh("echo three > data.txt");
    setting.ended("y", &input, &output);
    setting.is_run("./check");
    setting.is_replayed("./check");
}

#[test]
fn another_checkout_is_asked_about_itself_unless_the_sources_are_named() {
    for (rule, is_shared) in [("\"1h\"", false), ("{ sources = [\"data.txt\"] }", true)] {
        let setting = Setting::new(&format!("[commands]\n\"./check\" = {rule}\n"));
        setting.is_run("./check");
        setting.sh(
            "git -c user.name=a -c user.email=a@b commit -qm x && git worktree add -q ../other",
        );
        let payload = json!({"tool_input": {"command": "./check"}, "permission_mode": "default",
            "cwd": setting.home.path("other")});
        let payload = Talk::new(&setting.home, "s").payload("PreToolUse-Bash", payload);
        let mut command = setting.shell("exec recoup hook");
        command.current_dir(setting.home.path("other"));
        let reply = hook(command, payload.to_string().as_bytes()).expect(0).text();
        assert_eq!(reply.contains("recoup replay"), is_shared, "{rule}: {reply}");
    }
}

#[test]
fn a_replay_prints_nothing_that_is_no_longer_true() {
    let setting = Setting::new(CHECK);
    setting.is_run("./check");
    let Call::Replaced(replay, _) =
        setting.before("x", json!({"tool_input": {"command": "./check"}}))
    else {
        panic!("it is known")
    };
    setting.sh("echo two > data.txt");
    let output = finish(&mut setting.shell(&replay)).expect(125);
    assert_eq!(output.text(), "");
    assert!(
        output.stderr.contains("has changed")
            && output.stderr.contains("put RECOUP=off in front of the command"),
        "{}",
        output.stderr
    );
}

#[test]
fn files_that_it_writes_must_be_as_it_left_them() {
    let setting = Setting::new("[commands]\n\"./build\" = { outputs = [\"out/dir:tree\"] }\n");
    setting.permits(&["Bash(recoup replay:*)"]);
    setting.sh("printf '#!/bin/sh\\nmkdir -p out; echo built | tee out/x\\n' > build; chmod +x build; git add -A");
    setting.is_run("./build");
    setting.is_replayed("./build");
    setting.sh("rm out/x");
    setting.is_run("./build");
    setting.is_replayed("./build");
}

#[test]
fn variables_that_count_are_part_of_the_question() {
    let setting = Setting::new("[commands]\n\"./check\" = { env = [\"MODE\"] }\n");
    setting.is_run("./check");
    setting.is_replayed("./check");
    let payload = Talk::new(&setting.home, "s")
        .payload("PreToolUse-Bash", json!({"tool_input": {"command": "./check"}}));
    let mut command = setting.shell("exec recoup hook");
    command.env("MODE", "other");
    assert_eq!(hook(command, payload.to_string().as_bytes()).expect(0).text(), "");
    let mut command = setting.shell("exec recoup hook");
    command.env("RECOUP", "off");
    assert_eq!(hook(command, payload.to_string().as_bytes()).expect(0).text(), "");
}

#[test]
fn nobodys_permissions_change() {
    let setting = Setting::new(CHECK);
    setting.is_run("./check");
    let asked = |settings: Value, mode: &str| {
        setting.settings(&json!({ "permissions": settings }));
        let changes = json!({"tool_input": {"command": "./check"}, "permission_mode": mode});
        match setting.before("x", changes) {
            Call::Untouched => "untouched".to_owned(),
            Call::Replaced(_, decision) => decision.as_str().unwrap_or("replaced").to_owned(),
        }
    };
    let both = ["Bash(./check:*)", "Bash(recoup replay:*)"];
    for (settings, mode, expected) in [
        (json!({"allow": both}), "default", "replaced"),
        (json!({"allow": ["Bash(recoup replay:*)"]}), "default", "replaced"),
        (json!({"allow": ["Bash"]}), "default", "replaced"),
        (json!({"allow": ["Bash(./check:*)"]}), "default", "untouched"),
        (json!({}), "default", "untouched"),
        (json!({}), "acceptEdits", "untouched"),
        (json!({}), "bypassPermissions", "replaced"),
        (json!({"allow": both}), "plan", "untouched"),
        (json!({"allow": both}), "auto", "untouched"),
        (json!({"allow": both, "deny": ["Bash(./check:*)"]}), "default", "untouched"),
        (json!({"allow": both, "ask": ["Bash(./check *)"]}), "default", "untouched"),
        (json!({"deny": ["Bash(./check:*)"]}), "bypassPermissions", "untouched"),
        (json!({"deny": ["Bash(recoup:*)"], "allow": both}), "default", "untouched"),
        (json!({"deny": ["Read(./x)"], "allow": both}), "default", "replaced"),
    ] {
        assert_eq!(asked(settings.clone(), mode), expected, "{settings} {mode}");
    }
    setting.home.write("../recoup/config.toml", format!("replay.allow = true\n{CHECK}"));
    for (settings, expected) in [
        (json!({"allow": ["Bash(./check:*)"]}), "allow"),
        (json!({"allow": ["Bash(./check:*)"], "deny": ["Bash(./check:*)"]}), "untouched"),
        (json!({"allow": ["Bash(./check -x)"]}), "untouched"),
        (json!({}), "untouched"),
        (json!({"allow": both}), "replaced"),
    ] {
        assert_eq!(asked(settings.clone(), "default"), expected, "{settings}");
    }
}

#[test]
fn a_rule_is_found_behind_what_starts_a_command_and_for_the_files_that_it_names() {
    let config = "[commands]\n\"CI=1 nice ./check *\" = \"1h\"\n\"cat *\" = \"1h\"\n";
    let setting = Setting::new(config);
    let replay = "Bash(recoup replay:*)";
    for (line, rule) in [("CI=1 nice ./check", "Bash(./check:*)"), ("cat data.txt", "Read(./x)")] {
        setting.permits(&[replay]);
        setting.is_run(line);
        setting.is_replayed(line);
        setting.settings(&json!({"permissions": {"allow": [replay], "deny": [rule]}}));
        setting.is_run(line);
    }
    setting.home.write("../.claude/settings.json", "{");
    setting.is_run("cat data.txt");
}

#[test]
fn a_project_allows_only_what_the_client_takes_from_it() {
    let setting = Setting::new(&format!("replay.allow = true\n{CHECK}"));
    let project = setting.home.project();
    fs::write(project.join(".gitignore"), ".claude\n").unwrap();
    setting.is_run("./check");
    setting.permits(&[]);
    let allow = json!({"permissions": {"allow": ["Bash(./check:*)"]}});
    setting.home.write(".claude/settings.json", allow.to_string());
    setting.is_run("./check");
    let known = json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}});
    setting.home.write("../.claude.json", known.to_string());
    setting.is_replayed("./check");
    // A client that was started in a directory of the project reads the settings there.
    let inner = project.join("inner");
    setting.home.write("inner/.claude/settings.json", "{}");
    let before = |setting: &Setting| {
        let payload = json!({"tool_input": {"command": "./check"}, "permission_mode": "default"});
        let payload = Talk::new(&setting.home, "s").payload("PreToolUse-Bash", payload);
        let mut command = setting.shell("exec recoup hook");
        command.env("CLAUDE_PROJECT_DIR", &inner);
        hook(command, payload.to_string().as_bytes()).expect(0).text()
    };
    assert_eq!(before(&setting), "");
    setting.permits(&["Bash(recoup replay:*)"]);
    assert!(before(&setting).contains("recoup replay"));
    let deny = json!({"permissions": {"deny": ["Bash(./check:*)"]}});
    setting.home.write("inner/.claude/settings.json", deny.to_string());
    assert_eq!(before(&setting), "");
}

#[test]
fn variables_in_front_are_part_of_the_line() {
    let config = "[commands]\n\"./check\" = \"1h\"\n\"MODE=a ./check\" = \"1h\"\n\"CI=1 * ./check\" = \"1h\"\n";
    let setting = Setting::new(config);
    setting.is_run("./check");
    setting.is_run("MODE=a ./check");
    let (replayed, output) = setting.call("MODE=a ./check");
    assert!(replayed);
    let last = output.stderr.lines().last().unwrap();
    assert!(last.ends_with("; RECOUP=off MODE=a ./check runs it again"), "{last}");
    for _ in 0..2 {
        setting.is_run("CI=1 RECOUP=off ./check");
    }
}

#[test]
fn what_leaves_the_sandbox_is_not_answered_from_within() {
    let setting = Setting::new(CHECK);
    setting.is_run("./check");
    let input = json!({"command": "./check", "dangerouslyDisableSandbox": true});
    let changes = json!({"tool_input": input});
    assert!(matches!(setting.before("x", changes), Call::Untouched));
    setting.is_replayed("./check");
}

#[test]
fn pi_runs_a_replay_in_the_place_of_a_command() {
    let setting = Setting::new(CHECK);
    let call = |kind: &str, more: Value| {
        let event = json!({"type": kind, "toolName": "bash", "toolCallId": "x",
            "input": {"command": "./check", "timeout": 9}});
        pi::tell(&setting.home, changed(event, more))
    };
    let printed = json!({"content": [{"type": "text", "text": "one"}],
        "structuredContent": {"output": "one\n", "exit_code": 3, "wall_time_seconds": 1.5},
        "isError": true});
    assert_eq!(call("tool_call", json!({})), Value::Null);
    assert_eq!(call("tool_result", printed), Value::Null);
    let reply = call("tool_call", json!({}));
    let line = reply["input"]["command"].as_str().unwrap();
    assert!(line.contains("recoup replay ") && reply["input"]["timeout"] == 9, "{reply}");
    assert!(reply["notice"].as_str().unwrap().starts_with("recoup: ./check from the cache"));
    assert_eq!(finish(&mut setting.shell(line)).expect(3).text(), "one\n");
    assert_eq!(setting.runs(), 0);
}

#[test]
fn a_repository_names_no_command_that_the_user_did_not_trust() {
    let setting = Setting::new("");
    let config = setting.home.project().join("recoup.toml");
    fs::write(&config, CHECK).unwrap();
    setting.is_run("./check");
    setting.is_run("./check");
    setting.home.run(&["trust", "--yes"]).expect(0);
    setting.is_run("./check");
    setting.is_replayed("./check");
    fs::write(&config, format!("{CHECK}\"cat *\" = \"1h\"\n")).unwrap();
    setting.is_run("./check");
    setting.is_run("./check");
}

#[test]
fn explain_says_what_would_happen() {
    let setting = Setting::new(CHECK);
    let explain =
        |line: &str| finish(&mut setting.shell(&format!("recoup explain command '{line}'")));
    assert!(explain("./check").expect(1).text().starts_with("miss: no entry"));
    setting.is_run("./check");
    assert!(explain("./check").expect(0).text().starts_with("hit: "));
    setting.sh("echo two > data.txt");
    let text = explain("./check").expect(1).text();
    assert!(text.contains("project:files changed"), "{text}");
    let text = explain("./other").expect(1).text();
    assert!(text.contains("no entry of [commands] names this line"), "{text}");
}

#[test]
fn stats_count_what_was_replayed() {
    let setting = Setting::new(CHECK);
    setting.is_run("./check");
    setting.is_replayed("./check");
    let stats = setting.home.run(&["stats", "--json"]).expect(0).json();
    assert_eq!(
        (&stats["counts"]["hit"], &stats["counts"]["absent"]),
        (&json!(1), &json!(1)),
        "{stats}"
    );
    assert!(stats.to_string().contains("\"millis\":1500"), "{stats}");
}

#[test]
fn what_runs_again_without_a_change_is_suggested_and_added() {
    let setting = Setting::new("");
    for _ in 0..3 {
        setting.is_run("./check -x secret");
    }
    setting.sh("echo two > data.txt");
    setting.is_run("./check -x secret");
    let said = setting.home.run(&["suggest"]).expect(0);
    let text = said.text();
    assert!(
        text.contains("ran 4 times, 2 times with no file changed since its last run, 2 of them with the same output: 3.0 s")
            || text.contains("ran 4 times, 2 times with no file changed since its last run, 2 of them with the same output: 3.0s"),
        "{text}"
    );
    assert!(text.contains("\"./check *\" = \"1d\"") && !text.contains("secret"), "{text}");
    setting.home.run(&["suggest", "--apply"]).expect(0);
    let config = fs::read_to_string(setting.home.recoup().join("config.toml")).unwrap();
    assert!(config.contains("\"./check *\" = \"1d\""), "{config}");
    setting.is_run("./check -x secret");
    setting.is_replayed("./check -x secret");
    assert!(!setting.home.run(&["suggest"]).expect(0).text().contains("./check"));
    let logged = fs::read_to_string(setting.home.recoup().join("logs/commands.jsonl")).unwrap();
    assert!(!logged.contains("secret"), "{logged}");
}
