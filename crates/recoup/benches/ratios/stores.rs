//! The stores beside SQLite, each against the least that its medium asks for.

use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use recoup_core::base::clock::SystemClock;
use recoup_core::cache::{Cache, CacheOptions};
use recoup_core::entry::{Header, StoredBody};
use recoup_core::store::{DirectoryStore, FileStore, RedisStore, Store};
use redis::Connection;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::library::{hit, view};
use crate::measure::{Ratio, compare};
use crate::redis_server::Server;
use crate::scene;

const ENTRIES: usize = 1_000;

pub(crate) fn redis_get_against_get() -> Ratio {
    let server = Server::start();
    let (mut raw, store) = (server.connect(), RedisStore::at(server.target("bench")));
    for n in 0..ENTRIES {
        let record = scene::record(n);
        store.put(&scene::id(n), &record).unwrap();
        let StoredBody::Inline(body) = &record.payload else { panic!("a small body") };
        let header = record.head.header.to_json();
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        let value = [&length, &header[..], &body[..]].concat();
        redis::cmd("SET").arg(n).arg(value).exec(&mut raw).unwrap();
    }
    let cache = Cache::new(Arc::new(store), CacheOptions::default());
    let (view, mut a, mut b) = (view(), 0, 0);
    compare(
        1.3,
        300,
        20,
        || {
            a = (a + 7_919) % ENTRIES;
            black_box(get(&mut raw, a));
        },
        || {
            b = (b + 7_919) % ENTRIES;
            black_box(hit(&cache, &scene::id(b), &view));
        },
    )
}

pub(crate) fn file_get_against_parse() -> Ratio {
    let dir = TempDir::new().unwrap();
    let store = FileStore::at(dir.path(), Arc::new(SystemClock));
    for n in 0..ENTRIES {
        store.put(&scene::id(n), &scene::record(n)).unwrap();
    }
    let cache = Cache::new(Arc::new(store), CacheOptions::default());
    let path = |n: usize| dir.path().join(format!("{}.json", scene::id(n).key));
    let (view, mut a, mut b) = (view(), 0, 0);
    compare(
        1.5,
        300,
        100,
        || {
            a = (a + 7_919) % ENTRIES;
            black_box(parse(&path(a)));
        },
        || {
            b = (b + 7_919) % ENTRIES;
            black_box(hit(&cache, &scene::id(b), &view));
        },
    )
}

pub(crate) fn dir_get_flat() -> Ratio {
    let (small, large) = (Directories::with_entries(10), Directories::with_entries(10_000));
    let (view, mut a, mut b) = (view(), 0, 0);
    // No index is read; what is left is that 20,000 files are not in the processor's caches.
    compare(
        2.0,
        300,
        100,
        || {
            a = (a + 7) % 10;
            black_box(hit(&small.cache, &scene::id(a), &view));
        },
        || {
            b = (b + 7_919) % 10_000;
            black_box(hit(&large.cache, &scene::id(b), &view));
        },
    )
}

struct Directories {
    cache: Cache,
    _dir: TempDir,
}

impl Directories {
    /// The two files of each entry, as the store writes them for one: writing
    /// 10,000 through it would write the index as often.
    fn with_entries(count: usize) -> Self {
        let dir = TempDir::new().unwrap();
        let store = DirectoryStore::at(dir.path(), Arc::new(scene::NoFaults));
        store.put(&scene::id(0), &scene::record(0)).unwrap();
        for n in 1..count {
            for place in [".recoup/heads", "results"] {
                let name = |n| dir.path().join(place).join(format!("{}.json", scene::id(n).key));
                std::fs::copy(name(0), name(n)).unwrap();
            }
        }
        // The next write makes the index from them.
        store.put(&scene::id(0), &scene::record(0)).unwrap();
        Self { cache: Cache::new(Arc::new(store), CacheOptions::default()), _dir: dir }
    }
}

/// All of a file, as a program would read it that trusts it.
fn parse(path: &Path) -> String {
    #[derive(Deserialize)]
    struct Entry {
        value: String,
        expires_at: i64,
        recoup: Book,
    }
    #[derive(Deserialize)]
    struct Book {
        header: Header,
    }
    let json = std::fs::read(path).unwrap();
    let entry: Entry = serde_json::from_slice(&json).unwrap();
    assert!(entry.expires_at > 0 && entry.recoup.header.ttl.is_some());
    entry.value
}

/// The same bytes in one value, taken apart, unpacked and verified by hand.
fn get(raw: &mut Connection, n: usize) -> Vec<u8> {
    let value: Vec<u8> = redis::cmd("GET").arg(n).query(raw).unwrap();
    let (length, rest) = value.split_first_chunk::<4>().unwrap();
    let (header, body) = rest.split_at(u32::from_le_bytes(*length) as usize);
    let header = Header::from_json(header).unwrap();
    let mut plain = Vec::with_capacity(2048);
    flate2::bufread::GzDecoder::new(body).read_to_end(&mut plain).unwrap();
    assert_eq!(Sha256::digest(&plain)[..], header.body.sha256.as_bytes()[..]);
    plain
}
