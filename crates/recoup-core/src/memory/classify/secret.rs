//! Secrets in what people say. [`crate::secrets`] knows the shapes of keys and tokens; in
//! a sentence a password is just a word, so here a credential's name near something that
//! is no word is enough: nothing of such a prompt is kept.

use super::outline;
use super::password;
use crate::secrets;

/// What people call a secret, in small letters.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "token",
    "api key",
    "apikey",
    "api-key",
    "secret",
    "credential",
    "private key",
    "access key",
    "login is",
    "pw is",
    "pin is",
    "passwort",
    "kennwort",
    "zugangsdaten",
    "mot de passe",
    "jeton",
    "clé",
    "contraseña",
    "clave",
    "senha",
    "chave",
    "parola d'ordine",
    "chiave",
    "パスワード",
    "トークン",
    "秘密",
    "鍵",
    "密码",
    "口令",
    "令牌",
    "密钥",
];

/// So far behind or before its name a secret stands, in words.
const NEAR: usize = 8;

/// The rule by which a prompt has a secret. Of long ones the beginning and the end are
/// looked at: nothing else is ever kept.
pub(super) fn detect(prompt: &str) -> Option<&'static str> {
    let (head, tail) = outline::window(prompt);
    [head, tail].into_iter().find_map(|part| {
        secrets::detect(part.as_bytes()).or_else(|| has_said(part).then_some("said"))
    })
}

fn has_said(text: &str) -> bool {
    text.lines().any(|line| {
        let lower = line.to_lowercase();
        let is_named = NAMES.iter().any(|name| lower.contains(name));
        (is_named && has_value(&lower, line)) || password::is_told(line, &lower)
    })
}

/// Whether a text tells a password in so many words.
pub(in crate::memory) fn tells_password(text: &str) -> bool {
    text.lines().any(|line| password::is_told(line, &line.to_lowercase()))
}

/// Whether something that is no word stands near a credential's name.
fn has_value(lower: &str, line: &str) -> bool {
    let words: Vec<&str> =
        line.split([' ', '\t', '：', '，', '。', '、']).filter(|it| !it.is_empty()).collect();
    let names: Vec<usize> = lower
        .split([' ', '\t', '：', '，', '。', '、'])
        .filter(|it| !it.is_empty())
        .enumerate()
        .filter(|(_, word)| {
            NAMES.iter().any(|name| name.split(' ').any(|part| word.contains(part)))
        })
        .map(|(at, _)| at)
        .collect();
    words
        .iter()
        .enumerate()
        .any(|(at, word)| names.iter().any(|name| at.abs_diff(*name) <= NEAR) && is_strange(word))
}

/// Letters with digits or signs in a way that no word, path, version or name of code has.
fn is_strange(word: &str) -> bool {
    let word = word.trim_matches(|c: char| "\"'`.,;:()[]!?<>".contains(c));
    // What runs on from a name: `password=…`, `密码是…`.
    let word = word.rsplit(['=', ':', '是', 'は']).next().unwrap_or(word);
    if word.len() < 5 || !word.is_ascii() || word.contains(['/', '{', '(', '<', '*']) {
        return false;
    }
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let upper = word.bytes().skip(1).filter(u8::is_ascii_uppercase).count();
    let lower = word.bytes().filter(u8::is_ascii_lowercase).count();
    let signs = word.bytes().filter(|b| b"!@#$%^&+~?".contains(b)).count();
    let is_variable = lower == 0
        && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let is_version = word
        .trim_start_matches(['v', 'V'])
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-'));
    let letters = lower + upper > 0;
    let known = KNOWN.contains(&word.to_lowercase().as_str());
    let mixed = !known && digits >= 2 && letters && (upper > 0 || signs > 0 || word.len() >= 7);
    let plain = digits >= 1 && lower >= 5 && !word.contains(['.', '-', '_']) && !known;
    !is_variable && !is_version && (mixed || plain || (signs > 0 && letters && digits > 0))
}

/// Words with digits that stand beside credentials and are none.
const KNOWN: &[&str] = &[
    "oauth2",
    "sha256",
    "sha512",
    "base64",
    "argon2",
    "argon2id",
    "pbkdf2",
    "ed25519",
    "bcrypt2",
    "aes256",
    "rs256",
    "hs256",
    "es256",
    "auth0",
    "keycloak2",
    "http2",
    "pkcs12",
    "log4j2",
    "1password",
];
