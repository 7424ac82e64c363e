//! Removal of many entries at once: by selection, or because they have expired.

use std::collections::BTreeMap;

use super::{Cache, CacheLimits};
use crate::error::{ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};
use crate::store::{EntrySelection, EvictionPlan, EvictionReport, ScanFilter, ScanFlow};

impl Cache {
    /// Removes the selected entries of a scope, and returns their number.
    pub fn invalidate(&self, scope: &Scope, selection: &EntrySelection) -> Result<usize> {
        let mut found: BTreeMap<Kind, Vec<EntryId>> = BTreeMap::new();
        let filter =
            ScanFilter { selection: Some(selection.clone()), ..ScanFilter::of_scope(scope) };
        self.store().scan(&filter, &mut |id, head| {
            if let Ok(head) = head {
                found.entry(head.header.kind).or_default().push(id.clone());
            }
            ScanFlow::Continue(())
        })?;
        let mut removed = 0;
        for (kind, ids) in &found {
            let gone = self.store().remove(ids)?;
            self.note_removed(*kind, ids, gone);
            removed += gone;
        }
        Ok(removed)
    }

    /// Removes expired entries of every scope, and those of `scope` that exceed `limits`.
    pub fn clean_up(&self, scope: &Scope, limits: CacheLimits) -> Result<EvictionReport> {
        match self.fold_ledger() {
            // On a full disk, only the eviction makes room for the fold. The next clean-up folds.
            Err(error) if error.kind() == ErrorKind::Full => {}
            folded => folded?,
        }
        // Best effort: left-over claims of dead processes block nobody.
        let _ = self.claims().sweep();
        let now = self.clock().now();
        let mut all = EvictionReport::default();
        for kind in Kind::ALL {
            loop {
                let plan =
                    EvictionPlan { thorough: true, ..limits.eviction_plan(scope, kind, now) };
                let evicted = self.store().evict(&plan)?;
                self.note_evicted(&plan, &evicted);
                let EvictionReport { expired, least_used, bytes, mut gone, lost_all: _ } = evicted;
                all.expired += expired;
                all.least_used += least_used;
                all.bytes += bytes;
                all.gone.append(&mut gone);
                all.gone.truncate(EvictionReport::NAMED);
                if expired + least_used == 0 {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// True if look-ups and stores take place.
    pub fn enabled(&self) -> bool {
        self.inner.options.enabled
    }

    /// The limits that are enforced on every write.
    pub fn limits(&self) -> CacheLimits {
        self.inner.options.limits
    }
}
