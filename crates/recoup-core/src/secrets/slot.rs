//! Places in command lines that hold a password: `mysql -pX`, `curl -u a:X`, `sshpass -p X`. The
//! word itself does not show that it is one; the program and the flag do. The table of programs is
//! in `rules/commands.rs`.

use std::ops::Range;

use super::value::{CredentialName, NameStrength};
use super::word_form::{self, PasswordLikeness};
use super::words;

/// Most bytes of a command that are examined.
const LONGEST: usize = 1024;
const MOST_WORDS: usize = 64;

/// One place of a program's command line that holds a credential.
#[derive(Debug, Clone, Copy)]
pub(super) struct CredentialSlot {
    pub(super) place: SlotPlace,
    pub(super) form: SlotForm,
}

/// The place of a credential in a command line.
#[derive(Debug, Clone, Copy)]
pub(super) enum SlotPlace {
    /// Joined with its flag and never apart from it: `-pVALUE`.
    Joined(&'static str),
    /// Behind one of these flags: the next word, or joined with `=` or with a short flag.
    Flag(&'static [&'static str]),
    /// The word behind one of these flags, which are never joined with it.
    Next(&'static [&'static str]),
    /// The argument with this number, flags and places of Windows not counted.
    Argument(usize),
    /// The last argument, where a group of short flags has this letter: `htpasswd -cb`.
    LastIf(u8),
    /// The word behind an argument that is called like a password: `git config user.password V`.
    Named,
    /// Every argument.
    Each,
    /// Text that is echoed into the program, or given to it as a here-string.
    Piped,
}

/// The part of a word that is the credential.
#[derive(Debug, Clone, Copy)]
pub(super) enum SlotForm {
    Whole,
    /// The part behind the user's name and this sign: `user:password`.
    Behind(u8),
    /// `user/password@database`.
    Login,
    /// The part behind a word that says how it is given: `pass:VALUE`.
    Scheme(&'static str),
}

impl CredentialSlot {
    pub(super) const fn whole(place: SlotPlace) -> Self {
        Self { place, form: SlotForm::Whole }
    }

