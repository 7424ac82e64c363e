//! Tokens: what is stored with one was made from sources that did not change
//! between the look-up that missed and the store.

use std::fs;
use std::time::{Duration, SystemTime};

use recoup_core::cache::{FillOutcome, FillRefusal, SinceToken, Ttl};
use recoup_core::store::ScanFilter;
use recoup_core::{ErrorKind, Result};

use super::{Scene, mtime, set_mtime};
use crate::support::{draft, id, scanned};

fn scene() -> Scene {
    let scene = Scene::for_files(false);
    scene.write("src/a.rs", "one");
    scene.write("src/b.rs", "one");
    scene
}

fn given(sources: &[&str]) -> Vec<String> {
    sources.iter().map(|&path| path.to_owned()).collect()
}

/// A token as another process gets it: as text.
fn token(scene: &Scene, sources: &[&str]) -> SinceToken {
    let token = scene.cache.issue_since_token(&scene.view(), &given(sources)).unwrap();
    SinceToken::parse(&token.to_string()).unwrap()
}

fn fill(scene: &Scene, sources: &[&str], since: &SinceToken) -> Result<FillOutcome, FillRefusal> {
    let permit = scene.permit(&id("key"), sources).require_unchanged_since(since)?;
    Ok(permit.fill(draft("body"), Ttl::Forever).unwrap())
}

#[track_caller]
fn assert_refused(scene: &Scene, sources: &[&str], since: &SinceToken) -> FillRefusal {
    let refusal = fill(scene, sources, since).expect_err("it was not refused");
    assert_eq!(scanned(&*scene.store, &ScanFilter::default()), []);
    refusal
}

#[test]
fn unchanged_sources_are_stored() {
    for sources in [&["src/a.rs"][..], &["src"], &["src/*.rs"], &["src/b.rs", "src/a.rs"]] {
        let scene = scene();
        let since = token(&scene, sources);
        scene.write("elsewhere", "");
        assert!(matches!(fill(&scene, sources, &since), Ok(FillOutcome::Stored(_))), "{sources:?}");
        assert!(scene.hits("key"));
    }
}

#[test]
fn the_order_and_the_spelling_of_sources_do_not_matter() {
    let scene = scene();
    let since = token(&scene, &["src/a.rs", "src/b.rs"]);
    let sources = ["./src/b.rs", "src/../src/a.rs", "src/a.rs"];
    assert!(matches!(fill(&scene, &sources, &since), Ok(FillOutcome::Stored(_))));
}

#[test]
fn a_change_is_refused() {
    type Change = fn(&Scene);
    let changes: [Change; 4] = [
        |scene| scene.write("src/a.rs", "two"),
        |scene| scene.write("src/new.rs", ""),
        |scene| fs::remove_file(scene.path("src/b.rs")).unwrap(),
        |scene| fs::rename(scene.path("src/b.rs"), scene.path("src/c.rs")).unwrap(),
    ];
    for change in changes {
        for sources in [&["src"][..], &["src/*.rs"]] {
            let scene = scene();
            let since = token(&scene, sources);
            change(&scene);
            let refusal = assert_refused(&scene, sources, &since);
            assert!(matches!(refusal, FillRefusal::SourcesDiffer), "{refusal:?}");
        }
    }
}

/// The result may be about what was there in between.
#[test]
fn an_edit_that_was_undone_is_refused() {
    let scene = scene();
    let path = scene.path("src/a.rs");
    set_mtime(&path, SystemTime::now() - Duration::from_mins(1));
    let (since, then) = (token(&scene, &["src/a.rs"]), mtime(&path));
    scene.write("src/a.rs", "two");
    scene.write("src/a.rs", "one");
    assert_refused(&scene, &["src/a.rs"], &since);
    set_mtime(&path, then);
    assert_refused(&scene, &["src/a.rs"], &since);
}

#[test]
fn a_token_for_other_sources_is_refused() {
    let scene = scene();
    let since = token(&scene, &["src/a.rs"]);
    for sources in [&["src/b.rs"][..], &["src/a.rs", "src/b.rs"], &["src"], &[]] {
        assert_refused(&scene, sources, &since);
    }
    let since = token(&scene, &["src"]);
    let files = ["src/a.rs", "src/b.rs"];
    let refusal = assert_refused(&scene, &files, &since);
    assert!(
        matches!(refusal, FillRefusal::OtherSources),
        "new files would not be seen: {refusal:?}"
    );
}

