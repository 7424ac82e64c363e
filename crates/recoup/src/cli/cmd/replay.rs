//! `recoup replay`: prints the kept output of an agent's command, and exits as the command did.

use clap::Args;
use recoup_core::cache::PeekOutcome;
use recoup_core::entry::Entry;
use recoup_core::{Error, ErrorKind};

use super::cache::find_entry;
use crate::cli::app::App;
use crate::cli::failure::{CommandError, DataLocation};
use crate::cli::{CommandAnswer, ui};
use crate::config::FlagOverrides;
use crate::exec::agent_command::{find_replay, replay_entry};
use crate::exec::{CommandEnd, FAILED};
use crate::human;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct ReplayArgs {
    /// The entry's key, or at least its first 8 characters
    #[arg(value_name = "KEY")]
    key: String,
}

const AFTER_HELP: &str = "\
Hooks put this command in the place of one that [commands] names, if nothing has changed since it \
ran. It runs nothing, and prints nothing if a source has changed meanwhile.

Exit codes: the command's own; 125 if there is nothing to replay.";

impl ReplayArgs {
    /// Returns the exit code of the command, or one of ours.
    pub(super) fn run(self) -> CommandAnswer {
        ui::prefix_lines();
        CommandAnswer::Exit(match self.replay() {
            Ok(end) => end.exit_code_or_kill_self(),
            Err(failure) => {
                failure.report(DataLocation::InStore);
                FAILED
            }
        })
    }

    fn replay(&self) -> Result<CommandEnd, CommandError> {
        let nothing = |why: &str| {
            let message = format!(
                "nothing to replay: {why}; put RECOUP=off in front of the command to run it"
            );
            CommandError::from(Error::new(ErrorKind::Absent, message))
        };
        let app = App::load_lenient_silently(&FlagOverrides::default())?;
        let Some((id, _)) = find_entry(app, &app.cache(), &self.key)? else {
            return Err(nothing("there is no such entry in this project"));
        };
        let entry = match find_replay(app, &id) {
            PeekOutcome::Hit(entry) | PeekOutcome::Stale(entry) => entry,
            PeekOutcome::Miss(reason) => return Err(nothing(&reason.to_string())),
        };
        let end = replay_entry(&entry, ui::outlets())?
            .ok_or_else(|| nothing("the entry is not the output of a command"))?;
        ui::say(last_line(&entry, app));
        Ok(end)
    }
}

/// Tells the agent that this is from the cache, and how to run the command.
fn last_line(entry: &Entry, app: &App) -> String {
    let header = &entry.head().header;
    let age = human::long_duration(app.cache().clock().now().millis_since(header.created));
    let line = header.identity.name.as_deref().unwrap_or("COMMAND");
    format!("from cache, {age} old; RECOUP=off {} runs it again", ui::printable(line))
}
