//! Developers' notes, and queries of which it is known what answers them: see
//! `xtask/corpora/retrieval/README.md`. Used by the tests, by `cargo xtask eval
//! retrieval` and by the benchmark.

pub(crate) mod engines;
pub(crate) mod figures;

use std::path::Path;

use recoup_core::base::digest::Sha256Digest;
use serde::Deserialize;

/// One note.
#[derive(Debug, Deserialize)]
pub(crate) struct Note {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) text: String,
}

/// One query, the notes that answer it, and what makes it hard.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    #[serde(rename = "q")]
    pub(crate) text: String,
    pub(crate) answers: Vec<String>,
    pub(crate) sort: String,
}

impl Question {
    /// Whether it is of the half on which weights were chosen.
    pub(crate) fn is_tuned_on(&self) -> bool {
        Sha256Digest::of(self.text.as_bytes()).as_bytes()[0].is_multiple_of(2)
    }
}

pub(crate) fn notes() -> Vec<Note> {
    lines("notes.jsonl")
}

pub(crate) fn questions() -> Vec<Question> {
    lines("queries.jsonl")
}

/// Sixty notes of one project, and queries in other words, other languages and with typing errors.
#[derive(Debug, Deserialize)]
pub(crate) struct SmallSet {
    pub(crate) notes: Vec<String>,
    pub(crate) queries: Vec<SmallQuery>,
}

/// A query, and the numbers of the notes that answer it.
#[derive(Debug, Deserialize)]
pub(crate) struct SmallQuery {
    #[serde(rename = "q")]
    pub(crate) text: String,
    pub(crate) answers: Vec<usize>,
    pub(crate) sort: String,
}

/// The small set of a half: `working` or `frozen`.
pub(crate) fn small_set(half: &str) -> SmallSet {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/memory");
    let text = std::fs::read_to_string(folder.join(half).join("search.json")).expect("a small set");
    serde_json::from_str(&text).expect("notes and queries")
}

fn lines<T: for<'de> Deserialize<'de>>(name: &str) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/retrieval");
    let text = std::fs::read_to_string(folder.join(name)).expect("the corpus is in the repository");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the corpus")).collect()
}
