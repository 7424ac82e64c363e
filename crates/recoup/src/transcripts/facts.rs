//! Facts about the session that a line belongs to: its id, the directory, the model, and whether a
//! person types there. Claude Code has them on each line, Codex and Pi on lines of their own.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use memchr::memmem;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::bound_name;
use serde::Deserialize;

use super::{claude_code, codex};

/// Facts about a session, as far as the lines up to now tell them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionFacts {
    /// Id of the session.
    pub(crate) session: Option<String>,
    /// Working directory.
    pub(crate) cwd: Option<PathBuf>,
    /// True if a script or an agent writes the prompts.
    pub(crate) is_headless: bool,
    /// Model that answers.
    pub(crate) model: Option<String>,
}

/// Fields of all clients' lines that have one of these facts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FactLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    cwd: Option<Cow<'a, str>>,
    #[serde(borrow)]
    entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, rename = "modelId")]
    model_id: Option<Cow<'a, str>>,
}

/// A line of Codex, with the same fields inside.
#[derive(Debug, Deserialize)]
struct EnvelopedFacts<'a> {
    #[serde(borrow)]
    payload: FactLine<'a>,
}

impl SessionFacts {
    /// True if a line may have facts. Claude Code's prompts and answers do.
    pub(crate) fn are_in(client: HookClient, line: &[u8]) -> bool {
        let has =
            |words: &[&str]| words.iter().any(|it| memmem::find(line, it.as_bytes()).is_some());
        match client {
            HookClient::Codex => has(&["\"session_meta\"", "\"turn_context\""]),
            HookClient::Pi => has(&["\"type\":\"session\"", "\"model_change\""]),
            _ => false,
        }
    }

    /// Takes the facts of a line.
    pub(crate) fn update(&mut self, client: HookClient, line: &[u8]) {
        if client != HookClient::Codex {
            if let Ok(line) = serde_json::from_slice(line) {
                self.take(client, &line);
            }
        } else if let Ok(EnvelopedFacts { payload }) = serde_json::from_slice(line) {
            self.is_headless |= self.session.is_none() && codex::is_headless_header(line);
            self.take(client, &payload);
        }
    }

    fn take(&mut self, client: HookClient, line: &FactLine<'_>) {
        // A fork has the header of the session that it comes from behind its own.
        let id = line.session.as_ref().or(line.id.as_ref().filter(|_| self.session.is_none()));
        let is_claude = client == HookClient::ClaudeCode;
        if let Some(id) = id.filter(|_| !is_claude || line.session.is_some())
            && (is_claude || line.kind == "session" || line.kind.is_empty())
        {
            self.session = Some(bound_name(id));
        }
        if let Some(cwd) = line.cwd.as_deref().map(Path::new).filter(|cwd| cwd.is_absolute()) {
            self.cwd = Some(cwd.to_owned());
        }
        if let Some(entry) = &line.entrypoint {
            self.is_headless = claude_code::is_headless_entrypoint(entry);
        }
        if let Some(model) = line.model.as_ref().or(line.model_id.as_ref()) {
            self.model = Some(bound_name(model));
        }
    }
}

/// True if a line may be a person's prompt: a cheap test before anything is parsed. In a text, the
/// quotes around these words would be escaped.
pub(crate) fn may_be_prompt(client: HookClient, line: &[u8]) -> bool {
    let has = |word: &str| memmem::find(line, word.as_bytes()).is_some();
    match client {
        HookClient::ClaudeCode => {
            (has("\"user\"") && !has("\"tool_result\"")) || has("\"queued_command\"")
        }
        HookClient::Codex => has("\"user_message\""),
        HookClient::Pi => has("\"role\":\"user\""),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(client: HookClient, lines: &str) -> SessionFacts {
        let mut facts = SessionFacts::default();
        for line in lines.lines().map(str::as_bytes) {
            if client == HookClient::ClaudeCode || SessionFacts::are_in(client, line) {
                facts.update(client, line);
            }
        }
        facts
    }

    #[test]
    fn recorded_sessions_name_their_directory_and_their_start() {
        let codex =
            facts(HookClient::Codex, include_str!("../../tests/fixtures/codex/rollout.jsonl"));
        assert_eq!(codex.session.as_deref(), Some("01a1e0ed-7a98-7610-b1cf-6d37f69ce29d"));
        assert_eq!(codex.cwd.as_deref(), Some(Path::new("/home/dev/work")));
        assert_eq!((codex.is_headless, codex.model.as_deref()), (true, Some("gpt-5")));
        let pi = facts(HookClient::Pi, include_str!("../../tests/fixtures/pi/session.jsonl"));
        assert_eq!(pi.session.as_deref(), Some("5a1c0000-0000-4000-8000-000000000001"));
        assert_eq!(pi.cwd.as_deref(), Some(Path::new("/home/dev/work")));
        assert_eq!((pi.is_headless, pi.model.as_deref()), (false, Some("fake-model")));
        let entries = include_str!("../../tests/fixtures/claude-code/transcript-entries.json");
        let entries: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(entries).unwrap();
        let of = |name: &str| facts(HookClient::ClaudeCode, &entries[name].to_string());
        assert!(of("user.text").is_headless);
        let typed = of("user.text.human");
        assert!(!typed.is_headless);
        assert_eq!(typed.session.as_deref(), Some("46231397-1912-4f82-b5ff-ad0080ecacec"));
        assert_eq!(typed.cwd.as_deref(), Some(Path::new("/home/dev/work")));
    }

    #[test]
    fn only_lines_that_may_be_prompts_are_parsed() {
        let entries = include_str!("../../tests/fixtures/claude-code/transcript-entries.json");
        let entries: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(entries).unwrap();
        let may = |name: &str| {
            may_be_prompt(HookClient::ClaudeCode, entries[name].to_string().as_bytes())
        };
        for prompt in ["user.text", "user.text.human", "attachment.queued_command"] {
            assert!(may(prompt), "{prompt}");
        }
        for other in ["user.tool_result", "assistant.text", "queue-operation", "cost-state"] {
            assert!(!may(other), "{other}");
        }
    }
}
