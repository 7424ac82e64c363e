//! A note's words are found again, however they stand in a file; and what we wrote is
//! recognised by itself.

use proptest::prelude::*;
use recoup::mirror::{NoteTraces, build_skills, is_unmodified_skill, rule_files, rule_line_end};
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::Note;

use super::note;

#[test]
fn escaped_cut_and_rewritten_words_are_found() {
    let ask = note("ask @alice before <mocking> for $5");
    let traces = NoteTraces::of(&[ask]);
    for text in [
        "- ask \\@alice before &lt;mocking> for &#36;5\n",
        "As I said: Ask  @alice before mocking, for 5!",
        r#"{"description": "ask \\@alice before &lt;mocking> for $5"}"#,
        "recoup-7m2k0w9x.md",
    ] {
        assert!(traces.are_in(text.as_bytes()), "{text}");
    }
    for text in ["ask bob", "basket alice before mocking for 5", ""] {
        assert!(!traces.are_in(text.as_bytes()), "{text}");
    }
    let signs = NoteTraces::of(&[note("→ ✓")]);
    assert!(signs.are_in("say → ✓".as_bytes()) && !signs.are_in(b"say yes"));
    let escaped = NoteTraces::of(&[note("<\n$!")]);
    assert!(escaped.are_in(b"- &lt; &#36;!") && !escaped.are_in(b"- &lt;"));
    assert!(NoteTraces::of(&[note("use\u{e0100}ful")]).are_in(b"- useful"));
    assert!(!NoteTraces::of(&[]).are_in(b"anything"));
}

#[test]
fn a_rule_file_that_somebody_has_changed_is_not_recognised() {
    let file = rule_files(&[note("use pnpm")]).remove(0);
    assert_eq!(rule_line_end(&file.name, &file.text).unwrap(), "](recoup-7m2k0w9x.md) — use pnpm");
    for (from, to) in [
        ("- use pnpm", "- use bun"),
        ("source: recoup", "source: me"),
        ("tells more.\n", "tells more.\nmine\n"),
        ("- use pnpm\n", "- use pnpm\n- mine\n"),
        ("name: recoup-7m2k0w9x", "name: other"),
    ] {
        assert_eq!(rule_line_end(&file.name, &file.text.replace(from, to)), None, "{to}");
    }
    assert_eq!(rule_line_end("recoup-00000000.md", &file.text), None);
    assert_eq!(rule_line_end("mine.md", &file.text), None);
}

#[test]
fn a_skill_belongs_to_its_manifest() {
    let skill =
        build_skills(&[note("use vitest"), note("test it"), note("no mocks in tests")]).remove(0);
    let manifest = skill.manifest(Timestamp::from_millis(0));
    assert!(is_unmodified_skill(manifest.as_bytes(), skill.text.as_bytes()));
    assert!(!is_unmodified_skill(manifest.as_bytes(), (skill.text.clone() + "mine").as_bytes()));
    let other = manifest.replace("7m2k0w9x", "00000000");
    assert!(!is_unmodified_skill(other.as_bytes(), skill.text.as_bytes()));
    let other = manifest.replace("\"testing\"", "\"mine\"");
    assert!(!is_unmodified_skill(other.as_bytes(), skill.text.as_bytes()));
    assert!(!is_unmodified_skill(b"{}", skill.text.as_bytes()));
}

proptest! {
    #[test]
    fn whatever_a_note_says_its_files_have_it(
        text in "(\\PC|[-#@!`$<>\\[\\]()\"\\\\\n\r]|word ){1,400}",
        paths in proptest::option::of("\\PC{1,40}"),
    ) {
        let note = Note { paths, ..note(&text) };
        let notes = [note.clone(), Note { text: format!("test {text}"), ..note.clone() }, note];
        let by_words = Note { id: recoup_core::memory::NoteId::parse("00000000").unwrap(), ..notes[0].clone() };
        let traces = NoteTraces::of(&[by_words]);
        for file in rule_files(&notes[..1]) {
            prop_assert!(traces.are_in(file.text.as_bytes()), "{}", file.text);
            let tail = rule_line_end(&file.name, &file.text);
            prop_assert!(tail.is_some_and(|tail| file.line.ends_with(&tail)), "{}", file.text);
        }
        for skill in build_skills(&notes) {
            prop_assert!(traces.are_in(skill.text.as_bytes()), "{}", skill.text);
        }
    }
}
