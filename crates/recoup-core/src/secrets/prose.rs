//! Passwords in sentences: "the admin password is letmein", "log in with admin / sesame", `密码是太阳花`.
//! The word itself does not show that it is one; the sentence does. Places and states are no
//! passwords: "the password is in the vault".

use std::ops::Range;

use super::prose_word::{ProseWord, line_after, line_before, words_of};
use super::word_form::{self, PasswordLikeness};
use super::words::{self, contains_word};

/// Most words between a name and its value.
const NEAR: usize = 10;

/// The kind of credential that a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnnouncedKind {
    /// `password`: its value may be a plain word.
    Password,
    /// `token`, `key`: its value looks as if a machine had made it.
    Token,
    /// `pin`: its value is a number.
    Code,
}

/// Matches at the literals that names of passwords contain, in any language.
pub(super) fn find_told_password(text: &[u8], at: usize) -> Option<Range<usize>> {
    let (name, range) = name_around(text, at)?;
    // Code and settings have rules of their own.
    let quoted = matches!(text.get(range.end), Some(b'"' | b'\'' | b'`'));
    let end = range.end + usize::from(quoted);
    let range = range.start..end;
    // The name ends a sentence in a string of JSON: the value stands before it.
    let alone = range.start > 0 && b"\"'`".contains(&text[range.start - 1]);
    if quoted && !alone && words::closes_string(text, end - 1) && text.get(end) != Some(&b':') {
        return value_before(text, name, range.start);
    }
    match text.get(end) {
        Some(b':' | b'=' | b',' | b')' | b']' | b'}') if quoted => return None,
        Some(
            b'_' | b'(' | b'[' | b'/' | b'\\' | b'@' | b'$' | b'=' | b'"' | b'\'' | b'<' | b'>'
            | b'{',
        ) => {
            return None;
        }
        _ => {}
    }
    let line = line_after(text, range.end);
    // The values of tokens and codes have digits; most lines have none.
    let ends = text[line.clone()].trim_ascii_end().last();
    let digits = text[line.clone()].iter().any(u8::is_ascii_digit);
    if name != AnnouncedKind::Password
        && !digits
        && ends.is_some_and(|byte| byte.is_ascii_alphanumeric() || b".,;".contains(byte))
        && !text[line_before(text, range.start)].starts_with(b"$ ")
    {
        return None;
    }
    let sign = ["：", ":"].iter().find(|sign| text[range.end..].starts_with(sign.as_bytes()));
    let start = line.end.min(range.end + sign.map_or(0, |sign| sign.len()));
    let behind = words_of(text, start..line.end);
    value_behind(text, name, &range, &behind)
        .or_else(|| value_below(text, name, &range, line))
        .or_else(|| value_before(text, name, range.start))
        .filter(|value| !value.is_empty())
}

