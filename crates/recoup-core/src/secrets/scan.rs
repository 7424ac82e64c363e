//! The scan of a text: from literal to literal, and at each to its rules. A finding has the rule and
//! the place, never the secret. Redaction replaces each by `[redacted: RULE]`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::rules::{self, SecretRule, SecretShape};
use super::{encoded, prefilter, slot, word_form, words};

/// Most bytes behind a literal that a pattern sees. The longest secrets that patterns describe are
/// a few hundred bytes; longer ones are cut there.
const REACH: usize = 1024;
const ESCAPE: u8 = 0x1b;

/// Place of a secret, and the rule that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretFinding {
    /// The name of the rule.
    pub rule: &'static str,
    /// Range of the secret, in bytes.
    pub range: Range<usize>,
}

/// The findings in a text, from left to right, none touching another.
#[derive(Clone)]
pub struct SecretFindings<'a> {
    text: &'a [u8],
    at: usize,
    /// End of the last finding.
    free: usize,
    encoded: EncodedSearch,
}

/// Progress of the search for encoded secrets.
#[derive(Clone)]
enum EncodedSearch {
    /// Nothing is decoded: this is decoded text.
    Off,
    /// From here on.
    From(usize),
    /// The next one is known.
    Found(SecretFinding),
}

/// The first secret in `text`, if there is one.
pub fn scan(text: &[u8]) -> Option<SecretFinding> {
    scan_literals(text).or_else(|| {
        encoded::next_encoded_secret(text, 0).map(|(rule, range)| SecretFinding { rule, range })
    })
}

/// All secrets in `text`.
pub fn scan_all(text: &[u8]) -> SecretFindings<'_> {
    SecretFindings { text, at: 0, free: 0, encoded: EncodedSearch::From(0) }
}

/// The first secret that is not encoded.
pub(super) fn scan_literals(text: &[u8]) -> Option<SecretFinding> {
    SecretFindings { text, at: 0, free: 0, encoded: EncodedSearch::Off }.next()
}

impl Iterator for SecretFindings<'_> {
    type Item = SecretFinding;

    fn next(&mut self) -> Option<SecretFinding> {
        self.advance_encoded_search();
        while let Some(at) = prefilter::next_literal(self.text, self.at) {
            // A finding must not begin inside the last one.
            let found = prefilter::rules_at(self.text, at).find_map(|(number, len)| {
                let rule = rules::rule_by_number(number);
                let range = match_rule(rule, number, self.text, at, len)?;
                // A mark of ours is never a secret, or redacting would not end.
                let mark = word_form::is_marked(&self.text[range.clone()]);
                (range.start >= self.free && !mark)
                    .then_some(SecretFinding { rule: rule.name, range })
            });
            match found {
                None => self.at = at + 1,
                Some(finding) => {
                    if let EncodedSearch::Found(encoded) = &self.encoded
                        && encoded.range.start < finding.range.end
                    {
                        break;
                    }
                    self.free = finding.range.end;
                    self.at = self.free.max(at + 1);
                    return Some(finding);
                }
            }
        }
        let EncodedSearch::Found(finding) =
            std::mem::replace(&mut self.encoded, EncodedSearch::Off)
        else {
            self.at = self.text.len();
            return None;
        };
        self.encoded = EncodedSearch::From(finding.range.end);
        self.free = finding.range.end;
        self.at = self.free;
        Some(finding)
    }
}

impl SecretFindings<'_> {
    /// Looks for the next encoded secret behind the last finding.
    fn advance_encoded_search(&mut self) {
        let from = match &self.encoded {
            EncodedSearch::From(from) => self.free.max(*from),
            EncodedSearch::Found(finding) if finding.range.start < self.free => {
                self.free.max(finding.range.end)
            }
            EncodedSearch::Off | EncodedSearch::Found(_) => return,
        };
        self.encoded = match encoded::next_encoded_secret(self.text, from) {
            None => EncodedSearch::Off,
            Some((rule, range)) => EncodedSearch::Found(SecretFinding { rule, range }),
        };
    }
}

/// Shows the place only: the text may hold secrets.
impl std::fmt::Debug for SecretFindings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Findings").field("at", &self.at).finish_non_exhaustive()
    }
}

