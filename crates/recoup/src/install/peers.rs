//! Other memory programs for Claude Code, with hooks and servers of their own: beside ours,
//! everything would be said twice.

use std::collections::BTreeSet;
use std::path::Path;

use recoup_core::memory::shell::{command_words, is_wrapper};
use serde_json::{Map, Value};

use super::edit::{
    EmptiedContainers, JsonDialect, JsonPathStep, NewValue, SettingsSyntax, SettingsSyntaxError,
    SettingsText, path_names, steps,
};
use super::entries::hooks;
use crate::clients::PEERS;

const HOOKS: &str = "hooks";
const SERVERS: &str = "mcpServers";
const PLUGINS: &str = "enabledPlugins";

/// An entry of another memory program in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PeerEntry {
    pub(crate) name: &'static str,
    /// Kind and name of the entry, for people.
    what: String,
    path: Vec<JsonPathStep>,
}

impl PeerEntry {
    fn new(name: &'static str, what: String, path: Vec<JsonPathStep>) -> Self {
        Self { name, what, path }
    }

    /// Description for people.
    pub(crate) fn description(&self) -> String {
        format!("{}: its {}", self.name, self.what)
    }
}

/// Finds the entries of other memory programs, in the order of the file.
pub(crate) fn find_peers(file: &SettingsText) -> Vec<PeerEntry> {
    let fields = |name: &str| match file.value_at(&[name.into()]) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let mut found = Vec::new();
    for (event, groups) in fields(HOOKS) {
        for (path, hook) in hooks::all_hooks(&event, &groups) {
            let entry = |name| PeerEntry::new(name, format!("hook for {event}"), path);
            found.extend(peer_run_by(hook).map(entry));
        }
    }
    let mut add_servers = |above: &[JsonPathStep], place: &str, servers: &Map<String, Value>| {
        for (server, entry) in servers {
            let path = [above, &[SERVERS.into(), server.as_str().into()]].concat();
            let what = format!("server “{server}”{place}");
            found.extend(peer_of(server, entry).map(|name| PeerEntry::new(name, what, path)));
        }
    };
    add_servers(&[], "", &fields(SERVERS));
    for (root, project) in fields("projects") {
        if let Some(servers) = project.get(SERVERS).and_then(Value::as_object) {
            add_servers(&steps(&["projects", &root]), &format!(" for {root}"), servers);
        }
    }
    for (plugin, _) in fields(PLUGINS).iter().filter(|(_, on)| **on == Value::Bool(true)) {
        let path = steps(&[PLUGINS, plugin]);
        let entry = |name| PeerEntry::new(name, format!("plugin {plugin}"), path);
        found.extend(peer_in(plugin).map(entry));
    }
    found
}

/// Returns the programs that an earlier version of a JSON file had and this one lacks, each once.
pub(crate) fn removed_peers(earlier: &[u8], now: &[u8]) -> Vec<&'static str> {
    let names = |bytes: &[u8]| {
        let syntax = SettingsSyntax::Json(JsonDialect::Comments);
        let file = SettingsText::read(Some(bytes), syntax).ok();
        file.iter().flat_map(find_peers).map(|peer| peer.name).collect::<BTreeSet<_>>()
    };
    // Cheap check first: most files never had any, and some are large.
    let text = String::from_utf8_lossy(earlier);
    if !PEERS.iter().any(|name| text.contains(name)) {
        return Vec::new();
    }
    names(earlier).difference(&names(now)).copied().collect()
}

/// Removes entries. A plug-in is disabled, as the user would do it.
pub(crate) fn remove_peers(
    file: &mut SettingsText,
    peers: &[&PeerEntry],
) -> Result<(), SettingsSyntaxError> {
    for peer in peers.iter().rev() {
        match &*path_names(&peer.path) {
            [table, plugin] if table == PLUGINS => {
                file.set(&[PLUGINS.into()], plugin, &NewValue::plain(false))?;
            }
            [hooks, ..] if hooks == HOOKS => {
                hooks::remove_hook(file, &peer.path, EmptiedContainers::Any)?;
            }
            _ => file.remove(&peer.path, EmptiedContainers::Made(&[]))?,
        }
    }
    Ok(())
}

/// Returns the program that a server belongs to, by its name or command.
pub(crate) fn peer_of(server: &str, entry: &Value) -> Option<&'static str> {
    PEERS.into_iter().find(|name| *name == server).or_else(|| peer_run_by(entry))
}

