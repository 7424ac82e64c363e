//! Values that are secret for where they come from.

use recoup_core::cache::{FillOutcome, FillRefusal};
use recoup_core::entry::{Body, Draft, INLINE_MAX};
use recoup_core::key::KeyPart;
use recoup_core::secrets::SecretValues;

use super::{Scene, second};
use crate::support::{draft, id};

const VALUE: &str = "plain-words-and-1-number";

fn withheld() -> SecretValues {
    SecretValues::of_credentials([
        ("SERVICE_API_KEY", VALUE),
        ("PWD", "/home/somebody/work"),
        ("DB_PASSWORD", "postgres"),
        ("SHORT_SECRET", "a1"),
        ("EDITOR", "an-editor-with-1-number"),
    ])
}

fn fill(body: impl Into<Body>) -> FillOutcome {
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
        let FillOutcome::Refused(FillRefusal::Secret(rule)) = filled else { panic!("{filled:?}") };
        assert_eq!(rule, "environment-credential");
    }
}

#[test]
fn paths_words_short_values_and_other_variables_hinder_nothing() {
    for text in ["/home/somebody/work", "postgres", "a1", "an-editor-with-1-number"] {
        assert!(matches!(fill(text), FillOutcome::Stored(_)), "{text}");
    }
}

#[test]
fn a_credential_is_one_whether_it_has_letters_alone_or_begins_like_a_path() {
    let values = SecretValues::of_credentials([
        ("MYSQL_PASSWORD", "swordfish"),
        ("ADMIN_PASSWORD", "correcthorsebatterystaple"),
        ("STORAGE_ACCESS_KEY", "/9Tk4Ns6Bf8/Hd1Jm3Pc5Gy0Wu2Ea7Ro+Ti4Ks6Dl8Fn1Vb3Mx5=="),
        ("OAUTH_TOKEN", "~tilde-and-1-number"),
        ("GOOGLE_CREDENTIALS", "/home/somebody/.config/key-2.json"),
        ("OLDPWD", "/Work8Xq2LmNp/src"),
    ]);
    for line in [
        "mysql -u root -pswordfish shop",
        "mysql --password=swordfish shop",
        "login as 'swordfish'",
        "echo xcorrecthorsebatterystaplex",
        "s3 put --key /9Tk4Ns6Bf8/Hd1Jm3Pc5Gy0Wu2Ea7Ro+Ti4Ks6Dl8Fn1Vb3Mx5== x",
        "curl -H ~tilde-and-1-number",
    ] {
        assert!(values.detect(line.as_bytes()).is_some(), "{line}");
        let redacted = values.redact(line);
        assert!(redacted.contains("[redacted: environment-credential]"), "{redacted}");
        assert!(values.detect(redacted.as_bytes()).is_none(), "{redacted}");
    }
    for line in [
        "swordfishes swim", "a-swordfish2", "cd /Work8Xq2LmNp/src",
        "cat /home/somebody/.config/key-2.json",
    ] {
        assert_eq!(values.detect(line.as_bytes()), None, "{line}");
        assert_eq!(values.redact(line), line);
    }
}

#[test]
fn what_is_shown_of_the_question_is_without_it() {
    let scene = Scene::new();
    let parts = vec![KeyPart::shown("arguments", &format!("greet --name {VALUE} url"))];
    let draft = Draft { parts, withheld: withheld(), ..draft("body") };
    assert!(matches!(
        scene.permit(&id("a"), &[]).fill(draft, second()),
        Ok(FillOutcome::Stored(_))
    ));
    let head = scene.cache.head(&id("a")).unwrap().unwrap();
    let shown = head.header.parts[0].preview.as_deref();
    assert_eq!(shown, Some("greet --name [redacted: environment-credential] url"));
}

#[test]
fn what_would_be_refused_in_any_case_is_known_before_the_work() {
    let scene = Scene::new();
    let tagged =
        |tag: &str| Draft { tags: vec![tag.to_owned()], withheld: withheld(), ..draft("") };
    assert!(scene.cache.check_draft(&id("a"), &tagged("nightly"), second()).is_ok());
    let error = scene.cache.check_draft(&id("a"), &tagged(VALUE), second()).unwrap_err();
    assert_eq!(error.to_string(), "the key or a tag contains a secret (environment-credential)");
}

#[test]
fn the_values_are_never_shown() {
    assert_eq!(format!("{:?}", withheld()), "1 values");
}
