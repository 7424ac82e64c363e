//! Classifier of prompts, without a provider's model: finds corrections, preferences, facts about
//! the project, how it is run, and requests to do something again. In doubt it finds nothing.
//!
//! ```text
//! prompt ──► without private text ──► refused? ──► sentences ──► features ──► weights ──► doubts ──► statement
//! ```
//!
//! Text that was written by machines, pasted or quoted is left out first. A small linear model
//! scores the remaining sentences by their form, and rules that no weight can overrule check the
//! result.

mod announced;
mod complaint;
mod concepts;
mod exclusion;
mod extraction;
mod features;
#[allow(dead_code, reason = "its caller is being written")]
mod limits;
mod lines;
mod model;
mod one_off;
mod openers;
mod outline;
mod phrases;
mod report;
mod signs;
mod tagged;
pub mod tagger;
mod tokens;
pub mod training;
pub mod transcript;

use crate::memory::guard::private_text;
use crate::memory::guard::refusal as refuse;
use crate::memory::guard::refusal::RefusalReason;
use crate::memory::model::note::NoteKind;

pub use model::ClassifierModel;
use model::{ClassOdds, NONE, RE_ASK};
use outline::PromptOutline;
use signs::LastingSign;
use tagged::TaggedPrompt;

/// Least score of a sentence that is kept.
const SURE: f32 = 0.5;
/// Least score of one that may be worth keeping.
const MAYBE: f32 = 0.25;
/// Least score of a sentence among rules, of which there are at least `FEWEST_RULES`.
const AMONG_RULES: f32 = 0.15;
const FEWEST_RULES: usize = 3;
/// Factors for the remaining doubt if the form of a sentence says that it lasts.
const LIKELY: f32 = 0.55;
const CLEAR: f32 = 0.53;
/// Least probability of a request to do something again.
const ASKED_AGAIN: f32 = 0.35;
/// Most statements of one prompt, beside announced ones.
const MOST_SAYINGS: usize = 12;
const MOST_DOUBTFUL: usize = 4;

/// The kinds of memory by the model's classes.
const KINDS: [(usize, NoteKind); 4] = [
    (1, NoteKind::Correction),
    (2, NoteKind::Preference),
    (3, NoteKind::ProjectKnowledge),
    (4, NoteKind::Devops),
];

/// Result of classifying a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PromptClassification {
    /// The user says that something does not work or is not what was wanted.
    pub re_ask: bool,
    /// Statements worth keeping, the surest first.
    pub sayings: Vec<ClassifiedStatement>,
    /// Statements that may be worth keeping: not sure enough to be kept without more evidence.
    pub doubtful: Vec<ClassifiedStatement>,
    /// Words that name what the user takes back.
    pub retractions: Vec<String>,
    /// Reason why nothing is kept: it has a secret, or speaks about the agent's instructions.
    pub refused: Option<RefusalReason>,
    /// True if a statement would have been kept but for a secret in it; the user should be told.
    pub withheld: bool,
}

/// A statement that is worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassifiedStatement {
    /// Kind of content.
    pub kind: NoteKind,
    /// The statement: a clean imperative or a fact, with its negation.
    pub text: String,
    /// The user's own words.
    pub quote: String,
    /// The user says that it holds in all projects.
    pub universal: bool,
    /// Files to which it applies, as a glob from the project's root.
    pub paths: Option<String>,
    /// End of its validity, in the user's words.
    pub until: Option<String>,
    /// Confidence, from 0 to 1.
    pub confidence: f32,
    /// True if the user says that it is to last; else it may be meant for this task only.
    pub lasting: bool,
}

/// Classifies a user's prompt, by its sentences and by the tagger, which reads it whole.
pub fn classify(prompt: &str) -> PromptClassification {
    let by_sentence = classify_with(prompt, &ClassifierModel::shipped());
    if by_sentence.refused.is_some() {
        return by_sentence;
    }
    let open = private_text::without_private_and_opted_out(prompt);
    let text = outline::readable_text(&open);
    let tagged = TaggedPrompt::of(&text);
    let is_new = by_sentence.sayings.is_empty() && by_sentence.doubtful.is_empty();
    let outline = PromptOutline::of(&open);
    let read = features::TokenizedPrompt::of(&outline);
    let units = || 0..outline.units.len();
    let text_of = |at: usize| outline.units[at].text.as_str();
    let foreign = units().filter(|at| exclusion::is_foreign_text(&outline, &read, *at));
    let foreign: Vec<&str> = foreign.map(text_of).collect();
    let announced = units().filter(|at| announced::is_item_to_keep(&outline, &read, *at));
    let announced: Vec<&str> = announced.map(text_of).collect();
    let combined = tagged.combine(by_sentence, &text, &foreign, &announced);
    let has_any = !(combined.sayings.is_empty() && combined.doubtful.is_empty());
    if is_new && has_any && speaks_of_instructions(&outline) {
        let refused = (!combined.sayings.is_empty()).then_some(RefusalReason::Instructions);
        return PromptClassification {
            re_ask: combined.re_ask,
            refused,
            ..PromptClassification::default()
        };
    }
    combined
}

