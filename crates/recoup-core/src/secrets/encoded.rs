//! Secrets in an encoding: private keys in armour, JSON Web Tokens, and long runs of letters and
//! digits. A run may be base64 of a secret (a kubeconfig's key, the data of a Kubernetes secret,
//! `_auth`), or a token that has no prefix to look for. What decodes to text is scanned once more,
//! and only once.

use std::ops::Range;

use super::word_form::{self, looks_random};
use super::{scan, words};
use crate::base::text::decode_base64;

/// Shortest run that may hide something that a rule knows.
const SHORTEST: usize = 24;
/// Most bytes of a run that are decoded.
const LONGEST_RUN: usize = 1 << 14;
/// Bytes that decide whether the rest is worth decoding.
const BEGINNING: usize = 32;
/// Longer than any private key: RSA with 16,384 bits has 12.6 kB.
const LONGEST_KEY: usize = 1 << 15;
const END: &[u8] = b"-----END";
/// Longest part that is read: headers are short, and cutting a longer one does no harm.
const LONGEST_PART: usize = 1 << 14;

/// The first encoded secret from `from` on, with the rule that sees it.
pub(super) fn next_encoded_secret(
    text: &[u8],
    from: usize,
) -> Option<(&'static str, Range<usize>)> {
    let mut at = from;
    while at + SHORTEST <= text.len() {
        // From the back: a byte that is no base64 rules out every run that holds it.
        if let Some(other) = text[at..at + SHORTEST].iter().rposition(|&byte| !is_base64(byte)) {
            at += other + 1;
            continue;
        }
        let len = text[at..].iter().take_while(|&&byte| is_base64(byte)).count();
        if let Some(found) = bare_token(text, at, len) {
            return Some(found);
        }
        let run = &text[at..at + len];
        let decoded = |most: usize| {
            let is_text = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t');
            decode_base64(&run[..run.len().min(most)], most)
                .filter(|plain| !plain.is_empty() && plain.iter().all(is_text))
        };
        // Digests are by far the most frequent runs, and no text is encoded in hexadecimal digits.
        if !run.iter().take(BEGINNING).all(u8::is_ascii_hexdigit)
            && decoded(BEGINNING).is_some()
            && let Some(plain) = decoded(LONGEST_RUN)
            && let Some(finding) = scan::scan_literals(&plain)
        {
            return Some((finding.rule, at..at + len));
        }
        at += len;
    }
    None
}

/// A token that is known by the lengths of its parts: those of Airtable, Twilio and Discord.
fn bare_token(text: &[u8], at: usize, len: usize) -> Option<(&'static str, Range<usize>)> {
    let run = &text[at..at + len];
    let hex = |part: &[u8]| part.iter().all(u8::is_ascii_hexdigit);
    match len {
        64 if hex(run)
            && at >= 18
            && text[at - 1] == b'.'
            && text[at - 18..].starts_with(b"pat") =>
        {
            let id = &text[at - 18..at - 1];
            id.iter().all(u8::is_ascii_alphanumeric).then_some(("airtable-token", at - 18..at + 64))
        }
        34 if run.starts_with(b"SK") && hex(&run[2..]) && looks_random(run) => {
            Some(("twilio-credential", at..at + 34))
        }
        24..=28 if b"MNO".contains(&run[0]) => {
            let middle = words::count_run(text, at + len + 1, 8, words::is_base64url);
            let end = at + len + 1 + middle;
            let last = words::count_run(text, end + 1, 64, words::is_base64url);
            let dots = text.get(at + len) == Some(&b'.') && text.get(end) == Some(&b'.');
            let fits = dots && middle == 6 && (27..=40).contains(&last);
            (fits && looks_random(run)).then_some(("discord-token", at..end + 1 + last))
        }
        _ => None,
    }
}

fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)]
}

static BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
        byte += 1;
    }
    table
};

