//! Text of a prompt that a person wrote: without what clients add, and of a long prompt only the
//! beginning and the end.

use std::borrow::Cow;

use crate::memory::guard::wrapped::without_wrapped;
use crate::secrets;

/// Longest prompt that is read whole; of longer ones only the beginning and the end are.
const WHOLE: usize = 12_000;
const BEGINNING: usize = 6_000;
const END: usize = 3_000;

/// The beginning and the end of a long text, cut at lines: a piece of a line is neither code nor
/// prose.
fn head_and_tail(text: &str) -> (&str, &str) {
    if text.len() <= WHOLE {
        return (text, "");
    }
    let head = &text[..text.floor_char_boundary(BEGINNING)];
    let tail = &text[text.ceil_char_boundary(text.len() - END)..];
    let head = head.rfind('\n').map_or("", |at| &head[..at]);
    let tail = tail.find('\n').map_or("", |at| &tail[at + 1..]);
    (head, tail)
}

/// Text of a prompt that the tagger reads: without machine text, and of a long one the beginning
/// and the end.
pub(super) fn readable_text(text: &str) -> String {
    let text = without_machine_text(text);
    let (head, tail) = head_and_tail(&text);
    if tail.is_empty() { head.to_owned() } else { [head, "\n\n", tail].concat() }
}

/// Beginnings of notices that fill a line.
const NOTICES: &[&str] = &[
    "[request interrupted", "[pasted text", "[image", "[tool ", "[system",
    "caveat: the messages below", "this session is being continued", "api error", "stop hook",
    "human:", "assistant:", "<<autonomous",
];

/// Notices after which everything is a program's.
const TO_THE_END: &[&str] = &["this session is being continued", "caveat: the messages below"];

/// Returns the text without wrapped text and without notices.
fn without_machine_text(text: &str) -> Cow<'_, str> {
    let tagless = without_wrapped(text);
    let has_notice = |line: &str| NOTICES.iter().any(|notice| begins(line.trim_start(), notice));
    if !tagless.contains('[') && !tagless.lines().any(has_notice) {
        return tagless;
    }
    let mut kept = String::with_capacity(tagless.len());
    for line in tagless.split_inclusive('\n') {
        let plain = line.trim_start();
        if TO_THE_END.iter().any(|notice| begins(plain, notice)) {
            break;
        }
        if !NOTICES.iter().any(|notice| begins(plain, notice)) {
            kept.push_str(line);
            continue;
        }
        // Text behind a marker in brackets was typed by a person.
        if let Some(end) = plain.find(']').filter(|_| plain.starts_with('[')) {
            kept.push_str(&plain[end + 1..]);
        }
    }
    Cow::Owned(kept)
}

fn begins(line: &str, notice: &str) -> bool {
    line.get(..notice.len()).is_some_and(|start| start.eq_ignore_ascii_case(notice))
}

/// Returns the rule by which a prompt has a secret. Of a long prompt the beginning and the end are
/// searched: nothing else is ever kept.
pub(super) fn detect_secret(prompt: &str) -> Option<&'static str> {
    let (head, tail) = head_and_tail(prompt);
    [head, tail].into_iter().find_map(|part| secrets::detect_secret(part.as_bytes()))
}
