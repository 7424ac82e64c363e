//! Resolves each key to one value: the strongest that counts. The others are checked nevertheless.

use std::borrow::Cow;

use super::configured_value::{ConfiguredValue, RawSetting, ValueStanding, expand_variables};
use super::gather::GatheredConfig;
use super::keys::ConfigKey;
use super::origin::ValueOrigin;
use super::problem::ConfigProblem;
use super::tools::ToolSetting;
use super::trust::TrustVerdict;
use super::value::SettingContext;

impl GatheredConfig {
    /// The value of `key`; none if unset, or if the value that counts is faulty. Adds all problems.
    pub(super) fn resolve<T>(&mut self, key: &'static ConfigKey<T>) -> Option<T> {
        let (mut problems, mut value) = (Vec::new(), None);
        let counting: Vec<&ConfiguredValue> = self.counting_values(key.info.name).collect();
        let (winner, overridden) = counting.split_last()?;
        for given in overridden {
            problems.extend(self.parse_value(key.read, given).err());
        }
        match self.parse_value(key.read, winner) {
            Ok(read) => value = Some(read),
            Err(problem) => problems.push(problem),
        }
        self.problems.extend(problems);
        value
    }

    /// The user's value of `key`, whatever a repository says.
    pub(super) fn user_value<T>(&self, key: &'static ConfigKey<T>) -> Option<T> {
        let said =
            self.counting_values(key.info.name).filter(|given| !given.origin.is_from_repository());
        self.parse_value(key.read, said.last()?).ok()
    }

    /// Parses one value as its key does.
    pub(super) fn parse_value<T>(
        &self,
        read: impl Fn(&RawSetting, &SettingContext<'_>) -> Result<T, ConfigProblem>,
        given: &ConfiguredValue,
    ) -> Result<T, ConfigProblem> {
        let ConfiguredValue { key, raw, origin, .. } = given;
        let raw = match expand_variables(raw) {
            Ok(None) => Cow::Borrowed(raw),
            Ok(Some(expanded)) => Cow::Owned(expanded),
            Err(why) => return Err(ConfigProblem::at(origin, why)),
        };
        let user_home = self.places.user_home.as_deref();
        let base = self.base_dir(origin);
        read(&raw, &SettingContext { origin, expected: key.expected, base, user_home })
    }

    /// Values that count for a key, strongest last.
    pub(super) fn counting_values(&self, name: &str) -> impl Iterator<Item = &ConfiguredValue> {
        self.values_of(name).filter(|given| given.standing == ValueStanding::Counts)
    }

    /// All values of a key, strongest last.
    pub(super) fn values_of(&self, name: &str) -> impl Iterator<Item = &ConfiguredValue> {
        self.givens.iter().filter(move |given| given.key.name == name)
    }

    /// Untrusted keys of a file about tool calls.
    fn untrusted_tools(&self, name: &str) -> impl Iterator<Item = &str> {
        let untrusted = self.tools.iter().filter(move |setting| {
            let is_in =
                matches!(&setting.origin, ValueOrigin::File { file, .. } if file.name() == name);
            // A definition is missed by agents only, which say so.
            is_in
                && setting.definition().is_none()
                && setting.standing == ValueStanding::Untrusted
                && !self.tools.iter().any(|other| setting.is_overridden_by(other))
        });
        untrusted.map(ToolSetting::key)
    }

    /// A warning about untrusted values of the repository, if they would have made a difference.
    pub(crate) fn untrusted_warning(&self) -> Option<String> {
        let mut files: Vec<String> = Vec::new();
        for delicate in &self.delicate {
            let ignored: Vec<&str> = self
                .givens
                .iter()
                .filter(|given| {
                    // Only trust is lacking if no stronger value overrides it.
                    let layer = given.origin.layer();
                    let mut counting = self.counting_values(given.key.name);
                    given.standing == ValueStanding::Untrusted
                        && !counting.any(|other| other.origin.layer() > layer)
                })
                .filter_map(|given| match &given.origin {
                    ValueOrigin::File { file, key, .. } if file.name() == delicate.name => {
                        Some(key.as_str())
                    }
                    _ => None,
                })
                .chain(self.untrusted_tools(&delicate.name))
                .collect();
            if !ignored.is_empty() {
                let changed = matches!(delicate.verdict, TrustVerdict::Changed(_));
                let since = if changed { ", changed since you trusted it" } else { "" };
                files.push(format!("{} ({}{since})", delicate.name, ignored.join(", ")));
            }
        }
        if files.is_empty() {
            return None;
        }
        let why = self.no_ledger.as_ref().map(|why| format!("; {why}")).unwrap_or_default();
        Some(format!(
            "ignored until you run `recoup trust`: {} in this repository{why}",
            files.join(", ")
        ))
    }
}
