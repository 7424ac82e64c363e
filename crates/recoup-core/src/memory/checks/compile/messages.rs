//! Rules about the messages of commits: "no emojis in commit messages".

use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;

/// True if a sentence is about messages of commits.
pub(super) fn speaks_of_messages(sentence: &[RuleTerm<'_>]) -> bool {
    let has = |english: &str| sentence.iter().any(|it| !it.is_code && it.means(english));
    let is_trailer = |it: &RuleTerm<'_>| {
        let name = it.text.to_ascii_lowercase();
        name.starts_with("co-author") || name.starts_with("coauthor")
    };
    let in_commits = sentence.windows(2).any(|pair| {
        is_one_of(&pair[0].folded, "in to into") && is_one_of(&pair[1].folded, "commits commit")
    });
    // "No 'WIP' commits"
    let are_named = sentence.windows(2).any(|pair| pair[0].is_code && pair[1].folded == "commits");
    let has_emoji = sentence.iter().any(|it| it.text.to_lowercase().contains("emoji"));
    (has("commit") && (has("message") || has_emoji))
        || are_named
        || sentence.iter().any(is_trailer)
        || in_commits
}

/// Finds texts that must not be in commit messages.
pub(super) fn forbidden_messages(terms: &[RuleTerm<'_>]) -> Vec<ForbiddenAct> {
    let mut acts = Vec::new();
    for term in terms {
        let name = term.text.to_lowercase();
        let is_name = term.text.starts_with(|c: char| c.is_uppercase()) && term.text.len() > 1;
        if ["emoji", "絵文字", "表情"].iter().any(|it| name.contains(it)) {
            acts.push(ForbiddenAct::EmojiMessage);
        } else if name.starts_with("co-author") || name.starts_with("coauthor") {
            acts.push(ForbiddenAct::Message("co-authored-by".to_owned()));
        } else if term.is_code
            || (is_name && !term.is(WordClasses::STOP) && !term.means("commit message"))
        {
            acts.push(ForbiddenAct::Message(name));
        }
    }
    acts
}