/// Returns the program that a hook or a server runs. Other arguments, such as a working directory,
/// do not count.
pub(crate) fn peer_run_by(entry: &Value) -> Option<&'static str> {
    let command = entry.get("command").and_then(Value::as_str)?;
    let Some(args) = entry.get("args").and_then(Value::as_array) else {
        return command_words(command).iter().find_map(|words| peer_in_words(words));
    };
    let args = args.iter().filter_map(Value::as_str);
    let words: Vec<String> = std::iter::once(command).chain(args).map(str::to_owned).collect();
    peer_in_words(&words)
}

/// Identifies a command by its program, or, for known wrappers, by the package, script or line
/// that it runs.
fn peer_in_words(words: &[String]) -> Option<&'static str> {
    let is_set = |word: &&String| word.contains('=') && !word.starts_with(['/', '-']);
    let words = &words[words.iter().take_while(is_set).count()..];
    let (program, rest) = words.split_first()?;
    if program.contains(char::is_whitespace) {
        return command_words(program).iter().find_map(|words| peer_in_words(words));
    }
    if let Some(name) = peer_called(program) {
        return Some(name);
    }
    if program != "exec" && !is_wrapper(Path::new(program)) {
        return None;
    }
    let is_option = |word: &&String| {
        word.starts_with('-')
            || word.starts_with(|c: char| c.is_ascii_digit())
            || matches!(word.as_str(), "run" | "exec" | "x" | "dlx" | "tool")
    };
    let (options, rest) = rest.split_at(rest.iter().take_while(is_option).count());
    // The package of a program: `--package=NAME program`, `-p NAME program`.
    let named = options.iter().find_map(|option| peer_called(option.strip_prefix("--package=")?));
    let apart = options.last().is_some_and(|last| matches!(last.as_str(), "-p" | "--package"));
    // A JavaScript file is theirs wherever their directory is.
    let script = rest.first().filter(|word| {
        let ending = Path::new(word).extension().and_then(|it| it.to_str());
        matches!(ending, Some("js" | "cjs" | "mjs" | "ts" | "mts"))
    });
    named
        .or_else(|| script.and_then(|script| peer_in(script)))
        .or_else(|| peer_in_words(rest))
        .or_else(|| peer_in_words(rest.get(1..).filter(|_| apart)?))
}

/// Identifies a program or a package by its file name, or by an installation directory. A file
/// elsewhere below a directory of that name may be anybody's work.
fn peer_called(program: &str) -> Option<&'static str> {
    let path = Path::new(program);
    let named = path.file_name().and_then(|name| name.to_str()).and_then(|name| {
        let name = name.split('@').next().unwrap_or(name);
        PEERS.into_iter().find(|peer| {
            let rest = name.strip_prefix(peer);
            rest.is_some_and(|it| it.is_empty() || it.starts_with('.') || it.starts_with("-cli"))
        })
    });
    let installed = |peer: &&'static str| {
        let parts: Vec<_> = path.components().map(|it| it.as_os_str().to_string_lossy()).collect();
        parts.iter().any(|part| part.strip_prefix('.') == Some(*peer))
            || parts
                .windows(2)
                .any(|it| matches!(&*it[0], "node_modules" | "plugins") && it[1] == **peer)
    };
    named.or_else(|| PEERS.into_iter().find(installed))
}

/// Returns the program that a text names, as a whole word or as the beginning of a file name.
pub(crate) fn peer_in(text: &str) -> Option<&'static str> {
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
        let run = |line: &str| command_words(line).iter().find_map(|words| peer_in_words(words));
        for theirs in [
            "claude-mem hook",
            "npx -y claude-mem@latest hook",
            "A=1 timeout 10 npx claude-mem hook",
            "node --no-warnings /x/claude-mem/scripts/hook.js",
            "sh -c 'cd /x && npx claude-mem hook'",
            "cd /x && bun run /p/claude-mem/scripts/worker.cjs",
            "npx --package=claude-mem cm",
            "npx -y -p claude-mem@1.2 cm",
            "uvx claude-mem",
            "/home/me/.claude-mem/bin/run.sh",
            "/x/node_modules/claude-mem/bin/run",
            "/usr/bin/claude-mem-cli hook",
        ] {
            assert_eq!(run(theirs), Some("claude-mem"), "{theirs}");
        }
        for other in [
            "cd ~/src/claude-mem && make lint",
            "mcp-server-filesystem /home/me/src/claude-mem",
            "npx -y @modelcontextprotocol/server-filesystem /home/me/src/claude-mem",
            "echo claude-mem",
            "sh -c \"cd claude-mem && ls\"",
            "bash -c 'cd ~/src/claude-mem && make lint'",
            "/home/me/src/claude-mem/tools/lint.sh",
            "bash /home/me/src/claude-mem/tools/lint.sh",
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
