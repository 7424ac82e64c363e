//! A large cache of an earlier version: it is sound as its first writer leaves it, and a clean-up
//! completes it.

use crate::support::Home;

/// The tables of version 2.
const VERSION_2: &str = "
    DROP TRIGGER marks_out;
    DROP TRIGGER marks_replaced;
    DROP TRIGGER entries_unmarked;
    DROP INDEX entries_recent;
    DROP INDEX entries_served;
    DROP INDEX entries_marks;
    DROP INDEX entries_without_marks;
    DROP TABLE mark_sets;
    ALTER TABLE entries DROP COLUMN mark_set;
    ALTER TABLE entries DROP COLUMN marked_at;
    PRAGMA user_version = 2;";

fn count(home: &Home, what: &str) -> i64 {
    home.sql().query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn a_large_cache_of_an_earlier_version_is_sound_before_and_after_it_is_completed() {
    const DEFERRED: &str = "sqlite_schema WHERE name IN ('entries_recent', 'entries_served',
        'entries_marks', 'entries_without_marks', 'marks_out', 'marks_replaced')";
    let home = Home::new();
    home.set("k", "1");
    home.multiply(20_001);
    home.sql().execute_batch(VERSION_2).unwrap();
    home.set("new", "2");
    assert_eq!(count(&home, "pragma_user_version WHERE user_version = 3"), 1);
    assert_eq!(count(&home, DEFERRED), 0, "too many entries to index them at once");
    let entries = count(&home, "entries");
    assert!(entries > 20_000, "{entries}");
    let works = || {
        home.cache(&["verify", "--repair"]).expect(0);
        home.get("k").expect_hit("1");
        home.get("new").expect_hit("2");
        home.cache(&["ls", "--limit", "1"]).expect(0);
        assert_eq!(home.set_aside().len(), 0);
        assert_eq!(count(&home, "entries"), entries);
    };
    works();
    home.run(&["doctor", "--fix"]);
    works();
    home.cache(&["cleanup"]).expect(0);
    assert_eq!(count(&home, DEFERRED), 6);
    works();
    home.sql().execute_batch("DROP INDEX entries_marks").unwrap();
    works();
}
