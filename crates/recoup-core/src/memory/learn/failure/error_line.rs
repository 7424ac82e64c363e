//! The line that says what is wrong, put together with the line beside it where one
//! alone does not say enough.

use super::rules::{Says, says};

/// How far the place of an error may stand from its message.
const NEAR: usize = 6;

/// The line of `text` that says most; of several the first, but the last of a Python
/// traceback and of causes, which is where it began.
pub(super) fn find(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().map(undecorated).collect();
    let chained = lines.iter().any(|line| line.starts_with("Traceback (most recent call last)"));
    let mut best = (Says::Nothing, None);
    for (at, line) in lines.iter().enumerate() {
        let found = says(line);
        let cause = line.trim_start().starts_with("Caused by:")
            || (chained && !line.starts_with([' ', '\t', 'E']));
        let later_counts = found == Says::Thrown && cause;
        if found > best.0 || (found == best.0 && found != Says::Nothing && later_counts) {
            best = (found, Some(at));
        }
    }
    match best {
        (_, Some(at)) => Some(whole(&lines, at)),
        (_, None) => lines.iter().rfind(|line| !line.trim().is_empty()).map(|it| (*it).to_owned()),
    }
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
    let next = || lines[at + 1..].iter().map(|line| line.trim()).find(|line| !line.is_empty());
    let place = || {
        let near = lines[at + 1..].iter().take(NEAR).map(|line| line.trim());
        near.map_while(|line| (!line.is_empty()).then_some(line))
            .find_map(|line| line.strip_prefix("--> "))
    };
    if line.starts_with("error")
        && let Some(place) = place()
    {
        return format!("{line} ({place})");
    }
    let unfinished = line.ends_with(':')
        || line.starts_with("● ")
        || line.starts_with("--- FAIL:")
        || line.starts_with("Failure/Error:");
    match next() {
        Some(next) if unfinished && !next.starts_with("at ") => joined(line, next),
        _ => line.to_owned(),
    }
}

fn joined(line: &str, next: &str) -> String {
    format!("{}: {next}", line.trim_end_matches(':'))
}
