//! What goes into a context.

mod block;
mod digest;
mod estimate;
mod select;
mod stale;

use std::collections::HashSet;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext};
use recoup_core::memory::{Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus};

/// A rule that the user said, about everything.
fn note(text: &str) -> Note {
    Note {
        id: NoteId::fresh(),
        kind: NoteKind::Preference,
        text: text.to_owned(),
        quote: None,
        source: NoteSource::User,
        scope: NoteScope::Universal,
        paths: None,
        topic: None,
        until: None,
        ends: None,
        status: NoteStatus::Active,
        evidence: 1,
        tokens: 0,
        created: Timestamp::from_millis(1_000),
        updated: Timestamp::from_millis(1_000),
        superseded_by: None,
        idle: false,
    }
}

fn context(given: &HashSet<NoteId>) -> InjectionContext<'_> {
    InjectionContext { project: None, given, budget: BlockBudget::default() }
}

fn project(id: &str) -> ProjectId {
    ProjectId::parse(id).unwrap()
}

fn never_stale(_: &Note) -> Option<String> {
    None
}
