//! Damaged sources, and databases that a program has open.

use std::fs;

use super::{contents, counts, database, import, note, notes};
use crate::support::Home;

const MEMORIES: &str = "CREATE TABLE memories (key TEXT UNIQUE, value TEXT, type TEXT,
    project_id TEXT, timestamp INTEGER, is_active BOOLEAN DEFAULT 1);";
const RULE: &str = "INSERT INTO memories (key, value, type, timestamp) VALUES
    ('cli_1', '{\"content\":\"use tabs in Go files\",\"source\":\"cli\"}', 'preference', 1775496241485)";

#[test]
fn of_a_truncated_database_nothing_comes_in() {
    let home = Home::new();
    let path = home.path("claude-recall.db");
    let db = database(&path, MEMORIES);
    db.execute_batch(RULE).unwrap();
    let sql = "INSERT INTO memories (key, value, type, timestamp)
               VALUES (?1, '\"' || hex(zeroblob(500)) || '\"', 'preference', 1775496241485)";
    (0..200).for_each(|number| assert_eq!(db.execute(sql, [format!("k{number}")]).unwrap(), 1));
    drop(db);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let output = home.run(&["import", path.to_str().unwrap()]).expect(1);
    assert!(output.stderr.contains("is damaged; nothing of it was imported"), "{}", output.stderr);
    assert_eq!(notes(&home), [serde_json::Value::Null; 0]);
    assert_eq!(fs::read(&path).unwrap(), whole[..whole.len() / 2]);
    fs::write(&path, &whole[..100]).unwrap();
    home.run(&["import", path.to_str().unwrap()]).expect(1);
}

#[test]
fn bad_json_is_named_and_values_that_are_none_stay_out() {
    let home = Home::new();
    let file = home.write("export.json", r#"{"memories": [{"key": "#);
    let output = home.run(&["import", "export.json"]).expect(1);
    assert!(output.stderr.contains("export.json: the JSON can't be read"), "{}", output.stderr);
    fs::remove_file(file).unwrap();
    let path = home.path("claude-recall.db");
    let db = database(&path, MEMORIES);
    db.execute_batch(RULE).unwrap();
    db.execute(
        "INSERT INTO memories (key, value, type, timestamp) VALUES ('k', '{cut', 'x', 1)",
        [],
    )
    .unwrap();
    let done = import(&home, &path, &[]);
    assert_eq!(counts(&done), [1, 0, 0, 1]);
    super::left_out(&done, "k", "its value is not JSON");
}

#[test]
fn a_database_that_a_program_has_open_is_read_with_its_log_and_left_alone() {
    let home = Home::new();
    let dir = home.path(".claude-recall");
    let path = dir.join("claude-recall.db");
    let db = database(&path, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
    db.execute_batch(MEMORIES).unwrap();
    db.execute_batch(RULE).unwrap();
    // Not committed yet: nobody else sees it.
    let open = "BEGIN IMMEDIATE; UPDATE memories SET value = '\"use spaces\"'";
    db.execute_batch(open).unwrap();
    let before = contents(&dir);
    assert_eq!(before.len(), 3, "with a log and its index");
    assert_eq!(counts(&import(&home, &path, &[])), [1, 0, 0, 0]);
    assert_eq!(note(&home, "use tabs in Go files")["status"], "active");
    assert_eq!(contents(&dir), before);
    db.execute_batch("COMMIT").unwrap();
    drop(db);
    // What a program left that was killed: a log without an index.
    for (path, bytes) in &before {
        let is_index = path.to_string_lossy().ends_with("-shm");
        if is_index { drop(fs::remove_file(path)) } else { fs::write(path, bytes).unwrap() }
    }
    let before = contents(&dir);
    assert_eq!(counts(&import(&home, &path, &[])), [0, 0, 1, 0]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn a_transaction_that_was_cut_off_is_undone_in_the_copy() {
    let home = Home::new();
    let path = home.path("db/claude-recall.db");
    let db = database(&path, "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1;");
    db.execute_batch(MEMORIES).unwrap();
    db.execute_batch(RULE).unwrap();
    // The cache spills, so that changed pages are in the file, and the old ones in the journal.
    let fill = "BEGIN; UPDATE memories SET value = '\"use spaces\"';
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO memories (key, value, type, timestamp)
        SELECT 'k' || i, '\"' || hex(zeroblob(200)) || '\"', 'preference', 1 FROM n";
    db.execute_batch(fill).unwrap();
    let copy = home.path("copy");
    fs::create_dir(&copy).unwrap();
    for (from, bytes) in contents(&home.path("db")) {
        fs::write(copy.join(from.file_name().unwrap()), bytes).unwrap();
    }
    drop(db);
    let before = contents(&copy);
    assert_eq!(before.len(), 2, "with a journal");
    let done = import(&home, &copy.join("claude-recall.db"), &[]);
    assert_eq!(counts(&done), [1, 0, 0, 0], "{done:#}");
    assert_eq!(contents(&copy), before);
}
