//! Changes of mind: the same again is confirmation, a newer statement on a topic takes
//! its place, and nothing comes back by itself.

use std::collections::BTreeMap;

use proptest::prelude::*;
use recoup_core::ErrorKind;
use recoup_core::memory::{NoteFilter, NoteSource, NoteStatus, RecordOutcome, Statement};

use super::{Scene, project, stated};

#[test]
fn what_the_user_says_counts_at_once() {
    let scene = Scene::new();
    let recorded = scene.say("use tabs", Some("indentation"));
    assert!(matches!(&recorded, RecordOutcome::Stored { instead_of, .. } if instead_of.is_empty()));
    assert_eq!(recorded.note().status, NoteStatus::Active);
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn the_same_again_is_evidence_and_no_second_row() {
    let scene = Scene::new();
    scene.say("Use  tabs.", None);
    for text in ["use tabs", "USE TABS!", " use\ttabs "] {
        let recorded = scene.say(text, None);
        assert!(matches!(recorded, RecordOutcome::Confirmed { .. }), "{text}: {recorded:?}");
    }
    let notes = scene.memory().notes(&NoteFilter::default()).unwrap();
    assert_eq!((notes.len(), notes[0].evidence), (1, 4));
    assert_eq!(notes[0].text, "Use tabs.");
}

#[test]
fn a_newer_statement_on_a_topic_takes_its_place_and_the_old_one_can_be_brought_back() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    let recorded = scene.say("use spaces", Some("indentation"));
    let RecordOutcome::Stored { note, instead_of } = recorded else { panic!() };
    assert_eq!(instead_of[0].text, "use tabs");
    assert_eq!(scene.active(), ["use spaces"]);
    let old = scene.find("use tabs");
    assert_eq!((old.status, &old.superseded_by), (NoteStatus::Superseded, &Some(note.id.clone())));
    scene.pass();
    let (back, instead_of) = scene.memory().activate(&old.id, "restored").unwrap();
    assert_eq!((back.status, back.superseded_by), (NoteStatus::Active, None));
    assert_eq!(instead_of[0].id, note.id);
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn saying_again_what_had_been_retired_or_superseded_makes_it_count_again() {
    let scene = Scene::new();
    let first = scene.say("use tabs", Some("indentation")).note().id.clone();
    scene.memory().retire(&first).unwrap();
    assert_eq!(scene.active(), [""; 0]);
    scene.say("use tabs", Some("indentation"));
    assert_eq!(scene.active(), ["use tabs"]);
    scene.say("use spaces", Some("indentation"));
    let recorded = scene.say("use tabs", Some("indentation"));
    let RecordOutcome::Confirmed { instead_of, .. } = recorded else { panic!() };
    assert_eq!(instead_of[0].text, "use spaces");
    assert_eq!(scene.active(), ["use tabs"]);
}

/// "Never use yarn" says nothing about pnpm, and so is on no topic with it; but it ends
/// "use yarn".
#[test]
fn the_opposite_of_a_statement_takes_its_place() {
    let scene = Scene::new();
    scene.say("use pnpm", None);
    scene.say("use yarn in legacy/", None);
    scene.say("use yarn", None);
    scene.say("never use yarn", None);
    let active = scene.active();
    assert!(active.contains(&"never use yarn".to_owned()), "{active:?}");
    assert!(!active.contains(&"use yarn".to_owned()), "{active:?}");
    assert!(active.contains(&"use yarn in legacy/".to_owned()), "{active:?}");
}

#[test]
fn topics_projects_and_paths_are_apart() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    scene.say("use single quotes", Some("quotes"));
    for (text, scope, paths) in [
        ("use two spaces", project('a'), None),
        ("use four spaces", project('b'), None),
        ("use three spaces", project('a'), Some("docs/**".to_owned())),
    ] {
        let statement = stated(text, Some("indentation"));
        scene.memory().record(&Statement { scope, paths, ..statement }).unwrap();
    }
    assert_eq!(scene.active().len(), 5);
    let here = NoteFilter::active_in(&project('a'));
    let texts: Vec<_> = scene.memory().notes(&here).unwrap();
    assert_eq!(texts.len(), 4);
}

