//! What has to change so that nobody calls us any more: each file back to the byte where
//! nobody else has changed it since, and otherwise without what is ours.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Digest;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::Value;

use super::change::{Change, Party, read};
use super::client::{Client, Holds, Level, Slot};
use super::edit::{Dialect, Fault, Json, toml};
use super::entries::{Done, Emptied, hooks, servers};
use super::places::Places;
use super::receipt::{Before, Entry, Receipt};
use super::{exclude, extension, ours};

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
    pub(crate) notes: Vec<String>,
    /// Something is noted about them, whatever is in the files.
    pub(crate) is_noted: bool,
    /// Files that can't be read as their client would, and why.
    pub(crate) faults: Vec<Error>,
}

impl Undo {
    /// Works it out.
    pub(crate) fn make(places: &Places, own: &Path, wanted: &Wanted) -> Result<Self> {
        let receipt = Receipt::read(own)?;
        let mut files: BTreeMap<PathBuf, Vec<(Slot, Party)>> = BTreeMap::new();
        let mut this = Self::default();
        for (client, level, places) in scopes(places, &receipt, wanted) {
            let party = Party::of(client, level, &places);
            for slot in client.slots(level, &places) {
                files.entry(slot.path.clone()).or_default().push((slot, party.clone()));
            }
            this.parties.push(party);
        }
        for (path, slots) in files {
            match this.restored(&path, &slots, receipt.of(&path), own, places) {
                Ok(change) => this.changes.extend(change),
                Err(error) => this.faults.push(error),
            }
        }
        this.lists(&receipt, own)?;
        this.is_noted = receipt.knows(&this.parties);
        this.changes.iter().try_for_each(Change::demand_possible)?;
        Ok(this)
    }

    /// Whether anything is to be written.
    pub(crate) fn is_any(&self) -> bool {
        self.changes.iter().any(Change::is_any)
    }

    fn restored(
        &mut self,
        path: &Path,
        slots: &[(Slot, Party)],
        entry: Option<&Entry>,
        own: &Path,
        places: &Places,
    ) -> Result<Option<Change>> {
        let mut change = Change::begin(path, slots.first().map(|(_, party)| party.clone()))?;
        let Some(now) = change.before.clone() else { return Ok(None) };
        if let Some(entry) = entry
            && let Some(original) = self.original(entry, &now, own)?
        {
            let (after, what) = original.into_parts();
            change.done.said.push(what.to_owned());
            change.after = after;
            return Ok(Some(change));
        }
        for (slot, _) in slots {
            let text = change.after.clone().unwrap_or_default();
            let taken = take(slot, &text, entry).map_err(|fault| {
                let place = places.shown(path);
                Error::new(ErrorKind::Invalid, format!("{place}, {fault}; it was left alone"))
            })?;
            change.after = taken.text;
            change.done.said.extend(taken.done.said);
            self.notes.extend(taken.done.notes);
        }
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

    /// The lists of git that we have added a line to.
    fn lists(&mut self, receipt: &Receipt, own: &Path) -> Result<()> {
        for entry in receipt.files.iter().filter(|entry| entry.path.ends_with("info/exclude")) {
            if !entry.parties.iter().all(|party| self.parties.contains(party)) {
                continue;
            }
            let mut change = Change::begin(&entry.path, entry.parties.first().cloned())?;
            let Some(now) = change.before.clone() else { continue };
            change.after = if let Some(original) = self.original(entry, &now, own)? {
                original.into_parts().0
            } else {
                let text = String::from_utf8_lossy(&now);
                Some(exclude::without(&text, "/.claude/settings.local.json").into_bytes())
            };
            change.done.said.push("the line for what was yours alone".to_owned());
            self.changes.push(change);
        }
        Ok(())
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
            Self::Absent => (None, "was not there before"),
            Self::Text(text) => (Some(text), "as it was before"),
        }
    }
}

