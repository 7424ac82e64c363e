//! The tables under `## Levels` in ARCHITECTURE.md: which module is on which
//! level, and whether it exists yet; and the levels within `memory`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

const HEADING: &str = "## Levels";
const COLUMNS: [&str; 5] = ["level", "package", "module", "state", "holds"];
const INNER_HEADING: &str = "### Levels of memory";

/// A module, as the table has it.
pub(super) struct Row {
    pub(super) line: usize,
    pub(super) level: u32,
    pub(super) package: String,
    pub(super) module: String,
    pub(super) state: State,
}

pub(super) enum State {
    Here,
    ToCome,
}

/// The rows that can be read, and what is wrong with the others.
pub(super) fn read(root: &Path) -> (Vec<Row>, Vec<String>) {
    let text = match fs::read_to_string(root.join("ARCHITECTURE.md")) {
        Ok(text) => text,
        Err(error) => return (Vec::new(), vec![format!("ARCHITECTURE.md: {error}")]),
    };
    let mut lines = table_lines(&text, HEADING).into_iter();
    let mut rows = Vec::new();
    let mut problems = header_problem(lines.next()).into_iter().collect::<Vec<_>>();
    for (line, cells) in lines.filter(|(_, cells)| !is_ruler(cells)) {
        match row(line, &cells) {
            Ok(row) => rows.push(row),
            Err(problem) => problems.push(format!("ARCHITECTURE.md:{line}: {problem}")),
        }
    }
    (rows, problems)
}

/// The levels of the modules within `memory`; none in a tree without that table.
pub(super) fn read_inner(root: &Path) -> (HashMap<String, u32>, Vec<String>) {
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap_or_default();
    let (mut levels, mut problems) = (HashMap::new(), Vec::new());
    let lines = table_lines(&text, INNER_HEADING);
    for (line, cells) in lines.iter().skip(1).filter(|(_, cells)| !is_ruler(cells)) {
        let [level, module, _holds] = cells[..] else {
            problems.push(format!("ARCHITECTURE.md:{line}: {} cells instead of 3", cells.len()));
            continue;
        };
        let Ok(level) = level.parse() else {
            problems.push(format!("ARCHITECTURE.md:{line}: level `{level}` is not a number"));
            continue;
        };
        if levels.insert(module.trim_matches('`').to_owned(), level).is_some() {
            problems.push(format!("ARCHITECTURE.md:{line}: {module} has two rows: keep one"));
        }
    }
    (levels, problems)
}

/// The cells of each table line between a heading and the next one.
fn table_lines<'a>(text: &'a str, heading: &str) -> Vec<(usize, Vec<&'a str>)> {
    text.lines()
        .enumerate()
        .skip_while(|(_, line)| line.trim() != heading)
        .skip(1)
        .take_while(|(_, line)| !line.starts_with("##"))
        .filter_map(|(index, line)| {
            let inner = line.trim().strip_prefix('|')?;
            let inner = inner.strip_suffix('|').unwrap_or(inner);
            Some((index + 1, inner.split('|').map(str::trim).collect()))
        })
        .collect()
}

fn header_problem(header: Option<(usize, Vec<&str>)>) -> Option<String> {
    let expected = COLUMNS.join(" | ");
    match header {
        None => Some(format!("ARCHITECTURE.md: no table `{expected}` under `{HEADING}`: add it")),
        Some((line, cells)) => (cells != COLUMNS)
            .then(|| format!("ARCHITECTURE.md:{line}: the table's columns must be `{expected}`")),
    }
}

fn is_ruler(cells: &[&str]) -> bool {
    cells.iter().all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':')))
}

fn row(line: usize, cells: &[&str]) -> Result<Row, String> {
    let [level, package, module, state, _holds] = cells else {
        return Err(format!("{} cells instead of {}", cells.len(), COLUMNS.len()));
    };
    Ok(Row {
        line,
        level: level.parse().map_err(|_| format!("level `{level}` is not a number"))?,
        package: known_package(package)?,
        module: module.trim_matches('`').to_owned(),
        state: self::state(state)?,
    })
}

fn known_package(name: &str) -> Result<String, String> {
    if super::tree::PACKAGES.contains(&name) {
        return Ok(name.to_owned());
    }
    Err(format!("package `{name}` is not one of {:?}", super::tree::PACKAGES))
}

fn state(text: &str) -> Result<State, String> {
    match text {
        "here" => Ok(State::Here),
        "to come" => Ok(State::ToCome),
        _ => Err(format!("state `{text}` is neither `here` nor `to come`")),
    }
}
