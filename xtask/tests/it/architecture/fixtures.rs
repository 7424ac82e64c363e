//! The level test, tried on small trees: what it must accept, and every kind
//! of mistake that it must find and name.

use tempfile::TempDir;

use super::check;
use crate::files;

const TABLE: &str = "# Architecture\n\n## Levels\n\n\
    | level | package | module | state | holds |\n\
    |---|---|---|---|---|\n\
    | 0 | recoup-core | `error` | here | errors |\n\
    | 1 | recoup-core | `base` | here | the clock |\n\
    | 2 | recoup-core | `key` | here | keys |\n\
    | 2 | recoup-core | `secrets` | to come | patterns |\n\
    | 3 | recoup-core | `store` | here | stores |\n\
    | 6 | recoup | `config` | here | settings |\n\
    | 7 | recoup | `cli` | here | commands |\n\n\
    ## Next\n\n| 9 | not | a | level | row |\n";

/// A workspace that keeps to its levels, in a folder that goes with it.
struct Fixture(TempDir);

impl Fixture {
    fn new() -> Self {
        let fixture = Self(tempfile::tempdir().expect("a folder for the fixture"));
        fixture
            .with("ARCHITECTURE.md", TABLE)
            .core("lib.rs", "pub mod base; mod key; pub use error::{Error, Result as Outcome};")
            .core("error.rs", "pub struct Error;")
            .core("base/mod.rs", "use crate::error::Error; use super::Outcome;")
            .core("key.rs", "")
            .core("store/mod.rs", "use crate::key; mod sqlite;")
            .core("store/sqlite.rs", "use super::Store; use crate::{base::*, key::Key as K};")
            .program("main.rs", "fn main() { recoup::cli::run() }")
            .program("lib.rs", "pub mod cli; pub use recoup_core::Error;")
            .program("config.rs", "use recoup_core::{Error, store::Store}; use crate::Error as E;")
            .program("cli/mod.rs", "fn run() { super::config::read(); other::thing(); }")
    }

    fn with(self, path: &str, text: &str) -> Self {
        files::write(&self.0.path().join(path), text);
        self
    }

    fn core(self, path: &str, text: &str) -> Self {
        self.with(&format!("crates/recoup-core/src/{path}"), text)
    }

    fn program(self, path: &str, text: &str) -> Self {
        self.with(&format!("crates/recoup/src/{path}"), text)
    }

    fn table(self, from: &str, to: &str) -> Self {
        assert!(TABLE.contains(from), "the table has no `{from}`");
        self.with("ARCHITECTURE.md", &TABLE.replace(from, to))
    }

    /// There is exactly one problem, and it says all of `parts`.
    #[track_caller]
    fn fails_with(self, parts: &[&str]) {
        let problems = check(self.0.path());
        let [problem] = &*problems else { panic!("not one problem: {problems:#?}") };
        for part in parts {
            assert!(problem.contains(part), "`{part}` is not in: {problem}");
        }
    }
}

#[test]
fn a_workspace_that_keeps_to_its_levels_passes() {
    assert_eq!(check(Fixture::new().0.path()), [""; 0]);
}

#[test]
fn an_upward_import_is_found_wherever_it_is_written() {
    let sources = [
        ("a use", "\n\nuse crate::store::Store;"),
        ("a use-group", "\n\nuse crate::{error::Error, store::{Store}};"),
        ("a glob", "\n\nuse crate::store::*;"),
        ("a renamed use", "\n\nuse crate::store as other;"),
        ("a use of self in a group", "\n\nuse crate::store::{self};"),
        ("an expression", "fn f() {\n\ncrate::store::open(); }"),
        ("a type", "struct S {\n\nfield: Vec<crate::store::Store> }"),
        ("a pattern", "fn f(x: X) { match x {\n\ncrate::store::X => {} } }"),
        ("a macro", "fn f() { println!(\"{}\",\n\ncrate::store::NAME) }"),
        ("a macro's body", "macro_rules! m { () => {\n\n$crate::store::open() } }"),
        ("a use in a macro's body", "m! {\n\nuse crate::{store::Store}; }"),
        ("an attribute", "#[derive(A)]\n\n#[a(crate::store::B)] struct S;"),
        ("a path in an attribute's string", "\n\n#[serde(with = \"crate::store::b\")] struct S;"),
        ("a test module", "#[cfg(test)] mod tests {\n\nuse crate::store::Store; }"),
    ];
    for (place, source) in sources {
        println!("trying {place}");
        let problem = ["src/key.rs:3: ", "`key` (level 2)", "`crate::store", "(level 3)"];
        Fixture::new().core("key.rs", source).fails_with(&problem);
    }
}

