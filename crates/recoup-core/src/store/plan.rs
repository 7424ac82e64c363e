//! Parameters and results of scans and evictions; selection of records by tag, operation or source
//! path, and the marks by which stores evaluate it without reading headers.

use std::cmp::Reverse;

use globset::GlobSet;

use super::{RecordVisitor, ScanFlow, Store};
use crate::base::clock::Timestamp;
use crate::base::glob::{self, SlashMatching};
use crate::entry::{EntryHead, Header, RecordedSources};
use crate::error::Result;
use crate::key::{EntryId, Key, KeyPart, Kind, Scope};

/// Maximum number of ids in one call of `remove` when a scope is cleared.
const REMOVED_AT_ONCE: usize = 1_000;
/// The first character of each mark: a tag, an operation or a source.
const TAG: &str = "t";
const OPERATION: &str = "o";
const SOURCE: &str = "s";
/// Terminator of each mark: no path contains it.
const END: char = '\0';

/// Records that a scan visits, and their order. The default visits all.
#[derive(Debug, Clone, Default)]
pub struct ScanFilter {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only keys with this prefix.
    pub key_prefix: Option<String>,
    /// Only records that were served at least once.
    pub served: bool,
    /// Only records with these tags, sources or operation.
    pub selection: Option<EntrySelection>,
    /// The most recently stored first, at most this many.
    pub newest: Option<usize>,
}

impl ScanFilter {
    /// All records of one scope.
    pub fn of_scope(scope: &Scope) -> Self {
        Self { scope: Some(scope.clone()), ..Self::default() }
    }

    /// True if a scan may stream in the store's own order and needs no test beyond scope and kind.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { scope: _, kind: _, key_prefix, served, selection, newest } = self;
        key_prefix.is_none() && !served && selection.is_none() && newest.is_none()
    }

    /// True if a record passes all criteria but scope and kind. An unreadable head passes only if
    /// no criterion needs it.
    pub(crate) fn admits(&self, id: &EntryId, head: Option<&EntryHead>) -> bool {
        let has_prefix =
            self.key_prefix.as_ref().is_none_or(|prefix| id.key.as_str().starts_with(prefix));
        let is_served = !self.served || head.is_some_and(|head| head.hits > 0);
        let is_selected = self
            .selection
            .as_ref()
            .is_none_or(|selection| head.is_some_and(|head| selection.selects(&head.header)));
        has_prefix && is_served && is_selected
    }
}

