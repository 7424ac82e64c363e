//! What is particular to sessions in a directory: the layout that other tools
//! read, who may see it, what is planted there, and what the dead leave behind.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use recoup_core::ErrorKind;
use recoup_core::base::clock::SystemClock;
use recoup_core::early_exit::{DirSessions, EarlyExit, ElectionBid, ElectionOutcome};
use tempfile::TempDir;

use super::places::{answer, lost, name, signal, won};

fn open(dir: &Path) -> EarlyExit {
    EarlyExit::new(Arc::new(DirSessions::at(dir, Arc::new(SystemClock))))
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().permissions().mode() & 0o777
}

fn make_old(path: &Path) {
    let then = SystemTime::now() - Duration::from_hours(25);
    fs::File::open(path).unwrap().set_modified(then).unwrap();
}

#[test]
fn other_tools_find_the_layout_that_they_know_and_nobody_else_may_look() {
    let home = TempDir::new().unwrap();
    let dir = home.path().join("early-exit");
    let sessions = open(&dir);
    sessions.register(&name("s"), &name("a")).unwrap();
    signal(&sessions, "s", "a", None, Some("{}"));
    let read = |path: &str| fs::read_to_string(dir.join("s").join(path)).unwrap();
    assert!(dir.join("s/WINNER").is_dir());
    assert_eq!(read("winner_agent"), "a\n");
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    for time in ["signal_time", "agents/a"] {
        assert!(now.abs_diff(read(time).trim_end().parse().unwrap()) < 60);
    }
    assert_eq!(read("results/a.json"), "{}");
    for path in ["", "s", "s/WINNER", "s/agents", "s/results", "+locks", "+tmp"] {
        assert_eq!(mode(&dir.join(path)), 0o700, "{path}");
    }
    for path in ["winner_agent", "signal_time", "agents/a", "results/a.json", "WINNER/winner.json"]
    {
        assert_eq!(mode(&dir.join("s").join(path)), 0o600, "{path}");
    }
    for left in ["+locks", "+tmp"] {
        assert_eq!(fs::read_dir(dir.join(left)).unwrap().count(), 0, "{left}");
    }
}

#[test]
fn a_winner_that_another_tool_elected_counts() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    fs::create_dir_all(dir.path().join("s/WINNER")).unwrap();
    assert_eq!(answer(&sessions, "s"), won("unknown", None));
    fs::write(dir.path().join("s/winner_agent"), "theirs\n").unwrap();
    assert_eq!(signal(&sessions, "s", "ours", None, Some("1")), lost("theirs"));
    fs::create_dir(dir.path().join("s/results")).unwrap();
    fs::write(dir.path().join("s/results/theirs.json"), "2").unwrap();
    assert_eq!(answer(&sessions, "s"), won("theirs", Some("2")));
    fs::write(dir.path().join("s/winner_agent"), "../../evil\n").unwrap();
    assert_eq!(answer(&sessions, "s"), won("unknown", None));
}

#[test]
fn links_are_not_followed_out_of_the_directory() {
    let home = TempDir::new().unwrap();
    let (dir, outside) = (home.path().join("early-exit"), home.path().join("outside"));
    let sessions = open(&dir);
    fs::create_dir_all(outside.join("results")).unwrap();
    fs::write(outside.join("results/a.json"), "theirs").unwrap();
    fs::create_dir_all(&dir).unwrap();
    symlink(&outside, dir.join("linked")).unwrap();
    let refused = |session: &str| {
        let (session, agent) = (name(session), name("a"));
        for error in [
            sessions.register(&session, &agent).unwrap_err(),
            sessions.write_result(&session, &agent, b"1").unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("symbolic link"), "{error}");
        }
    };
    refused("linked");
    sessions.remove(&name("linked")).unwrap_err();
    sessions.winner(&name("linked")).unwrap_err();
    fs::create_dir(dir.join("s")).unwrap();
    symlink(&outside, dir.join("s/agents")).unwrap();
    symlink(outside.join("results"), dir.join("s/results")).unwrap();
    refused("s");
    let agent = name("b");
    let bid = ElectionBid { agent: &agent, lease: Some(1), result: None };
    let error = sessions.signal(&name("s"), bid).unwrap_err();
    assert!(error.to_string().contains("symbolic link"), "{error}");
    assert!(!dir.join("s/WINNER").exists(), "nobody wins where no result can be");
    assert_eq!(fs::read_to_string(outside.join("results/a.json")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(outside).unwrap().count(), 1);
    // A file that is a link is replaced, or is no result.
    signal(&sessions, "t", "a", None, None);
    fs::create_dir(dir.join("t/results")).unwrap();
    symlink("/etc/hostname", dir.join("t/results/a.json")).unwrap();
    assert_eq!(answer(&sessions, "t"), won("a", None));
    assert_eq!(sessions.status(&name("t")).unwrap().unwrap().results, []);
    sessions.write_result(&name("t"), &name("a"), b"1").unwrap();
    assert_eq!(answer(&sessions, "t"), won("a", Some("1")));
}

