//! Memory: what is kept, what gives way, and what is forgotten.

mod capture;
mod checked_calls;
mod checkpoint;
mod damage;
mod dedup;
mod deliveries;
mod forget;
mod inject;
mod judge;
mod learn;
mod lessons;
mod listing;
mod migrate;
mod moved_projects;
mod privacy;
mod private_text;
mod refuse;
mod retraction;
mod rule_checks;
mod rule_usage;
mod rules;
mod search;
mod snapshot;
mod suggestions;
mod supersession;
mod tagged_prompts;
mod teaching;
mod team_rules;
mod topic;
mod transfer;
mod turn;
mod varying_commands;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::base::clock::ManualClock;
use recoup_core::base::project::ProjectId;
use recoup_core::memory::db::facets::derive_topic;
use recoup_core::memory::{
    Memory, Note, NoteFilter, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, RecordOutcome,
    Statement, WaitLimits,
};
use tempfile::TempDir;

use crate::support::{Faults, START};

/// A memory in a directory of its own.
struct Scene {
    dir: TempDir,
    clock: ManualClock,
    faults: Arc<Faults>,
}

impl Scene {
    fn new() -> Self {
        let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::new());
        Self { dir, clock: ManualClock::at(START), faults }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("memory.db")
    }

    fn memory(&self) -> Memory {
        let (clock, faults) = (Arc::new(self.clock.clone()), Arc::clone(&self.faults));
        Memory::at(self.path(), WaitLimits::default(), clock, faults)
    }

    fn pass(&self) {
        self.clock.advance(Duration::from_millis(10));
    }

    /// The user says it, on that topic.
    fn say(&self, text: &str, topic: Option<&str>) -> RecordOutcome {
        self.pass();
        self.memory().record(&stated(text, topic)).unwrap()
    }

    /// The texts that count.
    fn active(&self) -> Vec<String> {
        let wanted = NoteFilter { statuses: vec![NoteStatus::Active], ..NoteFilter::default() };
        self.memory().notes(&wanted).unwrap().into_iter().map(|note| note.text).collect()
    }

    fn find(&self, text: &str) -> Note {
        let all = self.memory().notes(&NoteFilter::default()).unwrap();
        all.into_iter().find(|note| note.text == text).unwrap()
    }
}

fn stated(text: &str, topic: Option<&str>) -> Statement {
    let statement =
        Statement::new(NoteKind::Preference, text, NoteSource::User, NoteScope::Universal);
    Statement { topic: topic.map(str::to_owned), ..statement }
}

fn project(letter: char) -> NoteScope {
    NoteScope::Project(ProjectId::parse(&letter.to_string().repeat(32)).unwrap())
}

/// A note that nobody has stored.
fn active(text: &str) -> Note {
    Note {
        id: NoteId::fresh(),
        kind: NoteKind::Preference,
        text: text.to_owned(),
        quote: None,
        source: NoteSource::Manual,
        scope: project('a'),
        paths: None,
        topic: derive_topic(text),
        until: None,
        ends: None,
        status: NoteStatus::Active,
        evidence: 1,
        tokens: 1,
        created: START,
        updated: START,
        superseded_by: None,
        idle: false,
    }
}