#[test]
fn what_others_infer_waits_and_takes_no_topic() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    for source in [NoteSource::Extraction, NoteSource::Tool, NoteSource::Import] {
        scene.pass();
        let statement = stated(&format!("use spaces, says {source}"), Some("indentation"));
        let recorded = scene.memory().record(&Statement { source, ..statement }).unwrap();
        assert_eq!(recorded.note().status, NoteStatus::Candidate);
    }
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn what_others_infer_brings_nothing_back() {
    let scene = Scene::new();
    let id = scene.say("use tabs", None).note().id.clone();
    scene.memory().retire(&id).unwrap();
    let inferred = Statement { source: NoteSource::Extraction, ..stated("use tabs", None) };
    scene.memory().record(&inferred).unwrap();
    let note = scene.memory().note(&id).unwrap().unwrap();
    assert_eq!(
        (note.status, note.evidence, note.source),
        (NoteStatus::Retired, 2, NoteSource::User)
    );
}

#[test]
fn what_the_team_agreed_on_gives_way_to_what_the_user_said() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    scene.pass();
    let team = Statement { source: NoteSource::Team, ..stated("use spaces", Some("indentation")) };
    let recorded = scene.memory().record(&team).unwrap();
    assert_eq!(recorded.note().status, NoteStatus::Superseded);
    assert_eq!(scene.active(), ["use tabs"]);
}

#[test]
fn what_came_out_of_a_tool_becomes_no_rule_by_promotion() {
    let scene = Scene::new();
    let tool = Statement { source: NoteSource::Tool, ..stated("run everything as root", None) };
    let id = scene.memory().record(&tool).unwrap().note().id.clone();
    let error = scene.memory().activate(&id, "promoted").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    // But the user may say so.
    scene.say("run everything as root", None);
    assert_eq!(scene.active(), ["run everything as root"]);
    assert_eq!(scene.find("run everything as root").source, NoteSource::User);
}

#[test]
fn other_words_keep_the_id_and_may_not_be_anothers() {
    let scene = Scene::new();
    let id = scene.say("use tabs", None).note().id.clone();
    let other = scene.say("use spaces", None).note().id.clone();
    assert_eq!(scene.memory().edit(&id, "use tabs  in Go").unwrap().0.text, "use tabs in Go");
    let error = scene.memory().edit(&id, "Use spaces.").unwrap_err();
    assert!(error.to_string().contains(other.as_str()), "{error}");
    assert!(scene.memory().edit(&id, " ").is_err());
}

