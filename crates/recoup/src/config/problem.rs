//! Problems of the configuration: the place, and what was expected there. All are collected, so
//! that the user can fix them in one go.

use std::fmt;

use recoup_core::Error;
use recoup_core::base::text::shorten_text;
use serde::Serialize;

use super::origin::{ConfigFile, ConfigLayer, ValueOrigin};

/// Longer names are no typing errors, and expensive to compare.
const MAX_NAME: usize = 64;
/// Most names that a message lists.
const MAX_LISTED: usize = 12;

/// Lists all keys of the configuration.
pub(super) const ALL_KEYS: &str = "recoup config keys";

/// Maximum edit distance of a typing error.
const MAX_SLIPS: usize = 3;

/// One problem.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ConfigProblem {
    /// File, line and key; or a variable; or a flag.
    pub(crate) place: String,
    pub(crate) message: String,
    /// Sort key for display: by layer, by file, by line.
    #[serde(skip)]
    pub(super) order: (ConfigLayer, Option<ConfigFile>, Option<u64>),
}

impl ConfigProblem {
    /// A problem with the value from that origin.
    pub(super) fn at(origin: &ValueOrigin, message: impl Into<String>) -> Self {
        Self { place: origin.place(), message: message.into(), order: origin.sort_key() }
    }

    /// A problem from an engine error, whose message may already name the place.
    pub(super) fn from_error(origin: &ValueOrigin, error: &Error) -> Self {
        let (place, message) = (origin.place(), error.to_string());
        let bare = message.strip_prefix(&place).and_then(|rest| rest.strip_prefix(": "));
        Self::at(origin, bare.unwrap_or(&message))
    }

    /// A problem with a whole file, which messages call `shown`.
    pub(super) fn of_file(file: ConfigFile, shown: &str, message: impl Into<String>) -> Self {
        let order = (file.layer(), Some(file), None);
        Self { place: shown.to_owned(), message: message.into(), order }
    }

    /// An unknown name, with the one that was probably meant.
    pub(super) fn unknown<'a>(
        origin: &ValueOrigin,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let place = format!("{origin}: {}", shorten_text(name, MAX_NAME));
        Self { place, ..Self::at(origin, unknown_key_message(name, known, ALL_KEYS)) }
    }
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The error that a command ends with. It has the first problem in full, since that is often the
/// cause of the others.
pub(super) fn as_error(problems: &[ConfigProblem]) -> Error {
    Error::usage(match problems {
        [] => "cannot read the configuration".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => {
            format!("{first} (and {} more: see `recoup config check`)", rest.len())
        }
    })
}

/// Message about an unknown name, with the one that was probably meant. `command` lists all, if they
/// are too many for a message.
pub(crate) fn unknown_key_message<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
    command: &str,
) -> String {
    match nearest_name(name, known.clone()) {
        Some(meant) => format!("unknown key; did you mean {meant}?"),
        None if known.clone().count() > MAX_LISTED => {
            format!("unknown key; `{command}` lists all")
        }
        None => {
            format!("unknown key; expected one of {}", known.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The known name or table that `name` probably means: compared as a whole, and by its last part.
pub(crate) fn nearest_name<'a>(
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    // Of two equally near names the first: they are in order of importance.
    let meant = known.enumerate().flat_map(|(place, known)| {
        let (table, last) = split_name(known);
        let whole = edit_distance(known, name).min(edit_distance(last, split_name(name).1));
        let table = table.map(|table| (edit_distance(table, name), place, table));
        [(whole, place, known)].into_iter().chain(table)
    });
    let most = MAX_SLIPS.min(split_name(name).1.len() / 2);
    meant.min().filter(|(slips, ..)| *slips <= most).map(|(.., meant)| meant)
}

/// Edit distance of two names. A prefix of a name counts as near.
fn edit_distance(meant: &str, name: &str) -> usize {
    let begun = name.len() >= MAX_SLIPS && meant.len() > name.len() && meant.starts_with(name);
    if begun { 1 } else { strsim::damerau_levenshtein(meant, name) }
}

/// Splits a dotted name into its table and last part.
fn split_name(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('.').map_or((None, name), |(table, last)| (Some(table), last))
}
