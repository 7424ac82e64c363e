//! The stores that the contract is run for: how a fresh one is made, opened
//! again, and damaged behind its back.

use std::fs;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::ManualClock;
use recoup_core::key::{EntryId, Scope};
use recoup_core::store::redis::RedisTarget;
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::store::{
    DirectoryStore, FileStore, InMemoryStore, RedisStore, SqliteStore, Store, TieredStore,
};
use rusqlite::{Connection, params};
use tempfile::TempDir;

use crate::redis_server::{self, Cluster};
use crate::support::{Faults, START};

/// Longer than any test needs, so that a loaded machine fails none.
pub(crate) const PATIENT: WaitLimits =
    WaitLimits { read: Duration::from_secs(30), write: Duration::from_mins(1) };

/// Makes a fresh store, and keeps what it stands on.
pub(crate) trait Factory {
    fn fresh() -> Self;

    /// The store; the same one each time.
    fn store(&self) -> Arc<dyn Store>;

    /// Puts the record that is at `from` under many more ids, by the shortest
    /// way: thousands of writes, each synced, are not what is tested.
    fn multiply(&self, from: &EntryId, to: &[EntryId]);

    /// Damages a record, where the store looks again before it drops one.
    fn spoil(&self, _: &EntryId) {}
}

/// A store whose records outlive it.
pub(crate) trait Durable: Factory {
    /// Another store over the same medium, as another process would have it.
    fn reopen(&self) -> Arc<dyn Store>;
}

/// A store whose medium can be changed behind its back.
pub(crate) trait Damageable: Durable {
    fn harm(&self, id: &EntryId, how: Harm);
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Harm {
    /// One bit of the stored body is another.
    FlippedBody,
    /// The second half of the stored body is missing.
    CutBody,
    /// The header is no header.
    BrokenHeader,
}

#[derive(Debug)]
pub(crate) struct InMemory(Arc<InMemoryStore>);

impl Factory for InMemory {
    fn fresh() -> Self {
        Self(Arc::new(InMemoryStore::with_capacity(256 << 20)))
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        let record = self.0.get(from).unwrap().unwrap();
        for id in to {
            self.0.put(id, &record).unwrap();
        }
    }
}

#[derive(Debug)]
pub(crate) struct InSqlite {
    dir: TempDir,
    store: Arc<SqliteStore>,
}

impl InSqlite {
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("cache.db")
    }

    fn open(&self) -> Arc<SqliteStore> {
        Arc::new(SqliteStore::at(self.path(), PATIENT, Faults::new()))
    }
}

impl Factory for InSqlite {
    fn fresh() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::at(dir.path().join("cache.db"), PATIENT, Faults::new()));
        Self { dir, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        let sql = "INSERT INTO entries SELECT ?3, ?4, kind, expires, stored_at, last_used, hits,
                   bytes, header, body, frames, full, sketch, mark_set, marked_at FROM entries WHERE scope = ?1 AND key = ?2";
        let database = Connection::open(self.path()).unwrap();
        database.execute_batch("BEGIN IMMEDIATE").unwrap();
        for id in to {
            let (old, new) = (from.scope.as_str(), id.scope.as_str());
            let names = params![old, from.key.as_str(), new, id.key.as_str()];
            assert_eq!(database.prepare_cached(sql).unwrap().execute(names).unwrap(), 1);
        }
        database.execute_batch("COMMIT").unwrap();
    }
}

impl Durable for InSqlite {
    fn reopen(&self) -> Arc<dyn Store> {
        self.open()
    }
}

impl Damageable for InSqlite {
    fn harm(&self, id: &EntryId, how: Harm) {
        let database = Connection::open(self.path()).unwrap();
        if let Harm::BrokenHeader = how {
            let sql = "UPDATE entries SET header = x'7b00' WHERE scope = ?1 AND key = ?2";
            let changed = database.execute(sql, params![id.scope.as_str(), id.key.as_str()]);
            assert_eq!(changed.unwrap(), 1);
            return;
        }
        let sql = "SELECT rowid, body, frames FROM entries WHERE scope = ?1 AND key = ?2";
        let (row, body, frames): (i64, Option<Vec<u8>>, Option<i64>) = database
            .query_row(sql, params![id.scope.as_str(), id.key.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?))
            })
            .unwrap();
        let changed = match (body, frames) {
            (Some(body), None) => database.execute(
                "UPDATE entries SET body = ?2 WHERE rowid = ?1",
                params![row, harmed(body, how)],
            ),
            (None, Some(frames)) => harm_last_frame(&database, frames, how),
            other => panic!("a record has one body: {other:?}"),
        };
        assert_eq!(changed.unwrap(), 1);
    }
}

