//! Parses raw values, one function for each type of key. Numeric strings are numbers; nothing else
//! is converted.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::project::Project;
use recoup_core::base::text::shorten_text;
use recoup_core::cache::{FreshnessCheck, Ttl};
use recoup_core::key::Scope;
use recoup_core::memory::CheckStrength;
use recoup_core::store::{StoreUrl, without_credentials};
use recoup_core::{Error, Result, secrets};
use serde_json::{Number, Value};

use super::configured_value::RawSetting;
use super::origin::{ConfigLayer, ValueOrigin};
use super::problem::ConfigProblem;
use crate::clients::{AgentClient, PEERS};
use crate::llm::{BaseUrl, ModelProvider};
use crate::mirror::SkillsPlace;

/// The word for an empty list of names.
const NO_NAMES: &str = "none";

const BYTES_PER_MB: f64 = 1_048_576.0;

/// The most of a given value that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// Context for parsing a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SettingContext<'a> {
    pub(super) origin: &'a ValueOrigin,
    /// Accepted values, for messages.
    pub(super) expected: &'a str,
    /// Base of relative paths.
    pub(super) base: &'a Path,
    pub(super) user_home: Option<&'a Path>,
}

impl SettingContext<'_> {
    fn refused(&self, given: &RawSetting) -> ConfigProblem {
        let got = match given {
            RawSetting::Days(days) if parse_number(days).is_some() => days.clone(),
            RawSetting::Text(text) | RawSetting::Word(text) | RawSetting::Days(text) => {
                Value::from(shorten_text(&without_credentials(text), MAX_SHOWN)).to_string()
            }
            RawSetting::Bool(_) | RawSetting::Number(_) | RawSetting::Redis(_) => {
                given.display_text()
            }
        };
        ConfigProblem::at(self.origin, format!("expected {} (got {got})", self.expected))
    }

    fn failed(&self, error: &Error) -> ConfigProblem {
        ConfigProblem::from_error(self.origin, error)
    }
}

/// A size in megabytes, above 0.
#[derive(Debug, Clone, PartialEq)]
pub struct MegabyteSize(Number);

impl MegabyteSize {
    fn new(number: Number) -> Option<Self> {
        let above_none = number.as_f64().is_some_and(|size| size > 0.0);
        above_none.then_some(Self(number))
    }

    /// The number as given.
    pub fn number(&self) -> &Number {
        &self.0
    }

    /// The size in bytes, at least 1; saturates.
    pub fn bytes(&self) -> u64 {
        megabytes_in_bytes(self.0.as_f64().unwrap_or_default()).max(1)
    }
}

/// Converts megabytes to bytes; saturates at 0 and `u64::MAX`.
pub fn megabytes_in_bytes(megabytes: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast stops at the smallest and the largest"
    )]
    let bytes = (megabytes * BYTES_PER_MB) as u64;
    bytes
}

