//! Descriptions of an error that do not repeat the tool: a class from a fixed list, and a
//! path or identifier. Output is data that anybody may have written; a sentence of it must never
//! reach a context.

use crate::secrets;

/// Classes of errors, one on each line, with words by which they are known, in lower case. The
/// first that fits counts.
const CLASSES: &str = include_str!("error_classes.txt");

/// Error classes by exit code.
const EXITS: &[(i32, &str)] =
    &[(124, "timed out"), (126, "permission denied"), (127, "command not found")];

/// Maximum bytes of a name.
const MOST_NAME: usize = 80;
/// Maximum bytes of a file extension, as in `.properties`.
const MOST_EXTENSION: usize = 10;
/// Maximum words between two slashes; more are a sentence.
const MOST_WORDS: usize = 3;

/// Returns the class of an error, by its line and its exit code.
pub fn error_class(line: &str, exit: Option<i32>) -> Option<&'static str> {
    let lower = line.to_lowercase();
    // A shell ends its line so: "sh: 1: vite: not found".
    if lower.trim_end().ends_with(": not found") {
        return Some("command not found");
    }
    let by_code = EXITS.iter().find(|(code, _)| exit == Some(*code)).map(|(_, name)| *name);
    if by_code == Some("command not found") && lower.contains(": not found") {
        return by_code;
    }
    let classes = CLASSES.lines().filter_map(|line| line.split_once(": "));
    let mut fitting = classes.filter(|(_, words)| words.split(" | ").any(|it| lower.contains(it)));
    fitting.next().map(|(name, _)| name).or(by_code)
}

/// Returns the first path or identifier in the error line of a command: one in quotes, else one
/// that looks like nothing else.
pub fn error_subject<'a>(line: &'a str, command: &str) -> Option<&'a str> {
    let quoted = |word: &&str| {
        let word = word.trim_end_matches(['.', ',', ':', ';', ')']);
        let ends = |c: char| matches!(c, '\'' | '"' | '`' | '’' | '”');
        word.starts_with(['\'', '"', '`', '‘', '“'])
            && word.chars().count() > 2
            && word.ends_with(ends)
    };
    let named = |word: &&str| word.contains(['/', '_']) || word.contains("::");
    let in_quotes = line.split_whitespace().filter(quoted).find_map(|it| shown_name(it, command));
    in_quotes
        .or_else(|| line.split_whitespace().filter(named).find_map(|it| shown_name(it, command)))
}

/// Returns the name in a word of an error line, without punctuation around it and a line number
/// behind it: the last two components of a path, or a name without slashes as it is. Neither spaces
/// nor shell characters are in it, and nothing that leads elsewhere. A path must end in a file with
/// an extension or stand in the command: words joined by slashes may be a sentence.
fn shown_name<'a>(word: &'a str, command: &str) -> Option<&'a str> {
    let outside = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '/' | '.' | '_' | '@');
    let word = word.trim_start_matches(outside).trim_end_matches(|c| outside(c) || c == '.');
    let digits = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
    let name = match word.split_once(':') {
        Some((name, rest)) if rest.split(':').all(digits) => name,
        _ => word,
    };
    let words = |part: &str| {
        part.split(|c: char| !c.is_ascii_alphanumeric()).filter(|it| !it.is_empty()).count()
    };
    let is_name = name.len() <= MOST_NAME
        && name.chars().any(|c| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./@:+".contains(c))
        && !name.contains("//")
        && !leads_to_host(name)
        && name.split('/').all(|part| words(part) <= MOST_WORDS);
    if !is_name || secrets::looks_like_credential(name) {
        return None;
    }
    let path = name.trim_end_matches('/');
    let Some((_, file)) = path.rsplit_once('/') else { return Some(name) };
    let has_extension = file.rsplit_once('.').is_some_and(|(stem, extension)| {
        let is_short = (1..=MOST_EXTENSION).contains(&extension.len());
        !stem.is_empty() && is_short && extension.bytes().all(|it| it.is_ascii_alphanumeric())
    });
    let start = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    (has_extension || command.contains(path)).then(|| &path[start..])
}

/// True for an address without its scheme, as in `evil.dev/x`; false for `./x` and `.github/x`.
pub(in crate::memory::learn) fn leads_to_host(word: &str) -> bool {
    word.split_once('/').is_some_and(|(first, _)| first.trim_start_matches('.').contains('.'))
}
