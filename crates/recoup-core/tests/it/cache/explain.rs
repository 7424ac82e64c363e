//! Why a look-up is a hit or a miss, and what the nearest entry has otherwise.

mod rules;

use std::fs;

use recoup_core::cache::{
    CacheMode, CacheOptions, LookupExplanation, LookupRequest, LookupVerdict, MissCause,
    PartChange, PartDifference, SourceChange, SourceChangeKind, TextDifference, Ttl, WordPlace,
};
use recoup_core::entry::Draft;
use recoup_core::key::agent_run::AgentRunRecipe;
use recoup_core::key::result::ResultRecipe;
use recoup_core::key::{EntryId, KeyPart, KeyRecipe, Kind, Scope};

use super::{Scene, second};
use crate::support::{draft, id};

impl Scene {
    fn explain_key(&self, key: &str) -> LookupExplanation {
        self.cache.explain(&LookupRequest::new(Kind::Result, &id(key), &self.view()))
    }

    fn keep<R: KeyRecipe>(&self, recipe: &R) {
        let id = EntryId::new(Scope::global(), recipe.key().unwrap());
        let draft = Draft { kind: R::KIND, parts: recipe.parts(), ..draft("body") };
        let _ = self.permit(&id, &[]).fill(draft, Ttl::days(1)).unwrap();
    }

    fn explain<R: KeyRecipe>(&self, recipe: &R) -> LookupExplanation {
        let id = EntryId::new(Scope::global(), recipe.key().unwrap());
        let (parts, view) = (recipe.parts(), self.view());
        self.cache
            .explain(&LookupRequest { parts: &parts, ..LookupRequest::new(R::KIND, &id, &view) })
    }

    fn differences<R: KeyRecipe>(&self, recipe: &R) -> Vec<PartDifference> {
        let explanation = self.explain(recipe);
        assert!(matches!(explanation.causes[..], [MissCause::Absent]), "{explanation:?}");
        explanation.nearest.map(|nearest| nearest.differences).unwrap_or_default()
    }
}

fn asked(paths: &str, query: &str, operation: &str) -> ResultRecipe {
    ResultRecipe::new(paths, query, operation)
}

fn differs(part: &str, how: PartChange) -> Vec<PartDifference> {
    vec![PartDifference { part: part.to_owned(), how }]
}

fn words(place: WordPlace, now: &str, was: &str) -> PartChange {
    PartChange::Text(TextDifference::Words { place, now: now.to_owned(), was: was.to_owned() })
}

#[test]
fn a_hit_says_how_old_it_is_and_for_how_long_it_is_good() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    scene.fill("b", "body", Ttl::Forever, &[]);
    scene.pass(400);
    assert_eq!(scene.explain_key("a").verdict, LookupVerdict::Hit { age: 400, left: Some(600) });
    assert_eq!(scene.explain_key("b").verdict, LookupVerdict::Hit { age: 400, left: None });
    let (id, view) = (id("b"), scene.view());
    let request = LookupRequest { ttl: Some(500), ..LookupRequest::new(Kind::Result, &id, &view) };
    assert_eq!(
        scene.cache.explain(&request).verdict,
        LookupVerdict::Hit { age: 400, left: Some(100) }
    );
}

#[test]
fn a_stale_entry_says_since_when() {
    let scene = Scene::new();
    let graceful = Draft { grace: 5_000, ..draft("old") };
    let _ = scene.permit(&id("a"), &[]).fill(graceful, second()).unwrap();
    scene.pass(3_000);
    assert_eq!(scene.explain_key("a").verdict, LookupVerdict::Stale { since: 2_000 });
}

