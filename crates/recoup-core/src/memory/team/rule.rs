//! Team rules, and the content of a rule file.

use crate::memory::statement::said;
use crate::memory::topic::{by_words, topic};
use crate::memory::{Note, NoteKind, NoteScope, Source, Statement};

/// One rule of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Kind of the rule.
    pub kind: NoteKind,
    /// Text of the statement.
    pub text: String,
    /// Files that it is for, as a glob from the project's root.
    pub paths: Option<String>,
    /// Topic, if the text does not imply it.
    pub topic: Option<String>,
}

/// Content of a rule file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamRules {
    /// Lines for people, above the rules.
    pub remarks: Vec<String>,
    /// The rules.
    pub rules: Vec<Rule>,
}

impl Rule {
    /// Creates a rule from a note, without private details.
    pub fn of(note: &Note) -> Self {
        let own = note.topic.clone().filter(|it| topic(&note.text).as_ref() != Some(it));
        Self { kind: note.kind, text: note.text.clone(), paths: note.paths.clone(), topic: own }
    }

    /// Returns the rule as a statement in `scope`.
    pub(super) fn statement(&self, scope: &NoteScope) -> Statement {
        Statement {
            paths: self.paths.clone(),
            topic: self.topic.clone(),
            ..Statement::new(self.kind, self.text.clone(), Source::Team, scope.clone())
        }
    }

    /// True if both say the same about the same files.
    pub fn says_same(&self, other: &Self) -> bool {
        self.paths == other.paths && said(&self.text) == said(&other.text)
    }

    /// Returns the topic, given or derived from the text.
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

/// Keys that rules are compared by, computed once for each, because there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) paths: String,
    pub(super) said: String,
    /// Topics: two rules with a common one contradict each other.
    pub(super) about: Vec<String>,
}

impl Mark {
    pub(super) fn of_note(note: &Note) -> (String, String) {
        (note.paths.clone().unwrap_or_default(), said(&note.text))
    }

    /// Returns the key under which equal rules are found.
    pub(super) fn place(&self) -> (String, String) {
        (self.paths.clone(), self.said.clone())
    }

    /// True if both say the same about the same files.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.paths == other.paths && self.said == other.said
    }

    /// True if the two cannot both hold.
    pub(super) fn rivals(&self, other: &Self) -> bool {
        self.paths == other.paths && self.about.iter().any(|it| other.about.contains(it))
    }
}
