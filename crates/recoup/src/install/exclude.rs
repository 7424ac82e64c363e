//! Git's list of files that are one person's own: what we put into a project must not be
//! published by accident.

/// The list with one more line; the same where it is there. A last line without an end stays
/// one: so it is known, whatever else is added, that the line before it had none.
pub(crate) fn with(text: &str, line: &str) -> String {
    if text.lines().any(|it| it.trim_end() == line) {
        return text.to_owned();
    }
    let eol = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if text.is_empty() || text.ends_with('\n') {
        format!("{text}{line}{eol}")
    } else {
        format!("{text}{eol}{line}")
    }
}

/// The list without that line.
pub(crate) fn without(text: &str, line: &str) -> String {
    let is_ours = |it: &&str| it.trim_end() == line;
    let left: String = text.split_inclusive('\n').filter(|it| !is_ours(it)).collect();
    let last = text.split_inclusive('\n').next_back();
    if last.is_none_or(|last| !is_ours(&last) || last.ends_with('\n')) {
        return left;
    }
    let bare = left.strip_suffix('\n').map(|it| it.strip_suffix('\r').unwrap_or(it));
    bare.unwrap_or(&left).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_and_go_and_the_last_one_ends_as_it_did() {
        for before in ["", "a\n", "a", "a\r\nb", "a\n\n"] {
            let one = with(before, "/x");
            let two = with(&one, "/y");
            assert_eq!(with(&two, "/x"), two);
            assert_eq!(without(&without(&two, "/x"), "/y"), before);
            assert_eq!(without(&without(&two, "/y"), "/x"), before);
            assert_eq!(without(before, "/x"), before);
        }
        assert_eq!(without("a\n/x\nb\n", "/x"), "a\nb\n");
    }
}
