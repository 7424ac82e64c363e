//! The clients that Recoup knows: one table (`table.rs`) of how each is found, which files it reads
//! and what it supports; recognition of our own calls in those files; and the memory programs that
//! may be beside Recoup. Editing the files is `install`'s.

mod call;
mod command;
mod dirs;
mod hook_settings;
mod json_text;
mod overview;
mod permissions;
mod plugin;
mod settings_file;
mod spec;
mod table;
mod toml_json;

pub use call::{
    CallForm, PlacedHook, RecoupCall, call_in_hook, call_in_notify, call_in_server, group_limit,
    hooks_at_event, hooks_at_events, proxy_in_server,
};
pub use command::clients_of_command;
pub use dirs::{ClientDirs, ClientPlaces};
pub use hook_settings::{
    LARGEST, extension_program, has_hooks_in_settings, has_our_hooks, has_our_plugin,
    hooks_disabled_by,
};
pub(crate) use json_text::replace_lone_surrogates;
pub use overview::clients_in_markdown;
pub(crate) use permissions::CommandPermissions;
pub(crate) use plugin::has_our_server;
pub(crate) use settings_file::{
    CODEX_SERVERS, HookLayout, InstalledContent, SettingsFile, SettingsSyntax,
};
pub(crate) use spec::{
    AnswerLayout, AnswerSpec, ClientSpec, ClientVersion, DecisionSupport, FileRole, HookSpec,
    InstallLevel, JsonDialect, ServerEntryShape,
};
pub(crate) use toml_json::{toml_item_to_json, toml_to_json};

use recoup_core::memory::HookClient;
use recoup_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// A program that runs agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum AgentClient {
    ClaudeCode,
    Codex,
    Pi,
    QwenCode,
    CopilotCli,
    Droid,
    KimiCode,
    Gemini,
    Cursor,
    Windsurf,
    VsCode,
    Zed,
    OpenCode,
}

/// Other memory programs, by the name in their commands, servers and plug-ins.
pub(crate) const PEERS: [&str; 2] = ["claude-recall", "claude-mem"];

impl AgentClient {
    /// Every client, those with hooks first.
    pub(crate) const ALL: [Self; 13] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::QwenCode,
        Self::CopilotCli,
        Self::Droid,
        Self::KimiCode,
        Self::Gemini,
        Self::Cursor,
        Self::Windsurf,
        Self::VsCode,
        Self::Zed,
        Self::OpenCode,
    ];

    const COUNT: usize = Self::ALL.len();

    /// Entry in the table of clients.
    pub(crate) fn spec(self) -> &'static ClientSpec {
        table::CLIENTS.iter().find(|it| it.client == self).expect("a test compares both lists")
    }

    /// Name on the command line and in files.
    pub(crate) fn as_str(self) -> &'static str {
        self.spec().name
    }

    /// Product name.
    pub(crate) fn title(self) -> &'static str {
        self.spec().title
    }

    /// Parses a name from the command line.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        let is_named = |it: &Self| it.as_str() == word || it.spec().aliases.contains(&word);
        Self::ALL.into_iter().find(is_named).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("unknown client {word:?}: expected one of {all}"))
        })
    }

    /// True if `record.allow` may name the client: of one without hooks, only its agents can tell us
    /// what the user said. Gemini CLI was one of these.
    pub(crate) fn may_record_rules(self) -> bool {
        self.as_hook_client().is_none() || self == Self::Gemini
    }

    /// The client that may record rules and calls itself by this name in MCP, such as
    /// `cursor-vscode`, `Visual Studio Code` or `gemini-cli-mcp-client`.
    pub(crate) fn of_mcp_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.starts_with(&["visual", "studio", "code"]) {
            return Some(Self::VsCode);
        }
        let is_meant = |client: &Self| words.first() == Some(&client.as_str());
        Self::ALL.into_iter().filter(|client| client.may_record_rules()).find(is_meant)
    }

    /// Returns the engine's name for a client with hooks.
    pub(crate) fn as_hook_client(self) -> Option<HookClient> {
        HookClient::ALL.iter().copied().find(|client| client.as_str() == self.as_str())
    }
}

/// Hooks of a client, by the engine's name for it.
pub(crate) fn hooks_of(client: HookClient) -> &'static HookSpec {
    let mut named = table::CLIENTS.iter().filter(|it| it.name == client.as_str());
    named.find_map(|it| it.hooks.as_ref()).expect("a test compares both lists")
}

impl From<AgentClient> for &str {
    fn from(client: AgentClient) -> Self {
        client.as_str()
    }
}

impl TryFrom<String> for AgentClient {
    type Error = Error;

    fn try_from(word: String) -> Result<Self> {
        Self::parse(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_has_one_entry_with_a_name_of_its_own() {
        for client in AgentClient::ALL {
            let of_client = table::CLIENTS.iter().filter(|it| it.client == client);
            assert_eq!(of_client.count(), 1, "{client:?}");
            let named = AgentClient::ALL.into_iter().filter(|it| it.as_str() == client.as_str());
            assert_eq!(named.count(), 1, "{client:?}");
            assert_eq!(client.spec().hooks.is_some(), client.as_hook_client().is_some());
        }
        for client in HookClient::ALL {
            assert!(!hooks_of(*client).answer.context_events.is_empty(), "{client:?}");
        }
    }

    #[test]
    fn recorded_payloads_name_their_event_and_a_directory() {
        for client in AgentClient::ALL {
            let Some(hooks) = &client.spec().hooks else { continue };
            assert!(!hooks.recorded.is_empty(), "{client:?}");
            for (event, payload) in hooks.recorded {
                let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
                assert!(payload.to_string().contains(&format!("\"{event}\"")), "{event}");
                assert!(payload["cwd"].is_string(), "{event}");
                let is_installed = hooks.events.iter().any(|it| it.name == *event);
                assert!(is_installed || hooks.events.is_empty(), "{client:?}: {event}");
            }
        }
    }
}
