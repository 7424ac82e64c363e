//! Recognition of a successful command as the fix of a failed one.

use super::wording::quote_code;
use super::{safeguard, work_errors};
use crate::memory::learn::command::{CommandKind, split_commands};

/// Options that change only what is printed.
const TALK: &str = " -v -vv -vvv --verbose -q --quiet -s --silent --no-color --color --colour --progress --no-progress \
--debug --trace ";

const WORKS: &str = " works";

/// Returns the command that did what `failed` did not, without what came after it. `None` if it is
/// the same command, or about something else.
pub(super) fn alternative_command(failed: &str, kind: &str, worked: &str) -> Option<String> {
    let worked = cut_after_kind(worked, kind);
    let differs = effective_words(failed) != effective_words(&worked);
    (differs && has_all_arguments(failed, &worked)).then_some(worked)
}

/// Formats a fix as it is stored and shown in a lesson.
pub(super) fn format_fix(command: &str) -> String {
    format!("{}{WORKS}", quote_code(command))
}

/// Returns the command of a stored fix, or `None` if the fix is not a command.
pub(super) fn fix_command(fix: &str) -> Option<&str> {
    fix.strip_suffix(WORKS)?.strip_prefix('`')?.strip_suffix('`')
}

/// True if the same command was run again.
pub(super) fn is_same_command(failed: &str, kind: &str, worked: &str) -> bool {
    effective_words(failed) == effective_words(&cut_after_kind(worked, kind))
}

/// True if a fix is worth teaching: the failure was not part of the work or a mere query, and no
/// safeguard is bypassed.
pub(super) fn is_worth_teaching(error: &str, failed: &str, worked: &str) -> bool {
    !CommandKind::of(worked).is_some_and(|kind| kind.only_inspects())
        && !work_errors::is_work_error(error, worked)
        && !safeguard::bypasses_safeguard(failed, worked)
}

/// Tools of clients that change nothing, or whose changes are known as edits.
const TOOLS: &str = " read grep glob list edit write multiedit apply_patch update_plan ";

/// True if a successful command may be the reason that something else works now. Tools are no
/// commands: their names have a capital or a server's prefix.
pub(super) fn may_change_state(subject: &str) -> bool {
    let is_command = subject.starts_with(|c: char| !c.is_uppercase())
        && !subject.starts_with("mcp__")
        && !TOOLS.split_ascii_whitespace().any(|it| it == subject);
    is_command && !CommandKind::of(subject).is_some_and(|kind| kind.only_inspects())
}

/// Cuts a line behind its last command of `kind`: later commands do not explain the success.
fn cut_after_kind(line: &str, kind: &str) -> String {
    let parts: Vec<&str> = line.split(" && ").collect();
    let is_it = |part: &&str| CommandKind::of(part).is_some_and(|it| it.to_string() == kind);
    match parts.iter().rposition(is_it) {
        Some(last) => parts[..=last].join(" && "),
        None => line.to_owned(),
    }
}

/// Returns the words of a line, without options that only change its output.
fn effective_words(line: &str) -> Vec<Vec<String>> {
    let talks = |word: &String| {
        let name = word.split('=').next().unwrap_or(word);
        TALK.split_ascii_whitespace().any(|it| it == name)
    };
    let mut said = split_commands(line);
    for words in &mut said {
        words.retain(|word| !talks(word));
    }
    said
}

/// True if a command has all arguments of the failed one, flags aside: a fix for something else is
/// none.
fn has_all_arguments(failed: &str, worked: &str) -> bool {
    let named = |command: &str| -> Vec<String> {
        let words = split_commands(command).into_iter().flatten();
        words.filter(|word| !word.starts_with('-')).collect()
    };
    let worked = named(worked);
    named(failed).iter().all(|word| worked.contains(word))
}
