//! A broken memory is never silently replaced: it is set aside, and what can still be
//! read is taken over.

use std::fs;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::thread;

use recoup_core::ErrorKind;
use recoup_core::memory::HookClient;
use recoup_core::memory::{EventOrigin, NoteFilter};
use rusqlite::Connection;

use super::{Scene, project};

/// With enough notes for many pages, all of them in the file itself.
fn with_many_notes() -> Scene {
    with_notes(300)
}

fn with_notes(count: usize) -> Scene {
    let scene = Scene::new();
    for n in 0..count {
        scene.say(&format!("statement number {n}: {}", "word ".repeat(20)), None);
    }
    let database = Connection::open(scene.path()).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    scene
}

/// A leaf of a table begins with 13.
fn damage_page_with(scene: &Scene, text: &str) {
    let bytes = fs::read(scene.path()).unwrap();
    let holds =
        |page: &[u8]| page[0] == 13 && page.windows(text.len()).any(|part| part == text.as_bytes());
    let number = bytes.chunks(4_096).position(holds).unwrap() as u64;
    let file = fs::OpenOptions::new().write(true).open(scene.path()).unwrap();
    file.write_all_at(&[0xa5; 4_096], number * 4_096).unwrap();
}

fn set_aside(scene: &Scene) -> usize {
    let names = fs::read_dir(scene.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains(".damaged-")).count()
}

#[test]
fn what_can_be_read_of_a_damaged_memory_is_taken_over() {
    let scene = with_many_notes();
    // Two pages with notes: what is between them can only be found one by one.
    for text in ["statement number 100:", "statement number 200:"] {
        damage_page_with(&scene, text);
    }
    let notes = scene.memory().notes(&NoteFilter::default()).unwrap();
    assert!(notes.len() > 250, "{} were taken over", notes.len());
    assert!(notes.iter().any(|note| note.text.starts_with("statement number 150:")));
    assert_eq!(set_aside(&scene), 1);
    let told = scene.faults.take();
    let rescued = |text: &str| text.contains("rows were recovered into a new one");
    assert!(told.iter().any(|(_, _, text)| rescued(text)), "{told:?}");
    scene.say("and it goes on", None);
    assert!(scene.active().contains(&"and it goes on".to_owned()));
}

#[test]
fn a_listing_notices_damage_and_shows_what_was_taken_over() {
    let scene = with_many_notes();
    let bytes = fs::read(scene.path()).unwrap();
    let text = b"statement number 100:";
    let holds = |page: &[u8]| page[0] == 13 && page.windows(text.len()).any(|it| it == text);
    let number = bytes.chunks(4_096).position(holds).unwrap() as u64;
    let file = fs::OpenOptions::new().write(true).open(scene.path()).unwrap();
    file.write_all_at(&[0; 4_096], number * 4_096).unwrap();
    let shown = scene.memory().notes(&NoteFilter::default()).unwrap().len();
    assert!((250..300).contains(&shown), "{shown} were shown");
    assert_eq!(set_aside(&scene), 1);
    assert!(!scene.faults.take().is_empty());
}

/// What the next person is told, wherever that is.
fn told(scene: &Scene) -> Vec<String> {
    let occasion = EventOrigin {
        client: HookClient::ClaudeCode,
        session: "one".to_owned(),
        context: "one".to_owned(),
        scope: project('a'),
    };
    let lines = scene.memory().transact(&occasion, |turn| {
        let lines = turn.take_notices()?;
        Ok(lines)
    });
    lines.unwrap().expect("nothing is paused")
}

