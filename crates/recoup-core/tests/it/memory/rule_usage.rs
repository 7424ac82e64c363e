//! What becomes of rules: cited, repeated, given, lost, taken back; and what people are told.

use recoup_core::memory::{
    EventOrigin, NoteFilter, NoteId, NoteKind, NoteSource, NoteStatus, Statement,
};

use super::lessons::{MISSING, ran, session};
use super::{Scene, project};

#[test]
fn a_citation_counts_once_for_each_answer() {
    let scene = Scene::new();
    scene.say("Use pnpm, never npm.", None);
    scene.gives("one");
    let cite = |answer: &str, rule: &str| {
        let rules = [rule.to_owned()];
        let turn =
            scene.memory().transact(&session("one"), |turn| turn.record_citations(answer, &rules));
        turn.unwrap().unwrap()
    };
    assert_eq!(cite("done (applied from memory: …)", "use pnpm, never npm"), 1);
    assert_eq!(cite("done (applied from memory: …)", "use pnpm, never npm"), 0);
    assert_eq!(cite("again", "Use pnpm, never npm."), 1);
    assert_eq!(cite("third", "Use yarn"), 0);
    let report = scene.memory().rule_effects(&NoteFilter::default()).unwrap();
    assert_eq!((report[0].given, report[0].cited, report[0].note.evidence), (1, 2, 3));
}

#[test]
fn nobody_cites_what_they_were_not_given() {
    let scene = Scene::new();
    scene.say("Use pnpm, never npm.", None);
    let rules = ["Use pnpm, never npm.".to_owned()];
    let turn =
        scene.memory().transact(&session("one"), |turn| turn.record_citations("done", &rules));
    assert_eq!(turn.unwrap(), Some(0));
}

#[test]
fn a_re_ask_is_tied_to_the_rule_that_it_repeats() {
    let scene = Scene::new();
    scene.say("Run the linter before each commit.", None);
    scene.say("Staging runs on port 8443.", None);
    let ask = |name: &str, prompt: &str| {
        let turn =
            scene.memory().transact(&session(name), |turn| turn.record_reask(prompt)).unwrap();
        turn.unwrap().map(|note| note.text)
    };
    // This context was given nothing.
    assert_eq!(ask("other", "you forgot to run the linter before the commit"), None);
    scene.gives("one");
    assert_eq!(
        ask("one", "you forgot to run the linter before the commit").as_deref(),
        Some("Run the linter before each commit.")
    );
    assert_eq!(ask("one", "still broken"), None);
    let report = scene.memory().rule_effects(&NoteFilter::default()).unwrap();
    let linter = report.iter().find(|it| it.note.text.contains("linter")).unwrap();
    assert_eq!(linter.repeated, 1);
    assert_eq!(report.iter().map(|it| it.repeated).sum::<u64>(), 1);
}

#[test]
fn the_report_says_what_came_after_a_rule_was_given() {
    let scene = Scene::new();
    let note = scene.say("Use tabs.", None).note().clone();
    scene.works("one", &ran("make", "make", "0"));
    scene.gives("one");
    scene.works("one", &ran("make", "make", "1"));
    scene.fails("one", &ran("make", "make", "2"), "boom: it broke");
    scene.works("two", &ran("make", "make", "3"));
    let report = scene.memory().rule_effects(&NoteFilter::default()).unwrap();
    let found = report.iter().find(|it| it.note.id == note.id).unwrap();
    assert_eq!((found.given, found.succeeded, found.failed), (1, 1, 1));
}

#[test]
fn a_rule_that_is_given_often_and_never_used_ranks_lower_until_it_is_used() {
    let scene = Scene::new();
    let old = scene.say("Use tabs.", None).note().id.clone();
    for n in 0..40 {
        scene.gives(&format!("session {n}"));
    }
    let new = scene.say("Prefer early returns.", None).note().id.clone();
    assert_eq!(scene.memory().maintain().unwrap().idle, 1);
    assert_eq!(scene.gives("later"), [new.clone(), old.clone()]);
    let rules = ["Use tabs.".to_owned()];
    scene.memory().transact(&session("later"), |turn| turn.record_citations("x", &rules)).unwrap();
    assert_eq!(scene.gives("last"), [old, new]);
}

