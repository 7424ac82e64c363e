//! Parses raw values, one function for each type of key. Numeric strings are numbers; nothing else
//! is converted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use recoup_core::base::text::shortened;
use recoup_core::cache::{Freshness, Ttl};
use recoup_core::store::{StoreUrl, without_credentials};
use recoup_core::{Error, secrets};
use serde_json::{Number, Value};

use super::given::Raw;
use super::origin::{Layer, Origin};
use super::problem::Problem;
use super::scope::ScopeChoice;
use crate::install::{Client, PEERS};
use crate::llm::{BaseUrl, Provider};
use crate::mirror::SkillsPlace;

/// The word for an empty list of names.
const NO_NAMES: &str = "none";

const BYTES_PER_MB: f64 = 1_048_576.0;

/// The most of a given value that a message repeats, in characters.
const MAX_SHOWN: usize = 80;

/// Context for parsing a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(super) origin: &'a Origin,
    /// Accepted values, for messages.
    pub(super) expected: &'a str,
    /// Base of relative paths.
    pub(super) base: &'a Path,
    pub(super) user_home: Option<&'a Path>,
}

impl Context<'_> {
    fn refused(&self, given: &Raw) -> Problem {
        let got = match given {
            Raw::Days(days) if parsed(days).is_some() => days.clone(),
            Raw::Text(text) | Raw::Word(text) | Raw::Days(text) => {
                Value::from(shortened(&without_credentials(text), MAX_SHOWN)).to_string()
            }
            Raw::Bool(_) | Raw::Number(_) | Raw::Redis(_) => given.shown(),
        };
        Problem::at(self.origin, format!("expected {} (got {got})", self.expected))
    }

    fn failed(&self, error: &Error) -> Problem {
        Problem::from_error(self.origin, error)
    }
}

/// A size in megabytes, above 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Megabytes(Number);

impl Megabytes {
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

pub(super) fn store(raw: &Raw, context: &Context<'_>) -> Result<StoreUrl, Problem> {
    match raw {
        Raw::Text(url) | Raw::Word(url) => {
            StoreUrl::parse(url, context.base, context.user_home).map_err(|e| context.failed(&e))
        }
        Raw::Redis(block) => {
            block.store(context.base, context.user_home).map_err(|e| context.failed(&e))
        }
        _ => Err(context.refused(raw)),
    }
}

/// A store on this machine's disk that many processes may share.
pub(super) fn near_store(raw: &Raw, context: &Context<'_>) -> Result<StoreUrl, Problem> {
    match store(raw, context)? {
        near @ StoreUrl::Sqlite(_) => Ok(near),
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn scope(raw: &Raw, context: &Context<'_>) -> Result<ScopeChoice, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => {
            ScopeChoice::parse(text).map_err(|e| context.failed(&e))
        }
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn boolean(raw: &Raw, context: &Context<'_>) -> Result<bool, Problem> {
    match raw {
        Raw::Bool(value) => Ok(*value),
        Raw::Word(word) => match word.as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(context.refused(raw)),
        },
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn megabytes(raw: &Raw, context: &Context<'_>) -> Result<Megabytes, Problem> {
    number(raw).and_then(Megabytes::new).ok_or_else(|| context.refused(raw))
}

pub(super) fn count(raw: &Raw, context: &Context<'_>) -> Result<u64, Problem> {
    let count = number(raw).and_then(|number| number.as_u64());
    count.filter(|count| *count > 0).ok_or_else(|| context.refused(raw))
}

pub(super) fn ttl(raw: &Raw, context: &Context<'_>) -> Result<Ttl, Problem> {
    let value = match raw {
        Raw::Text(text) | Raw::Word(text) => Value::String(text.clone()),
        Raw::Number(number) => Value::Number(number.clone()),
        Raw::Days(days) => return in_days(days, context),
        Raw::Bool(_) | Raw::Redis(_) => return Err(context.refused(raw)),
    };
    let place = context.origin.place();
    // In other programs' files a bare number is milliseconds. In ours it would be a guess.
    let ttl = match context.origin.layer() {
        Layer::Peer | Layer::PeerVariable => Ttl::from_json(&place, &value),
        _ => Ttl::from_json_with_unit(&place, &value),
    };
    ttl.map_err(|error| context.failed(&error))
}

fn in_days(days: &str, context: &Context<'_>) -> Result<Ttl, Problem> {
    let number = parsed(days).filter(|number| number.as_f64().is_some_and(|days| days >= 0.0));
    let ttl = number.and_then(|days| Ttl::parse("", &format!("{days}d")).ok());
    let context = Context { expected: "a number of days", ..*context };
    ttl.ok_or_else(|| context.refused(&Raw::Days(days.to_owned())))
}

pub(super) fn freshness(raw: &Raw, context: &Context<'_>) -> Result<Freshness, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => {
            [Freshness::Auto, Freshness::Mtime, Freshness::Content]
                .into_iter()
                .find(|freshness| freshness_name(*freshness) == text)
                .ok_or_else(|| context.refused(raw))
        }
        _ => Err(context.refused(raw)),
    }
}

pub(super) fn freshness_name(freshness: Freshness) -> &'static str {
    match freshness {
        Freshness::Auto => "auto",
        Freshness::Mtime => "mtime",
        Freshness::Content => "content",
    }
}

pub(super) fn path(raw: &Raw, context: &Context<'_>) -> Result<PathBuf, Problem> {
    let (Raw::Text(text) | Raw::Word(text)) = raw else { return Err(context.refused(raw)) };
    if text.is_empty() {
        return Err(context.refused(raw));
    }
    match (text.strip_prefix("~/"), context.user_home) {
        (None, _) => Ok(context.base.join(text)),
        (Some(rest), Some(home)) => Ok(home.join(rest)),
        (Some(_), None) => Err(Problem::at(context.origin, "there is no home directory for ~")),
    }
}

pub(super) fn word(raw: &Raw, context: &Context<'_>) -> Result<String, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) if is_word(text) => Ok(text.clone()),
        _ => Err(context.refused(raw)),
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control())
}

