//! `summary`: verdict, description and number of items.

use super::document::Document;
use super::finding::cut;
use super::output::Condensed;

/// Maximum length of a description, in characters.
const DESCRIPTION_MOST: usize = 200;

pub(super) fn condense(document: &Document<'_>) -> Condensed {
    let mut condensed = Condensed::default();
    condensed.set("type", "summary");
    condensed.set("verdict", &document.verdict());
    let description = document.description();
    if !description.is_empty() {
        condensed.set("description", cut(&description, DESCRIPTION_MOST));
    }
    condensed.set("item_count", &document.item_count());
    condensed
}
