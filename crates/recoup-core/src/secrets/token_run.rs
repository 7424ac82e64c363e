//! Long runs of letters and digits: secrets behind base64 (a kubeconfig's key, the data of a
//! Kubernetes secret, `_auth`), and tokens that have no prefix to look for. What decodes to text
//! is scanned once more, and only once.

use std::ops::Range;

use super::boundary;
use super::scan;
use super::word_form::looks_random;
use crate::base::text::decode_base64;

/// Shortest run that may hide something that a rule knows.
const SHORTEST: usize = 24;
/// Most bytes of a run that are decoded.
const LONGEST: usize = 1 << 14;
/// Bytes that decide whether the rest is worth decoding.
const BEGINNING: usize = 32;

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
        if let Some(rule) = rule_in_decoded(&text[at..at + len]) {
            return Some((rule, at..at + len));
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
            let middle = boundary::count_run(text, at + len + 1, 8, boundary::is_base64url);
            let end = at + len + 1 + middle;
            let last = boundary::count_run(text, end + 1, 64, boundary::is_base64url);
            let dots = text.get(at + len) == Some(&b'.') && text.get(end) == Some(&b'.');
            let fits = dots && middle == 6 && (27..=40).contains(&last);
            (fits && looks_random(run)).then_some(("discord-token", at..end + 1 + last))
        }
        _ => None,
    }
}

fn rule_in_decoded(run: &[u8]) -> Option<&'static str> {
    // Digests are by far the most frequent runs, and no text is encoded in hexadecimal digits.
    if run.iter().take(BEGINNING).all(u8::is_ascii_hexdigit) {
        return None;
    }
    let beginning = decode_base64(&run[..run.len().min(BEGINNING)], BEGINNING)?;
    if !is_text(&beginning) {
        return None;
    }
    let plain = decode_base64(&run[..run.len().min(LONGEST)], LONGEST)?;
    if !is_text(&plain) {
        return None;
    }
    scan::scan_literals(&plain).map(|finding| finding.rule)
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.is_empty()
        && bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
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
