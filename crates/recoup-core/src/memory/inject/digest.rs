//! The rules that an agent was given, as part of what its answers stand for: another
//! rule makes another digest, and what changed has a name.

use std::fmt::Write as _;

use super::block::{Block, Included};
use crate::base::digest::Digest;
use crate::base::text::shortened;

/// As much of a rule as names it.
const SHORT: usize = 80;

/// The rules of a session: their digest, and their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesDigest {
    /// Of exactly the text that is injected.
    pub digest: Digest,
    /// The id of each rule and the beginning of its text, in the order of the text.
    pub rules: Vec<Included>,
}

/// The digest of what an agent is told, whatever the order: `all` are the rules that hold,
/// `start` those that fit into the beginning of its session.
///
/// Evidence moves a rule, and an agent that cites one would make its own answer a miss
/// if that counted. It counts where it decides what there is room for.
pub fn told(all: Option<&Block>, start: Option<&Block>) -> Digest {
    let begins_with_all = start.is_none_or(|start| start.left_out() == 0);
    let start = start.filter(|_| !begins_with_all);
    let mut text = String::new();
    for block in [all, start].into_iter().flatten() {
        let mut rules = block.titled();
        rules.sort_unstable();
        for (title, line) in rules {
            // Neither has a line's end in it.
            let _ = writeln!(text, "{title}\n{line}");
        }
        text.push('\n');
    }
    Digest::of(text.as_bytes())
}

/// What is different between two sessions' rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The later has a rule that the earlier had not.
    Added(Included),
    /// The earlier had a rule that the later has not.
    Removed(Included),
    /// A rule has other words, or a mark that it had not.
    Reworded(Included),
}

impl RulesDigest {
    /// Of the block that a session begins with; none is a digest too.
    pub fn of(block: Option<&Block>) -> Self {
        let (text, included) = block.map_or(("", &[][..]), |it| (it.text(), it.included()));
        let named = |rule: &Included| Included {
            id: rule.id.clone(),
            line: shortened(&rule.line, SHORT).into_owned(),
        };
        Self { digest: Digest::of(text.as_bytes()), rules: included.iter().map(named).collect() }
    }

    /// What is different since `earlier`, what was added first.
    pub fn changes_since(&self, earlier: &Self) -> Vec<Change> {
        let named = |all: &[Included], rule: &Included| {
            all.iter().find(|it| it.id == rule.id).map(|it| it.line.clone())
        };
        let now = self.rules.iter().filter_map(|rule| match named(&earlier.rules, rule) {
            None => Some(Change::Added(rule.clone())),
            Some(line) if line != rule.line => Some(Change::Reworded(rule.clone())),
            Some(_) => None,
        });
        let gone = earlier.rules.iter().filter(|rule| named(&self.rules, rule).is_none());
        let mut all: Vec<Change> = now.chain(gone.cloned().map(Change::Removed)).collect();
        all.sort_by_key(|change| match change {
            Change::Added(_) => 0,
            Change::Removed(_) => 1,
            Change::Reworded(_) => 2,
        });
        all
    }
}