#[test]
fn super_is_followed_to_the_module_that_it_reaches() {
    Fixture::new()
        .core("base/clock.rs", "mod inner { use super::super::super::key::Key; }")
        .fails_with(&["base/clock.rs:1: `base` (level 1)", "`super::super::super::key::Key`"]);
    Fixture::new()
        .core("base/clock.rs", "fn f() { super::super::key::key() }")
        .fails_with(&["base/clock.rs:1: ", "`key` (level 2)"]);
    let inside = "use super::super::base::X; use self::inner::Y; mod inner { use super::*; }";
    assert_eq!(check(Fixture::new().core("base/clock.rs", inside).0.path()), [""; 0]);
}

#[test]
fn the_same_level_is_not_lower() {
    Fixture::new()
        .table("| 3 | recoup-core | `store`", "| 2 | recoup-core | `store`")
        .core("store/sqlite.rs", "")
        .fails_with(&["store/mod.rs:1: `store` (level 2) uses `crate::key`", "`key` (level 2)"]);
}

#[test]
fn the_border_between_the_packages_has_levels_too() {
    Fixture::new()
        .table("| 3 | recoup-core | `store`", "| 8 | recoup-core | `store`")
        .fails_with(&["config.rs:1: `config` (level 6)", "`recoup_core::store::Store`"]);
}

#[test]
fn a_re_export_leads_to_the_module_behind_it() {
    Fixture::new()
        .core("lib.rs", "pub use error::{Error, Result as Outcome}; pub use store::Store;")
        .core("key.rs", "use crate::Store;")
        .fails_with(&["key.rs:1: ", "`crate::Store`, which lives in `store` (level 3)"]);
}

#[test]
fn what_hides_a_module_is_refused() {
    let root = "brings in a whole crate root";
    Fixture::new().core("key.rs", "use super::*;").fails_with(&["key.rs:1: `super`", root]);
    Fixture::new().core("key.rs", "use crate as all;").fails_with(&["key.rs:1: `crate`", root]);
    Fixture::new().program("cli/x.rs", "use recoup_core::*;").fails_with(&["cli/x.rs:1: ", root]);
    Fixture::new().core("key.rs", "use crate::VERSION;").fails_with(&["belongs to no module"]);
}

#[test]
fn a_comment_and_a_visibility_use_nothing() {
    let source = "/// See [`crate::store::Store`].\n/// crate::store\npub(crate) struct S;\n\
                  const TEXT: &str = \"crate::store\"; pub(super) fn f() {}";
    assert_eq!(check(Fixture::new().core("key.rs", source).0.path()), [""; 0]);
}

#[test]
fn the_table_and_the_tree_name_the_same_modules() {
    Fixture::new()
        .core("cache/mod.rs", "")
        .fails_with(&["crates/recoup-core/src: module `cache` has no row", "add one"]);
    Fixture::new()
        .table("`secrets` | to come", "`secrets` | here")
        .fails_with(&["ARCHITECTURE.md:10: ", "has no `secrets`", "remove the row"]);
    Fixture::new()
        .core("secrets.rs", "")
        .fails_with(&["ARCHITECTURE.md:10: `secrets` is in", "make its state `here`"]);
    Fixture::new()
        .table("`secrets` | to come", "`key` | here")
        .fails_with(&["ARCHITECTURE.md:10: `key` of recoup-core already has a row at line 9"]);
}

#[test]
fn a_table_that_can_not_be_read_is_a_problem() {
    let tables = [
        ("| 2 | recoup-core | `secrets`", "| two | recoup-core | `secrets`", "level `two`"),
        ("`secrets` | to come", "`secrets` | soon", "state `soon`"),
        ("| 2 | recoup-core | `secrets`", "| 2 | core | `secrets`", "package `core`"),
        ("`secrets` | to come |", "`secrets` |", "4 cells instead of 5"),
        ("| module | state |", "| state | module |", "the table's columns must be"),
    ];
    for (from, to, problem) in tables {
        Fixture::new().table(from, to).fails_with(&["ARCHITECTURE.md:", problem]);
    }
}

#[test]
fn a_missing_table_or_file_is_a_problem() {
    let fixture = Fixture::new().with("ARCHITECTURE.md", "# Architecture\n");
    assert!(check(fixture.0.path())[0].contains("no table `level | package"));
    std::fs::remove_file(fixture.0.path().join("ARCHITECTURE.md")).expect("it is there");
    assert!(check(fixture.0.path())[0].starts_with("ARCHITECTURE.md: "));
}

#[test]
fn a_source_that_does_not_parse_is_named() {
    Fixture::new().core("key.rs", "fn {").fails_with(&["crates/recoup-core/src/key.rs: "]);
}
