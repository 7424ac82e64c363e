//! Programs that start another one: `sudo`, `timeout`, `npx`, `poetry run`.

use std::path::Path;

use super::program::plain_program_name;
use super::programs::{ProgramRow, find_program, has_subcommand_in, is_program_in};
use crate::memory::lang::is_one_of;

/// True if a program is known to start another one, which its arguments name.
pub fn is_wrapper(program: &Path) -> bool {
    program.file_name().and_then(|name| name.to_str()).is_some_and(|name| {
        is_program_in("wrappers", name)
            || is_program_in("starters", name)
            || has_subcommand_in("runners", name)
    })
}

/// Removes wrappers from a command. A wrapper around nothing stays.
pub(super) fn strip_wrappers(words: &[String]) -> &[String] {
    let mut words = words;
    loop {
        words = strip_keywords(words);
        match strip_wrapper(words) {
            Some(inner) => words = inner,
            None => return words,
        }
    }
}

/// Removes keywords and assignments in front of a command.
pub(super) fn strip_keywords(words: &[String]) -> &[String] {
    let is_before = |word: &String| is_program_in("keywords", word) || is_assignment(word);
    let count = words.iter().take_while(|word| is_before(word)).count();
    &words[count..]
}

/// Removes one wrapper from a command, or returns `None` if it has none, or one around nothing.
pub(super) fn strip_wrapper(words: &[String]) -> Option<&[String]> {
    let (first, rest) = words.split_first()?;
    let name = plain_program_name(first);
    let asks = name == "command" && rest.first().is_some_and(|it| it == "-v" || it == "-V");
    let inner = match find_program("wrappers", &name).filter(|_| !asks) {
        Some(row) => skip_wrapper_options(rest, row),
        None => match skip_own_options(&name, rest) {
            [sub, rest @ ..] => find_program("runners", &format!("{name}/{sub}"))
                .map_or(&[][..], |row| skip_wrapper_options(rest, row)),
            [] => &[],
        },
    };
    (!inner.is_empty()).then_some(inner)
}

/// Returns the words behind a wrapper's own options and arguments.
pub(super) fn skip_wrapper_options(rest: &[String], row: ProgramRow) -> &[String] {
    let behind = skip_options(rest, row.valued);
    behind.get(row.more.parse().unwrap_or(0)..).unwrap_or(&[])
}

/// Returns the arguments behind a program's own options.
pub(super) fn skip_own_options<'a>(program: &str, rest: &'a [String]) -> &'a [String] {
    skip_options(rest, find_program("sub-commands", program).unwrap_or_default().valued)
}

/// Returns the words behind options and their values.
pub(super) fn skip_options<'a>(words: &'a [String], valued: &str) -> &'a [String] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        if word == "--" {
            at += 1;
            break;
        }
        if !word.starts_with('-') && !is_assignment(word) {
            break;
        }
        at += if is_one_of(word, valued) { 2 } else { 1 };
    }
    words.get(at..).unwrap_or(&[])
}

/// True for `NAME=value`.
pub(super) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
