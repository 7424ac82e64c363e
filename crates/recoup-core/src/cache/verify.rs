//! Reading everything there is, to find what can't be served.

use super::Cache;
use crate::entry::{Body, Chunks as _, Damage};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Scope};
use crate::store::Flow;

/// An entry that can't be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Which one.
    pub id: Id,
    /// What is wrong with it.
    pub damage: Damage,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// How many entries were read.
    pub entries: usize,
    /// Those of them that can't be served.
    pub damaged: Vec<Damaged>,
}

/// Damage is a finding; what a later version wrote is its to judge; any other
/// fault ends the search.
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
    /// Reads and checks every entry of a scope; `progress` hears how many of how
    /// many are done.
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

    /// Removes what was found to be damaged and still is; says how many that were.
    /// Each is looked at again: it may have been stored anew since.
    pub fn repair(&self, damaged: &[Damaged]) -> Result<usize> {
        let mut removed = 0;
        for Damaged { id, .. } in damaged {
            if self.look(id)?.is_some() {
                removed += usize::from(self.remove(id)?);
            }
        }
        Ok(removed)
    }

    /// Looked at twice: what another process replaced while it was read only
    /// seems to be damaged.
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
