//! Spans of a prompt that the tagger marks, and the statements that they make.

use std::ops::Range;

use crate::memory::capture::tagger::network::{SpanOutput, TaggerOutput, TaggerWeights};
use crate::memory::capture::vetoes::SpanContext;
use crate::memory::capture::{limits, tagger, vetoes};
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, Token, negates, tokenize_text};
use crate::memory::model::note::{NoteKind, NoteScope, NoteSource};
use crate::memory::model::statement::Statement;

/// Most tokens that are read.
const MOST_TOKENS: usize = 1_500;
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
    /// True if its sentence hedges: "maybe", "I think".
    pub(super) is_hedged: bool,
    /// How sure it is that the span is to be kept, in view of the whole prompt.
    pub(super) score: f32,
    outputs: SpanOutput,
}

/// Tags a text without private parts and machine text.
pub(super) fn tag_text(text: &str, weights: &TaggerWeights<'_>) -> TaggedText {
    let mut tokens = tagger::read_tokens(text, &weights.concepts());
    tokens.truncate(MOST_TOKENS);
    let TaggerOutput { prompt: [worth, re_ask, _], spans } = weights.tag(&tokens);
    let bytes = |range: Range<usize>| {
        tokens.tokens[range.start].span.start..tokens.tokens[range.end - 1].span.end
    };
    let heard = spans.into_iter().map(|span| {
        let words = bytes(span.tokens.clone());
        let sentence = tokens.sentences.iter().find(|it| it.contains(&span.tokens.start));
        let sentence = sentence.map_or_else(|| words.clone(), |it| bytes(it.clone()));
        let (likely, taken_back) = (span.outputs.kept(), span.outputs.retraction());
        let score = (likely * (1.0 - taken_back) * worth).sqrt();
        let is_hedge = |it: &Token<'_>| it.is(WordClasses::HEDGE);
        let is_hedged = tokenize_text(&text[sentence.clone()]).iter().any(is_hedge);
        let outputs = span.outputs;
        HeardSpan { words, sentence, likely, taken_back, is_hedged, score, outputs }
    });
    TaggedText { re_ask, spans: heard.collect() }
}

impl HeardSpan {
    /// Makes a statement in the user's own words; none if a veto applies. One that points back to
    /// other words is kept as its whole sentence.
    pub(super) fn to_statement(&self, text: &str, scope: &NoteScope) -> Option<Statement> {
        let words = with_negation(text, &self.words, &self.sentence);
        let words = with_closing_signs(text, without_frame(text, words, &self.sentence));
        let narrow = SpanContext::new(text, words, self.sentence.clone());
        let context = if narrow.points_back() { narrow.whole_sentence() } else { narrow };
        if vetoes::first_veto(&context).is_some() {
            return None;
        }
        let own = one_line(context.words());
        let likely = |kind: &(usize, NoteKind)| self.outputs.kind(kind.0);
        let (_, kind) = KINDS.into_iter().max_by(|a, b| likely(a).total_cmp(&likely(b)))?;
        let sentence = context.sentence();
        let is_short = sentence.len() <= MOST_QUOTED && !sentence.contains('\n');
        let quote = if is_short { sentence } else { context.words() };
        let is_universal = self.outputs.is_universal() || limits::is_universal(sentence);
        let scope = if is_universal { NoteScope::Universal } else { scope.clone() };
        Some(Statement {
            quote: Some(quote.to_owned()),
            paths: limits::path_glob(sentence, self.outputs.is_limited()),
            until: limits::ending(sentence, self.outputs.has_end()),
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

/// Widens a span by a negation in the clause before it, or right behind it: without that it would
/// say the opposite.
fn with_negation(text: &str, words: &Range<usize>, sentence: &Range<usize>) -> Range<usize> {
    let tokens = tokenize_text(&text[sentence.clone()]);
    let from = |at: usize| tokens[at].start + sentence.start;
    let to = |at: usize| tokens[at].span().end + sentence.start;
    let goes_on = |at: &usize| tokens[*at].ends == ClauseEnd::Nothing;
    let before = (0..tokens.len()).rev().skip_while(|at| to(*at) > words.start);
    let before = before.take(NEAR).take_while(goes_on);
    let start = before.filter(|at| negates(&tokens, *at)).last().map_or(words.start, from);
    let behind = (1..tokens.len()).find(|at| from(*at) >= words.end);
    let behind = behind.filter(|at| goes_on(&(at - 1)) && negates(&tokens, *at));
    // "Not" in the middle of a clause belongs to what follows.
    let is_last = |at: &usize| at + 1 == tokens.len() || !goes_on(at);
    let end = behind.filter(is_last).map_or(words.end, to);
    start..end
}

/// Leaves out phrases that only open or close a statement, such as "from now on", "remember that" or
/// "please", also where the span begins in the middle of one.
fn without_frame(text: &str, words: Range<usize>, sentence: &Range<usize>) -> Range<usize> {
    const BETWEEN: [char; 9] = [' ', ',', ':', ';', '-', '–', '—', '，', '：'];
    let start = after_opening(text, sentence.clone()).max(words.start);
    let start = after_opening(text, start.min(words.end)..words.end);
    let tokens = tokenize_text(&text[start..words.end]);
    let is_closing = |token: &&Token<'_>| token.is(WordClasses::CLOSING) && !token.is_glued;
    let closing = tokens.iter().rev().take_while(is_closing).count();
    if closing == tokens.len() {
        return words;
    }
    let end = tokens.get(tokens.len() - closing).map_or(words.end, |it| start + it.start);
    let kept = text[start..end].trim_start_matches(BETWEEN);
    let start = end - kept.len();
    start..start + kept.trim_end_matches(BETWEEN).len()
}

/// Position behind the opening phrases of a range.
fn after_opening(text: &str, range: Range<usize>) -> usize {
    let tokens = tokenize_text(&text[range.clone()]);
    let folded: Vec<&str> = tokens.iter().map(|it| it.folded.as_str()).collect();
    let mut count = 0;
    while let Some(more) = lexicon::OPENING.matched_start(&folded[count..]) {
        // A word that denies is no opening in any language; "don't forget to" is.
        if more == 1 && negates(&tokens, count) {
            break;
        }
        count += more;
    }
    count.checked_sub(1).map_or(range.start, |last| range.start + tokens[last].span().end)
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
