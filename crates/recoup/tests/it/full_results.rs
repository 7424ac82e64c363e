//! `set --full` and `show --full`: the whole result beside its short form.

use crate::support::Home;

fn set(home: &Home, key: &str, file: &str) {
    home.cache(&["set", "--key", key, "--condensed", "1", "--full", file]).expect(0);
}

fn show(home: &Home, key: &str) -> Vec<u8> {
    let output = home.cache(&["show", "--key", key, "--full"]).expect(0);
    assert_eq!(output.stderr, "");
    output.stdout
}

#[test]
fn a_full_result_comes_back_byte_for_byte() {
    let home = Home::new();
    let every_byte: Vec<u8> = (0..=255).collect();
    let large: Vec<u8> = (0..5_000_000_u32).flat_map(|n| [n.to_le_bytes()[0], 0, b'\n']).collect();
    for (n, contents) in
        [Vec::new(), b"no JSON at all".to_vec(), every_byte, large].iter().enumerate()
    {
        home.write("full", contents);
        let key = n.to_string();
        set(&home, &key, "full");
        home.get(&key).expect_hit("1");
        let (newline, rest) =
            show(&home, &key).split_last().map(|(l, r)| (*l, r.to_vec())).unwrap();
        assert!(newline == b'\n' && rest == *contents, "{} bytes", contents.len());
    }
}

#[test]
fn a_file_that_is_missing_is_a_failure_and_nothing_is_stored() {
    let home = Home::new();
    home.set("old", "0");
    for key in ["old", "new"] {
        home.cache(&["set", "--key", key, "--condensed", "1", "--full", "gone.json"])
            .expect_failure("gone.json");
    }
    home.get("old").expect_hit("0");
    home.get("new").expect_miss();
}

#[test]
fn an_entry_without_one_says_so() {
    let home = Home::new();
    home.set("k", "1");
    home.cache(&["show", "--key", "k", "--full"]).expect_failure("has no full result");
    home.cache(&["show", "--key", "none", "--full"]).expect_failure("no entry for key none");
}

#[test]
fn a_shared_full_result_is_kept_until_the_last_entry_is_gone() {
    let home = Home::new();
    home.write("full", "shared".repeat(1_000));
    for key in ["a", "b", "c"] {
        set(&home, key, "full");
    }
    let fulls = || {
        let count = "SELECT count(*) FROM fulls";
        home.sql().query_row(count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(fulls(), 1);
    home.cache(&["delete", "--key", "a"]).expect(0);
    home.set("b", "0");
    assert_eq!(show(&home, "c"), ("shared".repeat(1_000) + "\n").into_bytes());
    home.cache(&["clear", "--yes"]).expect(0);
    assert_eq!(fulls(), 0);
}
