//! The little of Markdown that a rule's line needs: text between backticks is literal, elsewhere a
//! backslash escapes a sign.

/// A part of a line.
enum MarkdownPart<'a> {
    /// Code, with the backticks around it.
    Code(&'a str),
    Plain(&'a str),
}

/// Escapes a text for a line, so that nothing in it is HTML or an entity.
pub(super) fn escape_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in split_parts(text, false) {
        match part {
            MarkdownPart::Code(code) => out.push_str(code),
            MarkdownPart::Plain(plain) => {
                let mut chars = plain.chars().peekable();
                while let Some(c) = chars.next() {
                    let next = chars.peek().copied();
                    let has_meaning = match c {
                        '<' => true,
                        '&' => next.is_some_and(|c| c == '#' || c.is_ascii_alphabetic()),
                        // The target and the title of a link are not on the page.
                        ']' => matches!(next, Some('(' | '[' | ':')),
                        // At the end, code may follow.
                        '\\' => next.is_none_or(|c| c.is_ascii_punctuation()),
                        _ => false,
                    };
                    if has_meaning {
                        out.push('\\');
                    }
                    out.push(c);
                }
            }
        }
    }
    out
}

/// Returns the text that a line stands for.
pub(super) fn unescape_markdown(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    for part in split_parts(line, true) {
        match part {
            MarkdownPart::Code(code) => out.push_str(code),
            MarkdownPart::Plain(plain) => {
                let mut chars = plain.chars().peekable();
                while let Some(c) = chars.next() {
                    let escaped = chars.next_if(|next| c == '\\' && next.is_ascii_punctuation());
                    out.push(escaped.unwrap_or(c));
                }
            }
        }
    }
    out
}

/// True if a line has something that the rendered page does not show as it is: HTML, comments among
/// it, or an entity.
pub(super) fn has_hidden_markup(line: &str) -> bool {
    split_parts(line, true).iter().any(|part| match part {
        MarkdownPart::Code(_) => false,
        MarkdownPart::Plain(plain) => {
            let mut chars = plain.chars().peekable();
            std::iter::from_fn(|| {
                let c = chars.next()?;
                let next = chars.peek().copied();
                Some(match c {
                    '\\' => {
                        chars.next_if(char::is_ascii_punctuation);
                        false
                    }
                    '<' => next
                        .is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
                    '&' => next.is_some_and(|c| c == '#' || c.is_ascii_alphabetic()),
                    _ => false,
                })
            })
            .any(|hides| hides)
        }
    })
}

/// Splits a text into code and other parts. Code stands between two runs of as many backticks; with
/// `escapes`, a backslash before a run takes its meaning away.
fn split_parts(text: &str, escapes: bool) -> Vec<MarkdownPart<'_>> {
    let bytes = text.as_bytes();
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes && bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
            b'`' => {
                let run = run_at(bytes, at);
                let Some(end) = find_closing_run(bytes, at + run, run) else {
                    at += run;
                    continue;
                };
                parts.push(MarkdownPart::Plain(&text[from..at]));
                parts.push(MarkdownPart::Code(&text[at..end]));
                (from, at) = (end, end);
            }
            _ => at += 1,
        }
    }
    parts.push(MarkdownPart::Plain(&text[from..]));
    parts
}

/// Returns the end of the next run of just that length.
fn find_closing_run(bytes: &[u8], mut at: usize, run: usize) -> Option<usize> {
    while at < bytes.len() {
        if bytes[at] == b'`' {
            let found = run_at(bytes, at);
            at += found;
            if found == run {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

fn run_at(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == b'`').count()
}
