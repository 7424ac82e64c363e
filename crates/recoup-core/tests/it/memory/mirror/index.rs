//! Our lines in an index that is somebody else's.

use proptest::prelude::*;
use recoup_core::memory::mirror::{excluded, spliced};

fn lines(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("- [preference](recoup-{number:08}.md) — rule {number}"))
        .collect()
}

fn put(index: &str, count: usize) -> String {
    String::from_utf8(spliced(index.as_bytes(), &lines(count)).unwrap().bytes).unwrap()
}

#[test]
fn ours_stand_between_two_marks_at_the_end() {
    insta::assert_snapshot!(put("- [Mine](mine.md) — something\n", 2), @"
    - [Mine](mine.md) — something
    <!-- recoup: begin (`recoup memory sync` writes the lines up to the next mark) -->
    Statements that the user has recorded; keep to them unless the user now says otherwise:
    - [preference](recoup-00000000.md) — rule 0
    - [preference](recoup-00000001.md) — rule 1
    <!-- recoup: end -->
    ");
}

#[test]
fn they_stay_where_they_are_while_others_write_around_them() {
    let index = put("- mine\n", 1) + "- appended\n";
    let changed = put(&index, 2);
    assert!(changed.starts_with("- mine\n<!-- recoup: begin"), "{changed}");
    assert!(changed.ends_with("<!-- recoup: end -->\n- appended\n"), "{changed}");
    assert_eq!(put(&changed, 0), "- mine\n- appended\n");
}

#[test]
fn what_somebody_wrote_between_the_marks_is_not_lost() {
    let index = put("- mine\n", 2)
        .replace("<!-- recoup: end", "- [New](new.md) — theirs\n<!-- recoup: end");
    let changed = put(&index, 1);
    assert!(changed.ends_with("<!-- recoup: end -->\n- [New](new.md) — theirs\n"), "{changed}");
    assert_eq!(put(&changed, 0), "- mine\n- [New](new.md) — theirs\n");
}

#[test]
fn line_ends_are_those_of_the_index() {
    let changed = put("- mine\r\n", 1);
    assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
    assert_eq!(put(&changed, 0), "- mine\r\n");
}

#[test]
fn marks_that_do_not_belong_together_are_left_for_a_person() {
    let whole = put("", 1);
    let end = "<!-- recoup: end -->";
    for broken in [
        whole.replace(end, ""),
        [&whole[..], &whole].concat(),
        format!("{end}\n{}", whole.replace(end, "")),
    ] {
        let error = spliced(broken.as_bytes(), &lines(1)).unwrap_err();
        assert!(error.to_string().contains("take them out by hand"), "{error}");
    }
}

#[test]
fn no_more_than_the_client_reads() {
    let crowded = "- one of many\n".repeat(190);
    let made = spliced(crowded.as_bytes(), &lines(30)).unwrap();
    assert!((1..10).contains(&made.shown), "{}", made.shown);
    assert!(made.bytes.split(|byte| *byte == b'\n').count() <= 201);
    let long = format!("{}\n", "x".repeat(24_800));
    assert_eq!(spliced(long.as_bytes(), &lines(30)).unwrap().shown, 0);
    let full = "- full\n".repeat(400);
    assert_eq!(spliced(full.as_bytes(), &lines(3)).unwrap().bytes, full.as_bytes());
}

#[test]
fn what_git_is_told_is_taken_back_as_it_was_told() {
    for file in ["", "# mine\n*.log\n", "*.log", "*.log\r\n"] {
        let hidden = excluded(file.as_bytes(), true).unwrap();
        assert_eq!(excluded(&hidden, true).unwrap(), hidden, "{file:?}");
        assert_eq!(excluded(&hidden, false).unwrap(), file.as_bytes(), "{file:?}");
    }
}

proptest! {
    /// Also of what is no text.
    #[test]
    fn taking_ours_out_leaves_what_was_there(
        index in proptest::collection::vec(prop_oneof![
            Just(b"\n".to_vec()), Just(b"\r\n".to_vec()), Just(b"- mine".to_vec()),
            Just(b"\xff\xfe".to_vec()), Just(b"".to_vec()), Just(b"<!-- other -->".to_vec()),
        ], 0..12).prop_map(|parts| parts.concat()),
        first in 1..31_usize,
        second in 1..31_usize,
    ) {
        let one = spliced(&index, &lines(first)).unwrap();
        prop_assert_eq!(one.shown, first);
        prop_assert_eq!(&spliced(&one.bytes, &lines(first)).unwrap().bytes, &one.bytes, "once more is the same");
        let other = spliced(&one.bytes, &lines(second)).unwrap();
        prop_assert_eq!(&other.bytes, &spliced(&index, &lines(second)).unwrap().bytes);
        prop_assert_eq!(spliced(&other.bytes, &[]).unwrap().bytes, index);
    }
}
