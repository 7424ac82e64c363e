//! The sorts of trouble that no single call shows, each with what is none.

use recoup_core::memory::capture::transcript::{
    CallStatus, EntryKind, ToolAction, TranscriptEntry,
};
use recoup_core::memory::learn::trouble::{AgentTrouble, TroubleKind, find_troubles};

use super::Talk;

fn of(talk: &Talk, sort: TroubleKind) -> Vec<AgentTrouble> {
    find_troubles(&talk.entries).into_iter().filter(|trouble| trouble.sort == sort).collect()
}

const RED: &str = "FAILED tests/test_a.py::test_add - assert 3 == 4\n1 failed in 0.02s";

#[test]
fn a_search_without_a_result_and_a_denied_command_are_no_trouble() {
    let talk = Talk::default()
        .fails("grep -rn foo src", "")
        .run("rm -rf x", CallStatus::Denied, "The user doesn't want to")
        .ok("ls", "error.log");
    assert_eq!(find_troubles(&talk.entries), []);
}

#[test]
fn a_secret_in_a_command_is_not_kept() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let line = format!("curl -H 'Authorization: Bearer {token}' x");
    let talk = Talk::default().fails(&line, "no").fails(&line, "no").fails(&line, "no");
    let found = find_troubles(&talk.entries);
    assert!(!found.is_empty() && !format!("{found:?}").contains(&token));
}

#[test]
fn a_test_that_stays_red_through_three_edits() {
    let talk = Talk::default()
        .fails("pytest tests/test_a.py", RED)
        .edit("a.py")
        .fails("pytest -x", RED)
        .edit("a.py")
        .edit("b.py")
        .ok("python -m pytest | tail -3", RED);
    let found = of(&talk, TroubleKind::Stuck);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].last, 11);
    assert_eq!(found[0].error.as_deref(), Some("FAILED tests/test_a.py::test_add - assert 3 == 4"));
    let longer = talk.edit("c.py").fails("pytest", RED);
    let found = of(&longer, TroubleKind::Stuck);
    assert_eq!((found.len(), found[0].last), (1, 15), "a fourth failure is the same trouble");
}

#[test]
fn a_test_is_not_stuck_without_edits_or_when_it_was_green_between() {
    let again =
        Talk::default().fails("pytest a", RED).fails("pytest b", RED).fails("pytest c", RED);
    assert_eq!(of(&again, TroubleKind::Stuck), []);
    let green = Talk::default()
        .fails("pytest", RED)
        .edit("a.py")
        .fails("pytest", RED)
        .ok("pytest", "3 passed in 0.1s")
        .edit("b.py")
        .fails("pytest", RED);
    assert_eq!(of(&green, TroubleKind::Stuck), []);
    let others = Talk::default()
        .fails("pytest", RED)
        .edit("a")
        .fails("npm test", RED)
        .edit("a")
        .fails("cargo test", RED);
    assert_eq!(of(&others, TroubleKind::Stuck), []);
    let builds = Talk::default()
        .fails("make", "x")
        .edit("a")
        .fails("make", "x")
        .edit("a")
        .fails("make", "x");
    assert_eq!(of(&builds, TroubleKind::Stuck), [], "a build is no test");
}

#[test]
fn a_way_that_was_given_up() {
    for words in [
        "That didn't work, let me try mocking the clock instead.",
        "Hmm, that didn’t work. Let me try another approach.",
        "The test is still failing. I'll revert that and look at the parser.",
        "Let me try a different approach: use a temporary directory.",
        "This is a dead end; let me rethink the locking.",
    ] {
        let talk = Talk::default().user("fix it").ok("make", "").agent(words);
        let found = of(&talk, TroubleKind::Backtracked);
        assert_eq!(found.len(), 1, "{words}");
        assert_eq!((found[0].last, found[0].subject.as_str()), (3, "make"));
    }
}

#[test]
fn words_that_give_nothing_up() {
    for words in [
        "Let me try running the tests.",
        "If that doesn't work, let me know and I'll try something else.",
        "It works now; before the fix it didn't work when trying twice.",
        "The old code does not work on Windows. This change fixes it.",
        "I added a message:\n```\nthat didn't work, let me try\n```\nDone.",
        "All tests pass.",
    ] {
        let talk = Talk::default().user("fix it").ok("make", "").agent(words);
        assert_eq!(of(&talk, TroubleKind::Backtracked), [], "{words}");
    }
    let before =
        Talk::default().ok("make", "").user("go on").agent("That didn't work, let me try x.");
    assert_eq!(of(&before, TroubleKind::Backtracked), [], "nothing was done in this turn");
    let person = Talk::default().ok("make", "").user("That didn't work, let me try it.");
    assert_eq!(find_troubles(&person.entries), []);
}

#[test]
fn the_same_call_three_times_in_a_row() {
    let talk = Talk::default().ok("git status", "clean").agent("again").ok("git status", "clean");
    assert_eq!(of(&talk, TroubleKind::Repeated), []);
    let talk = talk.ok("git status", "clean");
    let found = of(&talk, TroubleKind::Repeated);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].last, 6);
    let talk = talk.ok("git status", "clean");
    assert_eq!(of(&talk, TroubleKind::Repeated).len(), 1, "four are one row");
}

#[test]
fn calls_that_differ_or_wait_are_not_repeated() {
    let others = Talk::default().ok("ls", "").ok("pwd", "").ok("ls", "").ok("pwd", "").ok("ls", "");
    assert_eq!(of(&others, TroubleKind::Repeated), []);
    let progress = Talk::default()
        .ok("curl x/status", "1 %")
        .ok("curl x/status", "50 %")
        .ok("curl x/status", "100 %");
    assert_eq!(of(&progress, TroubleKind::Repeated), [], "something moves");
    let mut waits = Talk::default();
    for _ in 0..4 {
        waits = waits.step("TaskOutput", ToolAction::Wait, "{}", CallStatus::Succeeded, "running");
    }
    assert_eq!(of(&waits, TroubleKind::Repeated), []);
    let edits = Talk::default()
        .fails("make", "x")
        .edit("a")
        .fails("make", "x")
        .edit("a")
        .fails("make", "x");
    assert_eq!(of(&edits, TroubleKind::Repeated), []);
}

#[test]
fn a_sub_agents_calls_are_its_own() {
    let mut talk = Talk::default().ok("ls", "a").ok("ls", "a").ok("ls", "a");
    for entry in talk.entries.iter_mut().skip(4) {
        entry.agent = Some("sub".to_owned());
    }
    assert_eq!(of(&talk, TroubleKind::Repeated), []);
}

#[test]
fn entries_without_their_other_half_are_no_trouble() {
    let mut talk = Talk::default().fails("make", "error: x").fails("make", "error: x");
    talk.entries.remove(0);
    talk.entries.pop();
    assert_eq!(find_troubles(&talk.entries), []);
    assert_eq!(
        find_troubles(&[TranscriptEntry { at: None, agent: None, what: EntryKind::Compaction }]),
        []
    );
}
