//! Files: private modes, whole files or none, links that are not followed, and
//! locks that one holder has at a time.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::Deadline;
use recoup_core::base::fsx::{self, FileLock};
use tempfile::tempdir;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(dir: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry.unwrap().file_name().to_string_lossy().into_owned()
    };
    let mut names: Vec<String> = fs::read_dir(dir).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn what_is_created_is_private() {
    let dir = tempdir().unwrap();
    let deep = dir.path().join("a").join("b");
    fsx::ensure_dir(&deep).unwrap();
    assert_eq!((mode(&deep), mode(deep.parent().unwrap())), (0o700, 0o700));
    let (made, written, locked) = (deep.join("made"), deep.join("written"), deep.join("locked"));
    assert!(fsx::create_private(&made).unwrap());
    fsx::write_atomic(&written, b"x").unwrap();
    FileLock::try_acquire(&locked).unwrap().unwrap();
    for file in [made, written, locked] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn a_directory_of_the_users_keeps_its_mode() {
    let dir = tempdir().unwrap();
    set_mode(dir.path(), 0o755);
    fsx::ensure_dir(dir.path()).unwrap();
    assert_eq!(mode(dir.path()), 0o755);
}

#[test]
fn a_directory_that_was_there_keeps_its_mode_and_is_refused_if_others_can_write_to_it() {
    let dir = tempdir().unwrap();
    for open in [0o755, 0o750, 0o701, 0o700] {
        set_mode(dir.path(), open);
        fsx::ensure_private_dir(dir.path()).unwrap();
        assert_eq!(mode(dir.path()), open, "{open:o}");
    }
    for open in [0o770, 0o777, 0o702, 0o1777] {
        set_mode(dir.path(), open);
        let error = fsx::ensure_private_dir(dir.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("(mode {open:o})")), "{error}");
        assert!(error.contains(&format!("chmod go-w {}", dir.path().display())), "{error}");
        assert_eq!(mode(dir.path()), open, "{open:o}");
    }
    set_mode(dir.path(), 0o755);
    let new = dir.path().join("new");
    fsx::ensure_private_dir(&new).unwrap();
    assert_eq!(mode(&new), 0o700);
}

#[test]
fn a_file_in_the_way_of_a_directory_is_an_error() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "mine").unwrap();
    assert_eq!(fsx::ensure_dir(&file).unwrap_err().kind(), ErrorKind::Io);
    assert!(fsx::ensure_dir(&file.join("deeper")).unwrap_err().to_string().contains("deeper"));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
}

#[test]
fn creating_never_takes_what_is_there() {
    let dir = tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    fs::write(&file, "mine").unwrap();
    assert!(!fsx::create_private(&file).unwrap());
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    symlink(dir.path().join("nowhere"), &link).unwrap();
    assert!(!fsx::create_private(&link).unwrap(), "a dangling link is something");
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn writing_replaces_a_link_and_leaves_its_target() {
    let dir = tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("link"));
    fs::write(&target, "theirs").unwrap();
    symlink(&target, &link).unwrap();
    fsx::write_atomic(&link, b"ours").unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"theirs");
    assert_eq!(fs::read(&link).unwrap(), b"ours");
    assert!(fs::symlink_metadata(&link).unwrap().is_file());
    assert_eq!(mode(&link), 0o600);
}

#[test]
fn writing_over_an_open_file_makes_it_private() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "old and longer").unwrap();
    set_mode(&file, 0o644);
    fsx::write_atomic(&file, b"new").unwrap();
    assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"new".to_vec(), 0o600));
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let dir = tempdir().unwrap();
    let in_the_way = dir.path().join("directory");
    fs::create_dir(&in_the_way).unwrap();
    fs::write(in_the_way.join("full"), "x").unwrap();
    let error = fsx::write_atomic(&in_the_way, b"x").unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
    assert_eq!(names(dir.path()), ["directory"], "no temporary file is left");
    assert!(fsx::write_atomic(&dir.path().join("missing").join("file"), b"x").is_err());
    assert_eq!(names(dir.path()), ["directory"]);
}

#[test]
fn a_reader_never_sees_half_a_file() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    let contents = |n: u8| vec![n; 20_000 + usize::from(n) * 100];
    fsx::write_atomic(&file, &contents(0)).unwrap();
    let (done, reads) = (AtomicBool::new(false), AtomicUsize::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                let read = fs::read(&file).unwrap();
                assert!(read == contents(read[0]), "{} bytes of {}", read.len(), read[0]);
                reads.fetch_add(1, Ordering::SeqCst);
            }
        });
        for n in 0..200 {
            fsx::write_atomic(&file, &contents(n)).unwrap();
        }
        // The last reading is of a file that stands still.
        let before = reads.load(Ordering::SeqCst);
        while reads.load(Ordering::SeqCst) == before {
            thread::yield_now();
        }
        done.store(true, Ordering::SeqCst);
    });
    assert_eq!(names(dir.path()), ["file"]);
}

#[test]
fn a_lock_has_one_holder_and_is_free_when_dropped() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("lock");
    let held = FileLock::try_acquire(&path).unwrap().unwrap();
    assert!(FileLock::try_acquire(&path).unwrap().is_none());
    let soon = Deadline::after(Duration::from_millis(20));
    let error = FileLock::acquire(&path, soon).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains("lock"), "{error}");
    drop(held);
    assert!(FileLock::try_acquire(&path).unwrap().is_some());
    assert!(path.exists(), "the file stays: others may be waiting for it");
}

#[test]
fn of_many_threads_one_holds_the_lock() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("lock");
    let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..5 {
                    let deadline = Deadline::after(Duration::from_mins(1));
                    let _held = FileLock::acquire(&path, deadline).unwrap();
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                    entered.fetch_add(1, Ordering::SeqCst);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(entered.load(Ordering::SeqCst), 40);
}

#[test]
fn a_lock_is_never_taken_through_a_link() {
    let dir = tempdir().unwrap();
    let (target, link) = (dir.path().join("target"), dir.path().join("lock"));
    fs::write(&target, "theirs").unwrap();
    symlink(&target, &link).unwrap();
    assert!(FileLock::try_acquire(&link).is_err());
    assert_eq!(fs::read(&target).unwrap(), b"theirs");
    fs::remove_file(&target).unwrap();
    assert!(FileLock::try_acquire(&link).is_err());
    assert!(!target.exists(), "a dangling link creates nothing");
}

#[test]
fn reading_stops_at_the_limit() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "12345").unwrap();
    assert_eq!(fsx::read_limited(&file, 5).unwrap(), b"12345");
    assert_eq!(fsx::read_limited(&file, u64::MAX).unwrap(), b"12345");
    let error = fsx::read_limited(&file, 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("more than 4 bytes"), "{error}");
    assert_eq!(fsx::read_limited(&dir.path().join("no"), 4).unwrap_err().kind(), ErrorKind::Io);
    // It says that it is empty, and never ends.
    assert!(fsx::read_limited(Path::new("/dev/zero"), 1_000).is_err());
}

#[test]
fn removing_says_whether_there_was_something() {
    let dir = tempdir().unwrap();
    let file = dir.path().join("file");
    assert!(!fsx::remove(&file).unwrap());
    fs::write(&file, "x").unwrap();
    assert!(fsx::remove(&file).unwrap());
    assert!(fsx::remove(dir.path()).is_err(), "a directory is no file");
}
