//! What the user has said in a project over the years: notes from the corpus that search is
//! judged by, as many as are wanted.

use std::path::Path;
use std::sync::Arc;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::project::Project;
use recoup_core::memory::db::facets::derive_topic;
use recoup_core::memory::model::estimate;
use recoup_core::memory::{
    Memory, Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, WaitLimits,
};

use crate::retrieval;
use crate::scene::NoFaults;

/// Puts them into the memory of `home`.
pub(crate) fn remember(home: &Path, project: &Path, count: usize) {
    let corpus = retrieval::notes();
    let text = |n: usize| format!("{} (service{n})", corpus[n % corpus.len()].text);
    remember_texts(home, project, (0..count).map(text));
}

/// Puts notes with these texts into the memory of `home`.
pub(crate) fn remember_texts(home: &Path, project: &Path, texts: impl Iterator<Item = String>) {
    let scope = NoteScope::Project(Project::find(project).unwrap().id().clone());
    let now = SystemClock.now();
    let note = |text: String| Note {
        id: NoteId::fresh(),
        kind: NoteKind::Preference,
        quote: None,
        source: NoteSource::User,
        scope: scope.clone(),
        paths: None,
        topic: derive_topic(&text),
        until: None,
        ends: None,
        status: NoteStatus::Active,
        evidence: 1,
        tokens: estimate(&text),
        created: now,
        updated: now,
        superseded_by: None,
        idle: false,
        text,
    };
    let notes: Vec<Note> = texts.map(note).collect();
    let path = home.join("memory.db");
    let memory = Memory::at(path, WaitLimits::default(), Arc::new(SystemClock), Arc::new(NoFaults));
    memory.import(&notes).unwrap();
}
