//! Git's `info/exclude`: personal files that we put into a project must not be published by
//! accident. Patterns are bytes, and the other lines stay as they are.

/// Adds a line, unless it is there. If the last line had no line end, ours has none either: this
/// records that the one before had none, whatever else is added.
pub(crate) fn with_line(list: &[u8], line: &str) -> Vec<u8> {
    if lines(list).any(|it| is_same_line(it, line)) {
        return list.to_vec();
    }
    let eol: &[u8] = if lines(list).any(|it| it.ends_with(b"\r\n")) { b"\r\n" } else { b"\n" };
    if list.is_empty() || list.ends_with(b"\n") {
        [list, line.as_bytes(), eol].concat()
    } else {
        [list, eol, line.as_bytes()].concat()
    }
}

/// Removes a line.
pub(crate) fn without_line(list: &[u8], line: &str) -> Vec<u8> {
    let kept: Vec<u8> =
        lines(list).filter(|it| !is_same_line(it, line)).flatten().copied().collect();
    let end = lines(list).last();
    if end.is_none_or(|end| !is_same_line(end, line) || end.ends_with(b"\n")) {
        return kept;
    }
    let bare = kept.strip_suffix(b"\n").map(|it| it.strip_suffix(b"\r").unwrap_or(it));
    bare.unwrap_or(&kept).to_vec()
}

/// Splits into lines, each with its end.
fn lines(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split_inclusive(|byte| *byte == b'\n')
}

fn is_same_line(found: &[u8], line: &str) -> bool {
    found.trim_ascii_end() == line.as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_and_go_and_the_last_one_ends_as_it_did() {
        for before in ["", "a\n", "a", "a\r\nb", "a\n\n"]
            .map(str::as_bytes)
            .into_iter()
            .chain([&b"\xff\n"[..]])
        {
            let one = with_line(before, "/x");
            let two = with_line(&one, "/y");
            assert_eq!(with_line(&two, "/x"), two);
            assert_eq!(without_line(&without_line(&two, "/x"), "/y"), before);
            assert_eq!(without_line(&without_line(&two, "/y"), "/x"), before);
            assert_eq!(without_line(before, "/x"), before);
        }
        assert_eq!(without_line(b"a\n/x\nb\n", "/x"), b"a\nb\n");
    }
}
