//! Suggestions of agents, and the user's agreement to them.
//!
//! An agent that heard the user cannot be told from one that read the same words on a web page. So
//! a suggestion never becomes a rule by itself, however often it is made. Only the user's agreement
//! to a [`RuleSuggestion`] makes it one: to its text, and to the notes that it replaces. A user may
//! also allow a client's agents to record rules: these are active at once in the current project,
//! but never replace a rule of the user or the team.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::base::project::ProjectId;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::facets::{
    derive_topic, is_opposed, overturns, shares_family, topic_by_words,
};
use crate::memory::db::recording::{KEEPING, require_note};
use crate::memory::db::{
    CachedSql as _, Memory, RecordTime, StoredNote, index, note_rows, pauses, recording,
};
use crate::memory::lang::forms::split_words;
use crate::memory::lang::tokenizer::WordSort;
use crate::memory::model::{
    Note, NoteId, NoteScope, NoteSource, NoteStatus, NoteTrust, Statement, normalize_for_comparison,
};

/// Most notes of agents that are read.
const MOST_NOTED: usize = 100;

/// Evidence that an agent recorded a note for the user; its detail is the client.
const RECORDED: &str = "recorded";

/// Evidence that an agent noted something; it counts once for each session.
const NOTED: &str = "noted";

/// A note that the user may agree to, and the notes that it then replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleSuggestion {
    /// The suggested note.
    pub note: Note,
    /// Active notes that it would replace.
    pub instead_of: Vec<Note>,
}

/// Outcome of a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestOutcome {
    /// The note as stored, and the notes that it replaces once the user agrees.
    pub suggestion: RuleSuggestion,
    /// True if the note was known before.
    pub known: bool,
}

impl Memory {
    /// Stores an agent's statement, made in the project `at`, as a candidate that waits for the
    /// user. A known note keeps its status: agents cannot change it.
    pub fn suggest(&self, statement: &Statement, at: &NoteScope) -> Result<SuggestOutcome> {
        let names_topic = statement.topic.is_some();
        let statement = &Statement { tentative: true, ..statement.clone() }.validated()?;
        let now = self.now();
        self.change_durably("cannot record the statement", |connection| {
            for scope in [at, &statement.scope] {
                pauses::check_not_paused(connection, scope, now)?;
            }
            let Statement { scope, paths, text, .. } = &**statement;
            let same = note_rows::find_same(connection, scope, paths.as_deref(), text)?;
            let (kept, known) = match same {
                None => {
                    let recorded = recording::record(connection, statement, RecordTime::at(now))?;
                    let kept = require_note(connection, &recorded.note().id)?;
                    if let Some(session) = &statement.session {
                        recording::record_evidence_once(
                            connection,
                            &kept,
                            NOTED,
                            Some(session),
                            "",
                            now,
                        )?;
                    }
                    (kept, false)
                }
                Some(kept) => {
                    (confirm_candidate(connection, kept, statement, names_topic, now)?, true)
                }
            };
            let instead_of = match kept.note.status {
                NoteStatus::Candidate => notes(recording::rivals(connection, &kept)?),
                _ => Vec::new(),
            };
            Ok(SuggestOutcome { suggestion: RuleSuggestion { note: kept.note, instead_of }, known })
        })
    }

    /// Activates the suggestion of an agent in `project` whose client may record rules for the
    /// user. The note is marked with the client, and replaces what such agents recorded before on
    /// its topic. None if it stays a candidate: it is for another scope, the user has retired it,
    /// or it may contradict the user or the team.
    pub fn record_for_user(
        &self,
        suggestion: &RuleSuggestion,
        project: &ProjectId,
        client: &str,
    ) -> Result<Option<(Note, Vec<Note>)>> {
        let (id, now) = (&suggestion.note.id, self.now());
        self.change_durably("cannot record a memory", |connection| {
            let kept = require_note(connection, id)?;
            if kept.note.status != NoteStatus::Candidate
                || kept.note.trust() != NoteTrust::Inferred
                || kept.note.scope != NoteScope::Project(project.clone())
                || is_retired_or_may_contradict(connection, &kept.note)?
            {
                return Ok(None);
            }
            set_source(connection, &kept, NoteSource::AllowedAgent)?;
            recording::record_evidence_once(connection, &kept, RECORDED, None, client, now)?;
            recording::set_status(connection, id, NoteStatus::Active, "allowed", now).map(Some)
        })
    }

    /// The client whose agent recorded a note for the user.
    pub fn recorder(&self, id: &NoteId) -> Result<Option<String>> {
        let found: Option<Option<String>> = self.read(|connection| {
            let kept = require_note(connection, id)?;
            let sql = "SELECT detail FROM evidence WHERE note = ?1 AND what = ?2
                       ORDER BY rowid DESC LIMIT 1";
            connection.find_value(sql, params![kept.row, RECORDED], KEEPING)
        })?;
        Ok(found.flatten())
    }

    /// Notes of agents that apply in a scope or everywhere and wait for the user: those that were
    /// noted in several sessions first, then the latest.
    pub fn noted_by_agents(&self, scope: &NoteScope) -> Result<Vec<Note>> {
        let wanted = format!(
            "scope IN (?1, 'universal') AND status = 'candidate' AND source = ?2
             ORDER BY updated DESC, row DESC LIMIT {MOST_NOTED}"
        );
        let values = params![scope, NoteSource::Agent];
        let mut noted =
            self.read(|connection| note_rows::find_notes(connection, &wanted, values))?;
        noted.sort_by_key(|note| (!note.is_proposed(), Reverse(note.updated)));
        Ok(noted)
    }

