//! One event as a line: `MILLIS WHAT COUNT KIND SCOPE KEY`. None of the fields
//! can hold a space or a line break, so none needs quoting.

use crate::base::clock::Timestamp;
use crate::entry::{Event, Happening};
use crate::key::{Id, Key, Kind, Scope};

pub(super) fn write(event: &Event) -> String {
    let Event { at, id, kind, what, count } = event;
    format!("{} {what} {count} {kind} {} {}\n", at.as_millis(), id.scope, id.key)
}

/// `None` for what is no such line.
pub(super) fn read(line: &str) -> Option<Event> {
    let mut fields = line.split(' ');
    let at = Timestamp::from_millis(fields.next()?.parse().ok()?);
    let what = Happening::from_name(fields.next()?)?;
    let count = fields.next()?.parse().ok()?;
    let kind = Kind::from_name(fields.next()?)?;
    let scope = Scope::parse(fields.next()?).ok()?;
    let key = Key::parse(fields.next()?).ok()?;
    let event = Event { at, id: Id::new(scope, key), kind, what, count };
    fields.next().is_none().then_some(event)
}
