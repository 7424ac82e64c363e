//! Forms of words: generated ones, chosen passwords, those that only look like either (versions,
//! identifiers, hashes, addresses), and placeholders for secrets: `<your-api-key>`, `${VAR}`, `xxxx`,
//! `changeme`, `null`. And sentences, which only talk about secrets.

use super::words::{self, is_word};

/// Signs that are common in passwords and rare in names.
const ODD_SIGNS: &[u8] = b"!#$^*~?&%+@";

/// Likeness of a word to a password that somebody chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PasswordLikeness {
    /// A plain word, a path, an address, code.
    No,
    /// `Winter2024`, `hunter2`: so are versions. What stands before it must decide.
    Perhaps,
    /// `Tr0ub4dor&3`, `wobblyTable31`: no word, name or version is written so.
    Clearly,
}

/// True if a word alone has the form of a credential, or is the mark that stands for one.
pub fn looks_like_credential(word: &str) -> bool {
    let is_mark = |part: &[u8]| {
        [&b"hidden"[..], b"redacted"].iter().any(|mark| part.eq_ignore_ascii_case(mark))
    };
    let has_form =
        |part: &[u8]| looks_generated(part) || rate_password(part) == PasswordLikeness::Clearly;
    let bytes = word.as_bytes();
    super::detect_secret(bytes).is_some()
        || has_form(bytes)
        || bytes.split(|byte| *byte == b'/').any(|part| is_mark(part) || has_form(part))
}

