//! Plans the removal of our entries: a file that nobody else has changed is restored to the byte,
//! others lose only what is ours.
//!
//! Covers every file in the receipt, wherever the environment put it then, and every file that a
//! client would read today.

mod take;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Digest;
use recoup_core::memory::hooked;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::{Change, Party, read, real};
use super::client::{Client, Level};
use super::guard::{Ours, demand_only_ours};
use super::held::Held;
use super::places::Places;
use super::receipt::{Before, Entry, Receipt};
use super::{inside, peers};
use take::{Known, take};

/// Requested removal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Only these clients; all if empty.
    pub(crate) clients: Vec<Client>,
    /// Only this level; if none, both, in all known projects.
    pub(crate) level: Option<Level>,
}

/// Planned removal.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    pub(crate) changes: Vec<Change>,
    /// Targets that have nothing of ours left afterwards.
    pub(crate) parties: Vec<Party>,
    /// The inspected files, by resolved path, with their content.
    pub(crate) looked: BTreeMap<PathBuf, Option<Vec<u8>>>,
    pub(crate) notes: Vec<String>,
    /// The receipt has entries for these targets, whatever is in the files.
    pub(crate) is_noted: bool,
    /// Errors of files that cannot be parsed or written.
    pub(crate) faults: Vec<Error>,
    /// The receipt at the time of planning.
    pub(crate) receipt: Receipt,
}

/// A file, and the content to remove from it.
#[derive(Debug)]
struct Look {
    /// The first path that leads to it.
    path: PathBuf,
    holds: Vec<(Held, Party)>,
}

impl Undo {
    /// Plans the removal. A file that fails does not hold up the others.
    pub(crate) fn make(places: &Places, own: &Path, wanted: &Wanted) -> Result<Self> {
        let receipt = Receipt::read(own)?;
        let mut this = Self::default();
        for (real, look) in this.looks(places, &receipt, wanted) {
            // Read before it is inspected, so that a concurrent write is noticed.
            let there = read(&real).ok().flatten();
            let restored = this.restored(&look, receipt.of(&real), own, places);
            let possible = restored.and_then(|change| {
                change.iter().try_for_each(Change::demand_possible)?;
                Ok(change)
            });
            match possible {
                Ok(change) => {
                    this.changes.extend(change);
                    this.looked.insert(real, there);
                }
                Err(error) => this.faults.push(places.retold(error)),
            }
        }
        this.is_noted = receipt.knows(&this.parties);
        this.receipt = receipt;
        Ok(this)
    }

    /// True if anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.changes.iter().any(Change::is_any)
    }

    /// Collects every file once, however many paths lead to it.
    fn looks(
        &mut self,
        places: &Places,
        receipt: &Receipt,
        wanted: &Wanted,
    ) -> BTreeMap<PathBuf, Look> {
        let mut looks: BTreeMap<PathBuf, Look> = BTreeMap::new();
        let mut add = |path: &Path, held: Held, party: &Party| {
            // A link that `init` refuses to follow has nothing of ours.
            if stray(path, &held, party, places).is_some() {
                return;
            }
            let fresh = || Look { path: path.to_owned(), holds: Vec::new() };
            let look = looks.entry(real(path)).or_insert_with(fresh);
            if look.holds.iter().all(|(known, of)| (known, of) != (&held, party)) {
                look.holds.push((held, party.clone()));
            }
        };
        for (client, level, places) in scopes(places, receipt, wanted) {
            let party = Party::of(client, level, &places);
            for slot in client.slots(level, &places) {
                add(&slot.path, Held::from(&slot.holds), &party);
            }
            self.parties.push(party);
        }
        for root in local_roots(places).into_iter().filter(|_| wanted.has_local()) {
            let places = places.with_root(&root);
            let party = Party::of(Client::ClaudeCode, Level::Project, &places);
            let slots = Client::ClaudeCode.slots(Level::Project, &places).into_iter();
            for slot in slots.filter(|slot| slot.path == places.claude_json) {
                add(&slot.path, Held::from(&slot.holds), &party);
            }
        }
        for entry in &receipt.files {
            for (party, held) in entry.holds.iter().filter(|(party, _)| wanted.has(party, places)) {
                add(entry.at(), held.clone(), party);
            }
            self.note_parties(entry, places, wanted);
        }
        looks
    }

    /// Adds the targets of an entry, and an error if its file cannot be reached.
    fn note_parties(&mut self, entry: &Entry, places: &Places, wanted: &Wanted) {
        let is_meant = |party: &Party| wanted.has(party, places);
        for party in entry.parties.iter().filter(|party| is_meant(party)) {
            if !self.parties.contains(party) {
                self.parties.push(party.clone());
            }
        }
        let holds = entry.holds.iter().filter(|(party, _)| is_meant(party));
        let mut strays = holds.filter_map(|(party, held)| stray(entry.at(), held, party, places));
        self.faults.extend(strays.next().map(|error| places.retold(error)));
    }

    /// Plans the change of one file; none if it has nothing of ours.
    fn restored(
        &mut self,
        look: &Look,
        entry: Option<&Entry>,
        own: &Path,
        places: &Places,
    ) -> Result<Option<Change>> {
        let mut change = Change::begin(&look.path, look.holds.first().map(|it| it.1.clone()))?;
        let Some(now) = change.before.clone() else { return Ok(None) };
        if let Some(entry) = entry
            && let Some(original) = self.original(entry, &now, own)?
        {
            let (after, what) = original.into_parts();
            change.done.said.push(what.to_owned());
            change.done.restored = true;
            change.after = after;
            return Ok(Some(change));
        }
        let copy = match entry.map(|entry| &entry.before) {
            Some(Before::Copy(copy)) => Some(own.join(copy)),
            _ => None,
        };
        let earlier = copy.as_ref().and_then(|copy| read(copy).ok().flatten());
        let known = Known { entry, earlier: earlier.as_deref() };
        let mut notes = look.take_from(&mut change, known, places)?;
        if let (Some(copy), Some(earlier)) = (copy, &earlier) {
            let now = change.after.as_deref().unwrap_or_default();
            notes.extend(peers::missing(earlier, now).into_iter().map(|name| {
                let (place, copy) = (places.shown(&look.path), places.shown(&copy));
                format!("{name} does not come back: {place} was changed since; {copy} has it")
            }));
        }
        let holds: Vec<&Held> = look.holds.iter().map(|(held, _)| held).collect();
        demand_only_ours(&change, Ours { holds: &holds, peers: &[] }, places)?;
        self.notes.extend(notes);
        Ok(change.is_any().then_some(change))
    }

    /// Returns the original, if the file is unchanged since and all its targets are removed.
    fn original(&self, entry: &Entry, now: &[u8], own: &Path) -> Result<Option<Original>> {
        let all = entry.parties.iter().all(|party| self.parties.contains(party));
        if !all || Digest::of(now) != entry.after {
            return Ok(None);
        }
        match &entry.before {
            Before::Absent => Ok(Some(Original::Absent)),
            Before::Unknown => Ok(None),
            Before::Copy(copy) => Ok(read(&own.join(copy))?.map(Original::Text)),
        }
    }
}

