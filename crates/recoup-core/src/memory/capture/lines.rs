//! Lines of a prompt that nobody typed as a sentence, known by their look: code, logs, quotes, chats,
//! tables, diffs.

use std::ops::Range;

/// Kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptLineKind {
    Prose,
    Item,
    Foreign,
}

/// Beginnings of lines that are no sentences, in small letters.
const FOREIGN: &[&str] = &[
    ">", "$ ", "% ", ">>> ", "... ", "//", "/*", "*/", "#!", "#include", "# noqa", "<!--", "<?",
    "@@", "+++ ", "--- ", "diff --git", "traceback ", "file \"", "at ", "caused by", "npm err",
    "npm warn", "error[", "error: ", "error ts", "warning: ", "warning[", "warn ", "info ",
    "debug ", "fatal: ", "fatal ", "panic: ", "panicked ", "thread '", "[error", "[warn", "[info",
    "[debug", "exception in", "import ", "from ", "def ", "class ", "const ", "let ", "var ",
    "function ", "public ", "private ", "protected ", "static ", "select ", "insert into",
    "update ", "create table", "alter table", "return ", "if (", "if(", "for (", "while (",
    "#define", "package ", "func ", "fn ", "impl ", "pub ", "struct ", "enum ", "async ",
    "export ", "e   ", "failed ", "fail ", "passed ", "● ", "✗", "✕", "✓", "->", "=>", "|",
    "subject: ", "date: ", "author: ", "sent: ", "cc: ", "commit ", "make: ", "make[",
    "goroutine ", "stack trace", "java.", "org.", "com.", "system.", "-----", "=====", "****",
    "http/1", "get /", "post /", "{", "}", "[{", "<", "\"", "remote: ", "hint: ", "<<<<", ">>>>",
];

/// Beginnings that sentences have, too: these need more signs of code.
const DOUBTFUL: &[&str] = &[
    "from ", "import ", "let ", "update ", "return ", "class ", "select ", "package ", "public ",
    "private ", "at ", "for (", "static ", "export ", "function ", "const ", "var ", "commit ",
    "failed ", "fail ", "info ", "warn ", "enum ", "struct ", "async ", "def ", "func ", "fn ",
    "pub ", "impl ", "debug ", "fatal ", "passed ", "date: ", "protected ", "error: ", "warning: ",
    "\"", "<", "system.",
];

/// Returns each line with its kind.
fn classify_lines(text: &str) -> Vec<(&str, PromptLineKind)> {
    let mut all: Vec<(&str, PromptLineKind)> = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let plain = line.trim_start();
        if let Some(mark) = fence {
            if plain.starts_with(mark) {
                fence = None;
            }
            all.push((line, PromptLineKind::Foreign));
            continue;
        }
        if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| plain.starts_with(mark)) {
            // A fence that opens and closes in one line.
            let closed = plain[mark.len()..].contains(mark);
            fence = (!closed).then_some(mark);
            all.push((line, PromptLineKind::Foreign));
            continue;
        }
        // Behind words a fence opens: they are prose, what is in it is not.
        if let Some(at) = line.find("```") {
            // If it closes in its line, it is a piece of code in a sentence.
            if line[at + 3..].contains("```") {
                all.push((line, kind(line)));
            } else {
                all.push((&line[..at], kind(&line[..at])));
                fence = Some("```");
            }
            continue;
        }
        all.push((line, kind(line)));
    }
    mark_diffs(&mut all);
    mark_chats_and_records(&mut all);
    all
}

/// Ranges of a text that nobody typed as sentences: code, logs, quotes, chats.
pub(super) fn hidden_ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut behind = 0;
    for (line, kind) in classify_lines(text) {
        let from = behind + text[behind..].find(line).unwrap_or(0);
        behind = from + line.len();
        if kind != PromptLineKind::Foreign {
            continue;
        }
        match ranges.last_mut() {
            Some(last) if text[last.end..from].trim().is_empty() => last.end = behind,
            _ => ranges.push(from..behind),
        }
    }
    ranges
}

