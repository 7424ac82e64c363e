//! Removing many entries at once: because the user says so, or because their
//! time is up.

use std::collections::BTreeMap;

use globset::GlobSet;

use super::{Cache, Limits};
use crate::base::glob::{self, Slash};
use crate::entry::{Header, Sources};
use crate::error::Result;
use crate::key::{Id, Kind, Part, Scope};
use crate::store::{Evicted, Flow};

/// Which entries are meant. All that is given must be true of an entry; what is
/// empty means none, never all.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    paths: Option<GlobSet>,
    tag: Option<String>,
    operation: Option<String>,
}

impl Selection {
    /// Entries that have all that is given; none where nothing is.
    pub fn of(
        paths: Option<&str>,
        tag: Option<&str>,
        operation: Option<&str>,
    ) -> Result<Option<Self>> {
        if paths.is_none() && tag.is_none() && operation.is_none() {
            return Ok(None);
        }
        let mut selection = Self::default();
        if let Some(glob) = paths {
            selection = selection.with_paths(glob)?;
        }
        if let Some(tag) = tag {
            selection = selection.with_tag(tag);
        }
        if let Some(operation) = operation {
            selection = selection.with_operation(operation);
        }
        Ok(Some(selection))
    }

    /// Entries with a source that matches `glob`, in which `*` also crosses `/`.
    pub fn with_paths(mut self, glob: &str) -> Result<Self> {
        self.paths = Some(glob::compile(glob, Slash::IsCrossed)?);
        Ok(self)
    }

    /// Entries with that tag.
    #[must_use]
    pub fn with_tag(mut self, tag: &str) -> Self {
        self.tag = Some(tag.to_owned());
        self
    }

    /// Entries whose key was made with that operation, and says so.
    #[must_use]
    pub fn with_operation(mut self, operation: &str) -> Self {
        self.operation = Some(operation.to_owned());
        self
    }

    fn selects(&self, header: &Header) -> bool {
        let Self { paths, tag, operation } = self;
        let given = paths.is_some() || tag.is_some() || operation.is_some();
        given
            && paths.as_ref().is_none_or(|glob| any_source(&header.sources, glob))
            && tag.as_ref().is_none_or(|tag| header.tags.contains(tag))
            && operation.as_ref().is_none_or(|value| has_part(header, "operation", value))
    }
}

/// As it is kept, or as it was given.
fn any_source(sources: &Sources, glob: &GlobSet) -> bool {
    let files = sources.files.iter().flat_map(|file| [Some(&file.path), file.given.as_ref()]);
    let patterns =
        sources.patterns.iter().flat_map(|pattern| [Some(&pattern.path), pattern.given.as_ref()]);
    let undated = sources.older.iter().flat_map(|older| older.paths.iter().map(Some));
    files.chain(patterns).chain(undated).flatten().any(|path| glob.is_match(path))
}

fn has_part(header: &Header, name: &str, value: &str) -> bool {
    let wanted = Part::hidden(name, value);
    header.parts.iter().any(|part| part.name == wanted.name && part.digest == wanted.digest)
}

impl Cache {
    /// Removes the entries of a scope that are meant; says how many.
    pub fn invalidate(&self, scope: &Scope, selection: &Selection) -> Result<usize> {
        let mut found: BTreeMap<Kind, Vec<Id>> = BTreeMap::new();
        self.scan(scope, &mut |id, head| {
            if let Some(head) = head.ok().filter(|head| selection.selects(&head.header)) {
                found.entry(head.header.kind).or_default().push(id.clone());
            }
            Flow::Continue(())
        })?;
        let mut removed = 0;
        for (kind, ids) in &found {
            let gone = self.store().remove(ids)?;
            self.note_removed(*kind, ids, gone);
            removed += gone;
        }
        Ok(removed)
    }

    /// Removes what is dead, in every scope, and of this one what is beyond `limits`.
    pub fn clean_up(&self, scope: &Scope, limits: Limits) -> Result<Evicted> {
        self.fold_ledger()?;
        // What dead owners left there is in nobody's way, and may stay.
        let _ = self.claims().sweep();
        let now = self.clock().now();
        let mut all = Evicted::default();
        for kind in Kind::ALL {
            loop {
                let plan = limits.plan(scope, kind, now);
                let evicted = self.store().evict(&plan)?;
                self.note_evicted(&plan, &evicted);
                let Evicted { expired, least_used, bytes, mut gone } = evicted;
                all.expired += expired;
                all.least_used += least_used;
                all.bytes += bytes;
                all.gone.append(&mut gone);
                all.gone.truncate(Evicted::NAMED);
                if expired == 0 {
                    break;
                }
            }
        }
        Ok(all)
    }

    /// Whether it keeps and gives out anything.
    pub fn enabled(&self) -> bool {
        self.inner.options.enabled
    }

    /// The limits that are kept at each write.
    pub fn limits(&self) -> Limits {
        self.inner.options.limits
    }
}