/// Which files count is often known only after the work.
#[test]
fn more_sources_than_the_tokens_are_fine_if_they_are_older() {
    let scene = scene();
    scene.pass(3_600_000);
    let since = token(&scene, &["src/a.rs"]);
    let both = ["src/b.rs", "src/a.rs"];
    assert!(matches!(fill(&scene, &both, &since), Ok(FillOutcome::Stored(_))));
    scene.write("src/b.rs", "three");
    assert!(!scene.hits("key"), "both are watched");
    set_mtime(&scene.path("src/b.rs"), SystemTime::now() + Duration::from_hours(2));
    let refusal = fill(&scene, &both, &since).unwrap_err();
    assert!(refusal.to_string().contains("src/b.rs has changed"), "{refusal}");
    scene.write("src/a.rs", "three");
    let refusal = fill(&scene, &both, &since).unwrap_err();
    assert!(matches!(refusal, FillRefusal::SourcesDiffer), "{refusal:?}");
}

#[test]
fn without_sources_a_token_accepts_what_is_older() {
    let scene = scene();
    scene.pass(3_600_000);
    let since = token(&scene, &[]);
    assert!(matches!(fill(&scene, &["src"], &since), Ok(FillOutcome::Stored(_))));
    assert!(matches!(fill(&scene, &[], &since), Ok(FillOutcome::Stored(_))));
}

#[test]
fn without_sources_a_token_refuses_what_is_not_older() {
    let scene = scene();
    let since = token(&scene, &[]);
    set_mtime(&scene.path("src/b.rs"), SystemTime::now() + Duration::from_mins(1));
    let refusal = assert_refused(&scene, &["src"], &since);
    assert!(refusal.to_string().contains("src/"), "{refusal}");
}

/// File systems stamp by the kernel's tick, which may lie before the token.
#[test]
fn without_sources_an_edit_right_after_the_token_is_refused() {
    for round in 0..200 {
        let scene = Scene::for_files(false);
        let since = token(&scene, &[]);
        scene.write("a", "edited after the token");
        assert!(fill(&scene, &["a"], &since).is_err(), "round {round}");
    }
}

#[test]
fn a_refusal_leaves_an_earlier_value_alone() {
    let scene = scene();
    scene.fill("key", "earlier", Ttl::Forever, &[]);
    let since = token(&scene, &["src/a.rs"]);
    scene.write("src/a.rs", "two");
    assert!(fill(&scene, &["src/a.rs"], &since).is_err());
    assert!(scene.hits("key"));
}

#[test]
fn a_token_reads_back_as_it_was_written() {
    let scene = scene();
    for sources in [&[][..], &["src"]] {
        let written = scene.cache.issue_since_token(&scene.view(), &given(sources)).unwrap();
        assert_eq!(SinceToken::parse(&written.to_string()).unwrap(), written);
        assert!(!written.to_string().contains("src"), "it names no file");
    }
}

#[test]
fn what_is_no_token_is_a_usage_error() {
    let state = "a".repeat(64);
    let garbage = [
        "",
        "r1",
        "r1-",
        "r2-5",
        "r1-x",
        "r1-5-",
        "r1-5-abc",
        "5",
        "r1-99999999999999999999",
        "r1-5 ",
        " r1-5",
        &format!("r1-5-{state}-"),
        &format!("r1-5-{state}0"),
        &format!("r2-5-{state}"),
        &format!("r2-5-{state}-"),
        &format!("r2-5-{state}-0123abc"),
        &format!("r2-5-{state}-+123abcd"),
    ]
    .map(str::to_owned);
    for text in garbage {
        let error = SinceToken::parse(&text).expect_err(&text);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("--since"), "{error}");
    }
    for good in [format!("r1-5-{state}"), format!("r2-5-{state}-0123abcd.00000000")] {
        assert_eq!(SinceToken::parse(&good).unwrap().to_string(), good);
    }
}
