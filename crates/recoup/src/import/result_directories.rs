//! Directories of results: the file-cache format, and the semantic-cache protocol. The stores that
//! write these formats read them here, and the checks of a look-up decide what is still good.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use recoup_core::Result;
use recoup_core::base::IgnoreFaults;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::cache::{Cache, CacheOptions, LookupRequest, PeekOutcome, Ttl};
use recoup_core::entry::{Body, Draft, Entry, RecordedSources};
use recoup_core::error::IoContext as _;
use recoup_core::key::{EntryId, Key, Kind, Scope};
use recoup_core::store::{DirectoryStore, FileStore, ScanFilter, ScanFlow, Store};

use super::sink::{FoundEntry, ImportSink, ItemKind};

/// File that lists the entries of the semantic-cache protocol, and the directory of their bodies.
const INDEX: &str = "index.json";
const BODIES: &str = "results";

/// True if a directory is one of the semantic-cache protocol.
pub(super) fn is_protocol_directory(dir: &Path) -> bool {
    dir.join(INDEX).is_file() && dir.join(BODIES).is_dir()
}

/// True if a directory has an entry of the file-cache format.
pub(super) fn has_file_cache_entries(dir: &Path) -> Result<bool> {
    let mut found = false;
    file_store(dir).scan(&ScanFilter::of_scope(&Scope::global()), &mut |_, _| {
        found = true;
        ScanFlow::Break(())
    })?;
    Ok(found)
}

/// The store of a directory, which is only read. By its clock no entry ever expires: the store
/// would remove it.
fn file_store(dir: &Path) -> FileStore {
    FileStore::at(dir, Arc::new(ManualClock::at(Timestamp::from_millis(i64::MIN))))
}

pub(super) fn read_protocol_directory(dir: &Path, sink: &mut ImportSink<'_>) -> Result<()> {
    let store = DirectoryStore::at(dir, Arc::new(IgnoreFaults));
    read_entries(Arc::new(store), sink).map(drop)
}

pub(super) fn read_file_cache(dir: &Path, sink: &mut ImportSink<'_>) -> Result<()> {
    let known = read_entries(Arc::new(file_store(dir)), sink)?;
    let doing = || format!("cannot list {}", dir.display());
    for file in fs::read_dir(dir).with_context(doing)? {
        let name = file.with_context(doing)?.file_name();
        let key = name.to_str().and_then(|name| name.strip_suffix(".json"));
        if let Some(key) = key.and_then(|key| Key::parse(key).ok())
            && !known.contains(&key)
        {
            sink.leave_out(ItemKind::Entry, key.as_str(), "not an entry of the file-cache format");
        }
    }
    Ok(())
}

/// Hands on every entry that a look-up would serve now; returns the keys of all.
fn read_entries(store: Arc<dyn Store>, sink: &mut ImportSink<'_>) -> Result<Vec<Key>> {
    let cache = Cache::new(store, CacheOptions::default());
    let mut found = Vec::new();
    cache.scan_filtered(&ScanFilter::of_scope(&Scope::global()), &mut |id, _| {
        found.push(id.clone());
        ScanFlow::Continue(())
    })?;
    let view = sink.view_from_root();
    for id in &found {
        let request = LookupRequest::new(Kind::Result, id, &view);
        match cache.read(&request) {
            PeekOutcome::Miss(reason) => {
                sink.leave_out(ItemKind::Entry, id.key.as_str(), &reason.to_string());
            }
            PeekOutcome::Hit(entry) | PeekOutcome::Stale(entry) => {
                match to_found_entry(&cache, id, &entry) {
                    Ok(found) => sink.add_entry(id.key.as_str(), found)?,
                    Err(error) => {
                        sink.leave_out(ItemKind::Entry, id.key.as_str(), &error.to_string());
                    }
                }
            }
        }
    }
    Ok(found.into_iter().map(|id| id.key).collect())
}

fn to_found_entry(cache: &Cache, id: &EntryId, entry: &Entry) -> Result<FoundEntry> {
    let header = entry.head().header.clone();
    let full = cache.full_result(id)?.map(|full| full.to_bytes()).transpose()?;
    let RecordedSources { files, patterns, older, .. } = header.sources;
    let mut sources: Vec<String> = files.into_iter().map(|file| file.path).collect();
    sources.extend(patterns.into_iter().map(|pattern| pattern.path));
    let unchanged_since = older.as_ref().map(|older| Timestamp::from_seconds(older.than));
    sources.extend(older.into_iter().flat_map(|older| older.paths));
    let draft = Draft {
        full: full.map(Body::from),
        identity: header.identity,
        parts: header.parts,
        tags: header.tags,
        cost: header.cost,
        failure: header.failure,
        streams_merged: header.streams_merged,
        made: Some(header.created),
        ..Draft::new(header.kind, entry.body().to_bytes()?)
    };
    let ttl = header.ttl.and_then(Ttl::from_millis).unwrap_or(Ttl::Forever);
    Ok(FoundEntry { key: id.key.clone(), draft, ttl, sources, unchanged_since })
}
