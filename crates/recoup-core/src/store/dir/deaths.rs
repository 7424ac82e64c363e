//! When the first entry of each scope dies, in one small file, so that eviction
//! opens only the scopes in which one has.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files;
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::key::Scope;
use crate::store::folder::Folder;

/// The moments; none for a scope in which nothing dies.
#[derive(Debug, Default)]
pub(super) struct Deaths(BTreeMap<String, Option<Timestamp>>);

impl Deaths {
    /// A file that can't be read knows of no scope.
    pub(super) fn read(folder: &Folder) -> Self {
        let json = files::read_helper(&path(folder));
        Self(json.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default())
    }

    /// Whether something may be dead there: an unknown scope has to be looked at.
    pub(super) fn may_be_in(&self, scope: &Scope, now: Timestamp) -> bool {
        self.0.get(scope.as_str()).is_none_or(|first| first.is_some_and(|first| first <= now))
    }
}

/// Notes the first death of a scope. The caller holds the lock. Where that can't be
/// written, all scopes are looked at: no reason for a write to fail.
pub(super) fn note(folder: &Folder, scope: &Scope, first: Option<Timestamp>) {
    let mut deaths = Deaths::read(folder);
    if deaths.0.insert(scope.to_string(), first) == Some(first) {
        return;
    }
    let json = serde_json::to_vec(&deaths.0).expect("text and numbers always serialize");
    if fsx::write_whole(&path(folder), &json).is_err() {
        let _ = fsx::remove(&path(folder));
    }
}

fn path(folder: &Folder) -> PathBuf {
    folder.own().join("deaths.json")
}