pub(super) fn provider(raw: &Raw, context: &Context<'_>) -> Result<Provider, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => Provider::parse(text),
        _ => None,
    }
    .ok_or_else(|| context.refused(raw))
}

/// Names of other memory programs, as in `peers.keep`.
pub(super) fn peers(raw: &Raw, context: &Context<'_>) -> Result<Vec<&'static str>, Problem> {
    names(raw, context, |name| PEERS.into_iter().find(|it| *it == name))
}

/// Formats names as `peers.keep` takes them.
pub(crate) fn peers_in_words(peers: &[&str]) -> String {
    if peers.is_empty() { NO_NAMES.to_owned() } else { peers.join(", ") }
}

/// Clients without hooks, as in `record.allow`.
pub(super) fn clients_without_hooks(
    raw: &Raw,
    context: &Context<'_>,
) -> Result<Vec<Client>, Problem> {
    let known = |name: &str| Client::parse(name).ok();
    names(raw, context, |name| known(name).filter(|client| client.with_hooks().is_none()))
}

/// Formats clients as `record.allow` takes them.
pub(crate) fn clients_in_words(clients: &[Client]) -> String {
    peers_in_words(&clients.iter().map(|client| client.as_str()).collect::<Vec<_>>())
}

/// Parses a comma-separated list of known names.
fn names<T>(
    raw: &Raw,
    context: &Context<'_>,
    known: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let refused = || context.refused(raw);
    let (Raw::Text(text) | Raw::Word(text)) = raw else { return Err(refused()) };
    if text.trim() == NO_NAMES {
        return Ok(Vec::new());
    }
    text.split(',').map(|name| known(name.trim()).ok_or_else(refused)).collect()
}

pub(super) fn skills_place(raw: &Raw, context: &Context<'_>) -> Result<SkillsPlace, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => SkillsPlace::parse(text),
        _ => None,
    }
    .ok_or_else(|| context.refused(raw))
}

pub(super) fn base_url(raw: &Raw, context: &Context<'_>) -> Result<BaseUrl, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) => {
            BaseUrl::parse(text).map_err(|error| context.failed(&error))
        }
        _ => Err(context.refused(raw)),
    }
}

/// A variable's name. An invalid one is not repeated: it may be the key itself.
pub(super) fn variable_name(raw: &Raw, context: &Context<'_>) -> Result<String, Problem> {
    match raw {
        Raw::Text(text) | Raw::Word(text) if is_variable(text) => Ok(text.clone()),
        _ => Err(Problem::at(
            context.origin,
            format!("expected {}, and never a key itself", context.expected),
        )),
    }
}

fn is_variable(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(letters)
        && secrets::detect(text.as_bytes()).is_none()
}

pub(super) fn deadline(raw: &Raw, context: &Context<'_>) -> Result<Duration, Problem> {
    let sensible = Duration::from_millis(100)..=Duration::from_mins(5);
    let time = ttl(raw, context)?.as_millis().map(Duration::from_millis);
    time.filter(|time| sensible.contains(time)).ok_or_else(|| context.refused(raw))
}

/// Formats a deadline as it would be written.
pub(super) fn shown_deadline(time: Duration) -> String {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Ttl::from_millis(millis).unwrap_or(Ttl::Forever).to_string()
}

fn number(raw: &Raw) -> Option<Number> {
    match raw {
        Raw::Number(number) => Some(number.clone()),
        Raw::Text(text) | Raw::Word(text) => parsed(text),
        Raw::Bool(_) | Raw::Days(_) | Raw::Redis(_) => None,
    }
}

/// Parses a number in JSON syntax.
fn parsed(text: &str) -> Option<Number> {
    serde_json::from_str(text.trim()).ok()
}
