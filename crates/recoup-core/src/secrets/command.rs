//! A command line that holds no credential any more. Only this module can make one, and memory
//! learns from nothing else: whatever it keeps of a command has passed here.

use std::borrow::Cow;
use std::fmt;
use std::ops::{Deref, Range};

use super::prefilter;
use super::rules::{SecretShape, rule_by_number};
use super::scan::{redact_as, scan_all};
use super::slot::{CredentialSlot, ShellWord, SlotForm, SlotPlace, arguments_start, script_words};
use super::value::{CredentialName, NameStrength};
use super::values::SecretValues;
use super::word_form::HIDDEN;

/// Deepest nesting of commands in quotes.
const DEEPEST: usize = 3;

/// Shortest value that is hidden in output: shorter ones occur in any text.
const SHORTEST: usize = 4;

/// A shell line whose credentials read `[hidden]`.
#[derive(Clone, Default)]
pub struct RedactedCommand {
    line: String,
    /// The values taken out, the longest first, to be taken out of the command's output as well.
    /// Never shown or stored.
    hidden: Vec<String>,
}

impl RedactedCommand {
    /// Hides what the rules find, and whatever is in the place of a credential, even if it does not
    /// look like one: a command that fails may have its password in an odd place.
    pub fn new(line: &str) -> Self {
        let found = scan_all(line.as_bytes()).filter_map(|finding| line.get(finding.range));
        let mut hidden: Vec<String> = found.map(str::to_owned).collect();
        let known = redact_as(line, HIDDEN.as_bytes());
        let mut places = Vec::new();
        collect_hidden_ranges(known.as_bytes(), 0..known.len(), DEEPEST, &mut places);
        places.sort_by_key(|range| (range.start, usize::MAX - range.end));
        let mut shown = String::with_capacity(known.len());
        let mut from = 0;
        for range in places {
            if range.start >= from {
                shown.push_str(&known[from..range.start]);
                shown.push_str(HIDDEN);
                hidden.push(known[range.clone()].trim_matches(['"', '\'']).to_owned());
                from = range.end;
            }
        }
        shown.push_str(&known[from..]);
        hidden.retain(|value| value.len() >= SHORTEST && !value.starts_with("[hidden"));
        hidden.sort_by_key(|value| usize::MAX - value.len());
        Self { line: shown, hidden }
    }

    /// Hides the values that were taken out of the command in `text`: its output may repeat them.
    pub fn hide_values_in<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let found = self.hidden.iter().filter(|value| text.contains(value.as_str()));
        found.fold(Cow::Borrowed(text), |text, value| Cow::Owned(text.replace(value, HIDDEN)))
    }

    /// Hides these values, too.
    #[must_use]
    pub fn without_values(&self, values: &SecretValues) -> Self {
        Self { line: values.redact(&self.line).into_owned(), hidden: self.hidden.clone() }
    }

    /// Shortens the line with `shortened_by`.
    #[must_use]
    pub(crate) fn shortened_by<'a>(&'a self, cut: impl FnOnce(&'a str) -> Cow<'a, str>) -> Self {
        Self { line: cut(&self.line).into_owned(), hidden: self.hidden.clone() }
    }

    /// The line.
    pub fn as_str(&self) -> &str {
        &self.line
    }
}

/// Two are equal if they read the same.
impl PartialEq for RedactedCommand {
    fn eq(&self, other: &Self) -> bool {
        self.line == other.line
    }
}

impl Eq for RedactedCommand {}

impl fmt::Debug for RedactedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.line)
    }
}

impl Deref for RedactedCommand {
    type Target = str;

    fn deref(&self) -> &str {
        &self.line
    }
}

impl From<&str> for RedactedCommand {
    fn from(line: &str) -> Self {
        Self::new(line)
    }
}

impl From<String> for RedactedCommand {
    fn from(line: String) -> Self {
        Self::new(&line)
    }
}

impl fmt::Display for RedactedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

