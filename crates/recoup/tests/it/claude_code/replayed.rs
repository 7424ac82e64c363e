//! Commands of the agent from the cache, with the client that runs them: the second run of a suite
//! is a replay, whatever has changed makes it a run again, and nobody is asked or refused anything
//! else than before.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use super::client::Client;
use super::hooks::Hook;
use super::sub_agent;
use crate::model::{Answer, CallResult, Script};
use crate::support::{Output, RECOUP, finish};

/// The suite leaves a mark whenever it really runs.
const SUITE: &str = "#!/bin/sh\necho run >> \"$HOME/runs\"\ncat data.txt\necho seen >&2\n";
const COMMANDS: &str = "[commands]\n\"./check *\" = { failures = true }\n";
const ALL: [&str; 4] = ["Bash(recoup replay:*)", "Bash(./check:*)", "Read", "Edit"];

/// A project with a suite, and a client that finds `recoup` on its PATH.
struct Project {
    client: Client,
}

impl Project {
    fn new(config: &str, script: Script) -> Self {
        let script = script.on("check", Answer::bash("./check"));
        let mut client = Client::new(&Hook::Recoup, script);
        let own = Path::new(RECOUP).parent().unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        client.variables.push(("PATH", format!("{}:{path}", own.display()).into()));
        // It refuses to go without questions as the superuser, unless it is told so.
        client.variables.push(("IS_SANDBOX", "1".into()));
        let this = Self { client };
        this.client.home.write("../recoup/config.toml", config);
        this.suite(SUITE);
        this.client.home.write("data.txt", "one\n");
        this.sh("git init -q && git add -A");
        this.permit(&json!({ "allow": ALL }));
        this
    }