    /// Returns a note with the active notes that it would replace.
    pub fn suggestion(&self, id: &NoteId) -> Result<RuleSuggestion> {
        let found = self.read(|connection| {
            let kept = require_note(connection, id)?;
            let instead_of = notes(recording::rivals(connection, &kept)?);
            Ok(Some(RuleSuggestion { note: kept.note, instead_of }))
        })?;
        found.ok_or_else(|| recording::no_such_note_error(id))
    }

    /// Activates a suggestion as the user's own statement; returns it and the notes that it
    /// replaced. Fails if the note has changed since it was shown.
    pub fn agree(&self, to: &RuleSuggestion) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("cannot accept the suggestion", |connection| {
            let kept = require_note(connection, &to.note.id)?;
            let instead_of = recording::rivals(connection, &kept)?;
            let as_shown = kept.note.text == to.note.text
                && kept.note.scope == to.note.scope
                && shown_texts(&notes(instead_of)) == shown_texts(&to.instead_of);
            if !as_shown {
                let changed =
                    format!("{} has changed since it was shown: review it again", to.note.id);
                return Err(Error::new(ErrorKind::Invalid, changed));
            }
            // A more trusted source is kept.
            if matches!(kept.note.trust(), NoteTrust::Inferred | NoteTrust::Recorded) {
                set_source(connection, &kept, NoteSource::User)?;
            }
            recording::set_status(connection, &to.note.id, NoteStatus::Active, "agreed", now)
        })
    }
}

/// Id and text of each note, independent of their order.
fn shown_texts(notes: &[Note]) -> BTreeSet<(&str, &str)> {
    notes.iter().map(|it| (it.id.as_str(), it.text.as_str())).collect()
}

/// True if the user retired a note with the same words, in any scope, or if an agent's note may
/// contradict a rule of the user or the team, here or everywhere. Its words are compared too, so that
/// a false topic gets it past no rule; in doubt true.
fn is_retired_or_may_contradict(connection: &Connection, note: &Note) -> Result<bool> {
    let (words, meant) = (normalize_for_comparison(&note.text), topic_by_words(&note.text));
    let is_same = |other: &StoredNote| {
        normalize_for_comparison(&other.note.text) == words
            || (meant.is_some() && topic_by_words(&other.note.text) == meant)
    };
    if note_rows::find_many(connection, "status = 'retired'", [])?.iter().any(is_same) {
        return Ok(true);
    }
    // At least half of the telling words of one of two statements are in the other.
    let telling = |text: &str| -> HashSet<String> {
        let words = split_words(text).into_iter();
        let words = words.filter(|word| !word.is_small && word.sort != WordSort::Whole);
        words.map(|word| word.stem.unwrap_or(word.exact)).collect()
    };
    let own = telling(&note.text);
    let shares_words = |rule: &str| {
        let others = telling(rule);
        let shared = own.intersection(&others).count();
        shared > 0 && 2 * shared >= own.len().min(others.len())
    };
    let derived = derive_topic(&note.text);
    let may_contradict = |rule: &Note| {
        (rule.topic.is_some() && [&note.topic, &derived].contains(&&rule.topic))
            || overturns(&note.text, &rule.text)
            || is_opposed(&note.text, &rule.text)
            || shares_family(&note.text, &rule.text)
            || shares_words(&rule.text)
    };
    let here = "scope IN (?1, 'universal') AND status = 'active'";
    let rules = note_rows::find_notes(connection, here, [&note.scope])?;
    let mut rules = rules.iter().filter(|rule| rule.trust() > NoteTrust::Recorded);
    Ok(rules.any(may_contradict))
}

/// Adds evidence (once per session) and the given topic to a candidate; any other note stays as it
/// is. It remains a candidate: more evidence only makes it worth asking the user.
fn confirm_candidate(
    connection: &Connection,
    kept: StoredNote,
    statement: &Statement,
    names_topic: bool,
    now: Timestamp,
) -> Result<StoredNote> {
    if kept.note.status != NoteStatus::Candidate || kept.note.trust() == NoteTrust::Untrusted {
        return Ok(kept);
    }
    let topic = if names_topic { &statement.topic } else { &kept.note.topic };
    let is_evidence = match &statement.session {
        Some(session) => {
            recording::record_evidence_once(connection, &kept, NOTED, Some(session), "", now)?
        }
        None => false,
    };
    let sql = "UPDATE notes SET topic = ?2, updated = ?3, evidence = evidence + ?4 WHERE row = ?1";
    connection.write(sql, params![kept.row, topic, now, is_evidence], KEEPING)?;
    index::index_note(connection, kept.row, &kept.note.text, topic.as_deref())?;
    require_note(connection, &kept.note.id)
}

fn set_source(connection: &Connection, kept: &StoredNote, source: NoteSource) -> Result<()> {
    let sql = "UPDATE notes SET source = ?2 WHERE row = ?1";
    connection.write(sql, params![kept.row, source], KEEPING).map(drop)
}

fn notes(kept: Vec<StoredNote>) -> Vec<Note> {
    kept.into_iter().map(|kept| kept.note).collect()
}
