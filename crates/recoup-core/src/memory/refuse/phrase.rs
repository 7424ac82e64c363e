//! Phrases, written as people would say them:
//!
//! ```text
//! a|b     one of these words      a*   a word that begins so      a?   it may be missing
//! ~       a few small words       !a|b  not one of these next     $    the clause ends
//! ^       the statement begins
//! ```

/// The words that may stand in a `~`.
const SMALL: &str = " the a an all any every of this that these those your my our its me us to out \
back full entire complete exact verbatim hidden initial original current secret internal content \
contents text whole and or previous prior above earlier system developer existing other user ";

/// So many of them.
const MOST_SMALL: usize = 5;

/// What turns a phrase into its opposite.
const NEGATIONS: &str = " never not dont cannot cant wont shouldnt mustnt nicht niemals nie nunca jamais \
nao no non mai ne ";

/// Whether `phrase` stands in a clause, and is not denied there.
pub(super) fn stands_in(phrase: &str, words: &[&str], first_clause: bool) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    if let ["^", parts @ ..] = &parts[..] {
        return first_clause && matches(parts, words);
    }
    (0..words.len())
        .any(|at| matches(&parts, &words[at..]) && !(at > 0 && is_one_of(words[at - 1], NEGATIONS)))
}

/// Whether these words begin with `phrase`.
pub(in crate::memory) fn begins(phrase: &str, words: &[&str]) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    matches(&parts, words)
}

fn matches(parts: &[&str], words: &[&str]) -> bool {
    let Some((part, later)) = parts.split_first() else { return true };
    match *part {
        "$" => words.is_empty(),
        "~" => (0..=words.len().min(MOST_SMALL))
            .take_while(|count| words[..*count].iter().all(|word| is_one_of(word, SMALL)))
            .any(|count| matches(later, &words[count..])),
        part => {
            if let Some(unwanted) = part.strip_prefix('!') {
                return words.first().is_none_or(|word| !is_word(unwanted, word))
                    && matches(later, words);
            }
            let (part, optional) = part.strip_suffix('?').map_or((part, false), |it| (it, true));
            let taken = words
                .split_first()
                .is_some_and(|(word, behind)| is_word(part, word) && matches(later, behind));
            taken || (optional && matches(later, words))
        }
    }
}

/// Whether `word` is one of `a|b|c*`.
pub(in crate::memory) fn is_word(choices: &str, word: &str) -> bool {
    let first = word.as_bytes().first();
    choices.split('|').any(|choice| {
        choice.as_bytes().first() == first
            && match choice.strip_suffix('*') {
                Some(beginning) => word.starts_with(beginning),
                None => word == choice,
            }
    })
}

pub(in crate::memory) fn is_one_of(word: &str, list: &str) -> bool {
    list.split_whitespace().any(|it| it == word)
}

pub(super) fn is_negation(word: &str) -> bool {
    is_one_of(word, NEGATIONS)
}
