//! Retractions by name, ends of rules, and candidates that wait for the user.

use recoup_core::memory::recall::inject::BlockBudget;
use recoup_core::memory::{NoteStatus, RecordOutcome, Statement};

use super::lessons::session;
use super::{Scene, project, stated};

fn retract(scene: &Scene, words: &str) -> (Vec<String>, Vec<String>) {
    let words = [words.to_owned()];
    let outcome = scene.memory().transact(&session("one"), |turn| turn.retract_named(&words));
    let outcome = outcome.unwrap().unwrap();
    (outcome.retired.into_iter().map(|note| note.text).collect(), outcome.unknown)
}

#[test]
fn a_retraction_retires_what_it_names_and_nothing_else() {
    let scene = Scene::new();
    for text in
        ["use tabs in go files", "every function gets a docstring", "ask before each commit"]
    {
        scene.say(text, None);
    }
    assert_eq!(retract(&scene, "tabs").0, ["use tabs in go files"]);
    assert_eq!(retract(&scene, "the docstring rule").0, ["every function gets a docstring"]);
    assert_eq!(retract(&scene, "emojis"), (Vec::new(), vec!["emojis".to_owned()]));
    assert_eq!(scene.active(), ["ask before each commit"]);
    assert_eq!(scene.find("use tabs in go files").status, NoteStatus::Retired);
}

#[test]
fn a_rule_is_given_until_its_end_has_come_and_asked_about_once() {
    let scene = Scene::new();
    let until = Some("until 2001-01-01".to_owned());
    scene.memory().record(&Statement { until, ..stated("no merges to main", None) }).unwrap();
    let until = Some("until #123 is fixed".to_owned());
    scene.memory().record(&Statement { until, ..stated("pin tokio to 1.38", None) }).unwrap();
    let rules = scene.memory().rules(&project('a'), BlockBudget::default()).unwrap();
    assert_eq!(rules.len(), 1, "{rules:?}");
    assert_eq!(rules[0].until.as_deref(), Some("until #123 is fixed"));
    let ask = || {
        let texts = scene.memory().transact(&session("one"), |turn| {
            Ok(turn.take_ended_rules()?.into_iter().map(|note| note.text).collect::<Vec<_>>())
        });
        texts.unwrap().unwrap()
    };
    assert_eq!(ask(), ["no merges to main"]);
    assert_eq!(ask(), [""; 0]);
}

#[test]
fn a_candidate_counts_when_it_is_said_again_in_other_words_in_another_session() {
    let scene = Scene::new();
    let maybe = |text: &str, session: &str| {
        let statement = Statement { session: Some(session.into()), ..stated(text, None) };
        scene.memory().record(&Statement { lasting: false, ..statement }).unwrap()
    };
    assert_eq!(maybe("use pnpm", "one").note().status, NoteStatus::Candidate);
    assert_eq!(scene.memory().candidates(&project('a')).unwrap().len(), 1);
    let again = maybe("we use pnpm here", "two");
    assert!(matches!(again, RecordOutcome::Confirmed { revived: true, .. }), "{again:?}");
    assert_eq!(scene.active(), ["use pnpm"]);
    assert_eq!(maybe("use yarn", "three").note().status, NoteStatus::Candidate);
}

#[test]
fn waiting_candidates_are_told_once_a_day() {
    let scene = Scene::new();
    scene.memory().record(&Statement { lasting: false, ..stated("use pnpm", None) }).unwrap();
    let told = scene.memory().transact(&session("one"), |turn| {
        Ok((turn.take_candidate_count()?, turn.take_candidate_count()?))
    });
    assert_eq!(told.unwrap(), Some((Some(1), None)));
}
