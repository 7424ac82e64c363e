//! A credential's name with a value: `password=…`, `"api_key": "…"`, `<secret>…</secret>`, `--token …`,
//! and pairs such as `{"name": "DB_PASSWORD", "value": "…"}`, in whatever language or format. Also
//! among the arguments of calls that log in: `ftp.login("user", "…")`.

use std::ops::Range;

use super::slot;
use super::value::{CredentialContext, CredentialName, ValueLink, ValueSpan, is_place, name_range};
use super::word_form::{self, PasswordLikeness, looks_generated, looks_random};

/// Greatest distance of a value from its name: two lines of deep YAML.
const GAP: usize = 48;
/// Greatest distance of a key from its service's name.
const NEAR: usize = 160;
/// Most bytes of a call's arguments that are examined.
const LONGEST_CALL: usize = 400;

/// Matches at the literals that names of credentials contain.
pub(super) fn find_assigned(text: &[u8], at: usize) -> Option<Range<usize>> {
    // Checked first, because most names have no value.
    let mut range = name_range(text, at);
    let (link, at) = match method_call(text, &range) {
        Some((name, value)) => {
            range = name;
            (ValueLink::Call, value)
        }
        None => find_link(text, &range)?,
    };
    let name = CredentialName::read(text, range)?;
    let value = ValueSpan::read(text, at)?;
    let context = CredentialContext { text, name: &name, link };
    if context.is_credential(&value) {
        return Some(value.range);
    }
    if let Some(value) = unwrap_call(text, &value) {
        let context = CredentialContext { text, name: &name, link: ValueLink::Call };
        return context.is_credential(&value).then_some(value.range);
    }
    // `password: str = "…"`: what stood behind the colon was a type.
    if link != ValueLink::Colon || value.quote.is_some() {
        return None;
    }
    let start = value.range.start;
    let mut rest = text[start..text.len().min(start + GAP)].iter();
    let equals = start + rest.position(|byte| b"=\n\"',;".contains(byte))?;
    if text[equals] != b'=' || matches!(text.get(equals + 1), Some(b'=' | b'>')) {
        return None;
    }
    let value = ValueSpan::read(text, skip_blanks(text, equals + 1))?;
    let context = CredentialContext { text, name: &name, link: ValueLink::Typed };
    context.is_credential(&value).then_some(value.range)
}

/// `password.equals("…")`: a call on the named thing, and the start of its argument.
fn method_call(text: &[u8], name: &Range<usize>) -> Option<(Range<usize>, usize)> {
    if text.get(name.end) != Some(&b'(') || !matches!(text.get(name.end + 1), Some(b'"' | b'\'')) {
        return None;
    }
    // `setPassword("…")`, or a call on the name.
    let own = CredentialName::read(text, name.clone()).is_some();
    let dot = text[name.clone()].iter().rposition(|&byte| byte == b'.');
    let end = if own { name.len() } else { dot? };
    Some((name.start..name.start + end, name.end + 1))
}

/// `[]byte("…")`, `Key.fromUtf8('…')`: a literal that is only wrapped.
fn unwrap_call(text: &[u8], value: &ValueSpan) -> Option<ValueSpan> {
    let start = value.range.start;
    let head = text.get(start..text.len().min(start + GAP))?;
    let open =
        head.iter().position(|byte| b"(\n;,".contains(byte)).filter(|&at| head[at] == b'(')?;
    let call = head[..open]
        .iter()
        .all(|&byte| byte.is_ascii_alphanumeric() || b"_.:[]<> ".contains(&byte));
    let quoted = matches!(head.get(open + 1), Some(b'"' | b'\''));
    (value.quote.is_none() && call && quoted).then(|| ValueSpan::read(text, start + open + 1))?
}

