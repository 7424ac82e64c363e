//! Tagger: a small network that reads a prompt token by token, in context, and finds the words that
//! are worth keeping, what is taken back, and requests to do something again.

use crate::memory::capture::lines;

pub mod concept_table;
pub mod decoding;
pub mod network;
pub mod tokens;

/// Returns the tokens of a prompt; text that nobody typed as a sentence is hidden.
pub fn read_tokens(
    prompt: &str,
    concepts: &concept_table::ConceptTable<'_>,
) -> tokens::PromptTokens {
    tokens::PromptTokens::of(prompt, &lines::hidden_ranges(prompt), concepts)
}
