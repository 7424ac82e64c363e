//! Something that is to be remembered, before it is known whether it is new.

use super::{NoteKind, NoteScope, Source, Status};

/// Something that is to be remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The statement: a clean imperative, with its negation.
    pub text: String,
    /// The user's own words, where they differ.
    pub quote: Option<String>,
    /// Where it comes from.
    pub source: Source,
    /// For whom it holds.
    pub scope: NoteScope,
    /// For which files, as a glob from the project's root.
    pub paths: Option<String>,
    /// What it is about, where the caller knows better than its words.
    pub topic: Option<String>,
    /// The session in which it was said.
    pub session: Option<String>,
    /// Whether nobody was there to say it: a script may have. Then it only waits for
    /// evidence, or for the user.
    pub tentative: bool,
    /// True if it is to last, as far as anybody can tell. What the user may have meant for one
    /// task only waits, until it is said again in another session.
    pub lasting: bool,
}

impl Statement {
    /// What the user said about everything, and nothing more.
    pub fn new(kind: NoteKind, text: impl Into<String>, source: Source, scope: NoteScope) -> Self {
        Self {
            kind,
            text: text.into(),
            quote: None,
            source,
            scope,
            paths: None,
            topic: None,
            session: None,
            tentative: false,
            lasting: true,
        }
    }

    /// What it is at first.
    pub fn first_status(&self) -> Status {
        if self.tentative || !self.lasting { Status::Candidate } else { self.source.first_status() }
    }
}

/// A text as it is compared with others: case, spaces and the punctuation around it do
/// not make another statement.
pub(super) fn said(text: &str) -> String {
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