/// Connection between a name and its value, and the start of the value.
fn find_link(text: &[u8], name: &Range<usize>) -> Option<(ValueLink, usize)> {
    let (behind, closed) = skip_quote(text, name.end);
    // `config["password"] = …`
    let behind = behind + usize::from(closed && text.get(behind) == Some(&b']'));
    let at = skip_blanks(text, behind);
    // A quoted name, a colon and a quoted value, on lines of their own.
    let colon = skip_gap(text, behind);
    if closed && text.get(colon) == Some(&b':') {
        let value = skip_gap(text, colon + 1);
        if matches!(text.get(value), Some(b'"' | b'\'')) {
            return Some((ValueLink::Colon, value));
        }
    }
    // `label="Password"`: the name is a value itself.
    if closed && matches!(text[..name.start], [.., b'=', b'"' | b'\'']) {
        return pair_link(text, closed, at);
    }
    // `arn:aws:…:secret:prod/db`: a part of a name.
    if text[..name.start].ends_with(b":") && text.get(name.end) == Some(&b':') {
        return None;
    }
    let word = &text[name.clone()];
    let is_flag = word.starts_with(b"--") || word.starts_with(b"-") && word.len() > 4;
    match text[at..] {
        [b'=', b'=', b'=', b' ', b'"' | b'\'', ..] => Some((ValueLink::Call, at + 4)),
        [b'=', b'=', b' ', b'"' | b'\'', ..] => Some((ValueLink::Call, at + 3)),
        // Comparisons, and paths of types.
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] => None,
        [b'=', b'>', ..] => Some((ValueLink::Colon, skip_blanks(text, at + 2))),
        [b':' | b'?', b'=', ..] => Some((ValueLink::Equals, skip_blanks(text, at + 2))),
        [b'=', ..] => Some((ValueLink::Equals, skip_blanks(text, at + 1))),
        [b':', ..] => Some((ValueLink::Colon, skip_block(text, skip_blanks(text, at + 1)))),
        [b'>', ..] if text[..name.start].ends_with(b"<") => Some((ValueLink::Tag, at + 1)),
        // `--password VALUE`. The dashes are part of the name.
        _ if is_flag && at > name.end => Some((ValueLink::Flag, at)),
        _ => pair_link(text, closed, at).or_else(|| argument_link(text, name, closed, at)),
    }
}

/// `define('DB_PASSWORD', '…')`, `fill('#password', '…')`, `get('#password').type('…')`.
fn argument_link(
    text: &[u8],
    name: &Range<usize>,
    closed: bool,
    at: usize,
) -> Option<(ValueLink, usize)> {
    if !closed {
        return None;
    }
    let quoted = |at: usize| matches!(text.get(at), Some(b'"' | b'\'')).then_some(at);
    match text.get(at)? {
        b',' => {
            let value = quoted(skip_blanks(text, at + 1))?;
            let before = &text[name.start.saturating_sub(12)..name.start];
            let defines = before.windows(6).any(|window| window == b"define");
            Some((if defines { ValueLink::Colon } else { ValueLink::Call }, value))
        }
        b')' => {
            let brackets = text[at..].iter().take(4).take_while(|&&byte| byte == b')').count();
            let rest = text.get(at + brackets..)?.strip_prefix(b".")?;
            let method = rest
                .iter()
                .take(24)
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
            let open = text.len() - rest.len() + method;
            (text.get(open) == Some(&b'('))
                .then(|| quoted(open + 1))
                .flatten()
                .map(|value| (ValueLink::Call, value))
        }
        _ => None,
    }
}

/// The name as a value: `name: DB_PASSWORD` and `value: …` on the next line.
fn pair_link(text: &[u8], closed: bool, at: usize) -> Option<(ValueLink, usize)> {
    let at = match text.get(at)? {
        b',' if closed => at + 1,
        b'v' | b'V' if closed => at,
        b'\n' | b'\r' | b'\\' => at,
        _ => return None,
    };
    let (at, _) = skip_quote(text, skip_gap(text, at));
    let rest = text.get(at..)?.strip_prefix(b"value").or(text.get(at..)?.strip_prefix(b"Value"))?;
    let (at, _) = skip_quote(text, text.len() - rest.len());
    let at = skip_blanks(text, at);
    matches!(text.get(at), Some(b':' | b'=')).then(|| (ValueLink::Pair, skip_blanks(text, at + 1)))
}

/// Skips a closing quote, which may be escaped (`\"`) more than once.
fn skip_quote(text: &[u8], at: usize) -> (usize, bool) {
    let escapes = text[at..].iter().take(4).take_while(|&&byte| byte == b'\\').count();
    match text.get(at + escapes) {
        Some(b'"' | b'\'' | b'`') => (at + escapes + 1, true),
        Some(b']') if escapes == 0 => (at + 1, true),
        _ => (at, false),
    }
}

fn skip_blanks(text: &[u8], at: usize) -> usize {
    at + text[at..].iter().take(GAP).take_while(|byte| b" \t".contains(byte)).count()
}

/// Skips the `|` or `>-` with which YAML announces lines of text.
fn skip_block(text: &[u8], at: usize) -> usize {
    match text[at..] {
        [b'|' | b'>', b'\n', ..] => skip_gap(text, at + 1),
        [b'|' | b'>', b'-' | b'+', b'\n', ..] => skip_gap(text, at + 2),
        _ => at,
    }
}

