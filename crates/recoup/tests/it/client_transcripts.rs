//! Transcripts as the clients write them, with the shapes of recorded lines.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Home;

/// A transcript that is being written.
pub(crate) struct Transcript {
    path: PathBuf,
    cwd: PathBuf,
    session: String,
}

fn recorded_entry(name: &str) -> Value {
    let entries = include_str!("../fixtures/claude-code/transcript-entries.json");
    let mut entries: Value = serde_json::from_str(entries).unwrap();
    entries[name].take()
}

impl Transcript {
    /// A session of Claude Code in `cwd`.
    pub(crate) fn claude_code(home: &Home, session: &str, cwd: &Path) -> Self {
        let path = home.path(&format!(".claude/projects/-work/{session}.jsonl"));
        Self::at(path, session, cwd)
    }

    /// A session of Codex, which `originator` has started.
    pub(crate) fn codex(home: &Home, session: &str, cwd: &Path, originator: &str) -> Self {
        let path = home.path(&format!(".codex/sessions/2026/11/01/rollout-{session}.jsonl"));
        let rollout = include_str!("../fixtures/codex/rollout.jsonl");
        let mut head: Value = serde_json::from_str(rollout.lines().next().unwrap()).unwrap();
        head["payload"]["id"] = json!(session);
        head["payload"]["cwd"] = json!(cwd);
        head["payload"]["originator"] = json!(originator);
        head["payload"]["source"] = json!(originator.trim_start_matches("codex_"));
        let transcript = Self::at(path, session, cwd);
        transcript.add(&head);
        transcript
    }

    /// A session of Pi.
    pub(crate) fn pi(home: &Home, session: &str, cwd: &Path) -> Self {
        let path = home.path(&format!(".pi/agent/sessions/--work--/{session}.jsonl"));
        let recorded = include_str!("../fixtures/pi/session.jsonl");
        let mut head: Value = serde_json::from_str(recorded.lines().next().unwrap()).unwrap();
        head["id"] = json!(session);
        head["cwd"] = json!(cwd);
        let transcript = Self::at(path, session, cwd);
        transcript.add(&head);
        transcript
    }

    pub(crate) fn at(path: PathBuf, session: &str, cwd: &Path) -> Self {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        Self { path, cwd: cwd.to_owned(), session: session.to_owned() }
    }

    /// Appends a line.
    pub(crate) fn add(&self, line: &Value) {
        let mut text = fs::read_to_string(&self.path).unwrap_or_default();
        text.push_str(&line.to_string());
        text.push('\n');
        fs::write(&self.path, text).unwrap();
    }

    /// A line of Claude Code by its recorded name, in this session.
    pub(crate) fn entry(&self, name: &str, at: &str) -> Value {
        let mut entry = recorded_entry(name);
        entry["timestamp"] = json!(at);
        entry["cwd"] = json!(self.cwd);
        entry["sessionId"] = json!(self.session);
        entry
    }

    /// A prompt that a person typed into Claude Code.
    pub(crate) fn typed(&self, at: &str, text: &str) -> &Self {
        let mut entry = self.entry("user.text.human", at);
        entry["message"]["content"] = json!(text);
        self.add(&entry);
        self
    }

    /// A prompt in Codex.
    pub(crate) fn typed_in_codex(&self, at: &str, text: &str) -> &Self {
        let payload = json!({"type": "user_message", "message": text, "images": []});
        self.add(&json!({"timestamp": at, "type": "event_msg", "payload": payload}));
        self
    }

    /// A prompt in Pi.
    pub(crate) fn typed_in_pi(&self, at: &str, text: &str) -> &Self {
        let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        self.add(&json!({"type": "message", "id": at, "timestamp": at, "message": message}));
        self
    }

    /// A call of a tool of Claude Code and its outcome.
    pub(crate) fn call(&self, id: &str, at: [&str; 2], tool: (&str, Value), output: &str) -> &Self {
        let mut call = self.entry("assistant.tool_use", at[0]);
        call["message"]["id"] = json!(format!("msg_{id}"));
        let block = &mut call["message"]["content"][0];
        (block["id"], block["name"], block["input"]) = (json!(id), json!(tool.0), tool.1);
        call["message"]["model"] = json!("claude-opus-4-5");
        call["message"]["usage"]["input_tokens"] = json!(1_000_000);
        call["message"]["usage"]["output_tokens"] = json!(0);
        self.add(&call);
        let mut outcome = self.entry("user.tool_result", at[1]);
        let block = &mut outcome["message"]["content"][0];
        (block["tool_use_id"], block["content"]) = (json!(id), json!(output));
        outcome["toolUseResult"] = json!({"stdout": output});
        self.add(&outcome);
        self
    }
}