fn collect_hidden_ranges(
    text: &[u8],
    range: Range<usize>,
    depth: usize,
    places: &mut Vec<Range<usize>>,
) {
    for words in script_words(&text[..range.end], range.start) {
        for (at, word) in words.iter().enumerate() {
            // The program that this word names, which may stand behind a path, a bracket or a quote.
            let raw = &text[word.raw.clone()];
            let name = raw.iter().rposition(|byte| b"/\\(\"'`".contains(byte));
            let start = word.raw.start + name.map_or(0, |at| at + 1);
            for (number, len) in prefilter::rules_at(text, start) {
                let SecretShape::Slots(slots) = rule_by_number(number).shape else { continue };
                let Some(end) = arguments_start(text, start, len) else { continue };
                let own = words[at..].iter().take_while(|word| word.raw.start < end).count();
                let arguments = &words[at + own..];
                let values = slots.iter().flat_map(|slot| all_values(slot, text, word, arguments));
                places.extend(values.filter(|value| should_hide(text, value)));
            }
            let value = named_value(text, word, words.get(at + 1), words.get(at + 2));
            places.extend(value.filter(|value| should_hide(text, value)));
            let inner = word.value(text);
            let nested = inner.len() + 2 <= word.raw.len() && text[inner.clone()].contains(&b' ');
            if nested && depth > 0 {
                collect_hidden_ranges(text, inner, depth - 1, places);
            }
        }
    }
}

/// All values of a slot, and arguments that may be meant as one.
fn all_values(
    slot: &CredentialSlot,
    text: &[u8],
    program: &ShellWord,
    arguments: &[ShellWord],
) -> Vec<Range<usize>> {
    let mut values = slot.values(text, program.raw.start, arguments, false);
    // `mysql -p secret`: the password belongs to its flag, and this is how that is got wrong.
    if let SlotPlace::Joined(flag) = slot.place {
        let apart =
            arguments.windows(2).filter(|pair| &text[pair[0].raw.clone()] == flag.as_bytes());
        values.extend(apart.filter(|pair| !pair[1].is_flag(text)).map(|pair| pair[1].raw.clone()));
    }
    if let (SlotForm::Scheme(_), SlotPlace::Flag(flags)) = (slot.form, slot.place) {
        let whole = CredentialSlot::whole(SlotPlace::Flag(flags));
        let other = |range: &Range<usize>| {
            let value = &text[range.clone()];
            ![b"env:".as_slice(), b"file:", b"fd:", b"stdin", b"pass:"]
                .iter()
                .any(|it| value.starts_with(it))
        };
        values.extend(
            whole.values(text, program.raw.start, arguments, false).into_iter().filter(other),
        );
    }
    values
}

/// The value of a flag or variable that is called like a credential: `--token V`, `PW=V`.
fn named_value(
    text: &[u8],
    word: &ShellWord,
    next: Option<&ShellWord>,
    then: Option<&ShellWord>,
) -> Option<Range<usize>> {
    let raw = &text[word.raw.clone()];
    let equals = raw.iter().position(|&byte| byte == b'=');
    let name = &raw[..equals.unwrap_or(raw.len())];
    let known = |name: &[u8]| {
        let strength = CredentialName::read(name, 0..name.len()).map(|name| name.strength);
        strength.is_some_and(|strength| strength != NameStrength::Generated)
    };
    if !known(name) {
        return None;
    }
    if let Some(equals) = equals.filter(|&equals| equals + 1 < raw.len()) {
        return Some(word.raw.start + equals + 1..word.raw.end);
    }
    let dashed = raw.starts_with(b"-");
    let is_name = dashed || name.to_ascii_lowercase().ends_with(b"token") || name.contains(&b'_');
    let value = match next {
        Some(sign) if &text[sign.raw.clone()] == b"=" => then,
        next if equals.is_none() && is_name => next,
        _ => None,
    }?;
    let quote = text[value.raw.start];
    let open = b"\"'".contains(&quote)
        && memchr::memchr_iter(quote, &text[value.raw.clone()]).count() % 2 == 1;
    // A quote that is never closed reaches to the end.
    let end = if open { text.len() } else { value.raw.end };
    (!value.is_flag(text)).then_some(value.raw.start..end)
}

/// False for a value that is hidden already, and for the name of a variable.
fn should_hide(text: &[u8], range: &Range<usize>) -> bool {
    let value = &text[range.clone()];
    let inner = value.strip_prefix(b"\"").unwrap_or(value);
    let variable = matches!(inner, [b'$', b'{' | b'(' | b'a'..=b'z' | b'A'..=b'Z' | b'_', ..])
        && inner.iter().all(|byte| byte.is_ascii_alphanumeric() || b"${}()_\"'".contains(byte));
    !value.is_empty()
        && !variable
        && !value.starts_with(HIDDEN.as_bytes())
        && !matches!(value, b"\\" | b"-" | b"=")
}
