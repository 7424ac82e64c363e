//! Team rules, the content of a rule file, and the differences between two of them.

use crate::memory::db::facets::{derive_topic, topic_by_words};
use crate::memory::model::{
    Note, NoteKind, NoteScope, NoteSource, Statement, normalize_for_comparison,
};

/// One rule of a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRule {
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
    pub rules: Vec<TeamRule>,
}

impl TeamRule {
    /// Creates a rule from a note, without private details.
    pub fn from_note(note: &Note) -> Self {
        let own = note.topic.clone().filter(|it| derive_topic(&note.text).as_ref() != Some(it));
        Self { kind: note.kind, text: note.text.clone(), paths: note.paths.clone(), topic: own }
    }

    /// Returns the rule as a statement in `scope`.
    pub(super) fn to_statement(&self, scope: &NoteScope) -> Statement {
        Statement {
            paths: self.paths.clone(),
            topic: self.topic.clone(),
            ..Statement::new(self.kind, self.text.clone(), NoteSource::Team, scope.clone())
        }
    }

    /// True if both say the same about the same files.
    pub fn says_same(&self, other: &Self) -> bool {
        self.key() == other.key()
    }

    /// Returns the topic, given or derived from the text.
    pub(super) fn effective_topic(&self) -> Option<String> {
        self.topic.clone().or_else(|| derive_topic(&self.text))
    }

    /// Returns the key under which equal rules are found.
    pub(super) fn key(&self) -> RuleKey {
        rule_key(self.paths.as_deref(), &self.text)
    }

    pub(super) fn identity(&self) -> RuleIdentity {
        let words = if self.topic.is_none() { topic_by_words(&self.text) } else { None };
        let about = self.effective_topic().map(|topic| format!("topic {topic}"));
        RuleIdentity { key: self.key(), about: [about, words].into_iter().flatten().collect() }
    }
}

/// Files and normalized text of a rule: of equal rules, it is the same.
pub(super) type RuleKey = (String, String);

/// Returns the key of a rule or a note.
pub(super) fn rule_key(paths: Option<&str>, text: &str) -> RuleKey {
    (paths.unwrap_or_default().to_owned(), normalize_for_comparison(text))
}

/// Keys that rules are compared by, computed once for each, because there may be many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleIdentity {
    pub(super) key: RuleKey,
    /// Topics: two rules with a common one contradict each other.
    pub(super) about: Vec<String>,
}

impl RuleIdentity {
    /// True if the two cannot both hold.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        self.key.0 == other.key.0 && self.about.iter().any(|it| other.about.contains(it))
    }
}

/// Differences between two lists of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleDiff {
    /// New rules.
    pub added: Vec<TeamRule>,
    /// Rules that were removed.
    pub gone: Vec<TeamRule>,
    /// Changed rules, before and after: in other words, or another answer to the same question.
    pub changed: Vec<(TeamRule, TeamRule)>,
    /// Number of unchanged rules.
    pub unchanged: usize,
}

impl RuleDiff {
    /// True if there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }
}

/// Compares `before` with `after`.
pub fn diff_rules(before: &[TeamRule], after: &[TeamRule]) -> RuleDiff {
    let gone = before.iter().filter(|rule| !after.contains(rule));
    let mut gone: Vec<(&TeamRule, RuleIdentity)> =
        gone.map(|rule| (rule, rule.identity())).collect();
    let mut diff = RuleDiff::default();
    for rule in after {
        if before.contains(rule) {
            diff.unchanged += 1;
            continue;
        }
        let mark = rule.identity();
        let was = gone
            .iter()
            .position(|(_, old)| old.key == mark.key)
            .or_else(|| gone.iter().position(|(_, old)| old.contradicts(&mark)));
        match was {
            Some(at) => diff.changed.push((gone.remove(at).0.clone(), rule.clone())),
            None => diff.added.push(rule.clone()),
        }
    }
    diff.gone = gone.into_iter().map(|(rule, _)| rule.clone()).collect();
    diff
}
