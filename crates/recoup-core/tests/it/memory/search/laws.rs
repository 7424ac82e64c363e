//! Laws that hold for any text.

use proptest::prelude::*;
use recoup_core::memory::recall::search;
use recoup_core::memory::recall::search::SearchQuery;

use super::Memory;

/// An identifier of a few words, in one of its casings.
fn cased(words: &[String], casing: usize) -> String {
    let capital = |word: &String| format!("{}{}", word[..1].to_uppercase(), &word[1..]);
    match casing {
        0 => words.join("_"),
        1 => words.join("-"),
        2 => words.join("_").to_uppercase(),
        3 => words.iter().map(capital).collect(),
        4 => words[0].clone() + &words[1..].iter().map(capital).collect::<String>(),
        _ => words.join(" "),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_text_can_be_kept_and_asked_for(note in any::<String>(), query in any::<String>()) {
        let memory = Memory::of([&*note]);
        memory.find(&query);
        memory.fitting(&query);
    }

    #[test]
    fn a_text_with_a_word_finds_itself(note in "\\PC{0,40}[a-z]{3,9}\\PC{0,40}") {
        let memory = Memory::of([&*note]);
        prop_assert_eq!(memory.find(&note), [1]);
    }

    #[test]
    fn an_identifier_is_found_in_all_its_casings(
        words in prop::collection::vec("[a-z]{2,7}", 2..4),
        (stored, asked) in (0_usize..5, 0_usize..6),
    ) {
        let memory = Memory::of(["something else entirely", &format!("call `{}`", cased(&words, stored))]);
        let found = memory.find(&cased(&words, asked));
        prop_assert_eq!(found.first(), Some(&2));
    }

    #[test]
    fn the_same_question_has_the_same_answer(
        notes in prop::collection::vec("[a-e ]{1,12}", 1..30),
        query in "[a-e ]{1,12}",
    ) {
        let answer = || {
            let memory = Memory::of(notes.iter().map(String::as_str));
            search::find_notes(&memory.0, &SearchQuery::new(&query)).unwrap()
        };
        prop_assert_eq!(answer(), answer());
    }
}
