//! Our entries in clients' files: insertion and removal. Hooks and servers have files of their own;
//! here is what they share, Pi's extension, and our lines in git's exclude file.

pub(crate) mod hooks;
pub(crate) mod proxied;
pub(crate) mod servers;
pub(crate) mod toml_hooks;

use crate::clients;
use recoup_core::secrets;

use super::ServerStartChange;

/// Result of editing a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct EditSummary {
    /// Changes, in words for people.
    pub(crate) said: Vec<String>,
    /// Objects and lists that were created: they go once they are empty again.
    pub(crate) created: Vec<Vec<String>>,
    /// Servers that start differently, if nothing else changes.
    pub(crate) servers: Vec<ServerStartChange>,
    /// Remarks on settings that were left alone, and why.
    pub(crate) notes: Vec<String>,
    /// The whole file is ours.
    pub(crate) whole: bool,
    /// The file held something of ours before.
    pub(crate) had_ours: bool,
    /// The file is as it was before recoup, to the byte.
    pub(crate) restored: bool,
}

impl EditSummary {
    /// Adds a note without secrets: it may quote settings, and is shown and logged.
    pub(crate) fn add_note(&mut self, note: impl AsRef<str>) {
        self.notes.push(secrets::redact(note.as_ref()).into_owned());
    }
}

/// Source of Pi's extension, which finds the program on the PATH.
const EXTENSION_SOURCE: &str = include_str!("../../../assets/pi/recoup.ts");

/// Marks, among the created paths, the top-level object.
pub(crate) const ROOT: Vec<String> = Vec::new();

/// Repeats a removal until it finds nothing: of duplicate names the last one counts; once it is
/// gone, the one before.
fn remove_repeatedly<E>(
    mut remove_once: impl FnMut(&mut EditSummary) -> Result<bool, E>,
) -> Result<EditSummary, E> {
    let mut done = EditSummary::default();
    while remove_once(&mut done)? {
        done.notes.clear();
    }
    Ok(done)
}

/// Returns Pi's extension with this program: its path, or the bare name in a shared file.
pub(crate) fn extension_with_program(program: &str) -> String {
    let literal = serde_json::to_string(program).expect("a text always serializes");
    let place =
        clients::extension_program(EXTENSION_SOURCE).expect("ours says where the program is");
    [&EXTENSION_SOURCE[..place.start], &literal, &EXTENSION_SOURCE[place.end..]].concat()
}

/// Returns the program that an extension starts; none if the extension is not ours.
pub(crate) fn program_in_extension(text: &str) -> Option<String> {
    serde_json::from_str(&text[clients::extension_program(text)?]).ok()
}

/// Adds a line to git's `info/exclude`, unless it is there: personal files that we put into a
/// project must not be published by accident. Patterns are bytes, and the other lines stay as they
/// are. If the last line had no line end, ours has none either: this records that the one before
/// had none, whatever else is added.
pub(crate) fn with_exclude_line(list: &[u8], line: &str) -> Vec<u8> {
    if lines(list).any(|it| is_same_line(it, line)) {
        return list.to_vec();
    }
    let eol: &[u8] = if lines(list).any(|it| it.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    if list.is_empty() || list.ends_with(b"\n") {
        [list, line.as_bytes(), eol].concat()
    } else {
        [list, eol, line.as_bytes()].concat()
    }
}

/// Removes a line of git's `info/exclude`.
pub(crate) fn without_exclude_line(list: &[u8], line: &str) -> Vec<u8> {
    let kept: Vec<u8> =
        lines(list).filter(|it| !is_same_line(it, line)).flatten().copied().collect();
    let end = lines(list).last();
    if end.is_none_or(|end| !is_same_line(end, line) || end.ends_with(b"\n")) {
        return kept;
    }
    let bare = kept.strip_suffix(b"\n").map(|it| it.strip_suffix(b"\r").unwrap_or(it));
    bare.unwrap_or(&kept).to_vec()
}

/// Splits into lines, each with its end.
fn lines(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split_inclusive(|byte| *byte == b'\n')
}

fn is_same_line(found: &[u8], line: &str) -> bool {
    found.trim_ascii_end() == line.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_and_go_and_the_last_one_ends_as_it_did() {
        for before in ["", "a\n", "a", "a\r\nb", "a\n\n"]
            .map(str::as_bytes)
            .into_iter()
            .chain([&b"\xff\n"[..]])
        {
            let one = with_exclude_line(before, "/x");
            let two = with_exclude_line(&one, "/y");
            assert_eq!(with_exclude_line(&two, "/x"), two);
            assert_eq!(without_exclude_line(&without_exclude_line(&two, "/x"), "/y"), before);
            assert_eq!(without_exclude_line(&without_exclude_line(&two, "/y"), "/x"), before);
            assert_eq!(without_exclude_line(before, "/x"), before);
        }
        assert_eq!(without_exclude_line(b"a\n/x\nb\n", "/x"), b"a\nb\n");
    }

    #[test]
    fn the_program_is_put_in_and_found_again() {
        for path in ["recoup", "/usr/local/bin/recoup", "/a \"b\"; c/recoup", "/ü\\x/recoup"] {
            let text = extension_with_program(path);
            assert_eq!(program_in_extension(&text).as_deref(), Some(path));
            assert_eq!(text.lines().count(), EXTENSION_SOURCE.lines().count());
        }
        assert_eq!(program_in_extension(EXTENSION_SOURCE).as_deref(), Some("recoup"));
        assert_eq!(program_in_extension("export default 1;"), None);
        let line = "const PROGRAM = process.env.RECOUP_BIN ?? \"recoup\";\n";
        assert_eq!(program_in_extension(line), None, "it calls nobody");
    }
}