/// Skips blanks, and line breaks as they are or as JSON writes them.
fn skip_gap(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while end < at + GAP {
        end += match text[end..] {
            [b' ' | b'\t' | b'\r' | b'\n', ..] => 1,
            [b'\\', b'n' | b'r' | b't', ..] => 2,
            _ => break,
        };
    }
    end
}

/// Matches at the names of services: `ALGOLIA_ADMIN=…`, and a key of theirs on the same line.
pub(super) fn find_vendor(text: &[u8], at: usize) -> Option<Range<usize>> {
    let name = name_range(text, at);
    if let Some((_, start)) = find_link(text, &name) {
        let value = ValueSpan::read(text, start)?;
        let literal = &text[value.range.clone()];
        let generated = looks_generated(literal) && literal.len() >= 20 && !is_place(literal);
        if is_service_key(literal) || generated {
            return Some(value.range);
        }
    }
    let from = at.saturating_sub(NEAR);
    let from =
        from + text[from..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |line| line + 1);
    let to = text.len().min(at + NEAR);
    let to = at + text[at..to].iter().position(|&byte| byte == b'\n').unwrap_or(to - at);
    let line = text[from..to].to_ascii_lowercase();
    let words: [&[u8]; 5] = [b"key", b"token", b"secret", b"admin", b"auth"];
    if !words.iter().any(|word| line.windows(word.len()).any(|window| window == *word)) {
        return None;
    }
    let mut start = from;
    text[from..to].split(|byte| b" \t,;\"'`()/=:".contains(byte)).find_map(|word| {
        let range = start..start + word.len();
        start = range.end + 1;
        is_service_key(word).then_some(range)
    })
}

/// 32, 40 or 64 hexadecimal digits, perhaps behind the `SK` of Twilio; or three parts as Discord
/// has them.
fn is_service_key(word: &[u8]) -> bool {
    let hex = word.strip_prefix(b"SK").unwrap_or(word);
    let digits = matches!(hex.len(), 32 | 40 | 64) && hex.iter().all(u8::is_ascii_hexdigit);
    let parts: Vec<usize> = word.split(|&byte| byte == b'.').map(<[u8]>::len).collect();
    let parted = matches!(parts[..], [22..=28, 5..=7, 26..=40]) && looks_random(word);
    (digits && looks_random(hex)) || parted
}

/// Matches at the names of functions that take a user and a password, with their bracket.
pub(super) fn find_login(text: &[u8], at: usize) -> Option<Range<usize>> {
    let open = at + text[at..].iter().take(48).position(|&byte| byte == b'(')?;
    // The strings among the arguments, as long as these are strings, names or calls.
    let (mut strings, mut at, mut depth) = (Vec::new(), open + 1, 0);
    let end = text.len().min(at + LONGEST_CALL);
    while at < end {
        match text[at] {
            quote @ (b'"' | b'\'') => {
                let mut rest = text[at + 1..end].iter();
                let Some(len) = rest.position(|&byte| byte == quote || byte == b'\n') else {
                    break;
                };
                strings.push(at + 1..at + 1 + len);
                at += len + 1;
            }
            b'(' => depth += 1,
            b')' if depth == 0 => break,
            b')' => depth -= 1,
            b'{' | b'}' | b';' => break,
            _ => {}
        }
        at += 1;
    }
    let [_, others @ ..] = &strings[..] else { return None };
    let is_password = |value: &[u8]| {
        let grouped = value.len() == 19
            && value
                .split(|&byte| byte == b' ')
                .all(|group| group.len() == 4 && group.iter().all(u8::is_ascii_lowercase));
        let made =
            word_form::rate_password(value) == PasswordLikeness::Clearly || looks_random(value);
        (grouped || made) && slot::is_credential(value) && !word_form::is_prose(value)
    };
    others.iter().rev().take(2).find(|range| is_password(&text[(*range).clone()])).cloned()
}

/// Matches at the literals `@tcp(` and `@unix(`.
pub(super) fn find_data_source(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before =
        text[..at].iter().rev().take(128).take_while(|byte| !b" \t\n\"'`=".contains(byte)).count();
    let pair = &text[at - before..at];
    let colon = pair.iter().position(|&byte| byte == b':')?;
    let value = at - before + colon + 1..at;
    slot::is_credential(&text[value.clone()]).then_some(value)
}
