//! The command line. The folder tree is the command tree: `recoup cache get`
//! is `cmd/cache/get.rs`, which holds its arguments and its `run`.

mod app;
mod cmd;
mod failure;
mod input;
mod keys;
mod mirror;
mod team;
mod ui;

use std::ffi::OsString;
use std::sync::Arc;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::app::{disk, explain, projects};
use crate::{exec, human};
use cmd::{RecoupCommand, hook};
use failure::{CommandError, DataLocation};

/// The exit code that says yes: done, or a hit.
const YES: i32 = 0;
/// The exit code that says no: a miss, refused content, or a failure.
const NO: i32 = 1;
/// The exit code for wrong usage or configuration.
const USAGE: i32 = 2;

/// Never pay twice, never say it twice: a durable cache and memory for AI agents.
#[derive(Debug, Parser)]
#[command(name = "recoup", version, max_term_width = 100, arg_required_else_help = true)]
struct CommandLine {
    #[command(subcommand)]
    command: RecoupCommand,
}

/// Answer of a command to a script, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandAnswer {
    /// Done, or a hit.
    Yes,
    /// A miss, or refused.
    No,
    /// The configuration that was asked about is wrong.
    Unsound,
    /// The exit code of the command that was run.
    Exit(i32),
}

/// Result of running a command.
type CommandResult = Result<CommandAnswer, CommandError>;

/// Runs the command that `args` spell, and returns the exit code.
pub fn run(args: impl IntoIterator<Item = OsString>) -> i32 {
    // A limit on the size of files fails the write instead of killing us. Commands that we start get
    // the default back.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    let args: Vec<OsString> = args.into_iter().collect();
    // Claude Code before 2.1.139 does not know `args`, and starts the program without them.
    let is_bare = args.len() < 2 && !ui::can_ask();
    if is_bare && hook::run_without_arguments() {
        return YES;
    }
    if let [_, command, rest @ ..] = &args[..]
        && command == "hook"
        && !hook::is_help_request(rest)
    {
        return hook::run(rest);
    }
    if let Some(command) = RecoupCommand::parse_hot(&args) {
        return exit_code(command.run(), DataLocation::InStore);
    }
    let wrong = |error| {
        let code = match args.get(1).and_then(|command| command.to_str()) {
            _ if is_bare => NO,
            // Apart from the codes of its commands.
            Some("exec") => exec::FAILED,
            // A hook must never fail.
            Some("hook") => YES,
            _ => USAGE,
        };
        ui::print_usage(&error, code)
    };
    let matches = match build_command_tree().try_get_matches_from(&args) {
        Ok(matches) => matches,
        Err(error) => return wrong(error),
    };
    let ended = match CommandLine::from_arg_matches(&matches) {
        Ok(cli) => cli.command.run(),
        Err(error) => return wrong(error),
    };
    exit_code(ended, DataLocation::of(&matches))
}

/// The exit code of a command, after a failure has been reported.
fn exit_code(ended: CommandResult, keeps: DataLocation) -> i32 {
    match ended {
        Ok(CommandAnswer::Yes) => YES,
        Ok(CommandAnswer::No) => NO,
        Ok(CommandAnswer::Unsound) => USAGE,
        Ok(CommandAnswer::Exit(code)) => code,
        Err(failure) => failure.report(keeps),
    }
}

/// The whole command line, as help, completions and manual pages show it.
fn build_command_tree() -> clap::Command {
    let whole = CommandLine::command().after_help(AFTER_HELP);
    let styles = whole.get_styles();
    let (header, literal) = (*styles.get_header(), *styles.get_literal());
    let line = |name: &&str| {
        let about = whole.find_subcommand(name).and_then(clap::Command::get_about);
        format!(
            "  {literal}{name:<11}{literal:#}  {}\n",
            about.map(ToString::to_string).unwrap_or_default()
        )
    };
    let group = |(title, names): &(&str, &[&str])| {
        format!("{header}{title}:{header:#}\n{}\n", names.iter().map(line).collect::<String>())
    };
    let groups: String = COMMAND_GROUPS.iter().map(group).collect();
    whole.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}\
         {header}Options:{header:#}\n{{options}}{{after-help}}"
    ))
}

const AFTER_HELP: &str = "\
Exit codes: 0 success or a hit; 1 a miss, a refusal or a failure; 2 wrong usage or \
configuration. exec, explain and early-exit have additional codes (see their help); hook always \
exits with 0.

`recoup help COMMAND` explains a command; `recoup config env` lists environment variables.";

/// Groups of commands in `recoup --help`.
const COMMAND_GROUPS: [(&str, &[&str]); 5] = [
    ("Set up", &["init", "learn", "import", "doctor", "uninstall", "tour"]),
    (
        "Never pay twice",
        &[
            "exec", "run", "agents", "gateway", "cassette", "cache", "suggest", "replay",
            "explain", "stats", "waste", "watch", "condense", "early-exit",
        ],
    ),
    ("Never say it twice", &["memory", "pause", "resume", "judge", "trust"]),
    ("For clients and agents", &["mcp", "hook", "key"]),
    ("Reference", &["config", "completions", "man"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_has_every_command_in_one_group() {
        let whole = CommandLine::command();
        let mut shown: Vec<&str> = whole
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        let mut grouped: Vec<&str> =
            COMMAND_GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
    }
}
