//! Plans the removal of our entries: a file that nobody else has changed is restored to the byte,
//! others lose only what is ours.
//!
//! Covers every file in the receipt, wherever the environment put it then, and every file that a
//! client would read today.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::clients;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::{
    FileChange, InstallTarget, describe_link_out, is_not_linked, read, resolve_links,
};
use super::edit::{EmptiedContainers, SettingsSyntax, SettingsSyntaxError, SettingsText};
use super::entries::{
    EditSummary, ROOT, extension_with_program, hooks, program_in_extension, proxied, servers,
    toml_hooks, without_exclude_line,
};
use super::guard::{AllowedChanges, demand_only_ours};
use super::peers;
use super::places::InstallPaths;
use super::receipt::{InstallReceipt, OriginalState, ReceiptEntry};
use super::server_starts::{ServerStartChange, servers_in};
use super::server_ttls::{ServerTtlRecord, TtlRemoval};
use super::wrap::ServerFile;
use crate::clients::{AgentClient, InstallLevel, InstalledContent};

/// Requested removal.
#[derive(Debug, Clone, Default)]
pub(crate) struct UndoRequest {
    /// Only these clients; all if empty.
    pub(crate) clients: Vec<AgentClient>,
    /// Only this level; if none, both, in all known projects.
    pub(crate) level: Option<InstallLevel>,
    /// Only our proxy before other servers.
    pub(crate) only_proxies: bool,
    /// Only these files; all if empty.
    pub(crate) files: Vec<ServerFile>,
}

/// Planned removal.
#[derive(Debug, Default)]
pub(crate) struct UndoPlan {
    pub(crate) changes: Vec<FileChange>,
    /// Targets that have nothing of ours left afterwards.
    pub(crate) parties: Vec<InstallTarget>,
    /// The inspected files, by resolved path, with their content.
    pub(crate) looked: BTreeMap<PathBuf, Option<Vec<u8>>>,
    pub(crate) notes: Vec<String>,
    /// The receipt has entries for these targets, whatever is in the files.
    pub(crate) is_noted: bool,
    /// Errors of files that cannot be parsed or written.
    pub(crate) faults: Vec<Error>,
    /// Times for servers behind the proxy that stay in our configuration.
    pub(crate) left_ttls: Vec<ServerTtlRecord>,
    /// The receipt at the time of planning.
    pub(crate) receipt: InstallReceipt,
}

/// Receipt entry of a file, and its content before the installation.
#[derive(Clone, Copy)]
struct FileHistory<'a> {
    entry: Option<&'a ReceiptEntry>,
    earlier: Option<&'a [u8]>,
}

/// A file, and the content to remove from it.
#[derive(Debug)]
struct UndoFile {
    /// The first path that leads to it.
    path: PathBuf,
    holds: Vec<(InstalledContent, InstallTarget)>,
}

impl UndoPlan {
    /// Plans the removal. A file that fails does not hold up the others.
    pub(crate) fn make(places: &InstallPaths, wanted: &UndoRequest) -> Result<Self> {
        let receipt = InstallReceipt::read(&places.own)?;
        let mut this = Self::default();
        for (real, look) in this.files_to_inspect(places, &receipt, wanted) {
            // Read before it is inspected, so that a concurrent write is noticed.
            let there = read(&real).ok().flatten();
            let restored = this.undo_file(&look, receipt.entry_for(&real), places);
            let possible = restored.and_then(|mut change| {
                change.iter().try_for_each(FileChange::demand_possible)?;
                if let Some(change) = &mut change {
                    let holds = look.holds.iter().map(|(held, _)| held);
                    let proxies: Vec<_> = holds.filter(|held| held.is_proxied()).collect();
                    let only_proxies = AllowedChanges { holds: &proxies, peers: &[] };
                    if demand_only_ours(change, only_proxies, places).is_ok() {
                        let all = proxies.iter();
                        let starts = all.flat_map(|held| ServerStartChange::all_of(change, held));
                        change.done.servers = starts.collect();
                        change.done.servers.dedup();
                    }
                }
                Ok(change)
            });
            match possible {
                Ok(change) => {
                    this.changes.extend(change);
                    this.looked.insert(real, there);
                }
                Err(error) => this.faults.push(places.shorten_paths(error)),
            }
        }
        let is_undone = |entry: &ReceiptEntry, party: &InstallTarget| {
            this.parties.contains(party)
                && this.looked.contains_key(&resolve_links(entry.written_path()))
        };
        let mut still_proxied = BTreeSet::new();
        for entry in &receipt.files {
            let there = read(entry.written_path()).ok().flatten().unwrap_or_default();
            for (_, held) in entry.holds.iter().filter(|(party, _)| !is_undone(entry, party)) {
                let proxied = proxied::proxied_servers(servers_in(&there, held).as_ref());
                still_proxied.extend(proxied.into_iter().map(|(name, ..)| name));
            }
        }
        match TtlRemoval::plan(&receipt.ttls, &still_proxied, places) {
            Ok(TtlRemoval { changes, notes, left }) => {
                this.changes.extend(changes);
                this.notes.extend(notes);
                this.left_ttls = left;
            }
            Err(error) => {
                this.left_ttls.clone_from(&receipt.ttls);
                this.faults.push(places.shorten_paths(error));
            }
        }
        this.is_noted = receipt.has_targets(&this.parties) || this.left_ttls != receipt.ttls;
        this.receipt = receipt;
        Ok(this)
    }

