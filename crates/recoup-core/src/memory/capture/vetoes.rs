//! Vetoes: reasons why a span makes no statement, whatever its score. Each has examples that prove it.

use std::ops::Range;

use crate::memory::capture::spans::TokenizedSentence;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::lang::token::{has_no_spaces, tokenize_text};

/// Longest statement, in characters; what is longer is a story.
const MOST_CHARS: usize = 400;
/// Fewest characters of a statement in a script without spaces.
const FEWEST_CHARS: usize = 4;

/// Marks of quotations; each pair opens and closes.
const QUOTATION_MARKS: [(char, char); 6] =
    [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('‘', '’')];

/// A span in its sentence.
#[derive(Debug, Clone)]
pub(super) struct SpanContext<'a> {
    text: &'a str,
    words: Range<usize>,
    sentence: &'a TokenizedSentence<'a>,
}

impl<'a> SpanContext<'a> {
    /// Places a span of the text in its sentence.
    pub(super) fn new(
        text: &'a str,
        words: Range<usize>,
        sentence: &'a TokenizedSentence<'a>,
    ) -> Self {
        Self { text, words, sentence }
    }

    /// Words of the span.
    pub(super) fn words(&self) -> &'a str {
        trim_marks(&self.text[self.words.clone()])
    }

    fn before(&self) -> &'a str {
        &self.text[self.sentence.range().start.min(self.words.start)..self.words.start]
    }

    fn behind(&self) -> &'a str {
        &self.text[self.words.end..self.sentence.range().end.max(self.words.end)]
    }

    /// Returns the whole sentence as one span.
    pub(super) fn whole_sentence(&self) -> Self {
        Self { words: self.sentence.range(), ..self.clone() }
    }

    /// True if the span begins with a pronoun for something that was said before it.
    pub(super) fn points_back(&self) -> bool {
        let tokens = self.sentence.tokens_in(&self.words);
        tokens.first().is_some_and(|it| it.is(WordClasses::POINTS_BACK))
    }
}

/// A reason why a span makes no statement.
pub(super) struct SpanVeto {
    #[cfg_attr(not(test), expect(dead_code, reason = "told by a test that fails"))]
    name: &'static str,
    applies: fn(&SpanContext<'_>) -> bool,
    /// Sentences with a marked span to which it applies, and to which it does not.
    #[cfg_attr(not(test), expect(dead_code, reason = "proofs of the table"))]
    examples: [&'static [&'static str]; 2],
}

/// All vetoes.
const VETOES: &[SpanVeto] = &[
    SpanVeto {
        name: "quoted",
        applies: is_quoted,
        examples: [
            &["the docs say \"⟦always use tabs⟧\", hm", "«⟦Niemals auf main pushen⟧» steht da"],
            &["⟦always use \"double\" quotes⟧", "⟦call it \"ledger\"⟧"],
        ],
    },
    SpanVeto {
        name: "cites others",
        applies: cites_others,
        examples: [
            &["⟦the docs say \"always use tabs here\"⟧", "⟦Ann says \"we never use npm\"⟧"],
            &["⟦say \"seat\", not \"chair\"⟧", "⟦errors read \"please try it again\"⟧"],
        ],
    },
    SpanVeto {
        name: "points back",
        applies: |span| span.points_back(),
        examples: [
            &["⟦it belongs in src/⟧", "⟦that is how we do it⟧", "⟦das machen wir immer so⟧"],
            &["⟦tests belong in src/⟧", "⟦the cache is in Redis⟧"],
        ],
    },
    SpanVeto {
        name: "too short",
        applies: |span| {
            let words = span.words();
            let is_word = |it: &&str| it.contains(char::is_alphanumeric) || it.starts_with('`');
            words.split_whitespace().filter(is_word).count() < 2
                && words.chars().filter(|c| has_no_spaces(*c)).count() < FEWEST_CHARS
        },
        examples: [&["⟦pnpm⟧ please", "⟦用它⟧"], &["⟦use pnpm⟧", "⟦注释用中文⟧", "⟦use `&&`⟧"]],
    },
    SpanVeto {
        name: "too long",
        applies: |span| span.words().chars().count() > MOST_CHARS,
        examples: [&[], &["⟦use pnpm⟧"]],
    },
    // "No use X" is an answer in English and a ban in Spanish: one of both would be kept as its
    // opposite.
    SpanVeto {
        name: "answer or ban",
        applies: |span| {
            let words = format!("{}{}", span.before(), span.words()).to_lowercase();
            let rest = words.trim_start().strip_prefix("no use ");
            rest.is_some_and(|rest| rest.split_whitespace().count() < 3)
        },
        examples: [&["no ⟦use var⟧", "⟦no use var⟧"], &["no, ⟦use var⟧", "no ⟦uses var⟧"]],
    },
];

