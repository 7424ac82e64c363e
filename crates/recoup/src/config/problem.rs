//! What is wrong with the configuration: the place, and what was expected there.
//! All problems are collected, so that a person mends them in one go.

use std::fmt;

use recoup_core::Error;
use recoup_core::base::text::shortened;
use serde::Serialize;

use super::origin::{File, Layer, Origin};

/// Longer names are no slip of the finger, and dear to compare.
const MAX_NAME: usize = 64;

/// How many letters a slip of the finger gets wrong.
const MAX_SLIPS: usize = 3;

/// One thing that is wrong.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// A file, a line and a key, or a variable, or a flag.
    pub(crate) place: String,
    pub(crate) message: String,
    /// Where a person meets it: layer by layer, file by file, from the top.
    #[serde(skip)]
    pub(super) order: (Layer, Option<File>, Option<u64>),
}

impl Problem {
    /// What is wrong with a value.
    pub(super) fn at(origin: &Origin, message: impl Into<String>) -> Self {
        Self { place: origin.place(), message: message.into(), order: origin.order() }
    }

    /// The same from an error of the engine, which may name the place itself.
    pub(super) fn from_error(origin: &Origin, error: &Error) -> Self {
        let (place, message) = (origin.place(), error.to_string());
        let bare = message.strip_prefix(&place).and_then(|rest| rest.strip_prefix(": "));
        Self::at(origin, bare.unwrap_or(&message))
    }

    /// What is wrong with a whole file, which people know as `shown`.
    pub(super) fn of_file(file: File, shown: &str, message: impl Into<String>) -> Self {
        let order = (file.layer(), Some(file), None);
        Self { place: shown.to_owned(), message: message.into(), order }
    }

    /// A name that means nothing, with the one that was probably meant.
    pub(super) fn unknown<'a>(
        origin: &Origin,
        name: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Self {
        let advice = match nearest(name, known.clone()) {
            Some(meant) => format!("did you mean {meant}?"),
            None => format!("expected one of {}", known.collect::<Vec<_>>().join(", ")),
        };
        let place = format!("{origin}: {}", shortened(name, MAX_NAME));
        Self { place, ..Self::at(origin, format!("unknown key; {advice}")) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// The one error that a command ends with. The first problem in full, since it
/// is often the cause of the others.
pub(super) fn as_error(problems: &[Problem]) -> Error {
    Error::usage(match problems {
        [] => "the configuration can't be read".to_owned(),
        [only] => only.to_string(),
        [first, rest @ ..] => {
            format!("{first} (and {} more: see `recoup config check`)", rest.len())
        }
    })
}

/// The known name, or table of names, that `name` is a slip of: as a whole, or
/// by its last part where the rest is missing or wrong.
fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    // Of two that are as near, the first: they are in the order of their weight.
    let meant = known.enumerate().flat_map(|(place, known)| {
        let (table, last) = split(known);
        let whole = slips(known, name).min(slips(last, split(name).1));
        let table = table.map(|table| (slips(table, name), place, table));
        [(whole, place, known)].into_iter().chain(table)
    });
    let most = MAX_SLIPS.min(split(name).1.len() / 2);
    meant.min().filter(|(slips, ..)| *slips <= most).map(|(.., meant)| meant)
}

/// How far apart two names are. The beginning of a name is nearly that name.
fn slips(meant: &str, name: &str) -> usize {
    let begun = name.len() >= MAX_SLIPS && meant.len() > name.len() && meant.starts_with(name);
    if begun { 1 } else { strsim::damerau_levenshtein(meant, name) }
}

/// A dotted name's table and last part.
fn split(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('.').map_or((None, name), |(table, last)| (Some(table), last))
}
