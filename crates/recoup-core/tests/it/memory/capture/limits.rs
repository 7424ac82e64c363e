//! Statements that hold everywhere, for some files, or for some time.

use super::{NoteScope, first};

#[test]
fn it_holds_everywhere_only_if_the_user_says_so() {
    let is_universal = |prompt: &str| first(prompt).scope == NoteScope::Universal;
    assert!(is_universal("in all my projects: never add emojis to code"));
    assert!(is_universal("in allen meinen Projekten: keine Emojis im Code"));
    assert!(!is_universal("we use tabs everywhere in this repo"));
}

#[test]
fn a_statement_about_a_folder_holds_for_its_files() {
    assert_eq!(first("never use print in src/legacy/").paths.as_deref(), Some("src/legacy/**"));
    assert_eq!(first("we put our tests in tests/unit/").paths, None);
    assert_eq!(first("never push to main").paths, None);
}

#[test]
fn a_statement_keeps_the_words_of_its_end() {
    let until = first("no merges to main until #482 is fixed").until;
    assert_eq!(until.as_deref(), Some("until #482 is fixed"));
    assert_eq!(first("never push to main").until, None);
}
