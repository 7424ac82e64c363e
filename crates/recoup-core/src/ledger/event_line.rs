//! An event as a line: `MILLIS WHAT COUNT KIND SCOPE KEY`, followed by a JSON object if there are
//! details. None of the first fields can contain a space or a line break, and compact JSON has no
//! line break, so nothing is quoted.

use crate::base::clock::Timestamp;
use crate::entry::{EntryEvent, EntryEventKind, EventDetail};
use crate::key::{EntryId, Key, Kind, Scope};

pub(super) fn format_event(event: &EntryEvent) -> String {
    let EntryEvent { at, id, kind, what, count, detail } = event;
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
pub(super) fn parse_event(line: &str) -> Option<EntryEvent> {
    let mut fields = line.splitn(7, ' ');
    let at = Timestamp::from_millis(fields.next()?.parse().ok()?);
    let what = EntryEventKind::from_name(fields.next()?)?;
    let count = fields.next()?.parse().ok()?;
    let kind = Kind::from_name(fields.next()?)?;
    let scope = Scope::parse(fields.next()?).ok()?;
    let key = Key::parse(fields.next()?).ok()?;
    let detail = match fields.next() {
        None => EventDetail::default(),
        Some(json) if json.starts_with('{') => serde_json::from_str(json).ok()?,
        Some(_) => return None,
    };
    Some(EntryEvent { at, id: EntryId::new(scope, key), kind, what, count, detail })
}

/// All complete and readable lines of a log.
pub(super) fn parse_events(text: &[u8]) -> impl Iterator<Item = EntryEvent> + '_ {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| str::from_utf8(line).ok()?.strip_suffix('\n'));
    whole.filter_map(parse_event)
}

/// A text that occurs in the lines of `id`, and hardly anywhere else.
pub(super) fn search_text_for(id: &EntryId) -> String {
    format!(" {} {}", id.scope, id.key)
}
