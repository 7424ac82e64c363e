//! Hooks of the supported AI clients: payloads are parsed into common events, handled, and answered
//! in the client's own format.
//!
//! ```text
//! stdin ──► wire (per client) ──► HookEvent ──► handlers ──► HookReply ──► reply (per client) ──► stdout
//! ```

mod claude_code;
mod claude_dialect;
mod codex;
mod cursor;
mod event;
mod handlers;
mod notice;
pub mod outcome;
mod pi;
mod reply;
mod running;
pub(crate) mod stdin;
pub mod user_statement;
pub mod worker;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;

use crate::clients::replace_lone_surrogates;
use recoup_core::memory::HookClient;
use recoup_core::secrets::SecretValues;
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) use event::ClientEntrypoint;
use event::HookEvent;

use crate::app::App;
use crate::config::{BaseDirs, FlagOverrides, ResolvedSettings, env};
use crate::jobs::HookLog;
use crate::transcripts::wire::LenientField;

/// Services of a hook: paths and log. Settings are read only where they matter, because the client
/// waits.
pub(crate) struct HookServices<'a> {
    /// Working directory of this process, and Recoup's own directory.
    places: BaseDirs,
    /// Values of environment variables that are named like credentials.
    hidden: SecretValues,
    /// Log of failures.
    log: &'a HookLog,
    app: OnceCell<Option<&'static App>>,
}

impl<'a> HookServices<'a> {
    pub(crate) fn new(places: BaseDirs, log: &'a HookLog) -> Self {
        Self { places, hidden: env::credentials(), log, app: OnceCell::new() }
    }

    /// Settings, and what they describe, loaded on demand; none if they can't be read.
    fn app(&self) -> Option<&'static App> {
        let open = || App::open(&FlagOverrides::default(), Arc::new(self.log.clone())).ok();
        *self.app.get_or_init(open)
    }

    fn settings(&self) -> Option<&'static ResolvedSettings> {
        self.app().map(|app| &app.settings)
    }
}

/// A hook's input: the payload, and the client if the command line named it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookInput<'a> {
    pub(crate) client: Option<HookClient>,
    pub(crate) payload: &'a [u8],
}

/// Answers a payload in the client's own format; usually there is nothing to say.
pub(crate) fn answer(told: HookInput<'_>, services: &HookServices<'_>) -> Option<String> {
    match read_event(told, &services.hidden) {
        Err(why) => {
            services.log.log_failure(told.client, "a payload was not understood", &why);
            None
        }
        Ok(None) => None,
        Ok(Some(event)) => {
            let reply = handlers::handle_event(&event, services);
            if reply.is_empty() {
                return None;
            }
            let lost = |what: &str| services.log.log_failure(Some(event.client), &event.name, what);
            reply::render(event.answer(), &event.name, &reply, lost)
        }
    }
}

/// Fields that tell the clients' payloads apart.
#[derive(Deserialize)]
struct PayloadShape<'a> {
    #[serde(borrow, default)]
    hook_event_name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    event: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "thread-id")]
    thread: Option<&'a RawValue>,
    #[serde(borrow, default)]
    cursor_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    workspace_roots: Option<&'a RawValue>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(default)]
    transcript_path: LenientField<PathBuf>,
}

/// Parses a payload; none for events that do not concern us. An error never quotes the payload,
/// which may contain the user's words.
fn read_event(told: HookInput<'_>, hidden: &SecretValues) -> Result<Option<HookEvent>, String> {
    let text = str::from_utf8(told.payload).map_err(|_| "it is not UTF-8".to_owned())?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') {
        let why = if text.is_empty() { "it is empty" } else { "it is not a JSON object" };
        return Err(why.to_owned());
    }
    let text = replace_lone_surrogates(text);
    // Command output may contain credentials that no pattern recognises.
    let hidden = hidden.in_json();
    let redacted = hidden.redact(&text);
    let is_changed = redacted != text;
    let parsed = parse_event(&redacted, told.client).map(|event| {
        // What the command printed was something else.
        event.map(|event| HookEvent { output: event.output.filter(|_| !is_changed), ..event })
    });
    parsed.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        format!(
            "it is not JSON as a known client sends it: {:?} error at {line}:{column}",
            error.classify()
        )
    })
}

fn parse_event(text: &str, client: Option<HookClient>) -> serde_json::Result<Option<HookEvent>> {
    let shape: PayloadShape<'_> = serde_json::from_str(text)?;
    if shape.thread.is_some() && shape.hook_event_name.is_none() {
        return serde_json::from_str(text).map(codex::parse_notification);
    }
    // Cursor runs Claude Code's hooks, so the client that the command line names does not count.
    if shape.cursor_version.is_some() || shape.workspace_roots.is_some() {
        let payload = serde_json::from_str(text)?;
        return Ok(cursor::parse_event(&payload));
    }
    let is_claude_code = client.is_none_or(|it| it == HookClient::ClaudeCode);
    let transcript = shape.transcript_path.as_deref();
    let client = match client {
        _ if is_claude_code
            && shape.hook_event_name.is_some()
            && claude_dialect::is_from_copilot(shape.timestamp.is_some(), transcript) =>
        {
            Some(HookClient::CopilotCli)
        }
        client => client,
    };
    if let Some(client) = client.filter(|client| claude_dialect::is_dialect(*client)) {
        return claude_dialect::parse_event(text, client);
    }
    if client == Some(HookClient::Pi) || (client.is_none() && shape.event.is_some()) {
        let payload = serde_json::from_str(text)?;
        return Ok(pi::parse_event(&payload));
    }
    let mut payload: claude_code::ClaudePayload<'_> = serde_json::from_str(text)?;
    // Codex has turns, and calls its transcripts rollouts.
    let name = payload.transcript_path.as_deref().and_then(|path| path.file_name());
    let is_rollout = name.is_some_and(|name| name.to_string_lossy().starts_with("rollout-"));
    let is_codex = match client {
        Some(client) => client == HookClient::Codex,
        None => payload.turn_id.is_some() || is_rollout,
    };
    if is_codex {
        return Ok(codex::parse_event(&payload));
    }
    // Claude Code sends no time. The transcripts of another client that runs its hooks may have any
    // form.
    if shape.timestamp.is_some() {
        payload.transcript_path = LenientField::default();
        payload.agent_transcript_path = LenientField::default();
    }
    Ok(claude_code::parse_event(&payload))
}