    fn suite(&self, text: &str) {
        let file = self.client.home.write("check", text);
        fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Sets the permissions in the user's settings.
    fn permit(&self, permissions: &Value) {
        let file = self.client.home.path(".claude/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        settings["permissions"] = permissions.clone();
        fs::write(file, settings.to_string()).unwrap();
    }

    /// A shell of the person's.
    #[track_caller]
    fn sh(&self, line: &str) -> Output {
        let mut shell = self.client.home.prepared("sh", &["-c", line]);
        finish(shell.envs(self.client.variables.iter().cloned()))
    }

    fn runs(&self) -> usize {
        let marks = fs::read_to_string(self.client.home.path("runs"));
        marks.unwrap_or_default().lines().count()
    }

    /// A session with these prompts; the results of all calls, in their order.
    fn say(&self, prompts: &[&str]) -> Vec<CallResult> {
        let mut conversation = self.client.talk();
        for prompt in prompts {
            conversation.say(prompt);
        }
        conversation.end();
        self.client.last_asked().results()
    }

    /// `claude -p` with these arguments; the result of the last call.
    #[track_caller]
    fn ask(&self, arguments: &[&str]) -> CallResult {
        self.client.ask(arguments, "check");
        self.client.last_asked().results().pop().expect("the result of a call")
    }
}

/// What a command has printed, if its result is a replay.
fn replayed(result: &CallResult) -> Option<&str> {
    let (printed, last) = result.text.trim_end().rsplit_once('\n')?;
    let is_told = last.starts_with("recoup: from cache, ")
        && last.ends_with("; RECOUP=off ./check runs it again");
    is_told.then_some(printed)
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_second_run_of_a_suite_comes_from_the_cache() {
    let project = Project::new(COMMANDS, Script::default());
    let results = project.say(&["check", "check"]);
    let [first, second] = &results[..] else { panic!("two results: {results:?}") };
    assert_eq!(project.runs(), 1);
    assert_eq!(first.text, "one\nseen");
    assert_eq!(replayed(second), Some(&*first.text), "{second:?}");
    let asked = project.client.last_asked();
    assert_eq!(asked.count("recoup replay"), 0, "the model's own calls are what it has asked for");
    // In another session too.
    assert!(replayed(&project.ask(&[])).is_some());
    assert_eq!(project.runs(), 1);

    let stats = project.client.home.run(&["stats", "--json"]).expect(0).json();
    assert_eq!(stats["counts"]["hit"], 2, "{stats}");
    let explained = project.sh("recoup explain command ./check").expect(0).text();
    assert!(explained.starts_with("hit: "), "{explained}");
    let suggested = project.client.home.run(&["suggest"]).expect(0).text();
    assert!(!suggested.contains("recoup"), "replays are no evidence: {suggested}");
}

/// The proof that the other tests can fail.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn nothing_is_replayed_that_nobody_has_named() {
    let project = Project::new("[commands]\n\"./other\" = \"1h\"\n", Script::default());
    for result in project.say(&["check", "check"]) {
        assert_eq!(result.text, "one\nseen");
    }
    assert_eq!(project.runs(), 2);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn an_edit_makes_it_run_again() {
    let data = |project: &Project| project.client.home.project().join("data.txt");
    let script = Script::default();
    let project = Project::new(COMMANDS, script);
    assert!(replayed(&project.ask(&[])).is_none());
    fs::write(data(&project), "two\n").unwrap();
    assert_eq!(project.ask(&[]).text, "two\nseen");
    fs::write(data(&project), "one\n").unwrap();
    assert_eq!(project.ask(&[]).text, "one\nseen", "there is one entry for each command");
    assert!(replayed(&project.ask(&[])).is_some());
    assert_eq!(project.runs(), 3);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn an_edit_by_the_agent_makes_it_run_again() {
    let read = || ("Read", json!({ "file_path": "data.txt" }));
    let edit = |old, new| {
        ("Edit", json!({ "file_path": "data.txt", "old_string": old, "new_string": new }))
    };
    let run = || ("Bash", json!({ "command": "./check", "description": "a test" }));
    let script = Script::default()
        .on("look", Answer::tools(vec![read()]))
        .on("change", Answer::tools(vec![edit("one", "two")]))
        .on("at once", Answer::tools(vec![read(), edit("two", "three"), run(), run()]));
    let project = Project::new(COMMANDS, script);
    let results = project.say(&["look", "check", "check", "change", "check", "check"]);
    let [_, first, second, changed, third, fourth] = &results[..] else { panic!("{results:?}") };
    assert_eq!((&*first.text, replayed(second)), ("one\nseen", Some("one\nseen")));
    assert!(!changed.is_error, "{results:#?}");
    assert_eq!((&*third.text, replayed(fourth)), ("two\nseen", Some("two\nseen")));
    // Also where all of it comes at once.
    project.client.ask(&[], "at once");
    let results = project.client.last_asked().results();
    let [_, changed, first, second] = &results[..] else { panic!("{results:?}") };
    assert!(!changed.is_error, "{results:#?}");
    assert_eq!(first.text, "three\nseen");
    assert_eq!(replayed(second).unwrap_or(&second.text), "three\nseen");
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_failure_is_replayed_as_a_failure() {
    let project = Project::new(COMMANDS, Script::default());
    project.suite(&format!("{SUITE}exit 3\n"));
    let results = project.say(&["check", "check"]);
    let [first, second] = &results[..] else { panic!("two results: {results:?}") };
    assert_eq!(project.runs(), 1);
    assert_eq!((&*first.text, first.is_error), ("Exit code 3\none\nseen", true));
    assert_eq!((replayed(second), second.is_error), (Some(&*first.text), true), "{second:?}");
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_failure_runs_again_unless_the_user_says_otherwise() {
    let project = Project::new("[commands]\n\"./check *\" = \"1h\"\n", Script::default());
    project.suite(&format!("{SUITE}exit 3\n"));
    for result in project.say(&["check", "check"]) {
        assert_eq!(result.text, "Exit code 3\none\nseen");
    }
    assert_eq!(project.runs(), 2);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_agent_gets_a_fresh_run_if_it_wants_one() {
    let fresh = Answer::bash("RECOUP=off ./check");
    let config = format!("{COMMANDS}\"RECOUP=off ./check\" = \"1h\"\n");
    let project = Project::new(&config, Script::default().on("afresh", fresh));
    project.permit(&json!({ "allow": ["Bash"] }));
    let results = project.say(&["check", "afresh", "afresh", "check"]);
    let replayed: Vec<_> = results.iter().map(|it| replayed(it).is_some()).collect();
    assert_eq!(replayed, [false, false, false, true], "{results:?}");
    assert_eq!(project.runs(), 3);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_sub_agent_and_a_change_of_directory_count_as_well() {
    let inside = Answer::bash("cd inner && ../check");
    let script = Script::default()
        .on("delegate", sub_agent("please check", false))
        .on("go inside", inside)
        .on("go on", Answer::bash("../check"));
    let commands = format!("{COMMANDS}\"../check *\" = \"1h\"\n");
    let project = Project::new(&commands, script);
    project.client.home.write("inner/data.txt", "inner\n");
    project.permit(&json!({ "allow": ["Bash"] }));
    project.say(&["check", "delegate"]);
    assert_eq!(project.runs(), 1);
    let asked = project.client.asked();
    let own = asked.iter().rfind(|request| request.agent.is_some()).expect("the sub-agent asked");
    assert_eq!(replayed(&own.results()[0]), Some("one\nseen"));

    let results = project.say(&["go inside", "go on", "go on"]);
    assert_eq!(project.runs(), 2, "{results:?}");
    assert_eq!(results[0].text, "inner\nseen");
    assert!(results[1].text.starts_with("inner\nseen\nrecoup: from cache"), "{results:?}");
    let again = project.say(&["go inside", "go on"]);
    assert_eq!(project.runs(), 2, "the replay leads into the directory too: {again:?}");
}

/// Everything that a user may have set, and the modes: what is asked for or refused is what was
/// asked for or refused without Recoup's answers.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn permissions_are_as_before_in_every_mode() {
    let project = Project::new("", Script::default());
    let own = "Bash(./check:*)";
    let permissions = [
        json!({}),
        json!({ "allow": [own] }),
        json!({ "allow": ["Bash"], "deny": [own] }),
        json!({ "allow": ["Bash"], "ask": ["Bash(./check *)"] }),
        json!({ "allow": [own], "deny": ["Bash(recoup:*)"] }),
    ];
    let config = |text: &str| project.client.home.write("../recoup/config.toml", text);
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"] {
        for permissions in &permissions {
            let ask = |given: &str| {
                config(given);
                project.permit(permissions);
                project.ask(&["--permission-mode", mode])
            };
            let before = ask("");
            // Its output is kept, by a session that may run it.
            config(COMMANDS);
            project.permit(&json!({ "allow": ["Bash(./check:*)"] }));
            project.ask(&[]);
            for given in [COMMANDS.to_owned(), format!("replay.allow = true\n{COMMANDS}")] {
                let runs = project.runs();
                let after = ask(&given);
                let told = replayed(&after).unwrap_or(&after.text);
                assert_eq!(
                    (told, after.is_error),
                    (&*before.text, before.is_error),
                    "{mode} {permissions} {given}"
                );
                let is_answered = replayed(&after).is_some();
                assert_eq!(is_answered, !before.is_error && project.runs() == runs);
                let is_expected = !before.is_error
                    && mode != "plan"
                    && (mode == "bypassPermissions" || given.contains("allow"))
                    && permissions.get("deny").is_none();
                assert_eq!(is_answered, is_expected, "{mode} {permissions} {given}: {after:?}");
            }
        }
    }
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_refusal_on_the_command_line_holds() {
    let project = Project::new(COMMANDS, Script::default());
    project.ask(&[]);
    assert!(replayed(&project.ask(&[])).is_some());
    let settings = json!({ "permissions": { "deny": ["Bash(./check:*)"] } }).to_string();
    for arguments in [["--disallowedTools", "Bash(./check:*)"], ["--settings", &settings]] {
        let refused = project.ask(&arguments);
        assert!(refused.is_error && !refused.text.contains("one"), "{refused:?}");
    }
    assert_eq!(project.runs(), 1);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_refusal_in_the_settings_of_the_folder_it_was_started_in_holds() {
    let project = Project::new(COMMANDS, Script::default());
    let home = &project.client.home;
    let inner = home.project().join("inner");
    home.write(".gitignore", ".claude\n");
    home.write("inner/data.txt", "inner\n");
    fs::copy(home.project().join("check"), inner.join("check")).unwrap();
    let ask = || {
        project.client.ask_in(&inner, "check");
        project.client.last_asked().results().pop().unwrap()
    };
    ask();
    assert!(replayed(&ask()).is_some());
    let deny = json!({ "permissions": { "deny": ["Bash(./check:*)"] } }).to_string();
    home.write("inner/.claude/settings.local.json", deny);
    let explained = project.sh("cd inner && recoup explain command ./check").expect(0).text();
    assert!(explained.starts_with("hit: "), "{explained}");
    let refused = ask();
    assert!(refused.is_error && !refused.text.contains("inner"), "{refused:?}");
    assert_eq!(project.runs(), 1);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_repository_has_no_command_answered_that_the_user_did_not_name() {
    let project = Project::new("", Script::default());
    project.client.home.write("recoup.toml", format!("replay.allow = true\n{COMMANDS}"));
    let permissions = json!({ "permissions": { "allow": ["Bash", "Bash(recoup replay:*)"] } });
    project.client.home.write(".claude/settings.json", permissions.to_string());
    let [first, second] = [project.ask(&[]), project.ask(&[])];
    assert_eq!((&*first.text, &*second.text), ("one\nseen", "one\nseen"));
    assert_eq!(project.runs(), 2);
    // What the user named needs the user's own approval.
    project.client.home.write("../recoup/config.toml", COMMANDS);
    fs::remove_file(project.client.home.project().join(".claude/settings.json")).unwrap();
    project.permit(&json!({ "allow": ["Bash(./check:*)"] }));
    for _ in 0..2 {
        assert_eq!(project.ask(&[]).text, "one\nseen");
    }
    assert_eq!(project.runs(), 4);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_person_is_told_in_the_terminal() {
    let project = Project::new(COMMANDS, Script::default());
    // It would ask whether to begin in the mode `auto`, in which nothing is replaced.
    project.permit(&json!({ "allow": ALL, "disableAutoMode": "disable" }));
    let client = &project.client;
    let mut terminal = client.sit_down();
    for stops in 1..=2 {
        terminal.enter("check", || client.fields("Stop", "cwd").len() == stops);
    }
    terminal.wait_for("recoup: ./check from the cache,");
    terminal.wait_for("old: nothing has changed");
    terminal.leave();
    assert_eq!(project.runs(), 1);
}
