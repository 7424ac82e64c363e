//! What has to change so that nobody calls us any more: each file back to the byte where
//! nobody else has changed it since, and otherwise without what is ours.
//!
//! Looked into is every file that the receipt names, wherever the environment of that day had
//! it, and every file that a client would read today.

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

/// What is to come out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// Of these clients; of all where none is named.
    pub(crate) clients: Vec<Client>,
    /// At this level; at both where none is named, and then in all projects that are known.
    pub(crate) level: Option<Level>,
}

/// What becomes of the files.
#[derive(Debug, Default)]
pub(crate) struct Undo {
    pub(crate) changes: Vec<Change>,
    /// For whom they hold nothing of ours then.
    pub(crate) parties: Vec<Party>,
    /// The files that were looked into, by where links lead, and what was there.
    pub(crate) looked: BTreeMap<PathBuf, Option<Vec<u8>>>,
    pub(crate) notes: Vec<String>,
    /// Something is noted about them, whatever is in the files.
    pub(crate) is_noted: bool,
    /// Files that can't be read as their client would, or not be written, and why.
    pub(crate) faults: Vec<Error>,
    /// What was noted when this was worked out.
    pub(crate) receipt: Receipt,
}

/// A file, and what of it is to come out.
#[derive(Debug)]
struct Look {
    /// As it was named first.
    path: PathBuf,
    holds: Vec<(Held, Party)>,
}

impl Undo {
    /// Works it out. A file with which nothing can be done does not keep the others.
    pub(crate) fn make(places: &Places, own: &Path, wanted: &Wanted) -> Result<Self> {
        let receipt = Receipt::read(own)?;
        let mut this = Self::default();
        for (real, look) in this.looks(places, &receipt, wanted) {
            // Before it is looked into: whoever writes in between is noticed.
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

    /// Whether anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.changes.iter().any(Change::is_any)
    }

    /// Every file once, however many names lead to it.
    fn looks(
        &mut self,
        places: &Places,
        receipt: &Receipt,
        wanted: &Wanted,
    ) -> BTreeMap<PathBuf, Look> {
        let mut looks: BTreeMap<PathBuf, Look> = BTreeMap::new();
        let mut add = |path: &Path, held: Held, party: &Party| {
            // What init would not have followed either has nothing of ours.
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

    /// Those for whom something of an entry goes; and what can't be reached of it, once.
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

    /// What becomes of one file; none where there is nothing of ours in it.
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

    /// What a file was before we came, if it is still as we left it and all who are in it go.
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
    /// Takes everything of ours out of a file; says what its user should know.
    fn take_from(
        &self,
        change: &mut Change,
        known: Known<'_>,
        places: &Places,
    ) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        for (held, _) in &self.holds {
            // Nothing is left in it to be taken out.
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

/// What a file was before we came.
enum Original {
    Absent,
    Text(Vec<u8>),
}

impl Original {
    /// What is to be there, and in words.
    fn into_parts(self) -> (Option<Vec<u8>>, &'static str) {
        match self {
            Self::Absent => (None, "recoup had created it"),
            Self::Text(text) => (Some(text), "restored to what it was before recoup"),
        }
    }
}

impl Wanted {
    /// Whether what Claude Code has for single projects is to come out of its own file.
    fn has_local(&self) -> bool {
        let client = self.clients.is_empty() || self.clients.contains(&Client::ClaudeCode);
        client && self.level.is_none()
    }

    /// Whether what is noted for a party is to come out.
    fn has(&self, party: &Party, places: &Places) -> bool {
        let is_here = || party.root.as_deref() == Some(&*places.root);
        (self.clients.is_empty() || self.clients.contains(&party.client))
            && self.level.is_none_or(|level| level == party.level)
            && (self.level != Some(Level::Project) || is_here())
    }
}

/// A file of a project that has become a link to somewhere else: what is there is not ours to
/// change, as it was not when we came.
fn stray(path: &Path, held: &Held, party: &Party, places: &Places) -> Option<Error> {
    let places = places.with_root(party.root.as_deref()?);
    let why = match held {
        // These are in its user's own file, wherever that is.
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

/// Which clients are looked at, at which level, and in which projects. The files of a project
/// are its team's: those of this one are looked at if we have put something there, or if it
/// was asked for.
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

/// The projects for which Claude Code has a server of ours in its own file, as `claude mcp add`
/// puts it there. A file that can't be read is somebody else's to name.
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
