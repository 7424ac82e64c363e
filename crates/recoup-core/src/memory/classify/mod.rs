//! What a prompt says that is worth keeping, without a model of a provider: corrections,
//! preferences, facts about the project, how it is run, and that something has to be
//! done again. In doubt nothing.
//!
//! ```text
//! prompt ──► without private text ──► refused? ──► sentences ──► features ──► weights ──► doubts ──► statement
//! ```
//!
//! Sentences are read by their form: what is written by machines, pasted or quoted is left
//! out before, and a small linear model weighs what remains. What it says is checked once
//! more by rules that no weight can overrule.

mod announced;
mod complaint;
mod concepts;
mod doubt;
mod features;
mod lasting;
mod lines;
mod machine;
mod model;
mod openers;
mod order;
mod outline;
mod passing;
mod phrases;
mod quoted;
mod reach;
mod report;
mod secret;
mod sentences;
mod signs;
mod statement;
mod tokens;
pub mod training;

use super::NoteKind;
use super::private;
use super::refuse::{self, Refusal};
use super::topic;

pub use model::Model;
use model::{NONE, Odds, RE_ASK};
use outline::Outline;
use signs::Sign;

/// From here on a sentence is kept.
const SURE: f32 = 0.5;
/// From here on it may be worth keeping.
const MAYBE: f32 = 0.25;
/// What is less likely is none even among rules, of which there are at least so many.
const AMONG_RULES: f32 = 0.15;
const FEWEST_RULES: usize = 3;
/// What is left of doubts where the form of a sentence says that it lasts.
const LIKELY: f32 = 0.55;
const CLEAR: f32 = 0.53;
/// From here on something has to be done again.
const ASKED_AGAIN: f32 = 0.35;
/// One prompt says no more than that, and what it announces.
const MOST_SAYINGS: usize = 12;
const MOST_DOUBTFUL: usize = 4;

/// The kinds of memory by the model's classes.
const KINDS: [(usize, NoteKind); 4] = [
    (1, NoteKind::Correction),
    (2, NoteKind::Preference),
    (3, NoteKind::ProjectKnowledge),
    (4, NoteKind::Devops),
];

/// What was found in a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// The user says that something does not work or is not what was wanted.
    pub re_ask: bool,
    /// What is worth keeping, the surest first.
    pub sayings: Vec<Saying>,
    /// What may be worth keeping: not sure enough to be kept by itself.
    pub doubtful: Vec<Saying>,
    /// Why nothing of it is kept: it has a secret, or speaks about the agent's instructions.
    pub refused: Option<Refusal>,
    /// True if it is a statement that would have been kept but for a secret in it, so that the
    /// user should know.
    pub withheld: bool,
}

/// A statement that is worth keeping.
#[derive(Debug, Clone, PartialEq)]
pub struct Saying {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The statement: a clean imperative or a fact, with its negation.
    pub text: String,
    /// The user's own words.
    pub quote: String,
    /// The user says that it holds in all projects.
    pub universal: bool,
    /// The files for which it holds, as a glob from the project's root.
    pub paths: Option<String>,
    /// What it is about.
    pub topic: Option<String>,
    /// How sure we are, from 0 to 1.
    pub confidence: f32,
    /// True if the user says that it is to last. What is not may be meant for this task only.
    pub lasting: bool,
}

/// Reads what a user typed.
pub fn classify(prompt: &str) -> Reading {
    classify_with(prompt, &Model::shipped())
}

