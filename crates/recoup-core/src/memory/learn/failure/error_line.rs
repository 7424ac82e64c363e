//! Search for the line of an output that tells what is wrong, completed by its neighbour if needed.
//! Lines are rated by how much they tell about an error, tool by tool.

use crate::memory::learn::patterns::PatternSection;

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
    let prefix = PREFIX.find(line).filter(|_| !CLUTTER.fits(&line.to_lowercase()));
    prefix.or_else(|| STEP.find(line)).map_or(line, |it| &line[it.end..])
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
    } else if ["SyntaxError", "IndentationError", "TabError"].iter().any(|it| line.starts_with(it))
    {
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
    let line = match THREAD_ID.find(line).filter(|_| line.starts_with("thread ")) {
        Some(id) => format!("{}' panicked{}", &line[..id.start], &line[id.end..]),
        None => line.to_owned(),
    };
    let unfinished = line.ends_with(':')
        || ["● ", "--- FAIL:", "Failure/Error:"].iter().any(|it| line.starts_with(it));
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

/// Patterns of lines by what they tell, the most telling first; true for those that need lower case.
static SIGNALS: [(ErrorSignal, bool, PatternSection); 8] = [
    (ErrorSignal::Exact, false, PatternSection::new("(exact)")),
    (ErrorSignal::Exact, true, PatternSection::new("exact")),
    (ErrorSignal::Thrown, false, PatternSection::new("(thrown)")),
    (ErrorSignal::System, true, PatternSection::new("system")),
    (ErrorSignal::Message, true, PatternSection::new("message")),
    (ErrorSignal::Where, false, PatternSection::new("(where)")),
    (ErrorSignal::Nothing, true, PatternSection::new("no error")),
    (ErrorSignal::Perhaps, true, PatternSection::new("perhaps")),
];

static PREFIX: PatternSection = PatternSection::new("(prefix)");
static STEP: PatternSection = PatternSection::new("(step)");
static THREAD_ID: PatternSection = PatternSection::new("(thread id)");
static NOISE: PatternSection = PatternSection::new("noise");
static CLUTTER: PatternSection = PatternSection::new("clutter");

/// Rates one line, which has no colours and may be indented.
fn rate_line(line: &str) -> ErrorSignal {
    let line = line.trim_end();
    let lower = line.to_lowercase();
    if NOISE.fits(&lower) || !line.contains(char::is_alphanumeric) {
        return ErrorSignal::Nothing;
    }
    let fits = |(_, blind, section): &&(ErrorSignal, bool, PatternSection)| {
        section.fits(if *blind { &lower } else { line })
    };
    match SIGNALS.iter().find(fits) {
        None | Some((ErrorSignal::Nothing, ..)) => ErrorSignal::Nothing,
        Some(_) if CLUTTER.fits(&lower) => ErrorSignal::Something,
        Some((signal, ..)) => *signal,
    }
}

/// True if some line certainly reports an error.
pub(super) fn has_certain_error(text: &str) -> bool {
    text.lines().any(|line| rate_line(line) >= ErrorSignal::Message)
}