/// Classifies a prompt with other weights.
pub fn classify_with(prompt: &str, model: &ClassifierModel) -> PromptClassification {
    let open = private_text::without_private_and_opted_out(prompt);
    let secret = outline::detect_secret(&open);
    let outline = PromptOutline::of(&open);
    if outline.units.is_empty() {
        return PromptClassification {
            refused: secret.map(RefusalReason::Secret),
            ..PromptClassification::default()
        };
    }
    let read = features::TokenizedPrompt::of(&outline);
    let odds: Vec<ClassOdds> = (0..outline.units.len())
        .map(|at| model.odds(&features::sentence_features(&outline, &read, at)))
        .collect();
    let universal = read.is_universal();
    let worths = score_sentences(&outline, &read, &odds);
    if let Some(rule) = secret {
        let is_statement = worths.iter().any(|(_, worth)| *worth >= SURE);
        // A password that is told in words is meant to be known.
        let withheld = is_statement || rule == "password-in-text";
        return PromptClassification {
            refused: Some(RefusalReason::Secret(rule)),
            withheld,
            ..PromptClassification::default()
        };
    }
    let mut found: Vec<ClassifiedStatement> = worths
        .into_iter()
        .filter_map(|(at, worth)| {
            let lasting = signs::has_lasting_sign(&outline, &read, at);
            let found = extract_classified(&outline, at, &odds[at], worth, universal)?;
            Some(ClassifiedStatement { lasting, ..found })
        })
        .collect();
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let (sayings, doubtful) = found.into_iter().partition(|it| it.confidence >= SURE);
    let announced =
        (0..outline.units.len()).filter(|at| announced::is_item_to_keep(&outline, &read, *at));
    let most = MOST_SAYINGS + announced.count();
    let (sayings, doubtful) = (distinct(sayings, most), distinct(doubtful, MOST_DOUBTFUL));
    let re_ask = odds.iter().any(|it| it[RE_ASK] >= ASKED_AGAIN)
        || complaint::has_complaint(&outline, &read);
    if !(sayings.is_empty() && doubtful.is_empty()) && speaks_of_instructions(&outline) {
        let refused = (!sayings.is_empty()).then_some(RefusalReason::Instructions);
        return PromptClassification { re_ask, refused, ..PromptClassification::default() };
    }
    PromptClassification { re_ask, sayings, doubtful, ..PromptClassification::default() }
}

/// Scores of the sentences that may be worth keeping. If most of a prompt is rules, so are the
/// sentences among them.
fn score_sentences(
    outline: &PromptOutline,
    read: &features::TokenizedPrompt,
    odds: &[ClassOdds],
) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = (0..outline.units.len())
        .map(|at| {
            (
                at,
                announced::score_below_header(
                    outline,
                    read,
                    at,
                    score_sentence(&odds[at], read, at),
                ),
            )
        })
        .filter(|(at, worth)| *worth >= AMONG_RULES && !exclusion::is_excluded(outline, read, *at))
        .collect();
    let sure = all.iter().filter(|(_, worth)| *worth >= SURE).count();
    if sure >= FEWEST_RULES && sure * 2 > outline.units.len() {
        for (_, worth) in &mut all {
            *worth = worth.max(SURE);
        }
    }
    all.retain(|(_, worth)| *worth >= MAYBE);
    all
}

/// Drops duplicates, and all but the first `most`.
fn distinct(sayings: Vec<ClassifiedStatement>, most: usize) -> Vec<ClassifiedStatement> {
    let mut kept: Vec<ClassifiedStatement> = Vec::new();
    for it in sayings {
        if kept.len() < most && kept.iter().all(|other| other.text != it.text) {
            kept.push(it);
        }
    }
    kept
}

/// Probability that a sentence is worth keeping, raised if its form says that it lasts.
fn score_sentence(odds: &ClassOdds, read: &features::TokenizedPrompt, at: usize) -> f32 {
    let memory = 1.0 - odds[NONE] - odds[RE_ASK];
    let doubted = match signs::lasting_sign(&read.tokens[at]) {
        LastingSign::None => return memory,
        LastingSign::Asked => return (1.0 - (1.0 - memory) * LIKELY).max(SURE),
        LastingSign::Likely => LIKELY,
        LastingSign::Clear => CLEAR,
    };
    1.0 - (1.0 - memory) * doubted
}

fn extract_classified(
    outline: &PromptOutline,
    at: usize,
    odds: &ClassOdds,
    worth: f32,
    universal: bool,
) -> Option<ClassifiedStatement> {
    let quote = &outline.units[at].text;
    let text = extraction::extract_statement(quote)?;
    // A report that something is not right yet is no rule.
    if text.to_lowercase().starts_with("still ") {
        return None;
    }
    if refuse::statement_refusal(&text).is_some() {
        return None;
    }
    let (_, kind) = KINDS.into_iter().max_by(|a, b| odds[a.0].total_cmp(&odds[b.0]))?;
    Some(ClassifiedStatement {
        kind,
        quote: quote.clone(),
        universal,
        paths: extraction::path_glob(&text),
        until: None,
        confidence: worth,
        lasting: false,
        text,
    })
}

/// True if a prompt speaks about the agent's instructions: then nothing of it is kept, not even
/// what is harmless by itself. Foreign text is not kept anyway.
fn speaks_of_instructions(outline: &PromptOutline) -> bool {
    outline.units.iter().any(|unit| {
        let text = &unit.text;
        let end = text.char_indices().nth(refuse::MOST_CHARS).map_or(text.len(), |(at, _)| at);
        refuse::statement_refusal(&text[..end]) == Some(RefusalReason::Instructions)
    })
}
