//! Finds entries by an abbreviated generated key, as `cache ls` shows it. Keys chosen by the user
//! are never abbreviated: `build-1` is not `build-12`.

use recoup_core::cache::Cache;
use recoup_core::entry::EntryHead;
use recoup_core::key::{EntryId, Key};
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, Result};

use crate::cli::app::AppContext;

/// Minimum length of an abbreviated key.
const MIN_PREFIX_LEN: usize = 8;

/// The length of a generated key: a SHA-256 in hex digits.
const GENERATED_KEY_LEN: usize = 64;

/// True if a key is one that Recoup made.
pub(in crate::cli) fn is_generated(key: &str) -> bool {
    key.len() == GENERATED_KEY_LEN && is_hex(key)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Finds the entry with exactly this key, or else the only one whose generated key starts with it.
pub(in crate::cli) fn find_entry(
    app: &AppContext,
    cache: &Cache,
    typed: &str,
) -> Result<Option<(EntryId, EntryHead)>> {
    let wanted = Key::parse(typed)?;
    let id = EntryId::new(app.scope(), wanted.clone());
    if let Some(head) = cache.head(&id)? {
        return Ok(Some((id, head)));
    }
    if !(MIN_PREFIX_LEN..GENERATED_KEY_LEN).contains(&typed.len()) || !is_hex(typed) {
        return Ok(None);
    }
    let filter =
        ScanFilter { key_prefix: Some(typed.to_owned()), ..ScanFilter::of_scope(&app.scope()) };
    let mut found: Vec<(EntryId, EntryHead)> = Vec::new();
    cache.scan_filtered(&filter, &mut |id, head| {
        if let Some(head) = head.ok().filter(|_| is_generated(id.key.as_str())) {
            found.push((id.clone(), head.clone()));
        }
        ScanFlow::Continue(())
    })?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        many => Err(Error::usage(format!(
            "{many} keys begin with {wanted}; give more of the one that you mean"
        ))),
    }
}

/// Expands an abbreviated key; returns it unchanged if no entry matches. A full key is not looked
/// up: the caller does that.
pub(super) fn expand_key(app: &AppContext, cache: &Cache, typed: Key) -> Result<Key> {
    if !(MIN_PREFIX_LEN..GENERATED_KEY_LEN).contains(&typed.as_str().len())
        || !is_hex(typed.as_str())
    {
        return Ok(typed);
    }
    Ok(find_entry(app, cache, typed.as_str())?.map_or(typed, |(id, _)| id.key))
}
