//! Verification: reads every entry to find those that cannot be served.

use super::Cache;
use crate::entry::{Body, BodyDamage, ChunkSource as _};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Scope};
use crate::store::ScanFlow;

/// An entry that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DamagedEntry {
    /// Identity of the entry.
    pub id: EntryId,
    /// Kind of damage.
    pub damage: BodyDamage,
}

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyFindings {
    /// Number of entries read.
    pub entries: usize,
    /// Entries that cannot be served.
    pub damaged: Vec<DamagedEntry>,
}

/// Damage is a finding. An entry of a later version is not judged. Any other error ends the
/// verification.
fn damage_from_error(error: Error, damage: BodyDamage) -> Result<Option<BodyDamage>> {
    match error.kind() {
        ErrorKind::Corrupt => Ok(Some(damage)),
        ErrorKind::TooNew => Ok(None),
        _ => Err(error),
    }
}

fn read_through(body: &Body) -> Result<()> {
    body.for_each_chunk(&mut |_| Ok(()))
}

impl Cache {
    /// Reads and checks every entry of a scope. `progress` is called with the number done and the
    /// total.
    pub fn verify(
        &self,
        scope: &Scope,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<VerifyFindings> {
        let mut ids = Vec::new();
        self.scan(scope, &mut |id, _| {
            ids.push(id.clone());
            ScanFlow::Continue(())
        })?;
        let mut verified = VerifyFindings { entries: ids.len(), damaged: Vec::new() };
        for (done, id) in ids.into_iter().enumerate() {
            if let Some(damage) = self.confirmed_damage(&id)? {
                verified.damaged.push(DamagedEntry { id, damage });
            }
            progress(done + 1, verified.entries);
        }
        Ok(verified)
    }

    /// Removes entries that were found damaged and still are, and returns their number. Each is
    /// checked again: it may have been stored anew since.
    pub fn repair(&self, damaged: &[DamagedEntry]) -> Result<usize> {
        let mut removed = 0;
        for DamagedEntry { id, .. } in damaged {
            if self.check_entry(id)?.is_some() {
                removed += usize::from(self.remove(id)?);
            }
        }
        Ok(removed)
    }

    /// Checks twice: an entry that another process replaces during the read only seems to be
    /// damaged.
    fn confirmed_damage(&self, id: &EntryId) -> Result<Option<BodyDamage>> {
        match self.check_entry(id)? {
            None => Ok(None),
            Some(_) => self.check_entry(id),
        }
    }

    fn check_entry(&self, id: &EntryId) -> Result<Option<BodyDamage>> {
        match self.store().get(id) {
            Ok(None) => Ok(None),
            Ok(Some(record)) => match record.open().map(|entry| read_through(entry.body())) {
                Ok(Ok(())) => self.damage_of_full(id),
                Ok(Err(error)) => damage_from_error(error, BodyDamage::Mismatch),
                Err(damage) => Ok(Some(damage)),
            },
            Err(error) => damage_from_error(error, BodyDamage::Unreadable),
        }
    }

    fn damage_of_full(&self, id: &EntryId) -> Result<Option<BodyDamage>> {
        match self.full_result(id).and_then(|full| full.as_ref().map_or(Ok(()), read_through)) {
            Ok(()) => Ok(None),
            Err(error) => damage_from_error(error, BodyDamage::Unreadable),
        }
    }
}
