//! A lesson in words, and what two sightings of one failure have in common.

use super::orders;
use crate::base::text::shortened;
use crate::memory::inject::readable_line;
use crate::memory::learn::command::without_passwords;
use crate::memory::turn::kept;

/// As much of a command, or of an error, as a lesson repeats.
const LONGEST: usize = 160;

/// What failed, the error as far as it is no more than that, and what worked.
pub(super) fn text(command: &str, error: &str, fix: &str) -> String {
    let command = quoted(command);
    match orders::without(error) {
        Some(error) => format!("{command} fails with {}; {fix}", quoted(error)),
        None => format!("{command} fails; {fix}"),
    }
}

/// A command as it may be shown.
pub(super) fn shown(command: &str) -> String {
    readable(&kept(&without_passwords(command)))
}

/// Whether a command is shown whole: half of one, or a script on one line, is none.
pub(super) fn is_shown_whole(command: &str) -> bool {
    let command = command.trim();
    command.len() <= LONGEST && !command.contains('\n')
}

/// On one line, and short. Brackets stay: whoever shows it escapes them.
pub(super) fn readable(text: &str) -> String {
    shortened(&readable_line(text), LONGEST).into_owned()
}

/// Output of a tool is shown as what it is: it never reads like a sentence of ours.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// What two sightings of one failure have in common: numbers, addresses and hashes differ
/// from one time to the next.
pub(super) fn signature(error: &str) -> String {
    let is_varying = |word: &str| {
        word.len() >= 7
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let mut out = String::with_capacity(error.len());
    let mut word = String::new();
    for c in error.to_lowercase().chars().chain(std::iter::once(' ')) {
        if c.is_alphanumeric() {
            word.push(c);
            continue;
        }
        if is_varying(&word) {
            out.push('#');
        } else {
            out.push_str(&without_numbers(&word));
        }
        word.clear();
        if !(c == ' ' && out.ends_with(' ')) {
            out.push(c);
        }
    }
    out.trim().to_owned()
}

fn without_numbers(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for c in word.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}
