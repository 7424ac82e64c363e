//! Removal of our entries from a file whose original cannot be restored.

use recoup_core::base::digest::Sha256Digest;

use crate::install::edit::{JsonDialect, JsonFile, SettingsSyntaxError};
use crate::install::entries::{EditSummary, EmptiedContainers, ROOT, config_toml, hooks, servers};
use crate::install::held::InstalledContent;
use crate::install::receipt::{OriginalState, ReceiptEntry};
use crate::install::{exclude, extension};

/// Result of the removal.
pub(super) struct RemovalResult {
    /// None if the file is to be deleted.
    pub(super) text: Option<Vec<u8>>,
    pub(super) done: EditSummary,
}

/// Receipt entry and original content of a file.
#[derive(Clone, Copy)]
pub(super) struct FileHistory<'a> {
    pub(super) entry: Option<&'a ReceiptEntry>,
    pub(super) earlier: Option<&'a [u8]>,
}

pub(super) fn remove_ours(
    held: &InstalledContent,
    text: &[u8],
    known: FileHistory<'_>,
) -> Result<RemovalResult, SettingsSyntaxError> {
    let entry = known.entry;
    // With older entries of ours, it is unknown who created the containers around them.
    let noted = entry.filter(|entry| entry.before != OriginalState::Unknown);
    let emptied =
        noted.map_or(EmptiedContainers::Any, |entry| EmptiedContainers::Made(&entry.created));
    match held {
        InstalledContent::Hooks => {
            remove_from_json(text, JsonDialect::Strict, known, |json| hooks::remove(json, emptied))
        }
        InstalledContent::Servers { at, comments } => {
            let all = InstalledContent::server_layout(at, *comments);
            remove_from_json(text, all.dialect, known, |json| servers::remove(json, &all, emptied))
        }
        InstalledContent::TomlServers => remove_from_toml(text, entry),
        InstalledContent::Extension => Ok(remove_extension(text, entry)),
        InstalledContent::Line(line) => Ok(without_line(text, line)),
    }
}

/// Removes a line of git's exclude list.
fn without_line(bytes: &[u8], line: &str) -> RemovalResult {
    let mut done = EditSummary::default();
    let left = exclude::without_line(bytes, line);
    if left != bytes {
        done.said.push(format!("the line {line}"));
    }
    RemovalResult { text: Some(left), done }
}

fn remove_from_json(
    text: &[u8],
    dialect: JsonDialect,
    known: FileHistory<'_>,
    take: impl FnOnce(&mut JsonFile) -> EditSummary,
) -> Result<RemovalResult, SettingsSyntaxError> {
    if text.trim_ascii().is_empty() {
        return Ok(RemovalResult { text: Some(text.to_vec()), done: EditSummary::default() });
    }
    let mut json = JsonFile::read(Some(text), dialect)?;
    let done = take(&mut json);
    known.earlier.into_iter().for_each(|earlier| json.restore_blanks(earlier));
    let empty = json.is_empty();
    let made = known.entry.is_some_and(|entry| entry.before == OriginalState::Absent);
    let bare = known.entry.is_some_and(|entry| entry.created.contains(&ROOT));
    let text = match empty && !done.said.is_empty() {
        true if made => None,
        true if bare => Some(json.bytes_without_object()),
        _ => Some(json.bytes()),
    };
    Ok(RemovalResult { text, done })
}

fn remove_from_toml(
    bytes: &[u8],
    entry: Option<&ReceiptEntry>,
) -> Result<RemovalResult, SettingsSyntaxError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| SettingsSyntaxError::at("", 0, "this is not UTF-8"))?;
    let (bom, text) = text.strip_prefix('\u{feff}').map_or(("", text), |rest| ("\u{feff}", rest));
    // Who created the table of servers is known even if calls of ours were there before.
    let emptied =
        entry.map_or(EmptiedContainers::Any, |entry| EmptiedContainers::Made(&entry.created));
    let (left, done) = config_toml::remove(text, emptied)?;
    let made = entry.is_some_and(|entry| entry.before == OriginalState::Absent);
    let gone = made && left.trim().is_empty() && !done.said.is_empty();
    Ok(RemovalResult { text: (!gone).then(|| format!("{bom}{left}").into_bytes()), done })
}

/// Removes Pi's extension, unless somebody has changed it.
fn remove_extension(bytes: &[u8], entry: Option<&ReceiptEntry>) -> RemovalResult {
    let text = String::from_utf8_lossy(bytes);
    let ours = extension::program_in(&text);
    let mut done = EditSummary::default();
    let unchanged = ours.as_ref().is_some_and(|program| extension::with_program(program) == text)
        || entry.is_some_and(|entry| entry.after == Sha256Digest::of(bytes));
    if unchanged {
        done.said.push("the extension".to_owned());
    } else if ours.is_some() {
        done.notes.push("the extension recoup.ts for Pi was changed since: it stays".to_owned());
    }
    RemovalResult { text: (!unchanged).then(|| bytes.to_vec()), done }
}
