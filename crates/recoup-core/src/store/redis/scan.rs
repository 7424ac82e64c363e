//! Listing: the keys of all records from the server's key space, which is never out of date, then
//! their heads in batches, without bodies.

use std::collections::{BTreeSet, HashSet};

use redis::Value;

use super::read::{self, HEAD, ReplyFields};
use super::write::BATCH;
use super::{RedisPool, RedisShared};
use crate::entry::EntryHead;
use crate::error::Result;
use crate::key::{EntryId, Scope};
use crate::store::{RecordVisitor, ScanFilter, ScanFlow, ScopeUsage};

/// Keys that the server examines for one answer.
const STEP: usize = 1_000;

pub(super) fn scan(
    shared: &RedisShared,
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
) -> Result<()> {
    let mut seen = HashSet::new();
    each_page(shared, filter.scope.as_ref(), &mut |ids| {
        let news: Vec<EntryId> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
        for ids in news.chunks(BATCH) {
            let questions =
                ids.iter().map(|id| read::read_fields_command(shared, id, &HEAD)).collect();
            let answers = shared.line.query_each("listing the records", questions)?;
            for (id, answer) in ids.iter().zip(answers) {
                if visit_head(id, read::head_in(answer), filter, visit).is_break() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })
}

/// Visits a head, unless the record is gone meanwhile.
fn visit_head(
    id: &EntryId,
    head: Result<Option<EntryHead>>,
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
) -> ScanFlow {
    match head {
        Ok(None) => ScanFlow::Continue(()),
        Ok(Some(head)) if filter.kind.is_some_and(|kind| kind != head.header.kind) => {
            ScanFlow::Continue(())
        }
        Ok(Some(head)) => visit(id, Ok(&head)),
        Err(error) => visit(id, Err(error)),
    }
}

/// Counts record by record: the server expires and evicts by itself, so that a stored sum would
/// soon be wrong.
pub(super) fn usage(shared: &RedisShared, scope: &Scope) -> Result<ScopeUsage> {
    let (mut usage, mut seen) = (ScopeUsage::default(), HashSet::new());
    each_page(shared, Some(scope), &mut |ids| {
        let news: Vec<EntryId> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
        for ids in news.chunks(BATCH) {
            let questions =
                ids.iter().map(|id| read::read_fields_command(shared, id, &["bytes"])).collect();
            for answer in shared.line.query_each("counting the records", questions)? {
                if let Some(bytes) = ReplyFields::of(answer).number() {
                    usage.entries += 1;
                    usage.bytes = usage.bytes.saturating_add(bytes.max(0).cast_unsigned());
                }
            }
        }
        Ok(true)
    })?;
    Ok(usage)
}

/// Calls `visit` with pages of record ids until it returns false. An id may occur twice.
fn each_page(
    shared: &RedisShared,
    scope: Option<&Scope>,
    visit: &mut dyn FnMut(Vec<EntryId>) -> Result<bool>,
) -> Result<()> {
    let id_of = |name: &Value| match name {
        Value::BulkString(name) => shared.keys.id_of(name),
        _ => None,
    };
    let pattern = shared.keys.pattern(scope);
    shared.line.scan("listing the records", &pattern, STEP, &mut |names| {
        visit(names.iter().filter_map(id_of).collect())
    })
}

impl RedisPool {
    /// Calls `visit` with the keys that match `pattern`, about `step` examined at a time, until it
    /// returns false. A key may occur twice.
    pub(crate) fn scan(
        &self,
        doing: &str,
        pattern: &str,
        step: usize,
        visit: &mut dyn FnMut(Vec<Value>) -> Result<bool>,
    ) -> Result<()> {
        let mut nodes = self.with_connection(doing, |link, _| link.primaries())?;
        if nodes.is_empty() {
            nodes.push((String::new(), 0));
        }
        for node in nodes {
            let mut cursor = "0".to_owned();
            loop {
                let node = node.clone();
                let mut command = redis::cmd("SCAN");
                command.arg(&cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(step);
                let answer = self.with_connection(doing, move |link, deadline| {
                    link.run_at(&node, &command, deadline)
                })?;
                let (next, names) = parse_page(answer);
                if !visit(names)? {
                    return Ok(());
                }
                match next {
                    Some(next) if next == "0" => break,
                    Some(next) => cursor = next,
                    None => return Err(Self::not_redis_error(doing)),
                }
            }
        }
        Ok(())
    }
}

/// The next cursor, and the keys of this page.
fn parse_page(answer: Value) -> (Option<String>, Vec<Value>) {
    let mut answer = answer.into_sequence().unwrap_or_default().into_iter();
    let next = answer.next().and_then(|next| redis::from_redis_value(next).ok());
    let names = answer.next().and_then(|names| names.into_sequence().ok()).unwrap_or_default();
    (next, names)
}

/// The scopes that have counts.
pub(super) fn scopes_with_counts(shared: &RedisShared) -> Result<Vec<Scope>> {
    let mut scopes = BTreeSet::new();
    let scope_of = |name: &Value| match name {
        Value::BulkString(name) => shared.keys.scope_of_tally(name),
        _ => None,
    };
    let pattern = shared.keys.tally_pattern();
    shared.line.scan("listing the counts", &pattern, STEP, &mut |names| {
        scopes.extend(names.iter().filter_map(scope_of));
        Ok(true)
    })?;
    Ok(scopes.into_iter().collect())
}
