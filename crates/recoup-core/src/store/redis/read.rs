//! Reading: one record, its frames, or the heads of many. A listing takes the keys of all records from
//! the server's key space, which is never out of date, then their heads in batches, without bodies.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use bytes::Bytes;
use redis::{Cmd, Value};

use super::write::BATCH;
use super::{RedisPool, RedisShared, pool};
use crate::base::clock::Timestamp;
use crate::entry::{ChunkSource, EntryHead, EntryRecord, Header, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Scope};
use crate::store::{RecordVisitor, ScanFilter, ScanFlow, ScopeUsage};

/// Keys that the server examines for one answer.
const STEP: usize = 1_000;

/// The fields of a head, in the order of the request.
const HEAD: [&str; 4] = ["head", "at", "used", "hits"];

pub(super) fn get(shared: &Arc<RedisShared>, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
    let mut command = read_fields_command(shared, id, &HEAD);
    command.arg(&["body", "frames"]);
    let answer = shared.pool.query_one("cannot read an entry", command)?;
    let mut fields = ReplyFields::expected(answer, HEAD.len() + 2)?;
    if fields.are_absent() {
        return Ok(None);
    }
    let head = fields.head()?;
    let payload = fields.payload(shared, id)?.ok_or_else(|| corrupt("the entry has no body"))?;
    Ok(Some(Arc::new(EntryRecord { payload, head, full: None })))
}

pub(super) fn full(shared: &Arc<RedisShared>, id: &EntryId) -> Result<Option<StoredBody>> {
    let command = read_fields_command(shared, id, &["full", "fullframes"]);
    let answer = shared.pool.query_one("cannot read a full result", command)?;
    ReplyFields::expected(answer, 2)?.payload(shared, id)
}

/// A command that reads these fields of a record.
fn read_fields_command(shared: &RedisShared, id: &EntryId, names: &[&str]) -> Cmd {
    let mut command = redis::cmd("HMGET");
    command.arg(shared.keys.record(id)).arg(names);
    command
}

/// Unvalidated values of an answer, consumed from the front.
pub(super) struct ReplyFields(std::vec::IntoIter<Value>);

impl ReplyFields {
    pub(super) fn of(answer: Value) -> Self {
        Self(answer.into_sequence().unwrap_or_default().into_iter())
    }

    /// The values, if their number is as expected. Any other answer is not from Redis.
    fn expected(answer: Value, count: usize) -> Result<Self> {
        let fields = Self::of(answer);
        if fields.0.len() == count {
            return Ok(fields);
        }
        Err(Error::new(ErrorKind::Unavailable, "unexpected reply from the server"))
    }

    fn are_absent(&self) -> bool {
        self.0.as_slice().iter().all(|value| *value == Value::Nil)
    }

    pub(super) fn bytes(&mut self) -> Option<Vec<u8>> {
        match self.0.next()? {
            Value::BulkString(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub(super) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?).ok()
    }

    pub(super) fn number(&mut self) -> Option<i64> {
        match self.0.next()? {
            Value::Int(number) => Some(number),
            Value::BulkString(bytes) => str::from_utf8(&bytes).ok()?.parse().ok(),
            _ => None,
        }
    }

    fn head(&mut self) -> Result<EntryHead> {
        let header = self.bytes().ok_or_else(|| corrupt("the entry has no header"))?;
        let header = Header::from_json(&header)?;
        let mut number = || self.number().ok_or_else(|| corrupt("the entry has no times"));
        Ok(EntryHead {
            header,
            stored_at: Timestamp::from_millis(number()?),
            last_used: Timestamp::from_millis(number()?),
            hits: number()?.max(0).cast_unsigned(),
        })
    }

    /// The payload, inline or in frames.
    fn payload(&mut self, shared: &Arc<RedisShared>, id: &EntryId) -> Result<Option<StoredBody>> {
        match (self.bytes(), self.text()) {
            (Some(body), None) => Ok(Some(StoredBody::Inline(Bytes::from(body)))),
            (None, Some(frames)) => {
                let run = FrameRun::parse(&frames)
                    .ok_or_else(|| corrupt("invalid reference to the body"))?;
                let (shared, id) = (Arc::clone(shared), id.clone());
                Ok(Some(StoredBody::Framed(Arc::new(RedisFrames { shared, id, run }))))
            }
            (None, None) => Ok(None),
            (Some(_), Some(_)) => Err(corrupt("the entry has two bodies")),
        }
    }
}

fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, what)
}

/// The frames of one large body: their common name and number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FrameRun {
    pub(super) generation: String,
    pub(super) count: u64,
}

impl FrameRun {
    /// `GENERATION:COUNT`
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (generation, count) = text.split_once(':')?;
        Some(Self { generation: generation.to_owned(), count: count.parse().ok()? })
    }

    pub(super) fn to_text(&self) -> String {
        format!("{}:{}", self.generation, self.count)
    }

    /// Their keys on the server.
    pub(super) fn names<'a>(
        &'a self,
        shared: &'a RedisShared,
        id: &'a EntryId,
    ) -> impl Iterator<Item = String> + 'a {
        (0..self.count).map(|number| shared.keys.frame(id, &self.generation, number))
    }
}

