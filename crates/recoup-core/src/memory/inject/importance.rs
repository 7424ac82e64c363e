//! Which rule comes first.

use std::cmp::{Ordering, Reverse};

use crate::memory::{Note, NoteKind, NoteScope};

/// The more important first: trust, what is used at all, corrections, the project
/// before everywhere, evidence, what was said later.
///
/// Evidence counts in powers of two, and the day that counts is the first one: a rule
/// that is confirmed or cited would otherwise move with each time, and the text that an
/// agent is given would change although no rule has.
pub fn by_importance(a: &Note, b: &Note) -> Ordering {
    let rank = |note: &Note| {
        (
            Reverse(note.trust()),
            note.idle,
            note.kind != NoteKind::Correction,
            note.scope == NoteScope::Universal,
            Reverse(note.evidence.max(1).ilog2().min(MOST_EVIDENCE)),
            Reverse(note.created),
        )
    };
    rank(a).cmp(&rank(b)).then_with(|| (&a.text, &a.paths, &a.id).cmp(&(&b.text, &b.paths, &b.id)))
}

/// More than sixteen times is often, and no more.
const MOST_EVIDENCE: u32 = 4;
