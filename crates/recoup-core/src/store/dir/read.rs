//! Reading: without a lock or a write, and always one consistent entry, whoever writes meanwhile.
//!
//! Entries of other tools are in the index, with a body, and without a head of ours. They can be
//! read, replaced and removed, and are never evicted.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, thread};

use bytes::Bytes;

use super::catalogue::{ScopeCatalogue, UsageSum};
use super::index::DirectoryIndex;
use super::layout::{HeadFile, ScopeLayout, file_name, keys_in, path_exists, read_file};
use super::listed_entry::ListedEntry;
use super::open_scope;
use crate::base::digest::Sha256Digest;
use crate::entry::{Body, EntryHead, EntryRecord, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Key, Scope};
use crate::store::{RecordVisitor, ScanFilter, ScanFlow, ScopeUsage};

/// How often the read of an entry is repeated while others keep replacing it.
const TRIES: usize = 100;
/// How often the read of an entry that does not match its hash is repeated: other tools write body
/// and index one after the other.
const FOREIGN_TRIES: usize = 4;
/// How often the read is repeated if the full result is missing, and the pause in between.
const FULL_TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// Reads the head, then the body: a body that does not match the head was written after it, and the
/// next try finds its head. If the head is unchanged then, another program changed the body.
pub(super) fn get(layout: &ScopeLayout, key: &Key) -> Result<Option<Arc<EntryRecord>>> {
    let mut seen = None;
    for _ in 0..TRIES {
        let Some(stored) = HeadFile::read(&layout.head(key))? else {
            let found = get_foreign(layout, key)?;
            // An entry that got a head meanwhile is ours.
            if found.is_none() || HeadFile::read(&layout.head(key))?.is_none() {
                return Ok(found);
            }
            continue;
        };
        let Some(body) = read_file(&layout.body(key))? else { return Ok(None) };
        let sha256 = Sha256Digest::of(&body);
        if let Some(head) = stored.head_for_body(sha256)? {
            // Another tool's entry in place of ours may happen to have the same body. While the index
            // is as we left it there is none, and it is not opened.
            if !ScopeCatalogue::is_index_current(layout) {
                let listed = layout.current_index()?.entry_for(key.as_str());
                let listed = listed.filter(|listed| listed.differs_from(&head));
                if let Some(theirs) = listed.and_then(|it| record_if_matching(&it, &body)) {
                    return Ok(Some(theirs));
                }
            }
            let payload = StoredBody::Opened(Body::from(body));
            return Ok(Some(Arc::new(EntryRecord { payload, head, full: None })));
        }
        if seen.replace((stored.turn, sha256)) == Some((stored.turn, sha256)) {
            // Another tool's entry in place of ours, if the index says so; else damage, which shows
            // when the record is opened.
            let head = stored.parse_head()?;
            let listed = layout.current_index()?.entry_for(key.as_str());
            let theirs = listed.and_then(|listed| record_if_matching(&listed, &body));
            return Ok(Some(theirs.unwrap_or_else(|| unverified_record(head, body))));
        }
    }
    Err(Error::new(ErrorKind::Locked, format!("other processes keep replacing the entry {key}")))
}

/// The full result of an entry. If it is missing, the entry may just be replaced: the next try
/// finds another one.
pub(super) fn full(layout: &ScopeLayout, key: &Key) -> Result<Option<StoredBody>> {
    for attempt in 0..FULL_TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let Some(record) = get(layout, key)? else { return Ok(None) };
        let Some(info) = record.head.header.full else { return Ok(None) };
        let path = layout.full(&file_name(&info.sha256.to_hex()));
        if let Some(stored) = read_file(&path)? {
            return Ok(Some(StoredBody::Plain(stored.into())));
        }
    }
    let message = format!("the full result of the entry {key} is missing");
    Err(Error::new(ErrorKind::Corrupt, message))
}