/// A large body, read frame by frame: one request each, so that the deadline applies to a frame and
/// not to the whole.
#[derive(Debug)]
struct RedisFrames {
    shared: Arc<RedisShared>,
    id: EntryId,
    run: FrameRun,
}

impl ChunkSource for RedisFrames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for name in self.run.names(&self.shared, &self.id) {
            let mut command = redis::cmd("GET");
            command.arg(name);
            match self.shared.pool.query_one("cannot read a large body", command)? {
                Value::BulkString(frame) => visit(&frame)?,
                // Replaced, or evicted by the server.
                _ => return Err(corrupt("the stored body is damaged: a chunk is missing")),
            }
        }
        Ok(())
    }
}

pub(super) fn scan(
    shared: &RedisShared,
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
) -> Result<()> {
    let doing = "cannot list the entries";
    each_record(shared, filter.scope.as_ref(), doing, &HEAD, &mut |id, answer| {
        let answer = answer
            .extract_error()
            .map_err(|error| pool::explain_error(&error, "cannot read an entry", None));
        let fields = answer.and_then(|answer| ReplyFields::expected(answer, HEAD.len()));
        let head =
            fields.and_then(
                |mut fields| {
                    if fields.are_absent() { Ok(None) } else { fields.head().map(Some) }
                },
            );
        match head {
            // Gone meanwhile.
            Ok(None) => ScanFlow::Continue(()),
            Ok(Some(head)) if filter.kind.is_some_and(|kind| kind != head.header.kind) => {
                ScanFlow::Continue(())
            }
            Ok(Some(head)) => visit(id, Ok(&head)),
            Err(error) => visit(id, Err(error)),
        }
    })
}

/// Counts record by record: the server expires and evicts by itself, so that a stored sum would
/// soon be wrong.
pub(super) fn usage(shared: &RedisShared, scope: &Scope) -> Result<ScopeUsage> {
    let mut usage = ScopeUsage::default();
    let doing = "cannot count the entries";
    each_record(shared, Some(scope), doing, &["bytes"], &mut |_, answer| {
        if let Some(bytes) = ReplyFields::of(answer).number() {
            usage.entries += 1;
            usage.bytes = usage.bytes.saturating_add(bytes.max(0).cast_unsigned());
        }
        ScanFlow::Continue(())
    })?;
    Ok(usage)
}

/// Calls `visit` with these fields of each record in a scope, or in all, once.
fn each_record(
    shared: &RedisShared,
    scope: Option<&Scope>,
    doing: &str,
    fields: &[&str],
    visit: &mut dyn FnMut(&EntryId, Value) -> ScanFlow,
) -> Result<()> {
    let mut seen = HashSet::new();
    let id_of = |name: &Value| match name {
        Value::BulkString(name) => shared.keys.id_of(name),
        _ => None,
    };
    let pattern = shared.keys.pattern(scope);
    shared.pool.scan("cannot list the entries", &pattern, STEP, &mut |names| {
        let ids = names.iter().filter_map(id_of);
        let news: Vec<EntryId> = ids.filter(|id| seen.insert(id.clone())).collect();
        for ids in news.chunks(BATCH) {
            let questions = ids.iter().map(|id| read_fields_command(shared, id, fields));
            let answers = shared.pool.query_each(doing, questions.collect())?;
            for (id, answer) in ids.iter().zip(answers) {
                if visit(id, answer).is_break() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
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
        let mut nodes = self.with_connection(doing, |connection, _| connection.primaries())?;
        if nodes.is_empty() {
            nodes.push((String::new(), 0));
        }
        for node in nodes {
            let mut cursor = "0".to_owned();
            loop {
                let node = node.clone();
                let mut command = redis::cmd("SCAN");
                command.arg(&cursor).arg("MATCH").arg(pattern).arg("COUNT").arg(step);
                let answer = self.with_connection(doing, move |connection, deadline| {
                    connection.run_at(&node, &command, deadline)
                })?;
                // The next cursor, and the keys of this page.
                let mut answer = answer.into_sequence().unwrap_or_default().into_iter();
                let next = answer.next().and_then(|next| redis::from_redis_value(next).ok());
                let names = answer.next().and_then(|names| names.into_sequence().ok());
                if !visit(names.unwrap_or_default())? {
                    return Ok(());
                }
                match next {
                    None::<String> => return Err(Self::not_redis_error(doing)),
                    Some(next) if next == "0" => break,
                    Some(next) => cursor = next,
                }
            }
        }
        Ok(())
    }
}

/// The scopes that have counts.
pub(super) fn scopes_with_counts(shared: &RedisShared) -> Result<Vec<Scope>> {
    let mut scopes = BTreeSet::new();
    let scope_of = |name: &Value| match name {
        Value::BulkString(name) => shared.keys.scope_of_tally(name),
        _ => None,
    };
    let pattern = shared.keys.tally_pattern();
    shared.pool.scan("cannot list the counts", &pattern, STEP, &mut |names| {
        scopes.extend(names.iter().filter_map(scope_of));
        Ok(true)
    })?;
    Ok(scopes.into_iter().collect())
}
