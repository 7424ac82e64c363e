//! Statements that the tagger finds: its spans with their sentence, their scope and their end.

use std::ops::Range;

use crate::memory::capture::extraction::{self, POINTS_BACK};
use crate::memory::capture::lines;
use crate::memory::capture::tagger::network::{TaggedSpan, TaggerOutput, TaggerWeights};
use crate::memory::capture::tagger::tokens::{PromptTokens, TokenKind, sentence_ranges};
use crate::memory::capture::{ClassifiedStatement, KINDS, MOST_DOUBTFUL, PromptClassification};
use crate::memory::guard::refusal::statement_refusal;

/// Most tokens that are read.
const MOST_TOKENS: usize = 1_500;
/// Most words of a short prompt.
const SHORT: usize = 8;
/// Least score of a span that is kept, and of one that may be worth keeping.
const SURE: f32 = 0.95;
const MAYBE: f32 = 0.3;
/// Least score with which the tagger agrees to a sentence, or at least doubts.
const AGREED: f32 = 0.5;
const DOUBTED: f32 = 0.1;
/// Least probability of a request to do something again.
const ASKED_AGAIN: f32 = 0.5;
/// Longest quote; of a longer sentence only the statement is quoted.
const MOST_QUOTED: usize = 300;
/// Outputs of a span: retraction among the kinds, then the flags.
const RETRACTION: usize = 5;
const UNIVERSAL: usize = 6;
const LIMITED: usize = 7;
const ENDING: usize = 8;

/// Reading of a prompt by the tagger.
#[derive(Debug, Default)]
pub(super) struct TaggedPrompt {
    /// Probability that the user asks again.
    pub(super) re_ask: f32,
    /// End of what was read, in bytes.
    read_to: usize,
    /// Spans that may be statements.
    pub(super) statements: Vec<TaggedStatement>,
    /// Words that take something back, with their probability.
    pub(super) retractions: Vec<(f32, String)>,
}

/// A span that may be a statement, and its position in the text.
#[derive(Debug)]
pub(super) struct TaggedStatement {
    pub(super) span: Range<usize>,
    /// None if the span makes no statement by itself.
    pub(super) statement: Option<ClassifiedStatement>,
    pub(super) score: f32,
}

impl TaggedPrompt {
    /// Reads a text without private parts and machine text.
    pub(super) fn of(text: &str) -> Self {
        let Some(weights) = TaggerWeights::shipped() else { return Self::default() };
        let mut tokens = PromptTokens::of(text, &lines::hidden_ranges(text), &weights.concepts());
        tokens.tokens.truncate(MOST_TOKENS);
        let TaggerOutput { prompt: [worth, re_ask, _], spans } = weights.tag(&tokens);
        let read_to = tokens.tokens.last().map_or(0, |last| last.span.end);
        let mut tagged = Self { re_ask, read_to, ..Self::default() };
        let sentences = sentence_ranges(text, &tokens);
        let bytes = |range: Range<usize>| {
            tokens.tokens[range.start].span.start..tokens.tokens[range.end - 1].span.end
        };
        for span in spans {
            let words = bytes(span.tokens.clone());
            let taken_back = span.outputs[RETRACTION];
            if taken_back > 0.5 {
                tagged.retractions.push((span.outputs[0], one_line(&text[words.clone()])));
            }
            let score = (span.outputs[0] * (1.0 - taken_back) * worth).sqrt();
            let first = sentences.iter().find(|it| it.contains(&span.tokens.start));
            let last = sentences.iter().find(|it| it.contains(&(span.tokens.end - 1)));
            let around = match (first, last) {
                (Some(first), Some(last)) => bytes(first.start..last.end),
                _ => words.clone(),
            };
            let statement = make_statement(text, &tokens, &span, &words, around, score);
            tagged.statements.push(TaggedStatement { span: words, statement, score });
        }
        tagged
    }

    /// Highest score of the spans in a range of the text.
    pub(super) fn score_within(&self, range: &Range<usize>) -> f32 {
        let meets = |it: &&TaggedStatement| it.span.start < range.end && range.start < it.span.end;
        self.statements.iter().filter(meets).map(|it| it.score).fold(0.0, f32::max)
    }
}

