//! Source files whose times or inode changed and whose contents did not: by default they are
//! read once, and are a hit.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use recoup_core::cache::{
    Cache, CacheOptions, CacheParts, FillOutcome, FillRefusal, FreshnessCheck, LookupRequest,
    MissReason, Outcome, Ttl,
};
use recoup_core::key::Kind;
use recoup_core::ledger::Ledger;
use recoup_core::store::ThreadClaims;

use super::{Scene, cache_of, mtime, set_mtime};
use crate::support::{draft, id};

type Change = fn(&Scene);

/// What `touch`, an editor, `mv` there and back, and `git switch` there and back do.
const HARMLESS: [(&str, Change); 4] = [
    ("touched", |scene| set_mtime(&scene.path("a"), SystemTime::UNIX_EPOCH)),
    ("replaced by its like", |scene| {
        scene.write("copy", "before");
        set_mtime(&scene.path("copy"), mtime(&scene.path("a")));
        fs::rename(scene.path("copy"), scene.path("a")).unwrap();
    }),
    ("renamed and back", |scene| {
        fs::rename(scene.path("a"), scene.path("b")).unwrap();
        fs::rename(scene.path("b"), scene.path("a")).unwrap();
        // A rename alone leaves the times of some file systems as they are.
        set_mtime(&scene.path("a"), SystemTime::UNIX_EPOCH);
    }),
    ("changed and back", |scene| {
        fs::remove_file(scene.path("a")).unwrap();
        scene.write("a", "after!");
        fs::remove_file(scene.path("a")).unwrap();
        scene.write("a", "before");
    }),
];

fn scene(freshness: FreshnessCheck) -> Scene {
    let scene = Scene::for_files(true);
    let options = CacheOptions { freshness, ..CacheOptions::default() };
    let cache = cache_of(&scene.store, options, &scene.clock);
    let scene = Scene { cache, ..scene };
    scene.write("a", "before");
    scene
}

#[test]
fn unchanged_contents_are_a_hit_unless_times_are_to_count() {
    for (what, change) in HARMLESS {
        for (freshness, hits) in [
            (FreshnessCheck::Auto, true),
            (FreshnessCheck::Content, true),
            (FreshnessCheck::Mtime, false),
        ] {
            let scene = scene(freshness);
            scene.fill("key", "body", Ttl::Forever, &["a"]);
            change(&scene);
            assert_eq!(scene.hits("key"), hits, "{what}, {freshness:?}");
        }
    }
}

#[test]
fn another_file_of_the_same_size_and_mtime_is_a_miss() {
    for freshness in [FreshnessCheck::Auto, FreshnessCheck::Content, FreshnessCheck::Mtime] {
        let scene = scene(freshness);
        scene.fill("key", "body", Ttl::Forever, &["a"]);
        scene.write("copy", "AFTER!");
        set_mtime(&scene.path("copy"), mtime(&scene.path("a")));
        fs::rename(scene.path("copy"), scene.path("a")).unwrap();
        assert!(matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "a"));
    }
}

/// As for git: a script that may no longer be run gives another answer.
#[test]
fn a_file_that_becomes_executable_or_ceases_to_be_is_another() {
    for freshness in [FreshnessCheck::Auto, FreshnessCheck::Content, FreshnessCheck::Mtime] {
        let scene = scene(freshness);
        scene.fill("key", "body", Ttl::Forever, &["a"]);
        fs::set_permissions(scene.path("a"), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "a"));
    }
}

/// The work may have read what was there in between.
#[test]
fn during_the_work_times_count_unless_only_contents_are_to() {
    for (what, change) in HARMLESS {
        for (freshness, is_kept) in [
            (FreshnessCheck::Auto, false),
            (FreshnessCheck::Content, true),
            (FreshnessCheck::Mtime, false),
        ] {
            let scene = scene(freshness);
            let permit = scene.permit(&id("key"), &["a"]);
            change(&scene);
            match permit.fill(draft("body"), Ttl::Forever).unwrap() {
                FillOutcome::Stored(_) => assert!(is_kept, "{what}, {freshness:?}"),
                FillOutcome::Refused(FillRefusal::SourceChanged(_)) => {
                    assert!(!is_kept, "{what}, {freshness:?}");
                }
                other => panic!("{what}: {other:?}"),
            }
        }
    }
}

