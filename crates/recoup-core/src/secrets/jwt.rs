//! JSON Web Tokens: three base64url parts, the first of them a JSON object
//! that names an algorithm. Base64 images and source maps have no such parts.

use std::ops::Range;

use super::boundary;
use crate::base::text::decode_base64;

/// Longest part that is read: headers are short, and cutting a longer one does no harm.
const LONGEST_PART: usize = 1 << 14;

pub(super) fn find_jwt(text: &[u8], at: usize) -> Option<Range<usize>> {
    if !begins(text, at) {
        return None;
    }
    let header = read_part(text, at, 12)?;
    if !names_an_algorithm(&text[header.clone()]) {
        return None;
    }
    let payload = read_part(text, skip_dot(text, header.end)?, 4)?;
    // An unsigned token ends with its second dot.
    let signature = skip_dot(text, payload.end)?;
    let len = boundary::count_run(text, signature, LONGEST_PART, boundary::is_base64url);
    Some(at..signature + len)
}

fn begins(text: &[u8], at: usize) -> bool {
    boundary::is_word_start(text, at) && !matches!(text[..at], [.., b'-' | b'+' | b'/'])
}

fn read_part(text: &[u8], at: usize, least: usize) -> Option<Range<usize>> {
    let len = boundary::count_run(text, at, LONGEST_PART, boundary::is_base64url);
    (len >= least).then_some(at..at + len)
}

fn skip_dot(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'.')).then_some(at + 1)
}

fn names_an_algorithm(header: &[u8]) -> bool {
    let Some(json) = decode_base64(header, 512) else { return false };
    let has = |key: &[u8]| json.windows(key.len()).any(|window| window == key);
    json.starts_with(b"{") && (has(b"\"alg\"") || has(b"\"typ\"") || has(b"\"enc\""))
}
