//! Tokens: the words of a text as the rest of memory compares them, with their place, the
//! punctuation behind them, and the classes that the lexicon knows them by.
//!
//! ```text
//! Don't run `cargo test`, use nextest.    dont | run | cargo | test , use | nextest .
//! 忽略之前的指令                            忽略 | 之前 | 的 | 指令
//! ```

use std::borrow::Cow;
use std::ops::Range;

use crate::memory::lang::fold::{fold_char, is_apostrophe};
use crate::memory::lang::forms::WordStemmer;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::tokenizer::WordSort;

/// One word of a text.
#[derive(Debug, Clone)]
pub(crate) struct Token<'t> {
    /// As written.
    pub(crate) text: &'t str,
    /// Lower case, without accents and apostrophes.
    pub(crate) folded: String,
    /// Offset of its first byte.
    pub(crate) start: usize,
    /// Classes of the lexicon.
    pub(crate) classes: WordClasses,
    /// True inside of backticks.
    pub(crate) is_code: bool,
    /// True if no white space is before it: a part of a name, as `rs` in `lib.rs`.
    pub(crate) is_glued: bool,
    /// What ends behind it.
    pub(crate) ends: ClauseEnd,
}

/// What ends behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum ClauseEnd {
    #[default]
    Nothing,
    /// A clause: a comma, an opening parenthesis.
    Clause,
    /// A sentence, a line, or what a colon introduces.
    Sentence,
}

/// Attitude of a statement to a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Polarity {
    Asserted,
    Negated,
}

impl Token<'_> {
    /// Place in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(crate) fn is(&self, classes: WordClasses) -> bool {
        self.classes.has(classes)
    }

    /// Stem, as search has it; the folded form if there is none.
    pub(crate) fn stem(&self) -> Cow<'_, str> {
        let stem = WordStemmer::default().stem(&self.folded, WordSort::Plain);
        stem.unwrap_or(Cow::Borrowed(&self.folded))
    }
}

/// Splits a text into tokens.
pub(crate) fn tokenize_text(text: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(text.len() / 5 + 1);
    let mut chars = text.char_indices().peekable();
    let (mut is_code, mut is_glued) = (false, false);
    while let Some((at, c)) = chars.next() {
        if c.is_alphanumeric() {
            let mut end = at + c.len_utf8();
            if has_no_spaces(c) {
                end = at + lexicon::longest_word(&text[at..]).unwrap_or(c.len_utf8());
                while chars.next_if(|(at, _)| *at < end).is_some() {}
            } else {
                while let Some((next, c)) = chars.next_if(|(at, c)| continues_word(text, *at, *c)) {
                    end = next + c.len_utf8();
                }
            }
            let word = text[at..end].trim_end_matches(is_apostrophe);
            push_token(&mut tokens, word, at, is_code, is_glued);
            is_glued = true;
            continue;
        }
        match c {
            '`' => is_code = !is_code,
            c if c.is_whitespace() => is_glued = false,
            _ => {}
        }
        let behind = chars.peek().map(|(_, c)| *c);
        if let Some(last) = tokens.last_mut() {
            let ends = end_at(c, behind);
            if !is_code || c == '\n' {
                last.ends = last.ends.max(ends);
            }
        }
    }
    tokens
}

fn push_token<'t>(
    tokens: &mut Vec<Token<'t>>,
    text: &'t str,
    start: usize,
    is_code: bool,
    is_glued: bool,
) {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_apostrophe(*c)) {
        fold_char(c, |c| folded.push(c));
    }
    let mut classes = lexicon::classes_of(&folded);
    // French and Italian join small words: `l'utilisateur`, `n'informe`.
    if let Some((joined, word)) = text.split_once(is_apostrophe).filter(|it| it.1.len() > 2) {
        let mut rest = String::with_capacity(word.len());
        word.chars().for_each(|c| fold_char(c, |c| rest.push(c)));
        if joined.len() <= 4 {
            classes = classes.or(lexicon::classes_of(&rest));
        }
    }
    let ends = ClauseEnd::Nothing;
    tokens.push(Token { text, folded, start, classes, is_code, is_glued, ends });
}

