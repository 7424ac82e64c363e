//! Search for the line of an output that tells what is wrong, completed by its neighbour if needed.

use super::rules::{ErrorSignal, rate_line};

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
        if let Some(rest) = line.strip_prefix(mark).filter(|_| !super::clutter::is_clutter(line)) {
            return rest;
        }
    }
    without_step(line).unwrap_or(line)
}

/// Strips the step of Docker's builder: `#12 0.512 message`, or `0.512 message`.
fn without_step(line: &str) -> Option<&str> {
    let is_time = |word: &str| {
        word.contains('.') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    };
    let rest = match line.strip_prefix('#') {
        Some(rest) => {
            let (number, rest) = rest.split_once(' ')?;
            number.bytes().all(|byte| byte.is_ascii_digit()).then_some(rest)?
        }
        None => line,
    };
    let (time, rest) = rest.split_once(' ')?;
    is_time(time).then_some(rest)
}

/// Returns the line at `at`, joined with the one that completes it.
fn complete_line(lines: &[&str], at: usize) -> String {
    let line = lines[at].trim();
    let line = line.strip_prefix("E  ").map_or(line, str::trim_start);
    let place = if line.starts_with("error") {
        rust_place(&lines[at + 1..])
    } else if ["SyntaxError", "IndentationError", "TabError"]
        .iter()
        .any(|name| line.starts_with(name))
    {
        python_place(&lines[..at])
    } else {
        None
    };
    if let Some(place) = place {
        return format!("{line} ({place})");
    }
    let line = without_thread_id(line);
    let unfinished = line.ends_with(':')
        || ["● ", "--- FAIL:", "Failure/Error:"].iter().any(|start| line.starts_with(start));
    let next = lines[at + 1..].iter().map(|line| line.trim()).find(|line| !line.is_empty());
    match next {
        Some(next) if unfinished && !next.starts_with("at ") => {
            format!("{}: {next}", line.trim_end_matches(':'))
        }
        _ => line,
    }
}

/// Returns the location below a Rust compiler message: ` --> src/main.rs:4:18`.
fn rust_place(below: &[&str]) -> Option<String> {
    let near = below.iter().take(NEAR).map(|line| line.trim());
    let mut near = near.take_while(|line| !line.is_empty());
    near.find_map(|line| line.strip_prefix("--> ").map(str::to_owned))
}

/// Returns the location above a Python error: `File "a.py", line 3`.
fn python_place(above: &[&str]) -> Option<String> {
    above.iter().rev().take(NEAR).find_map(|line| {
        let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(format!("{file}:{number}"))
    })
}

/// Removes the thread id, which differs between runs: `thread 'x' (1234) panicked`.
fn without_thread_id(line: &str) -> String {
    let id = || {
        let (before, rest) = line.strip_prefix("thread ")?.split_once("' (")?;
        let (id, after) = rest.split_once(") ")?;
        let number = id.bytes().all(|byte| byte.is_ascii_digit());
        (number && after.starts_with("panicked")).then(|| format!("thread {before}' {after}"))
    };
    id().unwrap_or_else(|| line.to_owned())
}
