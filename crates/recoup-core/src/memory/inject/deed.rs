//! Named actions of a call, as people use them in rules: "never push to main" is about every push,
//! and "for commits use …" about every commit.

use crate::memory::search::split_words;

/// Actions on what others see. Names of lesser ones occur in too many rules.
const DEEDS: [&str; 9] =
    ["push", "commit", "merge", "rebase", "release", "publish", "deploy", "migrate", "rollback"];

/// Words behind an action that do not change its meaning.
const WITH: [&str; 6] = ["message", "messages", "directly", "straight", "force", "branches"];

/// Returns the actions in a name: of a sub-command, or of a server's tool.
pub fn named_actions(name: &str) -> Vec<&'static str> {
    let lower = name.to_lowercase();
    let parts: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    DEEDS.into_iter().filter(|deed| parts.contains(deed)).collect()
}

/// True if a rule is about the action. "Push notifications" and "release notes" are things: the
/// action must be followed by a small word, or by nothing.
pub(in crate::memory) fn is_about_action(rule: &str, deed: &str) -> bool {
    let of_deed = split_words(deed).into_iter().next().and_then(|word| word.stem);
    let said = split_words(rule);
    let ends = |at: usize| {
        said.get(at + 1).is_none_or(|next| next.is_small || WITH.contains(&next.exact.as_str()))
    };
    said.iter().enumerate().any(|(at, word)| {
        (word.exact == deed || (word.stem.is_some() && word.stem == of_deed)) && ends(at)
    })
}
