//! From a prompt to statements, without a provider's model.
//!
//! ```text
//! prompt ──► without machine text ──► tagger ──► spans ──► vetoes ──► statements, candidates, retractions
//! ```
//!
//! A small neural network ([`tagger`]) reads the whole prompt and marks the words that are worth
//! keeping. Its score decides: a sure span is kept, a doubtful one waits as a candidate. A few vetoes,
//! which no score can overrule, guard against statements that nobody could understand later.

mod limits;
mod lines;
mod spans;
pub mod tagger;
pub mod transcript;
mod typed_text;
mod vetoes;

use crate::memory::capture::spans::HeardSpan;
use crate::memory::capture::tagger::network::TaggerWeights;
use crate::memory::guard::private_text::PublicText;
use crate::memory::guard::refusal::{self, RefusalReason};
use crate::memory::model::note::NoteScope;
use crate::memory::model::statement::Statement;

/// Least score of a span that is kept, and of one that waits as a candidate.
const SURE: f32 = 0.91;
const DOUBTFUL: f32 = 0.4;
/// Least probability that the user asks again, and that something is taken back.
const ASKED_AGAIN: f32 = 0.5;
const TAKEN_BACK: f32 = 0.5;
/// Most candidates of one prompt.
const MOST_CANDIDATES: usize = 4;

/// Content of a prompt that concerns memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptReading {
    /// True if the user says that something does not work or is not what was wanted.
    pub re_ask: bool,
    /// Statements worth keeping, in their order; those that are doubtful are not `lasting`.
    pub statements: Vec<Statement>,
    /// Words that name what the user takes back.
    pub retractions: Vec<String>,
    /// Reason why nothing is kept: it has a secret, or speaks about the agent's instructions.
    pub refused: Option<RefusalReason>,
    /// True if a statement would have been kept but for a secret in it; the user should be told.
    pub withheld: bool,
}

impl PromptReading {
    /// Statements that are kept at once.
    pub fn sure(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|it| it.lasting)
    }

    /// Statements that wait for more evidence.
    pub fn doubtful(&self) -> impl Iterator<Item = &Statement> {
        self.statements.iter().filter(|it| !it.lasting)
    }
}

/// Reads a user's prompt in a project. Statements hold there, unless the user says that they hold
/// everywhere.
pub fn read_prompt(prompt: &PublicText, scope: &NoteScope) -> PromptReading {
    let text = typed_text::readable_text(prompt.as_str());
    let secret = typed_text::detect_secret(prompt.as_str());
    let Some(tagged) = TaggerWeights::shipped().map(|weights| spans::tag_text(&text, &weights))
    else {
        return PromptReading::default();
    };
    let re_ask = tagged.re_ask >= ASKED_AGAIN;
    let is_sure = tagged.spans.iter().any(|span| span.score >= SURE);
    if let Some(rule) = secret {
        // A password that is told in words is meant to be known.
        let withheld = is_sure || rule == "password-in-text";
        let refused = Some(RefusalReason::Secret(rule));
        return PromptReading { refused, withheld, ..PromptReading::default() };
    }
    let (taken_back, kept): (Vec<HeardSpan>, Vec<HeardSpan>) =
        tagged.spans.into_iter().partition(|span| span.taken_back > TAKEN_BACK);
    let statements = to_statements(&text, kept, scope);
    // Nothing of a prompt about the agent's instructions is kept, not even what is harmless by
    // itself.
    if !statements.is_empty() && refusal::speaks_of_instructions(&text) {
        let refused = is_sure.then_some(RefusalReason::Instructions);
        return PromptReading { re_ask, refused, ..PromptReading::default() };
    }
    let retractions = taken_back
        .iter()
        .filter(|span| span.likely >= TAKEN_BACK)
        .map(|span| spans::one_line(&text[span.words.clone()]))
        .collect();
    PromptReading { re_ask, statements, retractions, ..PromptReading::default() }
}

/// Statements of the spans that score high enough, without duplicates.
fn to_statements(text: &str, mut spans: Vec<HeardSpan>, scope: &NoteScope) -> Vec<Statement> {
    spans.retain(|span| span.score >= DOUBTFUL);
    let mut statements: Vec<Statement> = Vec::new();
    let mut candidates = 0;
    for span in spans {
        let Some(statement) = span.to_statement(text, scope) else { continue };
        let is_known = statements.iter().any(|it| it.text == statement.text);
        if is_known || (!statement.lasting && candidates == MOST_CANDIDATES) {
            continue;
        }
        candidates += usize::from(!statement.lasting);
        statements.push(statement);
    }
    statements
}