impl Look {
    /// Removes our entries from a file. Returns notes for the user.
    fn take_from(
        &self,
        change: &mut Change,
        known: Known<'_>,
        places: &Places,
    ) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for (held, _) in &self.holds {
            // The file is to be deleted already.
            let Some(text) = change.after.clone() else { break };
            let taken = take(held, &text, known).map_err(|fault| {
                let place = places.shown(&self.path);
                Error::new(ErrorKind::Invalid, format!("{place}, {fault}; it was left alone"))
            })?;
            change.after = taken.text;
            change.done.said.extend(taken.done.said);
            notes.extend(taken.done.notes);
        }
        Ok(notes)
    }
}

/// Original content of a file.
enum Original {
    Absent,
    Text(Vec<u8>),
}

impl Original {
    /// Returns the content to write, and a description.
    fn into_parts(self) -> (Option<Vec<u8>>, &'static str) {
        match self {
            Self::Absent => (None, "recoup had created it"),
            Self::Text(text) => (Some(text), "restored to what it was before recoup"),
        }
    }
}

impl Wanted {
    /// True if servers for single projects are to be removed from Claude Code's own file.
    fn has_local(&self) -> bool {
        let client = self.clients.is_empty() || self.clients.contains(&Client::ClaudeCode);
        client && self.level.is_none()
    }

    /// True if the request covers a target.
    fn has(&self, party: &Party, places: &Places) -> bool {
        let is_here = || party.root.as_deref() == Some(&*places.root);
        (self.clients.is_empty() || self.clients.contains(&party.client))
            && self.level.is_none_or(|level| level == party.level)
            && (self.level != Some(Level::Project) || is_here())
    }
}

/// Returns an error for a project's file that has become a link out of it: its target is not ours
/// to change.
fn stray(path: &Path, held: &Held, party: &Party, places: &Places) -> Option<Error> {
    let places = places.with_root(party.root.as_deref()?);
    let why = match held {
        // These are in the user's own file, wherever that is.
        Held::Servers { .. } if party.client == Client::ClaudeCode => None,
        Held::Line(_) => (!inside::is_plain(path)).then(|| "is a link".to_owned()),
        _ => inside::leads_out(path, &places),
    }?;
    let message = format!(
        "{} {why}: it was left alone; remove the link, or put a file in its place, and try again",
        path.display()
    );
    Some(Error::new(ErrorKind::Invalid, message))
}

/// Lists the clients, levels and projects to inspect. A project's files are its team's: they are
/// inspected only if something was installed there, or on request.
fn scopes(places: &Places, receipt: &Receipt, wanted: &Wanted) -> Vec<(Client, Level, Places)> {
    let clients = Client::ALL.into_iter();
    let clients: Vec<Client> =
        clients.filter(|it| wanted.clients.is_empty() || wanted.clients.contains(it)).collect();
    let roots = match wanted.level {
        Some(Level::Project) => BTreeSet::from([places.root.clone()]),
        Some(Level::User) => BTreeSet::new(),
        None => receipt.roots(),
    };
    let mut scopes = Vec::new();
    for client in clients {
        if wanted.level != Some(Level::Project) {
            scopes.push((client, Level::User, places.clone()));
        }
        scopes.extend(roots.iter().map(|it| (client, Level::Project, places.with_root(it))));
    }
    scopes
}

/// Returns the projects with our server in Claude Code's own file, as `claude mcp add` puts it
/// there. An unreadable file is reported elsewhere.
fn local_roots(places: &Places) -> Vec<PathBuf> {
    let text = read(&places.claude_json).ok().flatten().unwrap_or_default();
    let known: Value = serde_json::from_slice(&text).unwrap_or_default();
    let projects = known.get("projects").and_then(Value::as_object).into_iter().flatten();
    let has_ours = |project: &Value| {
        let servers = project.get("mcpServers").and_then(Value::as_object);
        servers.is_some_and(|all| all.values().any(|it| hooked::server(it).is_some()))
    };
    projects.filter(|(_, project)| has_ours(project)).map(|(root, _)| root.into()).collect()
}
