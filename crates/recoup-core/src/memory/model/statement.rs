//! Statements: what is to be remembered, before it is known whether it is new.

use std::error::Error as _;

use serde::{Deserialize, Serialize};

use crate::base::glob::{self, SlashMatching};
use crate::memory::model::note::{NoteKind, NoteScope, NoteSource, NoteStatus};

/// A statement that is to be remembered, from the prompt in which it is found to the row in which it
/// is kept. Jobs store it, too, so fields that are added later have a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Kind of content.
    pub kind: NoteKind,
    /// The statement, with its negation.
    pub text: String,
    /// The sentence that it was taken from.
    #[serde(default)]
    pub quote: Option<String>,
    /// Origin, which decides the trust.
    pub source: NoteSource,
    /// Projects in which it applies.
    pub scope: NoteScope,
    /// Files to which it applies, as a glob from the project's root.
    #[serde(default)]
    pub paths: Option<String>,
    /// Subject, if the caller knows better than the text tells.
    #[serde(default)]
    pub topic: Option<String>,
    /// End of its validity, in the user's words: "until #123 is fixed".
    #[serde(default)]
    pub until: Option<String>,
    /// The session in which it was said.
    #[serde(default)]
    pub session: Option<String>,
    /// True if a script may have said it, not a person. Such a statement waits as a candidate for
    /// evidence, or for the user.
    #[serde(default)]
    pub tentative: bool,
    /// True if it is meant to last, as far as can be told. What may be meant for one task only is a
    /// candidate until it is said again in another session.
    pub lasting: bool,
}

impl Statement {
    /// Makes a lasting statement for all files, without a quote or a topic.
    pub fn new(
        kind: NoteKind,
        text: impl Into<String>,
        source: NoteSource,
        scope: NoteScope,
    ) -> Self {
        Self {
            kind,
            text: text.into(),
            quote: None,
            source,
            scope,
            paths: None,
            topic: None,
            until: None,
            session: None,
            tentative: false,
            lasting: true,
        }
    }

    /// Initial status of its note.
    pub(crate) fn first_status(&self) -> NoteStatus {
        if self.tentative || !self.lasting {
            NoteStatus::Candidate
        } else {
            self.source.first_status()
        }
    }
}

/// Normalizes a text for comparison: case, spaces and surrounding punctuation do not make another
/// statement.
pub(crate) fn normalize_for_comparison(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{201c}' | '\u{201d}' => '"',
            c => c,
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let joined = words.join(" ").to_lowercase();
    joined.trim_matches(|c: char| matches!(c, '.' | '!' | ',' | ';' | ':' | ' ')).to_owned()
}

/// Checks that a glob is valid; the error says what is wrong with it.
pub(crate) fn check_path_glob(glob: &str) -> Result<(), String> {
    if glob.trim().is_empty() {
        return Err("the glob is empty: omit it to match all files".to_owned());
    }
    if glob.starts_with('/') || glob.split('/').any(|part| part == "..") {
        return Err("the glob must be relative to the project's root and stay inside it".to_owned());
    }
    glob::compile_glob(glob, SlashMatching::Separates).map(drop).map_err(|error| {
        let why = error.source().map_or_else(String::new, ToString::to_string);
        format!("invalid glob {glob:?}: {why}")
    })
}
