//! An entry is named by its key, by the parts that its key is made from, or by
//! both when they agree.

use crate::support::Home;

const PARTS: [&str; 6] = ["--paths", "b.rs,a.rs", "--query", "Why  NOT?", "--operation", "audit"];

fn key_of_parts(home: &Home) -> String {
    home.run(&[&["cache", "generate-key"], &PARTS[..]].concat()).expect(0).text().trim().to_owned()
}

#[test]
fn parts_stand_for_their_key() {
    let home = Home::new();
    home.cache(&[&["set", "--condensed", "1"], &PARTS[..]].concat()).expect(0);
    home.get(&key_of_parts(&home)).expect_hit("1");
    home.cache(&[
        "get", "--paths", "a.rs,b.rs,a.rs", "--query", " why not? ", "--operation", "audit",
    ])
    .expect_hit("1");
    home.cache(&[&["delete"], &PARTS[..]].concat()).expect(0);
    home.get(&key_of_parts(&home)).expect_miss();
}

#[test]
fn a_key_beside_its_parts_must_agree() {
    let home = Home::new();
    let key = key_of_parts(&home);
    home.cache(&[&["set", "--key", &key, "--condensed", "1"], &PARTS[..]].concat()).expect(0);
    home.cache(&[&["get", "--key", &key], &PARTS[..]].concat()).expect_hit("1");
    home.cache(&[&["get", "--key", "other"], &PARTS[..]].concat()).expect_usage(&key);
    home.cache(&[&["set", "--key", "other", "--condensed", "2"], &PARTS[..]].concat())
        .expect_usage(&key);
    home.get(&key).expect_hit("1");
}

#[test]
fn parts_that_are_missing_are_named() {
    let home = Home::new();
    home.cache(&["get", "--query", "q"]).expect_usage("--paths and --operation missing");
    home.cache(&["get", "--key", "k", "--paths", "a", "--operation", "o"])
        .expect_usage("--query missing");
    home.cache(&["set", "--paths", "a", "--query", "q", "--condensed", "1"])
        .expect_usage("--operation missing");
}

#[test]
fn an_entry_remembers_the_parts_it_was_named_by() {
    let home = Home::new();
    home.cache(&[&["set", "--condensed", "1"], &PARTS[..]].concat()).expect(0);
    let shown = home.cache(&["show", "--json", "--key", &key_of_parts(&home)]).expect(0).json();
    let parts: Vec<_> = shown["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| (part["name"].as_str().unwrap(), part["preview"].as_str().unwrap()))
        .collect();
    assert_eq!(parts, [("paths", "a.rs,b.rs"), ("query", "why not?"), ("operation", "audit")]);
}

#[test]
fn quotes_and_newlines_in_parts_and_tags_are_kept() {
    let home = Home::new();
    let (query, tag) = ("it's a \"test\";\n-- DROP TABLE entries", "a 'tag', \"quoted\"\t\u{7}");
    let named = ["--paths", "a'b.rs", "--query", query, "--operation", "o\"p"];
    home.cache(&[&["set", "--condensed", "1", "--tag", tag, "--tag", "two"], &named[..]].concat())
        .expect(0);
    home.cache(&[&["get"], &named[..]].concat()).expect_hit("1");
    let listed = home.cache(&["ls", "--json"]).expect(0).json();
    assert_eq!(listed[0]["tags"], serde_json::json!([tag, "two"]));
}

#[test]
fn a_tag_may_begin_with_a_hyphen() {
    let home = Home::new();
    home.cache(&["set", "--key", "k", "--condensed", "1", "--tag", "-wip"]).expect(0);
    let listed = home.cache(&["ls", "--json"]).expect(0).json();
    assert_eq!(listed[0]["tags"], serde_json::json!(["-wip"]));
}
