//! Taking back what was remembered. "Forget that", "undo", or an opt-out such as "don't remember
//! that", as a prompt of its own, retires what the last notice named. "Forget what I said about tabs"
//! retires what it names. Neither is ever itself a memory.

use rusqlite::{OptionalExtension as _, params};

use crate::error::Result;
use crate::memory::db::facets::{is_same_word, named_things, telling_words};
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::db::store::NoteFilter;
use crate::memory::db::transaction::EventTransaction;
use crate::memory::db::{note_rows, recording};
use crate::memory::guard::opt_out;
use crate::memory::lang::phrase::starts_with_phrase;
use crate::memory::lang::token::tokenize_text;
use crate::memory::model::note::{Note, NoteId, NoteStatus};

const RETRACTING: &str = "cannot retract a memory";

/// How the user takes something back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetractionKind {
    /// Said about memory: "forget that".
    Forget,
    /// Said about memory or about the agent's work: "undo".
    Undo,
}

/// Retraction phrases, written as in `refuse::phrase`, in plain letters. Opt-outs are in `opt_out`.
const FORGET: &[&str] = &[
    "please? forget about? that|this|it rule|memory? again? please? $",
    "please? forget the last? rule|memory please? $",
    "please? forget what i just? said $",
    "please? take that|this|it back $",
    "please? stop remembering|storing|saving|keeping that|this|it please? $",
    "thats|that is? not|isnt a rule $",
    // German
    "bitte? vergiss das|dies|es bitte? wieder? $",
    "bitte? vergiss die|diese regel bitte? wieder? $",
    "nimm das bitte? zuruck $",
    // French
    "oublie|oubliez ca|cela|ceci $",
    // Spanish
    "por? favor? olvida eso|esto|lo $",
    "por? favor? olvidalo $",
    // Portuguese
    "esquece|esqueca isso|isto $",
    // Italian
    "dimentica questo|quello|cio $",
    "dimenticalo|scordalo $",
];
const UNDO: &[&str] = &[
    "please? undo that|this|it? please? $",
    "bitte? mach|mache das|dies|es bitte? wieder? ruckgangig bitte? $",
    "das? bitte? ruckgangig machen? bitte? $",
    "annule|annulez $",
    "deshaz $",
    "desfaz $",
    "annulla $",
];

/// Retraction phrases in scripts without spaces.
const FORGET_RUNS: &[&str] =
    &["忘掉这个", "忘了这个", "忘记这个", "それは忘れて", "それは忘れてください"];
const UNDO_RUNS: &[&str] = &["撤销", "撤銷", "取り消し", "取り消して"];

/// Returns how a prompt takes back what was remembered; none if it says anything else.
pub fn parse_retraction(prompt: &str) -> Option<RetractionKind> {
    // A longer prompt says more than that.
    if prompt.len() > 120 {
        return None;
    }
    let all: Vec<String> = tokenize_text(prompt).into_iter().map(|it| it.folded).collect();
    let words: Vec<&str> = all.iter().map(String::as_str).collect();
    let whole = words.concat();
    let says = |phrases: &[&str]| {
        opt_out::without_leads(&words)
            .any(|rest| phrases.iter().any(|phrase| starts_with_phrase(phrase, rest)))
    };
    if says(FORGET) || FORGET_RUNS.contains(&whole.as_str()) || opt_out::is_bare_opt_out(&words) {
        Some(RetractionKind::Forget)
    } else if says(UNDO) || UNDO_RUNS.contains(&whole.as_str()) {
        Some(RetractionKind::Undo)
    } else {
        None
    }
}

/// Least share of the words of a retraction that are in any note, and of those that the note that is
/// meant has.
const KNOWN_SHARE: f32 = 0.3;
const NAMED_SHARE: f32 = 0.6;
/// Most notes that one retraction retires, and most that are compared with it.
const MOST_RETIRED: usize = 3;
const MOST_COMPARED: usize = 500;

/// Result of taking back what words name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetractionOutcome {
    /// Notes that are retired.
    pub retired: Vec<Note>,
    /// Words that name no note that is kept.
    pub unknown: Vec<String>,
}

