//! `recoup cache generate-key`: fixed by its contract, so that keys made by
//! other tools and by earlier versions stay good.

use crate::support::Home;

fn key(paths: &str, query: &str, operation: &str) -> String {
    let home = Home::new();
    let args = ["generate-key", "--paths", paths, "--query", query, "--operation", operation];
    let output = home.cache(&args).expect(0);
    assert_eq!(output.stderr, "");
    let text = output.text();
    let key = text.strip_suffix('\n').unwrap();
    assert!(key.len() == 64 && key.bytes().all(|b| b.is_ascii_hexdigit()), "{key:?}");
    assert!(!home.recoup().exists(), "a key needs no home");
    key.to_owned()
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    use std::fmt::Write as _;
    sha2::Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

#[test]
fn the_check_vector_of_the_contract() {
    assert_eq!(
        key("src/user.ts,src/auth.ts", "  Find   SQL Injection ", "security-audit"),
        "b86ac886f6db50ce6d9d7bc5e37f3fddbc43981622ef2732eede501f5d301b82"
    );
}

#[test]
fn paths_are_sorted_bytewise_and_deduplicated() {
    assert_eq!(key("b,a,B,b", "q", "op"), sha256("B,a,b|q|op"));
    assert_eq!(key("é,z", "q", "op"), sha256("z,é|q|op"));
}

#[test]
fn the_query_is_lower_cased_and_its_white_space_collapsed() {
    assert_eq!(key("a", "\tÄRGER\n\n im  ΑΘΗΝΑ ", "op"), sha256("a|ärger im αθηνα|op"));
}

#[test]
fn the_operation_is_taken_as_it_is() {
    assert_eq!(key("a", "q", "  Two  Words "), sha256("a|q|  Two  Words "));
}

#[test]
fn quotes_and_newlines_and_what_shells_mind_are_just_characters() {
    let query = "it's \"quoted\" $(rm -rf) `x` \\ ; | & *";
    assert_eq!(key("a b.rs,c'd.rs", query, "o\np"), sha256(&format!("a b.rs,c'd.rs|{query}|o\np")));
}

#[test]
fn values_may_begin_with_a_hyphen_and_be_empty() {
    assert_eq!(key("-a", "--query", "-"), sha256("-a|--query|-"));
    assert_eq!(key("", "", ""), sha256("||"));
}

#[test]
fn all_three_flags_are_required() {
    let home = Home::new();
    let flags = ["--paths", "--query", "--operation"];
    for missing in flags {
        let given = flags.iter().filter(|flag| **flag != missing);
        let args: Vec<&str> =
            ["cache", "generate-key"].into_iter().chain(given.flat_map(|f| [*f, "x"])).collect();
        home.run(&args).expect_usage(missing);
    }
}

#[test]
fn key_result_is_the_same_command() {
    let home = Home::new();
    let named = ["--paths", "a,b", "--query", "Why?", "--operation", "op"];
    let this = home.run(&[&["cache", "generate-key"], &named[..]].concat()).expect(0);
    let that = home.run(&[&["key", "result"], &named[..]].concat()).expect(0);
    assert_eq!(this.text(), that.text());
}
