//! What says the same becomes one; what only looks alike never does.

use std::collections::BTreeSet;

use recoup_core::memory::db::dedup::{DuplicateGroup, duplicates};
use recoup_core::memory::{Note, NoteFilter, NoteScope, NoteSource, NoteStatus, Statement};

use super::{Scene, active, project, stated};

const SAME: &[(&str, &str)] = &[
    ("Always run `make lint` before you push.", "before pushing, run `make lint`"),
    ("run cargo xtask test before every commit", "Before each commit: run cargo xtask test"),
    ("never push to main", "Don't push to main!"),
    ("never push to main", "avoid pushing to main"),
    ("use tabs, not spaces", "use tabs instead of spaces"),
    ("don't use spaces, use tabs", "use tabs rather than spaces"),
    ("please use snake_case for the functions", "we use snake_case for functions"),
    ("no default exports", "do not use default exports"),
    ("run the tests in CI before merging", "run tests before merging in CI"),
    ("put new docs in the docs directory", "put new documentation in the docs folder"),
    ("we must write tests for every bug", "You should write a test for each bug"),
];

const DIFFERENT: &[(&str, &str)] = &[
    ("use var", "don't use var"),
    ("always push to main", "never push to main"),
    ("use tabs, not spaces", "use spaces, not tabs"),
    ("prefer tabs over spaces", "prefer spaces over tabs"),
    ("staging runs on port 8443", "staging runs on port 8444"),
    ("wrap lines at 80", "wrap lines at 100"),
    ("keep helpers in src/util", "keep helpers in src/utils"),
    ("call `flushQueue` first", "call `flush_queue` first"),
    ("wait for flushQueue", "wait for flushqueue"),
    ("run `make lint` before pushing", "run `make test` before pushing"),
    ("run `make lint` before pushing", "run `make lint` after pushing"),
    ("run with --fast", "run with --slow"),
    ("migrate from mysql to postgres", "migrate from postgres to mysql"),
    ("the client calls the server", "the server calls the client"),
    ("use jest in web, vitest in api", "use vitest in web, jest in api"),
    ("lint, test, deploy", "deploy, test, lint"),
    ("run lint, then deploy", "run deploy, then lint"),
    ("don't deploy without tests", "don't deploy, no tests"),
    ("deploy with tests", "deploy without tests"),
    ("stop the server before deploying", "no server before deploying"),
    ("use tabs", "only use tabs"),
    ("use tabs in Go", "use tabs in Rust"),
    ("build on Windows", "build on window"),
    ("ask Anna about billing", "ask Hanna about billing"),
    ("set FOO before starting", "set Foo before starting"),
    ("use API v1", "use API v2"),
    ("run all tests", "run tests"),
    ("if not released, rebase", "not if released, rebase"),
];

fn found(scene: &Scene) -> Vec<DuplicateGroup> {
    duplicates(&scene.memory().notes(&NoteFilter::default()).unwrap())
}

#[test]
fn the_same_in_other_words_is_found() {
    for (one, other) in SAME {
        let found = duplicates(&[active(one), active(other)]);
        assert_eq!(found.len(), 1, "{one} / {other}");
    }
}

#[test]
fn opposites_and_other_numbers_paths_and_names_are_never_the_same() {
    for (one, other) in DIFFERENT {
        assert_eq!(duplicates(&[active(one), active(other)]), [], "{one} / {other}");
    }
}

/// Every statement of one pair beside every statement of all the others.
#[test]
fn nothing_else_is_taken_for_the_same() {
    let texts: BTreeSet<&str> = DIFFERENT.iter().flat_map(|it| [it.0, it.1]).collect();
    let notes: Vec<Note> = texts.into_iter().map(active).collect();
    assert_eq!(duplicates(&notes), []);
}

/// As they may be from earlier: neither has taken the other's place.
fn both(one: &str, other: &str) -> Scene {
    let scene = Scene::new();
    scene.memory().import(&[active(one), active(other)]).unwrap();
    let sql = rusqlite::Connection::open(scene.path()).unwrap();
    sql.execute("UPDATE notes SET status = 'active', superseded_by = NULL", []).unwrap();
    scene
}

