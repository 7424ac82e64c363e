//! Digest of the rules that an agent was given, as a part of cache keys: another rule makes another
//! digest.

use std::fmt::Write as _;

use super::block::RulesBlock;
use crate::base::digest::Sha256Digest;

/// Returns the digest of the rules, whatever their order: `all` are the rules that apply, `start`
/// those that fit into the beginning of a session.
///
/// Evidence changes the order of rules, and an agent that cites one would make its own answer a
/// miss if order counted. It counts where it decides what there is room for.
pub fn rules_digest(all: Option<&RulesBlock>, start: Option<&RulesBlock>) -> Sha256Digest {
    let begins_with_all = start.is_none_or(|start| start.left_out() == 0);
    let start = start.filter(|_| !begins_with_all);
    let mut text = String::new();
    for block in [all, start].into_iter().flatten() {
        let mut rules = block.titled();
        rules.sort_unstable();
        for (title, line) in rules {
            // Both are single lines.
            let _ = writeln!(text, "{title}\n{line}");
        }
        text.push('\n');
    }
    Sha256Digest::of(text.as_bytes())
}
