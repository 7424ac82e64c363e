//! The full result, in a file that is named after its contents.

use std::path::PathBuf;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::cache::FillRefusal;
use recoup_core::store::StoreUrl;
use recoup_core::{Error, Result, secrets};

use crate::cli::app::AppContext;
use crate::cli::ui;
use crate::config::FlagOverrides;

/// A full result and the file that it is written to.
pub(super) struct ExternalizedResult<'a> {
    contents: &'a [u8],
    dir: PathBuf,
    path: String,
}

/// Outcome of writing the full result.
pub(super) enum ExternalizeOutcome {
    Written,
    /// Contains a secret; an error was printed.
    Refused,
}

impl<'a> ExternalizedResult<'a> {
    pub(super) fn new(contents: &'a [u8], dir: Option<PathBuf>) -> Result<Self> {
        let dir = dir.map_or_else(default_dir, Ok)?;
        let file = dir.join(format!("{}.json", Sha256Digest::of(contents)));
        let path = file.into_os_string().into_string().map_err(|path| {
            let path = path.display();
            Error::usage(format!("--output-dir: {path} is not UTF-8 and can't stand in JSON"))
        })?;
        Ok(Self { contents, dir, path })
    }

    /// Path as written into the condensed result.
    pub(super) fn path(&self) -> String {
        self.path.clone()
    }

    pub(super) fn write(self) -> Result<ExternalizeOutcome> {
        if let Some(rule) = secrets::detect_secret(self.contents) {
            ui::error(FillRefusal::Secret(rule));
            return Ok(ExternalizeOutcome::Refused);
        }
        fsx::ensure_dir(&self.dir)?;
        fsx::write_atomic(self.path.as_ref(), self.contents)?;
        ui::say(format_args!("Full result externalized to: {}", self.path));
        Ok(ExternalizeOutcome::Written)
    }
}

/// Default directory: in a `dir:` store, where scripts of the protocol look, else in our home.
fn default_dir() -> Result<PathBuf> {
    let settings = &AppContext::load(&FlagOverrides::default())?.settings;
    if let StoreUrl::Dir(dir) = &settings.store {
        return Ok(dir.join("full"));
    }
    fsx::ensure_private_dir(&settings.home)?;
    Ok(settings.home.join("full"))
}
