//! Other programs that remember for Claude Code, with hooks and servers of their own: beside
//! ours, everything would be said twice.

use std::path::Path;

use recoup_core::memory::hooked::{commands, is_wrapper};
use serde_json::{Map, Value};

use super::edit::{Fresh, Json, Step};
use super::entries::Emptied;
use super::entries::hooks::{self, Spot};

/// The programs that are known, by the word that their commands, servers and plug-ins have.
pub(crate) const PEERS: [&str; 2] = ["claude-recall", "claude-mem"];

/// Something of theirs in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Hook(String, Spot),
    Server(String),
    Plugin(String),
}

impl Peer {
    /// What it is, for people.
    pub(crate) fn what(&self) -> String {
        match &self.place {
            Place::Hook(event, _) => format!("{}: its hook for {event}", self.name),
            Place::Server(name) => format!("{}: its server “{name}”", self.name),
            Place::Plugin(name) => format!("{}: its plug-in {name}", self.name),
        }
    }
}

/// What of theirs is in a file, in the order in which it stands there.
pub(crate) fn found(json: &Json) -> Vec<Peer> {
    let fields = |name: &str| match json.at(&[name.into()]) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut found = Vec::new();
    for (event, groups) in fields("hooks") {
        for (spot, hook) in hooks::spots(&groups) {
            let place = Place::Hook(event.clone(), spot);
            found.extend(peer_run_by(hook).map(|name| Peer { name, place }));
        }
    }
    for (server, entry) in fields("mcpServers") {
        let called = PEERS.into_iter().find(|name| *name == server);
        let name = called.or_else(|| peer_run_by(&entry));
        found.extend(name.map(|name| Peer { name, place: Place::Server(server.clone()) }));
    }
    for (plugin, on) in fields("enabledPlugins") {
        let name = peer_in(&plugin).filter(|_| on == Value::Bool(true));
        found.extend(name.map(|name| Peer { name, place: Place::Plugin(plugin.clone()) }));
    }
    found
}

/// Takes it out. A plug-in is switched off, as its user would do it.
pub(crate) fn take(json: &mut Json, peers: &[&Peer]) {
    for peer in peers.iter().rev() {
        match &peer.place {
            Place::Hook(event, spot) => hooks::cut(json, event, &[*spot], Emptied::Any),
            Place::Server(name) => {
                let path: [Step; 2] = ["mcpServers".into(), name.as_str().into()];
                json.remove(&path);
            }
            Place::Plugin(name) => {
                json.set(&["enabledPlugins".into()], name, &Fresh::plain(false));
            }
        }
    }
}

/// Whether a hook or a server runs one of these.
pub(crate) fn is_run_by(entry: &Value, names: &[&str]) -> bool {
    !names.is_empty() && peer_run_by(entry).is_some_and(|name| names.contains(&name))
}

/// Whether a server is one of these.
pub(crate) fn is_server_of(name: &str, entry: &Value, names: &[&str]) -> bool {
    names.contains(&name) || is_run_by(entry, names)
}

/// Whether a plug-in is one of these.
pub(crate) fn is_plugin_of(plugin: &str, names: &[&str]) -> bool {
    peer_in(plugin).is_some_and(|name| names.contains(&name))
}

/// The peer that a hook or a server runs. What else its words name, such as a directory to work
/// in, makes it none of theirs.
fn peer_run_by(entry: &Value) -> Option<&'static str> {
    let command = entry.get("command").and_then(Value::as_str)?;
    let Some(args) = entry.get("args").and_then(Value::as_array) else {
        return commands(command).iter().find_map(|words| peer_in_words(words));
    };
    let args = args.iter().filter_map(Value::as_str);
    let words: Vec<String> = std::iter::once(command).chain(args).map(str::to_owned).collect();
    peer_in_words(&words)
}

/// By the program; where that is known to start others, by the package, the script or the line
/// that it is told to run.
fn peer_in_words(words: &[String]) -> Option<&'static str> {
    let is_set = |word: &&String| word.contains('=') && !word.starts_with(['/', '-']);
    let words = &words[words.iter().take_while(is_set).count()..];
    let (program, rest) = words.split_first()?;
    if let Some(name) = peer_in(program) {
        return Some(name);
    }
    if program.contains(char::is_whitespace) {
        return commands(program).iter().find_map(|words| peer_in_words(words));
    }
    if program != "exec" && !is_wrapper(Path::new(program)) {
        return None;
    }
    let is_option = |word: &&String| {
        word.starts_with('-')
            || word.starts_with(|c: char| c.is_ascii_digit())
            || matches!(word.as_str(), "run" | "exec" | "x" | "dlx")
    };
    peer_in_words(&rest[rest.iter().take_while(is_option).count()..])
}

/// The program that a text names, as a whole word or as the beginning of a file's name.
fn peer_in(text: &str) -> Option<&'static str> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let has = |name: &str| {
        text.match_indices(name).any(|(at, _)| {
            let rest = &text[at + name.len()..];
            let ends = !rest.starts_with(is_letter) || rest.starts_with("-cli");
            ends && !text[..at].ends_with(is_letter)
        })
    };
    PEERS.into_iter().find(|name| has(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_run_counts() {
        let run = |line: &str| commands(line).iter().find_map(|words| peer_in_words(words));
        for theirs in [
            "claude-mem hook",
            "npx -y claude-mem@latest hook",
            "A=1 timeout 10 npx claude-mem hook",
            "node --no-warnings /x/claude-mem/scripts/hook.js",
            "sh -c 'cd /x && npx claude-mem hook'",
            "cd /x && bun run /p/claude-mem/scripts/worker.cjs",
        ] {
            assert_eq!(run(theirs), Some("claude-mem"), "{theirs}");
        }
        for other in [
            "cd ~/src/claude-mem && make lint",
            "mcp-server-filesystem /home/me/src/claude-mem",
            "npx -y @modelcontextprotocol/server-filesystem /home/me/src/claude-mem",
            "echo claude-mem",
            "",
        ] {
            assert_eq!(run(other), None, "{other}");
        }
    }

    #[test]
    fn names_are_whole_words() {
        assert_eq!(peer_in("npx claude-recall hook run x"), Some("claude-recall"));
        let script = "node /x/node_modules/claude-recall/dist/cli/claude-recall-cli.js hook run";
        assert_eq!(peer_in(script), Some("claude-recall"));
        assert_eq!(peer_in("claude-mem@thedotmack"), Some("claude-mem"));
        assert_eq!(peer_in("node ~/.claude-mem/hooks/pre-compact.js"), Some("claude-mem"));
        for other in ["claude-memory", "my-claude-mem", "claude", "recall claude-recaller"] {
            assert_eq!(peer_in(other), None, "{other}");
        }
    }
}
