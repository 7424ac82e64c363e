//! Clients, with the names under which they are stored.

use crate::error::{Error, Result};

/// A program that runs agents, and can call us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookClient {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Pi.
    Pi,
}

impl HookClient {
    /// All clients.
    pub const ALL: [Self; 3] = [Self::ClaudeCode, Self::Codex, Self::Pi];

    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
        }
    }

    /// Parses the stored name of a client.
    pub fn parse(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == word).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("unknown client {word:?}: expected one of {all}"))
        })
    }
}
