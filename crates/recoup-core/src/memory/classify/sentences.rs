//! Split of a line of prose into sentences, and of a request that hangs on a sentence by a comma.

/// Abbreviations whose dot ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "z.b", "d.h", "u.a", "bzw", "usw", "p.ej", "ej", "p.ex", "ex",
    "es", "approx", "no", "nr", "fig", "resp", "incl", "ca", "dr", "mr", "ms", "st",
];

/// Beginnings of a request or a question behind a comma, a dash or "and".
const REQUESTS: &[&str] = &[
    "can you ",
    "could you ",
    "can u ",
    "would you ",
    "will you ",
    "please fix",
    "please redo",
    "please change",
    "please move",
    "please update",
    "please revert",
    "so please fix",
    "so fix ",
    "so can you",
    "so could you",
    "now can you",
    "now please",
    "now fix ",
    "now why ",
    "now how ",
    "now let",
    "now write ",
    "now add ",
    "now make ",
    "fix it",
    "fix that",
    "fix this",
    "redo it",
    "redo that",
    "redo this",
    "move it",
    "move them",
    "revert it",
    "revert that",
    "change it back",
    "undo that",
    "undo it",
    "try again",
    "do it again",
    "why did you",
    "why do you",
    "why are you",
    "how do i ",
    "how can i",
    "how do we",
    "what should",
    "is there ",
    "kannst du",
    "könntest du",
    "peux-tu",
    "tu peux ",
    "puedes ",
    "podrías ",
    "você pode",
    "pode ",
    "puoi ",
    "potresti ",
    "by the way ",
    "by the way, ",
    "btw ",
    "btw, ",
];

/// Returns the sentences of a line, trimmed; none is empty.
pub(super) fn split_sentences(line: &str) -> Vec<String> {
    let line = without_list_mark(line);
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut code = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => code = !code && line[at + 1..].contains('`'),
            _ if code => {}
            '。' | '！' | '？' | '；' => {
                push(&mut pieces, &line[from..at + c.len_utf8()]);
                from = at + c.len_utf8();
            }
            '.' | '!' | '?' | '…' => {
                let ends =
                    chars.peek().is_none_or(|(_, next)| next.is_whitespace() || *next > '\u{2fff}');
                if ends && !(c == '.' && is_abbreviated(&line[from..at])) {
                    push(&mut pieces, &line[from..at + c.len_utf8()]);
                    from = at + c.len_utf8();
                }
            }
            ';' if gives_reason(&line[at + 1..]) => {
                push(&mut pieces, &line[from..at]);
                from = at + 1;
            }
            ',' | '-' | '–' | '—' | '(' | '，' => {
                let behind = line[at + c.len_utf8()..].trim_start_matches(['-', '–', '—', ' ']);
                let apart = c != '-' || line[..at].ends_with(' ');
                if apart && at > from && begins_request(behind) {
                    push(&mut pieces, &line[from..at]);
                    from = line.len() - behind.len();
                }
            }
            ' ' => {
                let behind = &line[at + 1..];
                let joined = ["and ", "so ", "but ", "und ", "et ", "y ", "e "]
                    .iter()
                    .find_map(|it| behind.strip_prefix(it));
                if joined.is_some_and(begins_request) && at > from {
                    push(&mut pieces, &line[from..at]);
                    from = at + 1;
                }
            }
            _ => {}
        }
        while chars.peek().is_some_and(|(next, _)| *next < from) {
            chars.next();
        }
    }
    push(&mut pieces, &line[from..]);
    pieces
}

/// True for "…; it breaks CI": a reason is no part of the rule.
fn gives_reason(behind: &str) -> bool {
    ["it", "it's", "that", "that's", "this"]
        .iter()
        .any(|it| behind.trim_start().strip_prefix(it).is_some_and(|rest| rest.starts_with(' ')))
}

fn begins_request(text: &str) -> bool {
    REQUESTS
        .iter()
        .any(|it| text.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it)))
}

fn push(pieces: &mut Vec<String>, piece: &str) {
    let piece = piece.trim().trim_end_matches([',', ';', '—', '–']).trim_end();
    if piece.chars().any(char::is_alphanumeric) {
        pieces.push(piece.to_owned());
    } else if let Some(last) = pieces.last_mut().filter(|_| piece.contains(['?', '？'])) {
        // "what ! ?" is a question.
        last.push('?');
    }
}

/// Returns a line without the mark of a list item or a title.
fn without_list_mark(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('#').trim_start();
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "• ", "– "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.trim_start();
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits).then(|| &line[digits..]);
    numbered
        .and_then(|rest| rest.strip_prefix(['.', ')']))
        .filter(|rest| rest.starts_with(' '))
        .map_or(line, str::trim_start)
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '(', ',']).next().unwrap_or("").to_lowercase();
    ABBREVIATIONS.contains(&word.as_str())
        || (word.len() == 1 && word.chars().all(char::is_alphabetic))
        || before.ends_with('.')
        || (!word.is_empty()
            && word.len() <= 2
            && word.bytes().all(|b| b.is_ascii_digit())
            && before.trim_start().len() == word.len())
}
