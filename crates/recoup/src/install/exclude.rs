//! Git's list of files that are one person's own: what we put into a project must not be
//! published by accident. Its patterns are bytes, and the others stay as they are.

/// The list with one more line; the same where it is there.
pub(crate) fn with(list: &[u8], line: &str) -> Vec<u8> {
    let mut list = list.to_vec();
    if lines(&list).any(|it| is(it, line)) {
        return list;
    }
    if !list.is_empty() && !list.ends_with(b"\n") {
        list.push(b'\n');
    }
    list.extend(line.bytes().chain([b'\n']));
    list
}

/// The list without that line.
pub(crate) fn without(list: &[u8], line: &str) -> Vec<u8> {
    lines(list).filter(|it| !is(it, line)).flatten().copied().collect()
}

/// Each with its end.
fn lines(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split_inclusive(|byte| *byte == b'\n')
}

fn is(found: &[u8], line: &str) -> bool {
    found.trim_ascii_end() == line.as_bytes()
}