/// Visits the heads of one scope. All keys are listed first, because the visitor may change the
/// store.
pub(super) fn scan(
    layout: &ScopeLayout,
    scope: &Scope,
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
) -> Result<ScanFlow> {
    let wanted = |head: &EntryHead| filter.kind.is_none_or(|kind| kind == head.header.kind);
    let index = layout.current_index()?;
    // Those with a body, and a head or an index entry. Heads are listed before bodies, because a
    // removal deletes the body first.
    let heads = keys_in(&layout.heads())?;
    let mut keys: BTreeSet<Key> = foreign_keys(layout, &index, |key| heads.contains(key)).collect();
    keys.extend(heads);
    let bodies = keys_in(&layout.bodies())?;
    keys.retain(|key| bodies.contains(key));
    for key in keys {
        let flow = match head(layout, &key, &index) {
            Ok(None) => continue,
            Ok(Some(head)) if !wanted(&head) => continue,
            Ok(Some(head)) => visit(&EntryId::new(scope.clone(), key), Ok(&head)),
            Err(error) => visit(&EntryId::new(scope.clone(), key), Err(error)),
        };
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ScanFlow::Continue(()))
}

fn head(layout: &ScopeLayout, key: &Key, index: &DirectoryIndex) -> Result<Option<EntryHead>> {
    match HeadFile::read(&layout.head(key))? {
        Some(stored) if !stored.is_unsettled() => stored.parse_head().map(Some),
        // Only the body decides which of the two heads applies.
        Some(_) => Ok(get(layout, key)?.map(|record| record.head.clone())),
        None => Ok(foreign_head(layout, key, index)),
    }
}

/// Number and size of the entries that a scan would visit.
pub(super) fn usage(layout: &ScopeLayout) -> Result<ScopeUsage> {
    let facts = match ScopeCatalogue::read_current(layout) {
        Some(current) => current.facts,
        None => open_scope::entries_from_heads(layout)?,
    };
    let mut usage = UsageSum::of(facts.values()).usage;
    let index = layout.current_index()?;
    let theirs = foreign_keys(layout, &index, |key| facts.contains_key(key));
    for head in theirs.filter_map(|key| foreign_head(layout, &key, &index)) {
        usage.entries += 1;
        usage.bytes = usage.bytes.saturating_add(head.header.stored_len());
    }
    Ok(usage)
}

/// The entry, possibly damaged; `None` if it is not in the index.
fn get_foreign(layout: &ScopeLayout, key: &Key) -> Result<Option<Arc<EntryRecord>>> {
    let mut damaged = None;
    for attempt in 0..FOREIGN_TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        // The body first: an index written after that belongs to another body.
        let Some(body) = read_file(&layout.body(key))? else { return Ok(None) };
        let Some(listed) = layout.current_index()?.entry_for(key.as_str()) else {
            return Ok(None);
        };
        if let Some(record) = record_if_matching(&listed, &body) {
            return Ok(Some(record));
        }
        damaged = Some(unverified_record(listed.into_head(body.len() as u64), body));
    }
    Ok(damaged)
}

/// The entry, if the body matches its hash in the index.
fn record_if_matching(listed: &ListedEntry, stored: &[u8]) -> Option<Arc<EntryRecord>> {
    let body = Bytes::copy_from_slice(listed.hashed_part(stored)?);
    let mut head = listed.clone().into_head(body.len() as u64);
    head.header.body.sha256 = Sha256Digest::of(&body);
    Some(Arc::new(EntryRecord { payload: StoredBody::Opened(Body::Whole(body)), head, full: None }))
}

/// A record that fails when it is opened.
fn unverified_record(head: EntryHead, body: Vec<u8>) -> Arc<EntryRecord> {
    Arc::new(EntryRecord { payload: StoredBody::Plain(body.into()), head, full: None })
}

/// The head of another tool's entry; `None` if the entry is not in the index.
fn foreign_head(layout: &ScopeLayout, key: &Key, index: &DirectoryIndex) -> Option<EntryHead> {
    let len = fs::metadata(layout.body(key)).ok()?.len();
    Some(index.entry_for(key.as_str())?.into_head(len))
}

/// The keys in the index without a head. `known` names keys that have one.
fn foreign_keys<'a>(
    layout: &'a ScopeLayout,
    index: &'a DirectoryIndex,
    known: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = Key> + 'a {
    let keys = index.keys().filter_map(|key| Key::parse(key).ok());
    keys.filter(move |key| !known(key) && matches!(path_exists(&layout.head(key)), Ok(false)))
}
