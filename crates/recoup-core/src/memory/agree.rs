//! Suggestions of agents, and the user's agreement to them.
//!
//! An agent that heard the user cannot be told from one that read the same words on a web page. So
//! a suggestion never becomes a rule by itself, however often it is made. Only the user's agreement
//! to a [`Suggestion`] makes it one: to its text, and to the notes that it replaces. A user may
//! also allow a client's agents to record rules: these are active at once in the current project,
//! but never replace a rule of the user or the team.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::keep::{self, Details, Recorded};
use super::rows::{self, Kept};
use super::search::Sort;
use super::statement::said;
use super::store::checked;
use super::topic::{around, by_words, is_opposed, overturns, shares_family};
use super::{Memory, Note, NoteId, NoteScope, Source, Statement, Status, Trust, Wanted};
use super::{privacy, search};
use crate::base::clock::Timestamp;
use crate::base::project::ProjectId;
use crate::error::{Error, ErrorKind, Result};

/// Most notes of agents that are read per scope.
const MOST_NOTED: usize = 100;

/// Evidence that an agent recorded a note for the user; its detail is the client.
const RECORDED: &str = "recorded";

/// Evidence that an agent noted something; it counts once for each session.
const NOTED: &str = "noted";

/// A note that the user may agree to, and the notes that it then replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The suggested note.
    pub note: Note,
    /// Active notes that it would replace.
    pub instead_of: Vec<Note>,
}

/// Outcome of a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggested {
    /// The note as stored, and the notes that it replaces once the user agrees.
    pub suggestion: Suggestion,
    /// True if the note was known before.
    pub known: bool,
}

impl Memory {
    /// Stores an agent's statement, made in the project `at`, as a candidate that waits for the
    /// user. A known note keeps its status: agents cannot change it.
    pub fn suggest(&self, statement: &Statement, at: &NoteScope) -> Result<Suggested> {
        let names_topic = statement.topic.is_some();
        let statement = &Statement { tentative: true, ..checked(statement)? };
        let now = self.now();
        self.change_durably("remembering it", |connection| {
            for scope in [at, &statement.scope] {
                if let Some(silence) = privacy::silence(connection, scope, now)? {
                    return Err(Error::new(ErrorKind::Invalid, silence.to_string()));
                }
            }
            let (kept, known) = match known(connection, statement)? {
                None => (insert(connection, statement, now)?, false),
                Some(kept) => (heard_again(connection, kept, statement, names_topic, now)?, true),
            };
            let instead_of = match kept.note.status {
                Status::Candidate => notes(keep::rivals(connection, &kept)?),
                _ => Vec::new(),
            };
            Ok(Suggested { suggestion: Suggestion { note: kept.note, instead_of }, known })
        })
    }

    /// Activates the suggestion of an agent in `project` whose client may record rules for the
    /// user. The note is marked with the client, and replaces what such agents recorded before on
    /// its topic. None if it stays a candidate: it is for another scope, the user has retired it,
    /// or it may contradict the user or the team.
    pub fn record_for_user(
        &self,
        suggestion: &Suggestion,
        project: &ProjectId,
        client: &str,
    ) -> Result<Option<(Note, Vec<Note>)>> {
        let (id, now) = (&suggestion.note.id, self.now());
        self.change_durably("recording a memory", |connection| {
            let kept = keep::demand(connection, id)?;
            if kept.note.status != Status::Candidate
                || kept.note.trust() != Trust::Inferred
                || kept.note.scope != NoteScope::Project(project.clone())
                || is_retired(connection, &kept.note)?
                || may_contradict_rule(connection, &kept.note)?
            {
                return Ok(None);
            }
            set_source(connection, &kept, Source::AllowedAgent)?;
            add_evidence(connection, &kept, RECORDED, None, client, now)?;
            keep::set_status(connection, id, Status::Active, "allowed", now).map(Some)
        })
    }

