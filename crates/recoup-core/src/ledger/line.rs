//! An event as a line: `MILLIS WHAT COUNT KIND SCOPE KEY`, followed by a JSON object if there are
//! details. None of the first fields can contain a space or a line break, and compact JSON has no
//! line break, so nothing is quoted.

use crate::base::clock::Timestamp;
use crate::entry::{Detail, Event, Happening};
use crate::key::{Id, Key, Kind, Scope};

pub(super) fn write(event: &Event) -> String {
    let Event { at, id, kind, what, count, detail } = event;
    let mut line = format!("{} {what} {count} {kind} {} {}", at.as_millis(), id.scope, id.key);
    if !detail.is_empty() {
        line.push(' ');
        line.push_str(&serde_json::to_string(detail).expect("text and numbers always serialize"));
    }
    line.push('\n');
    line
}

/// `None` if the line is not an event. Unknown fields of a later version are ignored; anything but
/// an object was cut off or is not ours.
pub(super) fn read(line: &str) -> Option<Event> {
    let mut fields = line.splitn(7, ' ');
    let at = Timestamp::from_millis(fields.next()?.parse().ok()?);
    let what = Happening::from_name(fields.next()?)?;
    let count = fields.next()?.parse().ok()?;
    let kind = Kind::from_name(fields.next()?)?;
    let scope = Scope::parse(fields.next()?).ok()?;
    let key = Key::parse(fields.next()?).ok()?;
    let detail = match fields.next() {
        None => Detail::default(),
        Some(json) if json.starts_with('{') => serde_json::from_str(json).ok()?,
        Some(_) => return None,
    };
    Some(Event { at, id: Id::new(scope, key), kind, what, count, detail })
}

/// All complete and readable lines of a log.
pub(super) fn read_all(text: &[u8]) -> impl Iterator<Item = Event> + '_ {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| str::from_utf8(line).ok()?.strip_suffix('\n'));
    whole.filter_map(read)
}

/// A text that occurs in the lines of `id`, and hardly anywhere else.
pub(super) fn mark_of(id: &Id) -> String {
    format!(" {} {}", id.scope, id.key)
}