/// Which clients are looked at, at which level, and in which projects.
fn scopes(places: &Places, receipt: &Receipt, wanted: &Wanted) -> Vec<(Client, Level, Places)> {
    let clients = Client::ALL.into_iter();
    let clients: Vec<Client> =
        clients.filter(|it| wanted.clients.is_empty() || wanted.clients.contains(it)).collect();
    let mut roots = vec![places.root.clone()];
    if wanted.level.is_none() {
        let known = receipt.files.iter().flat_map(|entry| &entry.parties);
        roots.extend(known.filter_map(|party| party.root.clone()));
        roots.sort();
        roots.dedup();
    }
    let mut scopes = Vec::new();
    for client in clients {
        if wanted.level != Some(Level::Project) {
            scopes.push((client, Level::User, places.clone()));
        }
        if wanted.level != Some(Level::User) {
            scopes.extend(roots.iter().map(|it| (client, Level::Project, places.with_root(it))));
        }
    }
    scopes
}

/// A file without what is ours.
struct Taken {
    /// None where the file is to go.
    text: Option<Vec<u8>>,
    done: Done,
}

fn take(slot: &Slot, text: &[u8], entry: Option<&Entry>) -> Result<Taken, Fault> {
    let emptied = entry.map_or(Emptied::Any, |entry| Emptied::Made(&entry.created));
    match &slot.holds {
        Holds::Hooks(_) => json(text, Dialect::Strict, entry, |json| hooks::take(json, emptied)),
        Holds::Servers(all) => {
            json(text, all.dialect, entry, |json| servers::take(json, all, emptied))
        }
        Holds::TomlServers => toml_server(text, entry),
        Holds::Extension => Ok(extension(text, entry)),
    }
}

fn json(
    text: &[u8],
    dialect: Dialect,
    entry: Option<&Entry>,
    take: impl FnOnce(&mut Json) -> Done,
) -> Result<Taken, Fault> {
    if text.trim_ascii().is_empty() {
        return Ok(Taken { text: Some(text.to_vec()), done: Done::default() });
    }
    let mut json = Json::read(Some(text), dialect)?;
    let done = take(&mut json);
    let empty = json.value().as_object().is_some_and(serde_json::Map::is_empty);
    let made = entry.is_some_and(|entry| entry.before == Before::Absent);
    let text = (!(empty && made && !done.said.is_empty())).then(|| json.bytes());
    Ok(Taken { text, done })
}

fn toml_server(bytes: &[u8], entry: Option<&Entry>) -> Result<Taken, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::at("", 0, "this is not UTF-8"))?;
    let (bom, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    let root = toml::value(text)?;
    let all = root.get("mcp_servers").and_then(Value::as_object).into_iter().flatten();
    let ours: Vec<_> = all.filter(|(_, it)| ours::server(it).is_some()).map(|it| it.0).collect();
    let mut done = Done::default();
    let mut left = text.to_owned();
    let may_go = entry.is_none_or(|entry| !entry.created.is_empty());
    for name in ours {
        left = toml::remove_server(&left, name, may_go)?;
        done.said.push(format!("server “{name}”"));
    }
    let made = entry.is_some_and(|entry| entry.before == Before::Absent);
    let gone = made && left.trim().is_empty() && !done.said.is_empty();
    Ok(Taken { text: (!gone).then(|| format!("{bom}{left}").into_bytes()), done })
}

/// What somebody has changed is theirs.
fn extension(bytes: &[u8], entry: Option<&Entry>) -> Taken {
    let text = String::from_utf8_lossy(bytes);
    let ours = extension::program(&text);
    let mut done = Done::default();
    let unchanged = ours.as_ref().is_some_and(|program| extension::with_program(program) == text)
        || entry.is_some_and(|entry| entry.after == Digest::of(bytes));
    if unchanged {
        done.said.push("the extension".to_owned());
    } else if ours.is_some() {
        done.notes.push("the extension recoup.ts for Pi was changed since: it stays".to_owned());
    }
    Taken { text: (!unchanged).then(|| bytes.to_vec()), done }
}
