//! A memory as an agent sees it.

use recoup_core::memory::inject::one_line;
use recoup_core::memory::{Note, NoteStatus, NoteTrust};
use serde_json::{Value, json};

use super::schema::{count, maybe_text, open, text};

/// Note as data.
pub(in crate::mcp) fn note_report(note: &Note) -> Value {
    json!({
        "id": note.id.as_str(),
        "text": one_line(&note.text),
        "type": note.kind.as_str(),
        "status": note.status.as_str(),
        "trust": note.trust().as_str(),
        "scope": note.scope.to_string(),
        "paths": note.paths,
        "evidence": note.evidence,
        "updated_at": note.updated.to_string(),
    })
}

/// Schema of a note as data.
pub(super) fn schema() -> Value {
    open(
        &[
            ("id", text("What it is called by")),
            ("text", text("The statement")),
            ("type", text("What sort of thing it is")),
            ("status", text("active: it counts; candidate: nobody has confirmed it")),
            ("trust", text("stated: the user said it; agreed; recorded; inferred; untrusted")),
            ("scope", text("universal, or project:ID")),
            ("paths", maybe_text("The files it holds for; none means all")),
            ("evidence", count(0, "How often it was said or confirmed")),
            ("updated_at", text("When it was last said or changed")),
        ],
        &["id", "text", "type", "status", "trust", "scope"],
    )
}

/// Note as one line of text, which cannot break out of what surrounds it.
pub(in crate::mcp) fn note_line(note: &Note) -> String {
    let paths = note.paths.as_deref().map(|glob| format!("[only for {}] ", one_line(glob)));
    format!(
        "- {}{} ({}, {}, id {})",
        paths.unwrap_or_default(),
        one_line(&note.text),
        note.kind,
        label(note),
        note.id
    )
}

/// Says how far an agent may rely on a note.
fn label(note: &Note) -> &'static str {
    match (note.status, note.trust()) {
        (NoteStatus::Candidate, _) => "not confirmed by the user",
        (NoteStatus::Superseded | NoteStatus::Retired, _) => "no longer counts",
        (NoteStatus::Active, NoteTrust::Stated) => "said by the user",
        (NoteStatus::Active, NoteTrust::Agreed) => "accepted by the user",
        (NoteStatus::Active, NoteTrust::Recorded) => "recorded by an agent for the user",
        (NoteStatus::Active, _) => "learned from earlier work",
    }
}
