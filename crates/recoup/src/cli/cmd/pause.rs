//! `recoup pause` and `recoup resume`: whether anything is remembered.

use clap::Args;
use recoup_core::Error;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::ttl::Ttl;
use recoup_core::memory::PauseReason;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(in crate::cli) struct PauseArgs {
    /// For how long: 30m, 2h, 1d [default: until `recoup resume`]
    #[arg(value_name = "DURATION", conflicts_with = "project")]
    duration: Option<String>,
    /// In this project, until `recoup resume --project`
    #[arg(long)]
    project: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ResumeArgs {
    /// In this project
    #[arg(long)]
    project: bool,
}

impl PauseArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let time = self.duration.as_deref();
        let time = time.map(|time| Ttl::parse_with_unit("the duration", time)).transpose()?;
        if time == Some(Ttl::Off) {
            return Err(Error::usage(
                "invalid duration: expected a time such as 30m; use `recoup resume` to end a pause",
            )
            .into());
        }
        let app = App::load_lenient()?;
        let memory = app.memory_for_writing()?;
        if self.project {
            memory.ignore(&app.note_scope(false))?;
            ui::say(
                "Paused in this project: nothing new is remembered until `recoup resume --project`",
            );
            return Ok(CommandAnswer::Yes);
        }
        let until = time.and_then(Ttl::as_millis).map(|time| SystemClock.now().plus_millis(time));
        memory.pause(until)?;
        match until {
            Some(until) => ui::say(format_args!("Paused: nothing new is remembered until {until}")),
            None => ui::say("Paused: nothing new is remembered until `recoup resume`"),
        }
        Ok(CommandAnswer::Yes)
    }
}

impl ResumeArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let app = App::load_lenient()?;
        let memory = app.memory_for_writing()?;
        let scope = app.note_scope(false);
        let was_paused = if self.project { memory.unignore(&scope) } else { memory.resume() }?;
        // The other of the two pauses may still be there.
        ui::say(match memory.pause_reason(&scope)? {
            Some(PauseReason::Ignored) => {
                "Memory is still paused in this project: run `recoup resume --project`"
            }
            Some(PauseReason::Paused(_)) => {
                "Memory is still paused in all projects: run `recoup resume`"
            }
            None if was_paused => "Resumed: what you say is remembered again",
            None => "Memory was not paused",
        });
        Ok(CommandAnswer::Yes)
    }
}
