//! A machine's own store in front of a server that others use too.

use std::sync::Arc;

use recoup_core::base::clock::ManualClock;
use recoup_core::key::EntryId;
use recoup_core::store::{Store, TieredStore};

use super::stores::{Durable, Factory, InRedis, InSqlite, OnRedis};
use crate::support::{Faults, START};

/// No time passes here: whatever the front has is current.
fn tiers(front: Arc<dyn Store>, back: Arc<dyn Store>) -> Arc<TieredStore> {
    let clock = Arc::new(ManualClock::at(START));
    Arc::new(TieredStore::new(front, back, 0, clock, Faults::new()))
}

/// SQLite in front of Redis; in front of what is opened again, it is empty, as
/// on another machine.
#[derive(Debug)]
pub(crate) struct SqliteOverRedis {
    _front: InSqlite,
    back: InRedis<OnRedis>,
    store: Arc<TieredStore>,
    others: std::sync::Mutex<Vec<InSqlite>>,
}

impl Factory for SqliteOverRedis {
    fn fresh() -> Self {
        let (front, back) = (InSqlite::fresh(), InRedis::fresh());
        let store = tiers(front.store(), back.store());
        Self { _front: front, back, store, others: std::sync::Mutex::default() }
    }

    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store) as _
    }

    fn multiply(&self, from: &EntryId, to: &[EntryId]) {
        self.back.multiply(from, to);
    }
}

impl Durable for SqliteOverRedis {
    fn reopen(&self) -> Arc<dyn Store> {
        let front = InSqlite::fresh();
        let store = tiers(front.store(), self.back.reopen());
        self.others.lock().unwrap().push(front);
        store
    }
}
