//! What stores are asked for when many records are concerned.

use crate::base::clock::Timestamp;
use crate::key::{Id, Key, Kind, Scope};

/// Which records a scan shows. Empty shows all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this kind.
    pub kind: Option<Kind>,
}

/// What must go. Made by policy, carried out by stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionPlan {
    /// What was dead by then goes first, in every scope: nobody may come back to
    /// that scope. A store may leave some of it for the next time.
    pub now: Timestamp,
    /// The scope whose limits these are.
    pub scope: Scope,
    /// The kind of records whose limits these are.
    pub kind: Kind,
    /// The record that was just written, and whose turn it is not.
    pub keep: Option<Key>,
    /// The most records that may stay.
    pub max_entries: Option<u64>,
    /// The most bytes (bodies and headers as stored) that may stay.
    pub max_bytes: Option<u64>,
}

impl EvictionPlan {
    /// Whether that much may stay.
    pub(crate) fn allows(&self, entries: u64, bytes: u64) -> bool {
        self.excess(entries, bytes).is_none()
    }

    /// The limit that so much is over, if any.
    pub(crate) fn excess(&self, entries: u64, bytes: u64) -> Option<Limit> {
        if self.max_bytes.is_some_and(|max| bytes > max) {
            return Some(Limit::Bytes);
        }
        self.max_entries.is_some_and(|max| entries > max).then_some(Limit::Entries)
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Records.
    pub entries: u64,
    /// Their bytes, bodies and headers as stored.
    pub bytes: u64,
}

/// One of a plan's two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The most records.
    Entries,
    /// The most bytes.
    Bytes,
}

/// Why a record went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It was dead.
    Dead,
    /// It was used least recently, and there was more than this allows.
    Over(Limit),
}

/// One record that went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Which one.
    pub id: Id,
    /// Of which kind it was.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Dead ones.
    pub expired: u64,
    /// Those used least recently.
    pub least_used: u64,
    /// The bytes of both.
    pub bytes: u64,
    /// Which ones, as far as they are known: the first [`Evicted::NAMED`] of them.
    pub gone: Vec<Gone>,
}

impl Evicted {
    /// How many are named at most.
    pub const NAMED: usize = 1_000;

    /// Counts one that went.
    pub(crate) fn add(&mut self, cause: Cause) {
        match cause {
            Cause::Dead => self.expired += 1,
            Cause::Over(_) => self.least_used += 1,
        }
    }

    /// Names one that went.
    pub(crate) fn name(&mut self, id: Id, kind: Kind, cause: Cause) {
        if self.gone.len() < Self::NAMED {
            self.gone.push(Gone { id, kind, cause });
        }
    }
}
