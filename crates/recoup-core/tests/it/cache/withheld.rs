//! Values that are secret for where they come from.

use recoup_core::cache::{Filled, Refusal};
use recoup_core::entry::{Body, Draft, INLINE_MAX};
use recoup_core::key::Part;
use recoup_core::secrets::Values;

use super::{Scene, second};
use crate::support::{draft, id};

const VALUE: &str = "plain-words-and-1-number";

fn withheld() -> Values {
    Values::of_credentials([
        ("SERVICE_API_KEY", VALUE),
        ("PWD", "/home/somebody/work"),
        ("DB_PASSWORD", "postgres"),
        ("SHORT_SECRET", "a1"),
        ("EDITOR", "an-editor-with-1-number"),
    ])
}

fn fill(body: impl Into<Body>) -> Filled {
    let draft = Draft { withheld: withheld(), ..draft(body) };
    Scene::new().permit(&id("a"), &[]).fill(draft, second()).unwrap()
}

#[test]
fn a_result_that_holds_the_value_of_a_credential_is_refused() {
    let large = |at: usize| {
        let mut text = "x".repeat(INLINE_MAX * 2);
        text.replace_range(at..at + VALUE.len(), VALUE);
        text
    };
    for text in [VALUE.to_owned(), format!("it is {VALUE}!"), large(7), large((1 << 20) - 5)] {
        let filled = fill(text);
        let Filled::Refused(Refusal::Secret(rule)) = filled else { panic!("{filled:?}") };
        assert_eq!(rule, "environment-credential");
    }
}

#[test]
fn paths_words_short_values_and_other_variables_hinder_nothing() {
    for text in ["/home/somebody/work", "postgres", "a1", "an-editor-with-1-number"] {
        assert!(matches!(fill(text), Filled::Stored(_)), "{text}");
    }
}

#[test]
fn what_is_shown_of_the_question_is_without_it() {
    let scene = Scene::new();
    let parts = vec![Part::shown("arguments", &format!("greet --name {VALUE} url"))];
    let draft = Draft { parts, withheld: withheld(), ..draft("body") };
    assert!(matches!(scene.permit(&id("a"), &[]).fill(draft, second()), Ok(Filled::Stored(_))));
    let head = scene.cache.head(&id("a")).unwrap().unwrap();
    let shown = head.header.parts[0].preview.as_deref();
    assert_eq!(shown, Some("greet --name [redacted: environment-credential] url"));
}

#[test]
fn what_would_be_refused_in_any_case_is_known_before_the_work() {
    let scene = Scene::new();
    let tagged =
        |tag: &str| Draft { tags: vec![tag.to_owned()], withheld: withheld(), ..draft("") };
    assert!(scene.cache.check(&id("a"), &tagged("nightly"), second()).is_ok());
    let error = scene.cache.check(&id("a"), &tagged(VALUE), second()).unwrap_err();
    assert_eq!(error.to_string(), "there is a secret among the tags (environment-credential)");
}

#[test]
fn the_values_are_never_shown() {
    assert_eq!(format!("{:?}", withheld()), "1 values");
}
