//! The real client in a home of its own: its settings, its hooks, its model on
//! loopback, and nothing of the machine that it runs on.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};

use super::conversation::Conversation;
use super::hooks::{self, Hook, Seen};
use super::terminal::Terminal;
use crate::model::{Api, Request, Script};
use crate::support::Home;

/// What the client must be told to be quiet and alone.
const ALONE: [(&str, &str); 5] = [
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("ANTHROPIC_API_KEY", KEY),
];

/// The key that the model is asked with. It looks like a real one, and is in two pieces
/// so that nobody takes this file for a leak.
pub(crate) const KEY: &str = concat!(
    "sk-ant-",
    "api03-Zq7vXw2Lr9Tk4Ns6Bf8Hd1Jm3Pc5Gy0Wu2Ea7Ro9Ti4Ks6Dl8Fn1Vb3Mx5Cz0Qh2Yj7Ug9Ew4Ip6Oa8St1-RdKfLgAA"
);

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) home: Home,
    api: Api,
    program: String,
    /// Variables beside those that every client has.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

impl Client {
    pub(crate) fn new(hook: &Hook, script: Script) -> Self {
        demand_the_right_version();
        let this = Self::of_program("claude", script);
        for folder in [this.witnessed(), this.home.path(".claude")] {
            fs::create_dir(folder).unwrap();
        }
        let settings = hooks::settings(hook, &this.witnessed());
        fs::write(this.home.path(".claude/settings.json"), settings.to_string()).unwrap();
        this
    }

    /// A client of any version that is on the PATH by that name, without settings.
    pub(crate) fn of_program(program: &str, script: Script) -> Self {
        let (home, api, program) = (Home::new(), Api::start(script), program.to_owned());
        Self { home, api, program, variables: Vec::new() }
    }

    /// `claude -p PROMPT`, to its end.
    pub(crate) fn ask(&self, arguments: &[&str], prompt: &str) -> Vec<Value> {
        let arguments = [arguments, &["--", prompt]].concat();
        let mut conversation = Conversation::start(&mut self.command(&arguments));
        conversation.wait_for_the_answer();
        conversation.end()
    }

    /// The same with the model behind another URL.
    pub(crate) fn ask_at(&self, url: &str, prompt: &str) -> Vec<Value> {
        let mut command = self.command(&["--", prompt]);
        let mut conversation = Conversation::start(command.env("ANTHROPIC_BASE_URL", url));
        conversation.wait_for_the_answer();
        conversation.end()
    }

    /// URL of the model.
    pub(crate) fn model_url(&self) -> String {
        self.api.url()
    }

    /// The same in another directory.
    pub(crate) fn ask_in(&self, dir: &Path, prompt: &str) -> Vec<Value> {
        let mut conversation = Conversation::start(self.command(&["--", prompt]).current_dir(dir));
        conversation.wait_for_the_answer();
        conversation.end()
    }

    /// A conversation of several prompts in one process.
    pub(crate) fn talk(&self) -> Conversation {
        let mut command = self.command(&["--input-format", "stream-json"]);
        Conversation::start(command.stdin(Stdio::piped()))
    }

    /// The client in a terminal, and a person who has seen it before.
    pub(crate) fn sit_down(&self) -> Terminal {
        let (_, end_of_key) = KEY.split_at(KEY.len() - 20);
        let project = self.home.project();
        let known = json!({
            "hasCompletedOnboarding": true,
            "theme": "dark",
            "customApiKeyResponses": { "approved": [end_of_key], "rejected": [] },
            "projects": { project.to_str().unwrap(): { "hasTrustDialogAccepted": true } },
        });
        let file = self.home.path(".claude.json");
        let mut all: Value =
            fs::read(&file).map_or(json!({}), |bytes| serde_json::from_slice(&bytes).unwrap());
        merge(&mut all, known);
        fs::write(&file, all.to_string()).unwrap();
        let mut command = self.prepared(&[]);
        command.env("TERM", "xterm-256color");
        Terminal::start(command)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let always = ["-p", "--output-format", "stream-json", "--include-hook-events", "--verbose"];
        self.prepared(&[&always, arguments].concat())
    }

    pub(crate) fn prepared(&self, arguments: &[&str]) -> Command {
        let mut command = self.home.prepared(&self.program, arguments);
        command.env("ANTHROPIC_BASE_URL", self.api.url()).envs(ALONE);
        command.envs(self.variables.iter().cloned());
        command
    }

    /// All requests to the model so far, in order.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.api.asked()
    }

    /// The newest request to the model.
    pub(crate) fn last_asked(&self) -> Request {
        self.asked().pop().expect("the model was asked")
    }

    /// All events so far, in order.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        Seen::all(&self.witnessed())
    }

    /// One field of all events of this name so far.
    pub(crate) fn fields(&self, event: &str, field: &str) -> Vec<String> {
        let seen = self.seen();
        let events = seen.iter().filter(|seen| seen.event() == event);
        events.map(|event| event.field(field).to_owned()).collect()
    }

    /// The sources of the sessions' starts so far.
    pub(crate) fn starts(&self) -> Vec<String> {
        self.fields("SessionStart", "source")
    }

    fn witnessed(&self) -> PathBuf {
        self.home.path("witnessed")
    }
}

/// Puts one object into another, to any depth.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The one that `xtask` installs: hooks are an interface without a version of
/// its own, so another client's answers would say nothing.
fn demand_the_right_version() {
    static CHECKED: OnceLock<()> = OnceLock::new();
    CHECKED.get_or_init(|| {
        let manifest = include_str!("../../../../../xtask/clients/claude-code/package.json");
        let manifest: Value = serde_json::from_str(manifest).unwrap();
        let wanted = manifest["dependencies"]["@anthropic-ai/claude-code"].as_str().unwrap();
        let output = Command::new("claude").arg("--version").output();
        let there = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        assert!(
            there.as_ref().is_ok_and(|there| there.starts_with(&format!("{wanted} "))),
            "Claude Code {wanted} is needed, on the PATH is {there:?}: `cargo xtask test --full` brings it"
        );
    });
}
