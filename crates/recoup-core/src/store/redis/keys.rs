//! The keys on the server.
//!
//! ```text
//! P:{SCOPE/KEY}              hash: one record. head, at, used, hits, dead, bytes, and its body and
//!                            full result, each in place (body, full) or in frames (frames, fullframes)
//! P:{SCOPE/KEY}:GEN:N        string: the Nth frame of a large body or full result
//! P:used:{SCOPE}:KIND        sorted set: keys by last use, for limits by count
//! P:tally:{SCOPE}            hash: KIND/DAY/WHAT/NAME, how often; KIND/DAY/hit.UNIT/NAME, how much that saved;
//!                            first, the first day whose counts stay
//! P:folded:{SCOPE}           sorted set: names of batches that were counted
//! P:claim:{SCOPE/KEY}        string: the token of the claim's owner; expires unless renewed
//! P:dead                     sorted set: SCOPE/KEY by the time from which it is dead
//! ```
//! The text in braces decides the node of a cluster: a record and its frames are on one, and so are
//! the counts of a scope. Records are authoritative; the sorted sets are only hints for eviction,
//! and may lag behind.

use crate::key::{EntryId, Key, Kind, Scope};

/// Key names with a common prefix.
#[derive(Debug, Clone)]
pub(super) struct RedisKeys {
    prefix: String,
}

impl RedisKeys {
    pub(super) fn new(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub(super) fn record(&self, id: &EntryId) -> String {
        format!("{}:{{{id}}}", self.prefix)
    }

    pub(super) fn frame(&self, id: &EntryId, generation: &str, number: u64) -> String {
        format!("{}:{{{id}}}:{generation}:{number}", self.prefix)
    }

    pub(super) fn claim(&self, id: &EntryId) -> String {
        format!("{}:claim:{{{id}}}", self.prefix)
    }

    pub(super) fn used(&self, scope: &Scope, kind: Kind) -> String {
        format!("{}:used:{{{scope}}}:{kind}", self.prefix)
    }

    pub(super) fn tally(&self, scope: &Scope) -> String {
        format!("{}:tally:{{{scope}}}", self.prefix)
    }

    /// A pattern for the counts of all scopes.
    pub(super) fn tally_pattern(&self) -> String {
        format!("{}:tally:{{*}}", self.prefix)
    }

    /// The scope of a key that holds counts.
    pub(super) fn scope_of_tally(&self, name: &[u8]) -> Option<Scope> {
        let name = str::from_utf8(name).ok()?.strip_prefix(&self.prefix)?;
        Scope::parse(name.strip_prefix(":tally:{")?.strip_suffix('}')?).ok()
    }

    pub(super) fn folded(&self, scope: &Scope) -> String {
        format!("{}:folded:{{{scope}}}", self.prefix)
    }

    pub(super) fn dead(&self) -> String {
        format!("{}:dead", self.prefix)
    }

    /// A pattern for the records of a scope, or of all. Neither prefixes nor scopes contain special
    /// characters.
    pub(super) fn pattern(&self, scope: Option<&Scope>) -> String {
        match scope {
            Some(scope) => format!("{}:{{{scope}/*}}", self.prefix),
            None => format!("{}:{{*}}", self.prefix),
        }
    }

    /// The id of a record's key; `None` for other keys.
    pub(super) fn id_of(&self, name: &[u8]) -> Option<EntryId> {
        let name = str::from_utf8(name).ok()?.strip_prefix(&self.prefix)?;
        parse_id(name.strip_prefix(":{")?.strip_suffix('}')?)
    }
}

/// `SCOPE/KEY`
pub(super) fn parse_id(text: &str) -> Option<EntryId> {
    let (scope, key) = text.split_once('/')?;
    Some(EntryId::new(Scope::parse(scope).ok()?, Key::parse(key).ok()?))
}
