//! The full result, in a file that is named after its contents.

use std::path::PathBuf;

use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::cache::Refusal;
use recoup_core::store::StoreUrl;
use recoup_core::{Error, Result, secrets};

use crate::cli::app::App;
use crate::cli::ui;
use crate::config::Overrides;

/// A full result and the file that it is written to.
pub(super) struct Full<'a> {
    contents: &'a [u8],
    dir: PathBuf,
    path: String,
}

/// Outcome of writing the full result.
pub(super) enum Kept {
    Written,
    /// Contains a secret; an error was printed.
    Refused,
}

impl<'a> Full<'a> {
    pub(super) fn new(contents: &'a [u8], dir: Option<PathBuf>) -> Result<Self> {
        let dir = dir.map_or_else(default_dir, Ok)?;
        let file = dir.join(format!("{}.json", Digest::of(contents)));
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

    pub(super) fn write(self) -> Result<Kept> {
        if let Some(rule) = secrets::detect(self.contents) {
            ui::error(Refusal::Secret(rule));
            return Ok(Kept::Refused);
        }
        fsx::ensure_dir(&self.dir)?;
        fsx::write_atomic(self.path.as_ref(), self.contents)?;
        ui::say(format_args!("Full result externalized to: {}", self.path));
        Ok(Kept::Written)
    }
}

/// Default directory: in a `dir:` store, where scripts of the protocol look, else in our home.
fn default_dir() -> Result<PathBuf> {
    let settings = &App::load(&Overrides::default())?.settings;
    if let StoreUrl::Dir(dir) = &settings.store {
        return Ok(dir.join("full"));
    }
    fsx::ensure_private_dir(&settings.home)?;
    Ok(settings.home.join("full"))
}
