//! Who comes first, and when nobody comes at all.

use super::{Memory, corpus};

#[test]
fn the_exact_word_comes_before_its_other_forms() {
    let memory =
        Memory::of(["the tester is slow", "testing is slow", "tests are slow", "a test is slow"]);
    for (query, row) in [("tests", 3), ("testing", 2), ("test", 4)] {
        assert_eq!(memory.find(query)[0], row, "{query}");
    }
}

#[test]
fn an_exact_word_is_not_lost_among_a_thousand_other_forms() {
    let memory = Memory::of(["he migrates it alone"]);
    for row in 2..1_500 {
        memory.add(row, &format!("migration {row} of that table"));
    }
    assert_eq!(memory.find("migrates")[0], 1);
}

#[test]
fn git_finds_what_is_about_git_and_not_everything() {
    let ours = ["sign git commits", "git: rebase, do not merge"];
    let memory = Memory::among_others(&ours);
    let total = corpus::notes().len();
    let text = |row: i64| -> String {
        memory.0.query_row("SELECT text FROM notes WHERE row = ?1", [row], |it| it.get(0)).unwrap()
    };
    let query = recoup_core::memory::recall::search::SearchQuery {
        limit: total,
        ..recoup_core::memory::recall::search::SearchQuery::new("git")
    };
    let found = memory.answer(&query);
    assert!(found.contains(&1) && found.contains(&2));
    assert!(found.len() < total / 20, "{} of {total}", found.len());
    for row in found {
        assert!(text(row).to_lowercase().contains("git"), "{}", text(row));
    }
}

#[test]
fn words_that_stand_together_come_before_words_apart() {
    let memory = Memory::of([
        "the queue of the printer has a retry, and the policy of the office is another",
        "retry policy of the printer, the office has another queue for it and the rest",
    ]);
    assert_eq!(memory.find("retry policy"), [2, 1]);
}

#[test]
fn a_note_that_has_more_of_the_query_comes_first() {
    let memory = Memory::of(["timeout timeout timeout timeout", "the timeout of the upload"]);
    assert_eq!(memory.find("upload timeout"), [2, 1]);
}

#[test]
fn evidence_decides_between_equals_and_then_recency() {
    let memory = Memory::of(["tabs in Makefiles", "tabs in Makefiles", "tabs in Makefiles"]);
    memory.set(2, "evidence", "5");
    memory.set(1, "updated", "9");
    assert_eq!(memory.find("tabs"), [2, 1, 3]);
}

#[test]
fn evidence_does_not_lift_a_worse_answer() {
    let memory = Memory::of(["tabs in Makefiles", "spaces in Makefiles"]);
    memory.set(2, "evidence", "1000");
    assert_eq!(memory.find("tabs in makefiles"), [1, 2]);
}

#[test]
fn notes_of_one_session_that_answer_a_query_together_come_together() {
    let memory = Memory::of([
        "The timeout is 30 seconds.", "The billing client retries three times.",
        "The timeout is 5 seconds.",
    ]);
    let query = "timeout of the billing client";
    assert_eq!(memory.find(query), [2, 3, 1], "the newer first");
    for (row, session) in [(1, "one"), (2, "one"), (3, "two")] {
        memory.say_in(row, session);
    }
    assert_eq!(memory.find(query), [2, 1, 3]);
    assert_eq!(memory.find("timeout"), [3, 1], "one word has nothing to add");
}

#[test]
fn notes_that_were_imported_with_one_time_come_together() {
    let memory = Memory::of([
        "The timeout is 30 seconds.", "The billing client retries three times.",
        "The timeout is 5 seconds.",
    ]);
    memory.set(3, "created", "2");
    assert_eq!(memory.find("timeout of the billing client"), [2, 1, 3]);
}

#[test]
fn a_note_of_the_best_session_does_not_come_before_a_better_one() {
    let memory = Memory::of([
        "The office has a printer on the second floor.",
        "The billing client retries three times.",
        "The timeout of the billing client is 5 seconds.",
        "The second printer has a timeout of its own.",
    ]);
    for (row, session) in [(1, "one"), (2, "one"), (3, "two"), (4, "one")] {
        memory.say_in(row, session);
    }
    assert_eq!(memory.find("timeout of the billing client")[0], 3);
}

#[test]
fn scores_and_fits_are_between_nothing_and_one_and_in_order() {
    let memory = Memory::among_others(&[]);
    for question in corpus::questions().iter().step_by(20) {
        let query = recoup_core::memory::recall::search::SearchQuery::new(&question.text);
        let hits = recoup_core::memory::recall::search::find_notes(&memory.0, &query).unwrap();
        assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0));
        assert!(hits.iter().all(|hit| (0.0..1.0).contains(&hit.fit)));
        assert!(hits.is_sorted_by(|a, b| a.score + 0.001 >= b.score), "{}", question.text);
    }
}

#[test]
fn nothing_is_given_unasked_for_one_shared_word() {
    let memory = Memory::among_others(&["never call `flush_queue()` from the request handler"]);
    assert_eq!(memory.fitting("what is the capital of Portugal"), [0_i64; 0]);
    assert_eq!(memory.fitting("my handler of dogs went to the beach"), [0_i64; 0]);
    assert_eq!(memory.fitting("thanks, that looks good"), [0_i64; 0]);
    assert!(
        memory.fitting("Let the request handler call flushQueue before it answers.").contains(&1)
    );
}

#[test]
fn a_memory_of_few_notes_judges_like_one_of_many() {
    let memory = Memory::of(["run migrations with `make migrate`, never by hand", "we use tabs"]);
    assert_eq!(memory.fitting("please run the migrations on staging"), [1]);
    assert_eq!(memory.fitting("write a haiku about autumn leaves"), [0_i64; 0]);
}