/// Applies the criteria that a store cannot: calls `scan` for the scope and kind alone, tests the
/// rest record by record, and sorts in memory.
pub(super) fn scan_refined(
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
    scan: impl FnOnce(&ScanFilter, &mut RecordVisitor<'_>) -> Result<()>,
) -> Result<()> {
    let plain =
        ScanFilter { scope: filter.scope.clone(), kind: filter.kind, ..ScanFilter::default() };
    let Some(most) = filter.newest else {
        return scan(&plain, &mut |id, head| {
            if filter.admits(id, head.as_ref().ok().copied()) {
                visit(id, head)
            } else {
                ScanFlow::Continue(())
            }
        });
    };
    let mut found: Vec<(EntryId, Result<EntryHead>)> = Vec::new();
    scan(&plain, &mut |id, head| {
        if filter.admits(id, head.as_ref().ok().copied()) {
            found.push((id.clone(), head.cloned()));
        }
        ScanFlow::Continue(())
    })?;
    // Unreadable records come first: a short list must not hide them.
    let stored = |head: &Result<EntryHead>| head.as_ref().ok().map(|head| Reverse(head.stored_at));
    found.sort_by(|a, b| stored(&a.1).cmp(&stored(&b.1)).then_with(|| a.0.cmp(&b.0)));
    for (id, head) in found.into_iter().take(most) {
        let flow = match head {
            Ok(head) => visit(&id, Ok(&head)),
            Err(error) => visit(&id, Err(error)),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// Clears a scope by listing it, for stores without a faster way.
pub(super) fn clear_by_scan(
    store: &dyn Store,
    scope: &Scope,
    gone: &mut dyn FnMut(EntryId, Kind),
) -> Result<usize> {
    let mut all: Vec<(EntryId, Option<Kind>)> = Vec::new();
    store.scan(&ScanFilter::of_scope(scope), &mut |id, head| {
        all.push((id.clone(), head.ok().map(|head| head.header.kind)));
        ScanFlow::Continue(())
    })?;
    let mut removed = 0;
    for some in all.chunks(REMOVED_AT_ONCE) {
        let ids: Vec<EntryId> = some.iter().map(|(id, _)| id.clone()).collect();
        removed += store.remove(&ids)?;
        for (id, kind) in some {
            if let Some(kind) = kind {
                gone(id.clone(), *kind);
            }
        }
    }
    Ok(removed)
}

/// Plan of an eviction. Decided by the cache, executed by stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionPlan {
    /// Records that expired before this time are removed first, in every scope, because nobody may
    /// come back to those. A store may leave some for the next eviction.
    pub now: Timestamp,
    /// The scope that the limits apply to.
    pub scope: Scope,
    /// The kind that the limits apply to.
    pub kind: Kind,
    /// The record that was just written, which is spared.
    pub keep: Option<Key>,
    /// Maximum number of records.
    pub max_entries: Option<u64>,
    /// Maximum number of bytes, as counted by [`ScopeUsage::bytes`].
    pub max_bytes: Option<u64>,
    /// True if the caller has time: the store returns unused space to the file system and completes
    /// pending upgrades of an older file. Otherwise it does only a little of that.
    pub thorough: bool,
}

impl EvictionPlan {
    /// True if this much is within the limits.
    pub(crate) fn allows(&self, entries: u64, bytes: u64) -> bool {
        self.exceeded_limit(entries, bytes).is_none()
    }

    /// The limit that this much exceeds, if any.
    pub(crate) fn exceeded_limit(&self, entries: u64, bytes: u64) -> Option<EvictionLimit> {
        if self.max_bytes.is_some_and(|max| bytes > max) {
            return Some(EvictionLimit::Bytes);
        }
        self.max_entries.is_some_and(|max| entries > max).then_some(EvictionLimit::Entries)
    }
}

/// Number and size of records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScopeUsage {
    /// Number of records.
    pub entries: u64,
    /// Bytes of bodies and headers as stored; for a large SQLite file with its overhead (indexes,
    /// unfilled pages).
    pub bytes: u64,
}

/// A limit of an eviction plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionLimit {
    /// Maximum number of records.
    Entries,
    /// Maximum number of bytes.
    Bytes,
}

/// Why a record was evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionCause {
    /// Expired.
    Dead,
    /// Least recently used, while this limit was exceeded.
    Over(EvictionLimit),
}

/// An evicted record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictedEntry {
    /// Identity of the record.
    pub id: EntryId,
    /// Kind of the record.
    pub kind: Kind,
    /// Why it was evicted.
    pub cause: EvictionCause,
}

/// Result of an eviction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvictionReport {
    /// Number of expired records.
    pub expired: u64,
    /// Number of least recently used records.
    pub least_used: u64,
    /// Total size of both, in bytes.
    pub bytes: u64,
    /// The evicted records, at most [`EvictionReport::NAMED`] of them.
    pub gone: Vec<EvictedEntry>,
    /// True if the store was damaged and recreated, so that all its records are lost.
    pub lost_all: bool,
}

impl EvictionReport {
    /// Maximum length of [`EvictionReport::gone`].
    pub const NAMED: usize = 1_000;

    /// Adds what another eviction has removed.
    pub(crate) fn add(&mut self, other: Self) {
        let Self { expired, least_used, bytes, gone, lost_all: _ } = other;
        self.expired += expired;
        self.least_used += least_used;
        self.bytes += bytes;
        self.gone.extend(gone);
        self.gone.truncate(Self::NAMED);
    }

