//! The library against what it stands on.

use std::hint::black_box;
use std::io::Read as _;
use std::sync::Arc;

use bytes::Bytes;
use recoup_core::cache::{Cache, CacheOptions, LookupRequest, PathContext, PeekOutcome};
use recoup_core::entry::{Body, Entry};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{InMemoryStore, Store};
use rusqlite::{Connection, params};
use sha2::{Digest as _, Sha256};

use crate::measure::{Ratio, compare};
use crate::scene::{self, Scene};

const ENTRIES: usize = 10_000;

pub(crate) fn view() -> PathContext {
    PathContext { root: "/".into(), cwd: "/".into() }
}

pub(crate) fn hit(cache: &Cache, id: &EntryId, view: &PathContext) -> Entry {
    match cache.peek(&LookupRequest::new(Kind::Result, id, view)) {
        PeekOutcome::Hit(entry) => {
            assert!(matches!(black_box(entry.body()), Body::Whole(bytes) if !bytes.is_empty()));
            entry
        }
        other => panic!("not a hit: {other:?}"),
    }
}

pub(crate) fn sqlite_get_against_select() -> Ratio {
    let scene = Scene::with_entries(ENTRIES);
    let raw = Connection::open(scene.db()).unwrap();
    let cache = Cache::new(Arc::new(scene.store()), CacheOptions::default());
    let (ids, view) = (ids(), view());
    let (mut a, mut b) = (0, 0);
    compare(
        1.5,
        300,
        100,
        || {
            a = (a + 7_919) % ENTRIES;
            black_box(select(&raw, &ids[a]));
        },
        || {
            b = (b + 7_919) % ENTRIES;
            black_box(hit(&cache, &ids[b], &view));
        },
    )
}

/// The same row, unpacked and verified, by hand.
fn select(raw: &Connection, id: &EntryId) -> Vec<u8> {
    let mut statement = raw
        .prepare_cached("SELECT header, body FROM entries WHERE scope = ?1 AND key = ?2")
        .unwrap();
    statement
        .query_row(params![id.scope.as_str(), id.key.as_str()], |row| {
            let header = row.get_ref(0)?.as_bytes()?;
            let mut plain = Vec::with_capacity(2048);
            flate2::bufread::GzDecoder::new(row.get_ref(1)?.as_blob()?)
                .read_to_end(&mut plain)
                .unwrap();
            black_box((header, Sha256::digest(&plain)));
            Ok(plain)
        })
        .unwrap()
}

pub(crate) fn memory_get_against_moka() -> Ratio {
    let scene = Scene::with_entries(ENTRIES);
    let moka: moka::sync::Cache<EntryId, Bytes> = moka::sync::Cache::new(1 << 30);
    let memory = InMemoryStore::with_capacity(1 << 30);
    let (ids, view) = (ids(), view());
    let disk = scene.store();
    for (n, id) in ids.iter().enumerate() {
        moka.insert(id.clone(), scene::body(n).into());
        memory.put(id, &disk.get(id).unwrap().unwrap()).unwrap();
    }
    let cache = Cache::new(Arc::new(memory), CacheOptions::default());
    let (mut a, mut b) = (0, 0);
    compare(
        1.5,
        300,
        1_000,
        || {
            a = (a + 7_919) % ENTRIES;
            black_box(moka.get(&ids[a]).unwrap());
        },
        || {
            b = (b + 7_919) % ENTRIES;
            black_box(hit(&cache, &ids[b], &view));
        },
    )
}

fn ids() -> Vec<EntryId> {
    (0..ENTRIES).map(scene::id).collect()
}
