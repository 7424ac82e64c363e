//! The first expiry in each scope, in one small file, so that eviction opens only scopes in which
//! an entry has expired.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::files;
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::key::Scope;
use crate::store::folder::StoreFolder;

/// First expiry by scope; `None` for a scope in which nothing expires.
#[derive(Debug, Default)]
pub(super) struct ExpiryIndex(BTreeMap<String, Option<Timestamp>>);

impl ExpiryIndex {
    /// Empty if the file cannot be read.
    pub(super) fn read(folder: &StoreFolder) -> Self {
        let json = files::read_rebuildable(&path(folder));
        Self(json.and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default())
    }

    /// True if an entry of the scope may have expired; also for an unknown scope.
    pub(super) fn may_have_expired(&self, scope: &Scope, now: Timestamp) -> bool {
        self.0.get(scope.as_str()).is_none_or(|first| first.is_some_and(|first| first <= now))
    }
}

/// Records the first expiry of a scope. The caller must hold the lock. Best effort: without the
/// file, all scopes are checked.
pub(super) fn record_first_expiry(folder: &StoreFolder, scope: &Scope, first: Option<Timestamp>) {
    let mut deaths = ExpiryIndex::read(folder);
    if deaths.0.insert(scope.to_string(), first) == Some(first) {
        return;
    }
    let json = serde_json::to_vec(&deaths.0).expect("text and numbers always serialize");
    if fsx::write_unsynced(&path(folder), &json).is_err() {
        let _ = fsx::remove(&path(folder));
    }
}

fn path(folder: &StoreFolder) -> PathBuf {
    folder.private_dir().join("deaths.json")
}
