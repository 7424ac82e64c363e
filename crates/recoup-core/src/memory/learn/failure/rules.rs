//! Ratings of how much a line of output tells about an error, tool by tool.

use super::clutter::is_clutter;

/// Information in a line of output, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ErrorSignal {
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
    "error:",
    "fatal:",
    "error[",
    "fatal error:",
    "php fatal error:",
    "panic:",
    "conflict (",
    "error response from daemon",
    "docker: error",
    "curl: (",
    "cmake error",
    "err_pnpm",
    "[error]",
    "error from server",
    "! [rejected]",
    "! [remote rejected]",
    "error ",
    "abort:",
    "fatal ",
    "usage error",
    "exception:",
    "failed:",
    "failure:",
    "err!",
];

/// Error messages of systems and shells.
const SYSTEM: &[&str] = &[
    "command not found",
    "no such file or directory",
    "permission denied",
    "is a directory",
    "not a directory",
    "address already in use",
    "connection refused",
    "no space left on device",
    "operation not permitted",
    "out of memory",
    "cannot access",
    "no rule to make target",
    "missing script",
    "module not found",
    "cannot find module",
    "no module named",
    "timed out",
    "could not resolve host",
    ": not found",
    "eaddrinuse",
    "econnrefused",
    "enoent",
    "eacces",
];

/// Words that often go with an error.
const HINTS: &[&str] = &[
    "error",
    "failed",
    "failure",
    "cannot",
    "can't",
    "unable to",
    "denied",
    "not found",
    "fatal",
    "invalid",
    "missing",
    "refused",
    "timeout",
    "unexpected",
    "unknown",
    "unrecognized",
    "conflict",
    "undefined",
    "not supported",
    "already exists",
    "does not exist",
    "must be",
    "required",
];

/// Rates one line, which has no colours and may be indented.
pub(super) fn rate_line(line: &str) -> ErrorSignal {
    let text = line.trim();
    if text.is_empty() || is_noise(text) {
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
    } else if SYSTEM.iter().any(|words| lower.contains(words)) {
        ErrorSignal::System
    } else if PREFIXES.iter().any(|words| lower.starts_with(words)) {
        ErrorSignal::Message
    } else if is_failed_test_name(text) {
        ErrorSignal::Where
    } else if HINTS.iter().any(|words| lower.contains(words)) && !counts_none(&lower) {
        ErrorSignal::Perhaps
    } else {
        ErrorSignal::Nothing
    }
}

/// True if some line certainly reports an error.
pub(super) fn has_certain_error(text: &str) -> bool {
    text.lines().any(|line| rate_line(line) >= ErrorSignal::Message)
}

/// True for stack frames, warnings, advice and compiler drawings.
fn is_noise(text: &str) -> bool {
    const STARTS: [&str; 12] = [
        "warning",
        "warn ",
        "note:",
        "hint:",
        "help:",
        "info",
        "= note",
        "= help",
        "debug",
        "npm warn",
        "npm notice",
        "# duration",
    ];
    let start = text[..text.floor_char_boundary(12)].to_lowercase();
    text.starts_with("at ") && text.contains(':')
        || STARTS.iter().any(|noise| start.starts_with(noise))
        || text.starts_with('|')
        || text.chars().all(|c| !c.is_alphanumeric())
}

/// True for a message with a code or a location.
fn is_exact(text: &str, lower: &str) -> bool {
    let reported = ["FAILED ", "ERROR "].iter().any(|start| text.starts_with(start));
    (reported && text.contains(" - ") && (text.contains("::") || text.contains(".py")))
        || text.starts_with("error[E")
        || lower.contains(": error:")
        || lower.contains(": fatal error:")
        || lower.contains(": syntax error")
        || lower.contains("error ts")
        || lower.contains("): error ")
        || text.contains("undefined reference to")
        || text.contains(" panicked at ")
        || is_go_place(text)
        || is_lint(text)
        || (lower.starts_with("[error]") && text.contains(".java:["))
}

/// `./main.go:5:2: undefined: foo`
fn is_go_place(text: &str) -> bool {
    let Some((file, rest)) = text.split_once(".go:") else { return false };
    let mut parts = rest.splitn(3, ':');
    let number = |part: Option<&str>| {
        part.is_some_and(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    !file.contains(' ') && number(parts.next()) && number(parts.next()) && parts.next().is_some()
}

/// `12:5  error  'x' is not defined  no-undef`
fn is_lint(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let place = words.next().is_some_and(|word| {
        word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    });
    place && words.next() == Some("error")
}

/// `ValueError: …`, `Caused by: …`, `E   assert 1 == 2`, `● adds two`, `--- FAIL: TestAdd`.
fn is_thrown(line: &str, text: &str) -> bool {
    const MARKS: [&str; 9] = [
        "E  ",
        "● ",
        "--- FAIL:",
        "Caused by:",
        "Exception in thread",
        "Failure/Error:",
        "Error Message:",
        "* What went wrong:",
        "panic:",
    ];
    let marked = MARKS.iter().any(|mark| text.starts_with(mark)) && !text.contains("● Console");
    let name = text.split([':', ' ', '[']).next().unwrap_or("");
    let bare = name.rsplit('.').next().unwrap_or("");
    let named = bare.ends_with("Error") || bare.ends_with("Exception");
    let class = bare.len() > 5 || (bare == "Error" && text.starts_with("Error: "));
    marked
        || (named && class && is_class(bare) && text[name.len()..].contains(':'))
        || (named && class && is_class(bare) && text == name && !line.starts_with(' '))
}

fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// True for the name of a failed test: `FAILED tests/test_a.py::test_b`, `FAIL src/a.test.ts`.
fn is_failed_test_name(text: &str) -> bool {
    ["FAILED ", "FAIL ", "FAIL\t", "ERROR ", "Diff in ", "✗ ", "✕ ", "× ", "not ok "]
        .iter()
        .any(|start| text.starts_with(start))
        || (text.starts_with("test ") && text.ends_with("... FAILED"))
}

/// `0 errors`, `no failures`.
fn counts_none(lower: &str) -> bool {
    [
        "0 error",
        "no error",
        "0 fail",
        "no fail",
        "errors: 0",
        "failures: 0",
        "failed: 0",
        "without error",
    ]
    .iter()
    .any(|words| lower.contains(words))
}