/// The name around `at`, and where it is. A compound may end with one: `WLAN-Passwort`.
fn name_around(text: &[u8], at: usize) -> Option<(AnnouncedKind, Range<usize>)> {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || !byte.is_ascii() || *byte == b'-';
    // A literal may begin with the blank before its name, or with the word before `code`.
    let code = text[at..].iter().take(14).position(|&byte| byte == b' ').filter(|&blank| {
        text[at + blank + 1..].get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"code"))
    });
    let at = at + code.map_or(usize::from(text[at] == b' '), |blank| blank + 1);
    let before = text[..at].iter().rev().take(24).take_while(|byte| letter(byte)).count();
    let after = text[at..].iter().take(24).take_while(|byte| letter(byte)).count();
    let range = at - before..at + after;
    if range.start > 0
        && (text[range.start - 1].is_ascii_alphanumeric()
            || b"_.$@/<#\\".contains(&text[range.start - 1]))
    {
        return None;
    }
    let word = &text[range.clone()];
    let last = word.rsplit(|&byte| byte == b'-').next().unwrap_or(word);
    // `Datenbankpasswort`, `WLANKennwort`
    let compound =
        last.len() > 8 && contains_word(&["passwort", "kennwort"], &last[last.len() - 8..]);
    if compound || contains_word(words::PASSWORDS, last) || contains_word(words::PASSWORDS, word) {
        // `passe` and `parola` are words of their own.
        let whole = !last.eq_ignore_ascii_case(b"passe") || {
            let before = &text[range.start.saturating_sub(7)..range.start];
            before.eq_ignore_ascii_case(b"mot de ")
        };
        let strength = match last {
            b"pass" | b"Pass" | b"PASS" | b"parola" => AnnouncedKind::Token,
            _ => AnnouncedKind::Password,
        };
        return whole.then_some((strength, range));
    }
    if contains_word(words::CODES, last) {
        return Some((AnnouncedKind::Code, range));
    }
    if last.eq_ignore_ascii_case(b"code") || last.eq_ignore_ascii_case(b"codes") {
        let previous = words_of(text, line_before(text, range.start)).pop()?;
        let code = contains_word(words::OPENS, previous.value_bytes(text));
        let made = contains_word(&["recovery", "backup"], previous.value_bytes(text));
        let name = if made { AnnouncedKind::Password } else { AnnouncedKind::Code };
        return code.then_some((name, range));
    }
    if !contains_word(words::TOKENS, last) {
        return None;
    }
    // "the cache key", "the primary key"
    let joined = words_of(text, line_before(text, range.start))
        .pop()
        .map(|previous| [previous.value_bytes(text), last].concat().to_ascii_lowercase());
    let other = joined.is_some_and(|name| contains_word(words::NEVER, &name));
    (!other).then_some((AnnouncedKind::Token, range))
}

