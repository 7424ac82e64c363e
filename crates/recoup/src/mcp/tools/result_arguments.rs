//! Identifies a result: by key, or by paths, query and operation. Gives the same key as `recoup
//! cache` for the same words.

use recoup_core::cache::{ResultReference, join_paths, split_path_list};
use recoup_core::entry::ProducerIdentity;
use recoup_core::key::{EntryId, Key, KeyPart, Kind};
use recoup_core::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::arguments::OneOrMany;
use super::schema::{text, texts};
use super::validate::quoted;
use crate::mcp::McpServices;

/// `key`, or `paths`, `query` and `operation`, or both.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResultArguments {
    key: Option<String>,
    paths: Option<OneOrMany>,
    query: Option<String>,
    operation: Option<String>,
}

/// An entry, and the parts of its key where they are known.
#[derive(Debug)]
pub(super) struct SelectedResult {
    pub(super) id: EntryId,
    pub(super) parts: Vec<KeyPart>,
    pub(super) identity: ProducerIdentity,
    /// Paths that the work examines.
    paths: Vec<String>,
}

/// Schema fields of a selector.
pub(super) fn fields() -> Vec<(&'static str, Value)> {
    vec![
        ("paths", texts("What the work looks at")),
        ("query", text("The question")),
        ("operation", text("The kind of work: review, security-audit")),
        ("key", text("In place of these three: a key that an answer named")),
    ]
}

impl ResultArguments {
    pub(super) fn resolve(self, services: &McpServices) -> Result<SelectedResult> {
        let Self { key, paths, query, operation } = self;
        let paths = paths.map(|paths| match paths {
            // As on the command line.
            OneOrMany::One(list) => split_path_list(&list),
            OneOrMany::Several(paths) => paths,
        });
        let csv = paths.as_deref().map(join_paths);
        let naming = ResultReference {
            key: key.as_deref(),
            paths: csv.as_deref(),
            query: query.as_deref(),
            operation: operation.as_deref(),
            mark: "",
        };
        if let Some(key) = &key {
            parse_key(key)?;
        }
        let named = naming.resolve()?.ok_or_else(|| {
            Error::usage("which result? Give paths, query and operation, or a key")
        })?;
        let identity = named.identity();
        let mut paths = paths.unwrap_or_default();
        paths.retain(|path| !path.is_empty());
        Ok(SelectedResult {
            id: EntryId::new(services.app.scope(), named.key),
            parts: named.parts,
            identity,
            paths,
        })
    }
}

/// Parses a key argument.
pub(super) fn parse_key(key: &str) -> Result<Key> {
    Key::parse(key).map_err(|_| {
        Error::usage(format!(
            "key: {} is no key, as cache_lookup and cache_store tell them",
            quoted(key)
        ))
    })
}

impl SelectedResult {
    /// Refuses a bare key of an entry that is no result: it has another format, and another
    /// command replaces it.
    pub(super) fn must_be_a_result(&self, services: &McpServices) -> Result<()> {
        if !self.parts.is_empty() {
            return Ok(());
        }
        let kind = services.cache.head(&self.id).ok().flatten().map(|head| head.header.kind);
        match kind {
            None | Some(Kind::Result) => Ok(()),
            Some(kind) => Err(Error::usage(format!(
                "key: {} is no result but an entry of another kind ({kind}); cache_explain tells \
                 more about it",
                self.id.key
            ))),
        }
    }

    /// Returns the given sources; by default, the paths that exist.
    pub(super) fn sources(&self, services: &McpServices, given: Option<OneOrMany>) -> Vec<String> {
        match given {
            Some(given) => given.into_vec(),
            None => services.cache.watchable(&services.app.view(), &self.paths),
        }
    }

    /// Paths that are not among the sources.
    pub(super) fn unwatched(&self, sources: &[String]) -> Vec<String> {
        self.paths.iter().filter(|path| !sources.contains(path)).cloned().collect()
    }
}
