//! Escaping of any text into one line that can't leave its frame: no tag, no new line, no fence,
//! and nothing that a person would not see.

/// Stands for a value in the commands of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Placeholder {
    Branch,
    Number,
    Path,
}

impl Placeholder {
    pub(crate) const ALL: [Self; 3] = [Self::Branch, Self::Number, Self::Path];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "<branch>",
            Self::Number => "<number>",
            Self::Path => "<path>",
        }
    }
}

/// Puts `text` on one line, without anything that could close a frame or open another. Placeholders
/// do neither, and stay. Idempotent.
pub fn one_line(text: &str) -> String {
    let line = line(text, "&lt;");
    if !line.contains("&lt;") {
        return line;
    }
    Placeholder::ALL
        .iter()
        .fold(line, |line, it| line.replace(&format!("&lt;{}", &it.as_str()[1..]), it.as_str()))
}

/// Puts `text` on one line for people, outside of a frame.
pub fn readable_line(text: &str) -> String {
    line(text, "<")
}

fn line(text: &str, bracket: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // The common case.
            'a'..='z' | 'A'..='Z' | '0'..='9' => line.push(c),
            c if is_joiner(c) => {
                // Some scripts, and emoji, need it between two of their own.
                let between = line.chars().next_back().is_some_and(is_joinable)
                    && chars.peek().is_some_and(|c| is_joinable(*c));
                if between {
                    line.push(c);
                }
            }
            c if is_blank(c) => {
                if !line.is_empty() && !line.ends_with(' ') {
                    line.push(' ');
                }
            }
            c if is_unseen(c) => {}
            c if BRACKETS.contains(c) => line.push_str(bracket),
            // At most two backticks or tildes in a row: three would open a block of code.
            '`' | '\u{ff40}' if line.ends_with("``") => {}
            '~' | '\u{ff5e}' if line.ends_with("~~") => {}
            '\u{ff40}' => line.push('`'),
            '\u{ff5e}' => line.push('~'),
            c => line.push(c),
        }
    }
    // The marker of a heading, quote or list has no place inside an item.
    let mut plain = line.trim_end();
    while let Some((marker, rest)) = plain.split_once(' ') {
        let is_marker = matches!(marker, "-" | "*" | "+" | ">")
            || (!marker.is_empty() && marker.bytes().all(|byte| byte == b'#' || byte == b'>'));
        if !is_marker {
            break;
        }
        plain = rest;
    }
    plain.to_owned()
}

/// Characters that begin a tag, or look as if they did.
const BRACKETS: &str = "<\u{2039}\u{2329}\u{276c}\u{276e}\u{2770}\u{27e8}\u{29fc}\u{3008}\u{fe64}\u{ff1c}\
\u{1438}\u{16b2}\u{02c2}\u{227a}\u{2a79}\u{fe3f}\u{1d236}";

/// White space of every kind, line ends among them.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{2800}' | '\u{1c}'..='\u{1f}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

fn is_joinable(c: char) -> bool {
    !c.is_ascii() && !is_blank(c) && !is_unseen(c) && !BRACKETS.contains(c) && !is_joiner(c)
}

/// True for controls, directions, fillers and tags: nobody sees them, a model reads them.
pub fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
                | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
        || (u32::from(c) & 0xfffe) == 0xfffe
}