/// Returns the first veto that applies.
pub(super) fn first_veto(span: &SpanContext<'_>) -> Option<&'static SpanVeto> {
    VETOES.iter().find(|veto| (veto.applies)(span))
}

/// True if a quotation opens before the span and closes behind it.
fn is_quoted(span: &SpanContext<'_>) -> bool {
    QUOTATION_MARKS.iter().any(|(open, close)| {
        let opens = if open == close {
            span.before().matches(*open).count() % 2 == 1
        } else {
            span.before().rfind(*open) > span.before().rfind(*close)
        };
        opens && span.behind().contains(*close)
    })
}

/// True if the span has a sentence in quotation marks, and a word of saying before it.
fn cites_others(span: &SpanContext<'_>) -> bool {
    let words = span.words();
    let cited = words.char_indices().find_map(|(at, c)| {
        let (_, close) = QUOTATION_MARKS.iter().find(|(open, _)| *open == c)?;
        let cited = words[at + c.len_utf8()..].split(*close).next()?;
        (cited.split_whitespace().count() > 2).then_some(at)
    });
    let says = |at: usize| {
        let before = tokenize_text(&words[..at]);
        before.iter().rev().take(2).any(|it| it.is(WordClasses::SAYS))
    };
    cited.is_some_and(says)
}

/// Returns a text without punctuation at its edges; brackets, code and paths keep theirs.
fn trim_marks(text: &str) -> &str {
    let is_mark = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '.' | ','
                    | ';'
                    | ':'
                    | '!'
                    | '?'
                    | '…'
                    | '—'
                    | '–'
                    | '。'
                    | '，'
                    | '、'
                    | '！'
                    | '；'
                    | '：'
            )
    };
    let is_opening = |c: char| is_mark(c) && c != '.';
    text.trim_end_matches(is_mark).trim_start_matches(is_opening)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applies(veto: &SpanVeto, example: &str) -> bool {
        let (before, rest) = example.split_once('⟦').unwrap_or(("", example));
        let (words, behind) = rest.split_once('⟧').unwrap_or((rest, ""));
        let text = [before, words, behind].concat();
        let span = before.len()..before.len() + words.len();
        let sentence = TokenizedSentence::new(&text, &(0..text.len()));
        (veto.applies)(&SpanContext::new(&text, span, &sentence))
    }

    #[test]
    fn each_veto_applies_to_its_examples_only() {
        for veto in VETOES {
            let [stopped, passed] = veto.examples;
            for example in stopped {
                assert!(applies(veto, example), "{}: {example}", veto.name);
            }
            for example in passed {
                assert!(!applies(veto, example), "{}: {example}", veto.name);
            }
        }
    }

    #[test]
    fn punctuation_at_the_edges_is_no_part_of_a_statement() {
        assert_eq!(trim_marks(", use `make`!! "), "use `make`");
        assert_eq!(trim_marks(".env stays private."), ".env stays private");
        assert_eq!(trim_marks("keep src/ (all of it)"), "keep src/ (all of it)");
    }
}
