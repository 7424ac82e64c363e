//! Limits of a statement, from its sentence: all projects, some files, a time.

/// True if a sentence says that it holds in all of the user's projects.
pub(super) fn is_universal(_sentence: &str) -> bool {
    false
}

/// Glob of the files to which a sentence is limited. `is_limited` is the tagger's opinion.
pub(super) fn path_glob(_sentence: &str, _is_limited: bool) -> Option<String> {
    None
}

/// Words of a sentence that say when it ends. `has_end` is the tagger's opinion.
pub(super) fn ending(_sentence: &str, _has_end: bool) -> Option<String> {
    None
}
