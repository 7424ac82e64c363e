//! Interface for the program that trains the weights: sentences and features, exactly as they are
//! read later.

use crate::memory::capture::features;
use crate::memory::capture::features::TokenizedPrompt;
use crate::memory::capture::lines;
use crate::memory::capture::model;
use crate::memory::capture::outline::PromptOutline;
use crate::memory::capture::tagger::concept_table::ConceptTable;
use crate::memory::capture::tagger::tokens::PromptTokens;
use crate::memory::guard::private_text;

pub use crate::memory::capture::features::{BUCKETS, HashedFeature};
pub use crate::memory::capture::model::CLASSES;

/// Names of the model's classes in the corpora, in their order.
pub const LABELS: [&str; CLASSES] =
    ["none", "correction", "preference", "project-knowledge", "devops", "re-ask"];
const _: () = assert!(model::NONE == 0 && model::RE_ASK == 5);

/// A sentence and its features.
#[derive(Debug, Clone)]
pub struct TrainingSentence {
    /// Text of the sentence.
    pub text: String,
    /// Features for the model.
    pub features: Vec<HashedFeature>,
}

/// Returns the sentences of a prompt.
pub fn training_sentences(prompt: &str) -> Vec<TrainingSentence> {
    let open = private_text::without_private_and_opted_out(prompt);
    let outline = PromptOutline::of(&open);
    let read = TokenizedPrompt::of(&outline);
    let sentence = |at: usize| TrainingSentence {
        text: outline.units[at].text.clone(),
        features: features::sentence_features(&outline, &read, at),
    };
    (0..outline.units.len()).map(sentence).collect()
}

/// Highest score of a prompt's sentences, whatever the threshold.
pub fn prompt_score(prompt: &str, model: &super::ClassifierModel) -> f32 {
    let open = private_text::without_private_and_opted_out(prompt);
    if crate::memory::capture::outline::detect_secret(&open).is_some() {
        return 0.0;
    }
    let outline = PromptOutline::of(&open);
    let read = TokenizedPrompt::of(&outline);
    let fits = |at: &usize| {
        !crate::memory::capture::exclusion::is_excluded(&outline, &read, *at)
            && crate::memory::capture::extraction::extract_statement(&outline.units[*at].text)
                .is_some()
    };
    let odds = |at| {
        crate::memory::capture::score_sentence(
            &model.odds(&features::sentence_features(&outline, &read, at)),
            &read,
            at,
        )
    };
    (0..outline.units.len()).filter(fits).map(odds).fold(0.0, f32::max)
}

/// Returns the tokens of a prompt as the tagger reads them.
pub fn read_tokens(prompt: &str, concepts: &ConceptTable<'_>) -> PromptTokens {
    PromptTokens::of(prompt, &lines::hidden_ranges(prompt), concepts)
}
