//! Private keys in armour: from the line that begins one to the line that ends
//! it, also when the line breaks are written as `\n`, and also when the end is
//! missing.

use std::ops::Range;

/// Longer than any key: RSA with 16,384 bits has 12.6 kB.
const LONGEST: usize = 1 << 15;
const BEGIN: &[u8] = b"BEGIN";
const END: &[u8] = b"-----END";

/// Matches at the literal `-----BEGIN`.
pub(super) fn find_private_key(text: &[u8], at: usize) -> Option<Range<usize>> {
    let label = at + b"-----BEGIN ".len();
    let line = text.get(label..text.len().min(label + 64))?;
    let end = line.windows(5).position(|dashes| dashes == b"-----")?;
    if !is_private(&line[..end]) {
        return None;
    }
    Some(at..body_end(text, label + end + 5))
}

fn is_private(label: &[u8]) -> bool {
    let name = b"PRIVATE KEY";
    let plain = label.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_".contains(byte));
    plain && label.windows(name.len()).any(|window| window == name)
}

/// End of the closing line; without one, of the key's characters.
fn body_end(text: &[u8], body: usize) -> usize {
    let rest = &text[body..text.len().min(body + LONGEST)];
    let dashes = rest.windows(END.len()).position(|window| window.starts_with(b"-----"));
    let Some(dashes) = dashes.filter(|&at| rest[at..].starts_with(END)) else {
        return body + rest.iter().take_while(|&&byte| is_body(byte)).count();
    };
    let label = dashes + END.len();
    let line = &rest[label..rest.len().min(label + 64)];
    let close = line.windows(5).position(|window| window == b"-----").map_or(0, |at| at + 5);
    body + label + close
}

fn is_body(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=\r\n\\".contains(&byte)
}

/// Matches at the words of the armour without its dashes. In capitals they belong to a key or to
/// part of one: prose does not write them so.
pub(super) fn find_words(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let words: [&[u8]; 4] = [b"PRIVATE KEY", b"PRIVATE.KEY", b"BEGIN RSA", b"BEGIN EC PRIVATE"];
    let word = words.into_iter().find(|word| rest.starts_with(word))?;
    let public = word.starts_with(BEGIN) && rest[word.len()..].starts_with(b" PUBLIC");
    (!public).then_some(at..at + word.len())
}
