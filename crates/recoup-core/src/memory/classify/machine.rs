//! Text that programs put into a prompt: reminders, notices, the output of commands.

use std::borrow::Cow;

use crate::memory::wrapped::without_wrapped;

/// Beginnings of notices that fill a line.
const NOTICES: &[&str] = &[
    "[request interrupted",
    "[pasted text",
    "[image",
    "[tool ",
    "[system",
    "caveat: the messages below",
    "this session is being continued",
    "api error",
    "stop hook",
    "human:",
    "assistant:",
    "<<autonomous",
];

/// Notices after which everything is a program's.
const TO_THE_END: &[&str] = &["this session is being continued", "caveat: the messages below"];

/// Returns the text without wrapped text and without notices.
pub(super) fn without_machine_text(text: &str) -> Cow<'_, str> {
    let tagless = without_wrapped(text);
    if !tagless.contains('[') && !NOTICES.iter().any(|notice| holds(&tagless, notice)) {
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

fn holds(text: &str, notice: &str) -> bool {
    text.lines().any(|line| begins(line.trim_start(), notice))
}