impl TaggedPrompt {
    /// Combines this with what the sentences say one by one. In a short prompt a sentence says all
    /// there is to know; in a longer one the tagger must agree.
    /// The tagger hears nothing in `foreign` sentences, and has no say in `announced` ones.
    pub(super) fn combine(
        self,
        by_sentence: PromptClassification,
        text: &str,
        foreign: &[&str],
        announced: &[&str],
    ) -> PromptClassification {
        let is_short = text.split_whitespace().count() <= SHORT;
        let re_ask = self.re_ask >= ASKED_AGAIN || by_sentence.re_ask;
        let mut combined = PromptClassification { re_ask, ..PromptClassification::default() };
        let place = |statement: &ClassifiedStatement| {
            let from = text.find(statement.quote.as_str())?;
            Some(from..from + statement.quote.len())
        };
        let agrees = |statement: &ClassifiedStatement| {
            let enough = if statement.lasting { 0.0 } else { AGREED };
            // The tagger has no say about what it has not read.
            place(statement).is_some_and(|place| {
                place.start >= self.read_to || self.score_within(&place) >= enough
            })
        };
        // If most of a prompt is rules, so are the sentences among them.
        let count = by_sentence.sayings.iter().filter(|it| agrees(it)).count();
        let is_trusted = is_short || (count >= 3 && count * 2 > by_sentence.sayings.len());
        let mut heard: Vec<Range<usize>> = Vec::new();
        heard.extend(foreign.iter().filter_map(|it| text.find(it).map(|at| at..at + it.len())));
        for mut statement in by_sentence.sayings {
            let score = place(&statement).map_or(0.0, |place| self.score_within(&place));
            heard.extend(place(&statement));
            let is_announced = announced.contains(&statement.quote.as_str());
            if is_trusted || is_announced || agrees(&statement) {
                statement.lasting |= score >= SURE && !is_short;
                combined.sayings.push(statement);
            } else if score >= DOUBTED {
                combined.doubtful.push(statement);
            }
        }
        let is_heard =
            |span: &Range<usize>| heard.iter().any(|it| it.start < span.end && span.start < it.end);
        let doubtful: Vec<(ClassifiedStatement, f32)> = by_sentence
            .doubtful
            .into_iter()
            .map(|it| {
                let score = place(&it).map_or(0.0, |place| self.score_within(&place));
                (it, score)
            })
            .collect();
        let mut found: Vec<TaggedStatement> = self.statements;
        found.sort_by(|a, b| b.score.total_cmp(&a.score));
        for TaggedStatement { span, statement, score } in found {
            let Some(statement) = statement.filter(|_| !is_heard(&span)) else { continue };
            let is_known =
                |all: &[ClassifiedStatement]| all.iter().any(|it| it.text == statement.text);
            if is_known(&combined.sayings) || is_known(&combined.doubtful) {
                continue;
            }
            if score >= SURE && !is_short {
                combined.sayings.push(statement);
            } else if score >= MAYBE {
                combined.doubtful.push(statement);
            }
        }
        for (statement, score) in doubtful {
            let mut known = combined.sayings.iter().chain(&combined.doubtful);
            let is_known = known.any(|it| it.quote == statement.quote || it.text == statement.text);
            if !is_known && (is_short || score >= DOUBTED) {
                combined.doubtful.push(statement);
            }
        }
        let sure = self.retractions.into_iter().filter(|(likely, _)| *likely >= 0.5);
        combined.retractions = sure.map(|(_, words)| words).collect();
        combined.doubtful.truncate(MOST_DOUBTFUL);
        combined
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Makes a statement of a span. One that points back to other words is kept as its whole sentence
/// or not at all.
fn make_statement(
    text: &str,
    tokens: &PromptTokens,
    span: &TaggedSpan,
    words: &Range<usize>,
    around: Range<usize>,
    score: f32,
) -> Option<ClassifiedStatement> {
    if span.tokens.clone().all(|at| tokens.is_quoted(at)) {
        return None;
    }
    let points_back = |words: &str| {
        let first = words.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        POINTS_BACK.contains(&first.to_lowercase().as_str())
    };
    let sentence = text[around].trim().trim_start_matches(['-', '*', '•', ' ']);
    let mut own = one_line(&text[words.clone()]);
    if points_back(&own) {
        own = one_line(sentence);
        if points_back(&own) {
            return None;
        }
    }
    let statement = extraction::extract_statement(&own)?;
    if statement_refusal(&statement).is_some() {
        return None;
    }
    let (_, kind) =
        KINDS.into_iter().max_by(|a, b| span.outputs[a.0].total_cmp(&span.outputs[b.0]))?;
    let is_short = sentence.len() <= MOST_QUOTED && !sentence.contains('\n');
    let quote = if is_short { sentence } else { text[words.clone()].trim() };
    let limit = || {
        let is_name =
            |at: &usize| matches!(tokens.tokens[*at].kind, TokenKind::Path | TokenKind::Code);
        let mut candidates = span.tokens.clone().filter(is_name);
        candidates.find_map(|at| extraction::glob_of(&text[tokens.tokens[at].span.clone()]))
    };
    let paths = extraction::path_glob(&statement)
        .or_else(|| (span.outputs[LIMITED] > 0.5).then(limit).flatten());
    Some(ClassifiedStatement {
        kind,
        quote: quote.to_owned(),
        universal: span.outputs[UNIVERSAL] > 0.5,
        paths,
        until: (span.outputs[ENDING] > 0.5).then(|| ending_words(&statement)).flatten(),
        confidence: score,
        lasting: true,
        text: statement,
    })
}

/// Words with which the end of a statement's validity begins.
const UNTIL: &[&str] = &[
    "until ",
    "till ",
    "while ",
    "as long as ",
    "for this ",
    "bis ",
    "solange ",
    "jusqu",
    "tant que ",
    "hasta ",
    "mientras ",
    "até ",
    "enquanto ",
    "fino ",
    "finché ",
    "tot ",
    "zolang ",
    "до ",
    "пока ",
];

/// Words of a statement that say when it ends.
fn ending_words(statement: &str) -> Option<String> {
    let lower = statement.to_lowercase();
    if lower.len() != statement.len() {
        return None;
    }
    let at = UNTIL.iter().filter_map(|word| lower.find(&format!(" {word}"))).min()?;
    Some(statement[at + 1..].to_owned())
}
