//! Entries of other tools: in the index, with a body, and without a head of ours. They can be read,
//! replaced and removed, and are never evicted.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::files;
use super::index::DirectoryIndex;
use super::layout::ScopeLayout;
use super::listed_entry::ListedEntry;
use crate::base::digest::Sha256Digest;
use crate::entry::{Body, EntryHead, EntryRecord, StoredBody};
use crate::error::Result;
use crate::key::Key;

/// How often the read of an entry that does not match its hash is repeated: other tools write body
/// and index one after the other.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The entry, possibly damaged; `None` if it is not in the index.
pub(super) fn get(layout: &ScopeLayout, key: &Key) -> Result<Option<Arc<EntryRecord>>> {
    let mut damaged = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        // The body first: an index written after that belongs to another body.
        let Some(body) = files::read(&layout.body(key))? else { return Ok(None) };
        let Some(listed) = layout.current_index()?.entry_for(key.as_str()) else {
            return Ok(None);
        };
        if let Some(record) = record_if_matching(&listed, &body) {
            return Ok(Some(record));
        }
        damaged = Some(damaged_record(listed, body));
    }
    Ok(damaged)
}

/// The entry, if the body matches its hash in the index.
pub(super) fn record_if_matching(listed: &ListedEntry, stored: &[u8]) -> Option<Arc<EntryRecord>> {
    let body = Bytes::copy_from_slice(listed.hashed_part(stored)?);
    let mut head = listed.clone().into_head(body.len() as u64);
    head.header.body.sha256 = Sha256Digest::of(&body);
    Some(Arc::new(EntryRecord { payload: StoredBody::Opened(Body::Whole(body)), head, full: None }))
}

/// A record that fails when it is opened.
fn damaged_record(listed: ListedEntry, body: Vec<u8>) -> Arc<EntryRecord> {
    let head = listed.into_head(body.len() as u64);
    Arc::new(EntryRecord { payload: StoredBody::Plain(body.into()), head, full: None })
}

/// The head alone; `None` if the entry is not in the index.
pub(super) fn head(layout: &ScopeLayout, key: &Key, index: &DirectoryIndex) -> Option<EntryHead> {
    let len = fs::metadata(layout.body(key)).ok()?.len();
    Some(index.entry_for(key.as_str())?.into_head(len))
}

/// The keys in the index without a head. `known` names keys that have one.
pub(super) fn keys<'a>(
    layout: &'a ScopeLayout,
    index: &'a DirectoryIndex,
    known: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = Key> + 'a {
    let keys = index.keys().filter_map(|key| Key::parse(key).ok());
    keys.filter(move |key| !known(key) && matches!(files::exists(&layout.head(key)), Ok(false)))
}