#[test]
fn sessions_that_nobody_uses_are_removed_while_others_are_used() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    for n in 0..5 {
        signal(&sessions, &format!("old{n}"), "a", None, Some("1"));
        for part in ["results", "WINNER", ""] {
            make_old(&dir.path().join(format!("old{n}")).join(part));
        }
    }
    for left in [".recoup-a1B2c3", "01abcdefghjkmnpqrstvwxyz01", "somebodys"] {
        fs::write(dir.path().join("+tmp").join(left), "by the dead").unwrap();
        make_old(&dir.path().join("+tmp").join(left));
    }
    signal(&sessions, "young", "a", None, Some("1"));
    assert!(dir.path().join("old1").exists(), "nobody looks more than once an hour");
    make_old(&dir.path().join("+swept"));
    signal(&sessions, "new", "a", None, None);
    let mut left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["+locks", "+swept", "+tmp", "new", "young"]);
    let left: Vec<_> = fs::read_dir(dir.path().join("+tmp")).unwrap().collect();
    assert_eq!(left.len(), 1, "only what we make is ours to remove");
    assert_eq!(left[0].as_ref().unwrap().file_name(), "somebodys");
}

#[test]
fn whoever_dies_before_the_last_step_has_not_won() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    // As a signal leaves it that was killed right before its rename.
    sessions.write_result(&name("s"), &name("dead"), b"1").unwrap();
    fs::write(dir.path().join("s/winner_agent"), "dead\n").unwrap();
    fs::create_dir(dir.path().join("+tmp/prepared")).unwrap();
    fs::write(dir.path().join("+locks/s"), "").unwrap();
    assert_eq!(answer(&sessions, "s"), None);
    assert_eq!(signal(&sessions, "s", "next", None, Some("2")), ElectionOutcome::Won);
    assert_eq!(answer(&sessions, "s"), won("next", Some("2")));
    assert_eq!(fs::read_to_string(dir.path().join("s/winner_agent")).unwrap(), "next\n");
}

#[test]
fn a_file_in_the_place_of_a_session_is_somebodys_and_stays() {
    let dir = TempDir::new().unwrap();
    fs::write(dir.path().join("notes"), "mine").unwrap();
    let sessions = open(dir.path());
    let error = sessions.register(&name("notes"), &name("a")).unwrap_err();
    assert!(error.to_string().contains("is not a directory"), "{error}");
    sessions.remove(&name("notes")).unwrap_err();
    assert_eq!(sessions.list().unwrap(), []);
    assert_eq!(fs::read_to_string(dir.path().join("notes")).unwrap(), "mine");
}

#[test]
fn a_directory_with_anything_else_in_it_is_neither_used_nor_removed() {
    let dir = TempDir::new().unwrap();
    let sessions = open(dir.path());
    for (name, file) in [("p1", "main.rs"), ("p2", "results/2026/a.json"), ("p3", ".git/HEAD")] {
        let file = dir.path().join(name).join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        make_old(&dir.path().join(name));
        make_old(file.parent().unwrap());
    }
    make_old(&dir.path().join("p2/results"));
    // Also when everybody looks for what is old.
    signal(&sessions, "s", "a", None, None);
    for project in ["p1", "p2", "p3"] {
        let session = name(project);
        for error in [
            sessions.register(&session, &name("a")).unwrap_err(),
            sessions.remove(&session).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.to_string().contains("is not an early-exit session"), "{error}");
        }
    }
    assert_eq!(fs::read_to_string(dir.path().join("p2/results/2026/a.json")).unwrap(), "mine");
    for (project, entries) in [("p1", 1), ("p2", 1), ("p3", 1)] {
        assert_eq!(fs::read_dir(dir.path().join(project)).unwrap().count(), entries);
    }
}
