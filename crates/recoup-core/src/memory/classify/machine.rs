//! What programs put into a prompt: reminders, notices, the output of commands.

use std::borrow::Cow;

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

/// Behind these everything is a machine's.
const TO_THE_END: &[&str] = &["this session is being continued", "caveat: the messages below"];

/// The text without what stands in tags and without notices.
pub(super) fn without(text: &str) -> Cow<'_, str> {
    let tagless = without_tags(text);
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
        // What a person typed behind a marker in brackets is theirs.
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

/// Cuts `<name …>…</name>` where the tag begins a line or has a machine's name; one that
/// is never closed reaches to the end if its name is a machine's, else it is just a word.
fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('<') {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, tag) = rest.split_at(at);
        let begins_line = kept_ends_line(&kept, before);
        kept.push_str(before);
        let cut = region(tag, begins_line);
        kept.push(if cut.is_some() { '\n' } else { '<' });
        rest = &tag[cut.unwrap_or(1)..];
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

fn kept_ends_line(kept: &str, before: &str) -> bool {
    let end = if before.is_empty() { kept } else { before };
    end.trim_end_matches([' ', '\t']).is_empty()
        || end.trim_end_matches([' ', '\t']).ends_with('\n')
}

/// How long the region is that a tag opens, if it is one to cut.
fn region(tag: &str, begins_line: bool) -> Option<usize> {
    let inside = tag[1..].strip_prefix('/').unwrap_or(&tag[1..]);
    let length = inside
        .bytes()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    let name = &inside[..length];
    let ends_name = inside[length..].starts_with(['>', ' ', '/', '\n']);
    if name.is_empty() || !ends_name || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let is_machine = name.contains(['-', '_']);
    if !begins_line && !is_machine {
        return None;
    }
    let closing = format!("</{name}>");
    match tag.find(&closing) {
        Some(end) => Some(end + closing.len()),
        None if is_machine && !tag.starts_with("</") => Some(tag.len()),
        None => tag.find('>').map(|end| end + 1),
    }
}
