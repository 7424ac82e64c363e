//! What the user asks not to be remembered is not, in any language.

use super::{PublicText, all_are_kept, read};

fn public(prompt: &str) -> String {
    PublicText::new(prompt).as_str().to_owned()
}

#[test]
fn what_is_not_to_be_remembered_is_not() {
    let prompts = [
        "don't remember this: we use tabs here",
        "off the record: staging runs on port 8443",
        "we use tabs here, but don't remember that",
        "please don't store this. the api base url is https://x.dev",
        "this is confidential: we always deploy on Fridays",
        "du sollst das nicht speichern: staging läuft auf Port 8443",
        "Merk dir das nicht: wir nutzen Tabs",
        "Unter uns: wir deployen immer freitags",
        "ne retiens pas ça : on utilise des tabs",
        "entre nous, on utilise toujours npm",
        "no guardes esto: usamos tabs",
        "não salve isso: usamos tabs",
        "non memorizzare questo: usiamo i tab",
        "不要记住这个：我们用 pnpm",
        "これは覚えないで：いつもタブを使って",
    ];
    for prompt in prompts {
        assert_eq!(read(prompt).statements, Vec::new(), "{prompt:?}");
    }
}

#[test]
fn what_was_said_before_stays() {
    let prompt = "never push to main. Off the record: staging runs on port 8443";
    all_are_kept(&[(prompt, "never push to main")]);
    assert_eq!(public(prompt), "never push to main.");
}

#[test]
fn what_code_must_not_store_is_a_rule() {
    all_are_kept(&[
        ("don't store passwords in plain text", "don't store passwords in plain text"),
        ("don't keep unused imports", "don't keep unused imports"),
        ("don't log secrets", "don't log secrets"),
    ]);
    for prompt in
        ["I don't remember which port that was", "this is to be remembered", "never store it"]
    {
        assert_eq!(public(prompt), prompt);
    }
}

#[test]
fn a_long_text_is_hushed_at_both_ends() {
    let long = "lorem ipsum dolor sit amet\n".repeat(2_000);
    assert_eq!(public(&format!("{long}always use tabs, but don't remember that")), "");
    let before = format!("hello\n{long}");
    let said = format!("{before}off the record: we use tabs here");
    assert_eq!(public(&said), before.trim_end());
    assert_eq!(public(&format!("don't remember this\n{long}")), "");
}
