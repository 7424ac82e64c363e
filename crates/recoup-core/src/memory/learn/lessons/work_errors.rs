//! Errors of the work itself: failing tests, code that does not compile, a file that does not exist
//! yet, nothing to commit. They tell the next agent nothing.

use crate::memory::learn::command::split_commands;

/// Prefixes of lines that name a failing test.
const TESTS: [&str; 10] =
    ["failed ", "fail ", "fail\t", "--- fail", "● ", "✕ ", "✗ ", "× ", "not ok ", "diff in "];

/// Words of tests, compilers and version control, in lower case.
const OF_THE_WORK: [&str; 47] = [
    "assert",
    "expect(",
    "panicked at",
    "test failed",
    "tests failed",
    "test failure",
    "test result: failed",
    "... failed",
    "error[e",
    "error ts",
    "syntaxerror",
    "syntax error",
    "typeerror",
    "nameerror",
    "attributeerror",
    "indexerror",
    "referenceerror",
    "indentationerror",
    "undefined reference to",
    "could not compile",
    "mismatched types",
    "is not assignable",
    "nothing to commit",
    "nothing added to commit",
    "no changes added",
    "working tree clean",
    "up to date",
    "up-to-date",
    "already exists",
    "conflict (",
    "merge conflict",
    "needs merge",
    "unmerged",
    "[rejected]",
    "non-fast-forward",
    "fetch first",
    "failed to push some refs",
    "unstaged changes",
    "uncommitted changes",
    "would be overwritten",
    "did not match any file",
    "invalid reference",
    "couldn't find remote ref",
    "no such process",
    "could not resolve host",
    "network is unreachable",
    "hook failed",
];

/// Errors about something missing: worth knowing only if it is elsewhere.
const NOT_THERE: [&str; 10] = [
    "no such file or directory",
    "enoent",
    "cannot access",
    "file not found",
    "can't open file",
    "connection refused",
    "econnrefused",
    "failed to connect",
    "could not connect",
    "couldn't connect",
];

/// Options that name a location.
const PLACES: [&str; 15] = [
    "-C",
    "--prefix",
    "--manifest-path",
    "--cwd",
    "--dir",
    "--directory",
    "--project",
    "--workspace",
    "--config",
    "--file",
    "-h",
    "--host",
    "-p",
    "--port",
    "--rootDir",
];

/// Endings of source files.
const CODE: &str = " rs ts tsx js jsx mjs cjs py go java kt c h cc cpp hpp cs rb php swift scala vue \
svelte css scss ex exs hs ml lua sh sql html json yaml yml toml ";

/// True if an error comes from the work, and not from how the command was called.
pub(super) fn is_work_error(error: &str, fix: &str) -> bool {
    let lower = error.trim().to_lowercase();
    TESTS.iter().any(|start| lower.starts_with(start))
        || OF_THE_WORK.iter().any(|words| lower.contains(words))
        || lower.split_whitespace().any(names_a_line)
        || is_lint(&lower)
        || (NOT_THERE.iter().any(|words| lower.contains(words)) && !changes_location(fix))
}

/// `src/main.rs:3:5`, `a.ts(3,5):`.
fn names_a_line(word: &str) -> bool {
    let ends = word.char_indices().filter(|(_, c)| matches!(c, ':' | '('));
    ends.into_iter().any(|(at, _)| {
        has_code_ending(&word[..at]) && word[at + 1..].starts_with(|c: char| c.is_ascii_digit())
    })
}

/// True for the name of a source file.
pub(super) fn has_code_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && CODE.split_ascii_whitespace().any(|it| it == ending)
    })
}

/// `12:5  error  'x' is not defined`
fn is_lint(lower: &str) -> bool {
    let mut words = lower.split_ascii_whitespace();
    let place = words.next().is_some_and(|word| {
        word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    });
    place && words.next() == Some("error")
}

/// True if a command changes to or names another location.
fn changes_location(fix: &str) -> bool {
    split_commands(fix).iter().any(|words| {
        words.first().is_some_and(|first| first == "cd" || first == "pushd")
            || words.iter().any(|word| is_location_option(word))
    })
}

/// True for an option that names a location, with or without its value.
pub(super) fn is_location_option(word: &str) -> bool {
    PLACES.contains(&word.split('=').next().unwrap_or(word))
}
