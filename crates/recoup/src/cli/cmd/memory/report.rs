//! Description of a note, for `--json` and for tables.

use recoup_core::memory::{Note, NoteKind, NoteSource, NoteStatus, NoteTrust};
use serde::Serialize;

/// A note, as shown to users.
#[derive(Debug, Serialize)]
pub(super) struct NoteReport {
    pub(super) id: String,
    pub(super) kind: NoteKind,
    pub(super) text: String,
    pub(super) quote: Option<String>,
    pub(super) source: NoteSource,
    pub(super) trust: NoteTrust,
    pub(super) scope: String,
    pub(super) paths: Option<String>,
    pub(super) topic: Option<String>,
    pub(super) status: NoteStatus,
    pub(super) evidence: u64,
    pub(super) created_at: String,
    pub(super) updated_at: String,
    pub(super) superseded_by: Option<String>,
    /// The client whose agent recorded it for the user; only set by `show`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) recorded_by: Option<String>,
}

impl NoteReport {
    pub(super) fn new(note: &Note) -> Self {
        Self {
            id: note.id.to_string(),
            kind: note.kind,
            text: note.text.clone(),
            quote: note.quote.clone(),
            source: note.source,
            trust: note.trust(),
            scope: note.scope.to_string(),
            paths: note.paths.clone(),
            topic: note.topic.clone(),
            status: note.status,
            evidence: note.evidence,
            created_at: note.created.to_string(),
            updated_at: note.updated.to_string(),
            superseded_by: note.superseded_by.as_ref().map(ToString::to_string),
            recorded_by: None,
        }
    }
}
