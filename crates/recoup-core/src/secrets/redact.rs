//! Texts with their secrets taken out: each becomes `[redacted: RULE]`.

use std::borrow::Cow;
use std::ops::Range;

use super::placeholder;
use super::scan::{SecretFinding, scan_all};

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
    for SecretFinding { rule, range } in findings {
        let range = whole_characters(text, range);
        clean.extend_from_slice(&text[kept..range.start.max(kept)]);
        if let Some(mark) = mark {
            clean.extend_from_slice(mark);
        } else {
            clean.extend_from_slice(placeholder::REDACTED.as_bytes());
            clean.extend_from_slice(rule.as_bytes());
            clean.push(b']');
        }
        kept = range.end.max(kept);
    }
    clean.extend_from_slice(&text[kept..]);
    Some(clean)
}

/// `range`, widened so that it cuts no UTF-8 character.
fn whole_characters(text: &[u8], range: Range<usize>) -> Range<usize> {
    let inside = |at: usize| text.get(at).is_some_and(|byte| byte & 0xC0 == 0x80);
    let Range { mut start, mut end } = range;
    while start > 0 && inside(start) {
        start -= 1;
    }
    while inside(end) {
        end += 1;
    }
    start..end
}
