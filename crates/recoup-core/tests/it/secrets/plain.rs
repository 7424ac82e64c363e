//! Secrets behind escapes and colours, as programs really print them.

use recoup_core::secrets::{detect_secret, redact, scan};

use super::corpus::fill::fill;

fn token() -> String {
    fill("ghp_{a36}", 0)
}

#[test]
fn escapes_of_json_hide_nothing() {
    let token = token();
    for text in [
        r#"{"u":"postgres:\/\/bob:hunter2x@db.local\/x"}"#.to_owned(),
        r#"{"u":"https:\/\/bob:hunter22@example.com"}"#.to_owned(),
        r#"{"out":"a\u0026password\u003dhunter2x"}"#.to_owned(),
        r#"{"log":"{\u0022password\u0022:\u0022hunter2x\u0022}"}"#.to_owned(),
        format!(r#"{{"log":"\u003e{token}"}}"#),
        format!(r#"{{"log":"\u0022{token}\u0022"}}"#),
        format!(r#"{{"log":"\b{token}"}}"#),
    ] {
        assert!(detect_secret(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn colours_hide_nothing() {
    let token = token();
    for text in [
        format!(r#"{{"log":"\u001b[31m{token}\u001b[0m"}}"#),
        format!("\x1b[1;31m{token}\x1b[0m"),
        r#"{"out":"\u001b[32mpassword\u001b[0m=hunter2x"}"#.to_owned(),
        r#"{"out":"password=\u001b[31mhunter2x"}"#.to_owned(),
        format!(r"\033[31m{token}\033[0m"),
    ] {
        assert!(detect_secret(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn a_value_on_another_line_belongs_to_its_name() {
    for text in ["{\n \"password\":\n \"hunter2x\"\n}", "{\n \"password\"\n :\n \"hunter2x\"\n}"] {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn clean_text_with_escapes_stays_clean() {
    for text in [
        r#"{"path":"src\/password_reset.ts","line":4}"#,
        r#"{"re":"^\d+\/[a-z]\u0041$"}"#,
        r#"{"log":"\u001b[32mok\u001b[0m 12 passed"}"#,
        r"C:\Users\bob\new\text \u12 \x \",
        "\u{1b}",
        "{\n \"secret\":\n {\"name\": \"db\"}\n}",
    ] {
        assert_eq!(detect_secret(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn sentences_in_strings_of_json_are_read() {
    for text in [
        r#"{"out":"the wifi password is Swordfish42"}"#,
        r#"{"out":"the wifi password is Swordfish42."}"#,
        r#"{"out":["the wifi password is Swordfish42"]}"#,
        r#"{"out":["the wifi password is Swordfish42", "ok"], "n": 1}"#,
        r#"{"out":"Sw0rdfish42x is the password"}"#,
        r#"{"summary":"Login with admin / Hunter22x"}"#,
        r#"{"out":"machine api.heroku.com login me@x.com password Hunter22x"}"#,
        r#"{"out":"the api key is 9f8b7c6d5e4f3a2b1c0d9f8b7c6d5e4f"}"#,
        r#"{"out":"htpasswd -cb /etc/.htpasswd ada Hunter22x"}"#,
    ] {
        assert!(detect_secret(text.as_bytes()).is_some(), "{text}");
        let clean = redact(text);
        assert!(clean.ends_with(&text[text.len() - 2..]), "{clean}");
        assert!(!clean.contains("unter22x") && !clean.contains("rdfish42"), "{clean}");
    }
    for text in [
        r#"{"out":"the password is required"}"#,
        r#"{"out":["the password is in the vault", "Hunter22x"]}"#,
        r#"{"out":"the password is","next":"Swordfish42"}"#,
        r#"{"a":"Login with","b":"linux / macOS14"}"#,
    ] {
        assert_eq!(detect_secret(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn escaped_names_beyond_ascii_are_read() {
    for text in [
        r#"{"out":"la contrase\u00f1a es Verano2024 gracias"}"#,
        r#"{"out":"\u5bc6\u7801\u662f Xiatian2024 \u3002"}"#,
        r#"{"out":"\ud83d\ude00 the password\u00a0is Swordfish42"}"#,
    ] {
        assert!(detect_secret(text.as_bytes()).is_some(), "{text}");
    }
    for text in [
        r#"{"out":"la contrase\u00f1a es obligatoria"}"#,
        r#"{"out":"\u5bc6\u7801\u9519\u8bef"}"#,
        r#"{"out":"\ud83d \ude00 \u+123 \u12"}"#,
    ] {
        assert_eq!(detect_secret(text.as_bytes()), None, "{text}");
    }
}
