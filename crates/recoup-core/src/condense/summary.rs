//! `summary`: verdict, description and number of items.

use super::document::InputDocument;
use super::finding::truncate_chars;
use super::output::CondensedResult;

/// Maximum length of a description, in characters.
const DESCRIPTION_MOST: usize = 200;

pub(super) fn condense(document: &InputDocument<'_>) -> CondensedResult {
    let mut condensed = CondensedResult::default();
    condensed.set("type", "summary");
    condensed.set("verdict", &document.verdict());
    let description = document.description();
    if !description.is_empty() {
        condensed.set("description", truncate_chars(&description, DESCRIPTION_MOST));
    }
    condensed.set("item_count", &document.item_count());
    condensed
}
