//! Writing: each call is one transaction, taken for writing from the start, so
//! that it either waits its turn or fails before anything was done.

use rusqlite::{Connection, TransactionBehavior, params};

use super::fault;
use crate::base::clock::Timestamp;
use crate::entry::{Chunks, Payload, Record};
use crate::error::{Error, Result};
use crate::key::Id;

pub(super) fn put(writer: &mut Connection, id: &Id, record: &Record) -> Result<()> {
    match &record.payload {
        Payload::Inline(body) => upsert(writer, id, record, Some(body), None),
        Payload::Framed(frames) => put_framed(writer, id, record, &**frames),
        Payload::Opened(_) => put(writer, id, &record.sealed()?),
    }
}

/// All frames and the row that points to them, or nothing.
fn put_framed(writer: &mut Connection, id: &Id, record: &Record, body: &dyn Chunks) -> Result<()> {
    in_transaction(writer, "storing a large body", |writer| {
        let frames = fastrand::i64(1..);
        let mut insert = writer
            .prepare_cached("INSERT INTO chunks (frames, seq, data) VALUES (?1, ?2, ?3)")
            .map_err(storing)?;
        let mut seq = 0i64;
        body.each(&mut |frame| {
            seq += 1;
            insert.execute(params![frames, seq, frame]).map(drop).map_err(storing)
        })?;
        upsert(writer, id, record, None, Some(frames))
    })
}

fn upsert(
    writer: &Connection,
    id: &Id,
    record: &Record,
    body: Option<&[u8]>,
    frames: Option<i64>,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO entries
            (scope, key, kind, expires, stored_at, last_used, hits, bytes, header, body, frames)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        ON CONFLICT (scope, key) DO UPDATE SET
            kind = excluded.kind, expires = excluded.expires, stored_at = excluded.stored_at,
            last_used = excluded.last_used, hits = excluded.hits, bytes = excluded.bytes,
            header = excluded.header, body = excluded.body, frames = excluded.frames";
    let head = &record.head;
    let header = head.header.to_json();
    let bytes = head.header.body.stored_len + header.len() as u64;
    writer
        .prepare_cached(SQL)
        .and_then(|mut statement| {
            statement.execute(params![
                id.scope.as_str(),
                id.key.as_str(),
                head.header.kind.as_str(),
                head.header.dead_at().map(Timestamp::as_millis),
                head.stored_at.as_millis(),
                head.last_used.as_millis(),
                head.hits.cast_signed(),
                bytes.cast_signed(),
                header,
                body,
                frames,
            ])
        })
        .map(drop)
        .map_err(storing)
}

fn storing(error: rusqlite::Error) -> Error {
    fault::explain(error, "storing a record")
}

pub(super) fn remove(writer: &mut Connection, ids: &[Id]) -> Result<usize> {
    in_transaction(writer, "removing records", |writer| {
        let explained = |error| fault::explain(error, "removing a record");
        let mut delete = writer
            .prepare_cached("DELETE FROM entries WHERE scope = ?1 AND key = ?2")
            .map_err(explained)?;
        ids.iter().try_fold(0, |sum, id| {
            let gone =
                delete.execute(params![id.scope.as_str(), id.key.as_str()]).map_err(explained)?;
            Ok(sum + gone)
        })
    })
}

/// Everything that `act` does, or nothing.
pub(super) fn in_transaction<T>(
    writer: &mut Connection,
    doing: &str,
    act: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let transaction = writer
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(|error| fault::explain(error, doing))?;
    let done = act(&transaction)?;
    transaction.commit().map_err(|error| fault::explain(error, doing))?;
    Ok(done)
}
