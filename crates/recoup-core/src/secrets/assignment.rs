//! A credential's name with a value: `password=…`, `"api_key": "…"`,
//! `<secret>…</secret>`, `--token …`, and pairs such as
//! `{"name": "DB_PASSWORD", "value": "…"}`, in whatever language or format.

use std::ops::Range;

use super::name::{self, Name};
use super::value::{Context, Link, Value};

/// How far a value may be from its name: two lines of deep YAML.
const GAP: usize = 48;

/// For the literals that names of credentials contain.
pub(super) fn find(text: &[u8], at: usize) -> Option<Range<usize>> {
    // Most names have no value: that is seen soonest.
    let range = name::extent(text, at);
    let (link, at) = link(text, &range)?;
    let name = Name::read(text, range)?;
    let value = Value::read(text, at)?;
    let context = Context { text, name: &name, link };
    if context.is_credential(&value) {
        return Some(value.range);
    }
    // `password: str = "…"`: what stood behind the colon was a type.
    let at = behind_type(text, &value, link)?;
    let value = Value::read(text, at)?;
    let context = Context { text, name: &name, link: Link::Typed };
    context.is_credential(&value).then_some(value.range)
}

/// What connects the name with its value, and where the value begins.
fn link(text: &[u8], name: &Range<usize>) -> Option<(Link, usize)> {
    let (behind, closed) = skip_quote(text, name.end);
    let at = skip_blanks(text, behind);
    if closed && let Some(linked) = spread(text, behind) {
        return Some(linked);
    }
    if closed && is_attribute(text, name) {
        return pair(text, closed, at);
    }
    match text[at..] {
        // Comparisons, and paths of types.
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => None,
        [b'=', b'>', ..] => Some((Link::Colon, skip_blanks(text, at + 2))),
        [b':' | b'?', b'=', ..] => Some((Link::Equals, skip_blanks(text, at + 2))),
        [b'=', ..] => Some((Link::Equals, skip_blanks(text, at + 1))),
        [b':', ..] => Some((Link::Colon, skip_block(text, skip_blanks(text, at + 1)))),
        [b'>', ..] if is_tag(text, name) => Some((Link::Tag, at + 1)),
        _ => flag(text, name, at).or_else(|| pair(text, closed, at)),
    }
}

/// A quoted name, a colon and a quoted value, on lines of their own.
fn spread(text: &[u8], behind: usize) -> Option<(Link, usize)> {
    let colon = skip_gap(text, behind);
    let rest = text.get(colon..)?.strip_prefix(b":")?;
    let value = skip_gap(text, text.len() - rest.len());
    matches!(text.get(value), Some(b'"' | b'\'')).then_some((Link::Colon, value))
}

/// `label="Password"`: the name is a value itself.
fn is_attribute(text: &[u8], name: &Range<usize>) -> bool {
    matches!(text[..name.start], [.., b'=', b'"' | b'\''])
}

fn is_tag(text: &[u8], name: &Range<usize>) -> bool {
    matches!(text[..name.start], [.., b'<'])
}

/// `--password VALUE`. The dashes are part of the name.
fn flag(text: &[u8], name: &Range<usize>, at: usize) -> Option<(Link, usize)> {
    let dashed = text[name.clone()].starts_with(b"--");
    (dashed && at > name.end).then_some((Link::Flag, at))
}

/// The name as a value: `name: DB_PASSWORD` and `value: …` on the next line.
fn pair(text: &[u8], closed: bool, at: usize) -> Option<(Link, usize)> {
    let at = match text.get(at)? {
        b',' if closed => at + 1,
        b'v' | b'V' if closed => at,
        b'\n' | b'\r' | b'\\' => at,
        _ => return None,
    };
    let (at, _) = skip_quote(text, skip_gap(text, at));
    let rest = text.get(at..)?.strip_prefix(b"value").or(text.get(at..)?.strip_prefix(b"Value"))?;
    let (at, _) = skip_quote(text, text.len() - rest.len());
    let at = skip_blanks(text, at);
    matches!(text.get(at), Some(b':' | b'=')).then(|| (Link::Colon, skip_blanks(text, at + 1)))
}

fn behind_type(text: &[u8], value: &Value, link: Link) -> Option<usize> {
    if link != Link::Colon || value.quote.is_some() {
        return None;
    }
    let rest = &text[value.range.start..text.len().min(value.range.start + GAP)];
    let equals = rest.iter().position(|byte| b"=\n\"',;".contains(byte))?;
    let equals = value.range.start + equals;
    let assigns = text[equals] == b'=' && !matches!(text.get(equals + 1), Some(b'=' | b'>'));
    assigns.then(|| skip_blanks(text, equals + 1))
}

/// Behind a closing quote, which may be escaped (`\"`) more than once.
fn skip_quote(text: &[u8], at: usize) -> (usize, bool) {
    let escapes = text[at..].iter().take(4).take_while(|&&byte| byte == b'\\').count();
    match text.get(at + escapes) {
        Some(b'"' | b'\'' | b'`') => (at + escapes + 1, true),
        Some(b']') if escapes == 0 => (at + 1, true),
        _ => (at, false),
    }
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(GAP).take_while(|byte| b" \t".contains(byte)).count()
}

/// Behind the `|` or `>-` with which YAML announces lines of text.
fn skip_block(text: &[u8], at: usize) -> usize {
    let mark = match text[at..] {
        [b'|' | b'>', b'\n', ..] => 1,
        [b'|' | b'>', b'-' | b'+', b'\n', ..] => 2,
        _ => return at,
    };
    skip_gap(text, at + mark)
}

/// Blanks, and line breaks as they are or as JSON writes them.
fn skip_gap(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < at + GAP {
        end += match text[end..] {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
            [b'\\', b'n' | b'r' | b't', ..] => 2,
            _ => break,
        };
    }
    end
}
