//! Listing: the keys of all records from the server's key space, which is never out of date, then
//! their heads in batches, without bodies.

use std::collections::{BTreeSet, HashSet};

use redis::Value;

use super::read::{self, Fields, HEAD};
use super::write::BATCH;
use super::{Line, Shared};
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Id, Scope};
use crate::store::{Filter, Flow, Usage, Visit};

/// Keys that the server examines for one answer.
const STEP: usize = 1_000;

pub(super) fn scan(shared: &Shared, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
    let mut seen = HashSet::new();
    each_page(shared, filter.scope.as_ref(), &mut |ids| {
        let news: Vec<Id> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
        for ids in news.chunks(BATCH) {
            let questions = ids.iter().map(|id| read::fields_of(shared, id, &HEAD)).collect();
            let answers = shared.line.ask_each("listing the records", questions)?;
            for (id, answer) in ids.iter().zip(answers) {
                if show(id, read::head_in(answer), filter, visit).is_break() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    })
}

/// Visits a head, unless the record is gone meanwhile.
fn show(id: &Id, head: Result<Option<Head>>, filter: &Filter, visit: &mut Visit<'_>) -> Flow {
    match head {
        Ok(None) => Flow::Continue(()),
        Ok(Some(head)) if filter.kind.is_some_and(|kind| kind != head.header.kind) => {
            Flow::Continue(())
        }
        Ok(Some(head)) => visit(id, Ok(&head)),
        Err(error) => visit(id, Err(error)),
    }
}

/// Counts record by record: the server expires and evicts by itself, so that a stored sum would
/// soon be wrong.
pub(super) fn usage(shared: &Shared, scope: &Scope) -> Result<Usage> {
    let (mut usage, mut seen) = (Usage::default(), HashSet::new());
    each_page(shared, Some(scope), &mut |ids| {
        let news: Vec<Id> = ids.into_iter().filter(|id| seen.insert(id.clone())).collect();
        for ids in news.chunks(BATCH) {
            let questions = ids.iter().map(|id| read::fields_of(shared, id, &["bytes"])).collect();
            for answer in shared.line.ask_each("counting the records", questions)? {
                if let Some(bytes) = Fields::of(answer).number() {
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
    shared: &Shared,
    scope: Option<&Scope>,
    visit: &mut dyn FnMut(Vec<Id>) -> Result<bool>,
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

impl Line {
    /// Calls `visit` with the keys that match `pattern`, about `step` examined at a time, until it
    /// returns false. A key may occur twice.
    pub(crate) fn scan(
        &self,
        doing: &str,
        pattern: &str,
        step: usize,
        visit: &mut dyn FnMut(Vec<Value>) -> Result<bool>,
    ) -> Result<()> {
        let mut nodes = self.with_link(doing, |link, _| link.primaries())?;
        if nodes.is_empty() {
            nodes.push((String::new(), 0));
        }
        for node in nodes {
            let mut cursor = "0".to_owned();
            loop {
                let node = node.clone();
                let mut command = redis::cmd("SCAN");
                command.arg(&cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(step);
                let answer = self.with_link(doing, move |link, deadline| {
                    link.run_at(&node, &command, deadline)
                })?;
                let (next, names) = page_in(answer);
                if !visit(names)? {
                    return Ok(());
                }
                match next {
                    Some(next) if next == "0" => break,
                    Some(next) => cursor = next,
                    None => return Err(Self::not_redis(doing)),
                }
            }
        }
        Ok(())
    }
}

/// The next cursor, and the keys of this page.
fn page_in(answer: Value) -> (Option<String>, Vec<Value>) {
    let mut answer = answer.into_sequence().unwrap_or_default().into_iter();
    let next = answer.next().and_then(|next| redis::from_redis_value(next).ok());
    let names = answer.next().and_then(|names| names.into_sequence().ok()).unwrap_or_default();
    (next, names)
}

/// The scopes that have counts.
pub(super) fn scopes_with_counts(shared: &Shared) -> Result<Vec<Scope>> {
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
