//! Placeholders for secrets: `<your-api-key>`, `${VAR}`, `xxxx`, `changeme`, `null`. And sentences,
//! which only talk about secrets.

use super::words;

/// The start of a redacted secret; its rule and a `]` follow.
pub(crate) const REDACTED: &str = "[redacted: ";

/// A redacted secret in a command: one word for all rules.
pub(super) const HIDDEN: &str = "[hidden]";

/// True for a value that begins with one of our marks.
pub(super) fn is_marked(value: &[u8]) -> bool {
    value.starts_with(b"[redacted") || value.starts_with(HIDDEN.as_bytes())
}

/// True if `value` stands for something else, or for nothing.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    is_masked(value) || is_template(value) || is_keyword(value) || asks_to_be_replaced(value)
}

/// `xxxx`, `****`, `....`, `--------`: hardly any different characters.
fn is_masked(value: &[u8]) -> bool {
    let has = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    // The last ones are the bytes of bullets and ellipses.
    let mask = |byte: &u8| b"xX*._-#?0 \xE2\x80\xA2\xA6\x97\x8F".contains(byte);
    value.iter().all(mask)
        || value.iter().all(|byte| *byte == value[0])
        || ["...", "***", "…"].iter().any(|part| has(part.as_bytes()))
        || has_mask(value)
}

/// True for what documentation writes in place of a password.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    words::contains_word(words::STAND_INS, value) || value.ends_with(b"EXAMPLE")
}

/// True for a word for credentials, rather than a credential.
pub(super) fn is_label(word: &[u8]) -> bool {
    words::contains_word(words::CREDENTIALS, word)
}

/// True for something that a shell, a template or a format fills in.
fn is_template(value: &[u8]) -> bool {
    let wrapped = |open: &[u8], close: &[u8]| value.starts_with(open) && value.ends_with(close);
    let has = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    let marks: [&[u8]; 9] =
        [b"{}", b"${", b"$(", b"{{", b"#{", b"%(", b"<%", b"%{", REDACTED.as_bytes()];
    wrapped(b"<", b">")
        || wrapped(b"{", b"}")
        || wrapped(b"[", b"]")
        || wrapped(b"%", b"%")
        || wrapped(b"__", b"__")
        || wrapped(b"@", b"@")
        || marks.iter().any(|mark| has(mark))
        || is_reference(value)
        || matches!(value, [b'%', b's' | b'v' | b'd' | b'q' | b'@'])
}

/// `$VAR`, `:bind`, `@bind`, `!Ref`, `&VAR`: a sign and a name.
fn is_reference(value: &[u8]) -> bool {
    let [b'$' | b':' | b'@' | b'!' | b'&' | b'<', rest @ ..] = value else { return false };
    let name = |byte: &u8| byte.is_ascii_alphabetic() || b"_.-:> ".contains(byte);
    !rest.is_empty() && (rest.iter().all(name) || is_constant(rest))
}

/// `DB_PASSWORD`: the name of a variable or constant.
fn is_constant(value: &[u8]) -> bool {
    let upper = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    value.contains(&b'_') && value.iter().all(upper) && value[0].is_ascii_uppercase()
}

/// True for words that are values of their own kind in some language or format.
fn is_keyword(value: &[u8]) -> bool {
    words::contains_word(words::KEYWORDS, value.trim_ascii())
}

/// `your-api-key`, `REPLACE_ME`, `example_token`, `insert password here`.
fn asks_to_be_replaced(value: &[u8]) -> bool {
    // `changeit` with a number is what many make of Java's default.
    let numbered = || {
        let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        value[..letters].eq_ignore_ascii_case(b"changeit")
            && value[letters..].iter().all(u8::is_ascii_digit)
    };
    let change = || value.len() >= 9 && value[..6].eq_ignore_ascii_case(b"change") && !numbered();
    alphanumeric_words(value).any(|word| words::contains_word(words::REQUESTS, word))
        || is_constant(value)
        || change()
}

/// True for a word that holds sentences together.
pub(super) fn is_function_word(word: &[u8]) -> bool {
    words::contains_word(words::GLUE, word)
}

/// True for a text for people, rather than a secret with blanks in it.
pub(super) fn is_prose(value: &[u8]) -> bool {
    let many = value.trim_ascii().contains(&b' ');
    let foreign =
        value.iter().any(|byte| !byte.is_ascii()) && !value.iter().any(u8::is_ascii_digit);
    many && (foreign
        || alphanumeric_words(value)
            .any(|word| words::contains_word(words::GLUE, word) || is_label(word)))
}

/// True for an unquoted word that more words follow: `password: hashed with argon2`.
pub(super) fn is_sentence(word: &[u8], behind: &[u8]) -> bool {
    let plain = word
        .iter()
        .all(|byte| byte.is_ascii_alphabetic() || b"-'.()/?!:".contains(byte) || !byte.is_ascii());
    let goes_on = matches!(behind, [b' ', next, ..] if next.is_ascii_alphabetic());
    let ends = word.ends_with(b".")
        || word.ends_with(b"?")
        || word.ends_with(b"!")
        || word.ends_with(b":");
    plain && (goes_on || ends)
}

/// True for too little variety to be generated: a row of the same letter, or a mask behind a real
/// prefix.
pub(super) fn lacks_variety(secret: &[u8]) -> bool {
    let mut seen = [false; 256];
    for &byte in secret {
        seen[usize::from(byte)] = true;
    }
    let kinds = seen.iter().filter(|&&seen| seen).count();
    kinds < 6 || has_mask(secret)
}

/// True for five or more of the characters that people type to hide a value.
fn has_mask(value: &[u8]) -> bool {
    value.windows(5).any(|five| five.iter().all(|byte| b"xX*.".contains(byte)))
}

fn alphanumeric_words(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}
