//! Directories that are somebody else's, in a directory that is not ours alone.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use recoup_core::ErrorKind;
use recoup_core::base::clock::SystemClock;
use recoup_core::early_exit::{DirSessions, EarlyExit, ElectionOutcome};
use tempfile::TempDir;

use super::places::{answer, lost, name, signal, won};

fn open(dir: &Path) -> EarlyExit {
    EarlyExit::new(Arc::new(DirSessions::at(dir, Arc::new(SystemClock))))
}

/// All of it, with what is in it.
fn make_old(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            make_old(&entry.unwrap().path());
        }
    }
    let then = SystemTime::now() - Duration::from_hours(48);
    fs::File::open(path).unwrap().set_modified(then).unwrap();
}

fn write(dir: &Path, file: &str) {
    let file = dir.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "mine").unwrap();
}

const PRECIOUS: [&str; 6] = [
    "exp1/results/run1.csv", "exp1/agents/planner.py", ".cfg/results/z", "plots/results/fig.json",
    "won/WINNER/photo.png", "notes/winner_agent",
];

#[test]
fn what_is_old_and_not_ours_is_never_swept_and_never_listed() {
    let dir = TempDir::new().unwrap();
    for file in PRECIOUS {
        write(dir.path(), file);
    }
    fs::create_dir(dir.path().join("empty")).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        make_old(&entry.unwrap().path());
    }
    let sessions = open(dir.path());
    sessions.register(&name("new-session"), &name("me")).unwrap();
    signal(&sessions, "another", "me", None, None);
    fs::remove_file(dir.path().join("+swept")).unwrap();
    signal(&sessions, "third", "me", None, None);
    for file in PRECIOUS {
        assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), "mine", "{file}");
    }
    assert!(dir.path().join("empty").is_dir());
    let listed = sessions.list().unwrap();
    assert_eq!(listed, [name("another"), name("new-session"), name("third")]);
}

#[test]
fn what_may_be_anything_else_is_not_cleaned_up_when_it_is_named_either() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    let files = ["exp3/results/fig.png", "a/agents/plan ner", "w/WINNER/x", "n/winner_agent"];
    for file in files {
        write(dir.path(), file);
    }
    fs::create_dir(dir.path().join("empty")).unwrap();
    for session in ["exp3", "a", "w", "n", "empty"] {
        let error = sessions.remove(&name(session)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("is not an early-exit session"), "{error}");
        assert_eq!(sessions.status(&name(session)).unwrap(), None, "{session}");
    }
    for file in files {
        assert!(dir.path().join(file).is_file(), "{file}");
    }
    // Something was put into one of ours since.
    signal(&sessions, "ours", "a", None, Some("1"));
    write(dir.path(), "ours/results/mine.csv");
    sessions.remove(&name("ours")).unwrap_err();
    assert!(dir.path().join("ours/results/mine.csv").is_file());
}

#[test]
fn a_session_of_another_tool_is_used_and_removed_by_name_only() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    for part in ["agents", "results"] {
        fs::create_dir_all(dir.path().join("s").join(part)).unwrap();
    }
    fs::write(dir.path().join("s/agents/theirs"), "").unwrap();
    sessions.register(&name("s"), &name("ours")).unwrap();
    assert_eq!(signal(&sessions, "s", "ours", None, Some("1")), ElectionOutcome::Won);
    assert_eq!(signal(&sessions, "s", "theirs", None, None), lost("ours"));
    assert_eq!(answer(&sessions, "s"), won("ours", Some("1")));
    make_old(&dir.path().join("s"));
    assert_eq!(answer(&sessions, "s"), None);
    // Neither removed, nor brought to life again with what is in it.
    let error = sessions.register(&name("s"), &name("late")).unwrap_err();
    assert!(error.to_string().contains("cleanup s"), "{error}");
    assert!(dir.path().join("s/results/ours.json").is_file());
    assert!(sessions.remove(&name("s")).unwrap());
    assert!(!dir.path().join("s").exists());
    sessions.register(&name("s"), &name("late")).unwrap();
    assert_eq!(sessions.list().unwrap(), [name("s")]);
}
