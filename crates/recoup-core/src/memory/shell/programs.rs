//! Table of known programs: the sections of `programs.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::memory::lang::is_one_of;
use crate::memory::shell::program::plain_program_name;

const TEXT: &str = include_str!("programs.txt");

/// Columns of a program in a section.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ProgramRow {
    /// Options that take a value.
    pub(super) valued: &'static str,
    /// The column behind the bar.
    pub(super) more: &'static str,
}

/// Rows by section and program.
static ROWS: LazyLock<HashMap<(&str, &str), ProgramRow>> = LazyLock::new(|| {
    let (mut rows, mut section) = (HashMap::new(), "");
    for line in TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name;
            continue;
        }
        // A colon that stands alone is a program.
        let (names, columns) =
            line.split_once(": ").filter(|it| !it.0.ends_with(' ')).unwrap_or((line, ""));
        let (valued, more) = columns.split_once('|').unwrap_or((columns, ""));
        let row = ProgramRow { valued: valued.trim(), more: more.trim() };
        rows.extend(names.split(' ').map(|name| ((section, name), row)));
    }
    rows
});

/// Returns what a section says of a program, or of a sub-command as in `git/log`.
pub(super) fn find_program(section: &'static str, name: &str) -> Option<ProgramRow> {
    ROWS.get(&(section, name)).copied()
}

/// True if a section has a program.
pub(super) fn is_program_in(section: &'static str, name: &str) -> bool {
    ROWS.contains_key(&(section, name))
}

/// True if a section has a sub-command of the program.
pub(super) fn has_subcommand_in(section: &'static str, program: &str) -> bool {
    ROWS.keys().any(|(of, name)| *of == section && name.split('/').next() == Some(program))
}

/// True if the table has a program, other than keywords of the shell.
pub(crate) fn is_known_program(name: &str) -> bool {
    let name = plain_program_name(name);
    let is_in_list = || {
        let lists = ROWS.iter().filter(|((section, _), _)| *section == "purposes");
        lists.into_iter().any(|(_, row)| is_one_of(&name, row.more))
    };
    let is_own = |section: &str| !matches!(section, "purposes" | "prepares" | "keywords");
    ROWS.keys().any(|(section, it)| *it == name && is_own(section)) || is_in_list()
}

/// Returns the commands (`pytest`, `go/test`) that serve a purpose, by language.
pub(crate) fn programs_for_purpose(
    purpose: &str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().filter_map(move |((section, name), row)| {
        let language = name.strip_prefix(purpose)?.strip_prefix('/')?;
        (*section == "purposes").then_some((language, row.more))
    })
}
