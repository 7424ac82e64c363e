//! Directories and globs as sources: a file that comes, goes or changes is a
//! change of theirs.

use std::fs;
use std::os::unix::fs::symlink;

use recoup_core::ErrorKind;
use recoup_core::cache::{
    Cache, CacheOptions, FreshnessCheck, LookupRequest, MissReason, PathContext, PeekOutcome,
    SourceLimits, Ttl,
};
use recoup_core::key::Kind;

use super::{Scene, cache_of, set_mtime};
use crate::support::{draft, id};

/// Four files, in two directories.
fn four_files() -> Scene {
    let scene = Scene::for_files(true);
    for name in ["src/a.rs", "src/b.ts", "src/deep/c.rs", "other/d.rs"] {
        scene.write(name, name);
    }
    scene
}

fn watching(sources: &[&str]) -> Scene {
    let scene = four_files();
    scene.fill("key", "body", Ttl::Forever, sources);
    assert!(scene.hits("key"), "{sources:?}");
    scene
}

fn paths(scene: &Scene) -> Vec<String> {
    let sources = scene.store.get(&id("key")).unwrap().unwrap().head.header.sources.clone();
    sources.files.into_iter().map(|file| file.path).collect()
}

#[track_caller]
fn assert_modified(scene: &Scene, path: &str) {
    let reason = scene.miss("key");
    assert!(
        matches!(&reason, MissReason::SourceModified(changed) if changed == path),
        "{reason:?}"
    );
}

#[test]
fn a_new_file_in_a_directory_is_a_change_at_any_depth() {
    for new in ["src/new", "src/deep/new", "src/deep/er/new", "src/.hidden", "src/.x/new"] {
        let scene = watching(&["src"]);
        scene.write(new, "");
        assert_modified(&scene, new);
        fs::remove_file(scene.path(new)).unwrap();
        assert!(scene.hits("key"), "{new} is gone again");
    }
}

#[test]
fn a_changed_or_deleted_file_in_a_directory_is_a_change() {
    let scene = watching(&["src/"]);
    assert_eq!(paths(&scene), ["src/a.rs", "src/b.ts", "src/deep/c.rs"]);
    scene.write("src/deep/c.rs", "changed");
    assert_modified(&scene, "src/deep/c.rs");
    fs::remove_file(scene.path("src/deep/c.rs")).unwrap();
    assert!(
        matches!(scene.miss("key"), MissReason::SourceMissing(path) if path == "src/deep/c.rs")
    );
}

#[test]
fn what_is_outside_a_directory_is_no_change() {
    let scene = watching(&["src"]);
    scene.write("other/d.rs", "changed");
    scene.write("src.rs", "a name that only begins so");
    fs::create_dir(scene.path("src/empty")).unwrap();
    assert!(scene.hits("key"));
}

#[test]
fn an_empty_directory_waits_for_its_first_file() {
    let scene = Scene::for_files(true);
    fs::create_dir(scene.path("inbox")).unwrap();
    scene.fill("key", "body", Ttl::Forever, &["inbox"]);
    assert!(scene.hits("key"));
    scene.write("inbox/first", "");
    assert_modified(&scene, "inbox/first");
}

#[test]
fn globs_match_as_shells_do() {
    let globs = [
        ("src/*.rs", &["src/a.rs"][..]),
        ("src/*", &["src/a.rs", "src/b.ts"]),
        ("src/?.rs", &["src/a.rs"]),
        ("src/[a-b].*", &["src/a.rs", "src/b.ts"]),
        ("src/*.{rs,ts}", &["src/a.rs", "src/b.ts"]),
        ("{src,other}/*.rs", &["other/d.rs", "src/a.rs"]),
        ("**/*.rs", &["other/d.rs", "src/a.rs", "src/deep/c.rs"]),
        ("src/**", &["src/a.rs", "src/b.ts", "src/deep/c.rs"]),
        ("src/**/c.rs", &["src/deep/c.rs"]),
        ("*/*/*.rs", &["src/deep/c.rs"]),
    ];
    for (glob, expected) in globs {
        assert_eq!(paths(&watching(&[glob])), expected, "{glob}");
    }
}

#[test]
fn a_new_match_of_a_glob_is_a_change_and_nothing_else_is() {
    let scene = watching(&["src/*.rs"]);
    scene.write("src/new.ts", "");
    scene.write("src/deep/new.rs", "");
    scene.write("src/b.ts", "changed");
    assert!(scene.hits("key"));
    scene.write("src/new.rs", "");
    assert_modified(&scene, "src/new.rs");
}

#[test]
fn a_changed_or_deleted_match_of_a_glob_is_a_change() {
    let scene = watching(&["**/*.rs"]);
    scene.write("src/deep/c.rs", "changed");
    assert_modified(&scene, "src/deep/c.rs");
    fs::remove_file(scene.path("src/deep/c.rs")).unwrap();
    assert!(
        matches!(scene.miss("key"), MissReason::SourceMissing(path) if path == "src/deep/c.rs")
    );
}

