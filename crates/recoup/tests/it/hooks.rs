//! `recoup hook`: the built program, given what real clients have sent, as whole
//! conversations. Every reply is checked for what its client would take.

mod codex;
mod conversation;
mod crowd;
mod cursor;
mod dialects;
mod enforced;
mod hostile;
mod invocations;
mod job_queue;
mod judged;
mod lessons;
mod one_off_prompts;
mod outcomes;
mod pi;
mod places;
mod private_text;
mod recorded;
mod replay;
mod spoofed;
mod unreported_prompts;
pub(crate) mod worker;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::{Home, Output};

/// One more, and the model gets the path of a file instead.
const MOST_UNITS: usize = 10_000;

/// The events at which Claude Code hands text to the model and does nothing else.
const TOLD: [&str; 7] = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "PostToolBatch", "SubagentStart",
];

fn fixtures(client: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(client)
}

/// A payload as it was recorded.
fn fixture(client: &str, name: &str) -> Value {
    let path = fixtures(client).join(format!("{name}.json"));
    serde_json::from_slice(&fs::read(&path).unwrap()).unwrap()
}

/// The same with other values for some fields.
fn changed(mut payload: Value, changes: Value) -> Value {
    let fields = payload.as_object_mut().unwrap();
    let Value::Object(changes) = changes else { panic!("changes are an object: {changes}") };
    for (name, value) in changes {
        fields.insert(name, value);
    }
    payload
}

/// What a hook said, in a form that its client takes.
#[derive(Debug)]
struct Reply {
    context: String,
    /// Without the part that says how to take it back.
    notice: String,
    /// The notice as it is.
    whole_notice: String,
}

/// A notice without `(say "forget that", or …)`.
fn without_way_back(notice: &str) -> String {
    let mut kept = String::new();
    for (at, part) in notice.split(" (say \"forget that\", or recoup memory retire ").enumerate() {
        kept.push_str(if at == 0 { part } else { part.split_once(')').unwrap().1 });
    }
    kept
}

impl Reply {
    /// Checks everything that a client would not tell us about.
    #[track_caller]
    fn checked(output: Output, event: &str) -> Self {
        let output = output.expect(0);
        assert_eq!(output.stderr, "", "nobody reads it");
        let text = output.text();
        if text.is_empty() {
            return Self {
                context: String::new(),
                notice: String::new(),
                whole_notice: String::new(),
            };
        }
        assert!(text.encode_utf16().count() <= MOST_UNITS, "too long: {text}");
        assert_eq!(text.trim_end().lines().count(), 1, "{text}");
        let reply: Value = serde_json::from_str(&text).unwrap();
        let fields = reply.as_object().unwrap();
        for name in fields.keys() {
            assert!(["hookSpecificOutput", "systemMessage"].contains(&name.as_str()), "{text}");
        }
        let notice = fields.get("systemMessage").map_or("", |it| it.as_str().unwrap());
        assert_eq!(notice.lines().count(), usize::from(!notice.is_empty()), "one line: {notice}");
        let context = fields.get("hookSpecificOutput").map_or("", |it| {
            assert!(TOLD.contains(&event), "{event} must not be answered with {text}");
            assert_eq!(it.as_object().unwrap().len(), 2, "{text}");
            assert_eq!(it["hookEventName"], event);
            it["additionalContext"].as_str().unwrap()
        });
        Self {
            context: context.to_owned(),
            notice: without_way_back(notice),
            whole_notice: notice.to_owned(),
        }
    }

    #[track_caller]
    fn is_silent(&self) {
        assert_eq!((self.context.as_str(), self.notice.as_str()), ("", ""));
    }

    #[track_caller]
    fn has_rules(&self, rules: &[&str]) {
        let lines = self.context.lines().filter_map(|line| line.strip_prefix("- "));
        let mut found: Vec<&str> = lines.collect();
        let mut rules = rules.to_vec();
        found.sort_unstable();
        rules.sort_unstable();
        assert_eq!(found, rules);
    }
}

