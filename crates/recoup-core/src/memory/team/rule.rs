//! A rule of a team, and a file of them.

use crate::memory::statement::said;
use crate::memory::topic::{by_words, topic};
use crate::memory::{Note, NoteKind, NoteScope, Source, Statement};

/// One rule of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The statement.
    pub text: String,
    /// For which files, as a glob from the project's root.
    pub paths: Option<String>,
    /// What it is about, where its words do not say so themselves.
    pub topic: Option<String>,
}

/// What a file has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamRules {
    /// Lines for people, above the rules.
    pub remarks: Vec<String>,
    /// The rules.
    pub rules: Vec<Rule>,
}

impl Rule {
    /// What a note says, without what is private about it.
    pub fn of(note: &Note) -> Self {
        let own = note.topic.clone().filter(|it| topic(&note.text).as_ref() != Some(it));
        Self { kind: note.kind, text: note.text.clone(), paths: note.paths.clone(), topic: own }
    }

    /// As something to be remembered in `scope`.
    pub(super) fn statement(&self, scope: &NoteScope) -> Statement {
        Statement {
            paths: self.paths.clone(),
            topic: self.topic.clone(),
            ..Statement::new(self.kind, self.text.clone(), Source::Team, scope.clone())
        }
    }

    /// Whether both say the same about the same files.
    pub fn says_same(&self, other: &Self) -> bool {
        self.paths == other.paths && said(&self.text) == said(&other.text)
    }

    /// What it is about: given, or from its words.
    pub(super) fn about(&self) -> Option<String> {
        self.topic.clone().or_else(|| topic(&self.text))
    }

    pub(super) fn mark(&self) -> Mark {
        let paths = self.paths.clone().unwrap_or_default();
        let words = if self.topic.is_none() { by_words(&self.text) } else { None };
        let about = self.about().map(|topic| format!("topic {topic}"));
        Mark {
            said: said(&self.text),
            about: [about, words].into_iter().flatten().collect(),
            paths,
        }
    }
}

/// What rules are compared by: worked out once for each, because there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) paths: String,
    pub(super) said: String,
    /// Of these no other rule may have any.
    pub(super) about: Vec<String>,
}

impl Mark {
    pub(super) fn of_note(note: &Note) -> (String, String) {
        (note.paths.clone().unwrap_or_default(), said(&note.text))
    }

    /// Where it is found among those that say the same.
    pub(super) fn place(&self) -> (String, String) {
        (self.paths.clone(), self.said.clone())
    }

    /// Whether both say the same about the same files.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.paths == other.paths && self.said == other.said
    }

    /// Whether the two can't both hold.
    pub(super) fn rivals(&self, other: &Self) -> bool {
        self.paths == other.paths && self.about.iter().any(|it| other.about.contains(it))
    }
}