    /// True if anything is to be written.
    pub(crate) fn has_changes(&self) -> bool {
        self.changes.iter().any(FileChange::has_effect)
    }

    /// Collects every file once, however many paths lead to it.
    fn files_to_inspect(
        &mut self,
        places: &InstallPaths,
        receipt: &InstallReceipt,
        wanted: &UndoRequest,
    ) -> BTreeMap<PathBuf, UndoFile> {
        let mut looks: BTreeMap<PathBuf, UndoFile> = BTreeMap::new();
        let mut add = |path: &Path, held: InstalledContent, party: &InstallTarget| {
            // A link that `init` refuses to follow has nothing of ours.
            if link_out_error(path, &held, party, places).is_some() {
                return;
            }
            let fresh = || UndoFile { path: path.to_owned(), holds: Vec::new() };
            let look = looks.entry(resolve_links(path)).or_insert_with(fresh);
            if look.holds.iter().all(|(known, of)| (known, of) != (&held, party)) {
                look.holds.push((held, party.clone()));
            }
        };
        for (client, level, places) in scopes(places, receipt, wanted) {
            let party = InstallTarget::of(client, level, &places);
            if !wanted.only_proxies {
                for slot in client.settings_files_or_beside(level, &places) {
                    add(&slot.path, slot.holds.clone(), &party);
                }
                self.parties.push(party.clone());
            }
            let party = party.for_proxy();
            for slot in client.server_files(level, &places) {
                if let Some(held) = slot.holds.of_proxied() {
                    add(&slot.path, held, &party);
                }
            }
            self.parties.push(party);
        }
        for ServerFile { file, target, .. } in &wanted.files {
            if let Some(held) = file.holds.of_proxied() {
                add(&file.path, held, target);
            }
            self.parties.extend((!self.parties.contains(target)).then(|| target.clone()));
        }
        // Servers for single projects are in Claude Code's own file.
        let covers_local = wanted.covers_client(AgentClient::ClaudeCode) && wanted.level.is_none();
        for root in projects_with_local_server(places).into_iter().filter(|_| covers_local) {
            let places = places.with_root(&root);
            let party = InstallTarget::of(AgentClient::ClaudeCode, InstallLevel::Project, &places);
            let slots =
                AgentClient::ClaudeCode.settings_files(InstallLevel::Project, &places).into_iter();
            for slot in slots.filter(|slot| slot.path == places.claude_json()) {
                if !wanted.only_proxies {
                    add(&slot.path, slot.holds.clone(), &party);
                }
                if let Some(held) = slot.holds.of_proxied() {
                    add(&slot.path, held, &party.clone().for_proxy());
                }
            }
        }
        for entry in receipt.files.iter().filter(|entry| wanted.names_file(entry.written_path())) {
            for (party, held) in
                entry.holds.iter().filter(|(party, _)| wanted.covers(party, places))
            {
                add(entry.written_path(), held.clone(), party);
            }
            self.add_targets(entry, places, wanted);
        }
        looks.retain(|real, _| wanted.names_file(real));
        looks
    }

    /// Adds the targets of an entry, and an error if its file cannot be reached.
    fn add_targets(&mut self, entry: &ReceiptEntry, places: &InstallPaths, wanted: &UndoRequest) {
        let is_meant = |party: &InstallTarget| wanted.covers(party, places);
        for party in entry.parties.iter().filter(|party| is_meant(party)) {
            if !self.parties.contains(party) {
                self.parties.push(party.clone());
            }
        }
        let holds = entry.holds.iter().filter(|(party, _)| is_meant(party));
        let mut strays = holds
            .filter_map(|(party, held)| link_out_error(entry.written_path(), held, party, places));
        self.faults.extend(strays.next().map(|error| places.shorten_paths(error)));
    }