#[test]
fn what_exists_by_that_very_name_is_no_glob() {
    let scene = Scene::for_files(true);
    scene.write("src/[id].tsx", "one");
    scene.write("src/i.tsx", "what the glob would match");
    scene.fill("key", "body", Ttl::Forever, &["src/[id].tsx"]);
    assert_eq!(paths(&scene), ["src/[id].tsx"]);
    scene.write("src/i.tsx", "changed");
    assert!(scene.hits("key"));
    scene.write("src/[id].tsx", "two");
    assert_modified(&scene, "src/[id].tsx");
}

#[test]
fn a_glob_from_a_directory_with_special_characters_means_that_directory() {
    let scene = Scene::for_files(true);
    scene.write("app/[id]/page.tsx", "one");
    scene.write("app/i/page.tsx", "another");
    let view = PathContext { cwd: scene.path("app/[id]"), ..scene.view() };
    let permit = scene.cache.permit(&id("key"), &view, &["*.tsx".to_owned()]).unwrap();
    let _ = permit.fill(draft("body"), Ttl::Forever).unwrap();
    assert_eq!(paths(&scene), ["app/[id]/page.tsx"]);
    scene.write("app/i/new.tsx", "");
    assert!(scene.hits("key"));
    scene.write("app/[id]/new.tsx", "");
    assert_modified(&scene, "app/[id]/new.tsx");
}

#[test]
fn a_root_with_special_characters_is_only_a_name() {
    let scene = Scene::for_files(true);
    scene.write("{my} [app]*/src/a.rs", "one");
    let root = scene.path("{my} [app]*");
    for (n, glob) in
        ["src/*.rs".to_owned(), format!("{}/src/*.rs", root.display())].into_iter().enumerate()
    {
        let view = PathContext { root: root.clone(), cwd: root.clone() };
        let key = id(&n.to_string());
        let permit = scene.cache.permit(&key, &view, &[glob]).unwrap();
        let _ = permit.fill(draft("body"), Ttl::Forever).unwrap();
        let peek = |cache: &Cache| cache.peek(&LookupRequest::new(Kind::Result, &key, &view));
        assert!(matches!(peek(&scene.cache), PeekOutcome::Hit(_)));
        let new = root.join(format!("src/new{n}.rs"));
        fs::write(&new, "").unwrap();
        assert!(matches!(peek(&scene.cache), PeekOutcome::Miss(MissReason::SourceModified(_))));
        fs::remove_file(new).unwrap();
    }
}

#[test]
fn a_glob_that_is_none_or_matches_nothing_is_refused() {
    let scene = four_files();
    let (none, nothing) = (ErrorKind::Usage, ErrorKind::Absent);
    for (glob, kind) in [
        ("src/*.py", nothing),
        ("gone/**", nothing),
        ("src/a.rs/*", nothing),
        ("src/[a.rs", none),
        ("src/{a,b", none),
    ] {
        let error = scene.try_permit(&id("key"), &["src/a.rs", glob]).unwrap_err();
        assert_eq!(error.kind(), kind, "{glob}: {error}");
        assert!(error.to_string().contains(glob), "{glob}: {error}");
    }
}

#[test]
fn directories_and_globs_are_given_from_where_one_is() {
    for given in ["../../other", "../../other/*.rs", "../../src/../other"] {
        let scene = four_files();
        let view = PathContext { cwd: scene.path("src/deep"), ..scene.view() };
        let permit = scene.cache.permit(&id("key"), &view, &[given.to_owned()]).unwrap();
        let _ = permit.fill(draft("body"), Ttl::Forever).unwrap();
        assert_eq!(paths(&scene), ["other/d.rs"], "{given}");
        assert!(scene.hits("key"), "{given}: from the root");
        scene.write("other/new.rs", "");
        assert_modified(&scene, "other/new.rs");
    }
}

#[test]
fn a_directory_outside_the_root_counts_too() {
    let (scene, outside) = (four_files(), Scene::for_files(true));
    outside.write("docs/one", "one");
    let given = outside.path("docs");
    scene.fill("key", "body", Ttl::Forever, &[given.to_str().unwrap()]);
    assert!(scene.hits("key"));
    outside.write("docs/two", "two");
    assert_modified(&scene, outside.path("docs/two").to_str().unwrap());
}

#[test]
fn another_worktree_hits_with_the_same_files_and_misses_with_one_more() {
    for sources in [&["src"][..], &["src/**/*.rs"]] {
        let (scene, other) = (watching(sources), four_files());
        let peek =
            || scene.cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &other.view()));
        assert!(matches!(peek(), PeekOutcome::Hit(_)), "{sources:?}");
        other.write("src/more.rs", "");
        assert!(
            matches!(peek(), PeekOutcome::Miss(MissReason::SourceModified(path)) if path == "src/more.rs")
        );
        fs::remove_file(other.path("src/more.rs")).unwrap();
        fs::remove_file(other.path("src/a.rs")).unwrap();
        assert!(
            matches!(peek(), PeekOutcome::Miss(MissReason::SourceMissing(path)) if path == "src/a.rs")
        );
        assert!(scene.hits("key"), "it is still good where it was made");
    }
}

