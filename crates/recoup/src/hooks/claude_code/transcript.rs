//! Parses lines of Claude Code's transcript: JSON with a `type`. Most lines are about the client
//! itself; the largest hold whole requests, whose contents are not even parsed.

use std::borrow::Cow;

use memchr::memmem;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::transcript::{EntryKind, TranscriptEntry, bound_name};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::entries;
use crate::hooks::wire;

#[derive(Debug, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the client has these flags")]
#[serde(rename_all = "camelCase")]
pub(super) struct ClaudeTranscriptLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    subtype: Option<Cow<'a, str>>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    pub(super) is_meta: bool,
    #[serde(default)]
    pub(super) is_compact_summary: bool,
    #[serde(default)]
    pub(super) is_api_error_message: bool,
    #[serde(borrow, default)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) origin: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) attachment: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_use_result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) permission_decision: Option<&'a RawValue>,
}

impl ClaudeTranscriptLine<'_> {
    fn at(&self) -> Option<Timestamp> {
        wire::parse_time(self.timestamp.as_deref())
    }

    /// Id of the sub-agent that the line belongs to.
    pub(super) fn agent(&self) -> Option<String> {
        self.is_sidechain.then(|| bound_name(self.agent_id.as_deref().unwrap_or("sub-agent")))
    }
}

/// Each line of interest contains one of these words as a value. Inside a text their quotes would
/// be escaped, so a request is skipped without being parsed.
const WORDS: [&[u8]; 4] =
    [b"\"user\"", b"\"assistant\"", b"\"attachment\"", b"\"compact_boundary\""];

/// Parses a line into entries.
pub fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
    if !WORDS.iter().any(|word| memmem::find(line, word).is_some()) {
        return Vec::new();
    }
    wire::parse_line(line, |text| serde_json::from_str(text).map(|line| line_entries(&line)))
}

fn line_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<TranscriptEntry> {
    let said: Vec<EntryKind> = match (&*line.kind, line.subtype.as_deref()) {
        ("user", _) => entries::user_entries(line),
        ("assistant", _) => entries::assistant_entries(line),
        ("attachment", _) => entries::attachment_entries(line),
        ("system", Some("compact_boundary")) => vec![EntryKind::Compaction],
        _ => Vec::new(),
    };
    let (at, agent) = (line.at(), line.agent());
    said.into_iter().map(|what| TranscriptEntry { at, agent: agent.clone(), what }).collect()
}
