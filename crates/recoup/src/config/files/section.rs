//! Reading rules that all files share: tables with known names, each given once, with values of the
//! right type.

use std::rc::Rc;

use crate::config::configured_value::{ConfiguredValue, RawSetting, ValueStanding};
use crate::config::document::{ConfigNode, ConfigValue};
use crate::config::keys::KeyInfo;
use crate::config::origin::{ConfigFile, ValueOrigin};
use crate::config::prices::TokenPrice;
use crate::config::problem::ConfigProblem;

/// Collects the values and problems of a file.
#[derive(Debug)]
pub(super) struct SectionReader {
    file: ConfigFile,
    shown: Rc<str>,
    pub(super) givens: Vec<ConfiguredValue>,
    pub(super) problems: Vec<ConfigProblem>,
    pub(super) prices: Vec<(String, TokenPrice)>,
}

impl SectionReader {
    pub(super) fn new(file: ConfigFile, shown: &str) -> Self {
        Self {
            file,
            shown: shown.into(),
            givens: Vec::new(),
            problems: Vec::new(),
            prices: Vec::new(),
        }
    }

    /// Adds a value of `key`, which this file calls `name`.
    pub(super) fn add_value(&mut self, key: &'static KeyInfo, name: &str, node: &ConfigNode) {
        match RawSetting::from_file(&node.value) {
            Some(raw) => self.add_raw_value(key, name, node, raw),
            None => self.add_type_problem(name, node, key.expected),
        }
    }

    pub(super) fn add_raw_value(
        &mut self,
        key: &'static KeyInfo,
        name: &str,
        node: &ConfigNode,
        raw: RawSetting,
    ) {
        let origin = self.origin(name, node);
        self.givens.push(ConfiguredValue { key, raw, origin, standing: ValueStanding::Counts });
    }

    /// Adds a problem: the value is not what `expected` says.
    pub(super) fn add_type_problem(&mut self, name: &str, node: &ConfigNode, expected: &str) {
        let message = format!("expected {expected} (got {})", node.value);
        self.add_problem(name, node, message);
    }

    pub(super) fn add_problem(
        &mut self,
        name: &str,
        node: &ConfigNode,
        message: impl Into<String>,
    ) {
        self.problems.push(ConfigProblem::at(&self.origin(name, node), message));
    }

    pub(super) fn add_unknown_name<'a>(
        &mut self,
        name: &str,
        node: &ConfigNode,
        known: impl Iterator<Item = &'a str> + Clone,
    ) {
        self.problems.push(ConfigProblem::unknown(&self.origin(name, node), name, known));
    }

    /// The entries of the table `name`, all of which are in `known`. Null counts as an empty table.
    pub(super) fn table<'n>(
        &mut self,
        name: &str,
        node: &'n ConfigNode,
        known: &'static [&'static str],
    ) -> Vec<(&'static str, String, &'n ConfigNode)> {
        let entries = match &node.value {
            ConfigValue::Table(entries) => entries.as_slice(),
            ConfigValue::Null => &[],
            _ => {
                self.add_type_problem(name, node, "a table");
                &[]
            }
        };
        let mut found: Vec<(&str, String, &ConfigNode)> = Vec::new();
        for (entry, node) in entries {
            let full = format!("{name}.{entry}");
            match known.iter().find(|known| *known == entry) {
                None => {
                    let known: Vec<_> = known.iter().map(|k| format!("{name}.{k}")).collect();
                    self.add_unknown_name(&full, node, known.iter().map(String::as_str));
                }
                Some(entry) if found.iter().any(|(earlier, ..)| earlier == entry) => {
                    self.add_problem(&full, node, "said twice");
                }
                Some(entry) => found.push((entry, full, node)),
            }
        }
        found
    }

    /// True if the file is the user's own, not a repository's.
    pub(super) fn is_user_file(&self) -> bool {
        self.file == ConfigFile::User
    }

    fn origin(&self, name: &str, node: &ConfigNode) -> ValueOrigin {
        let (file, shown) = (self.file, Rc::clone(&self.shown));
        ValueOrigin::File { file, shown, key: name.to_owned(), line: node.line }
    }
}
