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
    rewrite_plain(text, false, |plain, out| {
        let mut chars = plain.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            let has_meaning = match c {
                '<' => true,
                '&' => begins_entity(next),
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
    })
}

/// Returns the text that a line stands for.
pub(super) fn unescape_markdown(line: &str) -> String {
    rewrite_plain(line, true, |plain, out| {
        let mut chars = plain.chars().peekable();
        while let Some(c) = chars.next() {
            let escaped = chars.next_if(|next| c == '\\' && next.is_ascii_punctuation());
            out.push(escaped.unwrap_or(c));
        }
    })
}

/// True if a line has something that the rendered page does not show as it is: HTML, comments among
/// it, or an entity.
pub(super) fn has_hidden_markup(line: &str) -> bool {
    let hides = |plain: &str| {
        let mut chars = plain.chars().peekable();
        while let Some(c) = chars.next() {
            let next = chars.peek().copied();
            let begins_tag =
                || next.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
            if (c == '<' && begins_tag()) || (c == '&' && begins_entity(next)) {
                return true;
            }
            chars.next_if(|next| c == '\\' && next.is_ascii_punctuation());
        }
        false
    };
    let parts = split_parts(line, true);
    parts.iter().any(|part| matches!(part, MarkdownPart::Plain(plain) if hides(plain)))
}

fn begins_entity(next: Option<char>) -> bool {
    next.is_some_and(|c| c == '#' || c.is_ascii_alphabetic())
}

/// Rewrites the parts of a text that are not code.
fn rewrite_plain(text: &str, escapes: bool, rewrite: impl Fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    for part in split_parts(text, escapes) {
        match part {
            MarkdownPart::Code(code) => out.push_str(code),
            MarkdownPart::Plain(plain) => rewrite(plain, &mut out),
        }
    }
    out
}

/// Splits a text into code and other parts. Code stands between two runs of as many backticks; with
/// `escapes`, a backslash before a run takes its meaning away.
fn split_parts(text: &str, escapes: bool) -> Vec<MarkdownPart<'_>> {
    let bytes = text.as_bytes();
    let run_at = |at: usize| bytes[at..].iter().take_while(|byte| **byte == b'`').count();
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes && bytes.get(at + 1).is_some_and(u8::is_ascii_punctuation) => at += 2,
            b'`' => {
                let run = run_at(at);
                let mut next = at + run;
                // The next run of just that length closes it.
                let end = loop {
                    next += bytes[next..].iter().take_while(|byte| **byte != b'`').count();
                    let found = run_at(next);
                    next += found;
                    if found == 0 || found == run {
                        break (found > 0).then_some(next);
                    }
                };
                if let Some(end) = end {
                    parts.push(MarkdownPart::Plain(&text[from..at]));
                    parts.push(MarkdownPart::Code(&text[at..end]));
                    (from, at) = (end, end);
                } else {
                    at += run;
                }
            }
            _ => at += 1,
        }
    }
    parts.push(MarkdownPart::Plain(&text[from..]));
    parts
}
