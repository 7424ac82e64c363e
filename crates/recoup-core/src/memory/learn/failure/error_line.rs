//! Search for the line of an output that tells what is wrong, completed by its neighbour if needed.
//! Lines are rated by how much they tell about an error, tool by tool.

use crate::memory::learn::{contains_any, starts_with_any};

/// Maximum lines between an error and its location.
const NEAR: usize = 6;

/// Returns the most informative line of `text`: the first of equals, but the last of a Python
/// traceback or a chain of causes, which is the root. Without any, returns the last line.
pub(super) fn find_error_line(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(strip_decoration).collect();
    match most_informative_line(&lines) {
        (_, Some(at)) => Some(complete_line(&lines, at)),
        (_, None) => lines.iter().rfind(|line| !line.trim().is_empty()).map(|it| (*it).to_owned()),
    }
}

/// Returns the most informative line, but only if it certainly reports an error.
pub(super) fn find_certain_error_line(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(strip_decoration).collect();
    let (found, at) = most_informative_line(&lines);
    at.filter(|_| found >= ErrorSignal::Where).map(|at| complete_line(&lines, at))
}

fn most_informative_line(lines: &[&str]) -> (ErrorSignal, Option<usize>) {
    let chained = lines.iter().any(|line| line.starts_with("Traceback (most recent call last)"));
    let mut best = (ErrorSignal::Nothing, None);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 && lines[at - 1] == *line {
            continue;
        }
        let found = rate_line(line);
        let cause = line.trim_start().starts_with("Caused by:")
            || (chained && !line.starts_with([' ', '\t', 'E']));
        let later_counts = found == ErrorSignal::Thrown && cause;
        if found > best.0 || (found == best.0 && found != ErrorSignal::Nothing && later_counts) {
            best = (found, Some(at));
        }
    }
    best
}

/// Strips the prefix that a build tool puts before every line.
fn strip_decoration(line: &str) -> &str {
    let line = line.trim_end();
    for mark in ["npm ERR! ", "npm error ", "│ ", "> "] {
        // npm's lines about itself are recognised by these prefixes.
        if let Some(rest) = line.strip_prefix(mark).filter(|_| !is_clutter(line)) {
            return rest;
        }
    }
    // The step of Docker's builder: `#12 0.512 message`, or `0.512 message`.
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let timed = match line.strip_prefix('#').map(|step| step.split_once(' ')) {
        Some(Some((number, rest))) if is_number(number) => rest,
        Some(_) => return line,
        None => line,
    };
    match timed.split_once(' ') {
        Some((time, rest)) if time.contains('.') && time.split('.').all(is_number) => rest,
        _ => line,
    }
}

/// Returns the line at `at`, joined with the one that completes it.
fn complete_line(lines: &[&str], at: usize) -> String {
    let line = lines[at].trim();
    let line = line.strip_prefix("E  ").map_or(line, str::trim_start);
    let place = if line.starts_with("error") {
        // Below a message of the Rust compiler: ` --> src/main.rs:4:18`.
        let near = lines[at + 1..].iter().take(NEAR).map(|line| line.trim());
        let mut near = near.take_while(|line| !line.is_empty());
        near.find_map(|line| line.strip_prefix("--> ").map(str::to_owned))
    } else if starts_with_any(line, &["SyntaxError", "IndentationError", "TabError"]) {
        // Above an error of Python: `File "a.py", line 3`.
        lines[..at].iter().rev().take(NEAR).find_map(|line| {
            let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
            let number = rest.split(|c: char| !c.is_ascii_digit()).next()?;
            Some(format!("{file}:{number}"))
        })
    } else {
        None
    };
    if let Some(place) = place {
        return format!("{line} ({place})");
    }
    // Without the thread id, which differs between runs: `thread 'x' (1234) panicked`.
    let line = if let Some((before, rest)) = line.split_once("' (")
        && before.starts_with("thread ")
        && let Some((id, after)) = rest.split_once(") ")
        && id.bytes().all(|byte| byte.is_ascii_digit())
        && after.starts_with("panicked")
    {
        format!("{before}' {after}")
    } else {
        line.to_owned()
    };
    let unfinished =
        line.ends_with(':') || starts_with_any(&line, &["● ", "--- FAIL:", "Failure/Error:"]);
    let next = lines[at + 1..].iter().map(|line| line.trim()).find(|line| !line.is_empty());
    match next {
        Some(next) if unfinished && !next.starts_with("at ") => {
            format!("{}: {next}", line.trim_end_matches(':'))
        }
        _ => line,
    }
}