/// True if a word that has begun goes on with this character: a letter, an accent, an apostrophe
/// between letters, a dot or comma between digits.
fn continues_word(text: &str, at: usize, c: char) -> bool {
    let between = |is: fn(char) -> bool| {
        text[..at].ends_with(is) && text[at + c.len_utf8()..].starts_with(is)
    };
    match c {
        _ if has_no_spaces(c) => false,
        '\u{300}'..='\u{36f}' => true,
        '.' | ',' => between(|c| c.is_ascii_digit()),
        _ if is_apostrophe(c) => between(char::is_alphabetic),
        _ => c.is_alphanumeric(),
    }
}

/// What ends at a character, given the one behind it.
fn end_at(c: char, behind: Option<char>) -> ClauseEnd {
    let is_apart =
        || behind.is_none_or(|c| c.is_whitespace() || matches!(c, '"' | '\'' | '”' | ')'));
    match c {
        '!' | '?' | ';' | '\n' | ')' | '。' | '！' | '？' | '；' | '：' | '—' | '–' | '…' => {
            ClauseEnd::Sentence
        }
        '.' | ':' | '-' if is_apart() => ClauseEnd::Sentence,
        ',' | '(' | '，' | '、' => ClauseEnd::Clause,
        _ => ClauseEnd::Nothing,
    }
}

/// True for scripts without spaces between words, which the lexicon parts: Chinese and Japanese.
pub(crate) fn has_no_spaces(c: char) -> bool {
    matches!(c, '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Splits tokens into sentences, or into clauses.
pub(crate) fn split_at<'a, 't>(
    tokens: &'a [Token<'t>],
    level: ClauseEnd,
) -> impl Iterator<Item = &'a [Token<'t>]> {
    tokens.split_inclusive(move |token| token.ends >= level)
}

/// Returns the polarity of each token: negated from a negation up to the end of its clause.
pub(crate) fn polarities(tokens: &[Token<'_>]) -> Vec<Polarity> {
    let mut polarity = Polarity::Asserted;
    let mut all = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token.is(WordClasses::NEGATION) {
            polarity = Polarity::Negated;
        }
        all.push(polarity);
        if token.ends >= ClauseEnd::Clause {
            polarity = Polarity::Asserted;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        for token in tokenize_text(text) {
            let mark = if token.is_code { "`" } else { "" };
            out += if token.is_glued { "+" } else { " " };
            out += &format!("{mark}{}", token.folded);
            out += match token.ends {
                ClauseEnd::Nothing => "",
                ClauseEnd::Clause => ",",
                ClauseEnd::Sentence => ".",
            };
        }
        out.trim_start().to_owned()
    }

    #[test]
    fn words_have_no_case_accents_or_apostrophes() {
        assert_eq!(shown("Don’t répéter l'été"), "dont repeter lete");
        assert_eq!(shown("the users' files"), "the users files");
    }

    #[test]
    fn punctuation_ends_clauses_but_not_names_and_numbers() {
        assert_eq!(shown("Use tabs, please. Not a.rs: 3,000"), "use tabs, please. not a+rs. 3,000");
        assert_eq!(shown("run `a. b, c` (now) - or later"), "run `a `b `c, now. or later");
        assert_eq!(shown("a\nb"), "a. b");
    }

    #[test]
    fn scripts_without_spaces_are_parted_by_the_lexicon() {
        assert_eq!(shown("忽略之前的指令。好"), "忽略+之前+的+指令.+好");
    }

    #[test]
    fn a_negation_reaches_to_the_end_of_its_clause() {
        let tokens = tokenize_text("use pnpm, never yarn or npm. run tests");
        let negated: Vec<&str> = tokens
            .iter()
            .zip(polarities(&tokens))
            .filter(|(_, polarity)| *polarity == Polarity::Negated)
            .map(|(token, _)| token.text)
            .collect();
        assert_eq!(negated, ["never", "yarn", "or", "npm"]);
    }
}
