//! ai-agent: answers of agents and results of tools in its `cache.db`.
//!
//! They keep their keys, which name less than ours do: a run of ours never finds them by itself, and
//! is never answered by one that it should not be.

use std::io::Read as _;

use flate2::read::GzDecoder;
use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::cache::Ttl;
use recoup_core::entry::{Draft, ProducerIdentity};
use recoup_core::key::{Key, Kind};
use serde::de::IgnoredAny;

use super::foreign_database::{ForeignDatabase, ForeignRow};
use super::sink::{FoundEntry, ImportSink, ItemKind};

/// Columns without which a table `cache_entries` is another program's.
pub(super) const COLUMNS: [&str; 5] = ["key_hash", "payload", "kind", "created_at", "expires_at"];

/// Most bytes that a payload may unpack to: a few packed bytes can claim any number.
const MOST_UNPACKED: u64 = 16 << 20;

pub(super) fn read_database(database: &ForeignDatabase, sink: &mut ImportSink<'_>) -> Result<()> {
    database.each_row("cache_entries", "created_at", &mut |row| {
        let name = row.text("tool_name").or_else(|| row.text("agent_name"));
        let shown = row.text("key_hash").unwrap_or_default();
        let shown = [Some(shown), name].into_iter().flatten().collect::<Vec<_>>().join(" ");
        match to_entry(row, sink.now()) {
            Ok(entry) => sink.add_entry(&shown, entry),
            Err(why) => {
                sink.leave_out(ItemKind::Entry, &shown, &why);
                Ok(())
            }
        }
    })
}

fn to_entry(row: &ForeignRow<'_>, now: Timestamp) -> Result<FoundEntry, String> {
    let kind = match row.text("kind").as_deref() {
        Some("agent") => Kind::Agent,
        Some("tool") => Kind::Tool,
        kind => return Err(format!("an entry of the kind {:?}", kind.unwrap_or_default())),
    };
    let key = Key::parse(&row.text("key_hash").unwrap_or_default());
    let key = key.map_err(|error| error.to_string())?;
    let time = |column: &str| row.integer(column).map(Timestamp::from_millis);
    let (Some(made), Some(expires)) = (time("created_at"), time("expires_at")) else {
        return Err("it has no times".to_owned());
    };
    if expires <= now {
        return Err("the entry has expired".to_owned());
    }
    let made = made.min(now);
    let ttl = Ttl::from_millis(expires.millis_since(made)).unwrap_or(Ttl::Forever);
    let body = unpack(row.bytes("payload").unwrap_or_default())?;
    let name = if kind == Kind::Tool { "tool_name" } else { "agent_name" };
    let identity = ProducerIdentity {
        name: row.text(name),
        namespace: row.text("tool_namespace"),
        hash: row.text("agent_hash"),
    };
    let draft = Draft { identity, made: Some(made), ..Draft::new(kind, body) };
    let draft = draft.with_tags(["ai-agent"]);
    Ok(FoundEntry { key, draft, ttl, sources: Vec::new(), unchanged_since: None })
}

/// Unpacks a payload, which is JSON.
fn unpack(payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut json = Vec::new();
    let read = GzDecoder::new(payload).take(MOST_UNPACKED + 1).read_to_end(&mut json);
    read.map_err(|_| "its payload is damaged: no gzip".to_owned())?;
    if json.len() as u64 > MOST_UNPACKED {
        return Err(format!("its payload unpacks to more than {} MB", MOST_UNPACKED >> 20));
    }
    match serde_json::from_slice::<IgnoredAny>(&json) {
        Ok(_) => Ok(json),
        Err(_) => Err("its payload is damaged: no JSON".to_owned()),
    }
}
