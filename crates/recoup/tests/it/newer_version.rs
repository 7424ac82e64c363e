//! A database from a newer version is left exactly as it is.

use std::fs;

use crate::support::Home;

#[test]
fn a_newer_database_is_not_touched() {
    let home = Home::new();
    home.set("k", "1");
    home.sql().execute_batch("PRAGMA user_version = 99").unwrap();
    home.checkpoint();
    let before = fs::read(home.db()).unwrap();

    let output = home.get("k").expect_miss();
    assert!(output.stderr.starts_with("warning: "), "{}", output.stderr);
    assert!(output.stderr.contains("made by a newer version of recoup"), "{}", output.stderr);
    assert!(output.stderr.contains("hint: upgrade recoup"), "{}", output.stderr);
    for args in [
        &["set", "--key", "k", "--condensed", "2"][..],
        &["delete", "--key", "k"],
        &["clear", "--yes"],
        &["ls"],
        &["show", "--key", "k"],
    ] {
        home.cache(args).expect_failure("made by a newer version of recoup");
    }
    assert!(fs::read(home.db()).unwrap() == before);
    assert_eq!(home.set_aside().len(), 0);
}

#[test]
fn an_entry_from_a_newer_version_is_a_miss_and_stays() {
    let home = Home::new();
    home.set("k", "1");
    let newer = "UPDATE entries SET header = CAST(replace(CAST(header AS TEXT),
                 '\"format\":1', '\"format\":9') AS BLOB)";
    assert_eq!(home.sql().execute(newer, []).unwrap(), 1);
    let output = home.get("k").expect_miss();
    assert!(output.stderr.contains("made by a newer version"), "{}", output.stderr);
    home.set("other", "1");
    let left: i64 =
        home.sql().query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 2);
}
