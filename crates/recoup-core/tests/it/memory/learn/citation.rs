//! Rules that an answer cites.

use proptest::prelude::*;
use recoup_core::memory::learn::citation::{citations, is_cited, normalise_rule};

#[test]
fn one_and_several() {
    assert_eq!(citations("I used pnpm (applied from memory: use pnpm)."), ["use pnpm"]);
    let two = "Tabs (applied from memory: use tabs), pnpm (Applied from memory: use pnpm) and tabs again (applied from memory: use tabs)";
    assert_eq!(citations(two), ["use tabs", "use pnpm"]);
    assert!(citations("nothing was applied from memory: really").is_empty());
}

#[test]
fn parentheses_inside_and_line_breaks() {
    assert_eq!(
        citations("(applied from memory: run `make (all)` (not some) first) done"),
        ["run `make (all)` (not some) first"]
    );
    assert_eq!(
        citations("x (applied from memory:\n  put tests\n  in __tests__/) y"),
        ["put tests in __tests__/"]
    );
}

#[test]
fn code_does_not_count() {
    assert!(citations("```\n(applied from memory: use tabs)\n```").is_empty());
    assert!(citations("~~~md\n(applied from memory: use tabs)\n~~~").is_empty());
    assert!(citations("write `(applied from memory: use tabs)` there").is_empty());
    assert_eq!(citations("```\ncode\n```\n(applied from memory: use tabs)"), ["use tabs"]);
}

#[test]
fn what_is_never_closed_is_none() {
    assert!(citations("(applied from memory: use tabs").is_empty());
    assert!(citations("(applied from memory: use tabs\n\nand more)").is_empty());
    assert!(citations("(applied from memory: )").is_empty());
    assert!(citations(&format!("(applied from memory: {})", "x".repeat(2_000))).is_empty());
    assert_eq!(citations("(applied from memory: (applied from memory: use tabs)"), ["use tabs"]);
}

#[test]
fn a_citation_is_matched_with_its_rule() {
    assert!(is_cited("Use **pnpm**, not npm.", "use pnpm, not npm"));
    assert!(is_cited("don't use var", "Don’t use `var`."));
    assert!(is_cited("put tests in __tests__/", "put tests in __tests__/"));
    assert!(is_cited("write Vec&lt;u8> out", "write Vec<u8> out"));
    assert!(is_cited(
        "run migrations with make migrate…",
        "run migrations with make migrate, never by hand"
    ));
    assert!(is_cited("use tabs; use pnpm", "use pnpm"));
    assert!(!is_cited("use pnpm", "use pnpm for everything"));
    assert!(!is_cited("use …", "use pnpm"));
    assert!(!is_cited("use var", "don't use var"));
    assert!(!is_cited("", ""));
}

proptest! {
    #[test]
    fn what_was_cited_is_found_again(rule in "[a-z][a-z0-9 ,./<>_-]{0,80}[a-z]", before in "[^(`~]{0,40}") {
        let found = citations(&format!("{before}(applied from memory: {rule}) and so on"));
        prop_assert_eq!(found.len(), 1);
        prop_assert!(is_cited(&found[0], &rule), "{:?} {}", found, normalise_rule(&rule));
    }

    #[test]
    fn any_text_is_survived(text in "(?s).{0,200}") {
        let _ = citations(&format!("(applied from memory:{text}"));
    }
}