/// The same with other weights.
pub fn classify_with(prompt: &str, model: &Model) -> Reading {
    let open = private::spoken_openly(prompt);
    let secret = secret::detect(&open);
    let outline = Outline::of(&open);
    if outline.units.is_empty() {
        return Reading { refused: secret.map(Refusal::Secret), ..Reading::default() };
    }
    let read = features::Read::of(&outline);
    let odds: Vec<Odds> =
        (0..outline.units.len()).map(|at| model.odds(&features::of(&outline, &read, at))).collect();
    let universal = reach::is_universal(&read);
    let worths = worths(&outline, &read, &odds);
    if let Some(rule) = secret {
        let is_statement = worths.iter().any(|(_, worth)| *worth >= SURE);
        // Whoever says what a password is means it to be known.
        let withheld = is_statement || rule == "password-in-text";
        return Reading { refused: Some(Refusal::Secret(rule)), withheld, ..Reading::default() };
    }
    let mut found: Vec<Saying> = worths
        .into_iter()
        .filter_map(|(at, worth)| {
            let lasting = lasting::has_lasting_sign(&outline, &read, at);
            let found = saying(&outline, at, &odds[at], worth, universal)?;
            Some(Saying { lasting, ..found })
        })
        .collect();
    found.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let (sayings, doubtful) = found.into_iter().partition(|it| it.confidence >= SURE);
    let announced = (0..outline.units.len()).filter(|at| announced::is_item(&outline, &read, *at));
    let most = MOST_SAYINGS + announced.count();
    let (sayings, doubtful) = (distinct(sayings, most), distinct(doubtful, MOST_DOUBTFUL));
    let re_ask =
        odds.iter().any(|it| it[RE_ASK] >= ASKED_AGAIN) || complaint::is_among(&outline, &read);
    if !(sayings.is_empty() && doubtful.is_empty()) && speaks_of_instructions(&outline) {
        let refused = (!sayings.is_empty()).then_some(Refusal::Instructions);
        return Reading { re_ask, refused, ..Reading::default() };
    }
    Reading { re_ask, sayings, doubtful, ..Reading::default() }
}

/// What may be worth keeping, with how likely that is. Where most of a prompt is rules, what
/// stands among them is one, too.
fn worths(outline: &Outline, read: &features::Read, odds: &[Odds]) -> Vec<(usize, f32)> {
    let mut all: Vec<(usize, f32)> = (0..outline.units.len())
        .map(|at| (at, announced::worth(outline, read, at, worth(&odds[at], read, at))))
        .filter(|(at, worth)| *worth >= AMONG_RULES && !doubt::stands_against(outline, read, *at))
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

/// Each once, and not too many.
fn distinct(sayings: Vec<Saying>, most: usize) -> Vec<Saying> {
    let mut kept: Vec<Saying> = Vec::new();
    for it in sayings {
        if kept.len() < most && kept.iter().all(|other| other.text != it.text) {
            kept.push(it);
        }
    }
    kept
}

/// How likely it is that a sentence is worth keeping. What says by its form that it lasts
/// needs less from the weights.
fn worth(odds: &Odds, read: &features::Read, at: usize) -> f32 {
    let memory = 1.0 - odds[NONE] - odds[RE_ASK];
    let doubted = match signs::of(&read.tokens[at]) {
        Sign::None => return memory,
        Sign::Asked => return (1.0 - (1.0 - memory) * LIKELY).max(SURE),
        Sign::Likely => LIKELY,
        Sign::Clear => CLEAR,
    };
    1.0 - (1.0 - memory) * doubted
}

fn saying(
    outline: &Outline,
    at: usize,
    odds: &Odds,
    worth: f32,
    universal: bool,
) -> Option<Saying> {
    let quote = &outline.units[at].text;
    let text = statement::of(quote)?;
    // That something is not right yet is no rule.
    if text.to_lowercase().starts_with("still ") {
        return None;
    }
    if refuse::refusal(&text).is_some() {
        return None;
    }
    let (_, kind) = KINDS.into_iter().max_by(|a, b| odds[a.0].total_cmp(&odds[b.0]))?;
    Some(Saying {
        kind,
        quote: quote.clone(),
        universal,
        paths: reach::paths(&text),
        topic: topic::topic(&text),
        confidence: worth,
        lasting: false,
        text,
    })
}

/// Whether a prompt speaks about the agent's instructions: then nothing of it is kept, not
/// even what is harmless by itself. Of what is foreign nothing is kept anyway.
fn speaks_of_instructions(outline: &Outline) -> bool {
    outline.units.iter().any(|unit| {
        let text = &unit.text;
        let end = text.char_indices().nth(refuse::MOST_CHARS).map_or(text.len(), |(at, _)| at);
        refuse::refusal(&text[..end]) == Some(Refusal::Instructions)
    })
}
