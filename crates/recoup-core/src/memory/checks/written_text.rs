//! Texts that a rule forbids to write. Only added text counts: what the new text has more often than
//! the old one. Comments and strings are not code, unless the forbidden text is of that kind itself.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A forbidden text, as its parts on one line: `from x import *` is "from ", " import *".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextPattern {
    parts: Vec<String>,
}

/// Names that stand for any other in an example.
const PLACEHOLDERS: [&str; 6] = ["x", "X", "foo", "...", "…", "<name>"];

impl TextPattern {
    /// Reads a text as people write it in a rule; `print()` stands for all calls of it.
    pub(super) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let text = text.strip_suffix("()").map_or_else(|| text.to_owned(), |it| format!("{it}("));
        let mut parts = vec![String::new()];
        for (at, word) in text.split(' ').enumerate() {
            let last = parts.last_mut()?;
            if PLACEHOLDERS.contains(&word) && at > 0 {
                last.push(' ');
                parts.push(" ".to_owned());
            } else {
                let is_start = last.is_empty() || last == " ";
                last.push_str(if is_start { "" } else { " " });
                last.push_str(word);
            }
        }
        let is_text = parts.iter().all(|it| it.chars().any(|c| !c.is_whitespace()));
        (is_text && text.chars().count() >= 2).then_some(Self { parts })
    }

    /// True if the new text has it more often than the old one.
    pub(super) fn is_added(&self, new: &str, old: &str) -> bool {
        new.contains(&self.parts[0]) && self.count_in(new) > self.count_in(old)
    }

    fn count_in(&self, text: &str) -> usize {
        let first = &self.parts[0];
        // Markers in comments, and code that contains a string, are looked for in everything.
        let is_comment =
            first.starts_with(['#', '/', '@']) || is_capital(first) || first.contains("lint-");
        let is_string = first.contains(['"', '\'', ':', '/', '`']);
        text.lines()
            .map(|line| {
                let line = if is_comment { line } else { without_comment(line) };
                if is_comment || is_string {
                    self.count_in_line(line)
                } else {
                    self.count_in_line(&without_strings(line))
                }
            })
            .sum()
    }

    fn count_in_line(&self, line: &str) -> usize {
        let (mut count, mut from) = (0, 0);
        while let Some(end) = self.match_in(&line[from..]) {
            count += 1;
            from += end;
        }
        count
    }

    /// Returns the end of the first match.
    fn match_in(&self, line: &str) -> Option<usize> {
        self.parts.iter().try_fold(0, |from, part| {
            let mut at = from;
            loop {
                let found = at + line[at..].find(part.as_str())?;
                let end = found + part.len();
                if is_whole(line, found, end) {
                    return Some(end);
                }
                at = found + line[found..].chars().next().map_or(1, char::len_utf8);
            }
        })
    }
}

/// True if a text has another one that is no part of a longer word.
pub(super) fn contains_whole(text: &str, wanted: &str) -> bool {
    text.match_indices(wanted).any(|(at, _)| is_whole(text, at, at + wanted.len()))
}

/// True if no letter goes on where a part begins or ends with one.
fn is_whole(line: &str, start: usize, end: usize) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_joined = |one: Option<char>, other: Option<char>| {
        one.is_some_and(is_name) && other.is_some_and(is_name)
    };
    let is_sign = |c: char| "=<>!&|+".contains(c);
    let are_signs = |one: Option<char>, other: Option<char>| {
        one.is_some_and(is_sign) && other.is_some_and(is_sign)
    };
    let (part, before, behind) = (&line[start..end], &line[..start], &line[end..]);
    !is_joined(before.chars().next_back(), part.chars().next())
        && !is_joined(part.chars().next_back(), behind.chars().next())
        // `==` is no part of `===`.
        && !are_signs(before.chars().next_back(), part.chars().next())
        && !are_signs(part.chars().next_back(), behind.chars().next())
}

/// True for a marker such as `TODO`.
fn is_capital(text: &str) -> bool {
    text.len() >= 3 && text.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

/// Returns a line up to a comment in it.
fn without_comment(line: &str) -> &str {
    // `#include` and `#[test]` are code.
    let starts = ["//", "# ", "/*", "* "];
    if starts.iter().any(|it| line.trim_start().starts_with(it)) {
        return "";
    }
    let found = [" //", "\t//", " # ", " /*", " -- "].iter().filter_map(|it| line.find(it)).min();
    &line[..found.unwrap_or(line.len())]
}

/// Returns a line without the content of its strings.
fn without_strings(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(mark) if c == mark => {
                quote = None;
                plain.push(c);
            }
            Some(_) if c == '\\' => drop(chars.next()),
            Some(_) => {}
            None => {
                quote = matches!(c, '"' | '\'').then_some(c);
                plain.push(c);
            }
        }
    }
    // An apostrophe is no string.
    if quote.is_some() { line.to_owned() } else { plain }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.parts.join("…").trim())
    }
}

/// True if a text imports a package.
pub(super) fn imports_package(text: &str, package: &str) -> bool {
    text.lines().any(|line| {
        let line = line.trim();
        let quoted = ['"', '\''].iter().any(|mark| {
            [format!("{mark}{package}{mark}"), format!("{mark}{package}/")].iter().any(|name| {
                line.find(name.as_str()).is_some_and(|at| {
                    let before = line[..at].trim_end_matches(['(', ' ']);
                    before.ends_with("from")
                        || before.ends_with("require")
                        || before == "import"
                        || before.ends_with("import")
                })
            })
        });
        let mut words = line.split(|c: char| c.is_whitespace() || c == ';' || c == ',');
        let named = matches!(words.next(), Some("import" | "from" | "use"))
            && words.next().is_some_and(|it| it.split(['.', ':']).next() == Some(package));
        let is_code = !line.contains('"') && !line.contains('\'');
        quoted || (named && is_code)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_added_code_counts() {
        for (pattern, new, old, expected) in [
            ("console.log", "console.log(1)", "", true),
            ("console.log", "console.log(2)", "console.log(1)", false),
            ("console.log", "// console.log(1)", "", false),
            ("print()", "blueprint(x)", "", false),
            ("print()", "x = 1; print(x)", "", true),
            ("any", "let x: any = 1;", "", true),
            ("any", "many('any one') // any", "", false),
            ("TODO", "x # TODO later", "", true),
            ("# type: ignore", "x = 1  # type: ignore[x]", "", true),
            ("from x import *", "from api.models import *", "", true),
            ("from x import *", "from api.models import a", "", false),
            (":latest", "FROM node:latest", "", true),
            ("http://", "a: http://b", "a: https://b", true),
        ] {
            let found = TextPattern::new(pattern).unwrap();
            assert_eq!(found.is_added(new, old), expected, "{pattern}: {new}");
        }
    }

    #[test]
    fn imports_are_known_in_several_languages() {
        for (line, expected) in [
            ("import moment from 'moment';", true),
            ("const moment = require(\"moment\")", true),
            ("import 'moment/locale/de'", true),
            ("from moment.x import y", true),
            ("use moment::now;", true),
            ("// at the moment", false),
            ("import x from 'moment-timezone'", false),
        ] {
            assert_eq!(imports_package(line, "moment"), expected, "{line}");
        }
    }
}
