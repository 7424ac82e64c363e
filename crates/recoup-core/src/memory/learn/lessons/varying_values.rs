//! Values that vary between occurrences of a failure: branch, path or number. Words that the fix
//! repeats vary; words that it adds are the lesson.

use crate::memory::lang::escape::Placeholder;
use crate::memory::lang::forms::split_words;
use crate::memory::learn::failure::leads_to_host;
use crate::memory::learn::lessons::fix::{CODE_FILE, PLACES};
use crate::memory::learn::lessons::wording::error_signature;

/// Long-lived branches, which rules name.
const STANDING: [&str; 6] = ["main", "master", "trunk", "develop", "HEAD", "head"];

/// Varying values of a failure, each with its placeholder.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct VaryingValues(Vec<(String, Placeholder)>);

impl VaryingValues {
    /// Finds the varying values in a command and its error. Two values with one placeholder could
    /// not be told apart later: both stay.
    pub(super) fn find_in(kind: &str, command: &str, error: &str) -> Self {
        // The branch that git names: "The current branch topic has no upstream branch".
        let is_varying = |name: &&str| {
            kind.starts_with("git ")
                && is_branch(name)
                && !split_words(name).iter().all(|word| word.is_small)
        };
        let branch = error.split_whitespace().skip_while(|word| *word != "branch").nth(1);
        let branch = branch.map(|it| it.trim_matches(['\'', '"', '`', '.', ',', ':', ';']));
        let words = words_with_placeholders(kind, command).into_iter();
        let mut found: Vec<(String, Placeholder)> = words
            .filter_map(|(word, slot)| Some((word.to_owned(), slot?)))
            .chain(branch.filter(is_varying).map(|it| (it.to_owned(), Placeholder::Branch)))
            .collect();
        found.sort_unstable();
        found.dedup();
        let count = |slot: &Placeholder| found.iter().filter(|(_, it)| it == slot).count();
        let single: Vec<Placeholder> =
            Placeholder::ALL.into_iter().filter(|slot| count(slot) == 1).collect();
        found.retain(|(_, slot)| single.contains(slot));
        Self(found)
    }

    /// Returns a command of that kind, with placeholders for these values.
    pub(super) fn generalise(&self, kind: &str, command: &str) -> String {
        let shown = |(word, slot): (&str, Option<Placeholder>)| {
            let is_ours = |own: &(String, Placeholder)| own.0 == word && Some(own.1) == slot;
            self.0.iter().find(|own| is_ours(own)).map_or(word, |own| own.1.as_str()).to_owned()
        };
        let words: Vec<String> =
            words_with_placeholders(kind, command).into_iter().map(shown).collect();
        words.join(" ")
    }

    /// Returns an error line, with placeholders for these values. Numbers are left to its
    /// signature.
    pub(super) fn mask(&self, error: &str) -> String {
        let mut text = error.to_owned();
        for (value, slot) in self.0.iter().filter(|(_, slot)| *slot != Placeholder::Number) {
            let (mut out, mut from) = (String::with_capacity(text.len()), 0);
            for (at, _) in text.match_indices(value.as_str()) {
                let end = at + value.len();
                if !text[..at].ends_with(is_word_char) && !text[end..].starts_with(is_word_char) {
                    out += &text[from..at];
                    out += slot.as_str();
                    from = end;
                }
            }
            text = out + &text[from..];
        }
        text
    }

    /// True if a command mentions these values where no placeholder stands: in quotes, behind an
    /// option, within another word, or as a directory of a path.
    pub(super) fn still_appear_in(&self, kind: &str, command: &str) -> bool {
        let general = self.generalise(kind, command);
        let mut rest =
            general.split(' ').filter(|word| !is_placeholder(word) && !is_kind_word(word, kind));
        rest.any(|word| {
            self.0.iter().any(|(value, _)| {
                let mut names = value.split('/').map(|it| it.split('.').next().unwrap_or(it));
                // Components of one or two characters must match whole.
                let is_whole = |name: &str| word.split(|c| !is_word_char(c)).any(|it| it == name);
                word.contains(value)
                    || names.any(|name| match name.len() {
                        0 => false,
                        1 | 2 => is_whole(name),
                        _ => word.contains(name),
                    })
            })
        })
    }

