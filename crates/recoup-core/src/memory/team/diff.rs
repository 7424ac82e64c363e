//! Differences between two lists of rules.

use super::Rule;
use super::rule::Mark;

/// Differences between two lists of rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// New rules.
    pub added: Vec<Rule>,
    /// Rules that were removed.
    pub gone: Vec<Rule>,
    /// Changed rules, before and after: in other words, or another answer to the same question.
    pub changed: Vec<(Rule, Rule)>,
    /// Number of unchanged rules.
    pub unchanged: usize,
}

impl Diff {
    /// True if there is no difference.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }
}

/// Compares `before` with `after`.
pub fn diff(before: &[Rule], after: &[Rule]) -> Diff {
    let gone = before.iter().filter(|rule| !after.contains(rule));
    let mut gone: Vec<(&Rule, Mark)> = gone.map(|rule| (rule, rule.mark())).collect();
    let mut diff = Diff::default();
    for rule in after {
        if before.contains(rule) {
            diff.unchanged += 1;
            continue;
        }
        let mark = rule.mark();
        let was = gone
            .iter()
            .position(|(_, old)| old.is_same(&mark))
            .or_else(|| gone.iter().position(|(_, old)| old.rivals(&mark)));
        match was {
            Some(at) => diff.changed.push((gone.remove(at).0.clone(), rule.clone())),
            None => diff.added.push(rule.clone()),
        }
    }
    diff.gone = gone.into_iter().map(|(rule, _)| rule.clone()).collect();
    diff
}
