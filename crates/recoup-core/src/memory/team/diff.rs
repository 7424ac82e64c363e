//! What is different between two lists of rules, rule by rule.

use super::Rule;
use super::rule::Mark;

/// What became of the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// New ones.
    pub added: Vec<Rule>,
    /// Those that are there no longer.
    pub gone: Vec<Rule>,
    /// As it was, and as it is: the same in other words, or another answer to the same.
    pub changed: Vec<(Rule, Rule)>,
    /// How many are as they were.
    pub unchanged: usize,
}

impl Diff {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && self.changed.is_empty()
    }
}

/// From `before` to `after`.
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
