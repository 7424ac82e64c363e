//! What of ours is in the settings of clients, as the clients read them.

use std::path::{Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::memory::hooked::our_words;
use serde_json::Value;

use super::client::{Client, Holds, Level, Slot};
use super::edit::{Dialect, toml, tree};
use super::entries::hooks;
use super::extension;
use super::ours::{self, Call};
use super::places::Places;

/// No settings file of a person is larger. Claude Code's own file grows with every project.
pub(crate) const LARGEST: u64 = 64 << 20;

/// What of ours is in one file.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) client: Client,
    pub(crate) level: Level,
    pub(crate) path: PathBuf,
    pub(crate) hooks: Vec<HookCommand>,
    pub(crate) servers: Vec<Server>,
    /// The client is told there to run no hooks at all.
    pub(crate) hooks_off: bool,
    /// Why the client can't read the file, where it can't: then nothing counts that is in it.
    pub(crate) fault: Option<String>,
}

/// A command of ours that a client runs at an event.
#[derive(Debug, Clone)]
pub(crate) struct HookCommand {
    /// As the client calls it; none for an extension, which hears of all it wants.
    pub(crate) event: Option<String>,
    /// Which tools or sources it is limited to; none where it is for all.
    pub(crate) limit: Option<String>,
    /// The client does not wait for it, and takes no answer.
    pub(crate) in_background: bool,
    pub(crate) call: Call,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}

/// A server of ours that a client starts.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) call: Call,
}

/// Everything of ours, in files of the user and of the project; and the files that can't be
/// read.
pub(crate) fn installed(places: &Places) -> Vec<Installation> {
    let levels = Level::ALL.into_iter();
    let slots = levels
        .flat_map(|level| Client::ALL.into_iter().flat_map(move |it| it.slots(level, places)));
    slots.filter_map(|slot| in_slot(&slot)).collect()
}

/// What of ours is in one file; none where that is nothing.
pub(crate) fn in_slot(slot: &Slot) -> Option<Installation> {
    let mut found = Installation {
        client: slot.client,
        level: slot.level,
        path: slot.path.clone(),
        hooks: Vec::new(),
        servers: Vec::new(),
        hooks_off: false,
        fault: None,
    };
    match content(&slot.path).and_then(|text| text.map(|it| look(slot, &it)).transpose()) {
        Ok(None) => return None,
        Ok(Some(seen)) => {
            found.hooks = seen.hooks;
            found.servers = seen.servers;
            found.hooks_off = seen.hooks_off;
        }
        Err(why) => found.fault = Some(why),
    }
    let nothing = found.hooks.is_empty() && found.servers.is_empty() && found.fault.is_none();
    (!nothing).then_some(found)
}

/// Whether Codex's `config.toml` calls us at events, as somebody has written by hand.
pub(crate) fn calls_by_hand(root: &Value) -> bool {
    let words = root.get("notify").and_then(Value::as_array).into_iter().flatten();
    let words: Vec<String> = words.filter_map(Value::as_str).map(str::to_owned).collect();
    our_words(&words).is_some() || root.get("hooks").is_some_and(|it| !hooks_in(it).is_empty())
}

/// Whether the client is told in that file to run no hooks at all.
pub(crate) fn hooks_are_off(slot: &Slot) -> bool {
    let text = content(&slot.path).ok().flatten();
    text.and_then(|text| look(slot, &text).ok()).is_some_and(|seen| seen.hooks_off)
}

#[derive(Default)]
struct Seen {
    hooks: Vec<HookCommand>,
    servers: Vec<Server>,
    hooks_off: bool,
}

fn content(path: &Path) -> Result<Option<String>, String> {
    let bytes = fsx::read_regular(path, LARGEST).map_err(|error| error.to_string())?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| "it is not UTF-8".to_owned())
}

fn look(slot: &Slot, text: &str) -> Result<Seen, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = |dialect| {
        let root = tree::parse(text, dialect).map_err(|fault| fault.to_string())?;
        Ok::<_, String>(root.map(|root| root.value(text)).unwrap_or_default())
    };
    Ok(match &slot.holds {
        Holds::Hooks(_) => in_settings(&parsed(Dialect::Strict)?),
        Holds::Servers(servers) => {
            let root = parsed(servers.dialect)?;
            let all = servers.at.iter().try_fold(&root, |value, name| value.get(name));
            Seen { servers: all.map(servers_in).unwrap_or_default(), ..Seen::default() }
        }
        Holds::TomlServers => {
            let root = toml::value(text).map_err(|fault| fault.to_string())?;
            let servers = root.get("mcp_servers").map(servers_in).unwrap_or_default();
            let off = ["hooks", "codex_hooks"].iter().any(|name| {
                root.get("features").and_then(|it| it.get(name)) == Some(&false.into())
            });
            let hooks = root.get("hooks").map(hooks_in).unwrap_or_default();
            Seen { hooks, servers, hooks_off: off }
        }
        Holds::Extension => {
            let call = extension::program(text).map(|program| Call {
                program,
                args: ["hook", "--client", "pi"].map(str::to_owned).to_vec(),
                line: None,
                wrapped: false,
            });
            let hook = |call| HookCommand {
                event: None,
                limit: None,
                in_background: false,
                call,
                timeout: None,
            };
            Seen { hooks: call.into_iter().map(hook).collect(), ..Seen::default() }
        }
    })
}

fn in_settings(root: &Value) -> Seen {
    Seen {
        hooks: root.get("hooks").map(hooks_in).unwrap_or_default(),
        servers: Vec::new(),
        hooks_off: root.get("disableAllHooks") == Some(&Value::Bool(true)),
    }
}

/// All calls of ours in `{EVENT: [{"matcher": …, "hooks": [HOOK…]}…]…}`.
fn hooks_in(hooks: &Value) -> Vec<HookCommand> {
    let mut found = Vec::new();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        for group in groups.as_array().into_iter().flatten() {
            let limit = hooks::limit(group);
            let hooks = group.get("hooks").and_then(Value::as_array);
            for hook in hooks.into_iter().flatten() {
                let Some(call) = ours::hook(hook) else { continue };
                found.push(HookCommand {
                    event: Some(event.clone()),
                    limit: limit.map(str::to_owned),
                    in_background: hook.get("async") == Some(&Value::Bool(true)),
                    call,
                    timeout: hook.get("timeout").and_then(Value::as_u64),
                });
            }
        }
    }
    found
}

fn servers_in(servers: &Value) -> Vec<Server> {
    let all = servers.as_object().into_iter().flatten();
    all.filter_map(|(_, entry)| Some(Server { call: ours::server(entry)? })).collect()
}
