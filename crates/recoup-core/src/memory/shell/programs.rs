//! Table of known programs: the sections of `programs.txt`.

use std::cmp::Ordering;

use crate::memory::lang::is_one_of;
use crate::memory::shell::program::plain_program_name;

const TEXT: &str = include_str!("programs.txt");

// `ROWS`: positions in the text, sorted when this is built.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Columns of a program in a section.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProgramRow {
    /// Options that take a value.
    pub(super) valued: &'static str,
    /// The column behind the bar.
    pub(super) more: &'static str,
}

fn text_at(at: u16, length: u16) -> &'static str {
    let at = usize::from(at);
    TEXT.get(at..at + usize::from(length)).unwrap_or_default()
}

/// Returns all rows with their sections and programs.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, ProgramRow)> {
    ROWS.iter().map(|row| {
        let [section, section_length, name, name_length, ..] = *row;
        (text_at(section, section_length), text_at(name, name_length), columns(*row))
    })
}

fn columns([.., valued, valued_length, more, more_length]: [u16; 8]) -> ProgramRow {
    ProgramRow { valued: text_at(valued, valued_length), more: text_at(more, more_length) }
}

/// Returns what a section says of a program, or of a sub-command as in `git/log`.
pub(super) fn find_program(section: &str, name: &str) -> Option<ProgramRow> {
    let compare = |[at, length, name_at, name_length, ..]: &[u16; 8]| match text_at(*at, *length)
        .cmp(section)
    {
        Ordering::Equal => text_at(*name_at, *name_length).cmp(name),
        other => other,
    };
    ROWS.binary_search_by(compare).ok().map(|at| columns(ROWS[at]))
}

/// True if a section has a program.
pub(super) fn is_program_in(section: &str, name: &str) -> bool {
    find_program(section, name).is_some()
}

/// True if a section has a sub-command of the program.
pub(super) fn has_subcommand_in(section: &str, program: &str) -> bool {
    rows().any(|(of, name, _)| of == section && name.split('/').next() == Some(program))
}

/// True if the table has a program, other than keywords of the shell.
pub(crate) fn is_known_program(name: &str) -> bool {
    let name = plain_program_name(name);
    let is_own = |section: &str| !matches!(section, "purposes" | "prepares" | "keywords");
    rows().any(|(section, it, row)| {
        it == name && is_own(section) || section == "purposes" && is_one_of(&name, row.more)
    })
}

/// Returns the commands (`pytest`, `go/test`) that serve a purpose, by language.
pub(crate) fn programs_for_purpose(
    purpose: &str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    rows().filter_map(move |(section, name, row)| {
        let language = name.strip_prefix(purpose)?.strip_prefix('/')?;
        (section == "purposes").then_some((language, row.more))
    })
}
