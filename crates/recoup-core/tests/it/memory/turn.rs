//! What a context has, what concerns a file, and what is told late.

use std::time::Duration;

use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::memory::HookClient;
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext, RulesBlock};
use recoup_core::memory::{EventOrigin, Memory, NoteScope, Statement};

use super::{Scene, project, stated};
use crate::support::START;

fn occasion(context: &str) -> EventOrigin {
    EventOrigin {
        client: HookClient::ClaudeCode,
        session: "one".to_owned(),
        context: context.to_owned(),
        scope: NoteScope::Universal,
    }
}

fn all_rules(memory: &Memory) -> RulesBlock {
    let notes = memory.rules(&NoteScope::Universal, BlockBudget::default()).unwrap();
    let given = std::collections::HashSet::new();
    let context = InjectionContext { project: None, given: &given, budget: BlockBudget::default() };
    RulesBlock::select(&notes, &context, |_| None).unwrap()
}

#[test]
fn a_context_that_was_given_all_lacks_only_what_came_later_until_it_loses_it() {
    let scene = Scene::new();
    scene.say("use pnpm", None);
    let memory = scene.memory();
    scene.pass();
    let block = all_rules(&memory);
    memory.transact(&occasion("one"), |turn| turn.deliver_all(block.ids())).unwrap();
    let last = memory.deliveries_to("one").unwrap().last_whole.unwrap();
    assert!(memory.rules_since(last, &NoteScope::Universal).unwrap().is_empty());
    assert_eq!(
        memory.deliveries_to("one/agent").unwrap().last_whole,
        None,
        "a sub-agent has nothing"
    );

    scene.say("never push to main", None);
    let new = memory.rules_since(last, &NoteScope::Universal).unwrap();
    assert_eq!(new.iter().map(|note| &*note.text).collect::<Vec<_>>(), ["never push to main"]);

    memory.transact(&occasion("one"), |turn| turn.forget_deliveries().map(drop)).unwrap();
    assert_eq!(memory.deliveries_to("one").unwrap().last_whole, None);
    assert!(memory.deliveries_to("one").unwrap().notes.is_empty());
}

/// What a context is given when it goes on.
fn resumes(scene: &Scene, context: &str) -> Vec<String> {
    scene.pass();
    let memory = scene.memory();
    let given = memory.deliveries_to(context).unwrap();
    let notes = match given.last_whole {
        Some(last) => memory.rules_since(last, &NoteScope::Universal).unwrap(),
        None => memory.rules(&NoteScope::Universal, BlockBudget::default()).unwrap(),
    };
    let of =
        InjectionContext { project: None, given: &given.notes, budget: BlockBudget::default() };
    let block = RulesBlock::select(&notes, &of, |_| None);
    memory
        .transact(&occasion(context), |turn| {
            turn.deliver_all(block.iter().flat_map(RulesBlock::ids))
        })
        .unwrap();
    let lines = block.iter().flat_map(RulesBlock::included);
    lines.map(|rule| rule.line.clone()).collect()
}

#[test]
fn a_rule_that_is_brought_back_is_given_to_those_who_were_told_of_another_in_its_place() {
    let scene = Scene::new();
    let old = scene.say("use npm", None).note().id.clone();
    assert_eq!(resumes(&scene, "one"), ["use npm"]);
    assert_eq!(resumes(&scene, "two"), ["use npm"]);
    scene.pass();
    scene.say("use pnpm", None);
    assert_eq!(resumes(&scene, "one"), ["use pnpm"]);
    scene.pass();
    scene.memory().activate(&old, "restored").unwrap();
    assert_eq!(resumes(&scene, "one"), ["use npm"], "its last word was another");
    assert_eq!(resumes(&scene, "two"), [""; 0], "this one never heard of the other");
    assert_eq!(resumes(&scene, "one"), [""; 0]);
    scene.pass();
    scene.say("use pnpm", None);
    assert_eq!(resumes(&scene, "one"), ["use pnpm"], "said once more");
    assert_eq!(resumes(&scene, "two"), ["use pnpm"]);
    let report = scene.memory().rule_effects(&recoup_core::memory::NoteFilter::default()).unwrap();
    let times = |text: &str| report.iter().find(|it| it.note.text == text).unwrap().given;
    assert_eq!((times("use npm"), times("use pnpm")), (3, 3), "each time stays known");
}

#[test]
fn what_is_said_after_the_clock_was_set_back_is_new() {
    let mut scene = Scene::new();
    scene.say("use tabs", None);
    scene.clock.advance(Duration::from_hours(24));
    assert_eq!(resumes(&scene, "one"), ["use tabs"]);
    scene.clock = ManualClock::at(START);
    scene.clock.advance(Duration::from_mins(1));
    scene.say("never push to main", None);
    assert_eq!(resumes(&scene, "one"), ["never push to main"]);
    scene.clock.advance(Duration::from_hours(48));
    assert_eq!(resumes(&scene, "one"), [""; 0]);
    scene.say("no default exports", None);
    assert_eq!(resumes(&scene, "one"), ["no default exports"]);
}

#[test]
fn what_is_said_in_a_context_is_known_there_and_does_not_stand_for_all() {
    let scene = Scene::new();
    let note = scene.say("use pnpm", None).note().id.clone();
    let memory = scene.memory();
    let known = |context: &str| {
        memory.transact(&occasion(context), |turn| turn.mark_delivered([&note])).unwrap().unwrap()
    };
    assert_eq!((known("one"), known("one"), known("two")), (1, 0, 1));
    assert_eq!(memory.deliveries_to("one").unwrap().last_whole, None);
}

#[test]
fn rules_for_files_concern_whoever_touches_one() {
    let scene = Scene::new();
    let memory = scene.memory();
    let record = |text: &str, paths: &str, scope: NoteScope| {
        let statement = stated(text, None);
        memory.record(&Statement { paths: Some(paths.to_owned()), scope, ..statement }).unwrap();
    };
    record("keep it reversible", "db/**", project('a'));
    record("keep it short", "*.md", NoteScope::Universal);
    record("another project's", "db/**", project('b'));
    let found = |touched: &[&str]| {
        let found = memory.rules_for_files(touched, &project('a')).unwrap();
        found.into_iter().map(|it| it.note.text).collect::<Vec<_>>()
    };
    assert_eq!(found(&["db/schema.sql"]), ["keep it reversible"]);
    assert_eq!(found(&["README.md"]), ["keep it short"]);
    assert_eq!(found(&["src/main.rs"]), [""; 0]);
    assert_eq!(found(&[]), [""; 0]);
}

#[test]
fn what_is_told_late_happened_when_it_did_and_never_in_the_future() {
    let scene = Scene::new();
    let memory = scene.memory();
    let early = Timestamp::from_millis(START.as_millis() - 60_000);
    for at in [early, Timestamp::MAX] {
        let noted = memory.transact(&occasion("one"), |turn| turn.at_time(at).deliver_all([]));
        assert_eq!(noted.unwrap(), Some(at == early), "given all before, it is given nothing");
    }
    assert_eq!(memory.deliveries_to("one").unwrap().last_whole, Some(START));
}
