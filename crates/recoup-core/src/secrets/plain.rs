//! Text as a person would see it: JSON's escapes decoded, a terminal's colours dropped. A secret
//! may hide behind either.

use std::borrow::Cow;

use super::scan::scan;

/// Name of the rule that `text` breaks, as it is or once it is plain.
pub fn detect_secret(text: &[u8]) -> Option<&'static str> {
    let found = scan(text).or_else(|| match to_plain_text(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(plain) => scan(&plain),
    });
    found.map(|found| found.rule)
}

/// Returns borrowed text where nothing has to change.
fn to_plain_text(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'\\', ESCAPE, text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        if let Some((character, after)) = unicode_escape(rest) {
            rest = after;
            match character {
                '\u{1b}' => rest = skip_colour(rest),
                _ if character.is_ascii() || !character.is_whitespace() => {
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => out.push(b' '),
            }
            continue;
        }
        let (byte, after) = match first {
            b'\\' => decode_escape(behind),
            byte => (Some(*byte), behind),
        };
        rest = after;
        match byte {
            Some(ESCAPE) => rest = skip_colour(rest),
            Some(byte) => out.push(byte),
            None => {}
        }
    }
    Cow::Owned(out)
}

const ESCAPE: u8 = 0x1b;

/// The character of `\uXXXX`, or of the two that make a surrogate pair, and what follows it. Half
/// a pair is a blank.
fn unicode_escape(text: &[u8]) -> Option<(char, &[u8])> {
    let unit = |text: &[u8]| text.strip_prefix(b"\\u").and_then(|hex| hex_number(hex.get(..4)?));
    let first = unit(text)?;
    let rest = &text[6..];
    if let (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) = (first, unit(rest)) {
        let both = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
        return Some((char::from_u32(both)?, &text[12..]));
    }
    Some((char::from_u32(first).unwrap_or(' '), rest))
}

/// The byte that stands behind a backslash, and what follows it.
fn decode_escape(text: &[u8]) -> (Option<u8>, &[u8]) {
    match text {
        [b'x', high, low, rest @ ..] if hex_number(&[*high, *low]).is_some() => {
            let byte = hex_number(&[*high, *low]).and_then(|code| u8::try_from(code).ok());
            (byte, rest)
        }
        [b'0', b'3', b'3', rest @ ..] => (Some(ESCAPE), rest),
        [b'e', rest @ ..] if rest.first() == Some(&b'[') => (Some(ESCAPE), rest),
        [b'n' | b'r', rest @ ..] => (Some(b'\n'), rest),
        [b't' | b'b' | b'f', rest @ ..] => (Some(b' '), rest),
        [byte @ (b'"' | b'\\' | b'/' | b'\''), rest @ ..] => (Some(*byte), rest),
        _ => (Some(b'\\'), text),
    }
}

fn hex_number(hex: &[u8]) -> Option<u32> {
    if !hex.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u32::from_str_radix(str::from_utf8(hex).ok()?, 16).ok()
}

/// Skips `[31;1m` and the like, of a sane length.
fn skip_colour(text: &[u8]) -> &[u8] {
    let Some(codes) = text.strip_prefix(b"[") else { return text };
    let end = codes.iter().take(16).position(u8::is_ascii_alphabetic);
    end.map_or(text, |end| &codes[end + 1..])
}
