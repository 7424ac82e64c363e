//! Our entries in the settings of clients, as the clients read them.

use std::path::PathBuf;

use crate::clients;
use crate::clients::{LARGEST, RecoupCall, group_limit};
use recoup_core::base::fsx;
use serde_json::Value;

use super::change::InstallTarget;
use super::edit::{SettingsSyntaxError, parse_settings};
use super::entries::servers::{self, SERVER};
use super::entries::{program_in_extension, proxied, toml_hooks};
use super::places::InstallPaths;
use super::receipt::InstallReceipt;
use crate::clients::{AgentClient, FileRole, InstallLevel, InstalledContent, SettingsFile};

/// Our entries in one file.
#[derive(Debug, Clone)]
pub(crate) struct ClientInstallation {
    pub(crate) client: AgentClient,
    pub(crate) level: InstallLevel,
    pub(crate) path: PathBuf,
    pub(crate) hooks: Vec<HookCommand>,
    pub(crate) servers: Vec<InstalledServer>,
    /// Other servers behind our proxy.
    pub(crate) proxied: Vec<ProxiedServer>,
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
    pub(crate) call: RecoupCall,
    /// In seconds.
    pub(crate) timeout: Option<u64>,
}

/// Our server in a client's settings.
#[derive(Debug, Clone)]
pub(crate) struct InstalledServer {
    pub(crate) call: RecoupCall,
    /// Disabled by the user.
    pub(crate) off: bool,
}

/// Another server behind our proxy.
#[derive(Debug, Clone)]
pub(crate) struct ProxiedServer {
    pub(crate) name: String,
    pub(crate) call: RecoupCall,
    /// Disabled by the user.
    pub(crate) off: bool,
}

/// A file in the receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedFile {
    pub(crate) client: AgentClient,
    pub(crate) level: InstallLevel,
    pub(crate) path: PathBuf,
}

/// Returns the receipt's files with entries of our own, for the user and for this project.
pub(crate) fn recorded_files(places: &InstallPaths) -> recoup_core::Result<Vec<RecordedFile>> {
    let receipt = InstallReceipt::read(&places.own)?;
    let is_here = |party: &&InstallTarget| {
        !party.for_proxy && party.root.as_ref().is_none_or(|root| *root == places.root)
    };
    let noted = receipt.files.iter().flat_map(|entry| {
        entry.parties.iter().filter(is_here).map(|party| RecordedFile {
            client: party.client,
            level: party.level,
            path: entry.path.clone(),
        })
    });
    Ok(noted.collect())
}

/// Finds our entries in the files of the user and of the project; also reports unreadable files.
pub(crate) fn find_installations(places: &InstallPaths) -> Vec<ClientInstallation> {
    let levels = InstallLevel::ALL.into_iter();
    let slots = levels.flat_map(|level| {
        AgentClient::ALL.into_iter().flat_map(move |it| it.settings_files(level, places))
    });
    let mut found: Vec<_> = slots.filter_map(|slot| find_installation(&slot)).collect();
    // Our own server is never in a file that the client only has servers of the team in.
    let files = |client: AgentClient| client.server_files(InstallLevel::Project, places);
    let of_team = AgentClient::ALL.into_iter().flat_map(files);
    let of_team = of_team.filter(|slot| slot.role == FileRole::Read);
    let of_team = of_team.filter_map(|slot| find_installation(&slot));
    let of_team = of_team.filter(|it| !it.proxied.is_empty());
    found.extend(of_team.map(|it| ClientInstallation { servers: Vec::new(), taken: None, ..it }));
    found
}

/// Finds a file with our hooks that the client does not run, because of another file beside it.
pub(crate) fn find_unread_hooks(
    client: AgentClient,
    places: &InstallPaths,
) -> Option<ClientInstallation> {
    let all = |level| client.settings_files_or_beside(level, places);
    let unread = InstallLevel::ALL.into_iter().flat_map(all).filter(|slot| !slot.is_read);
    unread.filter_map(|slot| find_installation(&slot)).find(|it| !it.hooks.is_empty())
}

/// Finds our entries in one file; none if it has none.
fn find_installation(slot: &SettingsFile) -> Option<ClientInstallation> {
    let mut found = ClientInstallation {
        client: slot.client,
        level: slot.level,
        path: slot.path.clone(),
        hooks: Vec::new(),
        servers: Vec::new(),
        proxied: Vec::new(),
        taken: None,
        fault: None,
    };
    match fsx::read_regular(&slot.path, LARGEST) {
        Ok(None) => return None,
        Ok(Some(bytes)) => match String::from_utf8(bytes) {
            Ok(text) => found.fault = found.add_entries(slot, &text).err().map(|it| it.to_string()),
            Err(_) => found.fault = Some("it is not UTF-8".to_owned()),
        },
        Err(error) => found.fault = Some(error.to_string()),
    }
    let is_any = !found.hooks.is_empty() || !found.servers.is_empty() || !found.proxied.is_empty();
    (is_any || found.taken.is_some() || found.fault.is_some()).then_some(found)
}

impl ClientInstallation {
    fn add_entries(&mut self, slot: &SettingsFile, text: &str) -> Result<(), SettingsSyntaxError> {
        if slot.holds == InstalledContent::Extension {
            let args = self.client.spec().hooks.iter().flat_map(|it| it.args);
            let args = args.map(|it| (*it).to_owned()).collect();
            let call = program_in_extension(text).map(|program| RecoupCall::plain(program, args));
            self.hooks.extend(call.map(|call| HookCommand {
                event: None,
                limit: None,
                in_background: false,
                call,
                timeout: None,
            }));
            return Ok(());
        }
        let held = &slot.holds;
        let root = parse_settings(text, held.syntax())?;
        if *held == InstalledContent::TomlHooks {
            let hooks = toml_hooks::our_hooks(&root).into_iter();
            self.hooks.extend(hooks.map(|it| hook_command(&it.event, it.hook, it.call)));
        }
        if let Some(at) = held.events_at() {
            let events = at.iter().try_fold(&root, |value, name| value.get(name));
            let hooks = events.into_iter().flat_map(clients::hooks_at_events);
            self.hooks.extend(hooks.map(|(event, it)| HookCommand {
                limit: it.limit.map(str::to_owned),
                ..hook_command(event, it.hook, it.call)
            }));
        }
        if let Some(at) = held.servers_at() {
            self.add_servers(at.iter().try_fold(&root, |value, name| value.get(name)));
        }
        Ok(())
    }

    fn add_servers(&mut self, servers: Option<&Value>) {
        let all = servers.and_then(Value::as_object).into_iter().flatten();
        self.servers.extend(all.filter_map(|(_, entry)| {
            let call = clients::call_in_server(entry)?;
            Some(InstalledServer { call, off: proxied::is_switched_off(entry) })
        }));
        let behind_proxy = proxied::proxied_servers(servers).into_iter();
        self.proxied.extend(behind_proxy.map(|(name, entry, call)| ProxiedServer {
            off: proxied::is_switched_off(&entry),
            name,
            call,
        }));
        let other = servers.and_then(|all| all.get(SERVER)).filter(|_| self.servers.is_empty());
        self.taken = other.map(servers::describe_name_conflict);
    }
}

fn hook_command(event: &str, hook: &Value, call: RecoupCall) -> HookCommand {
    HookCommand {
        event: Some(event.to_owned()),
        limit: group_limit(hook).map(str::to_owned),
        in_background: hook.get("async") == Some(&Value::Bool(true)),
        timeout: hook.get("timeout").and_then(Value::as_u64),
        call,
    }
}