/// The value among the words behind a name.
fn value_behind(
    text: &[u8],
    name: AnnouncedKind,
    range: &Range<usize>,
    behind: &[ProseWord],
) -> Option<Range<usize>> {
    let mut linked = ["：", ":"].iter().any(|sign| text[range.end..].starts_with(sign.as_bytes()));
    // Settings and code have their own rules: a plain word behind a sign counts only beside a user.
    let has_before = |most: usize, list: &[&str]| {
        let before = words_of(text, line_before(text, range.start));
        before.iter().rev().take(most).any(|word| contains_word(list, word.value_bytes(text)))
    };
    let announced = || has_before(2, words::WITH);
    let beside_user = || has_before(6, words::USER_NAMES);
    let mut plain_word = linked && (announced() || beside_user());
    // "the password field", "the key id"
    if behind.first().is_some_and(|word| contains_word(words::COMPOUNDS, word.value_bytes(text))) {
        return None;
    }
    for (at, word) in behind.iter().take(NEAR).enumerate() {
        let plain = word.value_bytes(text);
        if !linked && contains_word(words::IS, word.value_or_sign(text)) {
            linked = true;
            plain_word = word
                .value_or_sign(text)
                .iter()
                .any(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
            continue;
        }
        if linked && contains_word(words::STILL, plain) {
            continue;
        }
        let value = word.value(text);
        if linked {
            let last = behind[at..].iter().find(|word| word.ends_clause(text)).or(behind.last());
            let last = last.filter(|_| is_passphrase(text, behind, at));
            let end = last.map_or(value.end, |word| word.value(text).end);
            let accepted = can_be_value(text, name, behind, at, plain_word);
            return accepted
                .then_some(value.start..end)
                .or_else(|| last_of_line(text, name, range, behind));
        }
        // "the password Tr0ub4dor", "reset her password to Mellow.Fig204"
        let before = at.checked_sub(1).map(|before| behind[before].value_bytes(text));
        let led = before.is_some_and(|before| contains_word(words::TO, before));
        let adjacent = name == AnnouncedKind::Password && at == 0 && (announced() || beside_user());
        let clearly = word_form::rate_password(&text[value.clone()]) == PasswordLikeness::Clearly;
        let several = text[value.clone()].contains(&b' ')
            || word_form::rate_password(&text[value.clone()]) > PasswordLikeness::No;
        let quoted = word.is_quoted(text) && value.len() >= 6 && several;
        let fits = match name {
            AnnouncedKind::Password if quoted && (led || adjacent) => {
                !word_form::is_prose(&text[value.clone()]) && is_literal_value(&text[value.clone()])
            }
            AnnouncedKind::Password if adjacent => {
                can_be_value(text, name, behind, at, announced())
            }
            AnnouncedKind::Password
                if at == 0
                    && word_form::rate_password(&text[value.clone()])
                        == PasswordLikeness::Perhaps =>
            {
                !word_form::is_identifier(&text[value.clone()])
                    && is_literal_value(&text[value.clone()])
            }
            AnnouncedKind::Password => clearly && is_literal_value(&text[value.clone()]),
            AnnouncedKind::Code => is_number(&text[value.clone()]),
            AnnouncedKind::Token => false,
        };
        // "rename password to passphrase2": a name with a number.
        let named = matches!(&text[value.clone()], [name @ .., b'0'..=b'9'] if contains_word(words::PASSWORDS, name));
        if fits && !named {
            return Some(value);
        }
        if word.ends_sentence(text) || !word.is_prose(text) {
            return last_of_line(text, name, range, behind);
        }
    }
    last_of_line(text, name, range, behind)
}

/// "A temporary password is generated for root@localhost: q7/Xd!fkE>3s"
fn last_of_line(
    text: &[u8],
    name: AnnouncedKind,
    range: &Range<usize>,
    behind: &[ProseWord],
) -> Option<Range<usize>> {
    let [.., before, last] = behind else { return None };
    let announced = text[before.raw.clone()].ends_with(b":");
    let value = last.value(text);
    let word = &text[value.clone()];
    let chosen =
        word_form::rate_password(word) > PasswordLikeness::No && !word_form::is_identifier(word);
    let fits = match name {
        AnnouncedKind::Password => chosen,
        // "the API token for staging: 9f8b7c6d5e4f3a2b". Other keys than these have fingerprints.
        AnnouncedKind::Token => {
            let key = text[range.clone()].to_ascii_lowercase().ends_with(b"key");
            let opens = || {
                let before = words_of(text, line_before(text, range.start));
                before.last().is_some_and(|word| {
                    contains_word(&["api", "access", "secret"], word.value_bytes(text))
                })
            };
            let made = word_form::looks_random(word) || word.len() >= 16 && word_form::is_hex(word);
            let plain =
                word.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte));
            made && plain && !word_form::is_identifier(word) && (!key || opens())
        }
        AnnouncedKind::Code => false,
    };
    (announced && fits && is_literal_value(word)).then_some(value)
}

/// True if the word at `at` can be the value of `name`.
fn can_be_value(
    text: &[u8],
    name: AnnouncedKind,
    words: &[ProseWord],
    at: usize,
    plain_word: bool,
) -> bool {
    let word = &words[at];
    let value = &text[word.value(text)];
    let quoted = word.is_quoted(text);
    // "base64-encoded", "PBKDF2-hashed": a method and a participle.
    let is_treatment = || {
        let dash = value.iter().rposition(|&byte| byte == b'-');
        dash.is_some_and(|dash| {
            word_form::is_technical(&value[..dash]) && value[dash..].ends_with(b"ed")
        })
    };
    if !is_literal_value(value) || !quoted && is_treatment() {
        return false;
    }
    match name {
        AnnouncedKind::Code => is_number(value),
        AnnouncedKind::Token => {
            let made =
                word_form::looks_random(value) || value.len() >= 16 && word_form::is_hex(value);
            made || word_form::rate_password(value) == PasswordLikeness::Clearly && plain_word
        }
        AnnouncedKind::Password => {
            let long = value.len() >= 12 && word_form::is_hex(value);
            let number = value.len() >= 4 && value.iter().all(u8::is_ascii_digit);
            if quoted && value.contains(&b' ') {
                return value.iter().any(u8::is_ascii_digit) && !word_form::is_prose(value);
            }
            word_form::rate_password(value) > PasswordLikeness::No
                || word_form::looks_random(value)
                || long
                || number && plain_word
                || plain_word && is_plain_password(text, words, at)
                || is_passphrase(text, words, at)
        }
    }
}

