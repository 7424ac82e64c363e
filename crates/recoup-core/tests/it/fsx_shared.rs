//! Files that several programs replace and remove, and what is no regular file.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use recoup_core::base::fsx::{self, Found, Stamp};
use tempfile::tempdir;

fn stamp(path: &Path) -> Stamp {
    match fsx::look_at(path).unwrap() {
        Found::Regular(file) => file.stamp(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_the_file_that_was_meant_is_removed() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fsx::replace(&path, b"old").unwrap();
    let old = stamp(&path);
    fsx::replace(&path, b"new").unwrap();
    for remove in [fsx::remove_same, fsx::try_remove_same] {
        assert!(!remove(&path, old).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let new = stamp(&path);
        assert!(remove(&path, new).unwrap());
        assert!(!remove(&path, new).unwrap(), "it is gone");
        fsx::replace(&path, b"new").unwrap();
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_file_that_was_changed_in_place_is_another() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "old").unwrap();
    let old = stamp(&path);
    fs::write(&path, "longer").unwrap();
    assert!(!fsx::remove_same(&path, old).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"longer");
}

#[test]
fn whoever_does_not_wait_leaves_a_busy_directory_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fsx::replace(&path, b"x").unwrap();
    let busy = fs::File::open(dir.path()).unwrap();
    busy.lock_shared().unwrap();
    assert!(!fsx::try_remove_same(&path, stamp(&path)).unwrap());
    fsx::replace(&path, b"y").unwrap();
    drop(busy);
    assert!(fsx::try_remove_same(&path, stamp(&path)).unwrap());
}

#[test]
fn temporary_names_are_told_from_others() {
    assert_eq!(fsx::temporary_for("a.json.tmpAbC123"), Some("a.json"));
    assert_eq!(fsx::temporary_for("a.tmp123456.tmpAbC123"), Some("a.tmp123456"));
    for name in ["a.json", "a.json.tmp", "a.json.tmpAbC12", "a.json.tmpAbC1234", "a.tmp.bC123"] {
        assert_eq!(fsx::temporary_for(name), None, "{name}");
    }
}

#[test]
fn what_is_no_regular_file_is_something_else() {
    let dir = tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    assert!(matches!(fsx::look_at(&at("missing")).unwrap(), Found::Nothing));
    fs::write(at("file"), "x").unwrap();
    assert!(matches!(fsx::look_at(&at("file").join("below")).unwrap(), Found::Nothing));
    symlink(at("file"), at("link")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    for name in ["", "link", "socket"] {
        assert!(matches!(fsx::look_at(&at(name)).unwrap(), Found::Other), "{name:?}");
        fsx::change_end(&at(name), 1, |_| Some(b"y".to_vec())).unwrap();
    }
    assert_eq!(fs::read(at("file")).unwrap(), b"x");
}

#[test]
fn the_end_of_a_file_is_read_and_changed_in_place() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "0123456789").unwrap();
    let Found::Regular(file) = fsx::look_at(&path).unwrap() else { panic!() };
    assert_eq!(file.read_end(3).unwrap(), b"789");
    assert_eq!(file.read_end(100).unwrap(), b"0123456789");
    assert_eq!((file.read().unwrap(), file.size()), (b"0123456789".to_vec(), 10));
    fsx::change_end(&path, 4, |end| Some(end.to_ascii_uppercase())).unwrap();
    fsx::change_end(&path, 2, |_| Some(b"xy".to_vec())).unwrap();
    fsx::change_end(&path, 2, |_| None).unwrap();
    fsx::change_end(&path, 2, |_| Some(b"too long".to_vec())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"01234567xy");
    fsx::change_end(&dir.path().join("missing"), 2, |_| Some(b"xy".to_vec())).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}
