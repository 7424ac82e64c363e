//! The report of `recoup config show`: every key with its value, its origin, and other values.

use std::borrow::Cow;
use std::collections::BTreeSet;

use recoup_core::Result;
use serde::Serialize;
use serde_json::Value;

use super::configured_value::{ConfiguredValue, ValueStanding};
use super::keys::{AnyKey, KEYS};
use super::origin::ValueOrigin;
use super::tools::ToolSetting;
use super::{FlagOverrides, GatheredConfig, problem};

pub(crate) use super::keys::{KeyInfo, RepositoryPermission};
pub(crate) use super::origin::ConfigLayer;

/// A key, its value, and all other values that were given.
#[derive(Debug, Serialize)]
pub(crate) struct SettingRow {
    pub(crate) key: Cow<'static, str>,
    /// Null if unset.
    pub(crate) value: Value,
    pub(crate) origin: Option<ShownOrigin>,
    /// Values that did not take effect, strongest first.
    pub(crate) others: Vec<InactiveValue>,
}

/// Origin of a value, for display.
#[derive(Debug, Serialize)]
pub(crate) struct ShownOrigin {
    pub(crate) layer: ConfigLayer,
    /// A file and its line, a variable, or a flag.
    pub(crate) place: String,
}

/// A value that did not take effect.
#[derive(Debug, Serialize)]
pub(crate) struct InactiveValue {
    pub(crate) value: Value,
    pub(crate) origin: ShownOrigin,
    pub(crate) why: InactiveReason,
}

/// Reason for which a value did not take effect.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum InactiveReason {
    /// A stronger layer has another value.
    Overridden,
    /// From a repository that the user has not trusted.
    Untrusted,
    /// A repository's limit, which applies only to its own scope.
    OtherScope,
}

/// The table of keys.
pub(crate) fn all_keys() -> impl Iterator<Item = &'static KeyInfo> {
    KEYS.iter().map(|key| key.info())
}

/// The keys that are set and their layers, without values.
pub(crate) fn set_keys(gathered: &GatheredConfig) -> Vec<(&'static str, ConfigLayer)> {
    let given = gathered.givens.iter().filter(|given| !given.is_built_in());
    given.map(|given| (given.key.name, given.origin.layer())).collect()
}

/// The report of `config show`.
#[derive(Debug)]
pub(crate) struct ShownSettings {
    pub(crate) rows: Vec<SettingRow>,
    /// Warnings about faulty settings that were ignored.
    pub(crate) left_out: Vec<String>,
    /// Other messages for the user, such as ignored settings.
    pub(crate) notices: Vec<String>,
}

/// All keys, with their values after faulty settings are dropped.
pub(crate) fn load_rows(overrides: &FlagOverrides) -> Result<ShownSettings> {
    let mut gathered = GatheredConfig::new(overrides)?;
    gathered.leave_out_all_faulty();
    let Some(settings) = gathered.resolve_settings() else {
        return Err(problem::as_error(&gathered.problems));
    };
    let mut rows: Vec<SettingRow> = KEYS.iter().map(|key| gathered.row_for(*key)).collect();
    // Prices are a table and not a key.
    let origin = if settings.prices.own_count() > 0 {
        ShownOrigin {
            layer: ConfigLayer::User,
            place: gathered.places.user_file().display().to_string(),
        }
    } else {
        ShownOrigin { layer: ConfigLayer::BuiltIn, place: "built-in".to_owned() }
    };
    let value = settings.prices.describe().into();
    rows.push(SettingRow { key: "prices".into(), value, origin: Some(origin), others: Vec::new() });
    rows.extend(gathered.tool_rows());
    Ok(ShownSettings { rows, left_out: settings.left_out, notices: gathered.notices() })
}

impl GatheredConfig {
    fn row_for(&self, key: &'static dyn AnyKey) -> SettingRow {
        let name = key.info().name;
        let winner = self.counting_values(name).last();
        let lost =
            |given: &&ConfiguredValue| !winner.is_some_and(|winner| std::ptr::eq(winner, *given));
        let to_inactive = |given: &ConfiguredValue| {
            let (value, why) = match given.standing {
                ValueStanding::Counts => {
                    (self.display_value(key, given), InactiveReason::Overridden)
                }
                ValueStanding::OtherScope => {
                    (self.display_value(key, given), InactiveReason::OtherScope)
                }
                // Not expanded: an untrusted file may not read variables.
                ValueStanding::Untrusted => {
                    (given.raw.display_text().into(), InactiveReason::Untrusted)
                }
            };
            InactiveValue { value, origin: shown_origin(&given.origin), why }
        };
        let mut others: Vec<_> = self.values_of(name).filter(lost).map(to_inactive).collect();
        others.reverse();
        SettingRow {
            key: name.into(),
            value: winner.map_or(Value::Null, |given| self.display_value(key, given)),
            origin: winner.map(|given| shown_origin(&given.origin)),
            others,
        }
    }

    /// A row for each key about tool calls that is set. Lists, to which layers add, have several.
    fn tool_rows(&self) -> Vec<SettingRow> {
        let keys: BTreeSet<&str> = self.tools.iter().map(ToolSetting::key).collect();
        let mut rows = Vec::new();
        for key in keys {
            let (mut counting, mut others) = (Vec::new(), Vec::new());
            for setting in self.tools.iter().rev().filter(|setting| setting.key() == key) {
                let value = Value::from(setting.to_string());
                let origin = shown_origin(&setting.origin);
                let why = if setting.standing == ValueStanding::Untrusted {
                    InactiveReason::Untrusted
                } else if self.tools.iter().any(|other| setting.is_overridden_by(other)) {
                    InactiveReason::Overridden
                } else {
                    counting.push((value, Some(origin)));
                    continue;
                };
                others.push(InactiveValue { value, origin, why });
            }
            if counting.is_empty() {
                counting.push((Value::Null, None));
            }
            for (value, origin) in counting {
                let others = std::mem::take(&mut others);
                rows.push(SettingRow { key: key.to_owned().into(), value, origin, others });
            }
        }
        rows
    }

    /// The parsed value for display; as written if it cannot be parsed.
    fn display_value(&self, key: &'static dyn AnyKey, given: &ConfiguredValue) -> Value {
        let read = self.parse_value(|raw, context| key.read_for_display(raw, context), given);
        read.unwrap_or_else(|_| given.raw.display_text().into())
    }
}

fn shown_origin(origin: &ValueOrigin) -> ShownOrigin {
    ShownOrigin { layer: origin.layer(), place: origin.to_string() }
}
