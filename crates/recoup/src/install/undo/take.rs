//! Removal of our entries from a file whose original cannot be restored.

use recoup_core::base::digest::Digest;

use crate::install::edit::{Dialect, Fault, Json};
use crate::install::entries::{Done, Emptied, ROOT, config_toml, hooks, servers};
use crate::install::held::Held;
use crate::install::receipt::{Before, Entry};
use crate::install::{exclude, extension};

/// Result of the removal.
pub(super) struct Taken {
    /// None if the file is to be deleted.
    pub(super) text: Option<Vec<u8>>,
    pub(super) done: Done,
}

/// Receipt entry and original content of a file.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) entry: Option<&'a Entry>,
    pub(super) earlier: Option<&'a [u8]>,
}

pub(super) fn take(held: &Held, text: &[u8], known: Known<'_>) -> Result<Taken, Fault> {
    let entry = known.entry;
    // With older entries of ours, it is unknown who created the containers around them.
    let noted = entry.filter(|entry| entry.before != Before::Unknown);
    let emptied = noted.map_or(Emptied::Any, |entry| Emptied::Made(&entry.created));
    match held {
        Held::Hooks => json(text, Dialect::Strict, known, |json| hooks::take(json, emptied)),
        Held::Servers { at, comments } => {
            let all = Held::servers(at, *comments);
            json(text, all.dialect, known, |json| servers::take(json, &all, emptied))
        }
        Held::TomlServers => toml_server(text, entry),
        Held::Extension => Ok(extension(text, entry)),
        Held::Line(line) => Ok(without_line(text, line)),
    }
}

/// Removes a line of git's exclude list.
fn without_line(bytes: &[u8], line: &str) -> Taken {
    let mut done = Done::default();
    let left = exclude::without(bytes, line);
    if left != bytes {
        done.said.push(format!("the line {line}"));
    }
    Taken { text: Some(left), done }
}

fn json(
    text: &[u8],
    dialect: Dialect,
    known: Known<'_>,
    take: impl FnOnce(&mut Json) -> Done,
) -> Result<Taken, Fault> {
    if text.trim_ascii().is_empty() {
        return Ok(Taken { text: Some(text.to_vec()), done: Done::default() });
    }
    let mut json = Json::read(Some(text), dialect)?;
    let done = take(&mut json);
    known.earlier.into_iter().for_each(|earlier| json.restore_blanks(earlier));
    let empty = json.is_empty();
    let made = known.entry.is_some_and(|entry| entry.before == Before::Absent);
    let bare = known.entry.is_some_and(|entry| entry.created.contains(&ROOT));
    let text = match empty && !done.said.is_empty() {
        true if made => None,
        true if bare => Some(json.bytes_without_object()),
        _ => Some(json.bytes()),
    };
    Ok(Taken { text, done })
}

fn toml_server(bytes: &[u8], entry: Option<&Entry>) -> Result<Taken, Fault> {
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::at("", 0, "this is not UTF-8"))?;
    let (bom, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    // Who created the table of servers is known even if calls of ours were there before.
    let emptied = entry.map_or(Emptied::Any, |entry| Emptied::Made(&entry.created));
    let (left, done) = config_toml::take(text, emptied)?;
    let made = entry.is_some_and(|entry| entry.before == Before::Absent);
    let gone = made && left.trim().is_empty() && !done.said.is_empty();
    Ok(Taken { text: (!gone).then(|| format!("{bom}{left}").into_bytes()), done })
}

/// Removes Pi's extension, unless somebody has changed it.
fn extension(bytes: &[u8], entry: Option<&Entry>) -> Taken {
    let text = String::from_utf8_lossy(bytes);
    let ours = extension::program(&text);
    let mut done = Done::default();
    let unchanged = ours.as_ref().is_some_and(|program| extension::with_program(program) == text)
        || entry.is_some_and(|entry| entry.after == Digest::of(bytes));
    if unchanged {
        done.said.push("the extension".to_owned());
    } else if ours.is_some() {
        done.notes.push("the extension recoup.ts for Pi was changed since: it stays".to_owned());
    }
    Taken { text: (!unchanged).then(|| bytes.to_vec()), done }
}
