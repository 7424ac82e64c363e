//! Identifies a result: by key, or by paths, query and operation. Gives the same key as `recoup
//! cache` for the same words.

use recoup_core::cache::{Naming, joined, listed};
use recoup_core::entry::Identity;
use recoup_core::key::{Id, Key, Kind, Part};
use recoup_core::{Error, Result};
use serde::Deserialize;
use serde_json::Value;

use super::arguments::Texts;
use super::fit::quoted;
use super::schema::{text, texts};
use crate::mcp::Surroundings;

/// `key`, or `paths`, `query` and `operation`, or both.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    key: Option<String>,
    paths: Option<Texts>,
    query: Option<String>,
    operation: Option<String>,
}

/// An entry, and the parts of its key where they are known.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) id: Id,
    pub(super) parts: Vec<Part>,
    pub(super) identity: Identity,
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

impl Asked {
    pub(super) fn resolve(self, around: &dyn Surroundings) -> Result<Named> {
        let Self { key, paths, query, operation } = self;
        let paths = paths.map(|paths| match paths {
            // As on the command line.
            Texts::One(list) => listed(&list),
            Texts::Several(paths) => paths,
        });
        let csv = paths.as_deref().map(joined);
        let naming = Naming {
            key: key.as_deref(),
            paths: csv.as_deref(),
            query: query.as_deref(),
            operation: operation.as_deref(),
            mark: "",
        };
        if let Some(key) = &key {
            parsed(key)?;
        }
        let named = naming.resolve()?.ok_or_else(|| {
            Error::usage("which result? Give paths, query and operation, or a key")
        })?;
        let identity = named.identity();
        let mut paths = paths.unwrap_or_default();
        paths.retain(|path| !path.is_empty());
        Ok(Named { id: Id::new(around.scope(), named.key), parts: named.parts, identity, paths })
    }
}

/// Parses a key argument.
pub(super) fn parsed(key: &str) -> Result<Key> {
    Key::parse(key).map_err(|_| {
        Error::usage(format!(
            "key: {} is no key, as cache_lookup and cache_store tell them",
            quoted(key)
        ))
    })
}

impl Named {
    /// Refuses a bare key of an entry that is no result: it has another format, and another
    /// command replaces it.
    pub(super) fn must_be_a_result(&self, around: &dyn Surroundings) -> Result<()> {
        if !self.parts.is_empty() {
            return Ok(());
        }
        let kind = around.cache().head(&self.id).ok().flatten().map(|head| head.header.kind);
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
    pub(super) fn sources(&self, around: &dyn Surroundings, given: Option<Texts>) -> Vec<String> {
        match given {
            Some(given) => given.into_vec(),
            None => around.cache().watchable(&around.view(), &self.paths),
        }
    }

    /// Paths that are not among the sources.
    pub(super) fn unwatched(&self, sources: &[String]) -> Vec<String> {
        self.paths.iter().filter(|path| !sources.contains(path)).cloned().collect()
    }
}
