//! Non-literals behind a credential's name: expressions, types, and the place of a secret rather
//! than the secret itself.

use super::boundary::is_word;
use super::word_form::looks_random;
use super::words;

/// True for paths, addresses and places in a vault: the place of a secret, not the secret.
pub(super) fn is_place(literal: &[u8]) -> bool {
    let path = literal.starts_with(b"/")
        && literal.iter().all(|&byte| is_word(byte) || b"/.-".contains(&byte));
    // `"auth-token": "^6.0.0"`: the version of a package.
    let version = literal.contains(&b'.')
        && literal.iter().all(|byte| byte.is_ascii_digit() || b"^~>=<.* |v".contains(byte));
    version
        || words::starts_with_word(words::PLACES, literal)
        || words::ends_with_word(words::FILES, literal)
        || path && !literal.split(|&byte| byte == b'/').any(looks_random)
}

/// True for calls, members, generics and references, which only code has.
pub(super) fn is_code(literal: &[u8], behind: &[u8]) -> bool {
    let starts = literal.first().is_some_and(|byte| b"([{&*$<@!#%:=|/^~".contains(byte));
    let identifier = literal.iter().take_while(|&&byte| is_word(byte)).count();
    let path = literal.iter().take_while(|&&byte| is_word(byte) || byte == b'.').count();
    let call = literal[0].is_ascii_alphabetic() && literal.get(path) == Some(&b'(');
    let next = literal.get(identifier).or(behind.first());
    let after = match next {
        Some(b'(' | b'[' | b'<' | b'{' | b'?') => identifier > 0,
        Some(b'.') => {
            literal
                .get(identifier + 1)
                .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && !has_digit(&literal[..identifier])
        }
        Some(b':') => literal[identifier..].starts_with(b"::"),
        Some(b'-') => literal[identifier..].starts_with(b"->"),
        Some(b'!') => matches!(literal.get(identifier + 1), Some(b'(' | b'[' | b'{')),
        Some(b')' | b']' | b'}') => !has_digit(&literal[..identifier]),
        _ => false,
    };
    starts || call || after
}

/// `f(password=word, …)`: strings are quoted there, so it is a variable.
pub(super) fn in_arguments(behind: &[u8]) -> bool {
    matches!(behind, [b',' | b')', ..])
}

pub(super) fn is_last_on_line(behind: &[u8]) -> bool {
    matches!(behind, [] | [b'\n' | b'\r' | b'"', ..] | [b'\\', b'n', ..] | [b' ', b'#', ..])
}

/// `String`, `SecretStr`, `u8`, `int64`, `varchar`.
pub(super) fn is_type(literal: &[u8]) -> bool {
    let name = literal.trim_ascii_start();
    // `String!)`, as a query language has it.
    let name = name.trim_ascii_end();
    let end = name.iter().rposition(|byte| !b"!)]".contains(byte)).map_or(0, |at| at + 1);
    let name = &name[..end];
    let name = &name[name.iter().take_while(|&&byte| byte == b'_').count()..];
    let letters = name.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let sized =
        matches!(&name[..letters], b"u" | b"i" | b"f" | b"int" | b"uint" | b"float" | b"bytes")
            && matches!(&name[letters..], b"8" | b"16" | b"32" | b"64" | b"128");
    let upper = name.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let camel = name.first().is_some_and(u8::is_ascii_uppercase) && upper < name.len();
    sized || camel && !has_digit(name)
}

pub(super) fn has_digit(literal: &[u8]) -> bool {
    literal.iter().any(u8::is_ascii_digit)
}
