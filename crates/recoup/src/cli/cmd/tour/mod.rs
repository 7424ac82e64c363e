//! `recoup tour`: the main job end to end, with the real commands, in a temporary home. Nothing of the
//! user's is read or written. On a terminal it is a demonstration (`demo`), elsewhere a text (`plain`).

mod demo;
mod plain;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use tempfile::TempDir;

use crate::cli::{CommandAnswer, CommandError, CommandResult, ui};
use crate::config::VARIABLES;
use crate::process::{self, IgnoredSignals};

const SOURCE: &str = "src/auth.rs";

/// Payloads that Claude Code passes to `recoup hook`.
const CORRECTION: &str = r#"{"hook_event_name":"UserPromptSubmit","session_id":"monday","prompt":"no, put tests in __tests__/"}"#;
const NEXT_SESSION: &str =
    r#"{"hook_event_name":"SessionStart","session_id":"tuesday","source":"startup"}"#;

/// Added by shells to the number of the signal that ended a command.
const ENDED_BY_SIGNAL: i32 = 128;

#[derive(Debug, Args)]
pub(in crate::cli) struct TourArgs {
    /// All steps at once, as text, with the raw output of each command (the default without a
    /// terminal)
    #[arg(long)]
    plain: bool,
}

impl TourArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let home = TourHome::create()?;
        // A hook leaves a worker behind, which would write into the home while it is removed.
        process::adopt_orphans();
        let ended = if self.plain || !ui::can_converse() {
            plain::play(&home).map(|()| false)
        } else {
            demo::play(&home)
        };
        process::wait_for_children();
        let interrupt = Arc::clone(&home.interrupt);
        // Before anything else is started.
        drop(home);
        let signal = || i32::try_from(interrupt.load(Ordering::SeqCst)).unwrap_or_default();
        match signal() {
            0 => {}
            signal => return Ok(CommandAnswer::Exit(ENDED_BY_SIGNAL + signal)),
        }
        if !ended? {
            return Ok(CommandAnswer::Yes);
        }
        let init = Command::new(process::own_program()?).arg("init").status();
        let status = init.with_context(|| "starting recoup init".to_owned())?;
        Ok(CommandAnswer::Exit(status.code().unwrap_or(ENDED_BY_SIGNAL + signal())))
    }
}

/// Temporary home and project of the tour; removed when dropped.
struct TourHome {
    dir: TempDir,
    /// Number of the signal that is to end the tour, or 0.
    interrupt: Arc<AtomicUsize>,
}

impl TourHome {
    fn create() -> Result<Self> {
        // Noted first, so that no signal leaves the directory behind.
        let (interrupt, ignored) = (Arc::new(AtomicUsize::new(0)), IgnoredSignals::at_start());
        for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|it| ignored.is_delivered(*it)) {
            let number = usize::try_from(signal).unwrap_or_default();
            let _ = signal_hook::flag::register_usize(signal, Arc::clone(&interrupt), number);
        }
        let dir = tempfile::Builder::new()
            .prefix("recoup-tour-")
            .tempdir()
            .with_context(|| "creating a temporary home directory".to_owned())?;
        let home = Self { dir, interrupt };
        fsx::ensure_dir(&home.project().join("src"))?;
        Ok(home)
    }

    fn project(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// Writes a file of the project.
    fn write(&self, name: &str, text: &str) -> Result<()> {
        fsx::write_atomic(&self.project().join(name), text.as_bytes())
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.load(Ordering::SeqCst) != 0
    }

    /// An error, which nobody sees, if a signal has come.
    fn check_interrupt(&self) -> Result<(), CommandError> {
        if self.is_interrupted() {
            return Err(Error::new(ErrorKind::Io, "the tour was interrupted").into());
        }
        Ok(())
    }

    fn command(&self, args: &[&str]) -> Result<Command> {
        let program = process::own_program()?;
        let mut command = Command::new(program);
        // The user's configuration must not influence the tour.
        for variable in VARIABLES.iter().filter(|var| var.name != "HOME") {
            command.env_remove(variable.name);
        }
        command
            .args(args)
            .current_dir(self.project())
            .env("RECOUP_HOME", self.dir.path().join("home"))
            // Interactive, even if an agent has started the tour.
            .env("CLAUDE_CODE_ENTRYPOINT", "cli");
        Ok(command)
    }
}

/// The command line, quoted as one would type it.
fn typed_command(args: &[&str]) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:".contains(c);
    let quoted = |arg: &&str| {
        if arg.chars().all(is_plain) { (*arg).to_owned() } else { format!("'{arg}'") }
    };
    let words: Vec<String> = args.iter().map(quoted).collect();
    format!("recoup {}", words.join(" "))
}