    /// Plans the change of one file; none if it has nothing of ours.
    fn undo_file(
        &mut self,
        look: &UndoFile,
        entry: Option<&ReceiptEntry>,
        places: &InstallPaths,
    ) -> Result<Option<FileChange>> {
        let mut change =
            FileChange::unchanged(&look.path, look.holds.first().map(|it| it.1.clone()))?;
        let Some(now) = change.before.clone() else { return Ok(None) };
        let copy = match entry.map(|entry| &entry.before) {
            Some(OriginalState::Copy(copy)) => Some(places.own.join(copy)),
            _ => None,
        };
        // The original comes back if nobody else has changed the file, and all its targets go.
        let is_ours_alone = |entry: &ReceiptEntry| {
            entry.after == Sha256Digest::of(&now)
                && entry.parties.iter().all(|party| self.parties.contains(party))
        };
        if let Some(entry) = entry.filter(|entry| is_ours_alone(entry)) {
            let original = copy.as_deref().map(read).transpose()?.flatten();
            if entry.before == OriginalState::Absent || original.is_some() {
                let said = match original {
                    Some(_) => "restored to its content before recoup",
                    None => "recoup had created it",
                };
                change.done.said.push(said.to_owned());
                change.done.restored = true;
                change.after = original;
                return Ok(Some(change));
            }
        }
        let earlier = copy.as_ref().and_then(|copy| read(copy).ok().flatten());
        let known = FileHistory { entry, earlier: earlier.as_deref() };
        for (held, _) in &look.holds {
            remove_ours(held, &mut change, known).map_err(|fault| {
                let place = places.display_path(&look.path);
                Error::new(ErrorKind::Invalid, format!("{place}, {fault}; it was not changed"))
            })?;
        }
        let mut notes = std::mem::take(&mut change.done.notes);
        if let (Some(copy), Some(earlier)) = (copy, &earlier) {
            let now = change.after.as_deref().unwrap_or_default();
            notes.extend(peers::removed_peers(earlier, now).into_iter().map(|name| {
                let (place, copy) = (places.display_path(&look.path), places.display_path(&copy));
                format!(
                    "{name} is not restored: {place} was changed since; a copy with it is {copy}"
                )
            }));
        }
        let holds: Vec<&InstalledContent> = look.holds.iter().map(|(held, _)| held).collect();
        demand_only_ours(&change, AllowedChanges { holds: &holds, peers: &[] }, places)?;
        self.notes.extend(notes);
        Ok(change.has_effect().then_some(change))
    }
}

impl UndoRequest {
    fn covers_client(&self, client: AgentClient) -> bool {
        self.clients.is_empty() || self.clients.contains(&client)
    }

    /// True if the request names a file, or none at all.
    fn names_file(&self, path: &Path) -> bool {
        let real = resolve_links(path);
        self.files.is_empty() || self.files.iter().any(|it| resolve_links(&it.file.path) == real)
    }

    /// True if the request covers a target.
    fn covers(&self, party: &InstallTarget, places: &InstallPaths) -> bool {
        let is_here = || party.root.as_deref() == Some(&*places.root);
        self.covers_client(party.client)
            && (party.for_proxy || !self.only_proxies)
            && self.level.is_none_or(|level| level == party.level)
            && (self.level != Some(InstallLevel::Project) || is_here())
    }
}

/// Returns an error for a project's file that has become a link out of it: its target is not ours
/// to change.
fn link_out_error(
    path: &Path,
    held: &InstalledContent,
    party: &InstallTarget,
    places: &InstallPaths,
) -> Option<Error> {
    let places = places.with_root(party.root.as_deref()?);
    let why = match held {
        // These are in the user's own file, wherever that is.
        InstalledContent::Servers { .. } if party.client == AgentClient::ClaudeCode => None,
        InstalledContent::ProxiedServers { at, .. } if at.len() > 1 => None,
        InstalledContent::Line(_) => {
            (!is_not_linked(path)).then(|| "is a symbolic link".to_owned())
        }
        _ => describe_link_out(path, &places),
    }?;
    let message = format!(
        "{} {why}: it was not changed; remove the link, or replace it with a regular file, and try \
         again",
        path.display()
    );
    Some(Error::new(ErrorKind::Invalid, message))
}

/// Lists the clients, levels and projects to inspect. A project's files are its team's: they are
/// inspected only if something was installed there, or on request.
fn scopes(
    places: &InstallPaths,
    receipt: &InstallReceipt,
    wanted: &UndoRequest,
) -> Vec<(AgentClient, InstallLevel, InstallPaths)> {
    let roots = match wanted.level {
        Some(InstallLevel::Project) => BTreeSet::from([places.root.clone()]),
        Some(InstallLevel::User) => BTreeSet::new(),
        None => receipt.roots(),
    };
    let mut scopes = Vec::new();
    for client in AgentClient::ALL.into_iter().filter(|it| wanted.covers_client(*it)) {
        if wanted.level != Some(InstallLevel::Project) {
            scopes.push((client, InstallLevel::User, places.clone()));
        }
        scopes.extend(roots.iter().map(|it| (client, InstallLevel::Project, places.with_root(it))));
    }
    scopes
}

