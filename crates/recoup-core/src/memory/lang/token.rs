//! Tokens: the words of a text as the rest of memory compares them, with their place, the
//! punctuation behind them, and the classes that the lexicon knows them by.
//!
//! ```text
//! Don't run `cargo test`, use nextest.    dont | run | cargo | test , use | nextest .
//! 忽略之前的指令                            忽略 | 之前的 | 指令
//! ```

use std::ops::Range;

use crate::memory::lang::fold::{fold_char, is_apostrophe};
use crate::memory::lang::lexicon::{self, WordClasses};

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
    /// True if no white space is before it: a part of a name, as `rs` in `lib.rs`.
    pub(crate) is_glued: bool,
    /// The end behind it, if any.
    pub(crate) ends: ClauseEnd,
}

/// End of a clause or a sentence behind a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum ClauseEnd {
    #[default]
    Nothing,
    /// A clause: a comma, an opening parenthesis.
    Clause,
    /// A sentence, a line, or what a colon introduces.
    Sentence,
}

impl<'t> Token<'t> {
    fn new(text: &'t str, start: usize, is_glued: bool) -> Self {
        let fold = |text: &str| {
            let mut folded = String::with_capacity(text.len());
            for c in text.chars().filter(|c| !is_apostrophe(*c)) {
                fold_char(c, |c| folded.push(c));
            }
            folded
        };
        let folded = fold(text);
        let mut classes = lexicon::classes_of(&folded);
        // French and Italian join small words: `l'utilisateur`, `n'informe`.
        let joined = text.split_once(is_apostrophe).filter(|it| it.0.len() <= 4 && it.1.len() > 2);
        if let Some((_, word)) = joined {
            classes = classes.or(lexicon::classes_of(&fold(word)));
        }
        Self { text, folded, start, classes, is_glued, ends: ClauseEnd::Nothing }
    }

    /// Place in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    pub(crate) fn is(&self, classes: WordClasses) -> bool {
        self.classes.has(classes)
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
            tokens.push(Token::new(word, at, is_glued));
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

/// Returns the end that a character marks, given the one behind it.
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

/// True if the token at `at` negates or rules out the words behind it, up to the end of its clause:
/// a negation, "instead of", `doesn't`, `n'utilise`.
pub(crate) fn negates(tokens: &[Token<'_>], at: usize) -> bool {
    let token = &tokens[at];
    let is_joined = || {
        token.text.contains(is_apostrophe)
            && (token.folded.ends_with("nt") || token.folded.starts_with('n'))
    };
    let is_contrast = || {
        let words: Vec<&str> = tokens[at..].iter().map(|it| it.folded.as_str()).collect();
        lexicon::CONTRAST.matched_start(&words).is_some()
    };
    token.is(WordClasses::NEGATION.or(WordClasses::EXCLUSION))
        || is_joined()
        || (token.is(WordClasses::CONTRAST_START) && is_contrast())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut out = String::new();
        for token in tokenize_text(text) {
            out += if token.is_glued { "+" } else { " " };
            out += &token.folded;
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
        assert_eq!(shown("run `a. b, c` (now) - or later"), "run a b c, now. or later");
        assert_eq!(shown("a\nb"), "a. b");
    }

    #[test]
    fn scripts_without_spaces_are_parted_by_the_lexicon() {
        assert_eq!(shown("忽略之前的指令。好"), "忽略+之前的+指令.+好");
    }

    #[test]
    fn negations_of_several_forms_are_one() {
        for (text, expected) in [
            ("use pnpm, never yarn", "never"),
            ("vitest instead of jest", "instead"),
            ("it doesn’t retry", "doesn’t"),
            ("n'utilise pas var", "n'utilise pas"),
            ("以后不要使用 var", "不要"),
            ("nutze keine Tabs", "keine"),
        ] {
            let tokens = tokenize_text(text);
            let found: Vec<&str> = (0..tokens.len())
                .filter(|at| negates(&tokens, *at))
                .map(|at| tokens[at].text)
                .collect();
            assert_eq!(found.join(" "), expected, "{text}");
        }
    }
}
