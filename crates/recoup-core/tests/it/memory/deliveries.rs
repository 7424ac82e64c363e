//! What contexts were given, against the plainest account of it.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use recoup_core::memory::{NoteFilter, NoteId};

use super::Scene;
use super::lessons::{ran, session};

const CONTEXTS: [&str; 3] = ["one", "one/agent", "two"];
const NOTES: usize = 5;

/// What can happen to a context, or to a note.
#[derive(Debug, Clone)]
enum Step {
    Gives { context: usize, notes: Vec<usize> },
    Loses { context: usize },
    Forgets { note: usize },
    Rewords { note: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let context = 0..CONTEXTS.len();
    let notes = prop::collection::vec(0..NOTES, 0..4);
    let step = prop_oneof![
        6 => (context.clone(), notes).prop_map(|(context, notes)| Step::Gives { context, notes }),
        2 => context.prop_map(|context| Step::Loses { context }),
        1 => (0..NOTES).prop_map(|note| Step::Forgets { note }),
        1 => (0..NOTES).prop_map(|note| Step::Rewords { note }),
    ];
    prop::collection::vec(step, 1..16)
}

/// Who has what now, and how often each note was given.
#[derive(Default)]
struct Account {
    held: HashSet<(usize, usize)>,
    times: HashMap<usize, u64>,
    gone: HashSet<usize>,
}

impl Account {
    /// How many are new to it.
    fn gives(&mut self, context: usize, notes: &[usize]) -> usize {
        let new: HashSet<usize> =
            notes.iter().copied().filter(|note| self.held.insert((context, *note))).collect();
        for note in &new {
            *self.times.entry(*note).or_default() += 1;
        }
        new.len()
    }

    /// As if nobody had ever been given it.
    fn unlearns(&mut self, note: usize) {
        self.held.retain(|(_, held)| *held != note);
        self.times.remove(&note);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_contexts_have_and_were_given_adds_up(steps in steps()) {
        let scene = Scene::new();
        let say = |n: usize| scene.say(&format!("rule number {n}"), None).note().id.clone();
        let ids: Vec<NoteId> = (0..NOTES).map(say).collect();
        let (memory, mut account) = (scene.memory(), Account::default());
        for (at, step) in steps.into_iter().enumerate() {
            scene.pass();
            match step {
                Step::Gives { context, mut notes } => {
                    notes.retain(|note| !account.gone.contains(note));
                    let given: Vec<&NoteId> = notes.iter().map(|note| &ids[*note]).collect();
                    let new = memory.transact(&session(CONTEXTS[context]), |turn| turn.mark_delivered(given.clone()));
                    prop_assert_eq!(new.unwrap(), Some(account.gives(context, &notes)));
                }
                Step::Loses { context } => {
                    memory.transact(&session(CONTEXTS[context]), |turn| turn.forget_deliveries().map(drop)).unwrap();
                    account.held.retain(|(holder, _)| *holder != context);
                }
                Step::Forgets { note } if account.gone.insert(note) => {
                    memory.forget(std::slice::from_ref(&ids[note])).unwrap();
                    account.unlearns(note);
                }
                Step::Rewords { note } if !account.gone.contains(&note) => {
                    memory.edit(&ids[note], &format!("rule number {note}, version {at}")).unwrap();
                    account.unlearns(note);
                }
                Step::Forgets { .. } | Step::Rewords { .. } => {}
            }
        }
        for (context, name) in CONTEXTS.iter().enumerate() {
            let held = account.held.iter().filter(|(holder, _)| *holder == context);
            let held: HashSet<NoteId> = held.map(|(_, note)| ids[*note].clone()).collect();
            prop_assert_eq!(memory.deliveries_to(name).unwrap().notes, held);
        }
        for helped in memory.rule_effects(&NoteFilter::default()).unwrap() {
            let note = ids.iter().position(|id| *id == helped.note.id).unwrap();
            prop_assert_eq!(helped.given, account.times.get(&note).copied().unwrap_or_default());
        }
    }
}

#[test]
fn a_call_counts_once_for_a_rule_that_its_context_lost_and_was_given_again() {
    let scene = Scene::new();
    scene.say("Use tabs.", None);
    scene.gives("one");
    scene.works("one", &ran("make", "make", "1"));
    scene.memory().transact(&session("one"), |turn| turn.forget_deliveries().map(drop)).unwrap();
    scene.gives("one");
    scene.works("one", &ran("make", "make", "2"));
    let report = scene.memory().rule_effects(&NoteFilter::default()).unwrap();
    assert_eq!((report[0].given, report[0].succeeded, report[0].failed), (2, 2, 0));
}

#[test]
fn a_forgotten_note_is_in_no_list() {
    let scene = Scene::new();
    let id = scene.say("Use tabs.", None).note().id.clone();
    scene.say("Never push to main.", None);
    scene.gives("one");
    scene.memory().forget(std::slice::from_ref(&id)).unwrap();
    let database = rusqlite::Connection::open(scene.path()).unwrap();
    let lists: String =
        database.query_row("SELECT notes FROM givings", [], |row| row.get(0)).unwrap();
    assert!(!lists.contains(id.as_str()), "{lists:?}");
    assert_eq!(scene.memory().deliveries_to("one").unwrap().notes.len(), 1);
}
