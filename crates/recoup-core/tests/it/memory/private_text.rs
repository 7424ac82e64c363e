//! Private text is cut out before anything is kept.

use proptest::prelude::*;
use recoup_core::memory::guard::private_text::without_private;

#[test]
fn what_is_in_the_tags_is_cut_out() {
    for (text, kept) in [
        ("use tabs", "use tabs"),
        ("", ""),
        ("<private>my salary</private>", ""),
        ("use <private>x</private> tabs", "use  tabs"),
        ("one<private>x</private>two", "one two"),
        ("a <PRIVATE>x</Private> b", "a  b"),
        ("a <private>x\ny\n</private> b", "a  b"),
        ("a < private >x</ private > b", "a  b"),
        ("a <private reason=\"mine\">x</private> b", "a  b"),
        ("a <private/> b", "a"),
        ("a <private>x</private> b <private>y</private> c", "a  b  c"),
        ("a <private>x <private>y</private> z</private> b", "a  b"),
        ("ж<private>ы</private>щ", "ж щ"),
    ] {
        assert_eq!(without_private(text), kept, "{text}");
    }
}

#[test]
fn in_doubt_a_text_is_private() {
    for (text, kept) in [
        ("keep <private>and this to the end", "keep"),
        ("keep <private", "keep"),
        ("keep <private>x <private>y</private> z", "keep"),
        ("no opening</private> kept", "kept"),
        ("<privat>mistyped</private> kept", "kept"),
        ("kept <private>x</private", "kept"),
    ] {
        assert_eq!(without_private(text), kept, "{text}");
    }
}

#[test]
fn what_only_looks_like_the_tag_stays() {
    for text in [
        "class A < private", "if a < private { b }", "Vec<PrivateKey>",
        "<private-note>x</private-note>", "<privates>", "the private field", "a < b", "<", "</",
        "<priv",
    ] {
        assert_eq!(without_private(text), text);
    }
}

proptest! {
    #[test]
    fn nothing_between_the_tags_is_kept(before in "[a-m ]{0,12}", inside in "[xyz<>/ ]{0,20}", after in "[a-m ]{0,12}") {
        let kept = without_private(&format!("{before}<private>{inside}</private>{after}")).into_owned();
        prop_assert!(!kept.contains(['x', 'y', 'z']), "{kept}");
    }

    #[test]
    fn no_text_makes_it_panic_and_nothing_private_is_left(text in "(<|>|/|private|PRIVATE| |é|\n|a){0,30}") {
        let kept = without_private(&text).into_owned();
        prop_assert_eq!(without_private(&kept).into_owned(), kept.clone());
    }
}
