//! Does a client have our hooks? Whoever starts one wants to know: the rules that
//! its agent will be given are then part of what the run stands for.
//!
//! ```text
//! Claude Code  settings.json of the user, settings.json and settings.local.json of the project
//! Codex        hooks.json of the user and of the project, in the same layout
//! Pi           the extension file that calls us, of the user or of the project
//! ```
//!
//! A file that is not there, not readable, too large or not what it should be says no.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base::fsx;

/// No settings file of a person is larger.
const LARGEST: u64 = 1 << 20;

/// The name of our program, whatever the path to it.
const PROGRAM: &str = "recoup";

/// The argument that makes it a hook.
const HOOK: &str = "hook";

/// A program that runs agents, and can call us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// Pi.
    Pi,
}

impl Client {
    /// The word that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Pi => "pi",
        }
    }

    /// The client that somebody named.
    pub fn named(name: &str) -> Option<Self> {
        [Self::ClaudeCode, Self::Codex, Self::Pi]
            .into_iter()
            .find(|client| client.as_str() == name)
            .or_else(|| Self::of_program(Path::new(name)))
    }

    /// The client that a program is, by the name of its file.
    pub fn of_program(program: &Path) -> Option<Self> {
        match program.file_name()?.to_str()? {
            "claude" => Some(Self::ClaudeCode),
            "codex" => Some(Self::Codex),
            "pi" => Some(Self::Pi),
            _ => None,
        }
    }
}

/// Where clients keep their settings. The directories of the clients are what their
/// variables say (`CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `PI_CODING_AGENT_DIR`): without
/// one they are in the user's home.
#[derive(Debug, Clone, Copy)]
pub struct Places<'a> {
    /// The user's home.
    pub home: &'a Path,
    /// The project's root.
    pub root: &'a Path,
    /// In place of `~/.claude`.
    pub claude_dir: Option<&'a Path>,
    /// In place of `~/.codex`.
    pub codex_dir: Option<&'a Path>,
    /// In place of `~/.pi/agent`.
    pub pi_dir: Option<&'a Path>,
}

impl<'a> Places<'a> {
    /// Where they are unless a variable says otherwise.
    pub fn new(home: &'a Path, root: &'a Path) -> Self {
        Self { home, root, claude_dir: None, codex_dir: None, pi_dir: None }
    }

    fn of(&self, moved: Option<&Path>, usual: &str) -> PathBuf {
        moved.map_or_else(|| self.home.join(usual), Path::to_path_buf)
    }
}

/// Whether `client` calls us, as the user's or the project's settings have it.
pub fn has_our_hooks(client: Client, places: &Places<'_>) -> bool {
    match client {
        Client::ClaudeCode => claude_code(places),
        Client::Codex => {
            let user = places.of(places.codex_dir, ".codex").join("hooks.json");
            let project = places.root.join(".codex/hooks.json");
            [user, project].iter().filter_map(|path| settings(path)).any(|it| calls_us(&it))
        }
        Client::Pi => {
            let user = places.of(places.pi_dir, ".pi/agent").join("extensions");
            [user, places.root.join(".pi/extensions")].iter().any(|dir| has_our_extension(dir))
        }
    }
}

/// The strongest file that says so may switch all hooks off.
fn claude_code(places: &Places<'_>) -> bool {
    let project = places.root.join(".claude");
    let strongest_first = [
        project.join("settings.local.json"),
        project.join("settings.json"),
        places.of(places.claude_dir, ".claude").join("settings.json"),
    ];
    let found: Vec<Value> = strongest_first.iter().filter_map(|path| settings(path)).collect();
    let off = found.iter().find_map(|it| it.get("disableAllHooks")?.as_bool()).unwrap_or(false);
    !off && found.iter().any(calls_us)
}

fn settings(path: &Path) -> Option<Value> {
    let content = fsx::read_regular(path, LARGEST).ok()??;
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&content);
    serde_json::from_slice(content).ok()
}

/// `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}`
fn calls_us(settings: &Value) -> bool {
    let Some(events) = settings.get("hooks").and_then(Value::as_object) else { return false };
    let groups = events.values().filter_map(Value::as_array).flatten();
    let hooks = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    hooks.into_iter().any(is_ours)
}

fn is_ours(hook: &Value) -> bool {
    let is_command = hook.get("type").is_none_or(|kind| kind == "command");
    let Some(command) = hook.get("command").and_then(Value::as_str) else { return false };
    is_command
        && match hook.get("args") {
            // The exec form: no shell reads it.
            Some(Value::Array(args)) => is_us(command) && args.first().is_some_and(|it| it == HOOK),
            _ => shell_calls_us(command),
        }
}

fn is_us(program: &str) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == PROGRAM)
}

/// Whether one of the commands in a line for the shell is ours.
fn shell_calls_us(line: &str) -> bool {
    commands(line).iter().any(|words| {
        // `NAME=value command` sets a variable for it.
        let is_assignment = |word: &&String| {
            word.split_once('=').is_some_and(|(name, _)| {
                !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            })
        };
        let mut words = words.iter().skip_while(is_assignment).skip_while(|word| *word == "exec");
        words.next().is_some_and(|program| is_us(program))
            && words.next().is_some_and(|argument| argument == HOOK)
    })
}

/// The commands of a line, as words: quotes are taken off, operators part commands.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match (quote, c) {
            (Some(end), c) if c == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(rest.next()),
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                close(&mut all, &mut word);
                all.push(Vec::new());
            }
            (None, c) if c.is_whitespace() => close(&mut all, &mut word),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    close(&mut all, &mut word);
    all
}

fn close(all: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(command), Some(word)) = (all.last_mut(), word.take()) {
        command.push(word);
    }
}

/// The file that `recoup init` puts there, or one of that name that does the same.
fn has_our_extension(dir: &Path) -> bool {
    ["recoup.ts", "recoup.js", "recoup/index.ts", "recoup/index.js"].iter().any(|name| {
        let read = fsx::read_regular(&dir.join(name), LARGEST).ok().flatten();
        let says =
            |content: &[u8], word: &str| memchr::memmem::find(content, word.as_bytes()).is_some();
        read.is_some_and(|content| says(&content, PROGRAM) && says(&content, HOOK))
    })
}
