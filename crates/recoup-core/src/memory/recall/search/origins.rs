//! Origins of notes. What was said in one session, or imported with one time, belongs together: a
//! longer text is several notes, and a query may have words of more than one.

use std::collections::HashMap;

use rusqlite::Connection;

use super::RankedNote;
use super::rank::NoteRanker;
use crate::error::Result;
use crate::memory::db::sql::SqlContext as _;

/// Most notes whose origin is looked up, the best first.
const MOST: usize = 24;
/// Weight of what two notes have together.
const TOGETHER: f32 = 0.5;

/// Session in which a note was first said. Imported notes have none, but all of one text have the
/// same time.
const ORIGIN: &str = "SELECT coalesce((SELECT session FROM evidence WHERE note = notes.row
        AND what = 'said' ORDER BY at LIMIT 1), 'at ' || created)
    FROM notes WHERE row = ?1";

/// Raises the scores of notes that answer a query better together than the best of them alone: by
/// what one other note of the origin adds to the best. The order within an origin does not change.
pub(super) fn rank_together(
    connection: &Connection,
    ranker: &NoteRanker<'_>,
    found: &mut [RankedNote],
) -> Result<()> {
    const READING: &str = "cannot read where a memory comes from";
    // If the best note has all the words that others have, none has anything to add.
    let best = found.first().map_or(0, |it| it.answer.words);
    if found.iter().all(|it| best | it.answer.words == best) {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(ORIGIN).doing(READING)?;
    let mut origins: HashMap<String, Vec<&mut RankedNote>> = HashMap::new();
    for note in found.iter_mut().take(MOST) {
        let origin = statement.query_row([note.row], |row| row.get(0)).doing(READING)?;
        origins.entry(origin).or_default().push(note);
    }
    // Where all are of one origin, it tells none from another.
    if origins.len() == 1 {
        return Ok(());
    }
    for notes in origins.values_mut() {
        let best = notes[0].answer.words;
        let both = notes.iter().map(|it| ranker.share_of(best | it.answer.words));
        let added = both.fold(0.0, f32::max) - ranker.share_of(best);
        for note in notes {
            let score = &mut note.answer.score;
            // At most 1, and in the same order.
            *score += TOGETHER * added * *score * (1.0 - *score);
        }
    }
    Ok(())
}