fn harm_last_frame(database: &Connection, frames: i64, how: Harm) -> rusqlite::Result<usize> {
    let sql = "SELECT rowid, data FROM chunks WHERE frames = ?1 ORDER BY seq DESC LIMIT 1";
    let (row, data): (i64, Vec<u8>) =
        database.query_row(sql, [frames], |row| Ok((row.get(0)?, row.get(1)?)))?;
    database
        .execute("UPDATE chunks SET data = ?2 WHERE rowid = ?1", params![row, harmed(data, how)])
}

fn harmed(mut bytes: Vec<u8>, how: Harm) -> Vec<u8> {
    let middle = bytes.len() / 2;
    match how {
        Harm::FlippedBody => bytes[middle] ^= 0x10,
        Harm::CutBody => bytes.truncate(middle),
        Harm::BrokenHeader => unreachable!("a header is no body"),
    }
    bytes
}

/// A server that tests share, each behind a prefix of its own.
pub(crate) trait Shared {
    fn target(prefix: &str) -> RedisTarget;
}

/// Redis.
#[derive(Debug)]
pub(crate) struct OnRedis;

/// Valkey.
#[derive(Debug)]
pub(crate) struct OnValkey;

/// A cluster of three nodes.
#[derive(Debug)]
pub(crate) struct OnCluster;

impl Shared for OnRedis {
    fn target(prefix: &str) -> RedisTarget {
        redis_server::shared().target(prefix)
    }
}

impl Shared for OnValkey {
    fn target(prefix: &str) -> RedisTarget {
        redis_server::shared_valkey().target(prefix)
    }
}

impl Shared for OnCluster {
    fn target(prefix: &str) -> RedisTarget {
        Cluster::shared().target(prefix)
    }
}

#[derive(Debug)]
pub(crate) struct InRedis<S> {
    target: RedisTarget,
    store: Arc<RedisStore>,
    prefix: String,
    server: PhantomData<S>,
}

impl<S: Shared> Factory for InRedis<S> {
    fn fresh() -> Self {
        let prefix = redis_server::fresh_prefix();
        let target = S::target(&prefix);
        let store = Arc::new(RedisStore::at(target.clone()));
        Self { target, store, prefix, server: PhantomData }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        put_many(&*self.store, from, to);
    }
}

impl<S: Shared> Durable for InRedis<S> {
    fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(RedisStore::at(self.target.clone()))
    }
}

impl Damageable for InRedis<OnRedis> {
    fn harm(&self, id: &EntryId, how: Harm) {
        let mut server = redis_server::shared().connect();
        let name = format!("{}:{{{id}}}", self.prefix);
        if let Harm::BrokenHeader = how {
            redis::cmd("HSET").arg(&name).arg("head").arg("{").exec(&mut server).unwrap();
            return;
        }
        let (body, frames): (Option<Vec<u8>>, Option<String>) =
            redis::cmd("HMGET").arg(&name).arg(&["body", "frames"]).query(&mut server).unwrap();
        if let Some(body) = body {
            let body = harmed(body, how);
            redis::cmd("HSET").arg(&name).arg("body").arg(body).exec(&mut server).unwrap();
            return;
        }
        let frames = frames.expect("a record has a body");
        let (generation, count) = frames.split_once(':').unwrap();
        let last = count.parse::<u64>().unwrap() - 1;
        let name = format!("{name}:{generation}:{last}");
        let frame: Vec<u8> = redis::cmd("GET").arg(&name).query(&mut server).unwrap();
        redis::cmd("SET").arg(&name).arg(harmed(frame, how)).exec(&mut server).unwrap();
    }
}

/// With threads, because each write is a question and an answer.
fn put_many(store: &dyn Store, from: &EntryId, to: &[EntryId]) {
    let record = store.get(from).unwrap().unwrap();
    std::thread::scope(|scope| {
        for ids in to.chunks(to.len().div_ceil(8).max(1)) {
            let record = &record;
            scope.spawn(move || ids.iter().for_each(|id| store.put(id, record).unwrap()));
        }
    });
}

/// Memory in front of SQLite; in front of what is opened again, it is empty.
#[derive(Debug)]
pub(crate) struct InTiers {
    back: InSqlite,
    store: Arc<TieredStore>,
}

/// No time passes here: whatever the front has is current.
fn tiers_over(back: Arc<dyn Store>) -> Arc<TieredStore> {
    let front = Arc::new(InMemoryStore::with_capacity(256 << 20));
    let clock = Arc::new(ManualClock::at(START));
    Arc::new(TieredStore::new(front, back, 0, clock, Faults::new()))
}

