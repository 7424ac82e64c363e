//! Second list of a search: notes that are close in meaning, for queries whose words no note has.

use rusqlite::Connection;

use super::{SearchHit, SearchQuery, is_admitted};
use crate::error::Result;
use crate::memory::db::sql::SqlContext as _;
use crate::memory::lang::word_vectors::TextVector;

/// Most notes that are compared, the newest first.
const MOST_COMPARED: usize = 20_000;
/// Most notes that are added.
const MOST_ADDED: usize = 5;
/// Least similarity of a note that is added.
const SIMILAR: f32 = 0.3;

/// Adds notes that are close in meaning to those that were found by their words.
pub(super) fn add_similar_notes(
    connection: &Connection,
    query: &SearchQuery<'_>,
    hits: &mut Vec<SearchHit>,
) -> Result<()> {
    const COMPARING: &str = "cannot compare the memories";
    let Some(wanted) = TextVector::of(query.text) else { return Ok(()) };
    let scopes: Vec<String> = query.scopes.iter().map(ToString::to_string).collect();
    let sql = "SELECT row, text, status, scope, source, kind FROM notes ORDER BY row DESC";
    let mut statement = connection.prepare_cached(sql).doing(COMPARING)?;
    let mut rows = statement.query([]).doing(COMPARING)?;
    let mut similar: Vec<(f32, i64)> = Vec::new();
    let mut compared = 0;
    while let Some(row) = rows.next().doing(COMPARING)? {
        let text = |n| row.get_ref(n).and_then(|it| it.as_str().map_err(Into::into));
        let note = || Ok([text(2)?, text(3)?, text(4)?, text(5)?]);
        if !is_admitted(query, &scopes, note().doing(COMPARING)?) {
            continue;
        }
        let similarity =
            TextVector::of(text(1).doing(COMPARING)?).map_or(0.0, |it| it.similarity(&wanted));
        if similarity >= SIMILAR {
            similar.push((similarity, row.get(0).doing(COMPARING)?));
        }
        compared += 1;
        if compared == MOST_COMPARED {
            break;
        }
    }
    similar.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    merge(hits, &similar);
    Ok(())
}

/// Merges both lists: half the similarity counts as score, or is added to it.
fn merge(hits: &mut Vec<SearchHit>, similar: &[(f32, i64)]) {
    for (similarity, row) in similar.iter().take(MOST_ADDED) {
        match hits.iter_mut().find(|hit| hit.row == *row) {
            Some(hit) => hit.score = (hit.score + similarity * 0.5).min(1.0),
            None => hits.push(SearchHit { row: *row, score: similarity * 0.5, fit: 0.0 }),
        }
    }
    hits.sort_by(|a, b| b.score.total_cmp(&a.score));
}