#[test]
fn nothing_is_kept_while_memory_is_paused_or_a_project_is_ignored() {
    let scene = Scene::new();
    let run = ran("npm test", "npm test", "1");
    scene.memory().pause(None).unwrap();
    let turn = scene
        .memory()
        .transact(&session("one"), |turn| turn.record_failure(&run, Some(1), Some(MISSING)));
    assert_eq!(turn.unwrap(), None);
    scene.memory().resume().unwrap();
    scene.memory().ignore(&project('a')).unwrap();
    let turn = scene
        .memory()
        .transact(&session("two"), |turn| turn.record_failure(&run, Some(1), Some(MISSING)));
    assert_eq!(turn.unwrap(), None);
    scene.memory().unignore(&project('a')).unwrap();
    assert_eq!(scene.fails("three", &run, MISSING), None);
}

#[test]
fn nothing_of_a_turn_that_fails_is_kept() {
    let scene = Scene::new();
    scene.say("Use tabs.", None);
    let failed = scene.memory().transact(&session("one"), |turn| {
        let statement =
            Statement::new(NoteKind::Preference, "use spaces", NoteSource::User, project('a'));
        turn.record(&statement)?;
        Err::<(), _>(recoup_core::Error::usage("something else went wrong"))
    });
    assert!(failed.is_err());
    assert_eq!(scene.active(), ["Use tabs."]);
}

#[test]
fn a_context_is_given_a_rule_once_and_again_when_it_lost_it() {
    let scene = Scene::new();
    let id = scene.say("Use tabs.", None).note().id.clone();
    assert_eq!(scene.gives("one"), std::slice::from_ref(&id));
    assert!(scene.memory().deliveries_to("one").unwrap().notes.contains(&id));
    assert!(scene.memory().deliveries_to("one/agent").unwrap().notes.is_empty());
    scene.memory().transact(&session("one"), |turn| turn.forget_deliveries().map(drop)).unwrap();
    assert_eq!(scene.gives("one"), [id]);
}

#[test]
fn what_was_done_in_the_background_is_told_once_and_only_where_it_was_done() {
    let scene = Scene::new();
    let memory = scene.memory();
    for text in ["learned one thing", "learned another"] {
        memory.transact(&session("one"), |turn| turn.add_notice(text)).unwrap();
    }
    let elsewhere = EventOrigin { scope: project('b'), ..session("three") };
    let told = memory.transact(&elsewhere, |turn| Ok(turn.take_notices()?.len())).unwrap();
    assert_eq!(told, Some(0));
    let told = || {
        memory
            .transact(&session("two"), |turn| Ok(turn.take_notices()?.join("; ")))
            .unwrap()
            .unwrap()
    };
    assert_eq!(told(), "learned one thing; learned another");
    assert_eq!(told(), "");
}

#[test]
fn a_transcript_is_read_on_from_where_it_was_read_to() {
    let scene = Scene::new();
    let memory = scene.memory();
    assert_eq!(memory.transcript_position("/t.jsonl").unwrap(), None);
    for mark in ["1:2:3", "1:2:9"] {
        memory.store_transcript_position("/t.jsonl", mark).unwrap();
        assert_eq!(memory.transcript_position("/t.jsonl").unwrap().as_deref(), Some(mark));
    }
}

#[test]
fn what_was_no_statement_is_taken_back_and_what_gave_way_to_it_counts_again() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    let id = scene.say("use spaces", Some("indentation")).note().id.clone();
    let take_back = |id: &NoteId| {
        scene.pass();
        let turn = scene.memory().transact(&session("one"), |turn| turn.retract_note(id));
        turn.unwrap().unwrap().map(|note| (note.text, note.status))
    };
    assert_eq!(take_back(&id), Some(("use spaces".to_owned(), NoteStatus::Retired)));
    assert_eq!(scene.active(), ["use tabs"]);
    // What the user said more than once stays.
    let tabs = scene.say("use tabs", Some("indentation")).note().id.clone();
    assert_eq!(take_back(&tabs), None);
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn what_a_context_has_lost_stays_in_the_report_and_is_given_again() {
    let scene = Scene::new();
    let note = scene.say("Use tabs.", None).note().clone();
    scene.gives("one");
    scene.memory().transact(&session("one"), |turn| turn.forget_deliveries().map(drop)).unwrap();
    scene.gives("one");
    let report = scene.memory().rule_effects(&NoteFilter::default()).unwrap();
    assert_eq!((report[0].note.id.clone(), report[0].given), (note.id, 2));
}

#[test]
fn other_words_are_given_to_a_context_that_has_the_old_ones() {
    let scene = Scene::new();
    let id = scene.say("Use tabs.", None).note().id.clone();
    scene.gives("one");
    scene.memory().edit(&id, "Use four spaces.").unwrap();
    assert_eq!(scene.gives("one"), [id]);
}
