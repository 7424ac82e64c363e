//! The report of `recoup config show`: every key with its value, its origin, and other values.

use recoup_core::Result;
use serde::Serialize;
use serde_json::Value;

use super::given::{Given, Standing};
use super::keys::{AnyKey, KEYS};
use super::{Gathered, Overrides, Settings, problem};

pub(crate) use super::keys::{Info, Repository};
pub(crate) use super::origin::Layer;

/// A key, its value, and all other values that were given.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) key: &'static str,
    /// Null if unset.
    pub(crate) value: Value,
    pub(crate) origin: Option<Source>,
    /// Values that did not take effect, strongest first.
    pub(crate) others: Vec<Other>,
}

/// Origin of a value, for display.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    pub(crate) layer: Layer,
    /// A file and its line, a variable, or a flag.
    pub(crate) place: String,
}

/// A value that did not take effect.
#[derive(Debug, Serialize)]
pub(crate) struct Other {
    pub(crate) value: Value,
    pub(crate) origin: Source,
    pub(crate) why: Why,
}

/// Reason for which a value did not take effect.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// A stronger layer has another value.
    Overridden,
    /// From a repository that the user has not trusted.
    Untrusted,
    /// A repository's limit, which applies only to its own scope.
    OtherScope,
}

/// The table of keys.
pub(crate) fn keys() -> impl Iterator<Item = &'static Info> {
    KEYS.iter().map(|key| key.info())
}

/// The keys that are set and their layers, without values.
pub(crate) fn said(gathered: &Gathered) -> Vec<(&'static str, Layer)> {
    let given = gathered.givens.iter().filter(|given| !given.is_built_in());
    given.map(|given| (given.key.name, given.origin.layer())).collect()
}

/// The report of `config show`.
#[derive(Debug)]
pub(crate) struct ShownSettings {
    pub(crate) rows: Vec<Row>,
    /// Warnings about faulty settings that were ignored.
    pub(crate) left_out: Vec<String>,
    /// Other messages for the user, such as ignored settings.
    pub(crate) notices: Vec<String>,
}

/// All keys, with their values after faulty settings are dropped.
pub(crate) fn rows(overrides: &Overrides) -> Result<ShownSettings> {
    let mut gathered = Gathered::new(overrides)?;
    gathered.leave_out_all_faulty();
    let Some(settings) = gathered.settings() else {
        return Err(problem::as_error(&gathered.problems));
    };
    let mut rows: Vec<Row> = KEYS.iter().map(|key| gathered.row(*key)).collect();
    rows.push(prices(&settings, &gathered));
    Ok(ShownSettings { rows, left_out: settings.left_out, notices: gathered.notices() })
}

/// The row for prices, which are a table and not a key.
fn prices(settings: &Settings, gathered: &Gathered) -> Row {
    let origin = if settings.prices.own() > 0 {
        Source { layer: Layer::User, place: gathered.places.user_file().display().to_string() }
    } else {
        Source { layer: Layer::BuiltIn, place: "built-in".to_owned() }
    };
    let value = settings.prices.described().into();
    Row { key: "prices", value, origin: Some(origin), others: Vec::new() }
}

impl Gathered {
    fn row(&self, key: &'static dyn AnyKey) -> Row {
        let name = key.info().name;
        let winner = self.counting(name).last();
        let lost = |given: &&Given| !winner.is_some_and(|winner| std::ptr::eq(winner, *given));
        let mut others: Vec<_> = self.of(name).filter(lost).map(|g| self.other(key, g)).collect();
        others.reverse();
        Row {
            key: name,
            value: winner.map_or(Value::Null, |given| self.value(key, given)),
            origin: winner.map(source),
            others,
        }
    }

    fn other(&self, key: &'static dyn AnyKey, given: &Given) -> Other {
        let (value, why) = match given.standing {
            Standing::Counts => (self.value(key, given), Why::Overridden),
            Standing::OtherScope => (self.value(key, given), Why::OtherScope),
            // Not expanded: an untrusted file may not read variables.
            Standing::Untrusted => (given.raw.shown().into(), Why::Untrusted),
        };
        Other { value, origin: source(given), why }
    }

    /// The parsed value for display; as written if it cannot be parsed.
    fn value(&self, key: &'static dyn AnyKey, given: &Given) -> Value {
        let read = self.read(|raw, context| key.shown(raw, context), given);
        read.unwrap_or_else(|_| given.raw.shown().into())
    }
}

fn source(given: &Given) -> Source {
    Source { layer: given.origin.layer(), place: given.origin.to_string() }
}
