//! Snapshots: one a day, three of them, private, and what recovery takes from them.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::time::Duration;

use recoup_core::memory::HookClient;
use recoup_core::memory::{
    EventOrigin, MemoryEventKind, NoteFilter, NoteId, NoteStatus, snapshots_of,
};
use rusqlite::Connection;

use super::{Scene, project, stated};

const DAY: Duration = Duration::from_hours(24);

fn dates(scene: &Scene) -> Vec<String> {
    snapshots_of(&scene.path()).into_iter().map(|it| it.date).collect()
}

fn occasion() -> EventOrigin {
    let (session, context) = ("one".to_owned(), "one".to_owned());
    EventOrigin { client: HookClient::ClaudeCode, session, context, scope: project('a') }
}

fn told(scene: &Scene) -> Vec<String> {
    let lines = scene.memory().transact(&occasion(), |turn| {
        let lines = turn.take_notices()?;
        Ok(lines)
    });
    lines.unwrap().expect("nothing is paused")
}

fn fold_log(scene: &Scene) {
    let database = Connection::open(scene.path()).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

/// Overwrites the page of a table that holds this text.
fn damage_page_with(scene: &Scene, text: &str) {
    fold_log(scene);
    let bytes = fs::read(scene.path()).unwrap();
    let holds =
        |page: &[u8]| page[0] == 13 && page.windows(text.len()).any(|part| part == text.as_bytes());
    let pages = bytes.chunks(4_096).enumerate().filter(|(_, page)| holds(page));
    let file = fs::OpenOptions::new().write(true).open(scene.path()).unwrap();
    for (number, _) in pages {
        file.write_all_at(&[0xa5; 4_096], number as u64 * 4_096).unwrap();
    }
}

#[test]
fn one_is_made_each_day_and_the_newest_three_are_kept() {
    let scene = Scene::new();
    assert_eq!(scene.memory().snapshot_daily().unwrap(), None, "nothing is remembered");
    assert!(!scene.dir.path().join("snapshots").exists());
    scene.say("use tabs", None);
    let mut made = Vec::new();
    for _ in 0..5 {
        made.push(scene.memory().snapshot_daily().unwrap().expect("one is due"));
        assert_eq!(scene.memory().snapshot_daily().unwrap(), None, "once a day");
        scene.clock.advance(DAY);
    }
    assert_eq!(dates(&scene).len(), 3);
    assert_eq!(snapshots_of(&scene.path())[0].path, *made.last().unwrap(), "the newest first");
    for path in &made[2..] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let dir = fs::metadata(scene.dir.path().join("snapshots")).unwrap();
    assert_eq!(dir.permissions().mode() & 0o777, 0o700);
    assert_eq!(fs::read_dir(scene.dir.path().join("snapshots")).unwrap().count(), 3);
}

#[test]
fn what_clients_reported_is_not_in_it() {
    let scene = Scene::new();
    scene.say("use tabs", None);
    let of = recoup_core::memory::EventDetails { detail: Some("a wombat"), ..Default::default() };
    let happened = scene
        .memory()
        .transact(&occasion(), |turn| turn.record_event(MemoryEventKind::Prompted, of));
    happened.unwrap().unwrap();
    let snapshot = scene.memory().snapshot_daily().unwrap().unwrap();
    let bytes = fs::read(&snapshot).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"wombat"));
    let copy = Connection::open(&snapshot).unwrap();
    let notes: i64 = copy.query_row("SELECT count(*) FROM notes", [], |row| row.get(0)).unwrap();
    assert_eq!(notes, 1);
}

#[test]
fn what_only_the_snapshot_has_is_taken_from_it_and_told() {
    let scene = Scene::new();
    for n in 0..100 {
        scene.say(&format!("statement number {n}: {}", "word ".repeat(20)), None);
    }
    scene.memory().snapshot_daily().unwrap().unwrap();
    scene.say("said after the snapshot", None);
    damage_page_with(&scene, "statement number 50:");
    let notes = scene.memory().notes(&NoteFilter::default()).unwrap();
    assert_eq!(notes.len(), 101);
    assert!(notes.iter().any(|note| note.text == "said after the snapshot"));
    let lines = told(&scene).join("\n");
    let date = &dates(&scene)[0];
    assert!(lines.contains("101 memories were recovered, "), "{lines}");
    assert!(lines.contains(&format!(" of them from the snapshot of {date}; ")), "{lines}");
    let hit = scene
        .memory()
        .search(&recoup_core::memory::recall::search::SearchQuery::new("statement 50"));
    assert!(!hit.unwrap().is_empty(), "search knows them, too");
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_an_older_one() {
    let scene = Scene::new();
    scene.say("use tabs", None);
    scene.memory().snapshot_daily().unwrap().unwrap();
    scene.clock.advance(DAY);
    let newest = scene.memory().snapshot_daily().unwrap().unwrap();
    let file = fs::OpenOptions::new().write(true).open(newest).unwrap();
    file.write_all_at(&[0xa5; 12_000], 100).unwrap();
    fs::write(scene.path(), vec![0x5a; 20_000]).unwrap();
    assert_eq!(scene.active(), ["use tabs"]);
}

/// Notes retired, replaced or forgotten since the snapshot stay so.
#[test]
fn a_snapshot_brings_nothing_back_that_was_given_up() {
    let scene = Scene::new();
    let id = |text: &str| -> NoteId { scene.find(text).id };
    for text in ["retired since", "forgotten since", "a wombat in the fridge"] {
        scene.say(text, None);
    }
    scene.say("use tabs", Some("indentation"));
    scene.memory().snapshot_daily().unwrap().unwrap();
    scene.pass();
    scene.memory().retire(&id("retired since")).unwrap();
    let forgotten = scene.memory().forget(&[id("forgotten since")]).unwrap();
    assert_eq!(forgotten.copies.len(), 1, "{forgotten:?}");
    assert_eq!(forgotten.unreached.len(), 0);
    for file in fs::read_dir(scene.dir.path().join("snapshots")).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(15).any(|part| part.eq_ignore_ascii_case(b"forgotten since")));
    }
    // So many that the new ones are on another page.
    for n in 0..60 {
        scene.say(&format!("statement number {n}: {}", "word ".repeat(20)), None);
    }
    scene.say("use spaces", Some("indentation"));
    damage_page_with(&scene, "a wombat in the fridge");
    let notes = scene.memory().notes(&NoteFilter::default()).unwrap();
    let status = |text: &str| notes.iter().find(|note| note.text == text).map(|it| it.status);
    assert_eq!(status("a wombat in the fridge"), Some(NoteStatus::Active));
    assert_eq!(status("retired since"), Some(NoteStatus::Retired));
    assert_eq!(status("forgotten since"), None);
    assert_eq!(status("use tabs"), Some(NoteStatus::Superseded));
    assert_eq!(status("use spaces"), Some(NoteStatus::Active));
}

