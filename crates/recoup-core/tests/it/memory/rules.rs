//! The rules that hold somewhere: the most important ones, whatever their number.

use proptest::prelude::*;
use recoup_core::base::clock::Clock as _;
use recoup_core::memory::recall::inject::{BlockBudget, by_importance};
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{NoteFilter, NoteKind, NoteScope, NoteSource, Statement};

use super::{Scene, project};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// The database's order is the order of the text that agents are given.
    #[test]
    fn the_most_important_come_first(
        said in prop::collection::vec((0_usize..5, 0_usize..4, any::<bool>(), 0_usize..5), 1..16)
    ) {
        let scene = Scene::new();
        let memory = scene.memory();
        for (n, (kind, source, universal, times)) in said.into_iter().enumerate() {
            let source = [NoteSource::User, NoteSource::Manual, NoteSource::Team, NoteSource::User][source];
            let scope = if universal { NoteScope::Universal } else { project('a') };
            let text = format!("rule number {n} about thing{n}");
            let statement = Statement {
                topic: Some(format!("topic {n}")),
                ..Statement::new(NoteKind::ALL[kind], text, source, scope)
            };
            for _ in 0..[1, 2, 4, 8, 17][times] {
                scene.pass();
                memory.record(&statement).unwrap();
            }
        }
        let mut all = memory.notes(&NoteFilter::active_in(&project('a'))).unwrap();
        all.sort_by(by_importance);
        let budget = BlockBudget { tokens: u32::MAX, ..BlockBudget::default() };
        prop_assert_eq!(&memory.rules(&project('a'), budget).unwrap(), &all);
        // What there is no room for is not read, but for one in each scope.
        let budget = BlockBudget { tokens: 0, ..BlockBudget::default() };
        let first = memory.rules(&project('a'), budget).unwrap();
        prop_assert!(first.len() <= 2);
        prop_assert_eq!(&first[0], &all[0]);
    }
}

#[test]
fn other_projects_have_other_rules() {
    let scene = Scene::new();
    for (letter, text) in [('a', "use tabs"), ('b', "use spaces")] {
        let statement =
            Statement::new(NoteKind::Preference, text, NoteSource::User, project(letter));
        scene.memory().record(&statement).unwrap();
    }
    let rules = scene.memory().rules(&project('a'), BlockBudget::default()).unwrap();
    assert_eq!(rules.iter().map(|it| &it.text).collect::<Vec<_>>(), ["use tabs"]);
}

#[test]
fn what_fits_a_prompt_is_found_and_mostly_nothing_does() {
    let scene = Scene::new();
    scene.say("Run migrations with `make migrate`.", None);
    scene.say("Staging runs on port 8443.", None);
    let fitting = |prompt: &str| {
        let found = scene.memory().related_notes(prompt, &project('a')).unwrap();
        found.into_iter().map(|it| it.note.text).collect::<Vec<_>>()
    };
    assert_eq!(fitting("how do I run the migrations?"), ["Run migrations with `make migrate`."]);
    assert_eq!(fitting("please rename this variable"), [""; 0]);
}

#[test]
fn on_one_topic_the_project_counts_and_not_what_holds_everywhere() {
    let scene = Scene::new();
    scene.say("use tabs", Some("indentation"));
    let here = Statement {
        topic: Some("indentation".to_owned()),
        ..Statement::new(NoteKind::Preference, "use spaces", NoteSource::User, project('a'))
    };
    scene.memory().record(&here).unwrap();
    let rules = |letter| {
        let rules = scene.memory().rules(&project(letter), BlockBudget::default()).unwrap();
        rules.into_iter().map(|note| note.text).collect::<Vec<_>>()
    };
    assert_eq!(rules('a'), ["use spaces"]);
    assert_eq!(rules('b'), ["use tabs"]);
}

#[test]
fn an_index_in_many_parts_is_made_one_when_memory_is_settled() {
    let scene = Scene::new();
    scene.say("the first service runs on port 80", None);
    let database = rusqlite::Connection::open(scene.path()).unwrap();
    // FTS5 would merge some of them by itself.
    database.execute("INSERT INTO words (words, rank) VALUES ('automerge', 0)", []).unwrap();
    for n in 0..10 {
        scene.say(&format!("the service number{n} runs on its own port"), None);
    }
    let parts = || {
        let sql = "SELECT count(DISTINCT segid) FROM words_idx";
        database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert!(parts() > 4, "{}", parts());
    scene.memory().maintain().unwrap();
    assert_eq!(parts(), 1);
    let found = scene.memory().search(&SearchQuery::new("number4")).unwrap();
    assert_eq!(found[0].0.text, "the service number4 runs on its own port");
}

#[test]
fn what_was_imported_is_new_since_then_however_old_it_is() {
    let (one, other) = (Scene::new(), Scene::new());
    one.say("use tabs", None);
    one.say("never push to main", None);
    let notes = one.memory().notes(&NoteFilter::default()).unwrap();
    for _ in 0..3 {
        other.pass();
    }
    other.say("ours", None);
    let before = other.clock.now();
    let since = || {
        let rules = other.memory().rules_since(before, &project('a')).unwrap();
        rules.into_iter().map(|it| it.text).collect::<Vec<_>>()
    };
    assert_eq!(since(), [""; 0]);
    other.pass();
    other.memory().import(&notes).unwrap();
    let mut found = since();
    found.sort_unstable();
    assert_eq!(found, ["never push to main", "use tabs"]);
    let after = other.clock.now();
    assert!(other.memory().rules_since(after, &project('a')).unwrap().is_empty());
    for n in 0..20 {
        let scene = Scene::new();
        scene.say(&format!("rule {n}"), None);
        other.pass();
        other.memory().import(&scene.memory().notes(&NoteFilter::default()).unwrap()).unwrap();
    }
    assert_eq!(since().len(), 22, "each once");
}
