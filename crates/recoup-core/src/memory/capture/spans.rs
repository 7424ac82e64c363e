//! Spans of a prompt that the tagger marks, and the statements that they make.

use std::ops::Range;

use crate::memory::capture::tagger::network::{SpanOutput, TaggerOutput, TaggerWeights};
use crate::memory::capture::vetoes::SpanContext;
use crate::memory::capture::{SURE, limits, tagger, vetoes};
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, Token, negates, split_at, tokenize_text};
use crate::memory::model::note::{NoteKind, NoteScope, NoteSource};
use crate::memory::model::statement::Statement;

/// Most tokens that are read.
const MOST_TOKENS: usize = 1_500;
/// Most tokens of a window.
const MOST_IN_WINDOW: usize = 150;
/// Longest quote, in bytes; of a longer sentence only the statement is quoted.
const MOST_QUOTED: usize = 300;

/// Kinds of memory by the tagger's outputs.
const KINDS: [(usize, NoteKind); 4] = [
    (SpanOutput::CORRECTION, NoteKind::Correction),
    (SpanOutput::PREFERENCE, NoteKind::Preference),
    (SpanOutput::KNOWLEDGE, NoteKind::ProjectKnowledge),
    (SpanOutput::DEVOPS, NoteKind::Devops),
];

/// A prompt as the tagger reads it.
#[derive(Debug, Default)]
pub(super) struct TaggedText {
    /// Probability that the user asks again.
    pub(super) re_ask: f32,
    /// Spans in their order.
    pub(super) spans: Vec<HeardSpan>,
}

/// A span of a text that may be a statement.
#[derive(Debug)]
pub(super) struct HeardSpan {
    /// Its words, as a range of the text.
    pub(super) words: Range<usize>,
    /// The sentence around it.
    sentence: Range<usize>,
    /// Probability that the span is to be kept or takes something back.
    pub(super) likely: f32,
    /// Probability that it takes something back.
    pub(super) taken_back: f32,
    /// How sure it is that the span is to be kept, in view of the whole prompt.
    pub(super) score: f32,
    outputs: SpanOutput,
}

/// Tags a text without private parts and machine text. In a long prompt a span is worth as much as
/// in the window around it: a rule is no less of one among many lines of a task.
pub(super) fn tag_text(text: &str, weights: &TaggerWeights<'_>) -> TaggedText {
    let mut tokens = tagger::read_tokens(text, &weights.concepts());
    tokens.truncate(MOST_TOKENS);
    let TaggerOutput { prompt: [worth, re_ask, _], spans } = weights.tag(&tokens);
    let bytes = |range: &Range<usize>| {
        tokens.tokens[range.start].span.start..tokens.tokens[range.end - 1].span.end
    };
    let mut windows = tokens.windows(MOST_IN_WINDOW).into_iter().peekable();
    let mut near = worth;
    let heard = spans.into_iter().map(|span| {
        let words = bytes(&span.tokens);
        let sentence = tokens.sentences.iter().find(|it| it.contains(&span.tokens.start));
        let sentence = sentence.map_or_else(|| words.clone(), bytes);
        while let Some(window) = windows.next_if(|it| it.start <= span.tokens.start) {
            if window.contains(&span.tokens.start) && window.len() < tokens.tokens.len() {
                let part = tagger::read_tokens(&text[bytes(&window)], &weights.concepts());
                near = weights.tag(&part).prompt[0].max(worth);
            }
        }
        let (likely, taken_back) = (span.outputs.kept(), span.outputs.retraction());
        let score = (likely * (1.0 - taken_back) * near).sqrt();
        HeardSpan { words, sentence, likely, taken_back, score, outputs: span.outputs }
    });
    TaggedText { re_ask, spans: heard.collect() }
}

impl HeardSpan {
    /// Makes a statement in the user's own words; none if a veto applies. One that points back to
    /// other words is kept as its whole sentence. It lasts if it is sure, and its sentence does not
    /// hedge: "maybe", "I think".
    pub(super) fn to_statement(&self, text: &str, scope: &NoteScope) -> Option<Statement> {
        let sentence = TokenizedSentence::new(text, &self.sentence);
        let words = sentence.without_frame(text, sentence.with_negation(&self.words));
        let words = with_closing_signs(text, words);
        let narrow = SpanContext::new(text, words, &sentence);
        let context = if narrow.points_back() { narrow.whole_sentence() } else { narrow };
        if vetoes::first_veto(&context).is_some() {
            return None;
        }
        let own = one_line(context.words());
        let likely = |kind: &(usize, NoteKind)| self.outputs.kind(kind.0);
        let (_, kind) = KINDS.into_iter().max_by(|a, b| likely(a).total_cmp(&likely(b)))?;
        let is_short = sentence.text.len() <= MOST_QUOTED && !sentence.text.contains('\n');
        let quote = if is_short { sentence.text } else { context.words() };
        let tokens = &sentence.tokens;
        let is_universal = self.outputs.is_universal() || limits::is_universal(tokens);
        let scope = if is_universal { NoteScope::Universal } else { scope.clone() };
        let is_hedged = tokens.iter().any(|it| it.is(WordClasses::HEDGE));
        Some(Statement {
            quote: Some(quote.to_owned()),
            paths: limits::path_glob(sentence.text, tokens, self.outputs.is_limited()),
            until: limits::ending(sentence.text, tokens, self.outputs.has_end()),
            lasting: self.score >= SURE && !is_hedged,
            ..Statement::new(kind, own, NoteSource::User, scope)
        })
    }
}