/// Information in a line of output, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorSignal {
    /// Nothing about an error.
    Nothing,
    /// An error, without saying which.
    Something,
    /// A word that often goes with an error.
    Perhaps,
    /// A failed test, without the reason.
    Where,
    /// An error in a program's words.
    Message,
    /// An error in the usual words of a shell or a system.
    System,
    /// An exception, a panic or an assertion.
    Thrown,
    /// An error with its place or code, as compilers and runners name it.
    Exact,
}

/// Prefixes of error messages.
const PREFIXES: &[&str] = &[
    "error:", "fatal:", "error[", "fatal error:", "php fatal error:", "panic:", "conflict (",
    "error response from daemon", "docker: error", "curl: (", "cmake error", "err_pnpm", "[error]",
    "error from server", "! [rejected]", "! [remote rejected]", "error ", "abort:", "fatal ",
    "usage error", "exception:", "failed:", "failure:", "err!",
];

/// Error messages of systems and shells.
const SYSTEM: &[&str] = &[
    "command not found", "no such file or directory", "permission denied", "is a directory",
    "not a directory", "address already in use", "connection refused", "no space left on device",
    "operation not permitted", "out of memory", "cannot access", "no rule to make target",
    "missing script", "module not found", "cannot find module", "no module named", "timed out",
    "could not resolve host", ": not found", "eaddrinuse", "econnrefused", "enoent", "eacces",
];

/// Words that often go with an error.
const HINTS: &[&str] = &[
    "error", "failed", "failure", "cannot", "can't", "unable to", "denied", "not found", "fatal",
    "invalid", "missing", "refused", "timeout", "unexpected", "unknown", "unrecognized",
    "conflict", "undefined", "not supported", "already exists", "does not exist", "must be",
    "required",
];

/// Beginnings of lines that name a failed test: `FAILED tests/test_a.py::test_b`,
/// `FAIL src/a.test.ts`.
const TEST_NAMES: [&str; 9] =
    ["FAILED ", "FAIL ", "FAIL\t", "ERROR ", "Diff in ", "✗ ", "✕ ", "× ", "not ok "];

/// Phrases that count no errors.
const NO_ERRORS: [&str; 8] = [
    "0 error", "no error", "0 fail", "no fail", "errors: 0", "failures: 0", "failed: 0",
    "without error",
];

/// Rates one line, which has no colours and may be indented.
fn rate_line(line: &str) -> ErrorSignal {
    const NOISE: [&str; 12] = [
        "warning", "warn ", "note:", "hint:", "help:", "info", "= note", "= help", "debug",
        "npm warn", "npm notice", "# duration",
    ];
    let text = line.trim();
    // Stack frames, warnings, advice and compiler drawings. An empty line has no letters, either.
    let start = text[..text.floor_char_boundary(12)].to_lowercase();
    if text.starts_with("at ") && text.contains(':')
        || starts_with_any(&start, &NOISE)
        || text.starts_with('|')
        || text.chars().all(|c| !c.is_alphanumeric())
    {
        return ErrorSignal::Nothing;
    }
    // Most lines tell nothing; the longest table is checked only for the others.
    match rate_by_wording(line, text) {
        ErrorSignal::Nothing => ErrorSignal::Nothing,
        _ if is_clutter(text) => ErrorSignal::Something,
        found => found,
    }
}

fn rate_by_wording(line: &str, text: &str) -> ErrorSignal {
    let lower = text.to_lowercase();
    if is_exact(text, &lower) {
        ErrorSignal::Exact
    } else if is_thrown(line, text) {
        ErrorSignal::Thrown
    } else if contains_any(&lower, SYSTEM) {
        ErrorSignal::System
    } else if starts_with_any(&lower, PREFIXES) {
        ErrorSignal::Message
    } else if starts_with_any(text, &TEST_NAMES)
        || (text.starts_with("test ") && text.ends_with("... FAILED"))
    {
        ErrorSignal::Where
    } else if contains_any(&lower, HINTS) && !contains_any(&lower, &NO_ERRORS) {
        ErrorSignal::Perhaps
    } else {
        ErrorSignal::Nothing
    }
}

