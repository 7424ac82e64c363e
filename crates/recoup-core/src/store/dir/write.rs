//! Writing: under the lock, the entry first, then its index and catalogue entries.

use std::collections::BTreeMap;

use super::DirectoryStore;
use super::files::MAX_LEN;
use super::open_scope::OpenScope;
use crate::entry::EntryRecord;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Key, Scope};
use crate::store::folder::payload_text;

pub(super) fn put(dir: &DirectoryStore, id: &EntryId, record: &EntryRecord) -> Result<()> {
    let header = &record.head.header;
    let body = payload_text(&record.payload, &header.body)?;
    let full = match (&record.full, &header.full) {
        (Some(full), Some(info)) => Some(payload_text(full, info)?),
        _ => None,
    };
    for contents in [Some(&body), full.as_ref()].into_iter().flatten() {
        refuse_too_large(contents.len() as u64)?;
    }
    let _lock = dir.folder.lock()?;
    let mut shelf = OpenScope::open(dir, &id.scope)?;
    shelf.put(&id.key, &record.head, &body, full.as_deref())?;
    shelf.save()
}

/// An error for results that would be too large to be read again.
fn refuse_too_large(len: u64) -> Result<()> {
    if len > MAX_LEN {
        let message = format!("the result has {len} bytes; this store keeps at most {MAX_LEN}");
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(())
}

pub(super) fn remove(dir: &DirectoryStore, ids: &[EntryId]) -> Result<usize> {
    let mut by_scope: BTreeMap<&Scope, Vec<&Key>> = BTreeMap::new();
    for id in ids {
        by_scope.entry(&id.scope).or_default().push(&id.key);
    }
    let mut used = Vec::new();
    for (scope, keys) in by_scope {
        if dir.layout(scope)?.is_used()? {
            used.push((scope, keys));
        }
    }
    if used.is_empty() {
        return Ok(0);
    }
    let _lock = dir.folder.lock()?;
    let mut removed = 0;
    for (scope, keys) in used {
        let mut shelf = OpenScope::open(dir, scope)?;
        for key in keys {
            removed += usize::from(shelf.remove(key)?);
        }
        shelf.save()?;
    }
    Ok(removed)
}
