//! Spans of a prompt that the tagger marks, and the statements that they make.

use std::ops::Range;

use crate::memory::capture::tagger::network::{SpanOutput, TaggerOutput, TaggerWeights};
use crate::memory::capture::vetoes::SpanContext;
use crate::memory::capture::{limits, tagger, vetoes};
use crate::memory::lang::token::{ClauseEnd, negates, tokenize_text};
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
        HeardSpan { words, sentence, likely, taken_back, score, outputs: span.outputs }
    });
    TaggedText { re_ask, spans: heard.collect() }
}

impl HeardSpan {
    /// Makes a statement in the user's own words; none if a veto applies. One that points back to
    /// other words is kept as its whole sentence.
    pub(super) fn to_statement(&self, text: &str, scope: &NoteScope) -> Option<Statement> {
        let words = with_negation(text, &self.words, &self.sentence);
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

/// Widens a span by a negation right before or behind it: without that it would say the opposite.
fn with_negation(text: &str, words: &Range<usize>, sentence: &Range<usize>) -> Range<usize> {
    let tokens = tokenize_text(&text[sentence.clone()]);
    let place = |at: usize| {
        let span = tokens[at].span();
        span.start + sentence.start..span.end + sentence.start
    };
    let before = (0..tokens.len()).rev().find(|at| place(*at).end <= words.start);
    let behind = (0..tokens.len()).find(|at| place(*at).start >= words.end);
    let mut widened = words.clone();
    if let Some(at) = before.filter(|at| tokens[*at].ends == ClauseEnd::Nothing)
        && negates(&tokens, at)
    {
        widened.start = place(at).start;
    }
    let is_joined = |at: &usize| {
        let last = at.checked_sub(1).map(|last| &tokens[last]);
        last.is_none_or(|last| last.ends == ClauseEnd::Nothing)
    };
    if let Some(at) = behind.filter(is_joined)
        && negates(&tokens, at)
        && tokens.get(at + 1).is_none_or(|_| tokens[at].ends != ClauseEnd::Nothing)
    {
        widened.end = place(at).end;
    }
    widened
}
