//! Removal of the gateway's entries from the store. Gateways that run notice it when their memory tier
//! asks the store again.

use recoup_core::Result;
use recoup_core::base::name::SafeName;
use recoup_core::cache::{Cache, EntrySelection};
use recoup_core::key::{EntryId, KeyPart, Kind, Scope};
use recoup_core::store::{ScanFilter, ScanFlow};

use super::plan::{GATEWAY_TAG, model_tag, upstream_tag};
use super::tenants::local_scope;

/// Entries that are to be removed: all of a tenant's that match everything that is given.
#[derive(Debug, Default)]
pub(crate) struct PurgeRequest {
    /// A key or its beginning; the other forms of the same answer are meant, too.
    pub(crate) key: Option<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) model: Option<String>,
    pub(crate) upstream: Option<String>,
    /// The local user if there is none.
    pub(crate) tenant: Option<String>,
    /// True if entries are only counted.
    pub(crate) is_dry: bool,
}

impl PurgeRequest {
    /// Removes the entries, and returns their number.
    pub(crate) fn run(&self, cache: &Cache) -> Result<usize> {
        let scope = match &self.tenant {
            Some(name) => Scope::tenant(&SafeName::parse("--tenant", name)?),
            None => local_scope(),
        };
        let tags = [GATEWAY_TAG.to_owned()].into_iter().chain(self.tags.iter().cloned());
        let tags = tags.chain(self.model.as_deref().map(model_tag));
        let tags = tags.chain(self.upstream.as_deref().map(upstream_tag));
        let selection =
            tags.fold(EntrySelection::default(), |selection, tag| selection.with_tag(&tag));
        let filter = ScanFilter {
            kind: Some(Kind::ModelRequest),
            selection: Some(selection),
            ..ScanFilter::of_scope(&scope)
        };
        if self.key.is_none() && !self.is_dry {
            return cache.remove_matching(&filter);
        }
        let found = self.find(cache, &filter)?;
        if self.is_dry {
            return Ok(found.len());
        }
        let mut removed = 0;
        for id in &found {
            removed += usize::from(cache.remove(id)?);
        }
        Ok(removed)
    }

    fn find(&self, cache: &Cache, filter: &ScanFilter) -> Result<Vec<EntryId>> {
        let mut found = Vec::new();
        let Some(key) = &self.key else {
            cache.scan_filtered(filter, &mut |id, _| {
                found.push(id.clone());
                ScanFlow::Continue(())
            })?;
            return Ok(found);
        };
        // One form is made of another: if one stayed, so would the answer.
        let formless = |parts: &[KeyPart]| -> Vec<KeyPart> {
            parts.iter().filter(|part| part.name != "form").cloned().collect()
        };
        let mut questions = Vec::new();
        let named = ScanFilter { key_prefix: Some(key.clone()), ..filter.clone() };
        cache.scan_filtered(&named, &mut |_, head| {
            questions.extend(head.ok().map(|head| formless(&head.header.parts)));
            ScanFlow::Continue(())
        })?;
        cache.scan_filtered(filter, &mut |id, head| {
            let is_meant = head.is_ok_and(|head| questions.contains(&formless(&head.header.parts)));
            if is_meant {
                found.push(id.clone());
            }
            ScanFlow::Continue(())
        })?;
        Ok(found)
    }
}
