//! `recoup config path`, for `$EDITOR "$(recoup config path)"`. Reads no
//! configuration, so that a broken one can be found and mended.

use clap::Args;
use recoup_core::base::project::Project;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{BaseDirs, ConfigFile};

/// Print where the user's configuration file is, or belongs.
#[derive(Debug, Args)]
pub(super) struct PathArgs {
    /// The project's recoup.toml instead
    #[arg(long)]
    project: bool,
}

impl PathArgs {
    pub(super) fn run(self) -> CommandResult {
        let places = BaseDirs::find()?;
        let path = if self.project {
            Project::find(&places.cwd)?.root().join(ConfigFile::Project.name())
        } else {
            places.user_file()
        };
        ui::line(path.display())?;
        Ok(CommandAnswer::Yes)
    }
}
