//! Our entries in the settings of clients, as the clients read them.

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::fsx;
pub(crate) use recoup_core::memory::hooked::LARGEST;
use recoup_core::memory::hooked::{self, Call};
use serde_json::Value;

use super::change::Party;
use super::client::{Client, Holds, Level, Slot};
use super::edit::{Dialect, toml, tree};
use super::entries::servers::{self, SERVER};
use super::extension;
use super::places::Places;
use super::receipt::Receipt;

/// Our entries in one file.
#[derive(Debug, Clone)]
pub(crate) struct Installation {
    pub(crate) client: Client,
    pub(crate) level: Level,
    pub(crate) path: PathBuf,
    pub(crate) hooks: Vec<HookCommand>,
    pub(crate) servers: Vec<Server>,
    /// Describes another server with our name.
    pub(crate) taken: Option<String>,
    /// Why the client cannot read the file: then none of it is in effect.
    pub(crate) fault: Option<String>,
}

/// A command of ours that a client runs at an event.
#[derive(Debug, Clone)]
pub(crate) struct HookCommand {
    /// Event name of the client; none for an extension, which subscribes by itself.
    pub(crate) event: Option<String>,
    /// Tools or sources that it is limited to; none if it is for all.
    pub(crate) limit: Option<String>,
    /// Runs asynchronously, so that its answer is discarded.
    pub(crate) in_background: bool,
    pub(crate) call: Call,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}

/// Our server in a client's settings.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) call: Call,
    /// Disabled by the user.
    pub(crate) off: bool,
}

/// A file in the receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) client: Client,
    pub(crate) level: Level,
    pub(crate) path: PathBuf,
}

/// Returns the receipt's files for the user and for this project.
pub(crate) fn noted(places: &Places) -> Result<Vec<Noted>> {
    let receipt = Receipt::read(&places.own)?;
    let is_here = |party: &&Party| party.root.as_ref().is_none_or(|root| *root == places.root);
    let noted = receipt.files.iter().flat_map(|entry| {
        entry.parties.iter().filter(is_here).map(|party| Noted {
            client: party.client,
            level: party.level,
            path: entry.path.clone(),
        })
    });
    Ok(noted.collect())
}

/// Finds our entries in the files of the user and of the project; also reports unreadable files.
pub(crate) fn installed(places: &Places) -> Vec<Installation> {
    let levels = Level::ALL.into_iter();
    let slots = levels
        .flat_map(|level| Client::ALL.into_iter().flat_map(move |it| it.slots(level, places)));
    slots.filter_map(|slot| in_slot(&slot)).collect()
}

/// Finds our entries in one file; none if it has none.
pub(crate) fn in_slot(slot: &Slot) -> Option<Installation> {
    let mut found = Installation {
        client: slot.client,
        level: slot.level,
        path: slot.path.clone(),
        hooks: Vec::new(),
        servers: Vec::new(),
        taken: None,
        fault: None,
    };
    match content(&slot.path).and_then(|text| text.map(|it| look(slot, &it)).transpose()) {
        Ok(None) => return None,
        Ok(Some(seen)) => {
            found.hooks = seen.hooks;
            found.servers = seen.servers;
            found.taken = seen.taken;
        }
        Err(why) => found.fault = Some(why),
    }
    let nothing = found.hooks.is_empty() && found.servers.is_empty() && found.fault.is_none();
    (!nothing || found.taken.is_some()).then_some(found)
}

#[derive(Default)]
struct Seen {
    hooks: Vec<HookCommand>,
    servers: Vec<Server>,
    taken: Option<String>,
}

fn content(path: &Path) -> std::result::Result<Option<String>, String> {
    let bytes = fsx::read_regular(path, LARGEST).map_err(|error| error.to_string())?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|_| "it is not UTF-8".to_owned())
}

fn look(slot: &Slot, text: &str) -> std::result::Result<Seen, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let parsed = |dialect| {
        let root = tree::parse(text, dialect).map_err(|fault| fault.to_string())?;
        Ok::<_, String>(root.map(|root| root.value(text)).unwrap_or_default())
    };
    Ok(match &slot.holds {
        Holds::Hooks(_) => {
            let root = parsed(Dialect::Strict)?;
            in_hooks(root.get("hooks"))
        }
        Holds::Servers(known) => {
            let root = parsed(known.dialect)?;
            let all = known.at.iter().try_fold(&root, |value, name| value.get(name));
            in_servers(all)
        }
        Holds::TomlServers => {
            let root = toml::value(text).map_err(|fault| fault.to_string())?;
            let hooks = in_hooks(root.get("hooks")).hooks;
            Seen { hooks, ..in_servers(root.get("mcp_servers")) }
        }
        Holds::Extension => {
            let call = extension::program(text).map(|program| {
                Call::plain(program, ["hook", "--client", "pi"].map(str::to_owned).to_vec())
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

fn in_hooks(hooks: Option<&Value>) -> Seen {
    let command = |(event, it): (&str, hooked::Placed<'_>)| HookCommand {
        event: Some(event.to_owned()),
        limit: it.limit.map(str::to_owned),
        in_background: it.hook.get("async") == Some(&Value::Bool(true)),
        timeout: it.hook.get("timeout").and_then(Value::as_u64),
        call: it.call,
    };
    let hooks = hooks.into_iter().flat_map(hooked::at_events).map(command).collect();
    Seen { hooks, ..Seen::default() }
}

fn in_servers(servers: Option<&Value>) -> Seen {
    let all = servers.and_then(Value::as_object).into_iter().flatten();
    let ours = |entry: &Value| Some(Server { call: hooked::server(entry)?, off: is_off(entry) });
    let ours: Vec<Server> = all.filter_map(|(_, entry)| ours(entry)).collect();
    let other = servers.and_then(|all| all.get(SERVER)).filter(|_| ours.is_empty());
    Seen { taken: other.map(servers::is_taken), servers: ours, ..Seen::default() }
}

/// Clients use either `enabled` or `disabled`.
fn is_off(entry: &Value) -> bool {
    let says = |name: &str, word: bool| entry.get(name) == Some(&Value::Bool(word));
    says("enabled", false) || says("disabled", true)
}
