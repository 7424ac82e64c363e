//! Transcripts that clients write: where they are, their lines as common entries, the sessions that
//! they belong to, and the tokens that were paid for.
//!
//! Only regular files are read, in a bounded buffer. What is unknown yields no entry.

pub(crate) mod claude_code;
pub(crate) mod codex;
pub mod excerpt;
pub(crate) mod facts;
pub(crate) mod find;
mod forward_lines;
pub(crate) mod parallel;
pub(crate) mod pi;
pub mod reverse_lines;
pub(crate) mod usage;
pub(crate) mod wire;

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::TranscriptEntry;

/// Parses one line of a client's transcript into entries.
pub fn parse_entries(client: HookClient, line: &[u8]) -> Vec<TranscriptEntry> {
    match client {
        HookClient::ClaudeCode => claude_code::parse_entries(line),
        HookClient::Codex => codex::parse_entries(line),
        HookClient::Pi => pi::parse_entries(line),
        // Their transcripts are not read.
        HookClient::QwenCode
        | HookClient::CopilotCli
        | HookClient::Droid
        | HookClient::KimiCode
        | HookClient::Gemini => Vec::new(),
    }
}
