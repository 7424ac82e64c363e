//! Notices for the person, used by hooks and by the worker, so that both word the same thing alike.

use recoup_core::base::text::shorten_text;
use recoup_core::memory::lang::readable_line;
use recoup_core::memory::learn::LearnedNote;
use recoup_core::memory::{Note, NoteKind, NoteStatus, RecordOutcome};
use recoup_core::{Error, ErrorKind, secrets};

/// Length limit of an error within a notice, in characters.
const MAX_ERROR_CHARS: usize = 200;

/// A statement was recorded; none if its note is not active.
pub(super) fn remembered(recorded: &RecordOutcome) -> Option<String> {
    let note = recorded.note();
    if note.status != NoteStatus::Active {
        return None;
    }
    let before: Vec<&str> = recorded.instead_of().iter().map(|note| &*note.text).collect();
    let (text, id) = (&note.text, &note.id);
    let undo = format!("(say \"forget that\", or recoup memory retire {id})");
    Some(match recorded {
        _ if !before.is_empty() => {
            format!("will remember: {text}, instead of: {} {undo}", before.join("; "))
        }
        RecordOutcome::Stored { .. } | RecordOutcome::Confirmed { revived: true, .. } => {
            format!("will remember: {text} {undo}")
        }
        RecordOutcome::Confirmed { .. } => format!("remembered already: {text}"),
    })
}

/// The user retracted what was just remembered.
pub(super) fn retracted(note: &Note) -> String {
    format!("no longer remembered: {} (recoup memory restore {})", note.text, note.id)
}

/// A retraction names nothing that is kept, or too much.
pub(super) fn nothing_to_retract(words: &str) -> String {
    let words = shorten_text(&readable_line(words), MAX_ERROR_CHARS).into_owned();
    format!("no such rule is kept: {words} (recoup memory list shows all)")
}

/// The end of a rule has come, or may have.
pub(super) fn ended(note: &Note) -> String {
    let (text, id) = (&note.text, &note.id);
    let until = note.until.as_deref().unwrap_or_default();
    let asked = if note.ends.is_some() { "has ended" } else { "has it ended?" };
    format!("{text} ({until}) {asked}: recoup memory retire {id}, or edit {id} to keep it")
}

/// Candidates wait for the user.
pub(super) fn waiting_candidates(count: u64) -> String {
    if count == 1 {
        "1 possible rule waits: recoup memory review".to_owned()
    } else {
        format!("{count} possible rules wait: recoup memory review")
    }
}

/// A retraction could not be written.
pub(super) fn not_retracted(why: &Error) -> String {
    format!("could not retract it: {}; try recoup memory retire", readable_error(why))
}

/// A statement was refused because of a secret, which is not repeated.
pub(super) const SECRET: &str =
    "not remembered: it looks like it contains a password or another secret";

/// A statement is queued until memory can be written.
pub(super) fn remembered_later(text: &str, why: &Error) -> String {
    match why.kind() {
        ErrorKind::Locked => format!("will remember: {text} (when memory is no longer locked)"),
        _ => format!(
            "will remember: {text} (when memory is writable again: {})",
            readable_error(why)
        ),
    }
}

/// A statement could not be recorded.
pub(super) fn not_remembered(text: &str, why: &Error) -> String {
    format!("could not remember: {text} ({})", readable_error(why))
}

/// Short, redacted text of an error.
fn readable_error(error: &Error) -> String {
    shorten_text(&readable_line(&secrets::redact(&error.to_string())), MAX_ERROR_CHARS).into_owned()
}

/// A queued statement was recorded, and superseded notes that were not known when it was announced.
pub(super) fn superseded_others(recorded: &RecordOutcome) -> Option<String> {
    let before: Vec<&str> = recorded.instead_of().iter().map(|note| &*note.text).collect();
    let text = &recorded.note().text;
    (!before.is_empty()).then(|| format!("remembered: {text}, instead of: {}", before.join("; ")))
}

/// A model decided that a recorded sentence is no statement.
pub(super) fn taken_back(note: &Note) -> String {
    format!("not remembered after all: {} (recoup memory restore {})", note.text, note.id)
}

/// A lesson was promoted, or a preference became a candidate. Failures that wait for evidence are
/// not mentioned.
pub(super) fn learned(learned: &LearnedNote) -> Option<String> {
    match learned {
        LearnedNote::Promoted(note) => Some(format!("learned: {}", note.text)),
        LearnedNote::Candidate(note) => (note.kind != NoteKind::Failure).then(|| candidate(note)),
    }
}

/// A candidate was inferred.
pub(super) fn candidate(note: &Note) -> String {
    format!("may be worth knowing: {} (recoup memory promote {})", note.text, note.id)
}

/// Doubtful statements were kept as candidates before a compaction.
pub(super) fn preserved(notes: &[Note]) -> Option<String> {
    match notes {
        [] => None,
        [note] => Some(format!(
            "kept from before the compaction as a candidate: {} (recoup memory promote {})",
            note.text, note.id
        )),
        notes => Some(format!(
            "kept {} statements from before the compaction as candidates \
             (recoup memory list --status candidate)",
            notes.len()
        )),
    }
}

/// A statement could not be stored after all retries.
pub(super) fn unstored(text: &str) -> String {
    format!("could not be stored yet: {text} (recoup doctor --fix tries again)")
}

/// Rules were delivered again after a compaction.
pub(super) fn reloaded(rules: usize) -> String {
    let rules = if rules == 1 { "1 rule is".to_owned() } else { format!("{rules} rules are") };
    format!("{rules} in the compacted context again")
}
