//! Reading: without a lock or a write, and always one consistent entry, whoever writes meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::catalogue::{Catalogue, Sum};
use super::files::{self, file_name};
use super::foreign;
use super::head::StoredHead;
use super::heal;
use super::index::Index;
use super::layout::Layout;
use crate::base::digest::Digest;
use crate::entry::{Body, Head, Payload, Record};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Key, Scope};
use crate::store::{Filter, Flow, Usage, Visit};

/// How often the read of an entry is repeated while others keep replacing it.
const TRIES: usize = 100;
/// How often the read is repeated if the full result is missing, and the pause in between.
const FULL_TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// Reads the head, then the body: a body that does not match the head was written after it, and the
/// next try finds its head. If the head is unchanged then, another program changed the body.
pub(super) fn get(layout: &Layout, key: &Key) -> Result<Option<Arc<Record>>> {
    let mut seen = None;
    for _ in 0..TRIES {
        let Some(stored) = StoredHead::read(&layout.head(key))? else {
            let found = foreign::get(layout, key)?;
            // An entry that got a head meanwhile is ours.
            if found.is_none() || StoredHead::read(&layout.head(key))?.is_none() {
                return Ok(found);
            }
            continue;
        };
        let Some(body) = files::read(&layout.body(key))? else { return Ok(None) };
        let sha256 = Digest::of(&body);
        if let Some(head) = stored.head_of(sha256)? {
            if let Some(theirs) = set_by_others(layout, key, &head, &body)? {
                return Ok(Some(theirs));
            }
            let payload = Payload::Opened(Body::from(body));
            return Ok(Some(Arc::new(Record { payload, head, full: None })));
        }
        if seen.replace((stored.turn, sha256)) == Some((stored.turn, sha256)) {
            return changed_by_others(layout, key, stored.head()?, body).map(Some);
        }
    }
    Err(Error::new(ErrorKind::Locked, format!("others keep replacing the entry {key}")))
}

/// Another tool's entry in place of ours that happens to have the same body. While the index is as
/// we left it there is none, and it is not opened.
fn set_by_others(
    layout: &Layout,
    key: &Key,
    head: &Head,
    body: &[u8],
) -> Result<Option<Arc<Record>>> {
    if Catalogue::knows_index(layout) {
        return Ok(None);
    }
    let listed = layout.listing()?.listed(key.as_str()).filter(|listed| listed.is_not_of(head));
    Ok(listed.and_then(|listed| foreign::matching(&listed, body)))
}

/// Another tool's entry in place of ours, if the index says so; else damage, which shows when the
/// record is opened.
fn changed_by_others(layout: &Layout, key: &Key, head: Head, body: Vec<u8>) -> Result<Arc<Record>> {
    let listed = layout.listing()?.listed(key.as_str());
    let theirs = listed.and_then(|listed| foreign::matching(&listed, &body));
    let ours = || Arc::new(Record { payload: Payload::Plain(body.into()), head, full: None });
    Ok(theirs.unwrap_or_else(ours))
}

/// The full result of an entry. If it is missing, the entry may just be replaced: the next try
/// finds another one.
pub(super) fn full(layout: &Layout, key: &Key) -> Result<Option<Payload>> {
    for attempt in 0..FULL_TRIES {
        if attempt > 0 {
            thread::sleep(PAUSE);
        }
        let Some(record) = get(layout, key)? else { return Ok(None) };
        let Some(info) = record.head.header.full else { return Ok(None) };
        let path = layout.full(&file_name(&info.sha256.to_hex()));
        if let Some(stored) = files::read(&path)? {
            return Ok(Some(Payload::Plain(stored.into())));
        }
    }
    let message = format!("the full result of the entry {key} is gone");
    Err(Error::new(ErrorKind::Corrupt, message))
}

/// Visits the heads of one scope. All keys are listed first, because the visitor may change the
/// store.
pub(super) fn scan(
    layout: &Layout,
    scope: &Scope,
    filter: &Filter,
    visit: &mut Visit<'_>,
) -> Result<Flow> {
    let wanted = |head: &Head| filter.kind.is_none_or(|kind| kind == head.header.kind);
    let index = layout.listing()?;
    for key in keys(layout, &index)? {
        let shown = match head(layout, &key, &index) {
            Ok(None) => continue,
            Ok(Some(head)) if !wanted(&head) => continue,
            Ok(Some(head)) => visit(&Id::new(scope.clone(), key), Ok(&head)),
            Err(error) => visit(&Id::new(scope.clone(), key), Err(error)),
        };
        if shown.is_break() {
            return Ok(shown);
        }
    }
    Ok(Flow::Continue(()))
}

/// All keys with a body, and a head or an index entry. Heads are listed before bodies, because a
/// removal deletes the body first.
fn keys(layout: &Layout, index: &Index) -> Result<BTreeSet<Key>> {
    let heads = files::keys_in(&layout.heads())?;
    let mut keys: BTreeSet<Key> = foreign::keys(layout, index, |key| heads.contains(key)).collect();
    keys.extend(heads);
    let bodies = files::keys_in(&layout.bodies())?;
    keys.retain(|key| bodies.contains(key));
    Ok(keys)
}

fn head(layout: &Layout, key: &Key, index: &Index) -> Result<Option<Head>> {
    match StoredHead::read(&layout.head(key))? {
        Some(stored) if !stored.is_open() => stored.head().map(Some),
        // Only the body decides which of the two heads applies.
        Some(_) => Ok(get(layout, key)?.map(|record| record.head.clone())),
        None => Ok(foreign::head(layout, key, index)),
    }
}

/// Number and size of the entries that a scan would visit.
pub(super) fn usage(layout: &Layout) -> Result<Usage> {
    let facts = match Catalogue::read_current(layout) {
        Some(current) => current.facts,
        None => heal::facts_from_heads(layout)?,
    };
    let mut usage = Sum::of(facts.values()).usage;
    let index = layout.listing()?;
    let theirs = foreign::keys(layout, &index, |key| facts.contains_key(key));
    for head in theirs.filter_map(|key| foreign::head(layout, &key, &index)) {
        usage.entries += 1;
        usage.bytes = usage.bytes.saturating_add(head.header.stored_len());
    }
    Ok(usage)
}