/// Matches at prefixes of tokens that only their prefix and length identify: letters, digits and
/// the signs of base64url.
pub(super) fn find_prefixed(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !words::is_word_start(text, at) {
        return None;
    }
    let len = words::count_run(text, at, 400, |byte| {
        words::is_base64url(byte) || b".$+/".contains(&byte)
    });
    let token = text[at..at + len].trim_ascii_end();
    let parts = || token.rsplit(|byte| b"_-.$/+".contains(byte));
    let digits = parts().flatten().filter(|byte| byte.is_ascii_digit()).count();
    let longest = parts().map(<[u8]>::len).max().unwrap_or(0);
    let real = token.len() >= 24 && digits >= 3 && longest >= 16;
    (real && !word_form::lacks_variety(token)).then_some(at..at + len)
}

/// Matches at the literal `-----BEGIN`: from the line that begins a private key to the line that
/// ends it, also when the line breaks are written as `\n`, and also when the end is missing.
pub(super) fn find_private_key(text: &[u8], at: usize) -> Option<Range<usize>> {
    let label = at + b"-----BEGIN ".len();
    let line = text.get(label..text.len().min(label + 64))?;
    let end = line.windows(5).position(|dashes| dashes == b"-----")?;
    let kind = &line[..end];
    let plain = kind.iter().all(|byte| byte.is_ascii_alphanumeric() || b" -_".contains(byte));
    if !plain || !kind.windows(11).any(|window| window == b"PRIVATE KEY") {
        return None;
    }
    let body = label + end + 5;
    let rest = &text[body..text.len().min(body + LONGEST_KEY)];
    let dashes = rest.windows(END.len()).position(|window| window.starts_with(b"-----"));
    let Some(dashes) = dashes.filter(|&at| rest[at..].starts_with(END)) else {
        let is_body = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+/=\r\n\\".contains(byte);
        return Some(at..body + rest.iter().take_while(is_body).count());
    };
    let label = dashes + END.len();
    let line = &rest[label..rest.len().min(label + 64)];
    let close = line.windows(5).position(|window| window == b"-----").map_or(0, |at| at + 5);
    Some(at..body + label + close)
}

/// Matches at the words of the armour without its dashes. In capitals they belong to a key or to
/// part of one: prose does not write them so.
pub(super) fn find_words(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    let words: [&[u8]; 4] = [b"PRIVATE KEY", b"PRIVATE.KEY", b"BEGIN RSA", b"BEGIN EC PRIVATE"];
    let word = words.into_iter().find(|word| rest.starts_with(word))?;
    let public = word.starts_with(b"BEGIN") && rest[word.len()..].starts_with(b" PUBLIC");
    (!public).then_some(at..at + word.len())
}

/// Matches at the start of a JSON Web Token: three base64url parts, the first of them a JSON object
/// that names an algorithm. Base64 images and source maps have no such parts.
pub(super) fn find_jwt(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !words::is_word_start(text, at) || matches!(text[..at], [.., b'-' | b'+' | b'/']) {
        return None;
    }
    let header = read_part(text, at, 12)?;
    let json = decode_base64(&text[header.clone()], 512)?;
    let has = |key: &[u8]| json.windows(key.len()).any(|window| window == key);
    if !json.starts_with(b"{") || !(has(b"\"alg\"") || has(b"\"typ\"") || has(b"\"enc\"")) {
        return None;
    }
    let payload = read_part(text, skip_dot(text, header.end)?, 4)?;
    // An unsigned token ends with its second dot.
    let signature = skip_dot(text, payload.end)?;
    let len = words::count_run(text, signature, LONGEST_PART, words::is_base64url);
    Some(at..signature + len)
}

fn read_part(text: &[u8], at: usize, least: usize) -> Option<Range<usize>> {
    let len = words::count_run(text, at, LONGEST_PART, words::is_base64url);
    (len >= least).then_some(at..at + len)
}

fn skip_dot(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'.')).then_some(at + 1)
}