pub(super) fn store(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<StoreUrl, ConfigProblem> {
    match raw {
        RawSetting::Text(url) | RawSetting::Word(url) => {
            StoreUrl::parse(url, context.base, context.user_home).map_err(|e| context.failed(&e))
        }
        RawSetting::Redis(block) => {
            block.to_store_url(context.base, context.user_home).map_err(|e| context.failed(&e))
        }
        _ => Err(context.refused(raw)),
    }
}

/// A store on this machine's disk that many processes may share.
pub(super) fn near_store(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<StoreUrl, ConfigProblem> {
    match store(raw, context)? {
        near @ StoreUrl::Sqlite(_) => Ok(near),
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn scope(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<ScopeChoice, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => {
            ScopeChoice::parse(text).map_err(|e| context.failed(&e))
        }
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn boolean(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<bool, ConfigProblem> {
    match raw {
        RawSetting::Bool(value) => Ok(*value),
        RawSetting::Word(word) => match word.as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(context.refused(raw)),
        },
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn megabytes(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<MegabyteSize, ConfigProblem> {
    to_number(raw).and_then(MegabyteSize::new).ok_or_else(|| context.refused(raw))
}

pub(super) fn count(raw: &RawSetting, context: &SettingContext<'_>) -> Result<u64, ConfigProblem> {
    let count = to_number(raw).and_then(|number| number.as_u64());
    count.filter(|count| *count > 0).ok_or_else(|| context.refused(raw))
}

pub(super) fn ttl(raw: &RawSetting, context: &SettingContext<'_>) -> Result<Ttl, ConfigProblem> {
    let value = match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => Value::String(text.clone()),
        RawSetting::Number(number) => Value::Number(number.clone()),
        RawSetting::Days(days) => {
            let number = parse_number(days).filter(|it| it.as_f64().is_some_and(|it| it >= 0.0));
            let ttl = number.and_then(|days| Ttl::parse("", &format!("{days}d")).ok());
            let context = SettingContext { expected: "a number of days", ..*context };
            return ttl.ok_or_else(|| context.refused(raw));
        }
        RawSetting::Bool(_) | RawSetting::Redis(_) => return Err(context.refused(raw)),
    };
    let place = context.origin.place();
    // In other programs' files a bare number is milliseconds. In ours it would be a guess.
    let ttl = match context.origin.layer() {
        ConfigLayer::Peer | ConfigLayer::PeerVariable => Ttl::from_json(&place, &value),
        _ => Ttl::from_json_with_unit(&place, &value),
    };
    ttl.map_err(|error| context.failed(&error))
}

pub(super) fn freshness(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<FreshnessCheck, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => {
            [FreshnessCheck::Auto, FreshnessCheck::Mtime, FreshnessCheck::Content]
                .into_iter()
                .find(|freshness| freshness_name(*freshness) == text)
                .ok_or_else(|| context.refused(raw))
        }
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn freshness_name(freshness: FreshnessCheck) -> &'static str {
    match freshness {
        FreshnessCheck::Auto => "auto",
        FreshnessCheck::Mtime => "mtime",
        FreshnessCheck::Content => "content",
    }
}

pub(super) fn path(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<PathBuf, ConfigProblem> {
    let (RawSetting::Text(text) | RawSetting::Word(text)) = raw else {
        return Err(context.refused(raw));
    };
    if text.is_empty() {
        return Err(context.refused(raw));
    }
    match (text.strip_prefix("~/"), context.user_home) {
        (None, _) => Ok(context.base.join(text)),
        (Some(rest), Some(home)) => Ok(home.join(rest)),
        (Some(_), None) => {
            Err(ConfigProblem::at(context.origin, "cannot expand ~: no home directory found"))
        }
    }
}

pub(super) fn word(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<String, ConfigProblem> {
    let is_word = |text: &str| {
        !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) if is_word(text) => Ok(text.clone()),
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn provider(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<ModelProvider, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => ModelProvider::parse(text),
        _ => None,
    }
    .ok_or_else(|| context.refused(raw))
}

/// Names of other memory programs, as in `peers.keep`.
pub(super) fn peers(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<Vec<&'static str>, ConfigProblem> {
    parse_names(raw, context, |name| PEERS.into_iter().find(|it| *it == name))
}

/// Formats names as `peers.keep` takes them.
pub(crate) fn peers_in_words(peers: &[&str]) -> String {
    if peers.is_empty() { NO_NAMES.to_owned() } else { peers.join(", ") }
}

/// Clients whose agents may record rules, as in `record.allow`.
pub(super) fn recording_clients(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<Vec<AgentClient>, ConfigProblem> {
    let known = |name: &str| AgentClient::parse(name).ok();
    parse_names(raw, context, |name| known(name).filter(|client| client.may_record_rules()))
}

/// Formats clients as `record.allow` takes them.
pub(crate) fn clients_in_words(clients: &[AgentClient]) -> String {
    peers_in_words(&clients.iter().map(|client| client.as_str()).collect::<Vec<_>>())
}

/// Parses a comma-separated list of known names.
fn parse_names<T>(
    raw: &RawSetting,
    context: &SettingContext<'_>,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, ConfigProblem> {
    let refused = || context.refused(raw);
    let (RawSetting::Text(text) | RawSetting::Word(text)) = raw else { return Err(refused()) };
    if text.trim() == NO_NAMES {
        return Ok(Vec::new());
    }
    text.split(',').map(|name| known(name.trim()).ok_or_else(refused)).collect()
}

pub(super) fn skills_place(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<SkillsPlace, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => SkillsPlace::parse(text),
        _ => None,
    }
    .ok_or_else(|| context.refused(raw))
}

pub(super) fn check_strength(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<CheckStrength, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => CheckStrength::parse(text).ok(),
        _ => None,
    }
    .ok_or_else(|| context.refused(raw))
}

pub(super) fn base_url(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<BaseUrl, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) => {
            BaseUrl::parse(text).map_err(|error| context.failed(&error))
        }
        _ => Err(context.refused(raw)),
    }
}

/// True if a text can be a variable's name, and is no secret.
pub(crate) fn is_variable_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(is_letter)
        && secrets::detect_secret(text.as_bytes()).is_none()
}

/// A variable's name. An invalid one is not repeated: it may be the key itself.
pub(super) fn variable_name(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<String, ConfigProblem> {
    match raw {
        RawSetting::Text(text) | RawSetting::Word(text) if is_variable_name(text) => {
            Ok(text.clone())
        }
        _ => Err(ConfigProblem::at(
            context.origin,
            format!("expected {}, not the key itself", context.expected),
        )),
    }
}

pub(super) fn deadline(
    raw: &RawSetting,
    context: &SettingContext<'_>,
) -> Result<Duration, ConfigProblem> {
    let sensible = Duration::from_millis(100)..=Duration::from_mins(5);
    let time = ttl(raw, context)?.as_millis().map(Duration::from_millis);
    time.filter(|time| sensible.contains(time)).ok_or_else(|| context.refused(raw))
}

/// Formats a deadline as it would be written.
pub(super) fn shown_deadline(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ttl::from_millis(millis).unwrap_or(Ttl::Forever).to_string()
}

fn to_number(raw: &RawSetting) -> Option<Number> {
    match raw {
        RawSetting::Number(number) => Some(number.clone()),
        RawSetting::Text(text) | RawSetting::Word(text) => parse_number(text),
        RawSetting::Bool(_) | RawSetting::Days(_) | RawSetting::Redis(_) => None,
    }
}

/// Parses a number in JSON syntax.
fn parse_number(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}

/// The configured scope of entries, before the project is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ScopeChoice {
    /// The current project.
    Project,
    /// A scope by name.
    Named(Scope),
}

impl ScopeChoice {
    pub(super) fn parse(text: &str) -> Result<Self> {
        if text == "project" {
            return Ok(Self::Project);
        }
        Scope::parse(text).map(Self::Named).map_err(|_| {
            Error::usage(format!(
                "invalid scope {text:?}: expected project, global, tenant:NAME, session:NAME or project:ID"
            ))
        })
    }

    pub(super) fn resolve(self, project: &Project) -> Scope {
        match self {
            Self::Project => Scope::project(project.id()),
            Self::Named(scope) => scope,
        }
    }
}

impl fmt::Display for ScopeChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project => f.write_str("project"),
            Self::Named(scope) => write!(f, "{scope}"),
        }
    }
}