/// True for at least 16 varied characters of two kinds, as generators make them.
pub(super) fn looks_random(literal: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| literal.iter().filter(|byte| is(byte)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    let token = literal.iter().all(|&byte| is_word(byte) || b"-.+/=~:%".contains(&byte));
    token && literal.len() >= 16 && digits >= 2 && letters >= 4 && !lacks_variety(literal)
}

/// True for random words that are not words joined by signs, a digest, a UUID, a date or a path.
pub(super) fn looks_generated(literal: &[u8]) -> bool {
    let mixed = |part: &[u8]| {
        part.iter().any(u8::is_ascii_digit) && part.iter().any(u8::is_ascii_alphabetic)
    };
    looks_random(literal)
        && !is_hex(literal)
        && alphanumeric_parts(literal).any(|part| part.len() >= 10 && mixed(part))
}

/// Only hexadecimal digits, and the dashes of a UUID.
pub(super) fn is_hex(literal: &[u8]) -> bool {
    literal.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
}

/// Rates the likeness of `word` to a chosen password.
pub(super) fn rate_password(word: &[u8]) -> PasswordLikeness {
    let count = |is: fn(&u8) -> bool| word.iter().filter(|byte| is(byte)).count();
    let letters = count(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let digits = count(u8::is_ascii_digit);
    let odd = word.iter().filter(|byte| ODD_SIGNS.contains(byte)).count();
    if !(5..=64).contains(&word.len())
        || letters < 2
        || digits == 0 && odd == 0
        || is_code_or_place(word)
        || is_technical(word)
    {
        return PasswordLikeness::No;
    }
    if digits == 0 || word.len() < 7 || is_identifier(word) || is_hex(word) {
        return if digits > 0 && !is_hex(word) {
            PasswordLikeness::Perhaps
        } else {
            PasswordLikeness::No
        };
    }
    let upper = word.iter().skip(1).any(u8::is_ascii_uppercase);
    let lower = word.iter().any(u8::is_ascii_lowercase);
    // A digit between letters, or before several, in a part that is long enough for it to be no
    // abbreviation: `Cl0udberry`, `7Tsubame`, but not `k8s`, `a11y` or `2fa`.
    let inner = alphanumeric_parts(word).any(|part| {
        let digit = part.iter().position(u8::is_ascii_digit).unwrap_or(part.len());
        let behind = part[digit..].iter().filter(|it| it.is_ascii_alphabetic()).count();
        part.len() >= 6 && behind >= 2 && !is_technical(part)
    });
    let clearly = inner || odd > 0 || upper && lower && digits > 1;
    if clearly { PasswordLikeness::Clearly } else { PasswordLikeness::Perhaps }
}

/// Addresses, paths, calls, templates, and pairs of names and values.
fn is_code_or_place(word: &[u8]) -> bool {
    let has = |part: &[u8]| word.windows(part.len()).any(|window| window == part);
    let bracket = word.iter().any(|byte| b"(){}[]<>`|\\\"".contains(byte));
    let wild = word.len() >= 10 && word.iter().filter(|byte| ODD_SIGNS.contains(byte)).count() > 0;
    let mail = word.iter().position(|&byte| byte == b'@').is_some_and(|at| {
        let host = &word[at + 1..];
        host.contains(&b'.') && host.iter().all(|&byte| is_word(byte) || b".-".contains(&byte))
    });
    let paired = word.iter().position(|byte| b"=:".contains(byte)).is_some_and(|at| {
        at > 0 && word[..at].iter().all(|&byte| byte.is_ascii_alphabetic() || b"_-".contains(&byte))
    });
    bracket && !wild
        || word.contains(&b',')
        || mail
        || paired
        || word.contains(&b'/') && !wild
        || ["://", "()", "->", "=>", "::", "${", "{{", "\\u"].iter().any(|it| has(it.as_bytes()))
        || matches!(word, [b'$' | b'-' | b'&' | b'#' | b'@', ..] | [b'0', b'x', ..])
}

/// `user_id_2`, `eu-central-1`, `v1.2.3-rc1`, `DB_PASSWORD2`, `2025-01-14T12`: words and
/// numbers, joined.
pub(super) fn is_identifier(word: &[u8]) -> bool {
    let joined = word.iter().any(|byte| b"-_.:".contains(byte));
    let plain = |part: &[u8]| {
        let letters = part.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let rest = &part[letters..];
        let same_case = part[..letters].iter().all(u8::is_ascii_lowercase)
            || part[..letters].iter().all(u8::is_ascii_uppercase);
        let number = rest.iter().all(u8::is_ascii_digit);
        // `12th`, `30s`, `14T12`
        let unit =
            letters == 0 && part.iter().filter(|byte| byte.is_ascii_alphabetic()).count() <= 2;
        number && same_case || unit
    };
    let signs = word.iter().any(|byte| ODD_SIGNS.contains(byte));
    joined && !signs && alphanumeric_parts(word).all(plain)
}

/// The name of an algorithm, a format, a protocol or a type, which has a number in it.
pub(super) fn is_technical(word: &[u8]) -> bool {
    let name = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let number = word[name..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let suffix = word.len() - name - number;
    let short = suffix <= if name == 1 { 1 } else { 5 };
    number > 0 && short && words::contains_word(words::NUMBERED, &word[..name])
}

pub(super) fn alphanumeric_parts(word: &[u8]) -> impl Iterator<Item = &[u8]> {
    word.split(|byte| !byte.is_ascii_alphanumeric()).filter(|part| !part.is_empty())
}

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
    let has = |part: &[u8]| value.windows(part.len()).any(|window| window == part);
    // `changeit` with a number is what many make of Java's default.
    let numbered = || {
        let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        value[..letters].eq_ignore_ascii_case(b"changeit")
            && value[letters..].iter().all(u8::is_ascii_digit)
    };
    // The last ones are the bytes of bullets and ellipses.
    let mask = |byte: &u8| b"xX*._-#?0 \xE2\x80\xA2\xA6\x97\x8F".contains(byte);
    // `xxxx`, `****`, `....`, `--------`: hardly any different characters.
    value.iter().all(mask)
        || value.iter().all(|byte| *byte == value[0])
        || ["...", "***", "…"].iter().any(|part| has(part.as_bytes()))
        || has_mask(value)
        || is_template(value)
        || words::contains_word(words::KEYWORDS, value.trim_ascii())
        // `your-api-key`, `REPLACE_ME`, `example_token`, `insert password here`.
        || alphanumeric_parts(value).any(|word| words::contains_word(words::REQUESTS, word))
        || is_constant(value)
        || value.len() >= 9 && value[..6].eq_ignore_ascii_case(b"change") && !numbered()
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
    // `$VAR`, `:bind`, `@bind`, `!Ref`, `&VAR`: a sign and a name.
    let in_name = |byte: &u8| byte.is_ascii_alphabetic() || b"_.-:> ".contains(byte);
    let is_reference = matches!(value, [b'$' | b':' | b'@' | b'!' | b'&' | b'<', rest @ ..]
        if !rest.is_empty() && (rest.iter().all(in_name) || is_constant(rest)));
    wrapped(b"<", b">")
        || wrapped(b"{", b"}")
        || wrapped(b"[", b"]")
        || wrapped(b"%", b"%")
        || wrapped(b"__", b"__")
        || wrapped(b"@", b"@")
        || marks.iter().any(|mark| has(mark))
        || is_reference
        || matches!(value, [b'%', b's' | b'v' | b'd' | b'q' | b'@'])
}

/// `DB_PASSWORD`: the name of a variable or constant.
fn is_constant(value: &[u8]) -> bool {
    let upper = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_';
    value.contains(&b'_') && value.iter().all(upper) && value[0].is_ascii_uppercase()
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
        || alphanumeric_parts(value)
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
