//! The entry that somebody means who types the beginning of a key.

use recoup_core::cache::Cache;
use recoup_core::entry::Head;
use recoup_core::key::{Id, Key};
use recoup_core::store::Flow;
use recoup_core::{Error, Result};

use crate::cli::app::App;

/// The entry of that very key, else the only one whose key begins so.
pub(in crate::cli) fn find(app: &App, cache: &Cache, typed: &str) -> Result<Option<(Id, Head)>> {
    let wanted = Key::parse(typed)?;
    let id = Id::new(app.scope(), wanted.clone());
    if let Some(head) = cache.head(&id)? {
        return Ok(Some((id, head)));
    }
    let mut found: Vec<(Id, Head)> = Vec::new();
    cache.scan(&app.scope(), &mut |id, head| {
        let Ok(head) = head else { return Flow::Continue(()) };
        if id.key.as_str().starts_with(wanted.as_str()) {
            found.push((id.clone(), head.clone()));
        }
        Flow::Continue(())
    })?;
    match found.len() {
        0 | 1 => Ok(found.pop()),
        many => Err(Error::usage(format!(
            "{many} keys begin with {wanted}; give more of the one that you mean"
        ))),
    }
}
