//! The corpus for the secrets: texts that must be refused and texts that must
//! not. Both are made from a seed, the same every time: the secrets have real
//! formats and made-up values, put together at run time so that no scanner
//! that guards a forge takes this repository for a leak.

pub(crate) mod clean;
pub(crate) mod fill;
mod formats;
mod hosts;
pub(crate) mod labelled;
mod named;
pub(crate) mod rates;

/// A text of the corpus, by name.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Texts with a secret in each: bare ones by shape, and others by name.
pub(crate) fn secrets() -> Vec<Sample> {
    let mut all = hosts::shaped();
    all.extend(named::all());
    all
}

/// Texts without one, many of which talk about them.
pub(crate) fn clean() -> Vec<Sample> {
    clean::all()
}