    /// Counts an evicted record.
    pub(crate) fn count_entry(&mut self, cause: EvictionCause) {
        match cause {
            EvictionCause::Dead => self.expired += 1,
            EvictionCause::Over(_) => self.least_used += 1,
        }
    }

    /// Lists an evicted record.
    pub(crate) fn list_entry(&mut self, id: EntryId, kind: Kind, cause: EvictionCause) {
        if self.gone.len() < Self::NAMED {
            self.gone.push(EvictedEntry { id, kind, cause });
        }
    }
}

/// Criteria that select entries; all given ones must match. An empty selection matches nothing.
#[derive(Debug, Clone, Default)]
pub struct EntrySelection {
    paths: Option<GlobSet>,
    tags: Vec<String>,
    operation: Option<String>,
}

impl EntrySelection {
    /// A selection by the given criteria; `None` if there are none.
    pub fn from_criteria(
        paths: Option<&str>,
        tag: Option<&str>,
        operation: Option<&str>,
    ) -> Result<Option<Self>> {
        if paths.is_none() && tag.is_none() && operation.is_none() {
            return Ok(None);
        }
        let mut selection = Self::default();
        if let Some(glob) = paths {
            selection = selection.with_paths(glob)?;
        }
        if let Some(tag) = tag {
            selection = selection.with_tag(tag);
        }
        if let Some(operation) = operation {
            selection = selection.with_operation(operation);
        }
        Ok(Some(selection))
    }

    /// Selects entries with a source that matches `glob`, in which `*` also crosses `/`.
    pub fn with_paths(mut self, glob: &str) -> Result<Self> {
        self.paths = Some(glob::compile_glob(glob, SlashMatching::IsCrossed)?);
        Ok(self)
    }

    /// Selects entries with that tag, beside others that are given.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.tags.push(tag.to_owned());
        self
    }

    /// Selects entries whose key was made with that operation.
    #[must_use]
    pub(crate) fn with_operation(mut self, operation: &str) -> Self {
        self.operation = Some(operation.to_owned());
        self
    }

    /// True if a record with this header matches.
    pub(crate) fn selects(&self, header: &Header) -> bool {
        self.selects_marks(MarkSet::of(header).as_str())
    }

    /// True if a record with the marks in `text` (see [`MarkSet`]) matches.
    pub(super) fn selects_marks(&self, text: &str) -> bool {
        let Self { paths, tags, operation } = self;
        let marks = text.split(END).filter_map(|mark| mark.split_at_checked(1));
        let any = |sign: &str, is_meant: &dyn Fn(&str) -> bool| {
            marks.clone().any(|(own, value)| own == sign && is_meant(value))
        };
        (paths.is_some() || !tags.is_empty() || operation.is_some())
            && tags.iter().all(|tag| any(TAG, &|own| own == tag))
            && operation.as_ref().is_none_or(|name| {
                let wanted = KeyPart::hidden("operation", name).digest.to_hex();
                any(OPERATION, &|own| own == wanted)
            })
            && paths.as_ref().is_none_or(|glob| any(SOURCE, &|own| glob.is_match(own)))
    }
}

/// The marks of a record, as one text: tags, the operation of its key and the paths of its sources,
/// as stored and as given. Records with equal marks share one text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MarkSet(String);

impl MarkSet {
    pub(super) fn of(header: &Header) -> Self {
        let RecordedSources { files, patterns, older, place: _ } = &header.sources;
        let files = files.iter().flat_map(|file| [Some(&file.path), file.given.as_ref()]);
        let patterns = patterns.iter().flat_map(|it| [Some(&it.path), it.given.as_ref()]);
        let undated = older.iter().flat_map(|older| older.paths.iter().map(Some));
        let operations = header.parts.iter().filter(|part| part.name == "operation");
        let mut text = String::new();
        let mut add = |sign: &str, value: &str| text.extend([sign, value, "\0"]);
        for tag in &header.tags {
            add(TAG, tag);
        }
        for part in operations {
            add(OPERATION, &part.digest.to_hex());
        }
        for path in files.chain(patterns).chain(undated).flatten() {
            add(SOURCE, path);
        }
        Self(text)
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}
