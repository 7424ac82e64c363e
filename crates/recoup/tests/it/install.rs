//! `recoup init` and `recoup uninstall`: what becomes of other programs' files.

mod answers;
mod by_hand;
mod clients;
mod concurrent_changes;
mod copies;
mod faults;
mod for_programs;
mod hooked_clients;
mod hostile;
mod killed;
mod laws;
mod layouts;
mod levels;
mod messages;
mod peers;
mod places;
mod private;
mod program_copy;
mod purge;
mod settings;
mod terminal;
mod upgrade;
mod versions;
mod wrap;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, Output, RECOUP, finish};

/// A machine on which recoup is installed, in a place that lasts.
pub(crate) struct Machine {
    pub(crate) home: Home,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let home = Home::new();
        fs::create_dir(home.path("bin")).unwrap();
        symlink(RECOUP, home.path("bin/recoup")).unwrap();
        Self { home }
    }

    /// One with Claude Code, and these settings.
    pub(crate) fn with_settings(settings: impl AsRef<[u8]>) -> Self {
        let this = Self::new();
        this.write(SETTINGS, settings);
        this
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    /// Where clients find the program.
    pub(crate) fn program(&self) -> String {
        self.path("bin/recoup").display().to_string()
    }

    /// Writes a file beneath the home.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap()
    }

    /// recoup as a shell finds it.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        self.prepared(RECOUP, args)
    }

    /// Any program in the same surroundings.
    pub(crate) fn prepared(&self, program: &str, args: &[&str]) -> Command {
        let mut command = self.home.prepared(program, args);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.path("bin").display()));
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// `recoup init --yes`, which must succeed.
    #[track_caller]
    pub(crate) fn init(&self, args: &[&str]) -> Output {
        self.run(&[&["init", "--yes"], args].concat()).expect(0)
    }

    /// `recoup uninstall --yes`, which must succeed.
    #[track_caller]
    pub(crate) fn uninstall(&self, args: &[&str]) -> Output {
        self.run(&[&["uninstall", "--yes"], args].concat()).expect(0)
    }

    /// Every file beneath the home but our own, and what is in it.
    pub(crate) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let all = crate::support::tree(&self.path("."));
        let others = all.into_iter().filter(|path| {
            !path.starts_with(self.path("./recoup")) && !path.starts_with(self.path("./bin"))
        });
        others.map(|path| (path.clone(), fs::read(path).unwrap_or_default())).collect()
    }
}

/// The events at which Claude Code is to call us, where it does not tell its version.
pub(crate) const EVENTS: [&str; 11] = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure",
    "SubagentStart", "SubagentStop", "PreCompact", "Stop", "StopFailure", "SessionEnd",
];

/// Claude Code's settings, beneath the home.
pub(crate) const SETTINGS: &str = ".claude/settings.json";

/// Claude Code alone.
pub(crate) const CLAUDE: [&str; 2] = ["--client", "claude-code"];