    /// The client whose agent recorded a note for the user.
    pub fn recorder(&self, id: &NoteId) -> Result<Option<String>> {
        let found = self.read(|connection| {
            let kept = keep::demand(connection, id)?;
            connection
                .query_row(
                    "SELECT detail FROM evidence WHERE note = ?1 AND what = ?2
                     ORDER BY rowid DESC LIMIT 1",
                    params![kept.row, RECORDED],
                    |row| row.get(0),
                )
                .optional()
                .map_err(keep::keeping)
        })?;
        Ok(found.flatten().flatten())
    }

    /// Notes of agents that apply in a scope or everywhere and wait for the user: those that were
    /// noted in several sessions first, then the latest.
    pub fn noted_by_agents(&self, scope: &NoteScope) -> Result<Vec<Note>> {
        let wanted = format!(
            "scope = ?1 AND status = 'candidate' AND source = ?2
             ORDER BY updated DESC, row DESC LIMIT {MOST_NOTED}"
        );
        let found = self.read(|connection| {
            let mut found = Vec::new();
            for scope in Wanted::active_in(scope).scopes {
                let values = params![scope.to_string(), Source::Agent.as_str()];
                found.extend(rows::many(connection, &wanted, values)?);
            }
            Ok(found)
        })?;
        let mut noted = notes(found.unwrap_or_default());
        noted.sort_by_key(|note| (!note.is_proposed(), Reverse(note.updated)));
        Ok(noted)
    }

    /// Returns a note with the active notes that it would replace.
    pub fn suggestion(&self, id: &NoteId) -> Result<Suggestion> {
        let found = self.read(|connection| {
            let kept = keep::demand(connection, id)?;
            let instead_of = notes(keep::rivals(connection, &kept)?);
            Ok(Suggestion { note: kept.note, instead_of })
        })?;
        found.ok_or_else(|| keep::absent(id))
    }

    /// Activates a suggestion as the user's own statement; returns it and the notes that it
    /// replaced. Fails if the note has changed since it was shown.
    pub fn agree(&self, to: &Suggestion) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("agreeing to a memory", |connection| {
            let kept = keep::demand(connection, &to.note.id)?;
            let instead_of = keep::rivals(connection, &kept)?;
            let as_shown = kept.note.text == to.note.text
                && kept.note.scope == to.note.scope
                && in_words(&notes(instead_of)) == in_words(&to.instead_of);
            if !as_shown {
                let changed = format!("{} has changed meanwhile: look at it again", to.note.id);
                return Err(Error::new(ErrorKind::Invalid, changed));
            }
            // A more trusted source is kept.
            if matches!(kept.note.trust(), Trust::Inferred | Trust::Recorded) {
                set_source(connection, &kept, Source::User)?;
            }
            keep::set_status(connection, &to.note.id, Status::Active, "agreed", now)
        })
    }
}

/// Id and text of each note, independent of their order.
fn in_words(notes: &[Note]) -> BTreeSet<(&str, &str)> {
    notes.iter().map(|it| (it.id.as_str(), it.text.as_str())).collect()
}

fn known(connection: &Connection, statement: &Statement) -> Result<Option<Kept>> {
    let paths = statement.paths.clone().unwrap_or_default();
    rows::one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![statement.scope.to_string(), paths, said(&statement.text)],
    )
}

fn insert(connection: &Connection, statement: &Statement, now: Timestamp) -> Result<Kept> {
    let recorded: Recorded = keep::record(connection, statement, &Details::of(statement, now))?;
    let kept = keep::demand(connection, &recorded.note().id)?;
    if let Some(session) = &statement.session {
        add_evidence(connection, &kept, NOTED, Some(session), "", now)?;
    }
    Ok(kept)
}

/// True if the user retired a note with the same words, in any scope.
fn is_retired(connection: &Connection, note: &Note) -> Result<bool> {
    let (words, meant) = (said(&note.text), by_words(&note.text));
    let is_same = |other: &Kept| {
        said(&other.note.text) == words || (meant.is_some() && by_words(&other.note.text) == meant)
    };
    Ok(rows::many(connection, "status = 'retired'", [])?.iter().any(is_same))
}

