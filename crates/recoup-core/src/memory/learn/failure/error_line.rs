//! The line that says what is wrong, put together with the line beside it where one
//! alone does not say enough.

use super::rules::{Says, says};

/// How far the place of an error may stand from its message.
const NEAR: usize = 6;

/// The line of `text` that says most; of several the first, but the last of a Python
/// traceback and of causes, which is where it began. Where no line says anything, the last.
pub(super) fn find(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(undecorated).collect();
    match best(&lines) {
        (_, Some(at)) => Some(whole(&lines, at)),
        (_, None) => lines.iter().rfind(|line| !line.trim().is_empty()).map(|it| (*it).to_owned()),
    }
}

/// The same, but only a line that really says something.
pub(super) fn find_certain(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(undecorated).collect();
    let (found, at) = best(&lines);
    at.filter(|_| found >= Says::Where).map(|at| whole(&lines, at))
}

fn best(lines: &[&str]) -> (Says, Option<usize>) {
    let chained = lines.iter().any(|line| line.starts_with("Traceback (most recent call last)"));
    let mut best = (Says::Nothing, None);
    for (at, line) in lines.iter().enumerate() {
        if at > 0 && lines[at - 1] == *line {
            continue;
        }
        let found = says(line);
        let cause = line.trim_start().starts_with("Caused by:")
            || (chained && !line.starts_with([' ', '\t', 'E']));
        let later_counts = found == Says::Thrown && cause;
        if found > best.0 || (found == best.0 && found != Says::Nothing && later_counts) {
            best = (found, Some(at));
        }
    }
    best
}

/// A line without what a build tool puts in front of every line.
fn undecorated(line: &str) -> &str {
    let line = line.trim_end();
    for mark in ["npm ERR! ", "npm error ", "│ ", "> "] {
        // What npm says about itself is known by these words.
        if let Some(rest) = line.strip_prefix(mark).filter(|_| !super::clutter::is_clutter(line)) {
            return rest;
        }
    }
    without_step(line).unwrap_or(line)
}

/// `#12 0.512 message`, as Docker's builder writes it; or `0.512 message`.
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

/// The line at `at`, and the one that completes it.
fn whole(lines: &[&str], at: usize) -> String {
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

/// ` --> src/main.rs:4:18` below the message.
fn rust_place(below: &[&str]) -> Option<String> {
    let near = below.iter().take(NEAR).map(|line| line.trim());
    let mut near = near.take_while(|line| !line.is_empty());
    near.find_map(|line| line.strip_prefix("--> ").map(str::to_owned))
}

/// `File "a.py", line 3` above it.
fn python_place(above: &[&str]) -> Option<String> {
    above.iter().rev().take(NEAR).find_map(|line| {
        let (file, rest) = line.trim().strip_prefix("File \"")?.split_once("\", line ")?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        Some(format!("{file}:{number}"))
    })
}

/// `thread 'x' (1234) panicked`: the number is another in each run.
fn without_thread_id(line: &str) -> String {
    let id = || {
        let (before, rest) = line.strip_prefix("thread ")?.split_once("' (")?;
        let (id, after) = rest.split_once(") ")?;
        let number = id.bytes().all(|byte| byte.is_ascii_digit());
        (number && after.starts_with("panicked")).then(|| format!("thread {before}' {after}"))
    };
    id().unwrap_or_else(|| line.to_owned())
}