#[test]
fn everything_that_is_wrong_is_told_and_not_only_what_is_found_first() {
    let scene = Scene::for_files(true);
    for name in ["gone.rs", "same.rs", "changed.rs"] {
        scene.write(&format!("src/{name}"), "one");
    }
    scene.fill("a", "body", second(), &["src"]);
    scene.write("src/changed.rs", "another");
    scene.write("src/new.rs", "");
    fs::remove_file(scene.path("src/gone.rs")).unwrap();
    scene.pass(3_000);
    let explanation = scene.explain_key("a");
    assert_eq!(explanation.verdict, LookupVerdict::Miss);
    let changes: Vec<(&str, SourceChangeKind)> = explanation
        .causes
        .iter()
        .filter_map(|cause| match cause {
            MissCause::Source { change: SourceChange { path, how }, at } => {
                assert_eq!(at.is_some(), *how != SourceChangeKind::Missing);
                Some((path.as_str(), *how))
            }
            _ => None,
        })
        .collect();
    assert_eq!(
        changes,
        [
            ("src/changed.rs", SourceChangeKind::Modified),
            ("src/gone.rs", SourceChangeKind::Missing),
            ("src/new.rs", SourceChangeKind::New),
        ]
    );
    let last = explanation.causes.last();
    assert!(matches!(last, Some(MissCause::Expired { since: 2_000, ttl: 1_000 })), "{last:?}");
}

#[test]
fn what_a_reader_does_not_accept_is_told() {
    let scene = Scene::new();
    scene.fill("a", "body", Ttl::days(1), &[]);
    scene.pass(3_000);
    let (id, view) = (id("a"), scene.view());
    let plain = LookupRequest::new(Kind::Result, &id, &view);
    let causes =
        scene.cache.explain(&LookupRequest { max_age: Some(2_999), ..plain.clone() }).causes;
    assert!(matches!(causes[..], [MissCause::TooOld { age: 3_000, limit: 2_999 }]), "{causes:?}");
    let causes = scene.cache.explain(&LookupRequest { ttl: Some(1_000), ..plain.clone() }).causes;
    assert!(matches!(causes[..], [MissCause::Expired { since: 2_000, ttl: 1_000 }]), "{causes:?}");
    let causes = scene.cache.explain(&LookupRequest { mode: CacheMode::Refresh, ..plain }).causes;
    assert!(matches!(causes[..], [MissCause::Asked]), "{causes:?}");
}

#[test]
fn a_cache_that_is_off_says_so() {
    let off = CacheOptions { enabled: false, ..CacheOptions::default() };
    let scene = Scene::with(Scene::new().store, off);
    assert!(matches!(scene.explain_key("a").causes[..], [MissCause::Disabled]));
}

#[test]
fn the_words_that_differ_are_named() {
    let scene = Scene::new();
    scene.keep(&asked("a.rs", "find the sql injection", "audit"));
    for (query, place, now, was) in [
        ("find the sql injections", WordPlace::Last, "injections", "injection"),
        ("search the sql injection", WordPlace::First, "search", "find"),
        ("find all sql injection", WordPlace::Nth(2), "all", "the"),
        ("find the sql injection now", WordPlace::Last, "now", ""),
        ("find the injection", WordPlace::Nth(3), "", "sql"),
    ] {
        let expected = differs("query", words(place, now, was));
        assert_eq!(scene.differences(&asked("a.rs", query, "audit")), expected, "{query}");
    }
    let other = TextDifference::Other {
        now: "explain this".to_owned(),
        was: "find the sql injection".to_owned(),
    };
    let expected = differs("query", PartChange::Text(other));
    assert_eq!(scene.differences(&asked("a.rs", "explain this", "audit")), expected);
}

#[test]
fn of_a_list_the_items_are_named() {
    let scene = Scene::new();
    scene.keep(&asked("a.rs,b.rs", "find it", "audit"));
    let items = PartChange::Items { added: vec!["c.rs".to_owned()], gone: vec!["a.rs".to_owned()] };
    assert_eq!(scene.differences(&asked("b.rs,c.rs", "find it", "audit")), differs("paths", items));
}

