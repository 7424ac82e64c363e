//! Reading rules that all files share: tables with known names, each given once, with values of the
//! right type.

use std::rc::Rc;

use crate::config::document::{Node, Value};
use crate::config::given::{Given, Raw, Standing};
use crate::config::keys::Info;
use crate::config::origin::{File, Origin};
use crate::config::prices::Price;
use crate::config::problem::Problem;

/// Collects the values and problems of a file.
#[derive(Debug)]
pub(super) struct Reader {
    file: File,
    shown: Rc<str>,
    pub(super) givens: Vec<Given>,
    pub(super) problems: Vec<Problem>,
    pub(super) prices: Vec<(String, Price)>,
}

impl Reader {
    pub(super) fn new(file: File, shown: &str) -> Self {
        Self {
            file,
            shown: shown.into(),
            givens: Vec::new(),
            problems: Vec::new(),
            prices: Vec::new(),
        }
    }

    /// Adds a value of `key`, which this file calls `name`.
    pub(super) fn give(&mut self, key: &'static Info, name: &str, node: &Node) {
        match Raw::from_file(&node.value) {
            Some(raw) => self.give_raw(key, name, node, raw),
            None => self.refuse(name, node, key.expected),
        }
    }

    pub(super) fn give_raw(&mut self, key: &'static Info, name: &str, node: &Node, raw: Raw) {
        let origin = self.origin(name, node);
        self.givens.push(Given { key, raw, origin, standing: Standing::Counts });
    }

    /// Adds a problem: the value is not what `expected` says.
    pub(super) fn refuse(&mut self, name: &str, node: &Node, expected: &str) {
        let message = format!("expected {expected} (got {})", node.value);
        self.problem(name, node, message);
    }

    pub(super) fn problem(&mut self, name: &str, node: &Node, message: impl Into<String>) {
        self.problems.push(Problem::at(&self.origin(name, node), message));
    }

    pub(super) fn unknown<'a>(
        &mut self,
        name: &str,
        node: &Node,
        known: impl Iterator<Item = &'a str> + Clone,
    ) {
        self.problems.push(Problem::unknown(&self.origin(name, node), name, known));
    }

    /// The entries of the table `name`, all of which are in `known`. Null counts as an empty table.
    pub(super) fn table<'n>(
        &mut self,
        name: &str,
        node: &'n Node,
        known: &'static [&'static str],
    ) -> Vec<(&'static str, String, &'n Node)> {
        let entries = match &node.value {
            Value::Table(entries) => entries.as_slice(),
            Value::Null => &[],
            _ => {
                self.refuse(name, node, "a table");
                &[]
            }
        };
        let mut found: Vec<(&str, String, &Node)> = Vec::new();
        for (entry, node) in entries {
            let full = format!("{name}.{entry}");
            match known.iter().find(|known| *known == entry) {
                None => {
                    let known: Vec<_> = known.iter().map(|k| format!("{name}.{k}")).collect();
                    self.unknown(&full, node, known.iter().map(String::as_str));
                }
                Some(entry) if found.iter().any(|(earlier, ..)| earlier == entry) => {
                    self.problem(&full, node, "said twice");
                }
                Some(entry) => found.push((entry, full, node)),
            }
        }
        found
    }

    /// True if the file is the user's own, not a repository's.
    pub(super) fn is_users(&self) -> bool {
        self.file == File::User
    }

    fn origin(&self, name: &str, node: &Node) -> Origin {
        let (file, shown) = (self.file, Rc::clone(&self.shown));
        Origin::File { file, shown, key: name.to_owned(), line: node.line }
    }
}
