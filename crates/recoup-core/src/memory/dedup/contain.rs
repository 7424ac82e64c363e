//! Relations of globs, as far as they are certain without looking at files.

/// Characters that make a part of a path a pattern.
const SIGNS: &[char] = &['*', '?', '[', ']', '{', '}', '\\', '!'];

/// True if `wide` covers all files of `narrow`, and others too. None is all files.
pub(super) fn is_wider(wide: Option<&str>, narrow: Option<&str>) -> bool {
    let Some(narrow) = narrow else { return false };
    match wide.map(root_of) {
        None => true,
        Some(None) => false,
        Some(Some(root)) => wide != Some(narrow) && is_below(narrow, root),
    }
}

/// True if some file may match both. In doubt true.
pub(super) fn may_meet(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let (one, other) = (literal(one), literal(other));
    one.starts_with(other) || other.starts_with(one)
}

/// Directory of which a glob covers everything: `src` for `src/**`.
fn root_of(glob: &str) -> Option<&str> {
    let root = if glob == "**" { "" } else { glob.strip_suffix("/**")? };
    (!root.contains(SIGNS)).then_some(root)
}

/// True if all files of a glob are below `root`; `..` would lead out of it.
fn is_below(glob: &str, root: &str) -> bool {
    let inside = match glob.strip_prefix(root) {
        Some(rest) if !root.is_empty() => rest.strip_prefix('/'),
        rest => rest,
    };
    inside.is_some_and(|rest| !rest.is_empty()) && !glob.split('/').any(|part| part == "..")
}

/// Part of a glob before the first pattern.
fn literal(glob: &str) -> &str {
    glob.split(SIGNS).next().unwrap_or_default()
}