/// True if some line certainly reports an error.
pub(super) fn has_certain_error(text: &str) -> bool {
    text.lines().any(|line| rate_line(line) >= ErrorSignal::Message)
}

/// Words of compilers, in lower case, that go with a code or a location.
const EXACT: [&str; 7] = [
    ": error:", ": fatal error:", ": syntax error", "error ts", "): error ",
    "undefined reference to", " panicked at ",
];

/// True for a message with a code or a location.
fn is_exact(text: &str, lower: &str) -> bool {
    let reported = starts_with_any(text, &["FAILED ", "ERROR "]);
    // `./main.go:5:2: undefined: foo`
    let is_go_place = text.split_once(".go:").is_some_and(|(file, rest)| {
        let number = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = rest.splitn(3, ':');
        !file.contains(' ')
            && parts.next().is_some_and(number)
            && parts.next().is_some_and(number)
            && parts.next().is_some()
    });
    (reported && text.contains(" - ") && contains_any(text, &["::", ".py"]))
        || text.starts_with("error[E")
        || contains_any(lower, &EXACT)
        || is_go_place
        || is_lint_error(text)
        || (lower.starts_with("[error]") && text.contains(".java:["))
}

/// `12:5  error  'x' is not defined  no-undef`
pub(in crate::memory::learn) fn is_lint_error(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let place = words.next().is_some_and(|word| {
        word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    });
    place && words.next() == Some("error")
}

/// `ValueError: …`, `Caused by: …`, `E   assert 1 == 2`, `● adds two`, `--- FAIL: TestAdd`.
fn is_thrown(line: &str, text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "E  ", "● ", "--- FAIL:", "Caused by:", "Exception in thread", "Failure/Error:",
        "Error Message:", "* What went wrong:", "panic:",
    ];
    let marked = starts_with_any(text, &MARKS) && !text.contains("● Console");
    let name = text.split([':', ' ', '[']).next().unwrap_or("");
    let bare = name.rsplit('.').next().unwrap_or("");
    let is_class = (bare.ends_with("Error") || bare.ends_with("Exception"))
        && (bare.len() > 5 || text.starts_with("Error: "))
        && bare.starts_with(|c: char| c.is_ascii_uppercase())
        && bare.chars().all(|c| c.is_alphanumeric() || c == '_');
    let is_alone = text == name && !line.starts_with(' ');
    marked || (is_class && (text[name.len()..].contains(':') || is_alone))
}

/// Fragments in lower case; a line with one of them is used only if there is nothing better.
const EMPTY_WORDS: &[&str] = &[
    "could not compile", "aborting due to", "test failed, to rerun", "error: test run failed",
    "target failed:", "targets failed:", "for more information about this error",
    "have detailed explanations", "process didn't exit successfully", "build failed, waiting",
    "complete log of this run", "elifecycle", "lifecycle script", "npm err! code",
    "npm error code", "npm err! errno", "npm error errno", "npm err! path", "npm error path",
    "npm err! syscall", "npm error syscall", "npm err! command", "npm error command",
    "npm err! workspace", "npm error workspace", "npm err! location", "npm error location",
    "failed at the", "exit status", "exit code:", "exited with code", "exited with error",
    "failed with exit code", "failed with code", "did not complete successfully",
    "returned non-zero", "probably not a problem with npm", "[help 1]", "re-run maven", "-> [help",
    "failed to execute goal", "failed to push some refs", "build failed with an exception",
    "build failure", "test run failed", "there are test failures", "test result: failed",
    "tests failed", "error: recipe", "stack backtrace", "rust_backtrace", "see above for",
    "errors during collection", "interrupted: ", "short test summary", "generated an exception",
    "uncaught exception", "deprecat",
];

/// True if `line` has one of these fragments, or is make's own error line.
fn is_clutter(line: &str) -> bool {
    let line = line.to_lowercase();
    let make = line.starts_with("make") && line.contains("***") && line.contains("error ");
    make || contains_any(&line, EMPTY_WORDS)
}
