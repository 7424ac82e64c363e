//! Clients that call us from their hooks, by their stored names.

use std::path::Path;

use crate::memory::model::note::words;

words! {
    /// A program that runs agents, and can call us.
    HookClient: "unknown client" {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex CLI.
        Codex = "codex",
        /// Pi.
        Pi = "pi",
        /// Qwen Code.
        QwenCode = "qwen",
        /// GitHub Copilot CLI.
        CopilotCli = "copilot",
        /// Factory Droid.
        Droid = "droid",
        /// Kimi Code.
        KimiCode = "kimi",
        /// Gemini CLI.
        Gemini = "gemini",
    }
}

impl HookClient {
    /// Client with this name, or with a program of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::of_program(Path::new(name))
    }

    /// Client that a program is, by the name of its file.
    pub fn of_program(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()? {
            "claude" => Some(Self::ClaudeCode),
            // The other programs have the client's own name.
            name => Self::parse(name).ok(),
        }
    }
}