#[test]
fn one_stays_with_the_evidence_of_all_and_the_others_can_be_brought_back() {
    let scene = both("never push to main", "don't push to main");
    assert_eq!(scene.memory().merge_duplicates(&[project('b')]).unwrap(), []);
    let merged = scene.memory().merge_duplicates(&[]).unwrap();
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].stays.evidence, 2);
    assert_eq!(scene.active(), [merged[0].stays.text.clone()]);
    let gone = scene.find(&merged[0].others[0].text);
    assert_eq!(gone.status, NoteStatus::Superseded);
    assert_eq!(gone.superseded_by, Some(merged[0].stays.id.clone()));
    scene.memory().activate(&gone.id, "restored").unwrap();
    assert!(scene.active().contains(&gone.text));
}

#[test]
fn the_newest_wording_of_the_most_trusted_stays() {
    let later = |note: Note, millis| Note { updated: note.updated.plus_millis(millis), ..note };
    let (old, new) = (active("never push to main"), later(active("don't push to main"), 10));
    let team = Note { source: NoteSource::Team, ..later(active("avoid pushing to main"), 20) };
    let found = duplicates(&[old, new.clone(), team]);
    assert_eq!((found.len(), &found[0].stays, found[0].others.len()), (1, &new, 2));
}

#[test]
fn topics_that_somebody_gave_keep_notes_apart_and_what_does_not_count_is_not_looked_at() {
    let on = |text, topic: &str| Note { topic: Some(topic.to_owned()), ..active(text) };
    let (one, other) = ("never push to main", "don't push to main");
    assert_eq!(duplicates(&[on(one, "a"), on(other, "b")]), []);
    assert_eq!(duplicates(&[on(one, "a"), on(other, "a")]).len(), 1);
    let retired = Note { status: NoteStatus::Retired, ..active(other) };
    assert_eq!(duplicates(&[active(one), retired]), []);
}

fn at(scene: &Scene, text: &str, paths: Option<&str>) {
    let paths = paths.map(str::to_owned);
    scene.pass();
    scene.memory().record(&Statement { paths, ..stated(text, None) }).unwrap();
}

#[test]
fn a_repeat_for_fewer_files_is_found_and_the_one_for_more_files_stays() {
    for (wide, narrow) in [
        (None, "src/**"),
        (Some("src/**"), "src/a/**"),
        (Some("src/**"), "src/**/*.rs"),
        (Some("**"), "src/lib.rs"),
    ] {
        let scene = Scene::new();
        at(&scene, "use tabs", wide);
        at(&scene, "Use tabs.", Some(narrow));
        let found = found(&scene);
        assert_eq!(found[0].stays.paths.as_deref(), wide, "{narrow}");
        assert_eq!(found[0].others[0].paths.as_deref(), Some(narrow));
    }
    for (one, other) in [
        ("src/**", "lib/**"),
        ("src/*", "src/a/**"),
        ("src/**", "srcs/**"),
        ("s*/**", "src/a/**"),
        ("src/**", "{src/a,lib}/**"),
    ] {
        let scene = Scene::new();
        at(&scene, "use tabs", Some(one));
        at(&scene, "use tabs", Some(other));
        assert_eq!(found(&scene), [], "{one} {other}");
    }
}

#[test]
fn an_exception_to_an_exception_is_no_repeat() {
    let scene = Scene::new();
    at(&scene, "use tabs", None);
    at(&scene, "use spaces", Some("web/**"));
    at(&scene, "use tabs", Some("web/legacy/**"));
    assert_eq!(found(&scene), []);
}

#[test]
fn scopes_are_kept_apart() {
    let scene = Scene::new();
    for scope in [project('a'), project('b'), NoteScope::Universal] {
        scene.memory().record(&Statement { scope, ..stated("never push to main", None) }).unwrap();
    }
    assert_eq!(found(&scene), []);
}

/// Chains end at the widest one.
#[test]
fn three_that_contain_each_other_become_one() {
    let scene = Scene::new();
    for paths in [Some("src/a/**"), Some("src/**"), None] {
        at(&scene, "use tabs", paths);
    }
    let merged = scene.memory().merge_duplicates(&[]).unwrap();
    assert_eq!(merged.len(), 1, "{merged:#?}");
    assert_eq!((merged[0].others.len(), merged[0].stays.evidence), (2, 3));
    assert_eq!(scene.memory().merge_duplicates(&[]).unwrap(), []);
}