/// What a program would read through it counts; a circle adds nothing.
#[test]
fn a_link_to_a_directory_is_followed_once() {
    let scene = four_files();
    symlink(scene.path("other"), scene.path("src/link")).unwrap();
    symlink(scene.path("src"), scene.path("src/deep/circle")).unwrap();
    scene.fill("key", "body", Ttl::Forever, &["src"]);
    assert_eq!(paths(&scene), ["src/a.rs", "src/b.ts", "src/deep/c.rs", "src/link/d.rs"]);
    scene.write("other/new.rs", "");
    assert_modified(&scene, "src/link/new.rs");
}

#[test]
fn a_directory_whose_files_are_all_ignored_is_refused() {
    let scene = four_files();
    fs::create_dir_all(scene.path(".git")).unwrap();
    scene.write("venv/.gitignore", "*\n");
    scene.write("venv/lib.py", "");
    let error = scene.try_permit(&id("key"), &["venv"]).unwrap_err();
    assert!(error.to_string().contains("matches no file"), "{error}");
}

#[test]
fn dots_after_a_link_lead_where_the_file_system_says() {
    let scene = four_files();
    fs::create_dir_all(scene.path("far/away")).unwrap();
    scene.write("far/f.txt", "one");
    scene.write("f.txt", "another");
    symlink(scene.path("far/away"), scene.path("near")).unwrap();
    scene.fill("key", "body", Ttl::Forever, &["near/../f.txt"]);
    scene.write("far/f.txt", "two");
    assert!(!scene.hits("key"));
}

#[test]
fn by_contents_a_touched_file_hits_and_a_changed_one_misses() {
    let options = CacheOptions { freshness: FreshnessCheck::Content, ..CacheOptions::default() };
    let scene = four_files();
    let cache = cache_of(&scene.store, options, &scene.clock);
    let scene = Scene { cache, ..scene };
    scene.fill("key", "body", Ttl::Forever, &["src", "other/*.rs"]);
    for name in ["src/a.rs", "other/d.rs"] {
        set_mtime(&scene.path(name), std::time::SystemTime::UNIX_EPOCH);
        scene.write("copy", name);
        fs::rename(scene.path("copy"), scene.path(name)).unwrap();
    }
    assert!(scene.hits("key"), "other times and another inode, the same contents");
    scene.write("src/a.rs", "SRC/A.RS");
    assert_modified(&scene, "src/a.rs");
    scene.write("src/a.rs", "src/a.rs");
    assert!(scene.hits("key"), "as it was");
    scene.write("src/new", "");
    assert_modified(&scene, "src/new");
}

#[test]
fn a_new_file_with_a_name_that_is_no_text_is_a_change() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = watching(&["src"]);
    let name = std::ffi::OsStr::from_bytes(b"src/\xff.rs");
    fs::write(scene.dir.path().join(name), "").unwrap();
    assert!(!scene.hits("key"));
}

#[test]
fn a_link_into_another_tree_is_not_followed() {
    let scene = four_files();
    let elsewhere = four_files();
    symlink(elsewhere.path("src"), scene.path("src/away")).unwrap();
    symlink(elsewhere.path("other/d.rs"), scene.path("src/file.rs")).unwrap();
    for source in ["src", ".", "src/**/*.rs"] {
        scene.fill("key", "body", Ttl::Forever, &[source]);
        let paths = paths(&scene);
        assert!(paths.iter().all(|path| !path.contains("away/")), "{source}: {paths:?}");
        assert!(paths.contains(&"src/file.rs".to_owned()), "a link to a file is that file");
    }
    // Whoever names it means it.
    scene.fill("key", "body", Ttl::Forever, &["src/away"]);
    assert_eq!(paths(&scene).len(), 3);
    elsewhere.write("src/new.rs", "");
    assert_modified(&scene, "src/away/new.rs");
}

#[test]
fn too_many_files_and_too_many_bytes_are_refused_with_the_remedy() {
    let scene = four_files();
    let refused = |limits: SourceLimits, source: &str| {
        let options = CacheOptions { sources: limits, ..CacheOptions::default() };
        let cache = cache_of(&scene.store, options, &scene.clock);
        cache.permit(&id("key"), &scene.view(), &[source.to_owned()]).unwrap_err().to_string()
    };
    let few = SourceLimits { files: 2, ..SourceLimits::default() };
    assert_eq!(
        refused(few, "src"),
        "the source \"src\" has more than 2 files: use a narrower pattern, or raise cache.max_source_files"
    );
    assert!(refused(few, "**/*.rs").contains("has more than 2 files"));
    scene.write("large", &"x".repeat(3 << 20));
    let small = SourceLimits { bytes: 2 << 20, ..SourceLimits::default() };
    let message = refused(small, "large");
    assert!(message.ends_with(
        "/large have more than 2 MB: use a narrower pattern, or raise cache.max_source_mb"
    ));
    assert_eq!(message, refused(small, "."));
}