fn kind(line: &str) -> PromptLineKind {
    let plain = line.trim();
    let is_item = is_item(plain);
    if !is_item && is_foreign(line, plain) {
        return PromptLineKind::Foreign;
    }
    if is_item {
        let inner = plain.trim_start_matches(['-', '*', '•', ' ']);
        return if looks_like_code(inner) || is_log(inner) {
            PromptLineKind::Foreign
        } else {
            PromptLineKind::Item
        };
    }
    PromptLineKind::Prose
}

fn is_item(line: &str) -> bool {
    if ["- ", "* ", "• ", "– "].iter().any(|mark| line.starts_with(mark)) {
        return true;
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    (1..=2).contains(&digits)
        && (line[digits..].starts_with(". ") || line[digits..].starts_with(") "))
}

fn is_foreign(line: &str, plain: &str) -> bool {
    let lower = plain.to_lowercase();
    let begins = FOREIGN.iter().find(|start| lower.starts_with(*start));
    if let Some(start) = begins {
        if !DOUBTFUL.contains(start) {
            return true;
        }
        if looks_like_code(plain) || (start.ends_with(": ") && plain.len() > start.len()) {
            return true;
        }
        let indented = line.len() > plain.len() + 1 && line.starts_with([' ', '\t']);
        if indented || (*start == "at " && plain.contains('(') && plain.contains(':')) {
            return true;
        }
    }
    let indented = line.starts_with("    ") || line.starts_with('\t');
    if indented || looks_like_code(plain) || is_log(plain) {
        return true;
    }
    // `fix(auth): …`
    let Some((head, tail)) = plain.split_once(": ") else { return false };
    let kind = head.split('(').next().unwrap_or("").trim_end_matches('!');
    let known =
        ["fix", "feat", "chore", "docs", "refactor", "perf", "build", "ci", "style", "revert"];
    known.contains(&kind)
        && !tail.is_empty()
        && (head.len() == kind.len() || head.ends_with([')', '!']))
}

/// True if a line has endings and symbols of code.
fn looks_like_code(plain: &str) -> bool {
    let outside: String = plain.split('`').step_by(2).collect();
    let text = outside.trim_end();
    let words =
        text.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic)).count();
    if text.ends_with(['{', '}', ';']) && words < 8 {
        return true;
    }
    if text.ends_with(':')
        && ["def ", "class ", "for ", "if ", "while "].iter().any(|it| text.starts_with(it))
        && text.contains(['(', '=', '_'])
    {
        return true;
    }
    let signs = [
        "=>", "==", "!=", "&&", "||", "::", "->", "();", "):", " = ", "+=", "</", "/>", "${", "\\n",
    ];
    let count = signs.iter().filter(|sign| text.contains(*sign)).count();
    let symbols = text
        .chars()
        .filter(|c| {
            matches!(c, '{' | '}' | '(' | ')' | ';' | '=' | '<' | '>' | '[' | ']' | '|' | '&' | '$')
        })
        .count();
    let length = text.chars().count().max(1);
    (count >= 2 && words < 9) || (symbols * 8 > length && symbols >= 3 && words < 6)
}