/// Runs a hook with that on its stdin; a pipe that it does not read is no failure.
fn hook(mut command: Command, stdin: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let _ = pipe.write_all(stdin);
    drop(pipe);
    Output::new(child.wait_with_output().unwrap())
}

/// A conversation of Claude Code.
#[derive(Clone)]
struct Talk<'a> {
    home: &'a Home,
    session: String,
    cwd: PathBuf,
    entrypoint: &'static str,
}

impl<'a> Talk<'a> {
    fn new(home: &'a Home, session: &str) -> Self {
        Self { home, session: session.to_owned(), cwd: home.project(), entrypoint: "cli" }
    }

    fn within(self, cwd: &Path) -> Self {
        Self { cwd: cwd.to_owned(), ..self }
    }

    /// The recorded event, in this conversation and with those changes.
    fn payload(&self, name: &str, changes: Value) -> Value {
        let here = json!({"session_id": self.session, "cwd": self.cwd, "transcript_path": null});
        changed(changed(fixture("claude-code", name), here), changes)
    }

    #[track_caller]
    fn tell_with(&self, name: &str, changes: Value) -> Reply {
        let payload = self.payload(name, changes);
        let mut command = self.home.command(&["hook"]);
        command.env("CLAUDE_CODE_ENTRYPOINT", self.entrypoint);
        let output = hook(command, payload.to_string().as_bytes());
        Reply::checked(output, payload["hook_event_name"].as_str().unwrap())
    }

    #[track_caller]
    fn tell(&self, name: &str) -> Reply {
        self.tell_with(name, json!({}))
    }

    #[track_caller]
    fn says(&self, prompt: &str) -> Reply {
        let turn = format!("turn-{}", prompt.len());
        self.tell_with("UserPromptSubmit", json!({"prompt": prompt, "prompt_id": turn}))
    }

    #[track_caller]
    fn calls(&self, command: &str) -> Reply {
        self.tell_with("PreToolUse-Bash", json!({"tool_input": {"command": command}}))
    }

    #[track_caller]
    fn fails(&self, command: &str, call: &str, error: &str) -> Reply {
        let changes =
            json!({"tool_input": {"command": command}, "tool_use_id": call, "error": error});
        self.tell_with("PostToolUseFailure-Bash", changes)
    }

    #[track_caller]
    fn succeeds(&self, command: &str, call: &str) -> Reply {
        let changes = json!({"tool_input": {"command": command}, "tool_use_id": call});
        self.tell_with("PostToolUse-Bash", changes)
    }
}

/// `recoup memory add`.
fn add(home: &Home, args: &[&str]) {
    home.run(&[&["memory", "add"], args].concat()).expect(0);
}

/// The statements that are remembered, in one state.
fn remembered(home: &Home, status: &str) -> Vec<String> {
    let notes = home.run(&["memory", "list", "--all", "--json", "--status", status]).expect(0);
    let notes = notes.json();
    let text = |note: &Value| note["text"].as_str().unwrap().to_owned();
    let mut texts: Vec<String> = notes.as_array().unwrap().iter().map(text).collect();
    texts.sort_unstable();
    texts
}

/// What happened: what, to what, and more about it.
fn events(home: &Home) -> Vec<(String, String, String)> {
    let path = home.recoup().join("memory.db");
    let sql = Connection::open(path).unwrap();
    let mut select = sql
        .prepare(
            "SELECT what, coalesce(subject, ''), coalesce(detail, '') FROM events ORDER BY row",
        )
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Those of one sort.
pub(crate) fn happened(home: &Home, what: &str) -> Vec<(String, String)> {
    let all = events(home).into_iter().filter(|(it, ..)| it == what);
    all.map(|(_, subject, detail)| (subject, detail)).collect()
}

/// All that was written to the log.
fn log(home: &Home) -> String {
    fs::read_to_string(home.recoup().join("logs/hooks.log")).unwrap_or_default()
}

/// Whether anything that we keep has that text in it.
fn is_kept(home: &Home, text: &str) -> bool {
    let files = crate::support::tree(&home.recoup());
    let has = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    };
    files.iter().any(has)
}
