//! Forgetting: `delete` for one entry, `clear` for a scope, and neither for
//! anything else.

use crate::support::Home;

#[test]
fn delete_removes_one_entry() {
    let home = Home::new();
    home.set("a", "1");
    home.set("b", "2");
    let output = home.cache(&["delete", "--key", "a"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "Deleted entry for key: a\n");
    home.get("a").expect_miss();
    home.get("b").expect_hit("2");
}

#[test]
fn deleting_what_is_not_there_says_so_with_exit_1() {
    let home = Home::new();
    let output = home.cache(&["delete", "--key", "a"]).expect(1);
    assert_eq!(output.stderr, "No entry for key: a\n");
    assert!(!home.recoup().exists(), "nothing was begun");
    home.set("b", "2");
    home.cache(&["delete", "--key", "a"]).expect(1);
}

#[test]
fn clear_needs_a_yes_where_nobody_can_be_asked_and_says_how_many() {
    let home = Home::new();
    for key in ["a", "b", "c"] {
        home.cache(&["set", "--scope", "tenant:t", "--key", key, "--condensed", "1"]).expect(0);
    }
    let refused = |whose: &str, store: &str| {
        format!(
            "nothing was deleted: cannot ask for confirmation without a terminal; repeat the \
             command with --yes to delete all entries of {whose} in {store}\n"
        )
    };
    let store = format!("sqlite:{}", home.db().display());
    home.cache(&["clear", "--scope", "tenant:t"]).expect_usage(&refused("tenant:t", &store));
    home.cache(&["clear"]).expect_usage(&refused("this project", &store));
    let other = format!("sqlite:{}", home.path("other.db").display());
    home.cache(&["clear", "--store", &other]).expect_usage(&refused("this project", &other));
    for key in ["a", "b", "c"] {
        home.cache(&["get", "--scope", "tenant:t", "--key", key]).expect_hit("1");
    }
    let output = home.cache(&["clear", "--scope", "tenant:t", "-y"]).expect(0);
    assert_eq!(output.text(), "");
    assert_eq!(output.stderr, "Removed 3 entries from tenant:t\n");
    let output = home.cache(&["clear", "--scope", "tenant:t", "--yes"]).expect(0);
    assert_eq!(output.stderr, "Removed 0 entries from tenant:t\n");
}

#[test]
fn one_entry_is_one_entry() {
    let home = Home::new();
    home.cache(&["set", "--scope", "global", "--key", "k", "--condensed", "1"]).expect(0);
    let output = home.cache(&["clear", "--scope", "global", "--yes"]).expect(0);
    assert_eq!(output.stderr, "Removed 1 entry from global\n");
}

#[test]
fn clear_keeps_to_its_scope() {
    let home = Home::new();
    for scope in ["project", "global", "tenant:a"] {
        home.cache(&["set", "--scope", scope, "--key", "k", "--condensed", "1"]).expect(0);
    }
    home.cache(&["clear", "--yes"]).expect(0);
    home.get("k").expect_miss();
    home.cache(&["get", "--scope", "global", "--key", "k"]).expect_hit("1");
    home.cache(&["get", "--scope", "tenant:a", "--key", "k"]).expect_hit("1");
}

#[test]
fn clear_removes_large_bodies_and_damaged_entries_too() {
    let home = Home::new();
    let large = format!("\"{}\"", "x".repeat(3 << 20));
    home.run_with_stdin(&["cache", "set", "--key", "k", "--condensed", "-"], large.as_bytes())
        .expect(0);
    home.set("bad", "1");
    home.sql().execute("UPDATE entries SET header = x'00' WHERE key = 'bad'", []).unwrap();
    home.cache(&["clear", "--yes"]).expect(0);
    let sum = "SELECT (SELECT count(*) FROM entries) + (SELECT count(*) FROM chunks)";
    assert_eq!(home.sql().query_row(sum, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn clearing_nothing_begins_nothing() {
    let home = Home::new();
    home.cache(&["clear", "--yes"]).expect(0);
    assert!(!home.recoup().exists());
}
