//! Work on the store that no message waits for: marks of writes, stale entries, the remembered list
//! of tools. One thread does it, and goes on trying while the store is locked. Until stale entries are
//! dropped, calls that they would answer pass by the cache.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use recoup_core::base::clock::Deadline;

use super::plan::{KNOWN_TOOLS, ToolCache};
use super::writes::StaleResults;

/// Pause after a failure.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// How long the thread stays without work.
const IDLE_LIMIT: Duration = Duration::from_secs(10);

/// Work that waits, and the thread that does it.
#[derive(Debug, Default)]
pub(super) struct StoreUpkeep {
    work: Mutex<UpkeepWork>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct UpkeepWork {
    drops: Vec<StaleDrop>,
    /// The list of tools to remember.
    list: Option<Vec<u8>>,
    has_thread: bool,
    /// How much was ever to be done, how much of that was tried, and how much is done.
    added: u64,
    tried: u64,
    done: u64,
}

/// Stale entries to be dropped.
#[derive(Debug)]
pub(super) struct StaleDrop {
    pub(super) stale: Vec<StaleResults>,
    /// True if other proxies must hear of it.
    pub(super) is_marked: bool,
    /// True if the write is over: when this is done, so is what it made stale.
    pub(super) is_end: bool,
}

impl ToolCache {
    /// Drops stale entries as soon as the store lets us.
    pub(super) fn drop_soon(&self, stale_drop: StaleDrop) {
        self.add_upkeep(|work| work.drops.push(stale_drop));
    }

    /// Remembers the list of tools as soon as the store lets us.
    pub(super) fn remember_soon(&self, list: Vec<u8>) {
        self.add_upkeep(|work| work.list = Some(list));
    }

    /// Waits until everything that was to be done up to now is done or has failed, or for so long: a
    /// store that is not there is not waited for.
    pub(crate) fn await_upkeep(&self, limit: Duration) {
        let (upkeep, deadline) = (&self.inner.upkeep, Deadline::after(limit));
        let mut work = upkeep.work.lock();
        let wanted = work.added;
        while work.tried < wanted && !deadline.has_passed() {
            upkeep.changed.wait_for(&mut work, deadline.remaining());
        }
    }

    fn add_upkeep(&self, add: impl FnOnce(&mut UpkeepWork)) {
        let upkeep = &self.inner.upkeep;
        let mut work = upkeep.work.lock();
        add(&mut work);
        work.added += 1;
        if work.has_thread {
            upkeep.changed.notify_all();
            return;
        }
        let this = self.clone();
        // Without a thread, what is stale passes by the cache until the next one is tried for.
        work.has_thread = thread::Builder::new().spawn(move || this.run_upkeep()).is_ok();
    }

    fn run_upkeep(&self) {
        let upkeep = &self.inner.upkeep;
        let mut has_failed = false;
        let mut work = upkeep.work.lock();
        loop {
            if work.done == work.added {
                let waited = upkeep.changed.wait_for(&mut work, IDLE_LIMIT);
                if waited.timed_out() && work.done == work.added {
                    work.has_thread = false;
                    return;
                }
                continue;
            }
            let (drops, list) = (std::mem::take(&mut work.drops), work.list.take());
            let added = work.added;
            drop(work);
            if let Some(list) = list
                && let Err(error) = self.remember_list(KNOWN_TOOLS, list)
            {
                self.report(&error);
            }
            let failed = self.drop_all(drops, &mut has_failed);
            work = upkeep.work.lock();
            work.tried = added;
            upkeep.changed.notify_all();
            if failed.is_empty() {
                work.done = added;
            } else {
                work.drops.extend(failed);
                upkeep.changed.wait_for(&mut work, RETRY_PAUSE);
            }
        }
    }

    /// Marks and drops; returns what is left. A failure is reported once, until something works.
    fn drop_all(&self, drops: Vec<StaleDrop>, has_failed: &mut bool) -> Vec<StaleDrop> {
        let marked = drops.iter().filter(|it| it.is_marked).flat_map(|it| &it.stale);
        let marked: BTreeSet<&StaleResults> = marked.collect();
        let all: BTreeSet<&StaleResults> = drops.iter().flat_map(|it| &it.stale).collect();
        let mut left = BTreeSet::new();
        for stale in all {
            let mark = || if marked.contains(stale) { self.mark_write(stale) } else { Ok(()) };
            // The mark comes first: what another process stores after the drop finds it.
            match mark().and_then(|()| self.try_drop(stale)) {
                Ok(()) => *has_failed = false,
                Err(error) => {
                    if !std::mem::replace(has_failed, true) {
                        self.report(&error);
                    }
                    left.insert(stale.clone());
                }
            }
        }
        let (failed, done): (Vec<_>, Vec<_>) =
            drops.into_iter().partition(|it| it.stale.iter().any(|stale| left.contains(stale)));
        for it in done.iter().filter(|it| it.is_end) {
            self.inner.writes.end(&it.stale);
        }
        failed
    }
}
