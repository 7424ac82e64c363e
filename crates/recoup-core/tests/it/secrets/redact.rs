//! Redaction as laws: nothing is left to find, a second time changes nothing,
//! text stays text, and whatever comes in, nothing panics.

use std::borrow::Cow;

use proptest::prelude::*;
use recoup_core::secrets::{redact, redact_bytes, scan, scan_all};

use super::corpus;
use super::corpus::fill::fill;

#[test]
fn secrets_are_replaced_by_the_name_of_their_rule() {
    let text = "user=ada password=hunter2 host=db";
    assert_eq!(redact(text), "user=ada password=[redacted: credential] host=db");
    let text = fill("push with ghp_{a36}, or else", 0);
    assert_eq!(redact(&text), "push with [redacted: github-token], or else");
}

#[test]
fn clean_text_is_handed_back_as_it_is() {
    assert!(matches!(redact("nothing to see"), Cow::Borrowed("nothing to see")));
    assert!(matches!(redact_bytes(b"\xff\xfe"), Cow::Borrowed(b"\xff\xfe")));
}

#[test]
fn nothing_of_the_corpus_is_left_to_find() {
    for sample in corpus::secrets() {
        let clean = redact(&sample.text);
        assert_eq!(scan(clean.as_bytes()), None, "{}: {clean}", sample.name);
        for finding in scan_all(sample.text.as_bytes()) {
            let secret = &sample.text[finding.range];
            assert!(secret.len() < 6 || !clean.contains(secret), "{}: {clean}", sample.name);
        }
    }
}

#[test]
fn json_stays_json() {
    let text = r#"{"a": {"password": "hunter2"}, "url": "redis://:s3cr3t9@h", "k": ["ü"]}"#;
    let clean = redact(text);
    let value: serde_json::Value = serde_json::from_str(&clean).expect("still JSON");
    assert_eq!(value["a"]["password"], "[redacted: credential]");
}

/// What rules look for, so that random texts run into it.
const PIECES: &[&str] = &[
    "password",
    "secret",
    "api_key",
    "token",
    "bearer ",
    "Authorization: ",
    "Basic ",
    "=",
    ": ",
    "\"",
    "'",
    "\\\"",
    "\\",
    "\n",
    "\\n",
    " ",
    "{",
    "}",
    "<",
    ">",
    "://",
    "user:",
    "@host",
    "eyJ",
    "eyJhbGciOiJIUzI1NiJ9.",
    ".",
    "-----BEGIN PRIVATE KEY-----",
    "-----END",
    "PRIVATE KEY",
    "ghp_",
    "AKIA",
    "AKIAABCDEFGHIJKLMNOP",
    "sk-",
    "hunter2",
    "a1B2c3D4e5F6g7H8i9J0",
    "[redacted: x]",
    "value",
    "name: ",
    ",",
    ";",
    "&",
    "|",
    "ü",
    "…",
    "0x",
    "$",
    "%",
    "xxxx",
    "--password ",
    "mysql -p",
    "curl -u a:",
    "sshpass -p ",
    " -u a -p ",
    "the password is ",
    "password to ",
    "admin / ",
    "Cookie: sid=",
    "login(\"a\", \"",
    "algolia key ",
    "密码是",
    "[hidden]",
    "echo x | sudo -S ",
    "cG9zdGdyZXM6Ly9hcHA6czNjcmV0UHc5QGRiL3Nob3A=",
];

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => "[a-zA-Z0-9_+/=-]{1,24}",
        1 => any::<char>().prop_map(String::from),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redaction_leaves_nothing_and_is_done_once(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let clean = redact(&text).into_owned();
        prop_assert_eq!(scan(clean.as_bytes()), None, "{:?} became {:?}", text, clean);
        prop_assert_eq!(redact(&clean).into_owned(), clean);
    }

    #[test]
    fn findings_are_in_order_and_inside(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let mut end = 0;
        for finding in scan_all(text.as_bytes()) {
            prop_assert!(finding.range.start >= end && finding.range.end > finding.range.start);
            end = finding.range.end;
        }
        prop_assert!(end <= text.len());
    }

    #[test]
    fn any_bytes_will_do(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let clean = redact_bytes(&bytes).into_owned();
        prop_assert_eq!(scan(&clean), None);
    }
}
