//! Entries of other tools: listed in the index, with a body, and without a head
//! of ours. They can be read, replaced and removed, and are never evicted.

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

/// How often an entry is looked at that does not match its hash. Other tools
/// write body and index one after the other; this is how long that may take.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// The entry, or what is left of it; none when it is not listed.
pub(super) fn get(layout: &Layout, key: &Key) -> Result<Option<Arc<Record>>> {
    let mut damaged = None;
    for attempt in 0..TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        // The body first: whoever wrote an index after that wrote another body.
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

/// The entry, if the body is the one that is listed.
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

/// The head alone, for those who do not want the body; none when it is not listed.
pub(super) fn head(layout: &Layout, key: &Key, index: &Index) -> Option<Head> {
    let len = fs::metadata(layout.body(key)).ok()?.len();
    Some(index.listed(key.as_str())?.into_head(len))
}

/// The listed entries without a head; of those that `known` names it is known
/// that they have one.
pub(super) fn keys<'a>(
    layout: &'a Layout,
    index: &'a Index,
    known: impl Fn(&Key) -> bool + 'a,
) -> impl Iterator<Item = Key> + 'a {
    let keys = index.keys().filter_map(|key| Key::parse(key).ok());
    keys.filter(move |key| !known(key) && matches!(files::is_there(&layout.head(key)), Ok(false)))
}