#[test]
fn a_log_that_was_cut_off_is_told_once() {
    for by_upkeep in [true, false] {
        let scene = Scene::new();
        scene.say("in the file", None);
        fold_log(&scene);
        // Few: a log of many is folded by who writes it.
        for n in 0..3 {
            scene.say(&format!("in the log {n}"), None);
        }
        let log = scene.dir.path().join("memory.db-wal");
        let bytes = fs::read(&log).unwrap();
        fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
        // As after a crash of the machine.
        fs::remove_file(scene.dir.path().join("memory.db-shm")).unwrap();
        let left = scene.active().len();
        assert!((1..4).contains(&left), "{left} {}", bytes.len());
        if by_upkeep {
            scene.memory().run_maintenance().unwrap();
        } else {
            scene.memory().record(&stated("said since", None)).unwrap();
        }
        let lines = told(&scene);
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("the log of memory.db was truncated, "), "{lines:?}");
        scene.memory().run_maintenance().unwrap();
        scene.say("and more", None);
        assert_eq!(told(&scene), [""; 0], "once");
    }
}

#[test]
fn no_loss_is_told_where_there_is_none() {
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let memory = scene.memory();
            scope.spawn(move || {
                for n in 0..10 {
                    let said = stated(&format!("thing {n} of writer {writer}"), None);
                    memory.record(&said).unwrap();
                }
            });
        }
    });
    scene.memory().run_maintenance().unwrap();
    assert_eq!(told(&scene), [""; 0]);
    // One that was removed on purpose is begun again.
    for name in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{name}", scene.path().display()));
    }
    scene.say("use tabs", None);
    scene.memory().run_maintenance().unwrap();
    assert_eq!(told(&scene), [""; 0]);
}

#[test]
fn what_an_ended_snapshot_of_an_earlier_day_has_left_is_removed() {
    let scene = Scene::new();
    scene.say("use tabs", None);
    let dir = scene.dir.path().join("snapshots");
    fs::create_dir(&dir).unwrap();
    for name in ["memory-2020-01-01.db.part", "memory-2020-01-01.db.part-journal", "mine.txt"] {
        fs::write(dir.join(name), "left").unwrap();
    }
    let made = scene.memory().snapshot_daily().unwrap().unwrap();
    let mut left: Vec<_> = fs::read_dir(&dir).unwrap().map(|it| it.unwrap().path()).collect();
    left.sort();
    assert_eq!(left, [made, dir.join("mine.txt")]);
}

/// Somebody finishes a snapshot while `forget` waits for them.
#[test]
fn forgetting_reaches_a_snapshot_that_is_finished_meanwhile() {
    let scene = Scene::new();
    scene.say("a wombat in the fridge", None);
    let whole = scene.memory().snapshot_daily().unwrap().unwrap();
    let part = whole.with_extension("db.part");
    fs::rename(&whole, &part).unwrap();
    let lock = recoup_core::store::sqlite::lock_path(&scene.path());
    let held = fs::OpenOptions::new().read(true).write(true).open(lock).unwrap();
    held.lock().unwrap();
    let id = scene.find("a wombat in the fridge").id;
    let forgotten = std::thread::scope(|scope| {
        let memory = scene.memory();
        let forgetting = scope.spawn(move || memory.forget(&[id]).unwrap());
        // The notes are gone: it waits for the lock, or is about to.
        while !scene.active().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(200));
        fs::rename(&part, &whole).unwrap();
        held.unlock().unwrap();
        forgetting.join().unwrap()
    });
    assert_eq!((forgotten.copies, forgotten.unreached), (vec![whole.clone()], Vec::new()));
    let bytes = fs::read(&whole).unwrap();
    assert!(!bytes.windows(6).any(|part| part == b"wombat"));
}