    /// Returns the signature of a failure with that error, for any values.
    pub(super) fn general_signature(&self, error: &str) -> String {
        error_signature(&self.mask(error))
    }

    /// Returns the signature of a failure with that error, for just these values.
    pub(super) fn own_signature(&self, error: &str) -> String {
        let values = self.0.iter().map(|(value, _)| format!("\n{value}"));
        error_signature(error) + &values.collect::<String>()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a value that a fix repeats and its failed command does not show.
    pub(super) fn hidden_value(&self, failed: &str, fix: &str) -> Option<&str> {
        let values = self.0.iter().map(|(value, _)| value.as_str());
        values.into_iter().find(|value| fix.contains(value) && !failed.contains(value))
    }

    /// True if a name is one of these values, or the end of one.
    pub(super) fn contains_name(&self, name: &str) -> bool {
        self.0.iter().any(|(value, _)| value.ends_with(name))
    }
}

/// Returns the words of a command, with a placeholder for those that vary. Options, quoted text,
/// the words of the kind and locations (`cd web`, `-C web`) do not.
fn words_with_placeholders<'a>(kind: &str, line: &'a str) -> Vec<(&'a str, Option<Placeholder>)> {
    let (mut is_quoted, mut before) = (false, "");
    // The program, its sub-command and its arguments so far.
    let mut command: Vec<&str> = Vec::new();
    let mut marked = Vec::new();
    for word in line.split_whitespace() {
        let marks = word.matches(['\'', '"', '`']).count();
        let is_bare = !is_quoted && marks == 0;
        is_quoted ^= marks % 2 == 1;
        let is_place = PLACES.fits(before) || matches!(command.first(), Some(&("cd" | "pushd")));
        let is_argument = !word.starts_with('-') && !word.contains('=') && !is_place;
        let varies = is_bare && is_argument && !is_kind_word(word, kind);
        marked.push((word, if varies { placeholder_for(word, &command) } else { None }));
        if is_bare && (word.ends_with(';') || matches!(word, "&&" | "||" | "|" | "&")) {
            command.clear();
        } else if is_argument {
            command.push(word);
        }
        before = word;
    }
    marked
}

fn is_kind_word(word: &str, kind: &str) -> bool {
    let word = word.strip_prefix("./").unwrap_or(word);
    kind.split(' ').any(|it| it == word)
}

pub(super) fn is_placeholder(word: &str) -> bool {
    Placeholder::ALL.iter().any(|it| it.as_str() == word)
}

/// Returns the placeholder for an argument, by its position behind `before` and its form.
fn placeholder_for(word: &str, before: &[&str]) -> Option<Placeholder> {
    let is_branch_place = matches!(
        before,
        ["git", "push" | "pull" | "fetch", _]
            | ["git", "checkout" | "switch" | "merge" | "rebase" | "branch"]
    );
    match before {
        [] => None,
        _ if is_branch_place => is_branch(word).then_some(Placeholder::Branch),
        _ if word.bytes().all(|byte| byte.is_ascii_digit()) => Some(Placeholder::Number),
        _ => {
            let is_path = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+~".contains(c))
                && (word.contains('/') || CODE_FILE.fits(word))
                && word.chars().any(|c| c.is_ascii_alphanumeric());
            // Hosts, packages and patterns are none.
            let leads_elsewhere =
                word.contains("//") || word.contains("...") || leads_to_host(word);
            (is_path && !leads_elsewhere).then_some(Placeholder::Path)
        }
    }
}

fn is_branch(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphanumeric())
        && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !STANDING.contains(&word)
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}
