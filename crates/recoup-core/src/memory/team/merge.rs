//! What a file has after somebody added to it: others' rules stay, unless they were retired
//! here.

use super::{Rule, TeamRules, parse, render};
use crate::memory::dedup::means_same;
use crate::memory::{Note, NoteId, Status, Trust, paths};

/// A note that is not written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Which one.
    pub id: NoteId,
    /// What it says.
    pub text: String,
    /// Why, and what to do about it.
    pub why: String,
}

/// What comes of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Merged {
    /// What the file has then.
    pub team: TeamRules,
    /// What stays out of it.
    pub left_out: Vec<LeftOut>,
}

/// What somebody has to add.
#[derive(Debug, Clone, Copy)]
pub struct Share<'a> {
    /// Everything that is remembered in the project, whatever became of it.
    pub notes: &'a [Note],
    /// What the user has accepted of the file: of this, what was retired since goes.
    pub accepted: &'a [Rule],
    /// Only these, and each takes the place of what it can't hold beside; else all that count.
    pub chosen: Option<&'a [NoteId]>,
}

/// `file` with what is to be added to it.
pub fn merge(file: &TeamRules, share: Share<'_>) -> Merged {
    let Share { notes, accepted, chosen } = share;
    let mut merged = Merged { team: file.clone(), left_out: Vec::new() };
    let is_retired = |rule: &Rule| {
        accepted.iter().any(|known| known.says_same(rule))
            && notes.iter().any(|note| note.status == Status::Retired && rule.is_said_by(note))
    };
    merged.team.rules.retain(|rule| !is_retired(rule));
    for note in notes.iter().filter(|note| is_shared(note)) {
        if chosen.is_none_or(|ids| ids.contains(&note.id)) {
            merged.add(note, chosen.is_some());
        }
    }
    merged
}

/// Whether a note is a rule that its owner stands for.
pub fn is_shared(note: &Note) -> bool {
    note.status == Status::Active && note.trust() >= Trust::Agreed
}

impl Merged {
    fn add(&mut self, note: &Note, is_chosen: bool) {
        let rule = Rule::of(note);
        if self.team.rules.contains(&rule) {
            return;
        }
        let leave_out = |why: String| LeftOut { id: note.id.clone(), text: note.text.clone(), why };
        if let Some(why) = unwritable(&rule) {
            return self.left_out.push(leave_out(why));
        }
        let is_same = |other: &Rule| {
            other.says_same(&rule)
                || (other.paths == rule.paths && means_same(&other.text, &rule.text))
        };
        let same = self.team.rules.iter().position(is_same);
        if let Some(at) = same {
            // How it is written and filed is up to whoever wrote it first.
            if is_chosen {
                self.team.rules[at] = rule;
            }
            return;
        }
        let rival = self.team.rules.iter().find(|other| other.rivals(&rule));
        match rival {
            Some(rival) if !is_chosen => self.left_out.push(leave_out(format!(
                "the file says otherwise: {}; to put yours in its place: recoup memory export --team {}",
                rival.text, note.id
            ))),
            _ => {
                self.team.rules.retain(|other| !other.rivals(&rule));
                self.team.rules.push(rule);
            }
        }
    }
}

/// Why a rule could not be read back from a file.
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