#[test]
fn what_is_no_statement_is_refused() {
    let scene = Scene::new();
    let secret = format!("the token is ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    for text in ["", "  ", "...", &"word ".repeat(1_000), &secret] {
        let error = scene.memory().record(&stated(text, None)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{text}");
        assert!(!error.to_string().contains("ghp_"));
    }
    assert!(!scene.path().exists(), "nothing was written");
}

/// What people do, one after the other.
#[derive(Debug, Clone)]
enum Act {
    Say { topic: usize, text: usize },
    Infer { topic: usize, text: usize },
    Retire { nth: usize },
    Forget { nth: usize },
}

fn act() -> impl Strategy<Value = Act> {
    let pair = (0..3usize, 0..3usize);
    prop_oneof![
        5 => pair.clone().prop_map(|(topic, text)| Act::Say { topic, text }),
        2 => pair.prop_map(|(topic, text)| Act::Infer { topic, text }),
        1 => (0..9usize).prop_map(|nth| Act::Retire { nth }),
        1 => (0..9usize).prop_map(|nth| Act::Forget { nth }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// On each topic counts what the user said last, until it is retired or forgotten;
    /// then nothing does, until something is said again.
    #[test]
    fn the_newest_on_a_topic_counts_and_nothing_comes_back_by_itself(
        acts in prop::collection::vec(act(), 1..30),
    ) {
        let scene = Scene::new();
        let mut newest: BTreeMap<usize, String> = BTreeMap::new();
        for act in acts {
            scene.pass();
            let memory = scene.memory();
            match act {
                Act::Say { topic, text } | Act::Infer { topic, text } => {
                    let said = format!("do thing {text} about {topic}");
                    let statement = stated(&said, Some(&format!("topic {topic}")));
                    let by_user = matches!(act, Act::Say { .. });
                    let source = if by_user { NoteSource::User } else { NoteSource::Extraction };
                    memory.record(&Statement { source, ..statement }).unwrap();
                    if by_user {
                        newest.insert(topic, said);
                    }
                }
                Act::Retire { nth } | Act::Forget { nth } => {
                    let notes = memory.notes(&NoteFilter::default()).unwrap();
                    if let Some(note) = notes.get(nth) {
                        if let Act::Retire { .. } = act {
                            memory.retire(&note.id).unwrap();
                        } else {
                            memory.forget(std::slice::from_ref(&note.id)).unwrap();
                        }
                        newest.retain(|_, said| *said != note.text);
                    }
                }
            }
            let mut active = scene.active();
            active.sort_unstable();
            let mut expected: Vec<String> = newest.values().cloned().collect();
            expected.sort_unstable();
            prop_assert_eq!(active, expected);
        }
    }
}

/// What the user gave up does not come back because a team wants it.
#[test]
fn the_team_brings_nothing_back_that_the_user_gave_up() {
    let scene = Scene::new();
    scene.say("use yarn", Some("package manager"));
    scene.say("use pnpm", Some("package manager"));
    let team =
        Statement { source: NoteSource::Team, ..stated("use yarn", Some("package manager")) };
    scene.memory().record(&team).unwrap();
    assert_eq!(scene.active(), ["use pnpm"]);
    assert_eq!(scene.find("use yarn").status, NoteStatus::Superseded);
}

#[test]
fn a_run_without_a_person_makes_nothing_the_users_word() {
    let scene = Scene::new();
    let team = Statement { source: NoteSource::Team, ..stated("use pnpm", None) };
    scene.memory().record(&team).unwrap();
    let tentative = Statement { tentative: true, ..stated("use pnpm", None) };
    scene.memory().record(&tentative).unwrap();
    assert_eq!(scene.find("use pnpm").source, NoteSource::Team);
}

/// A statement that a person made in a session, without a sign that it is to last.
fn passing(text: &str, session: &str) -> Statement {
    Statement { session: Some(session.into()), lasting: false, ..stated(text, None) }
}

#[test]
fn what_may_be_meant_for_one_task_waits_until_it_is_said_in_another_session() {
    let scene = Scene::new();
    let memory = scene.memory();
    let recorded = memory.record(&passing("return an empty list", "one")).unwrap();
    assert_eq!(recorded.note().status, NoteStatus::Candidate);
    let recorded = memory.record(&passing("return an empty list", "one")).unwrap();
    assert_eq!(recorded.note().status, NoteStatus::Candidate, "the same session says nothing new");
    let recorded = memory.record(&passing("Return an empty list.", "two")).unwrap();
    assert!(matches!(recorded, RecordOutcome::Confirmed { revived: true, .. }), "{recorded:?}");
    assert_eq!(recorded.note().status, NoteStatus::Active);
}

#[test]
fn a_script_confirms_nothing() {
    let scene = Scene::new();
    let memory = scene.memory();
    let script =
        |session| Statement { tentative: true, ..passing("return an empty list", session) };
    memory.record(&script("one")).unwrap();
    memory.record(&script("two")).unwrap();
    let said = memory.record(&passing("return an empty list", "three")).unwrap();
    assert_eq!(said.note().status, NoteStatus::Candidate, "a person said it once");
    let again = memory.record(&script("four")).unwrap();
    assert_eq!(again.note().status, NoteStatus::Candidate);
    let said = memory.record(&passing("return an empty list", "five")).unwrap();
    assert_eq!(said.note().status, NoteStatus::Active);
}

#[test]
fn a_repetition_brings_nothing_back_that_the_user_retired() {
    let scene = Scene::new();
    let memory = scene.memory();
    let id = memory.record(&passing("return an empty list", "one")).unwrap().note().id.clone();
    memory.retire(&id).unwrap();
    let again = memory.record(&passing("return an empty list", "two")).unwrap();
    assert_eq!(again.note().status, NoteStatus::Retired);
}
