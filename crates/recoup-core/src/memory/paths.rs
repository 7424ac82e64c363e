//! Path globs of notes, from the project's root.

use std::error::Error as _;

use crate::base::glob::{self, SlashMatching};

/// Checks that a glob is valid; the error says what is wrong with it.
pub(super) fn check_path_glob(glob: &str) -> Result<(), String> {
    if glob.trim().is_empty() {
        return Err("a glob for files can't be empty: leave it out for all files".to_owned());
    }
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Err("a glob starts at the project's root, and does not lead out of it".to_owned());
    }
    glob::compile_glob(glob, SlashMatching::Separates).map(drop).map_err(|error| {
        let why = error.source().map_or_else(String::new, ToString::to_string);
        format!("this is no glob for files: {why}")
    })
}
