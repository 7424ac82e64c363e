//! Additions to a file of team rules: others' rules stay, unless they were retired here.

use std::collections::HashSet;

use super::read::MOST_RULES;
use super::rule::Mark;
use super::{Rule, TeamRules, parse, render};
use crate::memory::dedup::meaning_of;
use crate::memory::topic::is_opposed;
use crate::memory::{Note, NoteId, Status, Trust, paths};

/// A note that is not written, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Id of the note.
    pub id: NoteId,
    /// Text of the note.
    pub text: String,
    /// Reason, and what to do about it.
    pub why: String,
}

/// Result of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// Rules that the file has then.
    pub team: TeamRules,
    /// Notes that stay out of it.
    pub left_out: Vec<LeftOut>,
}

/// Notes that somebody adds to a file.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    /// All notes of the project, in any status.
    pub notes: &'a [Note],
    /// Rules of the file that the user has accepted: those that were retired since are removed.
    pub accepted: &'a [Rule],
    /// Notes to add, each in place of rules that contradict it; if `None`, all that count.
    pub chosen: Option<&'a [NoteId]>,
}

/// Merges notes into `file`.
pub fn merge(file: &TeamRules, share: Share<'_>) -> Merged {
    let Share { notes, accepted, chosen } = share;
    let retired = notes.iter().filter(|note| note.status == Status::Retired);
    let retired: HashSet<_> = retired.map(Mark::of_note).collect();
    let known: HashSet<_> = accepted.iter().map(|rule| rule.mark().place()).collect();
    let mut board = Board::default();
    for rule in &file.rules {
        let entry = Entry::new(rule.clone());
        let place = entry.mark.place();
        if !(known.contains(&place) && retired.contains(&place)) {
            board.entries.push(entry);
        }
    }
    for note in notes.iter().filter(|note| is_shared(note)) {
        if chosen.is_none_or(|ids| ids.contains(&note.id)) {
            board.add(note, chosen.is_some());
        }
    }
    let rules = board.entries.into_iter().map(|entry| entry.rule).collect();
    let team = TeamRules { remarks: file.remarks.clone(), rules };
    Merged { team, left_out: board.left_out }
}

/// True if a note is a rule that its owner stands for.
pub fn is_shared(note: &Note) -> bool {
    note.status == Status::Active && note.trust() >= Trust::Agreed
}

/// A rule, with the keys that it is compared by.
struct Entry {
    rule: Rule,
    mark: Mark,
    meaning: Option<String>,
}

impl Entry {
    fn new(rule: Rule) -> Self {
        let (mark, meaning) = (rule.mark(), meaning_of(&rule.text));
        Self { rule, mark, meaning }
    }

    fn is_same(&self, other: &Self) -> bool {
        let means_same = || {
            self.rule.paths == other.rule.paths
                && self.meaning.is_some()
                && self.meaning == other.meaning
                && !is_opposed(&self.rule.text, &other.rule.text)
        };
        self.mark.is_same(&other.mark) || means_same()
    }
}

/// State of a merge: what the file will have.
#[derive(Default)]
struct Board {
    entries: Vec<Entry>,
    left_out: Vec<LeftOut>,
    /// Entries of a full file, by [`RuleIdentity::lookup_key`]: nothing else is compared with them,
    /// because a project may have very many notes.
    full: Option<HashSet<(String, String)>>,
}

impl Board {
    fn add(&mut self, note: &Note, is_chosen: bool) {
        if !is_chosen && self.entries.len() >= MOST_RULES {
            let entries = &self.entries;
            let full = self
                .full
                .get_or_insert_with(|| entries.iter().map(|entry| entry.mark.place()).collect());
            if !full.contains(&Mark::of_note(note)) {
                self.leave_out(note, format!("the file has {MOST_RULES} rules already"));
            }
            return;
        }
        let entry = Entry::new(Rule::of(note));
        if self.entries.iter().any(|other| other.rule == entry.rule) {
            return;
        }
        if let Some(why) = unwritable(&entry.rule) {
            return self.leave_out(note, why);
        }
        if let Some(same) = self.entries.iter_mut().find(|other| other.is_same(&entry)) {
            // Wording and section are up to the first author.
            if is_chosen {
                *same = entry;
            }
            return;
        }
        let rival = self.entries.iter().find(|other| other.mark.rivals(&entry.mark));
        match rival {
            Some(rival) if !is_chosen => {
                let why = format!(
                    "the file says otherwise: {}; to put yours in its place: recoup memory export --team {}",
                    rival.rule.text, note.id
                );
                self.leave_out(note, why);
            }
            _ => {
                self.entries.retain(|other| !other.mark.rivals(&entry.mark));
                if self.entries.len() >= MOST_RULES {
                    return self
                        .leave_out(note, format!("the file has {MOST_RULES} rules already"));
                }
                self.entries.push(entry);
            }
        }
    }

    fn leave_out(&mut self, note: &Note, why: String) {
        self.left_out.push(LeftOut { id: note.id.clone(), text: note.text.clone(), why });
    }
}

/// Returns the reason why a rule could not be read back from a file, if there is one.
fn unwritable(rule: &Rule) -> Option<String> {
    if let Some(glob) = &rule.paths {
        if glob.contains(['`', '\n', '\r']) {
            return Some("its glob has a backtick or a line end in it".to_owned());
        }
        if let Err(why) = paths::check(glob) {
            return Some(why);
        }
    }
    let alone = TeamRules { remarks: Vec::new(), rules: vec![rule.clone()] };
    match parse(render(&alone).as_bytes()) {
        Ok(read) if read.rules == alone.rules => None,
        Ok(_) => Some(
            "it would read otherwise in the file: say it in plainer words (recoup memory edit)"
                .to_owned(),
        ),
        Err(problems) => problems.into_iter().next().map(|problem| problem.why),
    }
}