/// Endings of participles and adjectives, in several languages.
const STATE_ENDINGS: [&[u8]; 24] = [
    b"ed", b"ing", b"able", b"ible", b"ful", b"less", b"ory", b"ous", b"ive", b"ary", b"lich",
    b"bar", b"iert", b"ado", b"ada", b"ido", b"ida", b"ato", b"ata", b"uto", b"uta", b"ly", b"ten",
    b"ent",
];

/// True for a plain word that is all that is said: "the wifi password is swordfish".
fn is_plain_password(text: &[u8], words: &[ProseWord], at: usize) -> bool {
    let word = &words[at];
    let value = &text[word.value(text)];
    let quoted = word.is_quoted(text);
    let whole = quoted
        || word.ends_clause(text)
        || match words.get(at + 1) {
            // The sentence may go on below.
            None => {
                let below = &text[word.raw.end..text.len().min(word.raw.end + 40)];
                let is_margin =
                    |byte: &&u8| byte.is_ascii_whitespace() || b"#/*->|!".contains(byte);
                !below.iter().find(|byte| !is_margin(byte)).is_some_and(u8::is_ascii_lowercase)
            }
            Some(next) => {
                contains_word(words::AFTER, next.value_bytes(text))
                    || &text[next.raw.clone()] == b"/"
            }
        };
    let letters = value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_!".contains(byte));
    let variable = value.contains(&b'_') && !value.iter().any(u8::is_ascii_lowercase);
    // It describes a password: its state, or how it is treated.
    let lower = value.to_ascii_lowercase();
    let is_state = contains_word(words::STATES, &lower)
        || lower.len() > 4 && STATE_ENDINGS.iter().any(|end| lower.ends_with(end))
        || lower.len() > 5 && lower.starts_with(b"ge") && lower.ends_with(b"t");
    whole
        && letters
        && value.len() > 2
        && !variable
        && (quoted || !is_state)
        && !contains_word(words::PASSWORDS, value)
}

/// "passphrase = correct otter staple lagoon": four words or more, and no sentence.
fn is_passphrase(text: &[u8], words: &[ProseWord], at: usize) -> bool {
    let rest = &words[at..];
    let end = rest.iter().position(|word| word.ends_clause(text)).map_or(rest.len(), |at| at + 1);
    let plain = |word: &ProseWord| {
        let word = word.value_bytes(text);
        word.len() > 2 && word.iter().all(u8::is_ascii_lowercase)
    };
    let phrase = &rest[..end];
    let glued = phrase.iter().any(|word| word_form::is_function_word(word.value_bytes(text)));
    let assigned = at > 0 && &text[words[at - 1].raw.clone()] == b"=";
    assigned && (4..=12).contains(&end) && phrase.iter().all(plain) && !glued
}

/// Value on a line of its own, below a line that asks for a password or that a shell runs for one:
/// "use the following password:", "$ kubectl get secret …".
fn value_below(
    text: &[u8],
    name: AnnouncedKind,
    range: &Range<usize>,
    line: Range<usize>,
) -> Option<Range<usize>> {
    let trimmed = text[range.start..line.end].trim_ascii_end();
    let before = line_before(text, range.start);
    let prompt = matches!(text[before].trim_ascii_start(), [b'$' | b'#' | b'%', b' ', ..]);
    let asks =
        trimmed.ends_with(b":") || trimmed.ends_with(b"?") || trimmed.ends_with("：".as_bytes());
    if !asks && !prompt || text.get(line.end) != Some(&b'\n') {
        return None;
    }
    let blank =
        text[line.end..].iter().take(80).take_while(|byte| byte.is_ascii_whitespace()).count();
    let below = line_after(text, line.end + blank);
    let words = words_of(text, below.clone());
    let last = words.last()?;
    // A message may have its time and its sender before it.
    let alone = match &words[..words.len() - 1] {
        [] => true,
        [.., sender] => {
            trimmed.ends_with(b"?") && text[sender.raw.clone()].ends_with(b":") && words.len() <= 4
        }
    };
    let value = last.value(text);
    let word = &text[value.clone()];
    let made = word_form::looks_random(word) || word.len() >= 16 && word_form::is_hex(word);
    let chosen = word_form::rate_password(word) == PasswordLikeness::Clearly;
    let fits = made && !word.iter().any(|byte| b"/:".contains(byte))
        || chosen && name != AnnouncedKind::Code;
    (alone && fits && is_literal_value(word)).then_some(value)
}

