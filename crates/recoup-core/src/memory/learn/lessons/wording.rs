//! Text of a lesson, and the signature that sightings of one failure share.

use std::fmt;

use crate::base::text::shorten_text;
use crate::memory::db::transaction::storable_text;
use crate::memory::lang::escape::readable_line;
use crate::memory::learn::failure::{error_class, error_subject};
use crate::memory::learn::lessons::FailureLesson;
use crate::secrets::RedactedCommand;

/// Maximum characters of a command or an error in a lesson.
const LONGEST: usize = 160;

/// Why a command failed. The error is the tool's own line: it tells failures apart, and is never
/// part of a note.
#[derive(Debug, Clone)]
pub(super) struct FailureCause {
    pub(super) exit: Option<i32>,
    pub(super) error: String,
}

/// Prefix of a stored cause whose exit code is known: `exit code 1: ` and the error line.
const EXIT: &str = "exit code ";

impl FailureCause {
    /// Parses a stored cause.
    pub(super) fn parse(stored: &str) -> Self {
        let coded = stored.strip_prefix(EXIT).and_then(|rest| rest.split_once(": "));
        match coded.and_then(|(code, error)| Some((code.parse().ok()?, error))) {
            Some((code, error)) => Self { exit: Some(code), error: error.to_owned() },
            None => Self { exit: None, error: stored.to_owned() },
        }
    }
}

impl fmt::Display for FailureCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.exit {
            Some(code) => write!(f, "{EXIT}{code}: {}", self.error),
            None => f.write_str(&self.error),
        }
    }
}

/// Returns the text of a lesson: the failed command, its exit code, the class of the error with the
/// path or identifier that it names, and the fix.
pub(super) fn lesson_text(lesson: &FailureLesson, fix: &str) -> String {
    let (cause, slots) = (&lesson.cause, lesson.varying_values());
    let exit = cause.exit.map(|code| format!("{EXIT}{code}"));
    let class = error_class(&cause.error, cause.exit).map(str::to_owned);
    let why = exit.into_iter().chain(class).reduce(|exit, class| format!("{exit}, {class}"));
    let subject = error_subject(&cause.error, &lesson.command);
    let values = lesson.last_values();
    let subject = subject
        .filter(|name| !slots.contains_name(name))
        .or_else(|| values.hidden_value(&lesson.command, fix).filter(|_| slots.is_empty()))
        .map(quote_code);
    let why: Vec<String> = why.into_iter().chain(subject).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(": ")) };
    format!("{} fails{why}; {fix}", quote_code(&lesson.general_command()))
}

/// Returns a command as it may be shown.
pub(super) fn readable_command(command: &RedactedCommand) -> String {
    shorten_to_line(&storable_text(command))
}

/// True if a command is short enough to be shown whole: half of one, or a script on one line, is
/// useless.
pub(super) fn is_shown_whole(command: &str) -> bool {
    let command = command.trim();
    command.len() <= LONGEST && !command.contains('\n')
}

/// Returns one short line. Brackets stay: the caller escapes them.
pub(super) fn shorten_to_line(text: &str) -> String {
    shorten_text(&readable_line(text), LONGEST).into_owned()
}

/// Quotes tool output, so that it never reads like a sentence of ours.
pub(super) fn quote_code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Returns the part of an error that its occurrences share: numbers, addresses and hashes differ.
pub(super) fn error_signature(error: &str) -> String {
    let is_hash = |word: &str| {
        word.len() >= 7
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let lower = error.to_lowercase();
    let is_mark = |c: char| !c.is_alphanumeric();
    let words = lower.split_inclusive(is_mark).map(|part| {
        let word = part.trim_end_matches(is_mark);
        if is_hash(word) { format!("0{}", &part[word.len()..]) } else { part.to_owned() }
    });
    let mut chars: Vec<char> = words.collect::<String>().chars().collect();
    chars.iter_mut().filter(|c| c.is_ascii_digit()).for_each(|c| *c = '#');
    chars.dedup_by(|a, b| a == b && matches!(a, '#' | ' '));
    chars.iter().collect::<String>().trim().to_owned()
}
