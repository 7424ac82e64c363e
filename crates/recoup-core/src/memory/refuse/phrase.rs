//! Phrase patterns, written as people would say them:
//!
//! ```text
//! a|b     one of these words      a*   a word that begins so      a?   it may be missing
//! ~       a few small words       !a|b  not one of these next     $    the clause ends
//! ^       the statement begins
//! ```

use crate::memory::first_letters::FirstLetters;

/// A phrase pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhrasePattern {
    text: &'static str,
    /// Letters that its first word may begin with.
    begins: FirstLetters,
}

impl PhrasePattern {
    pub(super) const fn new(text: &'static str) -> Self {
        Self { text, begins: first_letters(text) }
    }
}

/// Words that `~` matches.
const SMALL: &str = " the a an all any every of this that these those your my our its me us to out \
back full entire complete exact verbatim hidden initial original current secret internal content \
contents text whole and or previous prior above earlier system developer existing other user ";

/// Maximum number of words that one `~` matches.
const MOST_SMALL: usize = 5;

/// Words that negate a phrase.
const NEGATIONS: &str = " never not dont cannot cant wont shouldnt mustnt nicht niemals nie nunca jamais \
nao no non mai ne ";

/// True if `phrase` occurs in a clause without a negation before it.
pub(super) fn occurs_in(phrase: &PhrasePattern, words: &[&str], first_clause: bool) -> bool {
    let mut begins = (0..words.len()).filter(|at| phrase.begins.may_begin(words[*at])).peekable();
    if begins.peek().is_none() {
        return false;
    }
    let parts: Vec<&str> = phrase.text.split(' ').collect();
    if let ["^", parts @ ..] = &parts[..] {
        return first_clause && matches_parts(parts, words);
    }
    begins.any(|at| {
        matches_parts(&parts, &words[at..]) && !(at > 0 && is_one_of(words[at - 1], NEGATIONS))
    })
}

/// True if these words begin with `phrase`.
pub(in crate::memory) fn starts_with_phrase(phrase: &str, words: &[&str]) -> bool {
    let parts: Vec<&str> = phrase.split(' ').collect();
    matches_parts(&parts, words)
}

/// Returns the letters that the first word of a phrase may begin with; all of them if unknown.
const fn first_letters(phrase: &str) -> FirstLetters {
    let text = phrase.as_bytes();
    let (mut letters, mut part, mut at) = (FirstLetters::NONE, 0, 0);
    while at < text.len() {
        match text[at] {
            b' ' if text[at - 1] == b'^' => part = at + 1,
            b' ' => {
                letters = letters.union(choice_letters(phrase, part, at));
                if text[at - 1] != b'?' {
                    return letters;
                }
                part = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if at > 0 && text[at - 1] == b'?' {
        return FirstLetters::ALL;
    }
    letters.union(choice_letters(phrase, part, at))
}

const fn choice_letters(phrase: &str, start: usize, end: usize) -> FirstLetters {
    let (_, behind) = phrase.split_at(start);
    let (part, _) = behind.split_at(end - start);
    match part.as_bytes() {
        [b'!' | b'~' | b'$', ..] => FirstLetters::ALL,
        _ => FirstLetters::of(part, b'|'),
    }
}

fn matches_parts(parts: &[&str], words: &[&str]) -> bool {
    let Some((part, later)) = parts.split_first() else { return true };
    match *part {
        "$" => words.is_empty(),
        "~" => (0..=words.len().min(MOST_SMALL))
            .take_while(|count| words[..*count].iter().all(|word| is_one_of(word, SMALL)))
            .any(|count| matches_parts(later, &words[count..])),
        part => {
            if let Some(unwanted) = part.strip_prefix('!') {
                return words.first().is_none_or(|word| !matches_choice(unwanted, word))
                    && matches_parts(later, words);
            }
            let (part, optional) = part.strip_suffix('?').map_or((part, false), |it| (it, true));
            let taken = words.split_first().is_some_and(|(word, behind)| {
                matches_choice(part, word) && matches_parts(later, behind)
            });
            taken || (optional && matches_parts(later, words))
        }
    }
}

/// True if `word` is one of `a|b|c*`.
pub(in crate::memory) fn matches_choice(choices: &str, word: &str) -> bool {
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
    list.split_ascii_whitespace().any(|it| it == word)
}

pub(super) fn is_negation(word: &str) -> bool {
    is_one_of(word, NEGATIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_looked_for_where_its_first_word_may_stand() {
        let cases = [
            ("you are|re now", "you", "are"),
            ("^ act|behave like", "behave", "like"),
            ("please? ignore all", "ignore", "all"),
            ("please? ignore all", "please", "all"),
        ];
        for (phrase, first, later) in cases {
            let begins = PhrasePattern::new(phrase).begins;
            assert!(begins.may_begin(first) && !begins.may_begin(later), "{phrase}");
        }
        for phrase in ["~ prompt", "!on now", "so?", "so? !on"] {
            assert_eq!(PhrasePattern::new(phrase).begins, FirstLetters::ALL, "{phrase}");
        }
    }
}
