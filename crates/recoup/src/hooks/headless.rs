//! Detects headless runs, in which no person speaks: a script's words are not the user's.

use std::path::Path;

use recoup_core::base::fsx;
use recoup_core::memory::hooked::HookClient;

use super::event::HookEvent;
use crate::config::env;

/// How Claude Code was started, according to `CLAUDE_CODE_ENTRYPOINT`: `cli` on a terminal,
/// `sdk-cli` for `claude -p`, `sdk-ts` and `sdk-py` in a program; editors and the desktop app have
/// names of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientEntrypoint(Option<String>);

impl ClientEntrypoint {
    pub(crate) fn from_env() -> Self {
        Self(env::claude_code_entrypoint())
    }

    pub(crate) fn is_headless(&self) -> bool {
        self.0.as_deref().is_some_and(|entry| {
            entry.starts_with("sdk") || matches!(entry, "mcp" | "claude-code-github-action")
        })
    }
}

/// Bytes read from the start of a rollout, which names its originator.
const HEAD: usize = 4 << 10;

/// True if no person is present to have said it.
pub(super) fn is_headless_event(event: &HookEvent) -> bool {
    match (event.person, event.client) {
        (Some(person), _) => !person,
        (None, HookClient::ClaudeCode) => ClientEntrypoint::from_env().is_headless(),
        (None, HookClient::Codex) => event.transcript.as_deref().is_some_and(is_codex_exec),
        (None, HookClient::Pi) => false,
    }
}

/// True if a script or an agent started the session, as its first line tells:
/// `{"type":"session_meta","payload":{…,"originator":"codex_exec",…}}`
fn is_codex_exec(rollout: &Path) -> bool {
    let Ok(fsx::FileLookup::Regular(file)) = fsx::open_regular(rollout) else { return false };
    let mut head = vec![0; HEAD];
    let read = file.read_at(&mut head, 0).unwrap_or(0);
    let head = &head[..read];
    let first = memchr::memchr(b'\n', head).map_or(head, |end| &head[..end]);
    // A sub-agent's prompts come from an agent.
    [&b"\"originator\":\"codex_exec\""[..], b"\"source\":\"exec\"", b"\"source\":{\"subagent\""]
        .iter()
        .any(|mark| memchr::memmem::find(first, mark).is_some())
}