/// A file large enough to tell whether it was read.
const LARGE: usize = 1 << 20;

/// As another process would see it, with a clock at which nothing is too young to trust.
fn with_ledger(scene: &Scene) -> Cache {
    Cache::from_parts(CacheParts {
        store: scene.store.clone(),
        clock: Arc::new(scene.clock.clone()),
        ledger: Some(Ledger::at(scene.path("ledger"))),
        claims: Arc::new(ThreadClaims::default()),
        options: CacheOptions::default(),
    })
}

/// How much this thread reads while it looks for the entry, which it finds.
fn read_for_a_hit(scene: &Scene, cache: &Cache) -> usize {
    let read = || {
        let io = fs::read_to_string("/proc/thread-self/io").unwrap();
        let count = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        count.parse::<usize>().unwrap()
    };
    let before = read();
    let found = cache.lookup(&LookupRequest::new(Kind::Result, &id("key"), &scene.view())).unwrap();
    assert!(matches!(found, Outcome::Hit(_)), "{found:?}");
    read() - before
}

#[test]
fn contents_are_read_once_for_each_state() {
    let scene = scene(FreshnessCheck::Auto);
    scene.write("a", &"x".repeat(LARGE));
    scene.fill("key", "body", Ttl::Forever, &["a"]);
    assert!(read_for_a_hit(&scene, &with_ledger(&scene)) < LARGE, "nothing has changed");
    for minutes in [1, 2] {
        set_mtime(&scene.path("a"), SystemTime::now() - Duration::from_mins(minutes));
        assert!(read_for_a_hit(&scene, &with_ledger(&scene)) >= LARGE, "touched");
        assert!(read_for_a_hit(&scene, &with_ledger(&scene)) < LARGE, "known");
    }
}

#[test]
fn what_is_too_young_to_be_trusted_is_read_until_it_is_not() {
    let scene = scene(FreshnessCheck::Auto);
    scene.write("a", &"x".repeat(LARGE));
    scene.fill("key", "body", Ttl::Forever, &["a"]);
    let soon = SystemTime::now() + Duration::from_hours(1);
    set_mtime(&scene.path("a"), soon);
    for _ in 0..2 {
        assert!(read_for_a_hit(&scene, &with_ledger(&scene)) >= LARGE, "too young");
    }
    scene.pass(60_000);
    assert!(read_for_a_hit(&scene, &with_ledger(&scene)) >= LARGE, "old enough to be noted");
    assert!(read_for_a_hit(&scene, &with_ledger(&scene)) < LARGE, "known");
}

#[test]
fn what_is_noted_of_one_file_says_nothing_of_its_later_contents() {
    let scene = scene(FreshnessCheck::Auto);
    scene.fill("key", "body", Ttl::Forever, &["a"]);
    set_mtime(&scene.path("a"), SystemTime::UNIX_EPOCH);
    read_for_a_hit(&scene, &with_ledger(&scene));
    scene.write("a", "AFTER!");
    set_mtime(&scene.path("a"), SystemTime::UNIX_EPOCH);
    let found = with_ledger(&scene)
        .lookup(&LookupRequest::new(Kind::Result, &id("key"), &scene.view()))
        .unwrap();
    assert!(matches!(found, Outcome::Miss(_, MissReason::SourceModified(_))), "{found:?}");
}

#[test]
fn an_explanation_notes_nothing() {
    let scene = scene(FreshnessCheck::Auto);
    scene.fill("key", "body", Ttl::Forever, &["a"]);
    set_mtime(&scene.path("a"), SystemTime::UNIX_EPOCH);
    let (id, view) = (id("key"), scene.view());
    let explained = with_ledger(&scene).explain(&LookupRequest::new(Kind::Result, &id, &view));
    assert_eq!(explained.causes.len(), 0, "{explained:?}");
    assert!(!scene.path("ledger").exists());
}
