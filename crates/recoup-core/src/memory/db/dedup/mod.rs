//! Duplicate notes: with the same meaning in one place, or word for word for files of which one
//! glob contains the other. Precision first: in doubt both notes stay, because a rule that was
//! merged by mistake is a rule that was lost.

mod meaning;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use rusqlite::params;

use crate::error::Result;
use crate::memory::db::facets::{Facet, derive_topic, is_opposed, overturns, restates};
use crate::memory::db::recording::{KEEPING, require_note};
use crate::memory::db::{CachedSql as _, Memory, note_rows, recording};
use crate::memory::model::{Note, NoteId, NoteScope, NoteStatus, normalize_for_comparison};

pub(crate) use meaning::normal_form as meaning_of;

/// A group of notes that say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateGroup {
    /// The note that stays: the newest wording of the most trusted, or the one for more files.
    pub stays: Note,
    /// Notes that it replaces.
    pub others: Vec<Note>,
}

/// True if two statements say the same: in other words, or on one topic with the same values.
pub fn says_the_same(one: &str, other: &str) -> bool {
    let is_equal = || normalize_for_comparison(one) == normalize_for_comparison(other);
    let means_the_same = || {
        let meaning = meaning::normal_form(one);
        meaning.is_some() && meaning == meaning::normal_form(other) && !is_opposed(one, other)
    };
    let is_restated = || {
        let topic = derive_topic(one);
        let has_same_names = || Facet::of(one).has_same_names(&Facet::of(other));
        topic.is_some() && topic == derive_topic(other) && restates(one, other) && has_same_names()
    };
    is_equal() || means_the_same() || is_restated()
}

/// Finds duplicates among the active ones of `notes`.
pub fn duplicates(notes: &[Note]) -> Vec<DuplicateGroup> {
    let mut active: Vec<&Note> =
        notes.iter().filter(|it| it.status == NoteStatus::Active).collect();
    active.sort_by(|a, b| {
        let rank = |note: &Note| (Reverse(note.trust()), Reverse(note.updated));
        rank(a).cmp(&rank(b)).then_with(|| a.id.cmp(&b.id))
    });
    let mut found = same_in_meaning(&active);
    let gone = found.iter().flat_map(|it| &it.others).map(|note| note.id.clone());
    let gone: HashSet<NoteId> = gone.collect();
    let left: Vec<&Note> = active.into_iter().filter(|note| !gone.contains(&note.id)).collect();
    repeated_for_fewer_files(&left, &mut found);
    found.sort_by(|a, b| a.stays.text.cmp(&b.stays.text).then_with(|| a.stays.id.cmp(&b.stays.id)));
    found
}

/// Finds notes with the same meaning in one place. `notes` are sorted by trust, then the newest
/// first.
fn same_in_meaning(notes: &[&Note]) -> Vec<DuplicateGroup> {
    let mut by_meaning: HashMap<_, Vec<&Note>> = HashMap::new();
    for note in notes {
        if let Some(meaning) = meaning::normal_form(&note.text) {
            by_meaning.entry((&note.scope, &note.paths, meaning)).or_default().push(note);
        }
    }
    let mut found = Vec::new();
    for same in by_meaning.into_values().filter(|same| same.len() > 1) {
        // Derived only for the few that it may keep apart.
        let mut by_topic: HashMap<_, Vec<&Note>> = HashMap::new();
        for note in same {
            let derived = derive_topic(&note.text);
            let own_topic = note.topic.as_ref().filter(|it| Some(*it) != derived.as_ref());
            by_topic.entry(own_topic).or_default().push(note);
        }
        for group in by_topic.into_values() {
            let (stays, others) = group.split_first().expect("a group has a note");
            let others = others.iter().filter(|it| !is_opposed(&stays.text, &it.text));
            let others: Vec<Note> = others.map(|note| (*note).clone()).collect();
            if !others.is_empty() {
                found.push(DuplicateGroup { stays: (*stays).clone(), others });
            }
        }
    }
    found
}

