//! How a command names an entry: by key, by the parts that a key is made from, or by the first
//! characters of a generated key, as `cache ls` shows it. Keys chosen by the user are never
//! abbreviated: `build-1` is not `build-12`.

use clap::Args;
use recoup_core::cache::{Cache, ResolvedKey, ResultReference};
use recoup_core::entry::EntryHead;
use recoup_core::key::{EntryId, Key, Scope};
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, Result};

use crate::cli::app::App;

/// Minimum length of an abbreviated key.
const MIN_PREFIX_LEN: usize = 8;

/// The length of a generated key: a SHA-256 in hex digits.
const GENERATED_KEY_LEN: usize = 64;

/// `--key`, or `--paths --query --operation`, or both.
#[derive(Debug, Args)]
pub(in crate::cli) struct ResultSelectorArgs {
    /// The entry's key, or at least the first 8 characters of a generated key
    #[arg(long, value_name = "KEY", allow_hyphen_values = true)]
    key: Option<String>,
    /// Instead of --key, all three together: the paths that were looked at, separated by commas
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: Option<String>,
    /// Instead of --key, all three together: the question
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: Option<String>,
    /// Instead of --key, all three together: the skill or operation
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: Option<String>,
}

impl ResultSelectorArgs {
    pub(in crate::cli) fn is_given(&self) -> bool {
        let Self { key, paths, query, operation } = self;
        [key, paths, query, operation].into_iter().any(Option::is_some)
    }

    pub(in crate::cli) fn resolve(&self) -> Result<ResolvedKey> {
        let Self { key, paths, query, operation } = self;
        let naming = ResultReference {
            key: key.as_deref(),
            paths: paths.as_deref(),
            query: query.as_deref(),
            operation: operation.as_deref(),
            mark: "--",
        };
        naming.resolve()?.ok_or_else(|| {
            Error::usage(
                "no entry selected: give --key KEY, or --paths CSV --query TEXT --operation NAME",
            )
        })
    }
}

/// Finds the entry with exactly this key, or else the only one whose generated key starts with it.
pub(in crate::cli) fn find_entry(
    app: &App,
    cache: &Cache,
    typed: &str,
) -> Result<Option<(EntryId, EntryHead)>> {
    let wanted = Key::parse(typed)?;
    let id = EntryId::new(app.scope(), wanted.clone());
    if let Some(head) = cache.head(&id)? {
        return Ok(Some((id, head)));
    }
    if !is_abbreviated(typed) {
        return Ok(None);
    }
    let filter =
        ScanFilter { key_prefix: Some(typed.to_owned()), ..ScanFilter::of_scope(&app.scope()) };
    let mut found: Vec<(EntryId, EntryHead)> = Vec::new();
    cache.scan_filtered(&filter, &mut |id, head| {
        if let Some(head) = head.ok().filter(|_| is_generated(id.key.as_str())) {
            found.push((id.clone(), head.clone()));
        }
        ScanFlow::Continue(())
    })?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        many => Err(Error::usage(format!("{many} keys begin with {wanted}; give more characters"))),
    }
}

/// Expands an abbreviated key; returns it unchanged if no entry matches. A full key is not looked
/// up: the caller does that.
pub(super) fn expand_key(app: &App, cache: &Cache, typed: Key) -> Result<Key> {
    if !is_abbreviated(typed.as_str()) {
        return Ok(typed);
    }
    Ok(find_entry(app, cache, typed.as_str())?.map_or(typed, |(id, _)| id.key))
}

/// The scope as messages name it.
pub(super) fn describe_scope(app: &App) -> String {
    let scope = app.scope();
    let is_of_project = scope == Scope::project(app.settings.project.id());
    if is_of_project { "this project".to_owned() } else { scope.to_string() }
}

/// True if a key is one that Recoup made.
pub(in crate::cli) fn is_generated(key: &str) -> bool {
    key.len() == GENERATED_KEY_LEN && is_hex(key)
}

/// True if text may be a generated key, or the beginning of one.
pub(in crate::cli) fn is_key_or_prefix(text: &str) -> bool {
    is_generated(text) || is_abbreviated(text)
}

/// True if text may be the beginning of a generated key.
fn is_abbreviated(text: &str) -> bool {
    (MIN_PREFIX_LEN..GENERATED_KEY_LEN).contains(&text.len()) && is_hex(text)
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}
