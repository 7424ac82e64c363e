//! Files that several programs replace and remove, and what is no regular file.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;

use recoup_core::ErrorKind;
use recoup_core::base::fsx::{self, FileLookup, FileVersionStamp};
use recoup_core::error::IoContext as _;
use tempfile::tempdir;

fn stamp(path: &Path) -> FileVersionStamp {
    match fsx::open_regular(path).unwrap() {
        FileLookup::Regular(file) => file.stamp(),
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
    for remove in [fsx::remove_if_unchanged, fsx::try_remove_if_unchanged] {
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
    assert!(!fsx::remove_if_unchanged(&path, old).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"longer");
}

#[test]
fn whoever_does_not_wait_leaves_a_busy_directory_alone() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fsx::replace(&path, b"x").unwrap();
    let busy = fs::File::open(dir.path()).unwrap();
    busy.lock_shared().unwrap();
    assert!(!fsx::try_remove_if_unchanged(&path, stamp(&path)).unwrap());
    fsx::replace(&path, b"y").unwrap();
    drop(busy);
    assert!(fsx::try_remove_if_unchanged(&path, stamp(&path)).unwrap());
}

#[test]
fn temporary_names_are_told_from_others() {
    let made = "a.json.tmp-recoup-AbC12345";
    assert_eq!(fsx::temporary_target(made), Some("a.json"));
    assert_eq!(fsx::temporary_target(&format!("{made}.tmp-recoup-AbC12345")), Some(made));
    for name in [
        "a.json", "a.json.tmp", "a.json.tmpbackup", "a.json.tmp-recoup-AbC1234",
        "a.json.tmp-recoup-AbC123456", "a.json.tmp-recoup-AbC-2345",
    ] {
        assert_eq!(fsx::temporary_target(name), None, "{name}");
    }
    assert!(fsx::is_hidden_temporary(".recoup-AbC123"));
    for name in [".recoup", ".recoup-AbC12", ".recoup-AbC1234", ".recoup-AbC.23", "x.recoup-AbC123"]
    {
        assert!(!fsx::is_hidden_temporary(name), "{name}");
    }
}

#[test]
fn what_is_no_regular_file_is_something_else() {
    let dir = tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    assert!(matches!(fsx::open_regular(&at("missing")).unwrap(), FileLookup::Nothing));
    fs::write(at("file"), "x").unwrap();
    assert!(fsx::open_regular(&at("file").join("below")).is_err(), "a file is no empty directory");
    symlink(at("file"), at("link")).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    for name in ["", "link", "socket"] {
        assert!(matches!(fsx::open_regular(&at(name)).unwrap(), FileLookup::Other), "{name:?}");
        fsx::rewrite_tail(&at(name), 1, |_| Some(b"y".to_vec())).unwrap();
    }
    assert_eq!(fs::read(at("file")).unwrap(), b"x");
}

#[test]
fn the_end_of_a_file_is_read_and_changed_in_place() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "0123456789").unwrap();
    let FileLookup::Regular(file) = fsx::open_regular(&path).unwrap() else { panic!() };
    assert_eq!(file.read_end(3).unwrap(), b"789");
    assert_eq!(file.read_end(100).unwrap(), b"0123456789");
    assert_eq!((file.read().unwrap(), file.size()), (b"0123456789".to_vec(), 10));
    fsx::rewrite_tail(&path, 4, |end| Some(end.to_ascii_uppercase())).unwrap();
    fsx::rewrite_tail(&path, 2, |_| Some(b"xy".to_vec())).unwrap();
    fsx::rewrite_tail(&path, 2, |_| None).unwrap();
    fsx::rewrite_tail(&path, 2, |_| Some(b"too long".to_vec())).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"01234567xy");
    fsx::rewrite_tail(&dir.path().join("missing"), 2, |_| Some(b"xy".to_vec())).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn what_comes_while_one_looks_is_looked_at_too() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "mine").unwrap();
    let mut seen = Vec::new();
    fsx::replace_if(&path, b"new", || {
        seen.push(fs::read_to_string(&path).unwrap());
        fs::write(&path, "changed").unwrap();
        if seen.len() > 1 { Err(recoup_core::Error::usage("no")) } else { Ok(()) }
    })
    .unwrap_err();
    assert_eq!(seen, ["mine", "changed"]);
    seen.clear();
    let removed = fsx::remove_if(&path, || {
        seen.push(fs::read_to_string(&path).unwrap());
        fs::write(&path, "and again").unwrap();
        Ok(seen.len() == 1)
    });
    assert!(!removed.unwrap());
    assert_eq!(seen, ["changed", "and again"]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_file_that_others_never_leave_alone_is_given_up() {
    let dir = tempdir().unwrap();
    let path = dir.path().join("file");
    let mut text = String::new();
    let mut change = || {
        text.push('x');
        fs::write(&path, &text).unwrap();
    };
    let kind = |error: recoup_core::Error| error.kind();
    let replaced = fsx::replace_if(&path, b"new", || {
        change();
        Ok(())
    });
    assert_eq!(replaced.map_err(kind), Err(ErrorKind::Locked));
    let removed = fsx::remove_if(&path, || {
        change();
        Ok(true)
    });
    assert_eq!(removed.map_err(kind), Err(ErrorKind::Locked));
}

/// As root everything may be written, so the errors are made here.
#[test]
fn without_permission_to_write_a_store_can_only_be_read() {
    let denied = || Err::<(), _>(io::Error::from(io::ErrorKind::PermissionDenied));
    let kind = |result: recoup_core::Result<()>| result.unwrap_err().kind();
    assert_eq!(kind(denied().with_write_context(String::new)), ErrorKind::ReadOnly);
    assert_eq!(kind(denied().with_context(String::new)), ErrorKind::Io);
    let full = Err(io::Error::from(io::ErrorKind::StorageFull));
    assert_eq!(kind(full.with_write_context(String::new)), ErrorKind::Full);
}