impl Factory for InTiers {
    fn fresh() -> Self {
        let back = InSqlite::fresh();
        let store = tiers_over(back.store());
        Self { back, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        self.back.multiply(from, to);
    }
}

impl Durable for InTiers {
    fn reopen(&self) -> Arc<dyn Store> {
        tiers_over(self.back.reopen())
    }
}

impl Damageable for InTiers {
    fn harm(&self, id: &EntryId, how: Harm) {
        self.back.harm(id, how);
    }
}

/// JSON files in a directory.
#[derive(Debug)]
pub(crate) struct InFiles {
    dir: TempDir,
    store: Arc<FileStore>,
}

impl InFiles {
    /// Where an entry's file is.
    pub(crate) fn path(&self, id: &EntryId) -> PathBuf {
        let scope = id.scope.as_str().replace(':', "/");
        let scope = if scope == "global" { "" } else { &scope };
        self.dir.path().join(scope).join(format!("{}.json", id.key))
    }
}

fn files_in(dir: &TempDir) -> Arc<FileStore> {
    Arc::new(FileStore::at(dir.path(), Arc::new(ManualClock::at(START))))
}

impl Factory for InFiles {
    fn fresh() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = files_in(&dir);
        Self { dir, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        let contents = fs::read(self.path(from)).unwrap();
        for id in to {
            let path = self.path(id);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &contents).unwrap();
        }
    }
    fn spoil(&self, id: &EntryId) {
        self.harm(id, Harm::FlippedBody);
    }
}

impl Durable for InFiles {
    fn reopen(&self) -> Arc<dyn Store> {
        files_in(&self.dir)
    }
}

impl Damageable for InFiles {
    fn harm(&self, id: &EntryId, how: Harm) {
        let path = self.path(id);
        let json = fs::read_to_string(&path).unwrap();
        let (value, rest) = json.rsplit_once(r#","expires_at":"#).unwrap();
        let harmed = if let Harm::BrokenHeader = how {
            let (times, _) = rest.split_once(r#","recoup":{"#).unwrap();
            format!(r#"{value},"expires_at":{times},"recoup":{{"header":{{}}}}}}"#)
        } else {
            let value = value.strip_prefix(r#"{"value":"#).unwrap();
            let value: String = serde_json::from_str(value).unwrap();
            let harmed = String::from_utf8(harmed(value.into_bytes(), how)).unwrap();
            let harmed = serde_json::to_string(&harmed).unwrap();
            format!(r#"{{"value":{harmed},"expires_at":{rest}"#)
        };
        fs::write(path, harmed).unwrap();
    }
}

/// Contract 1's directory.
#[derive(Debug)]
pub(crate) struct InDirectory {
    dir: TempDir,
    store: Arc<DirectoryStore>,
}

impl InDirectory {
    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn scope(&self, scope: &Scope) -> PathBuf {
        match scope.as_str().split_once(':') {
            None => self.path(),
            Some((sort, name)) => self.path().join(sort).join(name),
        }
    }

    pub(crate) fn head(&self, id: &EntryId) -> PathBuf {
        self.scope(&id.scope).join(".recoup/heads").join(format!("{}.json", id.key))
    }

    pub(crate) fn body(&self, id: &EntryId) -> PathBuf {
        self.scope(&id.scope).join("results").join(format!("{}.json", id.key))
    }
}

impl Factory for InDirectory {
    fn fresh() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(DirectoryStore::at(dir.path().join("cache"), Faults::new()));
        Self { dir, store }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    /// The two files that are an entry; the index and the rest are made from them.
    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        for id in to {
            for (from, to) in [(self.head(from), self.head(id)), (self.body(from), self.body(id))] {
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(from, to).unwrap();
            }
        }
    }
    fn spoil(&self, id: &EntryId) {
        fs::write(self.body(id), "spoiled").unwrap();
    }
}

impl Durable for InDirectory {
    fn reopen(&self) -> Arc<dyn Store> {
        Arc::new(DirectoryStore::at(self.path(), Faults::new()))
    }
}

impl Damageable for InDirectory {
    fn harm(&self, id: &EntryId, how: Harm) {
        if let Harm::BrokenHeader = how {
            fs::write(self.head(id), b"{\0").unwrap();
        } else {
            let body = fs::read(self.body(id)).unwrap();
            fs::write(self.body(id), harmed(body, how)).unwrap();
        }
    }
}
