//! Cached tool calls: what the MCP proxy and agents share. No transport.
//!
//! A [`ToolCache`] belongs to one server. For each call it decides by the user's policy
//! ([`ServerCachePolicy`]) whether a result may be cached, makes the key from the server's identity,
//! the tool's schema and the arguments, and drops what a writing call makes stale.

mod call;
mod call_log;
mod call_stats;
mod definitions;
mod full_definitions;
mod identity;
mod params;
mod pass_reason;
mod plan;
mod policy;
mod read_only;
mod result;
mod sources;
#[cfg(test)]
mod tests;
mod ticket;
mod tool_list;
mod upkeep;
mod write_marks;
mod writes;

pub(crate) use call::{CachedCall, IDENTICAL_CALL_WAIT, ToolOutcome, ToolPermit};
pub(crate) use call_log::CallLog;
pub(crate) use call_stats::{CachingAdvice, CallStatsCollector, ToolStats};
pub(crate) use definitions::{
    OpenApiDefinition, RestToolDefinition, ServerAddress, ServerDefinition,
};
pub(crate) use full_definitions::FullToolDefinition;
pub(crate) use identity::{FingerprintKey, ServerIdentity};
pub(crate) use pass_reason::PassReason;
pub(crate) use plan::{CallRoute, RootsState, TOOL_TAG, ToolCache, ToolCacheParts};
pub(crate) use policy::{
    NamePattern, READ_ONLY_TTL, ServerCachePolicy, ToolCacheRule, ToolCacheSettings,
};
pub(crate) use read_only::{READ_ONLY_SAFEGUARDS, ReadOnlyConcern};
pub(crate) use result::{HIT_AGE, HIT_KEY};
pub(crate) use ticket::{CallEnd, CallTicket};