/// Finds notes whose words also hold for a wider glob.
fn repeated_for_fewer_files(notes: &[&Note], found: &mut Vec<DuplicateGroup>) {
    let mut by_words: HashMap<_, Vec<&Note>> = HashMap::new();
    for note in notes {
        by_words.entry((&note.scope, normalize_for_comparison(&note.text))).or_default().push(note);
    }
    let repeated =
        by_words.values().filter(|group| group.iter().any(|it| count_narrower(it, group) > 0));
    for group in repeated {
        for narrow in group {
            let wide = group.iter().filter(|wide| is_covered(narrow, wide, notes));
            // The widest of them: it is not covered itself.
            let wide = wide.max_by_key(|wide| count_narrower(wide, group));
            if let Some(wide) = wide {
                // A note that is replaced hands on the notes that it replaces itself.
                let at = found.iter().position(|it| it.stays.id == narrow.id);
                let mut others = at.map_or_else(Vec::new, |at| found.remove(at).others);
                others.insert(0, (*narrow).clone());
                match found.iter_mut().find(|it| it.stays.id == wide.id) {
                    Some(known) => known.others.extend(others),
                    None => found.push(DuplicateGroup { stays: (*wide).clone(), others }),
                }
            }
        }
    }
}

fn count_narrower(wide: &Note, group: &[&Note]) -> usize {
    group.iter().filter(|it| is_wider(wide.paths.as_deref(), it.paths.as_deref())).count()
}

/// True if `narrow` adds nothing to `wide`, and is no exception to another one of `notes` that holds
/// for some of its files.
fn is_covered(narrow: &Note, wide: &Note, notes: &[&Note]) -> bool {
    let between = |other: &&Note| {
        // Some file may match both. In doubt true.
        let may_meet = match (&other.paths, &narrow.paths) {
            (Some(one), Some(other)) => {
                let (one, other) = (literal(one), literal(other));
                one.starts_with(other) || other.starts_with(one)
            }
            _ => true,
        };
        let is_same_topic = || narrow.topic.is_some() && other.topic == narrow.topic;
        may_meet
            && other.scope == narrow.scope
            && other.paths != wide.paths
            && !is_wider(other.paths.as_deref(), wide.paths.as_deref())
            && normalize_for_comparison(&other.text) != normalize_for_comparison(&narrow.text)
            && (is_same_topic()
                || overturns(&other.text, &narrow.text)
                || overturns(&narrow.text, &other.text))
    };
    is_wider(wide.paths.as_deref(), narrow.paths.as_deref())
        && wide.trust() >= narrow.trust()
        && wide.topic == narrow.topic
        && !notes.iter().any(between)
}

impl Memory {
    /// Merges notes that say the same in these scopes, or in all; returns the merged groups.
    pub fn merge_duplicates(&self, scopes: &[NoteScope]) -> Result<Vec<DuplicateGroup>> {
        let now = self.now();
        let is_meant = |note: &Note| scopes.is_empty() || scopes.contains(&note.scope);
        self.change_existing("cannot merge memories", |connection| {
            let mut notes = note_rows::find_notes(connection, "status = 'active'", [])?;
            notes.retain(is_meant);
            let mut found = duplicates(&notes);
            for group in &mut found {
                let others = group.others.iter().map(|it| require_note(connection, &it.id));
                let others = others.collect::<Result<Vec<_>>>()?;
                recording::supersede_all(connection, others, &group.stays.id, now)?;
                let stays = require_note(connection, &group.stays.id)?;
                let more: u64 = group.others.iter().map(|note| note.evidence).sum();
                let sql = "UPDATE notes SET evidence = evidence + ?2 WHERE row = ?1";
                connection.write(sql, params![stays.row, more.cast_signed()], KEEPING)?;
                recording::record_evidence(connection, &stays, "merged", None, now)?;
                group.stays = require_note(connection, &stays.note.id)?.note;
            }
            Ok(found)
        })
    }
}

/// Characters that make a part of a path a pattern.
const GLOB_SIGNS: &[char] = &['*', '?', '[', ']', '{', '}', '\\', '!'];

/// True if `wide` covers all files of `narrow`, and others too. None is all files.
fn is_wider<'a>(wide: Option<&'a str>, narrow: Option<&str>) -> bool {
    let Some(narrow) = narrow else { return false };
    // Directory of which a glob covers everything: `src` for `src/**`.
    let root_of = |glob: &'a str| {
        let root = if glob == "**" { "" } else { glob.strip_suffix("/**")? };
        (!root.contains(GLOB_SIGNS)).then_some(root)
    };
    match wide.map(root_of) {
        None => true,
        Some(None) => false,
        Some(Some(root)) => {
            let inside = match narrow.strip_prefix(root) {
                Some(rest) if !root.is_empty() => rest.strip_prefix('/'),
                rest => rest,
            };
            // `..` would lead out of it.
            wide != Some(narrow)
                && inside.is_some_and(|rest| !rest.is_empty())
                && !narrow.split('/').any(|part| part == "..")
        }
    }
}

/// Part of a glob before the first pattern.
fn literal(glob: &str) -> &str {
    glob.split(GLOB_SIGNS).next().unwrap_or_default()
}