/// True if an agent's note may contradict a rule of the user or the team, here or everywhere. Its
/// words are compared too, so that a false topic gets it past no rule; in doubt true.
fn may_contradict_rule(connection: &Connection, note: &Note) -> Result<bool> {
    let topics: Vec<String> = around(&note.text).into_iter().chain(note.topic.clone()).collect();
    let may_contradict = |rule: &Note| {
        rule.topic.as_ref().is_some_and(|topic| topics.contains(topic))
            || overturns(&note.text, &rule.text)
            || is_opposed(&note.text, &rule.text)
            || shares_family(&note.text, &rule.text)
            || shares_words(&note.text, &rule.text)
    };
    for scope in Wanted::active_in(&note.scope).scopes {
        let rules =
            rows::many(connection, "scope = ?1 AND status = 'active'", [scope.to_string()])?;
        let mut rules = notes(rules).into_iter().filter(|rule| rule.trust() > Trust::Recorded);
        if rules.any(|rule| may_contradict(&rule)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if one of two statements has at least half of the telling words of the other.
fn shares_words(one: &str, other: &str) -> bool {
    let telling = |text| -> HashSet<String> {
        let words = search::words(text).into_iter();
        let words = words.filter(|word| !word.is_small && word.sort != Sort::Whole);
        words.map(|word| word.stem.unwrap_or(word.exact)).collect()
    };
    let (one, other) = (telling(one), telling(other));
    let shared = one.intersection(&other).count();
    shared > 0 && 2 * shared >= one.len().min(other.len())
}

/// Adds evidence (once per session) and the given topic to a candidate; any other note stays as it
/// is. It remains a candidate: more evidence only makes it worth asking the user.
fn heard_again(
    connection: &Connection,
    kept: Kept,
    statement: &Statement,
    names_topic: bool,
    now: Timestamp,
) -> Result<Kept> {
    if kept.note.status != Status::Candidate || kept.note.trust() == Trust::Untrusted {
        return Ok(kept);
    }
    let topic = if names_topic { &statement.topic } else { &kept.note.topic };
    let is_evidence = match &statement.session {
        Some(session) => add_evidence(connection, &kept, NOTED, Some(session), "", now)?,
        None => false,
    };
    connection
        .prepare_cached(
            "UPDATE notes SET topic = ?2, updated = ?3, evidence = evidence + ?4 WHERE row = ?1",
        )
        .and_then(|mut update| {
            update.execute(params![kept.row, topic, now.as_millis(), is_evidence])
        })
        .map_err(keep::keeping)?;
    search::put(connection, kept.row, &kept.note.text, topic.as_deref())?;
    keep::demand(connection, &kept.note.id)
}

fn set_source(connection: &Connection, kept: &Kept, source: Source) -> Result<()> {
    connection
        .prepare_cached("UPDATE notes SET source = ?2 WHERE row = ?1")
        .and_then(|mut update| update.execute(params![kept.row, source.as_str()]))
        .map(drop)
        .map_err(keep::keeping)
}

/// Adds evidence that counts once for each session and detail; true if it is new.
fn add_evidence(
    connection: &Connection,
    kept: &Kept,
    what: &str,
    session: Option<&str>,
    detail: &str,
    now: Timestamp,
) -> Result<bool> {
    const SQL: &str = "INSERT OR IGNORE INTO evidence (note, at, session, what, detail)
                       VALUES (?1, ?2, ?3, ?4, ?5)";
    connection
        .prepare_cached(SQL)
        .and_then(|mut insert| {
            insert.execute(params![kept.row, now.as_millis(), session, what, detail])
        })
        .map(|added| added > 0)
        .map_err(keep::keeping)
}

fn notes(kept: Vec<Kept>) -> Vec<Note> {
    kept.into_iter().map(|kept| kept.note).collect()
}