    pub(super) const fn behind(sign: u8, place: SlotPlace) -> Self {
        Self { place, form: SlotForm::Behind(sign) }
    }
}

/// The first credential in the slots of the program whose name, as the prefilter saw it,
/// begins at `at` and is `len` bytes long.
pub(super) fn find_in_slots(
    slots: &[CredentialSlot],
    text: &[u8],
    at: usize,
    len: usize,
) -> Option<Range<usize>> {
    let start = arguments_start(text, at, len)?;
    let arguments: Vec<ShellWord> = command_words(text, start).collect();
    slots.iter().find_map(|slot| {
        let found = slot.values(text, at, &arguments, true);
        found.into_iter().find(|range| is_credential(&text[range.clone()]))
    })
}

/// Returns where the arguments of the program at `at` begin; none if it is part of another word.
pub(super) fn arguments_start(text: &[u8], at: usize, len: usize) -> Option<usize> {
    let begins = match text[..at] {
        [] | [.., b'\\', b'n'] => true,
        // The end of a name that is written with dashes.
        _ if text[at] == b'-' => true,
        [.., last] => last.is_ascii_whitespace() || b"/\\\"'`($;|&>:@=+".contains(&last),
    };
    let mut end = at + len;
    if text[..end].last().is_some_and(u8::is_ascii_alphanumeric) {
        let rest = &text[end..];
        end += if rest.starts_with(b".exe") { 4 } else { 0 };
        end += usize::from(matches!(text.get(end), Some(b'"' | b'\'')));
        let apart =
            text.get(end).is_none_or(u8::is_ascii_whitespace) || text[end..].starts_with(b"\\\n");
        if !apart {
            return None;
        }
    }
    begins.then_some(end)
}

impl CredentialSlot {
    /// Finds the values of this slot among the arguments. `sure` wants a joined value to look
    /// like a password where the flag may begin another word.
    pub(super) fn values(
        &self,
        text: &[u8],
        program: usize,
        arguments: &[ShellWord],
        sure: bool,
    ) -> Vec<Range<usize>> {
        let words = match self.place {
            SlotPlace::Joined(flag) => arguments
                .iter()
                .filter_map(|word| word.strip_prefix(text, flag.as_bytes()))
                .collect(),
            SlotPlace::Flag(flags) => flag_values(text, arguments, (flags, self.form), sure),
            SlotPlace::Next(flags) => {
                let behind = arguments.windows(2).filter(|pair| {
                    flags.iter().any(|flag| &text[pair[0].raw.clone()] == flag.as_bytes())
                });
                behind.map(|pair| pair[1].clone()).collect()
            }
            SlotPlace::Argument(number) => arguments
                .iter()
                .filter(|word| word.is_argument(text))
                .nth(number)
                .cloned()
                .into_iter()
                .collect(),
            SlotPlace::LastIf(letter) => {
                let flagged = |word: &ShellWord| {
                    let raw = &text[word.raw.clone()];
                    raw.starts_with(b"-") && !raw.starts_with(b"--") && raw.contains(&letter)
                };
                let plain: Vec<&ShellWord> =
                    arguments.iter().filter(|word| word.is_argument(text)).collect();
                let last =
                    plain.last().filter(|_| plain.len() > 1 && arguments.iter().any(flagged));
                last.map(|word| (*word).clone()).into_iter().collect()
            }
            SlotPlace::Named => {
                let named = arguments.windows(2).filter(|pair| {
                    let name = CredentialName::read(text, pair[0].raw.clone());
                    name.is_some_and(|name| {
                        name.strength != NameStrength::Generated && !name.plain.ends_with(b"key")
                    })
                });
                named.map(|pair| pair[1].clone()).collect()
            }
            SlotPlace::Each => {
                arguments.iter().filter(|word| word.is_argument(text)).cloned().collect()
            }
            SlotPlace::Piped => echoed_before(text, program)
                .into_iter()
                .chain(here_string(text, arguments))
                .collect(),
        };
        words
            .iter()
            .filter_map(|word: &ShellWord| self.form.credential_part(text, word.value(text)))
            .collect()
    }
}

fn flag_values(
    text: &[u8],
    arguments: &[ShellWord],
    (flags, form): (&[&str], SlotForm),
    sure: bool,
) -> Vec<ShellWord> {
    let looks_chosen = |value: &ShellWord| {
        let part = form.credential_part(text, value.value(text));
        part.is_some_and(|part| word_form::rate_password(&text[part]) > PasswordLikeness::No)
    };
    let mut found = Vec::new();
    for (at, word) in arguments.iter().enumerate() {
        let raw = &text[word.raw.clone()];
        for flag in flags.iter().map(|flag| flag.as_bytes()) {
            if raw == flag {
                // `--password = V`
                let next = arguments.get(at + 1).filter(|next| &text[next.raw.clone()] == b"=");
                let value = arguments.get(at + 1 + usize::from(next.is_some()));
                found.extend(value.filter(|value| !sure || !value.is_flag(text)).cloned());
            } else if let Some(value) = word.strip_prefix(text, flag) {
                let joined = text[value.raw.clone()].first() == Some(&b'=');
                if joined {
                    found.extend(word.strip_prefix(text, &[flag, b"="].concat()));
                } else if flag.ends_with(b":") || flag.len() == 2 && (!sure || looks_chosen(&value))
                {
                    found.push(value);
                }
            }
        }
    }
    found
}

impl SlotForm {
    fn credential_part(self, text: &[u8], value: Range<usize>) -> Option<Range<usize>> {
        let word = &text[value.clone()];
        let start = match self {
            Self::Whole => 0,
            Self::Behind(sign) => word.iter().position(|&byte| byte == sign)? + 1,
            Self::Login => {
                let slash = word.iter().position(|&byte| byte == b'/').filter(|&at| at > 0)? + 1;
                let end = word.iter().rposition(|&byte| byte == b'@').filter(|&at| at > slash);
                return Some(value.start + slash..value.start + end.unwrap_or(word.len()));
            }
            Self::Scheme(scheme) => {
                let rest = word.strip_prefix(scheme.as_bytes())?;
                word.len() - rest.len()
            }
        };
        Some(value.start + start..value.end)
    }
}

/// True if the value of a slot is a literal, and not a placeholder, a variable or a sentence
/// about the flag.
pub(super) fn is_credential(value: &[u8]) -> bool {
    let starts = value.first().is_some_and(|byte| !b"$<%[{,.;:)]|=`-".contains(byte));
    let upper = value.iter().all(|byte| byte.is_ascii_uppercase() || b"_-".contains(byte));
    starts
        && value.len() >= 3
        && !upper
        && !value.starts_with(b"\\$")
        && !word_form::is_placeholder(value)
        && !word_form::is_stand_in(value)
        && !word_form::is_label(value)
        && !words::contains_word(words::GLUE, value)
}

/// Matches at the literal `password ` of a `.netrc`, behind a user and a machine.
pub(super) fn find_netrc(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = &text[at.saturating_sub(240)..at];
    // A string of JSON may begin with the machine.
    let parts = before.split(|byte| byte.is_ascii_whitespace() || *byte == b'"');
    let words: Vec<&[u8]> = parts.filter(|word| !word.is_empty()).collect();
    let named = matches!(
        words[..],
        [.., b"default", b"login", _]
            | [.., b"machine", _, b"login", _]
            | [.., b"machine", _, b"login", _, b"account", _]
    );
    let start = at + b"password".len();
    let blanks = text[start..].iter().take(8).take_while(|byte| byte.is_ascii_whitespace()).count();
    let value = command_words(text, start + blanks).next()?.value(text);
    (named && is_credential(&text[value.clone()])).then_some(value)
}

/// Matches at the literal `/user:`, which follows the password of `net use`.
pub(super) fn find_share(text: &[u8], at: usize) -> Option<Range<usize>> {
    let from = at.saturating_sub(200);
    let line =
        text[from..at].iter().rposition(|&byte| byte == b'\n').map_or(from, |line| from + line + 1);
    let name =
        text[line..at].windows(8).position(|window| window.eq_ignore_ascii_case(b"net use "))?;
    let words = command_words(&text[..at], line + name + 8);
    let value = words.filter(|word| word.is_argument(text)).last()?.value(text);
    is_credential(&text[value.clone()]).then_some(value)
}

/// Matches at the literal ` -p `: the flag of an unknown program, if the same command has a flag
/// for the user, and the value looks like a password.
pub(super) fn find_beside_user(text: &[u8], at: usize) -> Option<Range<usize>> {
    let line = &text[at.saturating_sub(200)..text.len().min(at + 200)];
    let before = &line[..at.min(200)];
    let before = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default();
    let behind = line[at.min(200)..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let names_user = |part: &[u8]| {
        let flags: [&[u8]; 5] = [b" -u ", b" -U ", b" --user", b" -l ", b" --login"];
        flags.iter().any(|flag| part.windows(flag.len()).any(|window| window == *flag))
    };
    if !names_user(before) && !names_user(behind) {
        return None;
    }
    let flag = text[at + 1..].iter().take(8).take_while(|byte| !byte.is_ascii_whitespace()).count();
    let value = command_words(text, at + 1 + flag).next()?.value(text);
    let word = &text[value.clone()];
    let chosen = match word_form::rate_password(word) {
        PasswordLikeness::Clearly => true,
        PasswordLikeness::Perhaps => word.len() >= 8 && !word_form::is_identifier(word),
        PasswordLikeness::No => false,
    };
    (chosen && is_credential(word)).then_some(value)
}

/// A word as it was written.
#[derive(Debug, Clone)]
pub(super) struct ShellWord {
    /// The range with its quotes.
    pub(super) raw: Range<usize>,
}

impl ShellWord {
    /// The word without quotes around it; a quote without its partner belongs to a string around
    /// the whole command.
    pub(super) fn value(&self, text: &[u8]) -> Range<usize> {
        let Range { mut start, mut end } = self.raw;
        while start < end && b"\\\"'".contains(&text[start]) {
            start += 1;
        }
        while end > start && b"\\\"'`".contains(&text[end - 1]) {
            end -= 1;
        }
        start..end
    }

    /// Returns the part behind `prefix`, if the word begins with it.
    pub(super) fn strip_prefix(&self, text: &[u8], prefix: &[u8]) -> Option<Self> {
        let rest = text[self.raw.clone()].strip_prefix(prefix)?;
        (!rest.is_empty()).then(|| Self { raw: self.raw.end - rest.len()..self.raw.end })
    }

    pub(super) fn is_flag(&self, text: &[u8]) -> bool {
        text[self.raw.start] == b'-'
    }

    /// True unless it is a flag, a drive or a share.
    pub(super) fn is_argument(&self, text: &[u8]) -> bool {
        let raw = &text[self.raw.clone()];
        !self.is_flag(text) && !b"/\\*".contains(&raw[0]) && !raw.ends_with(b":")
    }
}

/// The words from `at` to the end of the command.
pub(super) fn command_words(text: &[u8], at: usize) -> impl Iterator<Item = ShellWord> {
    let limit = text.len().min(at + LONGEST);
    let mut at = at;
    std::iter::from_fn(move || {
        let word = next_word(&text[..limit], at)?;
        at = word.raw.end;
        Some(word)
    })
    .take(MOST_WORDS)
}

/// The words of a whole script from `at` on, one list for each command. A line break separates
/// words only: where a command ends is for a shell to say.
pub(super) fn script_words(text: &[u8], at: usize) -> Vec<Vec<ShellWord>> {
    let mut commands = vec![Vec::new()];
    let mut at = at;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii_whitespace() {
            at += 1;
        } else if b";|&".contains(&byte) {
            commands.push(Vec::new());
            at += 1;
        } else if let Some(word) = next_word(text, at) {
            at = word.raw.end;
            if &text[word.raw.clone()] != b"\\"
                && let Some(command) = commands.last_mut()
            {
                command.push(word);
            }
        } else {
            at += 1;
        }
    }
    commands
}

fn next_word(text: &[u8], mut at: usize) -> Option<ShellWord> {
    loop {
        match text.get(at..)? {
            [b' ' | b'\t', ..] => at += 1,
            // A line that continues below, also in a string of JSON.
            [b'\\', b'\n', ..] => at += 2,
            [b'\\', b'\r', b'\n', ..] => at += 3,
            [b'\\', b'\\', b'\\', b'n', ..] => at += 4,
            _ => break,
        }
    }
    let start = at;
    while let Some(&byte) = text.get(at) {
        match byte {
            // End of the string of JSON around the command.
            b'"' if words::closes_string(text, at) => break,
            b' ' | b'\t' | b'\n' | b'\r' | b'|' | b';' => break,
            b'&' if at == start || text.get(at + 1) == Some(&b'&') => break,
            b'\\' if text[at..].starts_with(b"\\n") && at > start => break,
            b'"' | b'\'' => at = closing_quote(text, at).map_or(at + 1, |end| end + 1),
            b'\\' if text.get(at + 1) == Some(&b'\n') => break,
            _ => at += 1,
        }
    }
    (at > start).then_some(ShellWord { raw: start..at })
}

/// The quote that closes the one at `at`, on the same line.
fn closing_quote(text: &[u8], at: usize) -> Option<usize> {
    // In a string of JSON the closing quote is escaped as the opening one is.
    let escaped = at > 0 && text[at - 1] == b'\\';
    let begins = at == 0
        || escaped
        || matches!(text[at - 1], b' ' | b'\t' | b'=' | b':' | b'-' | b'<')
        || text[at - 1].is_ascii_alphanumeric();
    let line = text[at + 1..].iter().position(|&byte| byte == b'\n').unwrap_or(text.len() - at - 1);
    let rest = &text[at + 1..at + 1 + line];
    let close = (0..rest.len())
        .find(|&end| rest[end] == text[at] && (end > 0 && rest[end - 1] == b'\\') == escaped)?;
    begins.then_some(at + 1 + close)
}

/// The word that is echoed into the program at `program`: `echo V | sudo -S …`.
pub(super) fn echoed_before(text: &[u8], program: usize) -> Option<ShellWord> {
    let from = program.saturating_sub(240);
    let before = &text[from..program];
    let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let pipe = before[line..].iter().rposition(|&byte| byte == b'|')? + line;
    let source = &before[..pipe];
    let echo = [b"echo ".as_slice(), b"printf "].into_iter().find_map(|name| {
        let at = source[line..].windows(name.len()).rposition(|window| window == name)?;
        Some(line + at + name.len())
    })?;
    let words = command_words(&text[..from + pipe], from + echo);
    words.filter(|word| !word.is_flag(text) && !text[word.raw.clone()].contains(&b'%')).last()
}

/// The word that a here-string gives to a program: `docker login --password-stdin <<< V`.
pub(super) fn here_string(text: &[u8], arguments: &[ShellWord]) -> Option<ShellWord> {
    let sign = arguments.iter().position(|word| text[word.raw.clone()].starts_with(b"<<<"))?;
    arguments[sign].strip_prefix(text, b"<<<").or_else(|| arguments.get(sign + 1).cloned())
}
