//! Git's list of files that are one person's own: what we put into a project must not be
//! published by accident.

/// The list with one more line; the same where it is there.
pub(crate) fn with(text: &str, line: &str) -> String {
    if text.lines().any(|it| it.trim_end() == line) {
        return text.to_owned();
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{text}{end}{line}\n")
}

/// The list without that line.
pub(crate) fn without(text: &str, line: &str) -> String {
    text.split_inclusive('\n').filter(|it| it.trim_end() != line).collect()
}
