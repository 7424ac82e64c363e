//! Detection of our hooks in a client's settings. Whoever runs a client needs it for the cache key:
//! the rules that its agent will be given are then part of it.
//!
//! ```text
//! Claude Code  settings.json of the user, settings.json and settings.local.json of the project
//! Codex        hooks.json and config.toml of the user and of the project
//! Pi           the extensions of the user and of the project, and those that settings.json lists
//! ```
//!
//! A client has our hooks if one of its hooks is a call of ours (`call.rs`). A file that is
//! missing, unreadable, too large or malformed has none, as for the client. Where clients differ in
//! what they read, any reading with our hooks counts: a rule too many in a key costs a run, one too
//! few gives out an answer that was made without it.

mod call;
mod client;
mod extension;
mod letters;
mod settings;
mod shell;

use std::path::{Path, PathBuf};

use crate::base::fsx;

pub use call::{Call, How, Placed, at_event, at_events, hook, limit, notify, server};
pub use client::{Client, is_wrapper};
pub use extension::program as extension_program;
pub use letters::with_whole_letters;
pub use settings::switched_off;
pub use shell::commands;

/// Largest settings file that is read. Claude Code's own file grows with every project.
pub const LARGEST: u64 = 64 << 20;

/// Name of our program, whatever the path to it.
const PROGRAM: &str = "recoup";

/// Argument that makes it a hook.
const HOOK: &str = "hook";

/// Argument that makes it a server.
const SERVER: &str = "mcp";

/// Directories of clients' settings, which variables may move (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`,
/// `PI_CODING_AGENT_DIR`); without one they are in the user's home.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The user's home.
    pub home: &'a Path,
    /// The project's root.
    pub root: &'a Path,
    /// Working directory of the client, if that is not the root: settings on the way to the root
    /// count too.
    pub cwd: Option<&'a Path>,
    /// In place of `~/.claude`.
    pub claude_dir: Option<&'a Path>,
    /// In place of `~/.codex`.
    pub codex_dir: Option<&'a Path>,
    /// In place of `~/.pi/agent`.
    pub pi_dir: Option<&'a Path>,
}

impl<'a> Places<'a> {
    /// The default directories, without variables.
    pub fn new(home: &'a Path, root: &'a Path) -> Self {
        Self { home, root, cwd: None, claude_dir: None, codex_dir: None, pi_dir: None }
    }

    /// Directory of the user's settings.
    fn of_user(&self, client: Client) -> PathBuf {
        let (moved, usual) = match client {
            Client::ClaudeCode => (self.claude_dir, ".claude"),
            Client::Codex => (self.codex_dir, ".codex"),
            Client::Pi => (self.pi_dir, ".pi/agent"),
        };
        moved.map_or_else(|| self.home.join(usual), Path::to_path_buf)
    }

    /// Directories whose settings may be the project's, the closest first.
    fn of_project(&self) -> Vec<&'a Path> {
        let start = self.cwd.unwrap_or(self.root);
        let mut dirs: Vec<&Path> =
            start.ancestors().take_while(|dir| dir.starts_with(self.root)).collect();
        if dirs.is_empty() {
            dirs = vec![start, self.root];
        }
        dirs
    }
}

/// True if `client` calls us, by the user's or the project's settings.
pub fn has_our_hooks(client: Client, places: &Places<'_>) -> bool {
    let user = places.of_user(client);
    let mut projects = places.of_project().into_iter();
    match client {
        Client::ClaudeCode => {
            projects.any(|dir| settings::claude_code(&dir.join(".claude"), &user))
        }
        Client::Codex => {
            settings::codex(&user) || projects.any(|dir| settings::codex(&dir.join(".codex")))
        }
        Client::Pi => {
            let pi = |dir: &Path| extension::of_pi(dir, places.home);
            pi(&user) || projects.any(|dir| pi(&dir.join(".pi")))
        }
    }
}

/// Content of a file; none if it can't be read, or is too large.
fn content(path: &Path) -> Option<Vec<u8>> {
    fsx::read_regular(path, LARGEST).ok()?
}

/// Content of a JSON file.
fn json(path: &Path) -> Option<serde_json::Value> {
    let content = content(path)?;
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    serde_json::from_str(&with_whole_letters(std::str::from_utf8(content).ok()?)).ok()
}