/// "Tr0ub4dor&3 is the password", "use Tr0ub4dor as password".
fn value_before(text: &[u8], name: AnnouncedKind, at: usize) -> Option<Range<usize>> {
    if name != AnnouncedKind::Password {
        return None;
    }
    let words = words_of(text, line_before(text, at));
    let mut before = words
        .iter()
        .rev()
        .take(5)
        .skip_while(|word| contains_word(words::ARTICLES, word.value_bytes(text)));
    let link = before.next()?;
    let links = contains_word(
        &["is", "as", "ist", "als", "est", "comme", "es", "como", "è", "come", "é"],
        link.value_or_sign(text),
    );
    let word = before.next()?;
    let value = word.value(text);
    let password = &text[value.clone()];
    let chosen = word_form::rate_password(password);
    let phrase = password.contains(&b' ')
        && password.iter().any(u8::is_ascii_digit)
        && !word_form::is_prose(password);
    let told = chosen == PasswordLikeness::Clearly
        || word.is_quoted(text) && (chosen > PasswordLikeness::No || phrase);
    (links && told && is_literal_value(password)).then_some(value)
}

/// True for a literal: no placeholder, no mark of ours, nothing that a shell fills in.
pub(super) fn is_literal_value(value: &[u8]) -> bool {
    value.len() > 1
        && !b"[ `<".contains(&value[0])
        && !value.contains(&b'{')
        && !word_form::is_placeholder(value)
}

/// Four to ten digits.
fn is_number(value: &[u8]) -> bool {
    (4..=10).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Matches at the literals that announce a login: `creds: ada:sesame1`.
pub(super) fn find_announced(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = line_after(text, at);
    let word =
        words_of(text, line).into_iter().find(|word| !text[word.raw.clone()].ends_with(b":"))?;
    let value = word.value(text);
    let sign = text[value.clone()]
        .iter()
        .position(|byte| b":/".contains(byte))
        .filter(|&sign| sign > 0)?;
    let password = value.start + sign + 1..value.end;
    let chosen = word_form::rate_password(&text[password.clone()]) > PasswordLikeness::No;
    (chosen && is_literal_value(&text[password.clone()])).then_some(password)
}

/// Matches at the literal ` / `, and at `admin/` and the like: a user and a password.
pub(super) fn find_pair(text: &[u8], at: usize) -> Option<Range<usize>> {
    let slash = at + text[at..].iter().take(12).position(|&byte| byte == b'/')?;
    let apart = text.get(slash + 1) == Some(&b' ');
    let before = words_of(text, line_before(text, slash));
    let behind = words_of(text, line_after(text, slash + 1));
    let (user, word) = (before.last()?, behind.first()?);
    let value = word.value(text);
    let password = &text[value.clone()];
    let name = user.value_bytes(text);
    if name.is_empty()
        || !is_literal_value(password)
        || contains_word(words::KINDS, name)
        || contains_word(words::KINDS, password)
    {
        return None;
    }
    let logs =
        before.iter().rev().take(6).any(|word| contains_word(words::LOGIN, word.value_bytes(text)));
    let with = before.iter().rev().take(3).any(|word| {
        let plain = word.value_bytes(text);
        contains_word(words::WITH, plain)
            || contains_word(words::IS, plain)
            || text[word.raw.clone()].ends_with(b":")
    });
    let known = contains_word(words::USERS, name);
    let chosen = word_form::rate_password(password);
    let plain = password.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_!".contains(byte));
    // A small letter, a digit, and a capital or a sign.
    let has = |is: fn(&u8) -> bool| password.iter().any(is);
    let mixed = password.len() >= 8
        && has(u8::is_ascii_lowercase)
        && has(u8::is_ascii_digit)
        && has(|byte| byte.is_ascii_uppercase() || b"!#$&@%+".contains(byte));
    let mail = name.contains(&b'@');
    let user_like = name
        .iter()
        .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(byte));
    let told = if apart {
        chosen == PasswordLikeness::Clearly && (logs || known || mail || user_like && mixed)
            || logs
                && (with || known)
                && (plain || chosen > PasswordLikeness::No)
                && !contains_word(words::STATES, password)
    } else {
        let joined = word.raw.start == slash + 1 && user.raw.end == slash;
        let twice = known && name.eq_ignore_ascii_case(password);
        joined
            && (twice
                || known
                    && logs
                    && with
                    && !password.contains(&b'/')
                    && (plain || chosen > PasswordLikeness::No))
    };
    told.then_some(value)
}

