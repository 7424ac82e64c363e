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

mod concepts;
mod doubt;
mod features;
mod lines;
mod machine;
mod model;
mod openers;
mod outline;
mod reach;
mod sentences;
mod statement;
mod tokens;
pub mod training;

use super::NoteKind;
use super::private;
use super::refuse::{self, Refusal};
use super::topic;
use crate::secrets;

pub use model::Model;
use model::{NONE, Odds, RE_ASK};
use outline::Outline;

/// From here on a sentence is kept.
const SURE: f32 = 0.5;
/// From here on something has to be done again.
const ASKED_AGAIN: f32 = 0.5;
/// One prompt says no more than that.
const MOST_SAYINGS: usize = 4;

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
    /// Why nothing of it is kept, whatever it says.
    pub refused: Option<Refusal>,
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
}

/// Reads what a user typed.
pub fn classify(prompt: &str) -> Reading {
    classify_with(prompt, &Model::shipped())
}

/// The same with other weights.
pub fn classify_with(prompt: &str, model: &Model) -> Reading {
    let open = private::without_private(prompt);
    if let Some(refusal) = refused(&open) {
        return Reading { refused: Some(refusal), ..Reading::default() };
    }
    let outline = Outline::of(&open);
    if outline.units.is_empty() {
        return Reading::default();
    }
    let read = features::Read::of(&outline);
    let odds: Vec<Odds> =
        (0..outline.units.len()).map(|at| model.odds(&features::of(&outline, &read, at))).collect();
    let universal = reach::is_universal(&read);
    let mut sayings: Vec<Saying> = (0..outline.units.len())
        .filter(|at| memory(&odds[*at]) >= SURE && !doubt::stands_against(&outline, &read, *at))
        .filter_map(|at| saying(&outline, at, &odds[at], universal))
        .collect();
    sayings.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    let mut kept: Vec<Saying> = Vec::new();
    for it in sayings {
        if kept.len() < MOST_SAYINGS && kept.iter().all(|other| other.text != it.text) {
            kept.push(it);
        }
    }
    let re_ask = odds.iter().any(|it| it[RE_ASK] >= ASKED_AGAIN);
    Reading { re_ask, sayings: kept, refused: None }
}

/// How likely it is that a sentence is worth keeping.
fn memory(odds: &Odds) -> f32 {
    1.0 - odds[NONE] - odds[RE_ASK]
}

fn saying(outline: &Outline, at: usize, odds: &Odds, universal: bool) -> Option<Saying> {
    let quote = &outline.units[at].text;
    let text = statement::of(quote)?;
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
        confidence: memory(odds),
        text,
    })
}

/// Whether a prompt has a secret or speaks about the agent's instructions: then nothing
/// of it is kept. Of long ones the beginning and the end are looked at, as for all else.
fn refused(prompt: &str) -> Option<Refusal> {
    let (head, tail) = outline::window(prompt);
    for part in [head, tail] {
        if let Some(rule) = secrets::detect(part.as_bytes()) {
            return Some(Refusal::Secret(rule));
        }
        for line in part.split('\n').filter(|line| !line.trim().is_empty()) {
            let end = line.char_indices().nth(refuse::MOST_CHARS).map_or(line.len(), |(at, _)| at);
            if refuse::refusal(&line[..end]) == Some(Refusal::Instructions) {
                return Some(Refusal::Instructions);
            }
        }
    }
    None
}
