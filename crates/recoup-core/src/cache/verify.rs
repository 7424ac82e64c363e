//! Verification: reads every entry to find those that cannot be served.

use super::Cache;
use crate::entry::{Body, Chunks as _, Damage};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Scope};
use crate::store::Flow;

/// An entry that cannot be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Identity of the entry.
    pub id: Id,
    /// Kind of damage.
    pub damage: Damage,
}

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Number of entries read.
    pub entries: usize,
    /// Entries that cannot be served.
    pub damaged: Vec<Damaged>,
}

/// Damage is a finding. An entry of a later version is not judged. Any other error ends the
/// verification.
fn finding(error: Error, damage: Damage) -> Result<Option<Damage>> {
    match error.kind() {
        ErrorKind::Corrupt => Ok(Some(damage)),
        ErrorKind::TooNew => Ok(None),
        _ => Err(error),
    }
}

fn read_through(body: &Body) -> Result<()> {
    body.each(&mut |_| Ok(()))
}

impl Cache {
    /// Reads and checks every entry of a scope. `progress` is called with the number done and the
    /// total.
    pub fn verify(
        &self,
        scope: &Scope,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Verified> {
        let mut ids = Vec::new();
        self.scan(scope, &mut |id, _| {
            ids.push(id.clone());
            Flow::Continue(())
        })?;
        let mut verified = Verified { entries: ids.len(), damaged: Vec::new() };
        for (done, id) in ids.into_iter().enumerate() {
            if let Some(damage) = self.damage(&id)? {
                verified.damaged.push(Damaged { id, damage });
            }
            progress(done + 1, verified.entries);
        }
        Ok(verified)
    }

    /// Removes entries that were found damaged and still are, and returns their number. Each is
    /// checked again: it may have been stored anew since.
    pub fn repair(&self, damaged: &[Damaged]) -> Result<usize> {
        let mut removed = 0;
        for Damaged { id, .. } in damaged {
            if self.look(id)?.is_some() {
                removed += usize::from(self.remove(id)?);
            }
        }
        Ok(removed)
    }

    /// Checks twice: an entry that another process replaces during the read only seems to be
    /// damaged.
    fn damage(&self, id: &Id) -> Result<Option<Damage>> {
        match self.look(id)? {
            None => Ok(None),
            Some(_) => self.look(id),
        }
    }

    fn look(&self, id: &Id) -> Result<Option<Damage>> {
        match self.store().get(id) {
            Ok(None) => Ok(None),
            Ok(Some(record)) => match record.open().map(|entry| read_through(entry.body())) {
                Ok(Ok(())) => self.damage_of_full(id),
                Ok(Err(error)) => finding(error, Damage::Mismatch),
                Err(damage) => Ok(Some(damage)),
            },
            Err(error) => finding(error, Damage::Unreadable),
        }
    }

    fn damage_of_full(&self, id: &Id) -> Result<Option<Damage>> {
        match self.full(id).and_then(|full| full.as_ref().map_or(Ok(()), read_through)) {
            Ok(()) => Ok(None),
            Err(error) => finding(error, Damage::Unreadable),
        }
    }
}