/// True if a line begins with a time, a level, or a place in a file.
fn is_log(plain: &str) -> bool {
    let bytes = plain.as_bytes();
    let digits =
        |range: Range<usize>| bytes.get(range).is_some_and(|it| it.iter().all(u8::is_ascii_digit));
    let date = digits(0..4) && bytes.get(4) == Some(&b'-') && digits(5..7);
    let clock = |at: usize| {
        digits(at..at + 2) && bytes.get(at + 2) == Some(&b':') && digits(at + 3..at + 5)
    };
    let bracketed = bytes.first() == Some(&b'[') && (clock(1) || digits(1..5));
    let first = plain.split_whitespace().next().unwrap_or("");
    let tagged = first.len() > 2
        && first.starts_with('[')
        && first.ends_with(']')
        && first.len() < plain.len();
    let place = first.matches(':').count() >= 1
        && first
            .trim_end_matches(':')
            .rsplit(':')
            .next()
            .is_some_and(|it| !it.is_empty() && it.bytes().all(|b| b.is_ascii_digit()))
        && first.chars().any(|c| c.is_ascii_digit());
    let level = plain.split_whitespace().take(4).any(|word| {
        matches!(
            word.trim_matches(|c: char| !c.is_alphabetic()),
            "ERROR" | "WARN" | "WARNING" | "INFO" | "DEBUG" | "FATAL" | "TRACE"
        )
    });
    date || clock(0)
        || bracketed
        || tagged
        || place
        || level
        || plain.contains("Error: ")
        || plain.contains("Exception: ")
        || plain.contains("(exit code")
}

/// Marks added and removed lines of a diff, and everything between the marks of a conflict.
fn mark_diffs(all: &mut [(&str, PromptLineKind)]) {
    let is_diff = all.iter().any(|(line, _)| {
        line.starts_with("diff --git") || line.starts_with("@@ ") || line.starts_with("+++ ")
    });
    let mut in_conflict = false;
    for (line, kind) in all.iter_mut() {
        in_conflict |= line.starts_with("<<<<<<<");
        if in_conflict || (is_diff && line.starts_with(['+', '-'])) {
            *kind = PromptLineKind::Foreign;
        }
        in_conflict &= !line.starts_with(">>>>>>>");
    }
}

/// Name of the speaker at the beginning of a line: "Priya:", "[10:02] Tom:".
fn speaker(line: &str) -> Option<&str> {
    let (name, said) = line
        .trim_start()
        .split_once(": ")
        .or_else(|| line.trim().strip_suffix(':').map(|it| (it, "")))?;
    let name = name.trim_start_matches('@');
    let words = name.split_whitespace().count();
    let fits = (1..=2).contains(&words)
        && name.len() <= 24
        && name.chars().all(|c| c.is_alphanumeric() || " ._-".contains(c));
    (fits && !said.starts_with("//")).then_some(name)
}

/// Marks chats (two lines in a row that begin with a name and a colon) and records (two lines in a
/// row of `key: value` or `KEY=value`).
fn mark_chats_and_records(all: &mut [(&str, PromptLineKind)]) {
    let is_said = |line: &str| {
        speaker(line).is_some_and(|name| {
            name.starts_with(char::is_uppercase)
                || line.starts_with('@')
                || line.trim_start().starts_with('<')
        })
    };
    mark_neighbours(all, is_said);
    let is_record = |line: &str| {
        let plain = line.trim();
        let key = plain.split([':', '=']).next().unwrap_or("");
        let has_key = !key.is_empty()
            && key.len() < plain.len()
            && key.chars().all(|c| c.is_ascii_alphanumeric() || "_-.\"' ".contains(c));
        let value = plain[key.len().min(plain.len())..].trim_start_matches([':', '=', ' ']);
        has_key && !key.contains(' ') && value.split_whitespace().count() <= 2
    };
    mark_neighbours(all, is_record);
}

/// Marks lines of prose for which `is_marked` is true, two or more in a row.
fn mark_neighbours(all: &mut [(&str, PromptLineKind)], is_marked: impl Fn(&str) -> bool) {
    let marks: Vec<bool> =
        all.iter().map(|(line, kind)| *kind == PromptLineKind::Prose && is_marked(line)).collect();
    for at in 0..all.len() {
        let neighbour = (at > 0 && marks[at - 1]) || marks.get(at + 1).copied().unwrap_or(false);
        if marks[at] && neighbour {
            all[at].1 = PromptLineKind::Foreign;
        }
    }
}
