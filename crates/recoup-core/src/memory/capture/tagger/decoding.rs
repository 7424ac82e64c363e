//! Spans from the tags of tokens: the best path through inside and outside, where a span costs as
//! much as its first and last token are unlikely to be such.

use std::ops::Range;

use crate::memory::capture::tagger::network::TOKEN_OUTPUTS;
use crate::memory::capture::tagger::tokens::{PromptTokens, TokenKind};

/// Advantage of being inside when spans are looked for, and when they are made tighter.
const GENEROUS: f32 = 3.0;
const TIGHT: f32 = 0.0;

/// State before a token on the best path to it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathStep {
    Outside,
    Inside,
    /// Inside a span that ended just before.
    NextSpan,
}

/// Returns the spans of a prompt, without punctuation at their edges: they are looked for generously
/// and then made tighter. None goes beyond a sentence.
pub fn decode_spans(tokens: &PromptTokens, tags: &[[f32; TOKEN_OUTPUTS]]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    for sentence in &tokens.sentences {
        for found in best_path(&tags[sentence.clone()], GENEROUS) {
            let found = sentence.start + found.start..sentence.start + found.end;
            let tight = best_path(&tags[found.clone()], TIGHT);
            let tight = tight.into_iter().map(|it| found.start + it.start..found.start + it.end);
            let mut tight: Vec<Range<usize>> = tight.filter(|it| it.len() > 1).collect();
            if tight.is_empty() {
                tight.push(found);
            }
            spans.extend(tight);
        }
    }
    spans.iter().map(|span| trim_span(tokens, span)).filter(|span| !span.is_empty()).collect()
}

/// Ranges of the tokens that are inside on the best path, where `bias` is the advantage of being
/// inside.
fn best_path(tags: &[[f32; TOKEN_OUTPUTS]], bias: f32) -> Vec<Range<usize>> {
    let likely = |probability: f32| probability.clamp(1e-4, 1.0 - 1e-4).ln().max(-4.0);
    let (mut outside, mut inside) = (0.0_f32, f32::MIN);
    let mut steps: Vec<[PathStep; 2]> = Vec::with_capacity(tags.len());
    let mut ends = (-9.0, 0.0);
    for [within, first, last] in tags {
        let gain = (within.clamp(1e-4, 1.0 - 1e-4).ln() - (1.0 - within).clamp(1e-4, 1.0).ln()
            + bias)
            .clamp(-4.0, 4.0);
        let (begins, goes_on) = (likely(*first), likely(1.0 - first) + ends.1);
        let left = inside + ends.0;
        let paths = [
            (inside + goes_on, PathStep::Inside),
            (outside + begins, PathStep::Outside),
            (left + begins, PathStep::NextSpan),
        ];
        let best = paths.into_iter().reduce(|best, it| if it.0 > best.0 { it } else { best });
        let (into, step) = best.unwrap_or((f32::MIN, PathStep::Outside));
        let out = if left > outside { PathStep::Inside } else { PathStep::Outside };
        steps.push([out, step]);
        (outside, inside) = (outside.max(left), into + gain);
        ends = (likely(*last), likely(1.0 - last));
    }
    let mut spans = Vec::new();
    let mut end = (inside + ends.0.max(-2.0) > outside).then_some(tags.len());
    for (at, [out, step]) in steps.iter().enumerate().rev() {
        match end {
            Some(to) if *step != PathStep::Inside => {
                spans.push(at..to);
                end = (*step == PathStep::NextSpan).then_some(at);
            }
            None if *out == PathStep::Inside => end = Some(at),
            _ => {}
        }
    }
    spans.reverse();
    spans
}

fn trim_span(tokens: &PromptTokens, span: &Range<usize>) -> Range<usize> {
    let is_edge = |at: &usize| {
        !matches!(
            tokens.tokens[*at].kind,
            TokenKind::Sign | TokenKind::Break | TokenKind::Mark | TokenKind::Block
        )
    };
    let from = span.clone().find(is_edge).unwrap_or(span.end);
    let to = span.clone().rev().find(is_edge).map_or(span.end, |at| at + 1);
    from..to.max(from)
}
