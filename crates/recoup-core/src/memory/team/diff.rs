//! Differences between two lists of rules.

use super::TeamRule;
use super::rule::RuleIdentity;

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
            .position(|(_, old)| old.is_same(&mark))
            .or_else(|| gone.iter().position(|(_, old)| old.contradicts(&mark)));
        match was {
            Some(at) => diff.changed.push((gone.remove(at).0.clone(), rule.clone())),
            None => diff.added.push(rule.clone()),
        }
    }
    diff.gone = gone.into_iter().map(|(rule, _)| rule.clone()).collect();
    diff
}
