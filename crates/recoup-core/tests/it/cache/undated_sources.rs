//! Sources of which only a time is known, as entries of other tools have them:
//! a hit only if nothing changed since before that second.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use recoup_core::cache::{EntrySelection, MissReason};
use recoup_core::entry::{RecordedSources, TimedSources};
use recoup_core::key::Scope;

use super::{Scene, set_mtime};
use crate::support::{START, draft, id};

/// The second after the last change of anything below.
fn after(scene: &Scene) -> i64 {
    fn youngest(path: &Path) -> i64 {
        let meta = fs::symlink_metadata(path).unwrap();
        let below = meta.is_dir().then(|| fs::read_dir(path).unwrap()).into_iter().flatten();
        let own = meta.mtime().max(meta.ctime());
        below.map(|entry| youngest(&entry.unwrap().path())).max().unwrap_or(own).max(own)
    }
    youngest(scene.dir.path()) + 1
}

fn put(scene: &Scene, than: i64, paths: &[&str]) {
    let paths = paths.iter().map(|&path| path.to_owned()).collect();
    let sources =
        RecordedSources { older: Some(TimedSources { than, paths }), ..RecordedSources::default() };
    scene.store.put(&id("key"), &draft("body").seal(sources, START).unwrap()).unwrap();
}

fn modified(scene: &Scene, path: &str) -> bool {
    matches!(scene.miss("key"), MissReason::SourceModified(found) if found == path)
}

fn missing(scene: &Scene, path: &str) -> bool {
    matches!(scene.miss("key"), MissReason::SourceMissing(found) if found == path)
}

/// A file, a directory with one below it, and a file beside them.
fn scene() -> Scene {
    let scene = Scene::new();
    for name in ["src/a.ts", "src/sub/b.ts", "other.md"] {
        scene.write(name, "before");
    }
    scene
}

#[test]
fn files_directories_and_globs_that_are_older_are_a_hit() {
    let scene = scene();
    let absolute = scene.path("other.md").display().to_string();
    for paths in [&["src/a.ts", &absolute] as &[&str], &["src"], &["src/**/*.ts", "*.md"], &[]] {
        put(&scene, after(&scene), paths);
        assert!(scene.hits("key"), "{paths:?}");
    }
}

#[test]
fn a_change_within_the_second_counts() {
    let scene = scene();
    for path in ["src/a.ts", "src", "src/*.ts"] {
        put(&scene, after(&scene) - 1, &["other.md"]);
        assert!(modified(&scene, "other.md"));
        put(&scene, after(&scene) - 1, &[path]);
        assert!(modified(&scene, path));
    }
}

/// `cp -p` and `touch -d` put an old time on new contents; the inode tells.
#[test]
fn an_old_mtime_alone_proves_nothing() {
    let scene = scene();
    let than = fs::metadata(scene.path("src/a.ts")).unwrap().ctime();
    set_mtime(&scene.path("src/a.ts"), std::time::SystemTime::UNIX_EPOCH);
    put(&scene, than, &["src/a.ts"]);
    assert!(modified(&scene, "src/a.ts"));
}

#[test]
fn what_is_gone_is_missing() {
    let scene = scene();
    put(&scene, i64::MAX, &["src/a.ts", "src/gone.ts"]);
    assert!(missing(&scene, "src/gone.ts"));
    put(&scene, i64::MAX, &["gone/*.ts"]);
    assert!(missing(&scene, "gone/*.ts"));
    symlink("nowhere", scene.path("link")).unwrap();
    put(&scene, i64::MAX, &["link"]);
    assert!(missing(&scene, "link"));
}

/// Nothing is left that could be younger, except the directory.
#[test]
fn a_file_that_went_from_a_directory_is_a_change() {
    let scene = scene();
    fs::remove_file(scene.path("src/sub/b.ts")).unwrap();
    let than = fs::metadata(scene.path("src/sub")).unwrap().mtime();
    put(&scene, than, &["src/sub"]);
    assert!(modified(&scene, "src/sub"));
    put(&scene, after(&scene), &["src/sub"]);
    assert!(scene.hits("key"), "it was empty before");
}

#[test]
fn a_link_that_leads_elsewhere_is_a_change() {
    let scene = scene();
    symlink(scene.path("other.md"), scene.path("link")).unwrap();
    let than = fs::symlink_metadata(scene.path("link")).unwrap().ctime();
    put(&scene, than, &["link"]);
    assert!(modified(&scene, "link"));
}

#[test]
fn they_are_found_by_their_paths() {
    let scene = scene();
    put(&scene, i64::MAX, &["src/a.ts"]);
    let invalidate = |glob: &str| {
        let selection = EntrySelection::default().with_paths(glob).unwrap();
        scene.cache.invalidate(&Scope::global(), &selection).unwrap()
    };
    assert_eq!((invalidate("lib/*"), invalidate("src/*")), (0, 1));
}
