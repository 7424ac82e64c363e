//! Entries of other tools: in the index, with a body, and without a head of ours. They can be read,
//! replaced and removed, and are never evicted.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::files;
use super::index::Index;
use super::layout::Layout;
use super::listed::Listed;
use crate::base::digest::Digest;
use crate::entry::{Body, Head, Payload, Record};
use crate::error::Result;
use crate::key::Key;

/// How often the read of an entry that does not match its hash is repeated: other tools write body
/// and index one after the other.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The entry, possibly damaged; `None` if it is not in the index.
pub(super) fn get(layout: &Layout, key: &Key) -> Result<Option<Arc<Record>>> {
    let mut damaged = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        // The body first: an index written after that belongs to another body.
        let Some(body) = files::read(&layout.body(key))? else { return Ok(None) };
        let Some(listed) = layout.listing()?.listed(key.as_str()) else {
            return Ok(None);
        };
        if let Some(record) = matching(&listed, &body) {
            return Ok(Some(record));
        }
        damaged = Some(mismatched(listed, body));
    }
    Ok(damaged)
}

/// The entry, if the body matches its hash in the index.
pub(super) fn matching(listed: &Listed, stored: &[u8]) -> Option<Arc<Record>> {
    let body = Bytes::copy_from_slice(listed.hashed_part(stored)?);
    let mut head = listed.clone().into_head(body.len() as u64);
    head.header.body.sha256 = Digest::of(&body);
    Some(Arc::new(Record { payload: Payload::Opened(Body::Whole(body)), head, full: None }))
}

/// A record that fails when it is opened.
fn mismatched(listed: Listed, body: Vec<u8>) -> Arc<Record> {
    let head = listed.into_head(body.len() as u64);
    Arc::new(Record { payload: Payload::Plain(body.into()), head, full: None })
}

/// The head alone; `None` if the entry is not in the index.
pub(super) fn head(layout: &Layout, key: &Key, index: &Index) -> Option<Head> {
    let len = fs::metadata(layout.body(key)).ok()?.len();
    Some(index.listed(key.as_str())?.into_head(len))
}

/// The keys in the index without a head. `known` names keys that have one.
pub(super) fn keys<'a>(
    layout: &'a Layout,
    index: &'a Index,
    known: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = Key> + 'a {
    let keys = index.keys().filter_map(|key| Key::parse(key).ok());
    keys.filter(move |key| !known(key) && matches!(files::is_there(&layout.head(key)), Ok(false)))
}