/// Words of a span on one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Most words between a negation and the span that it denies.
const NEAR: usize = 8;

/// A sentence of a prompt with its tokens, whose places are counted from its start.
#[derive(Debug)]
pub(super) struct TokenizedSentence<'t> {
    pub(super) text: &'t str,
    start: usize,
    tokens: Vec<Token<'t>>,
}

impl<'t> TokenizedSentence<'t> {
    /// Reads a sentence without the marks of a list before it.
    pub(super) fn new(prompt: &'t str, range: &Range<usize>) -> Self {
        let text = prompt[range.clone()].trim_end();
        let own = text.trim_start_matches(|c: char| c.is_whitespace() || "-*•".contains(c));
        let start = range.start + text.len() - own.len();
        Self { text: own, start, tokens: tokenize_text(own) }
    }

    /// Its place in the prompt.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Its tokens that begin in a range of the prompt.
    pub(super) fn tokens_in(&self, range: &Range<usize>) -> &[Token<'t>] {
        let count = |end: usize| self.tokens.partition_point(|it| it.start + self.start < end);
        &self.tokens[count(range.start)..count(range.end).max(count(range.start))]
    }

    /// Widens a span by a negation in the clause before it, or right behind it: without that it
    /// would say the opposite.
    fn with_negation(&self, words: &Range<usize>) -> Range<usize> {
        let tokens = &self.tokens;
        let from = |at: usize| tokens[at].start + self.start;
        let to = |at: usize| tokens[at].span().end + self.start;
        let goes_on = |at: &usize| tokens[*at].ends == ClauseEnd::Nothing;
        let before = (0..tokens.len()).rev().skip_while(|at| to(*at) > words.start);
        let before = before.take(NEAR).take_while(goes_on);
        let start = before.filter(|at| negates(tokens, *at)).last().map_or(words.start, from);
        let behind = (1..tokens.len()).find(|at| from(*at) >= words.end);
        let behind = behind.filter(|at| goes_on(&(at - 1)) && negates(tokens, *at));
        // "Not" in the middle of a clause belongs to what follows.
        let is_last = |at: &usize| at + 1 == tokens.len() || !goes_on(at);
        let end = behind.filter(is_last).map_or(words.end, to);
        start..end
    }

    /// Leaves out what only opens or closes a statement, such as "from now on", "remember that",
    /// "please" or "in all my projects", also where the span begins in the middle of it.
    fn without_frame(&self, prompt: &str, words: Range<usize>) -> Range<usize> {
        const BETWEEN: [char; 9] = [' ', ',', ':', ';', '-', '–', '—', '，', '：'];
        let tokens = &self.tokens;
        let count = |place: usize| tokens.partition_point(|it| it.start + self.start < place);
        let (from, to) = (count(words.start), count(words.end));
        let first = from.max(opening_length(tokens));
        let first = first + opening_length(tokens.get(first..to).unwrap_or_default());
        let last = to - closing_length(tokens.get(first..to).unwrap_or_default());
        if first >= last {
            return words;
        }
        let behind = |at: usize| self.start + tokens[at].span().end;
        let start = if first > from { behind(first - 1) } else { words.start };
        let end = if last < to { self.start + tokens[last].start } else { words.end };
        let kept = prompt[start..end].trim_start_matches(BETWEEN);
        let start = end - kept.len();
        start..start + kept.trim_end_matches(BETWEEN).len()
    }
}

/// Number of the tokens that only open a statement.
fn opening_length(tokens: &[Token<'_>]) -> usize {
    let folded: Vec<&str> = tokens.iter().map(|it| it.folded.as_str()).collect();
    let mut count = 0;
    loop {
        let phrase = lexicon::OPENING.matched_start(&folded[count..]);
        // A word that denies is no opening in any language; "don't forget to" is.
        let phrase = phrase.filter(|more| *more > 1 || !negates(tokens, count));
        let clause = split_at(&tokens[count..], ClauseEnd::Clause).next();
        let limit = || clause.filter(|it| limits::is_universal_only(it)).map(<[_]>::len);
        let Some(more) = phrase.or_else(limit) else { return count };
        count += more;
    }
}

/// Number of the tokens that only close a statement.
fn closing_length(tokens: &[Token<'_>]) -> usize {
    let is_closing = |token: &&Token<'_>| token.is(WordClasses::CLOSING) && !token.is_glued;
    let count = tokens.iter().rev().take_while(is_closing).count();
    let clause = split_at(&tokens[..tokens.len() - count], ClauseEnd::Clause).last();
    let limit = clause.filter(|it| limits::is_universal_only(it)).map(<[_]>::len);
    count + limit.unwrap_or_default()
}

/// Widens a span by the signs behind it that close what it opens.
fn with_closing_signs(text: &str, words: Range<usize>) -> Range<usize> {
    const PAIRS: [(char, char); 8] = [
        ('<', '>'),
        ('(', ')'),
        ('[', ']'),
        ('{', '}'),
        ('"', '"'),
        ('“', '”'),
        ('«', '»'),
        ('「', '」'),
    ];
    let mut end = words.end;
    while let Some(sign) = text[end..].chars().next() {
        let kept = &text[words.start..end];
        let closes = |(open, close): &(char, char)| {
            let (opened, closed) = (kept.matches(*open).count(), kept.matches(*close).count());
            sign == *close && if open == close { opened % 2 == 1 } else { opened > closed }
        };
        if !PAIRS.iter().any(closes) {
            break;
        }
        end += sign.len_utf8();
    }
    words.start..end
}
