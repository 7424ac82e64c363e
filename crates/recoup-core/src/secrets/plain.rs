//! A text as a person would see it: JSON's escapes read, a terminal's colours
//! dropped. A secret hides behind either without meaning to.

use std::borrow::Cow;

use super::scan::scan;

/// The rule that `text` breaks as it stands, or once it is plain.
pub fn detect(text: &[u8]) -> Option<&'static str> {
    let found = scan(text).or_else(|| match plain(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(plain) => scan(&plain),
    });
    found.map(|found| found.rule)
}

/// Borrowed where nothing has to change.
fn plain(text: &[u8]) -> Cow<'_, [u8]> {
    if !text.iter().any(|byte| matches!(*byte, b'\\' | ESCAPE)) {
        return Cow::Borrowed(text);
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        let (byte, after) = match first {
            b'\\' => unescaped(behind),
            byte => (Some(*byte), behind),
        };
        rest = after;
        match byte {
            Some(ESCAPE) => rest = behind_colour(rest),
            Some(byte) => out.push(byte),
            None => {}
        }
    }
    Cow::Owned(out)
}

const ESCAPE: u8 = 0x1b;

/// What stands behind a backslash, and what follows it. Characters beyond ASCII
/// are in no secret, and become a blank.
fn unescaped(text: &[u8]) -> (Option<u8>, &[u8]) {
    match text {
        [b'u', hex @ ..] if hex.len() >= 4 => match code(&hex[..4]) {
            Some(code) => {
                (Some(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b' ')), &hex[4..])
            }
            None => (Some(b'\\'), text),
        },
        [b'x', high, low, rest @ ..] if code(&[*high, *low]).is_some() => {
            let byte = code(&[*high, *low]).and_then(|code| u8::try_from(code).ok());
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

fn code(hex: &[u8]) -> Option<u32> {
    u32::from_str_radix(str::from_utf8(hex).ok()?, 16).ok()
}

/// Behind `[31;1m` and its like, of a sane length.
fn behind_colour(text: &[u8]) -> &[u8] {
    let Some(codes) = text.strip_prefix(b"[") else { return text };
    let end = codes.iter().take(16).position(u8::is_ascii_alphabetic);
    end.map_or(text, |end| &codes[end + 1..])
}
