//! Additions to a file of team rules: others' rules stay, unless they were retired here.

use std::collections::HashSet;

use crate::memory::db::dedup::meaning_of;
use crate::memory::db::facets::is_opposed;
use crate::memory::model::{Note, NoteId, NoteStatus, NoteTrust, check_path_glob};
use crate::memory::team::rule::{RuleIdentity, RuleKey, rule_key};
use crate::memory::team::rule_file::MOST_RULES;
use crate::memory::team::{TeamRule, TeamRules, parse_rules, render_rules};

/// A note that is not written, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedNote {
    /// Id of the note.
    pub id: NoteId,
    /// Text of the note.
    pub text: String,
    /// Reason, and what to do about it.
    pub why: String,
}

/// Result of a merge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MergedRules {
    /// Rules that the file has then.
    pub team: TeamRules,
    /// Notes that stay out of it.
    pub left_out: Vec<OmittedNote>,
}

/// Notes that somebody adds to a file.
#[derive(Debug, Clone, Copy)]
pub struct RuleContribution<'a> {
    /// All notes of the project, in any status.
    pub notes: &'a [Note],
    /// Rules of the file that the user has accepted: those that were retired since are removed.
    pub accepted: &'a [TeamRule],
    /// Notes to add, each in place of rules that contradict it; if `None`, all that count.
    pub chosen: Option<&'a [NoteId]>,
}

/// Merges notes into `file`.
pub fn merge_rules(file: &TeamRules, share: RuleContribution<'_>) -> MergedRules {
    let RuleContribution { notes, accepted, chosen } = share;
    let retired = notes.iter().filter(|note| note.status == NoteStatus::Retired);
    let retired: HashSet<_> = retired.map(note_key).collect();
    let known: HashSet<_> = accepted.iter().map(TeamRule::key).collect();
    let mut board = RuleMerge::default();
    for rule in &file.rules {
        let entry = MergeEntry::new(rule.clone());
        let key = &entry.mark.key;
        if !(known.contains(key) && retired.contains(key)) {
            board.entries.push(entry);
        }
    }
    for note in notes.iter().filter(|note| is_shareable(note)) {
        if chosen.is_none_or(|ids| ids.contains(&note.id)) {
            board.add(note, chosen.is_some());
        }
    }
    let rules = board.entries.into_iter().map(|entry| entry.rule).collect();
    let team = TeamRules { remarks: file.remarks.clone(), rules };
    MergedRules { team, left_out: board.left_out }
}

fn note_key(note: &Note) -> RuleKey {
    rule_key(note.paths.as_deref(), &note.text)
}

/// True if a note is a rule that its owner stands for.
pub fn is_shareable(note: &Note) -> bool {
    note.status == NoteStatus::Active && note.trust() >= NoteTrust::Agreed
}

/// A rule, with the keys that it is compared by.
struct MergeEntry {
    rule: TeamRule,
    mark: RuleIdentity,
    meaning: Option<String>,
}

impl MergeEntry {
    fn new(rule: TeamRule) -> Self {
        let (mark, meaning) = (rule.identity(), meaning_of(&rule.text));
        Self { rule, mark, meaning }
    }

    fn is_same(&self, other: &Self) -> bool {
        let means_same = || {
            self.rule.paths == other.rule.paths
                && self.meaning.is_some()
                && self.meaning == other.meaning
                && !is_opposed(&self.rule.text, &other.rule.text)
        };
        self.mark.key == other.mark.key || means_same()
    }
}

/// State of a merge: what the file will have.
#[derive(Default)]
struct RuleMerge {
    entries: Vec<MergeEntry>,
    left_out: Vec<OmittedNote>,
}

impl RuleMerge {
    fn add(&mut self, note: &Note, is_chosen: bool) {
        if !is_chosen && self.entries.len() >= MOST_RULES {
            // Nothing but the keys is compared, because a project may have very many notes.
            let key = note_key(note);
            if !self.entries.iter().any(|entry| entry.mark.key == key) {
                self.leave_out(note, format!("the file has {MOST_RULES} rules already"));
            }
            return;
        }
        let entry = MergeEntry::new(TeamRule::from_note(note));
        if self.entries.iter().any(|other| other.rule == entry.rule) {
            return;
        }
        if let Some(why) = unwritable_reason(&entry.rule) {
            return self.leave_out(note, why);
        }
        if let Some(same) = self.entries.iter_mut().find(|other| other.is_same(&entry)) {
            // Wording and section are up to the first author.
            if is_chosen {
                *same = entry;
            }
            return;
        }
        let rival = self.entries.iter().find(|other| other.mark.contradicts(&entry.mark));
        match rival {
            Some(rival) if !is_chosen => {
                let why = format!(
                    "the file has another rule: {}; to replace it with yours: recoup memory export --team {}",
                    rival.rule.text, note.id
                );
                self.leave_out(note, why);
            }
            _ => {
                self.entries.retain(|other| !other.mark.contradicts(&entry.mark));
                if self.entries.len() >= MOST_RULES {
                    return self
                        .leave_out(note, format!("the file has {MOST_RULES} rules already"));
                }
                self.entries.push(entry);
            }
        }
    }

    fn leave_out(&mut self, note: &Note, why: String) {
        self.left_out.push(OmittedNote { id: note.id.clone(), text: note.text.clone(), why });
    }
}

/// Returns the reason why a rule could not be read back from a file, if there is one.
fn unwritable_reason(rule: &TeamRule) -> Option<String> {
    if let Some(glob) = &rule.paths {
        if glob.contains(['`', '\n', '\r']) {
            return Some("its glob contains a backtick or a line break".to_owned());
        }
        if let Err(why) = check_path_glob(glob) {
            return Some(why);
        }
    }
    let alone = TeamRules { remarks: Vec::new(), rules: vec![rule.clone()] };
    match parse_rules(render_rules(&alone).as_bytes()) {
        Ok(read) if read.rules == alone.rules => None,
        Ok(_) => Some(
            "its text cannot be written to the file unchanged: simplify it (recoup memory edit)"
                .to_owned(),
        ),
        Err(problems) => problems.into_iter().next().map(|problem| problem.why),
    }
}
