//! Text that is meant to be syntax, or is far too much.

use super::Memory;

#[test]
fn nothing_that_is_typed_is_syntax() {
    let memory = Memory::of(["near miss of the column filter", "an unrelated remark"]);
    let queries = [
        "\"", "\"*", "NEAR(", "NEAR(near miss, 2)", "near AND", "OR", "NOT near", "near*",
        "forms:near", "{forms}: near", "- near", "^near", "~near", "near + miss", "(((",
        "near\0miss", "'; DROP TABLE notes; --", "\u{202e}near", "@universal", "words", "rank",
        "\u{feff}", " ", "",
    ];
    for query in queries {
        let expected: &[i64] = if query.to_lowercase().contains("near") { &[1] } else { &[] };
        assert_eq!(memory.find(query), expected, "{query:?}");
    }
    assert_eq!(memory.find("near"), [1]);
}

#[test]
fn a_note_can_hold_anything() {
    let texts =
        ["\"*", "~ ^ | @universal", "NEAR(a b)", "", "|", "a | b", "\0\u{1}\u{7f}", "🦀🦀 crab"];
    let memory = Memory::of(texts);
    assert_eq!(memory.find("crab"), [8]);
    assert_eq!(memory.find("universal"), [2]);
}

#[test]
fn a_megabyte_is_bounded() {
    let memory = Memory::among_others(&["the telling zebra"]);
    let words: Vec<String> = (0..100_000).map(|n| format!("w{n}x")).collect();
    memory.find(&words.join(" "));
    memory.find(&"test ".repeat(200_000));
    memory.find(&"a".repeat(1 << 20));
    memory.find(&"漢".repeat(350_000));
    memory.find(&"_-.".repeat(350_000));
    assert_eq!(memory.find(&format!("zebra {}", "of the ".repeat(150_000)))[0], 1);
}

#[test]
fn a_note_of_a_megabyte_is_found_by_its_beginning() {
    let memory = Memory::of([&*format!("zebra {}", "stripes ".repeat(150_000)), "a short zebra"]);
    assert_eq!(memory.find("zebra"), [2, 1]);
}
