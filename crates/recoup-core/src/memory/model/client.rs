//! Clients that call us from their hooks, by their stored names.

use std::path::Path;

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

    /// Client with this name, or with a program of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::parse(name).ok().or_else(|| Self::of_program(Path::new(name)))
    }

    /// Parses the stored name of a client.
    pub fn parse(word: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|client| client.as_str() == word).ok_or_else(|| {
            let all = Self::ALL.map(Self::as_str).join(", ");
            Error::usage(format!("unknown client {word:?}: expected one of {all}"))
        })
    }

    /// Client that a program is, by the name of its file.
    pub fn of_program(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()? {
            "claude" => Some(Self::ClaudeCode),
            "codex" => Some(Self::Codex),
            "pi" => Some(Self::Pi),
            _ => None,
        }
    }
}
