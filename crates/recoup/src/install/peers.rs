//! Other programs that remember for Claude Code, with hooks and servers of their own: beside
//! ours, everything would be said twice.

use serde_json::Value;

use super::edit::{Fresh, Json, Step};
use super::entries::Emptied;
use super::entries::hooks::{self, Spot};

/// The programs that are known, by the word that their commands, servers and plug-ins have.
const PEERS: [&str; 2] = ["claude-recall", "claude-mem"];

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
pub(crate) fn found(root: &Value) -> Vec<Peer> {
    let fields = |name: &str| root.get(name).and_then(Value::as_object).into_iter().flatten();
    let mut found = Vec::new();
    for (event, groups) in fields("hooks") {
        for (spot, hook) in hooks::spots(groups) {
            let texts = [hook.get("command"), hook.get("args")].into_iter().flatten();
            let text: String = texts.map(Value::to_string).collect();
            let place = Place::Hook(event.clone(), spot);
            found.extend(peer_in(&text).map(|name| Peer { name, place }));
        }
    }
    for (server, entry) in fields("mcpServers") {
        let name = peer_in(server).or_else(|| peer_in(&entry.to_string()));
        found.extend(name.map(|name| Peer { name, place: Place::Server(server.clone()) }));
    }
    for (plugin, on) in fields("enabledPlugins") {
        let name = peer_in(plugin).filter(|_| *on == Value::Bool(true));
        found.extend(name.map(|name| Peer { name, place: Place::Plugin(plugin.clone()) }));
    }
    found
}

/// Takes it out. A plug-in is switched off, as its user would do it.
pub(crate) fn take(json: &mut Json, peers: &[Peer]) {
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
