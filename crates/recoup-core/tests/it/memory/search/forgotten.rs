//! What is taken out of the index leaves nothing in its file.

use recoup_core::memory::recall::search;
use rusqlite::Connection;
use tempfile::TempDir;

use super::Memory;

/// A memory in a file.
fn in_file(dir: &TempDir) -> Memory {
    let path = dir.path().join("memory.db");
    search::open_in_memory().unwrap().execute("VACUUM INTO ?1", [path.to_str().unwrap()]).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA secure_delete = ON").unwrap();
    Memory(connection)
}

fn file_holds(dir: &TempDir, word: &str) -> bool {
    let bytes = std::fs::read(dir.path().join("memory.db")).unwrap();
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn a_removed_note_is_gone_from_the_file() {
    let dir = TempDir::new().unwrap();
    let memory = in_file(&dir);
    for row in 1..400 {
        memory.add(row, &format!("note {row} about the deployment of service {}", row * 7));
    }
    memory.add(400, "the code word is xylophonist");
    for row in 401..500 {
        memory.add(row, &format!("another note {row}"));
    }
    assert!(file_holds(&dir, "xylophonist") && memory.find("xylophonist") == [400]);
    memory.0.execute("DELETE FROM notes WHERE row = 400", []).unwrap();
    search::unindex_note(&memory.0, 400).unwrap();
    assert_eq!(memory.find("xylophonist"), [0_i64; 0]);
    for part in ["xylophonist", "~xyloph", "^xyloph", "ylophon"] {
        assert!(!file_holds(&dir, part), "{part}");
    }
    assert_eq!(memory.find("deployment of service 7")[0], 1);
}

#[test]
fn what_a_note_said_before_is_gone_as_well() {
    let dir = TempDir::new().unwrap();
    let memory = in_file(&dir);
    memory.add(1, "the code word is xylophonist");
    memory.set(1, "text", "there is none");
    search::index_note(&memory.0, 1, "there is none", None).unwrap();
    assert!(!file_holds(&dir, "ylophon"));
}

#[test]
fn removing_what_is_not_there_is_nothing() {
    let memory = Memory::of(["use tabs"]);
    search::unindex_note(&memory.0, 99).unwrap();
    assert_eq!(memory.find("tabs"), [1]);
}
