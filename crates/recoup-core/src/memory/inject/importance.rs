//! Order of rules by importance.

use std::cmp::{Ordering, Reverse};

use crate::memory::{Note, NoteKind, NoteScope};

/// Compares by importance, the most important first: trust, notes that are used at all,
/// corrections, the project before everywhere, evidence, what was said later.
///
/// Evidence counts in powers of two, and of the times the first one: otherwise a rule would move
/// whenever it is confirmed or cited, and the text for agents would change although no rule has.
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

/// Evidence beyond 2⁴ makes no difference.
const MOST_EVIDENCE: u32 = 4;