#[test]
fn a_text_that_differs_where_nothing_is_kept_says_where_that_begins() {
    let scene = Scene::new();
    let run = |end: &str| AgentRunRecipe {
        agent: "reviewer".to_owned(),
        system: format!("{}{end}", "word ".repeat(100)),
        user: "go".to_owned(),
        model: "m".to_owned(),
    };
    scene.keep(&run("one"));
    let beyond = PartChange::Text(TextDifference::Beyond { chars: 200 });
    assert_eq!(scene.differences(&run("two")), differs("system", beyond));
}

#[test]
fn the_nearest_is_the_one_with_most_in_common_then_in_words_then_the_youngest() {
    let scene = Scene::new();
    scene.keep(&asked("a.rs", "find the sql injection", "audit"));
    scene.pass(10);
    scene.keep(&asked("a.rs", "list all public functions", "audit"));
    scene.pass(10);
    scene.keep(&asked("b.rs", "find the sql injections", "other"));
    let nearest = scene.explain(&asked("a.rs", "find the sql injections", "audit")).nearest;
    assert_eq!(
        nearest.unwrap().differences,
        differs("query", words(WordPlace::Last, "injections", "injection"))
    );
}

#[test]
fn what_has_little_in_common_is_not_near() {
    let scene = Scene::new();
    scene.keep(&asked("a.rs", "find the sql injection", "audit"));
    assert!(scene.explain(&asked("b.rs", "explain this", "audit")).nearest.is_none());
    assert!(scene.explain_key("bare").nearest.is_none(), "its parts are not known");
}

#[test]
fn an_entry_that_answers_another_question_says_which() {
    let scene = Scene::new();
    let draft = Draft { parts: asked("a.rs", "find it", "audit").parts(), ..draft("body") };
    let _ = scene.permit(&id("key"), &[]).fill(draft, Ttl::days(1)).unwrap();
    let (id, view) = (id("key"), scene.view());
    let parts = asked("a.rs", "find them", "audit").parts();
    let request = LookupRequest { parts: &parts, ..LookupRequest::new(Kind::Result, &id, &view) };
    let causes = scene.cache.explain(&request).causes;
    let [MissCause::AnotherQuestion(differences)] = &causes[..] else { panic!("{causes:?}") };
    assert_eq!(*differences, differs("query", words(WordPlace::Last, "them", "it")));
}

#[test]
fn secrets_in_the_question_are_not_repeated() {
    let scene = Scene::new();
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    scene.keep(&asked("a.rs", "use this one", "audit"));
    let explanation = scene.explain(&asked("a.rs", &format!("use this {token}"), "audit"));
    assert!(!format!("{explanation:?}").to_lowercase().contains(&token.to_lowercase()));
    assert!(explanation.nearest.is_some());
}

#[test]
fn explaining_leaves_no_trace() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    let before = scene.cache.head(&id("a")).unwrap();
    for _ in 0..3 {
        scene.explain_key("a");
        scene.explain_key("b");
    }
    assert_eq!(scene.cache.head(&id("a")).unwrap(), before);
    assert_eq!(scene.cache.stats(&Scope::global()).unwrap().misses(), 0);
}

/// Each kind says of each of its parts what it is.
#[test]
fn hidden_parts_differ_without_being_shown() {
    let scene = Scene::new();
    let part =
        |value: &str| vec![KeyPart::hidden("stdin", value), KeyPart::shown("arguments", "cat")];
    let keep = |key: &str, value: &str| {
        let draft = Draft { kind: Kind::Command, parts: part(value), ..draft("body") };
        let _ = scene.permit(&id(key), &[]).fill(draft, Ttl::days(1)).unwrap();
    };
    keep("one", "a");
    let (id, view, parts) = (id("two"), scene.view(), part("b"));
    let request = LookupRequest { parts: &parts, ..LookupRequest::new(Kind::Command, &id, &view) };
    let nearest = scene.cache.explain(&request).nearest.unwrap();
    assert_eq!(nearest.differences, differs("stdin", PartChange::Hidden));
}