/// Returns the projects with our server in Claude Code's own file, as `claude mcp add` puts it
/// there. An unreadable file is reported elsewhere.
fn projects_with_local_server(places: &InstallPaths) -> Vec<PathBuf> {
    let text = read(&places.claude_json()).ok().flatten().unwrap_or_default();
    let known: Value = serde_json::from_slice(&text).unwrap_or_default();
    let projects = known.get("projects").and_then(Value::as_object).into_iter().flatten();
    let has_ours = |project: &Value| {
        let servers = project.get("mcpServers").and_then(Value::as_object);
        let is_ours = |it: &Value| {
            clients::call_in_server(it).is_some() || clients::proxy_in_server(it).is_some()
        };
        servers.is_some_and(|all| all.values().any(is_ours))
    };
    projects.filter(|(_, project)| has_ours(project)).map(|(root, _)| root.into()).collect()
}

/// Removes our entries from a file whose original cannot be restored.
fn remove_ours(
    held: &InstalledContent,
    change: &mut FileChange,
    known: FileHistory<'_>,
) -> Result<(), SettingsSyntaxError> {
    // The file is to be deleted already.
    let Some(text) = &change.after else { return Ok(()) };
    match held {
        InstalledContent::Extension => {
            remove_extension(change, known.entry);
            return Ok(());
        }
        InstalledContent::Line(line) => {
            let left = without_exclude_line(text, line);
            change.done.said.extend((left != *text).then(|| format!("the line {line}")));
            change.after = Some(left);
            return Ok(());
        }
        _ => {}
    }
    let mut file = SettingsText::read(Some(text), held.syntax())?;
    if file.had_no_object() {
        return Ok(());
    }
    // With older entries of ours, it is unknown who created the containers around them. Of a table
    // it is known all the same.
    let is_known = |entry: &&ReceiptEntry| {
        held.syntax() == SettingsSyntax::Toml || entry.before != OriginalState::Unknown
    };
    let made = known.entry.filter(is_known).map(|entry| &*entry.created);
    let emptied = made.map_or(EmptiedContainers::Any, EmptiedContainers::Made);
    let done = remove_entries(held, &mut file, emptied, known.earlier)?;
    let is_any_gone = !done.said.is_empty();
    match &mut file {
        SettingsText::Json(json) => {
            known.earlier.into_iter().for_each(|earlier| json.restore_blanks(earlier));
        }
        SettingsText::Toml { text: left, .. } if is_any_gone => {
            emptied.remove_line_end(&String::from_utf8_lossy(text), left);
        }
        SettingsText::Toml { .. } => {}
    }
    change.done.said.extend(done.said);
    change.done.notes.extend(done.notes);
    change.after = match (known.entry.filter(|_| is_any_gone && file.is_empty()), &file) {
        (Some(entry), _) if entry.before == OriginalState::Absent => None,
        (Some(entry), SettingsText::Json(json)) if entry.created.contains(&ROOT) => {
            Some(json.bytes_without_object())
        }
        _ => Some(file.bytes()),
    };
    Ok(())
}

fn remove_entries(
    held: &InstalledContent,
    file: &mut SettingsText,
    emptied: EmptiedContainers<'_>,
    earlier: Option<&[u8]>,
) -> Result<EditSummary, SettingsSyntaxError> {
    if let Some(at) = held.servers_at() {
        if held.is_proxied() {
            return proxied::unwrap(file, &at, earlier);
        }
        let mut done = servers::remove(file, &at, emptied)?;
        if *held == InstalledContent::TomlServers {
            let calls = hooks::remove_codex_calls(file, true)?;
            done.said.extend(calls.said);
            done.notes.extend(calls.notes);
        }
        return Ok(done);
    }
    match held.events_at() {
        Some(at) => hooks::remove(file, &at, emptied),
        None => toml_hooks::remove(file),
    }
}

/// Removes Pi's extension, unless somebody has changed it.
fn remove_extension(change: &mut FileChange, entry: Option<&ReceiptEntry>) {
    let bytes = change.after.as_deref().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let Some(program) = program_in_extension(&text) else { return };
    if extension_with_program(&program) == text
        || entry.is_some_and(|entry| entry.after == Sha256Digest::of(bytes))
    {
        change.done.said.push("the extension".to_owned());
        change.after = None;
    } else {
        change.done.add_note(
            "the extension recoup.ts for Pi was changed since recoup wrote it: it is kept",
        );
    }
}
