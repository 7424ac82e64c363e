//! Bringing everything in line again after a crash, or after others have been
//! here: what our heads and the bodies say is true, and what the index says of
//! entries that are not ours.
//!
//! Bodies without a head and without a line in the index are left alone: nothing
//! is known of their sources.

use std::collections::BTreeSet;

use super::catalogue::{Catalogue, Fact, Facts, Stamps};
use super::head::StoredHead;
use super::index::{Found, Index};
use super::layout::{self, Layout, file_name};
use super::listed::Listed;
use crate::base::digest::Digest;
use crate::base::fsx;
use crate::error::Result;
use crate::key::Key;

/// What is there, made whole.
pub(super) struct Healed {
    /// None where there is none to go on with.
    pub(super) index: Option<Index>,
    pub(super) facts: Facts,
    /// The full results of heads that went. Others may have them too.
    pub(super) abandoned: Vec<String>,
}

/// Makes it whole. The caller holds the lock, and has said that the catalogue is
/// not true any more.
pub(super) fn healed(layout: &Layout, last: Option<Catalogue>) -> Result<Healed> {
    layout.remove_leftovers()?;
    let bodies = layout::keys_in(&layout.bodies())?;
    let mut abandoned = Vec::new();
    let mut facts = match last {
        Some(last) if last.stamps.heads == Stamps::of(layout).heads => last.facts,
        _ => sweep(layout, |key, open, settled| {
            abandoned.extend(open.full_names());
            settled.write(&layout.head(key))
        })?,
    };
    let bodiless = layout::keys_in(&layout.heads())?.difference(&bodies).cloned().collect();
    give_up(bodiless, layout, &mut facts, &mut abandoned)?;
    let mut index = found_index(layout)?;
    if let Some(index) = &mut index {
        forget_lost(index, &bodies);
        let replaced = replaced_by_others(layout, index, &facts);
        give_up(replaced, layout, &mut facts, &mut abandoned)?;
    }
    Ok(Healed { index, facts, abandoned })
}

/// Removes heads that stand for nothing any longer: their bodies were removed, or
/// replaced, by others.
fn give_up(
    keys: Vec<Key>,
    layout: &Layout,
    facts: &mut Facts,
    abandoned: &mut Vec<String>,
) -> Result<()> {
    for key in keys {
        facts.remove(&key);
        // One that can't be read may be a later version's.
        if let Ok(Some(stored)) = StoredHead::read(&layout.head(&key))
            && stored.head().is_ok()
        {
            abandoned.extend(stored.full_names());
            layout::remove(&layout.head(&key))?;
        }
    }
    Ok(())
}

/// What the heads say of the entries that have a body. Writes nothing; heads that
/// can't be read are passed over, and stay for whoever asks for them.
pub(super) fn facts_from_heads(layout: &Layout) -> Result<Facts> {
    sweep(layout, |_, _, _| Ok(()))
}

/// Reads all heads; `settle` is told of those whose put ended half way, as they
/// are and as which of the two they turned out to be.
fn sweep(
    layout: &Layout,
    mut settle: impl FnMut(&Key, &StoredHead, &StoredHead) -> Result<()>,
) -> Result<Facts> {
    let mut facts = Facts::new();
    let heads = layout::keys_in(&layout.heads())?;
    let bodies = layout::keys_in(&layout.bodies())?;
    for key in heads.into_iter().filter(|key| bodies.contains(key)) {
        let Ok(Some(mut stored)) = StoredHead::read(&layout.head(&key)) else { continue };
        if stored.is_open() {
            let Ok(Some(body)) = layout::read(&layout.body(&key)) else { continue };
            let settled = stored.clone().settled(Digest::of(&body));
            settle(&key, &stored, &settled)?;
            stored = settled;
        }
        if let Ok(head) = stored.head() {
            facts.insert(key, Fact::of(&stored, &head));
        }
    }
    Ok(facts)
}

/// The index that is there. What is no index is kept, once, for its owner.
fn found_index(layout: &Layout) -> Result<Option<Index>> {
    match Index::find(&layout.index())? {
        Found::Whole(index) => Ok(Some(index)),
        Found::Nothing => Ok(None),
        Found::Broken => {
            if !layout.broken_index().exists() {
                fsx::rename(&layout.index(), &layout.broken_index())?;
            }
            Ok(None)
        }
    }
}

/// Entries whose body is gone are not listed any longer. Of keys that we would not
/// take we do not know where their bodies are.
fn forget_lost(index: &mut Index, bodies: &BTreeSet<Key>) {
    let is_lost = |key: &&str| Key::parse(key).is_ok_and(|key| !bodies.contains(&key));
    let lost: Vec<String> = index.keys().filter(is_lost).map(str::to_owned).collect();
    for key in lost {
        index.remove(&key);
    }
}

/// Entries of ours that another tool has replaced, body and line: they are theirs now.
fn replaced_by_others(layout: &Layout, index: &Index, facts: &Facts) -> Vec<Key> {
    let is_replaced = |(key, fact): &(&Key, &Fact)| {
        let listed = index.listed(key.as_str()).filter(|it| !fact.is_of(it.integrity_hash));
        listed.is_some_and(|listed| {
            let body = layout::read(&layout.body(key)).ok().flatten();
            body.is_some_and(|body| listed.hashed_part(&body).is_some())
        })
    };
    facts.iter().filter(is_replaced).map(|(key, _)| key.clone()).collect()
}

/// Lists our entries as they are, where the index says otherwise.
pub(super) fn list_ours(layout: &Layout, index: &mut Index, facts: &Facts) {
    for (key, fact) in facts {
        let is_right = |listed: Listed| fact.is_of(listed.integrity_hash);
        let full = fact.full.map(|full| file_name(&full.sha256.to_hex()));
        if index.listed(key.as_str()).is_some_and(is_right) && index.full_name(key.as_str()) == full
        {
            continue;
        }
        let head = StoredHead::read(&layout.head(key)).ok().flatten().map(|head| head.head());
        if let Some(Ok(head)) = head {
            index.restate(key.as_str(), &Listed::of(&head, layout));
        }
    }
}
