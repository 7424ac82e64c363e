//! The clients that Recoup knows, with their names, and the memory programs that may be beside it.
//! How each client is installed is in `install`.

use recoup_core::memory::HookClient;
use recoup_core::{Error, Result};
use serde::{Deserialize, Serialize};

/// A program that runs agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub(crate) enum AgentClient {
    ClaudeCode,
    Codex,
    Pi,
    Cursor,
    Windsurf,
    VsCode,
    Zed,
    Gemini,
    OpenCode,
}

/// Other memory programs, by the name in their commands, servers and plug-ins.
pub(crate) const PEERS: [&str; 2] = ["claude-recall", "claude-mem"];

impl AgentClient {
    /// Every client, those with hooks first.
    pub(crate) const ALL: [Self; 9] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Pi,
        Self::Cursor,
        Self::Windsurf,
        Self::VsCode,
        Self::Zed,
        Self::Gemini,
        Self::OpenCode,
    ];

    /// Name on the command line and in files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
            Self::Cursor => "cursor",
            Self::Windsurf => "windsurf",
            Self::VsCode => "vscode",
            Self::Zed => "zed",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// Product name.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Pi => "Pi",
            Self::Cursor => "Cursor",
            Self::Windsurf => "Windsurf",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::Gemini => "Gemini CLI",
            Self::OpenCode => "opencode",
        }
    }

    /// Parses a name from the command line.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        let is_named = |it: &Self| {
            // Its program, or its title.
            let aliases: &[&str] = match it {
                Self::ClaudeCode => &["claude"],
                Self::VsCode => &["code", "vs-code"],
                Self::Gemini => &["gemini-cli"],
                _ => &[],
            };
            it.as_str() == word || aliases.contains(&word)
        };
        Self::ALL.into_iter().find(is_named).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("unknown client {word:?}: expected one of {all}"))
        })
    }

    /// The client without hooks that calls itself by this name in MCP, such as `cursor-vscode`,
    /// `Visual Studio Code` or `gemini-cli-mcp-client`.
    pub(crate) fn of_mcp_name(name: &str) -> Option<Self> {
        let name = name.to_lowercase();
        let words: Vec<&str> =
            name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        if words.starts_with(&["visual", "studio", "code"]) {
            return Some(Self::VsCode);
        }
        let is_meant = |client: &Self| words.first() == Some(&client.as_str());
        Self::ALL.into_iter().filter(|client| client.as_hook_client().is_none()).find(is_meant)
    }

    /// Returns the engine's name for a client with hooks.
    pub(crate) fn as_hook_client(self) -> Option<HookClient> {
        HookClient::ALL.iter().copied().find(|client| client.as_str() == self.as_str())
    }
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