fn match_rule(
    rule: &SecretRule,
    number: usize,
    text: &[u8],
    at: usize,
    len: usize,
) -> Option<Range<usize>> {
    static COMPILED: [OnceLock<Regex>; rules::COUNT] = [const { OnceLock::new() }; rules::COUNT];
    let (pattern, start) = match rule.shape {
        SecretShape::Code(code) => return code(text, at),
        SecretShape::Slots(slots) => return slot::find_in_slots(slots, text, at, len),
        SecretShape::Pattern(pattern) => (pattern, words::is_word_start(text, at).then_some(at)?),
        SecretShape::Inner(pattern, before) => {
            let part = |&&byte: &&u8| words::is_word(byte) || byte == b'~' || byte == b'.';
            (pattern, at - text[..at].iter().rev().take(before).take_while(part).count())
        }
    };
    let reach = text.len().min(start + REACH);
    // Compiled when its literal is first seen: all patterns would take longer than most commands
    // live.
    let pattern = COMPILED[number].get_or_init(|| {
        RegexBuilder::new(&format!(r"\A(?:{pattern})"))
            .unicode(false)
            .build()
            .expect("a test compiles every pattern of the table")
    });
    let groups = pattern.captures(&text[start..reach])?;
    let secret = groups.get(1).or_else(|| groups.get(0))?;
    let range = start + secret.start()..start + secret.end();
    let secret = &text[range.clone()];
    let real = range.end > at
        && words::is_word_end(text, range.end)
        && !word_form::lacks_variety(secret)
        && !word_form::is_stand_in(secret);
    real.then_some(range)
}

/// Name of the rule that `text` breaks, as it is or once it is plain.
pub fn detect_secret(text: &[u8]) -> Option<&'static str> {
    if let Some(found) = scan(text) {
        return Some(found.rule);
    }
    // Without escapes it is plain already.
    memchr::memchr2(b'\\', ESCAPE, text)?;
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, behind @ ..] = rest {
        if let Some((character, after)) = unicode_escape(rest) {
            rest = after;
            match character {
                '\u{1b}' => rest = skip_colour(rest),
                _ if character.is_ascii() || !character.is_whitespace() => {
                    plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => plain.push(b' '),
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
            Some(byte) => plain.push(byte),
            None => {}
        }
    }
    scan(&plain).map(|found| found.rule)
}

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

/// Returns `text` without its secrets; the same text if it has none.
pub fn redact(text: &str) -> Cow<'_, str> {
    to_text(text, redact_bytes(text.as_bytes()))
}

/// Like [`redact`], with one mark for all rules.
pub(super) fn redact_as<'a>(text: &'a str, mark: &[u8]) -> Cow<'a, str> {
    to_text(text, redact_until_clean(text.as_bytes(), Some(mark)))
}

fn to_text<'a>(text: &'a str, clean: Cow<'a, [u8]>) -> Cow<'a, str> {
    match clean {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => {
            let text = String::from_utf8(bytes);
            Cow::Owned(text.expect("whole characters were replaced by ASCII"))
        }
    }
}

/// Like [`redact`], for text of any encoding.
pub fn redact_bytes(text: &[u8]) -> Cow<'_, [u8]> {
    redact_until_clean(text, None)
}

fn redact_until_clean<'a>(text: &'a [u8], mark: Option<&[u8]>) -> Cow<'a, [u8]> {
    let Some(mut clean) = redact_once(text, mark) else { return Cow::Borrowed(text) };
    // The neighbours of a secret may read differently once it is gone. Each round removes
    // something that was there at first, so this ends.
    while let Some(cleaner) = redact_once(&clean, mark) {
        clean = cleaner;
    }
    Cow::Owned(clean)
}

fn redact_once(text: &[u8], mark: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut findings = scan_all(text).peekable();
    findings.peek()?;
    let mut clean = Vec::with_capacity(text.len());
    let mut kept = 0;
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    for SecretFinding { rule, range: Range { mut start, mut end } } in findings {
        // Widened so that no UTF-8 character is cut.
        while start > 0 && inside(start) {
            start -= 1;
        }
        while inside(end) {
            end += 1;
        }
        clean.extend_from_slice(&text[kept..start.max(kept)]);
        if let Some(mark) = mark {
            clean.extend_from_slice(mark);
        } else {
            clean.extend_from_slice(word_form::REDACTED.as_bytes());
            clean.extend_from_slice(rule.as_bytes());
            clean.push(b']');
        }
        kept = end.max(kept);
    }
    clean.extend_from_slice(&text[kept..]);
    Some(clean)
}
