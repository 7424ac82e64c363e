//! Record of what was installed where, so that it can be removed again:
//! `~/.recoup/installed.json`.
//!
//! Written before the files: one that differs from it counts as changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

use super::change::{FileChange, InstallTarget, leads_out, resolve_links};
use super::server_ttls::ServerTtlRecord;
use crate::clients::InstalledContent;

const VERSION: u32 = 1;
const LARGEST: u64 = 16 << 20;

/// Everything that was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InstallReceipt {
    version: u32,
    #[serde(default)]
    pub(crate) files: Vec<ReceiptEntry>,
    /// Times for servers behind the proxy, in our configuration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ttls: Vec<ServerTtlRecord>,
}

/// The one field that a receipt of any version has.
#[derive(Deserialize)]
struct ReceiptVersion {
    version: u32,
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReceiptEntry {
    pub(crate) path: PathBuf,
    /// Target of the link, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    real: Option<PathBuf>,
    pub(crate) parties: Vec<InstallTarget>,
    /// Content per target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) holds: Vec<(InstallTarget, InstalledContent)>,
    pub(crate) before: OriginalState,
    /// Digest of the content that we wrote.
    pub(crate) after: Sha256Digest,
    /// Objects and lists that we created in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) created: Vec<Vec<String>>,
    /// Parent directories that we created, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) dirs: Vec<PathBuf>,
}

/// State of a file before installation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OriginalState {
    /// There was no file.
    Absent,
    /// The content is in this backup, below our own directory.
    Copy(PathBuf),
    /// Something of ours was in it already, so that there is no original to restore.
    Unknown,
}

impl ReceiptEntry {
    /// Path of the file that was written.
    pub(crate) fn written_path(&self) -> &Path {
        self.real.as_deref().unwrap_or(&self.path)
    }

    /// Returns the current file, following links, except a project's file that has become a link
    /// out of it: that leads to another file.
    fn current_file(&self) -> PathBuf {
        let path = self.written_path();
        let mut roots = self.parties.iter().filter_map(|party| party.root.as_deref());
        let is_elsewhere = roots.any(|root| leads_out(path, root));
        if is_elsewhere { path.to_owned() } else { resolve_links(path) }
    }
}

impl InstallReceipt {
    /// Reads the receipt in `own`; an empty one if there is none.
    pub(crate) fn read(own: &Path) -> Result<Self> {
        let path = receipt_path(own);
        let Some(text) = fsx::read_regular(&path, LARGEST)? else { return Ok(Self::default()) };
        // Checks the version first: a newer format may differ in everything else.
        let number = serde_json::from_slice(&text).map_or(0, |ReceiptVersion { version }| version);
        if number > VERSION {
            return Err(Error::new(ErrorKind::Invalid, newer_version_message(&path)));
        }
        serde_json::from_slice(&text).map_err(|error| {
            // A client or a kind of content that only a newer version knows.
            let message = if error.is_data() && number == VERSION {
                newer_version_message(&path)
            } else {
                format!("{} can't be read: move it away, and try again", path.display())
            };
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })
    }