impl EventTransaction<'_> {
    /// Retires the active notes of this project, and universal ones, that the words name. Only clear
    /// matches: those that have most of the words, and no more than a few.
    pub fn retract_named(&self, naming: &[String]) -> Result<RetractionOutcome> {
        let mut outcome = RetractionOutcome::default();
        if naming.is_empty() {
            return Ok(outcome);
        }
        let mut notes = Vec::new();
        for scope in NoteFilter::active_in(&self.occasion.scope).scopes {
            notes.extend(note_rows::find_many(
                self.connection,
                &format!(
                    "scope = ?1 AND status = 'active' AND source <> 'team'
                     ORDER BY updated DESC LIMIT {MOST_COMPARED}"
                ),
                [scope.to_string()],
            )?);
        }
        let notes = notes.into_iter().map(|kept| (telling_words(&kept.note.text), kept.note));
        let notes: Vec<(Vec<String>, Note)> = notes.collect();
        for words in naming {
            let meant = named_notes(words, &notes);
            if meant.is_empty() {
                outcome.unknown.push(words.clone());
            }
            for note in meant {
                let (id, status) = (&note.id, NoteStatus::Retired);
                let retired =
                    recording::set_status(self.connection, id, status, "taken back", self.now)?;
                outcome.retired.push(retired.0);
            }
        }
        Ok(outcome)
    }

    /// Retires what was last remembered in this session, if that was few enough prompts ago, and
    /// restores what it had replaced. The prompt that says so has been recorded already. Returns
    /// the retired notes.
    pub fn retract(&self, how: RetractionKind) -> Result<Vec<Note>> {
        const FIRST_PROMPT: &str = "SELECT at FROM events WHERE session = ?1 AND what = 'prompted'
                                    ORDER BY row DESC LIMIT 1 OFFSET ?2";
        const LATEST: &str = "WITH said AS (
                SELECT notes.id AS id, evidence.at AS at FROM evidence
                JOIN notes ON notes.row = evidence.note
                WHERE evidence.session = ?1 AND evidence.what = 'said' AND evidence.at >= ?2
                AND notes.status = 'active')
            SELECT DISTINCT id, at FROM said WHERE at = (SELECT max(at) FROM said) ORDER BY id";
        // How many prompts back it reaches. "Undo" is also said about code, so it is about memory
        // only right behind the notice.
        let reach = match how {
            RetractionKind::Forget => 3,
            RetractionKind::Undo => 1,
        };
        let session = &self.occasion.session;
        let since: Option<i64> = self
            .connection
            .query_row(FIRST_PROMPT, params![session, reach], |row| row.get(0))
            .optional()
            .doing(RETRACTING)?;
        let latest: Vec<(String, i64)> = self
            .connection
            .list_cached(LATEST, params![session, since.unwrap_or(0)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .doing(RETRACTING)?;
        let retire = |(id, at): (String, i64)| self.retire_and_restore(&NoteId::parse(&id)?, at);
        latest.into_iter().map(retire).collect()
    }

    /// Retires a note, and reactivates those that it has replaced since then.
    pub(crate) fn retire_and_restore(&self, id: &NoteId, since: i64) -> Result<Note> {
        let (note, _) = recording::set_status(
            self.connection,
            id,
            NoteStatus::Retired,
            "taken back",
            self.now,
        )?;
        let gave_way = note_rows::find_many(
            self.connection,
            "superseded_by = ?1 AND status = 'superseded' AND updated >= ?2",
            params![id.as_str(), since],
        )?;
        for other in gave_way {
            let id = &other.note.id;
            recording::set_status(self.connection, id, NoteStatus::Active, "restored", self.now)?;
        }
        Ok(note)
    }
}

/// Notes that the words of a retraction name, each given with its telling words; none if that is not
/// clear.
fn named_notes<'n>(words: &str, notes: &'n [(Vec<String>, Note)]) -> Vec<&'n Note> {
    let mut meant: Vec<&Note> = Vec::new();
    for thing in named_things(words) {
        for note in notes_about(&thing, notes) {
            if !meant.contains(&note) {
                meant.push(note);
            }
        }
    }
    if meant.len() > MOST_RETIRED { Vec::new() } else { meant }
}

/// Notes that have most of these words. A word counts the less the more notes have it.
#[expect(clippy::cast_precision_loss, reason = "there are few words and notes")]
fn notes_about<'n>(words: &[String], notes: &'n [(Vec<String>, Note)]) -> Vec<&'n Note> {
    let has = |note: &[String], word: &String| note.iter().any(|it| is_same_word(it, word));
    let count = |word: &String| notes.iter().filter(|(note, _)| has(note, word)).count();
    let counts: Vec<(&String, usize)> = words.iter().map(|word| (word, count(word))).collect();
    let known: Vec<(&String, f32)> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| (*word, 1.0 / *count as f32))
        .collect();
    // A file that no note names: work on that file is meant, not a rule.
    let is_file = |word: &str| word.contains(['/', '.']) && word.contains(char::is_alphabetic);
    let is_work = counts.iter().any(|(word, count)| *count == 0 && is_file(word));
    if is_work || (known.len() as f32) < KNOWN_SHARE * words.len() as f32 {
        return Vec::new();
    }
    let weight = |named: &dyn Fn(&String) -> bool| -> f32 {
        known.iter().filter(|(word, _)| named(word)).map(|(_, weight)| weight).sum()
    };
    let all = weight(&|_| true);
    let score = |note: &[String]| weight(&|word| has(note, word)) / all;
    let best = notes.iter().map(|(note, _)| score(note)).fold(NAMED_SHARE, f32::max);
    let meant = notes.iter().filter(|(note, _)| score(note) >= best);
    meant.map(|(_, note)| note).collect()
}
