//! The end of an entry's file. It holds our head, so that it is found without reading a long value;
//! the counters that change are at the very end and of fixed width, so that they are changed in
//! place.
//!
//! In place, because rewriting the file would undo what another program stored meanwhile; and as
//! digit strings, because any mix of old and new digits is still a number: a concurrent reader sees
//! one that is slightly off.

use serde::Deserialize;

use super::shared_fields::digits;
use crate::base::clock::Timestamp;
use crate::entry::{EntryHead, FORMAT, Header};

/// Precedes the header. It occurs nowhere else in a file of ours: within a string its quotes would
/// be escaped.
pub(super) const HEAD: &[u8] = br#","recoup":{"header":"#;

const STORED_AT: &str = r#","stored_at":""#;
const HITS: &str = r#"","hits":""#;
const LAST_USED: &str = r#"","last_used":""#;
const END: &str = r#""}}"#;
/// Width of a number: 20 digits, or a sign and 19.
const DIGITS: usize = 20;
/// The length of what follows the header.
pub(super) const CLOSING: usize =
    STORED_AT.len() + HITS.len() + LAST_USED.len() + END.len() + 3 * DIGITS;

/// The JSON form of a head.
#[derive(Deserialize)]
pub(super) struct RecoupHead {
    pub(super) header: Header,
    #[serde(deserialize_with = "digits")]
    stored_at: i64,
    #[serde(deserialize_with = "digits")]
    hits: u64,
    #[serde(deserialize_with = "digits")]
    last_used: i64,
}

impl RecoupHead {
    pub(super) fn into_head(self) -> EntryHead {
        EntryHead {
            header: self.header,
            stored_at: Timestamp::from_millis(self.stored_at),
            hits: self.hits,
            last_used: Timestamp::from_millis(self.last_used),
        }
    }
}

/// The text after the header.
pub(super) fn render_counters(head: &EntryHead) -> String {
    let (stored_at, last_used) = (head.stored_at.as_millis(), head.last_used.as_millis());
    let hits = head.hits;
    format!("{STORED_AT}{stored_at:+020}{HITS}{hits:020}{LAST_USED}{last_used:+020}{END}")
}

/// Adds `hits`, the last of them at `at`, to the counters; `None` if this is not the end of a file
/// of ours.
pub(super) fn with_hits(closing: &[u8], hits: u64, at: Timestamp) -> Option<Vec<u8>> {
    let (before, hits_so_far, last_used) = parse_counters(closing)?;
    let hits = hits_so_far.saturating_add(hits);
    let last_used = last_used.max(at.as_millis());
    Some(format!("{before}{HITS}{hits:020}{LAST_USED}{last_used:+020}{END}").into_bytes())
}

fn parse_counters(closing: &[u8]) -> Option<(&str, u64, i64)> {
    let text = str::from_utf8(closing).ok().filter(|text| text.len() == CLOSING)?;
    let (before, rest) = text.split_once(HITS)?;
    let (hits, rest) = rest.split_once(LAST_USED)?;
    let last_used = rest.strip_suffix(END)?;
    Some((before, hits.parse().ok()?, last_used.parse().ok()?))
}

/// True if this is the end of a file of ours.
pub(super) fn ends_with_counters(end: &[u8]) -> bool {
    end.len().checked_sub(CLOSING).and_then(|at| parse_counters(&end[at..])).is_some()
}

/// True if the beginning of our head occurs exactly once: a file made of several of ours is not
/// one.
pub(super) fn has_one_head(json: &[u8]) -> bool {
    json.windows(HEAD.len()).filter(|window| *window == HEAD).take(2).count() == 1
}

/// The head begins before the bytes that were read.
#[derive(Debug)]
pub(super) struct HeadBeforeTail;

/// Parses the head from the end of a file; `None` if it is not the end of an intact file of ours.
pub(super) fn head_in(end: &[u8]) -> Result<Option<EntryHead>, HeadBeforeTail> {
    if !ends_with_counters(end) {
        return Ok(None);
    }
    let at = end.windows(HEAD.len()).rposition(|window| window == HEAD).ok_or(HeadBeforeTail)?;
    let object = at + HEAD.len() - br#"{"header":"#.len();
    let book = serde_json::from_slice::<RecoupHead>(&end[object..end.len() - 1]).ok();
    Ok(book.filter(|book| book.header.format <= FORMAT).map(RecoupHead::into_head))
}
