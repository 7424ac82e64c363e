//! Rules about files that no compiler checks: no test file is forgotten, every
//! file says what it holds and stays small, every dependency has its reason.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::Item;

use crate::files;

/// Where a file should have been split long ago.
const MOST_LINES: usize = 600;

#[test]
fn every_test_file_is_part_of_its_binary() {
    let root = files::workspace();
    let mut folders = files::entries(&root.join("crates"));
    folders.push(root.join("xtask"));
    let mut forgotten = Vec::new();
    for folder in folders.iter().map(|package| package.join("tests/it")) {
        forgotten.extend(forgotten_in(&folder).iter().map(|file| files::label(&root, file)));
    }
    assert!(forgotten.is_empty(), "no `mod` leads to these, so they never run: {forgotten:#?}");
}

#[test]
fn every_file_opens_with_what_it_holds_and_stays_small() {
    let root = files::workspace();
    let sources = ["crates", "xtask"].map(|folder| files::rust_files(&root.join(folder)));
    let problems: Vec<_> = sources
        .iter()
        .flatten()
        .filter_map(|file| {
            let problem = text_problem(&files::read(file))?;
            Some(format!("{}: {problem}", files::label(&root, file)))
        })
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
}

#[test]
fn every_dependency_has_its_reason() {
    let manifest = files::read(&files::workspace().join("Cargo.toml"));
    let unexplained = unexplained(&manifest);
    assert!(unexplained.is_empty(), "add `# why` at the end of the line: {unexplained:#?}");
}

/// The files of a test binary that its `main.rs` does not reach.
fn forgotten_in(folder: &Path) -> Vec<PathBuf> {
    let main = folder.join("main.rs");
    let mut reached = BTreeSet::new();
    if main.is_file() {
        reach(main, &mut reached);
    }
    files::rust_files(folder).into_iter().filter(|file| !reached.contains(file)).collect()
}

fn reach(file: PathBuf, reached: &mut BTreeSet<PathBuf>) {
    let syntax = syn::parse_file(&files::read(&file)).expect("a test file that compiles");
    // `a.rs` has its modules in `a/`; `main.rs` and `mod.rs` beside them.
    let beside = file.ends_with("main.rs") || file.ends_with("mod.rs");
    let folder = if beside { file.with_file_name("") } else { file.with_extension("") };
    reached.insert(file);
    for next in declared(&syntax.items, &folder) {
        reach(next, reached);
    }
}

/// The files that `items` declare with `mod`, from inside `folder`.
fn declared(items: &[Item], folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        match &module.content {
            Some((_, items)) => found.extend(declared(items, &folder.join(name))),
            None => found.extend(
                [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")]
                    .into_iter()
                    .find(|file| file.is_file()),
            ),
        }
    }
    found
}

fn text_problem(text: &str) -> Option<String> {
    let lines = text.lines().count();
    if !text.starts_with("//!") {
        return Some("does not open with `//!`: say what lives here and why".into());
    }
    (lines > MOST_LINES).then(|| format!("has {lines} lines, at most {MOST_LINES}: split it"))
}

/// The lines of `[workspace.dependencies]` without a comment of their own.
fn unexplained(manifest: &str) -> Vec<&str> {
    manifest
        .lines()
        .skip_while(|line| line.trim() != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .filter(|line| !line.contains("path = \"") && !has_comment(line))
        .collect()
}

/// A `#` inside quotes is not a comment.
fn has_comment(line: &str) -> bool {
    let outside_quotes = line.split('"').step_by(2).collect::<String>();
    outside_quotes.split_once('#').is_some_and(|(_, reason)| !reason.trim().is_empty())
}

#[test]
fn a_forgotten_file_is_found_and_a_nested_one_is_not() {
    let folder = tempfile::tempdir().expect("a folder for the fixture");
    for (file, text) in [
        ("main.rs", "mod a; mod b; mod c { mod d; }"),
        ("a.rs", "mod inner;"),
        ("a/inner.rs", ""),
        ("b/mod.rs", "mod inner;"),
        ("b/inner.rs", ""),
        ("c/d.rs", ""),
        ("b/forgotten.rs", ""),
    ] {
        files::write(&folder.path().join(file), text);
    }
    assert_eq!(forgotten_in(folder.path()), [folder.path().join("b/forgotten.rs")]);
}

#[test]
fn a_file_that_is_silent_or_long_is_found() {
    assert_eq!(text_problem("//! What lives here.\n"), None);
    assert!(text_problem("use std::fs;\n").is_some_and(|problem| problem.contains("//!")));
    let long = format!("//! Long.\n{}", "\n".repeat(MOST_LINES));
    assert!(text_problem(&long).is_some_and(|problem| problem.contains("has 601 lines")));
}

#[test]
fn a_dependency_without_a_reason_is_found() {
    let manifest = "[workspace]\nx = 1\n[workspace.dependencies]\n\
        own = { path = \"crates/own\" }\n\n# --- a section ---\n\
        good = \"1\" # it does this\n\
        empty = \"1\" #\nquoted = \"1#2\"\nbare = \"1\"\n[next]\ny = 2\n";
    assert_eq!(unexplained(manifest), ["empty = \"1\" #", "quoted = \"1#2\"", "bare = \"1\""]);
}
