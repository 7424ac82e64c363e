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
mod command_clients;
mod settings;

use std::borrow::Cow;
use std::path::Path;

use memchr::memmem;

use recoup_core::base::fsx;
use recoup_core::memory::HookClient;

pub use call::{
    CallForm, PlacedHook, RecoupCall, call_in_hook, call_in_notify, call_in_server, group_limit,
    hooks_at_event, hooks_at_events, proxy_in_server,
};
pub use command_clients::clients_of_command;
pub use settings::{hooks_disabled_by, program_range as extension_program};

/// Largest settings file that is read. Claude Code's own file grows with every project.
pub const LARGEST: u64 = 64 << 20;

/// Name of our program, whatever the path to it.
const PROGRAM: &str = "recoup";

/// Argument that makes it a hook.
const HOOK: &str = "hook";

/// Argument that makes it a server.
const SERVER: &str = "mcp";

/// Argument behind that one that makes it a proxy in front of another server.
const PROXY: &str = "proxy";

/// Directories of clients' settings, which variables may move (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`,
/// `PI_CODING_AGENT_DIR`); without one they are in the user's home.
#[derive(Debug, Clone, Copy)]
pub struct ClientPlaces<'a> {
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

impl<'a> ClientPlaces<'a> {
    /// The default directories, without variables.
    pub fn new(home: &'a Path, root: &'a Path) -> Self {
        Self { home, root, cwd: None, claude_dir: None, codex_dir: None, pi_dir: None }
    }
}

/// True if `client` calls us, by the user's or the project's settings.
pub fn has_our_hooks(client: HookClient, places: &ClientPlaces<'_>) -> bool {
    let (moved, usual) = match client {
        HookClient::ClaudeCode => (places.claude_dir, ".claude"),
        HookClient::Codex => (places.codex_dir, ".codex"),
        HookClient::Pi => (places.pi_dir, ".pi/agent"),
    };
    let user = moved.map_or_else(|| places.home.join(usual), Path::to_path_buf);
    // The project's settings may be in any folder from here up to its root.
    let start = places.cwd.unwrap_or(places.root);
    let within = start.ancestors().take_while(|dir| dir.starts_with(places.root));
    let mut projects: Vec<&Path> = within.collect();
    if projects.is_empty() {
        projects = vec![start, places.root];
    }
    let mut projects = projects.into_iter();
    match client {
        HookClient::ClaudeCode => {
            projects.any(|dir| settings::claude_code_calls_us(&dir.join(".claude"), &user))
        }
        HookClient::Codex => {
            settings::codex_calls_us(&user)
                || projects.any(|dir| settings::codex_calls_us(&dir.join(".codex")))
        }
        HookClient::Pi => {
            let pi = |dir: &Path| settings::has_pi_extension(dir, places.home);
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
    serde_json::from_str(&replace_lone_surrogates(std::str::from_utf8(content).ok()?)).ok()
}

/// Replaces unpaired surrogates. JavaScript writes one (`\ud83d` alone) at the end of a text that
/// it has cut, and no JSON parser of ours takes it. The replacement has the same length.
pub fn replace_lone_surrogates(text: &str) -> Cow<'_, str> {
    // Most texts have none, and a hook is in a hurry.
    if ["\\ud", "\\uD"].iter().all(|half| memmem::find(text.as_bytes(), half.as_bytes()).is_none())
    {
        return Cow::Borrowed(text);
    }
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        let second = unit(at + 6).filter(|it| (0xdc00..0xe000).contains(it));
        from = match (unit(at), second) {
            (Some(0xd800..0xdc00), Some(_)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                whole.to_mut().replace_range(at..at + 6, "\\ufffd");
                at + 6
            }
            _ => text[at + 1..].chars().next().map_or(text.len(), |c| at + 1 + c.len_utf8()),
        };
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_replaced_and_all_else_stays() {
        let cases = [
            (r#""abc\ud83d""#, r#""abc\ufffd""#),
            (r#""\ude00 \ud83d\ud83d\ude00""#, r#""\ufffd \ufffd\ud83d\ude00""#),
            (r#""\ud83d\ude00 \\ud83d \u00e9 ü\"#, r#""\ud83d\ude00 \\ud83d \u00e9 ü\"#),
            (r"\ud8", r"\ud8"),
            (r"\ü\uüü", r"\ü\uüü"),
        ];
        for (text, whole) in cases {
            assert_eq!(replace_lone_surrogates(text), whole, "{text}");
        }
    }
}