#[test]
fn a_memory_that_has_lost_its_beginning_is_taken_over_and_the_user_is_told() {
    // The header alone, or all of the first page.
    for length in [100, 4_096] {
        let scene = with_notes(60);
        let file = fs::OpenOptions::new().write(true).open(scene.path()).unwrap();
        file.write_all_at(&vec![0; length], 0).unwrap();
        drop(file);
        assert_eq!(scene.memory().notes(&NoteFilter::default()).unwrap().len(), 60, "{length}");
        assert_eq!(set_aside(&scene), 1);
        let lines = told(&scene);
        assert_eq!(lines.len(), 1, "{lines:?}");
        let begins = "memory.db was damaged: 60 memories were recovered; the damaged file is in ";
        assert!(lines[0].starts_with(begins), "{lines:?}");
        assert_eq!(told(&scene), [""; 0], "once");
        let left = fs::read_dir(scene.dir.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let left: Vec<_> = left.filter(|it| it.to_string_lossy().contains("mended")).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

/// A copy of a memory that lost something, in a home of its own.
fn with_file(bytes: &[u8]) -> Scene {
    let scene = Scene::new();
    fs::write(scene.path(), bytes).unwrap();
    fs::write(scene.dir.path().join("memory.db.recoup-lock"), "").unwrap();
    scene
}

/// True for bytes of the versions and the application id: if one is changed, the file counts as
/// another program's and is left as it is.
fn is_refused_by(at: usize) -> bool {
    (18..20).contains(&at) || (60..64).contains(&at) || (68..72).contains(&at)
}

#[test]
fn a_flipped_byte_of_the_schema_loses_no_note() {
    let bytes = fs::read(with_notes(40).path()).unwrap();
    for at in (0..4_096).step_by(37).chain(16..30) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x5a;
        let scene = with_file(&damaged);
        match scene.memory().notes(&NoteFilter::default()) {
            Ok(notes) => assert_eq!(notes.len(), 40, "byte {at}"),
            Err(error) => {
                assert!(is_refused_by(at), "byte {at}: {error}");
                assert_eq!(fs::read(scene.path()).unwrap(), damaged, "byte {at}");
            }
        }
    }
}

#[test]
fn a_truncated_memory_keeps_what_is_on_its_remaining_pages() {
    let scene = with_notes(80);
    let bytes = fs::read(scene.path()).unwrap();
    let database = Connection::open(scene.path()).unwrap();
    let mut select = database
        .prepare("SELECT pageno, ncell FROM dbstat WHERE name = 'notes' AND pagetype = 'leaf'")
        .unwrap();
    let leaves = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let leaves: Vec<(u32, u32)> = leaves.map(Result::unwrap).collect();
    assert_eq!(leaves.iter().map(|(_, notes)| notes).sum::<u32>(), 80);
    for pages in 1..bytes.len() / 4_096 {
        let there = leaves.iter().filter(|(number, _)| *number as usize <= pages);
        let there: u32 = there.map(|(_, notes)| notes).sum();
        let scene = with_file(&bytes[..pages * 4_096]);
        let found = scene.memory().notes(&NoteFilter::default()).unwrap().len();
        assert_eq!(found, there as usize, "{pages} pages");
    }
}

#[test]
fn a_memory_that_was_emptied_is_set_aside_and_its_log_is_read() {
    let scene = Scene::new();
    scene.say("said in the log", None);
    fs::OpenOptions::new().write(true).truncate(true).open(scene.path()).unwrap();
    assert!(scene.memory().notes(&NoteFilter::default()).unwrap().is_empty());
    let lines = told(&scene);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let begins = "memory.db was damaged: 1 memory was recovered; ";
    assert!(lines[0].starts_with(begins), "{lines:?}");
    assert_eq!(set_aside(&scene), 1);
    assert_eq!(scene.active(), ["said in the log"]);
}

#[test]
fn a_first_memory_is_no_damaged_one() {
    let scene = Scene::new();
    assert_eq!(told(&scene), [""; 0]);
    assert_eq!(set_aside(&scene), 0);
    // One that was removed on purpose, with its log.
    for name in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{name}", scene.path().display()));
    }
    assert_eq!(told(&scene), [""; 0]);
}

#[test]
fn a_memory_that_is_noise_is_set_aside_and_begun_anew() {
    let scene = with_many_notes();
    fs::write(scene.path(), vec![0x5a; 100_000]).unwrap();
    scene.say("use tabs", None);
    assert_eq!(scene.active(), ["use tabs"]);
    assert_eq!(set_aside(&scene), 1);
}

#[test]
fn a_memory_of_a_newer_version_is_left_alone() {
    let scene = with_many_notes();
    Connection::open(scene.path()).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = scene.memory().notes(&NoteFilter::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooNew);
    assert_eq!(set_aside(&scene), 0);
}

#[test]
fn a_cache_is_no_memory() {
    let scene = Scene::new();
    let other = Connection::open(scene.path()).unwrap();
    other.execute_batch("CREATE TABLE notes (text); PRAGMA application_id = 1382248304; PRAGMA user_version = 1;").unwrap();
    drop(other);
    assert!(scene.memory().notes(&NoteFilter::default()).is_err());
    assert_eq!(set_aside(&scene), 0);
}

#[test]
fn it_is_private_and_a_read_creates_nothing() {
    let scene = Scene::new();
    assert!(scene.memory().notes(&NoteFilter::default()).unwrap().is_empty());
    assert!(!scene.path().exists());
    scene.say("use tabs", None);
    let mode = fs::metadata(scene.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn many_at_once_lose_nothing() {
    let scene = Scene::new();
    thread::scope(|scope| {
        for writer in 0..8 {
            let memory = scene.memory();
            scope.spawn(move || {
                for n in 0..10 {
                    let said = super::stated(&format!("thing {n} of writer {writer}"), None);
                    memory.record(&said).unwrap();
                }
            });
        }
    });
    assert_eq!(scene.active().len(), 80);
}