    /// Writes the receipt; removes the file if it is empty.
    pub(crate) fn write(&self, own: &Path) -> Result<()> {
        if self.files.is_empty() && self.ttls.is_empty() {
            return fsx::remove(&receipt_path(own)).map(drop);
        }
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| {
            let message =
                "a path is not UTF-8, so it can't be recorded for a later uninstall: nothing was \
                 written";
            Error::new(ErrorKind::Invalid, message).with_source(error)
        })?;
        text.push(b'\n');
        fsx::write_atomic(&receipt_path(own), &text)
    }

    /// Returns the entry of a file, given its resolved path.
    pub(crate) fn entry_for(&self, path: &Path) -> Option<&ReceiptEntry> {
        self.files.iter().find(|entry| entry.current_file() == path)
    }

    /// Backups that are needed to restore files, relative to our own directory.
    pub(crate) fn copies(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().filter_map(|entry| match &entry.before {
            OriginalState::Copy(copy) => Some(&**copy),
            OriginalState::Absent | OriginalState::Unknown => None,
        })
    }

    /// Projects with an installation.
    pub(crate) fn roots(&self) -> BTreeSet<PathBuf> {
        let parties = self.files.iter().flat_map(|entry| &entry.parties);
        parties.filter_map(|party| party.root.clone()).collect()
    }

    /// Records a change that is about to be written. The original state stays known as long as
    /// nobody else has changed the file in between.
    pub(crate) fn record_change(
        &mut self,
        change: &FileChange,
        copy: Option<PathBuf>,
        dirs: Vec<PathBuf>,
    ) {
        let (Some(party), Some(after)) = (&change.party, &change.after) else { return };
        let file = resolve_links(&change.path);
        let known = self.files.iter().position(|entry| entry.current_file() == file);
        let known = known.map(|at| self.files.remove(at));
        let now = change.before.as_deref().map(Sha256Digest::of);
        let fresh = match (&change.before, copy) {
            (None, _) => OriginalState::Absent,
            (Some(_), Some(copy)) if !change.done.had_ours => OriginalState::Copy(copy),
            _ => OriginalState::Unknown,
        };
        let unbroken = |entry: &ReceiptEntry| now == Some(entry.after);
        let mut entry = match known {
            Some(entry) if unbroken(&entry) => entry,
            Some(entry) => {
                let created = if change.done.had_ours { entry.created } else { Vec::new() };
                ReceiptEntry { before: fresh, created, ..entry }
            }
            None => ReceiptEntry {
                path: change.path.clone(),
                real: (file != change.path).then_some(file),
                parties: Vec::new(),
                holds: Vec::new(),
                before: fresh,
                after: Sha256Digest::of(after),
                created: Vec::new(),
                dirs,
            },
        };
        entry.after = Sha256Digest::of(after);
        add_new(&mut entry.parties, std::slice::from_ref(party));
        let held = change.held.iter().map(|held| (party.clone(), held.clone()));
        add_new(&mut entry.holds, &held.collect::<Vec<_>>());
        add_new(&mut entry.created, &change.done.created);
        self.files.push(entry);
    }

    /// Records that something was removed from a file. If only we had changed it, its original
    /// state stays known. Otherwise a backup is no longer valid; that the file was absent stays
    /// true, and so does the digest of what was only ours.
    pub(crate) fn record_removal(&mut self, change: &FileChange) {
        let file = resolve_links(&change.path);
        let before = change.before.as_deref().map(Sha256Digest::of);
        for entry in self.files.iter_mut().filter(|entry| entry.current_file() == file) {
            let after = Sha256Digest::of(change.after.as_deref().unwrap_or_default());
            match entry.before {
                _ if before == Some(entry.after) => entry.after = after,
                OriginalState::Absent => {}
                OriginalState::Copy(_) | OriginalState::Unknown => {
                    entry.before = OriginalState::Unknown;
                    entry.after = after;
                }
            }
        }
    }

    /// Removes targets from the inspected files. Returns the entries that have none left.
    pub(crate) fn remove_targets(
        &mut self,
        parties: &[InstallTarget],
        looked: &BTreeMap<PathBuf, Option<Vec<u8>>>,
    ) -> Vec<ReceiptEntry> {
        let is_looked = |entry: &ReceiptEntry| looked.contains_key(&entry.current_file());
        for entry in self.files.iter_mut().filter(|entry| is_looked(entry)) {
            entry.parties.retain(|party| !parties.contains(party));
            entry.holds.retain(|(party, _)| !parties.contains(party));
        }
        self.files.extract_if(.., |entry| entry.parties.is_empty()).collect()
    }

    /// True if there is an entry for one of these targets.
    pub(crate) fn has_targets(&self, parties: &[InstallTarget]) -> bool {
        let mut noted = self.files.iter().flat_map(|entry| &entry.parties);
        noted.any(|party| parties.contains(party))
    }
}

impl Default for InstallReceipt {
    fn default() -> Self {
        Self { version: VERSION, files: Vec::new(), ttls: Vec::new() }
    }
}

fn newer_version_message(path: &Path) -> String {
    format!(
        "{} was written by a newer version of recoup: upgrade recoup; nothing was changed",
        path.display()
    )
}

/// File of the receipt, in our own directory.
pub(crate) fn receipt_path(own: &Path) -> PathBuf {
    own.join("installed.json")
}

fn add_new<T: Clone + PartialEq>(all: &mut Vec<T>, more: &[T]) {
    for one in more {
        if !all.contains(one) {
            all.push(one.clone());
        }
    }
}
