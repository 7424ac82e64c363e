//! Interface for the program that trains the weights: sentences and features, exactly as they are
//! read later.

use super::features::{self, Read};
use super::model;
use super::outline::Outline;
use crate::memory::private;

pub use super::features::{BUCKETS, Feature};
pub use super::model::CLASSES;

/// Names of the model's classes in the corpora, in their order.
pub const LABELS: [&str; CLASSES] =
    ["none", "correction", "preference", "project-knowledge", "devops", "re-ask"];
const _: () = assert!(model::NONE == 0 && model::RE_ASK == 5);

/// A sentence and its features.
#[derive(Debug, Clone)]
pub struct Sentence {
    /// Text of the sentence.
    pub text: String,
    /// Features for the model.
    pub features: Vec<Feature>,
}

/// Returns the sentences of a prompt.
pub fn sentences(prompt: &str) -> Vec<Sentence> {
    let open = private::spoken_openly(prompt);
    let outline = Outline::of(&open);
    let read = Read::of(&outline);
    let sentence = |at: usize| Sentence {
        text: outline.units[at].text.clone(),
        features: features::of(&outline, &read, at),
    };
    (0..outline.units.len()).map(sentence).collect()
}

/// Highest score of a prompt's sentences, whatever the threshold.
pub fn worth(prompt: &str, model: &super::Model) -> f32 {
    let open = private::spoken_openly(prompt);
    if super::secret::detect(&open).is_some() {
        return 0.0;
    }
    let outline = Outline::of(&open);
    let read = Read::of(&outline);
    let fits = |at: &usize| {
        !super::doubt::stands_against(&outline, &read, *at)
            && super::statement::of(&outline.units[*at].text).is_some()
    };
    let odds = |at| super::worth(&model.odds(&features::of(&outline, &read, at)), &read, at);
    (0..outline.units.len()).filter(fits).map(odds).fold(0.0, f32::max)
}
