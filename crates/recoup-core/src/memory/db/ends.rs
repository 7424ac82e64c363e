//! Ends of notes: "until #123 is fixed", "till Friday". An end whose time can be told takes the note
//! out of use when it has come; the user is asked about any other after a while, once.

use std::time::Duration;

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::facets::unified_words;
use crate::memory::db::recording::KEEPING;
use crate::memory::db::{CachedSql as _, EventTransaction, NoteFilter, note_rows};
use crate::memory::model::Note;

/// Age at which the user is asked about an end whose time is not known.
const UNKNOWN_AGE: Duration = Duration::from_hours(14 * 24);

/// Stores the end of a note; none removes it.
pub(crate) fn set_end(
    connection: &Connection,
    row: i64,
    until: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    let Some(until) = until.map(str::trim).filter(|it| !it.is_empty()) else {
        let sql = "DELETE FROM note_ends WHERE note = ?1";
        return connection.write(sql, [row], KEEPING).map(drop);
    };
    let sql = "INSERT OR REPLACE INTO note_ends (note, until, at) VALUES (?1, ?2, ?3)";
    connection.write(sql, params![row, until, end_time(until, now)], KEEPING).map(drop)
}

impl EventTransaction<'_> {
    /// Rules of this project and of everywhere whose end has come, or may have; each once.
    pub fn take_ended_rules(&self) -> Result<Vec<Note>> {
        const ASKED: &str = "UPDATE note_ends SET asked = ?2
                             WHERE note = (SELECT row FROM notes WHERE id = ?1)";
        let mut ended = Vec::new();
        for scope in NoteFilter::active_in(&self.occasion.scope).scopes {
            let found = note_rows::find_many(
                self.connection,
                "scope = ?1 AND status = 'active' AND row IN (SELECT note FROM note_ends
                 WHERE asked IS NULL AND coalesce(at <= ?2, updated < ?3)) ORDER BY row",
                params![scope, self.now, self.now.before(UNKNOWN_AGE)],
            )?;
            ended.extend(found.into_iter().map(|kept| kept.note));
        }
        for note in &ended {
            self.connection.write(ASKED, params![note.id, self.now], KEEPING)?;
        }
        Ok(ended)
    }
}

/// Time of an end, if its words tell: a date, a weekday, today, tomorrow, this week.
fn end_time(until: &str, now: Timestamp) -> Option<Timestamp> {
    let moment = jiff::Timestamp::from_millisecond(now.as_millis()).ok()?;
    let today = moment.to_zoned(TimeZone::UTC).date();
    let words = unified_words(until);
    let day = words.iter().find_map(|word| day_of(word, today))?;
    // A condition beside it decides: "until the fix on Friday is deployed".
    if words.len() > 3 {
        return None;
    }
    let after = day.checked_add(1.day()).ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(Timestamp::from_millis(after.timestamp().as_millisecond()))
}

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Last day of a validity that a word names.
fn day_of(word: &str, today: Date) -> Option<Date> {
    if let Ok(date) = word.parse::<Date>() {
        return Some(date);
    }
    let days = match word {
        "today" => 0,
        "tomorrow" => 1,
        word => {
            let word = if word == "week" { "sunday" } else { word };
            let number = (1..).zip(WEEKDAYS).find(|(_, name)| *name == word)?.0;
            today.weekday().until(Weekday::from_monday_one_offset(number).ok()?)
        }
    };
    today.checked_add(i64::from(days).days()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_that_name_a_day_have_a_time_and_others_do_not() {
        // A Wednesday.
        let now = Timestamp::parse("2026-11-18T12:00:00Z").unwrap();
        let day = |until: &str| end_time(until, now).map(|end| end.to_string()[..10].to_owned());
        for (until, first_day_after) in [
            ("till friday", "2026-11-21"),
            ("bis Freitag", "2026-11-21"),
            ("until 2026-12-01", "2026-12-02"),
            ("for today", "2026-11-19"),
            ("this week", "2026-11-23"),
        ] {
            assert_eq!(day(until).as_deref(), Some(first_day_after), "{until}");
        }
        for until in
            ["until #123 is fixed", "for this branch", "until the fix on friday is deployed"]
        {
            assert_eq!(day(until), None, "{until}");
        }
    }
}
