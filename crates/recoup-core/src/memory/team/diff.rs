//! What is different between two lists of rules, rule by rule.

use super::Rule;

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
    let mut gone: Vec<&Rule> = before.iter().filter(|rule| !after.contains(rule)).collect();
    let mut diff = Diff::default();
    for rule in after {
        if before.contains(rule) {
            diff.unchanged += 1;
            continue;
        }
        let was = gone
            .iter()
            .position(|old| old.says_same(rule))
            .or_else(|| gone.iter().position(|old| old.rivals(rule)));
        match was {
            Some(at) => diff.changed.push((gone.remove(at).clone(), rule.clone())),
            None => diff.added.push(rule.clone()),
        }
    }
    diff.gone = gone.into_iter().cloned().collect();
    diff
}