/// Matches at names in runs without blanks: `密码是太阳花`.
pub(super) fn find_in_run(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = words::RUN_NAMES.iter().find(|name| text[at..].starts_with(name.as_bytes()))?;
    let start = at + name.len();
    let line = line_after(text, start);
    let behind = str::from_utf8(&text[line.clone()]).ok()?;
    let (gap, is) = words::RUN_IS.iter().filter_map(|is| Some((behind.find(is)?, *is))).min()?;
    if behind[..gap].chars().count() > 6 {
        return None;
    }
    let from = gap + is.len();
    let rest = &behind[from..];
    let end = rest
        .find(['，', '。', '、', '！', '；', ',', ';', '！', '"', '<', '」'])
        .unwrap_or(rest.len());
    let value = rest[..end].trim_end().trim_end_matches("です").trim_end_matches('だ').trim();
    let start = line.start + from + rest.find(value)?;
    let token = ["密钥", "密鑰", "令牌", "トークン", "鍵", "キー"].contains(name);
    let bytes = value.as_bytes();
    let made = word_form::rate_password(bytes) == PasswordLikeness::Clearly
        || word_form::looks_random(bytes);
    let plain = (1..=16).contains(&value.chars().count())
        && !words::RUN_STATES.iter().any(|it| value.contains(it))
        && !value.contains(['/', '$', '{', '_', '\\', '*', '[']);
    let fits = made
        || plain && !token && !value.is_ascii()
        || word_form::rate_password(bytes) > PasswordLikeness::No && !token;
    (fits && is_literal_value(bytes)).then(|| start..start + value.len())
}

/// Matches at the names of seed phrases: twelve words or more in a row.
pub(super) fn find_seed(text: &[u8], at: usize) -> Option<Range<usize>> {
    let named = text[at] != b' '
        || words_of(text, line_before(text, at)).last().is_some_and(|word| {
            contains_word(
                &["seed", "recovery", "secret", "mnemonic", "backup", "wallet"],
                word.value_bytes(text),
            )
        });
    if !named {
        return None;
    }
    let rest = &text[at..text.len().min(at + 400)];
    let mut run: Option<(usize, usize, usize)> = None;
    let mut from = 0;
    for word in rest.split(u8::is_ascii_whitespace) {
        let range = (from, from + word.len());
        from += word.len() + 1;
        let plain = (3..=8).contains(&word.len()) && word.iter().all(u8::is_ascii_lowercase);
        run = match run {
            Some((start, _, count)) if plain => Some((start, range.1, count + 1)),
            Some((start, end, count)) if count >= 12 => return Some(at + start..at + end),
            // A phrase begins behind a sign, as no sentence does.
            _ => {
                let before = rest[..range.0].trim_ascii_end().last();
                let begins = before.is_some_and(|byte| b":=\"'`".contains(byte));
                (plain && begins).then_some((range.0, range.1, 1))
            }
        };
    }
    run.filter(|(_, _, count)| *count >= 12).map(|(start, end, _)| at + start..at + end)
}
