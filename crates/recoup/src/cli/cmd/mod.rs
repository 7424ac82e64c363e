//! The commands, one file each.

mod cache;
mod complete;
mod completions;
mod condense;
mod config;
mod doctor;
mod early_exit;
mod exec;
mod explain;
pub(super) mod hook;
mod init;
mod judge;
mod key;
mod man;
mod mcp;
mod mcp_wrap;
mod memory;
mod pause;
mod place;
mod stats;
mod tour;
mod trust;
mod uninstall;
mod watch;

use std::ffi::{OsStr, OsString};

use clap::{Args, Subcommand};

use super::CommandResult;

/// All commands of the program.
#[derive(Debug, Subcommand)]
pub(super) enum RecoupCommand {
    /// Hook recoup into the agents on this machine
    ///
    /// Finds Claude Code, Codex, Pi, Cursor, Windsurf, VS Code, Zed, Gemini CLI and opencode, and sets
    /// up hooks (where there are any) and the MCP server for each. Shows what would change, asks,
    /// keeps a copy of every file, and leaves everything else in it as it is. A second time nothing
    /// changes; an older version's entries are brought up to date. `recoup uninstall` takes it all
    /// out again.
    Init(init::InitArgs),
    /// Take recoup out of the agents on this machine
    ///
    /// Takes out exactly what `recoup init` put in: a file that nobody else has changed since is as
    /// it was before, to the byte; in any other only our entries go. What is remembered and kept
    /// stays in ~/.recoup, unless you say --purge.
    Uninstall(uninstall::UninstallArgs),
    /// Look at everything that must work together, and say what is wrong and what to do
    ///
    /// Checks this program, what is kept, the configuration, permissions, the worker, and the hooks
    /// and MCP servers in the settings of clients: an event is fired through each hook as its client
    /// would, in a temporary home, and each server is greeted. Nothing is changed without --fix.
    /// Exits with 0 when nothing is broken, and with 1 when something is.
    Doctor(doctor::DoctorArgs),
    /// Run a command once, and replay it afterwards
    ///
    /// The first time the command runs, and what it writes passes through as it comes. Afterwards
    /// the same bytes are given out again on stdout and stderr, with the same exit code, until the
    /// time is up or a source changes.
    ///
    /// The same command is: the same program, found at the same path, with the same interpreter or
    /// wrapped program behind it and the same arguments, in the same directory of the project, with
    /// the same --env, --stdin, --source and --key-extra; and, for a client that has our hooks, with
    /// the same rules in memory. It is replayed only while these programs and its sources are
    /// unchanged.
    Exec(exec::ExecArgs),
    /// Say why something is a hit or a miss
    Explain(explain::ExplainArgs),
    /// Cache Manager: keep results, and get them back while they are true
    Cache(cache::CacheArgs),
    /// Condense: make a result or a report short enough to be read
    Condense(condense::CondenseArgs),
    /// Early Exit: the first agent to answer tells the others to stop
    EarlyExit(early_exit::EarlyExitArgs),
    /// Tell what the cache was worth: hits, misses and why, time, tokens and dollars saved
    Stats(stats::StatsArgs),
    /// Show hits and misses as they happen, in all processes
    Watch(watch::WatchArgs),
    /// See and change what is remembered
    Memory(memory::MemoryArgs),
    /// See and try the model that helps to remember, if you want one to
    Judge(judge::JudgeArgs),
    /// Take in what a client tells, and answer it; clients call this
    ///
    /// Reads an event of Claude Code, Codex or Pi from stdin (or, for Codex's `notify`, from an
    /// argument), takes in what happened and was said, and prints what the client is to read.
    /// Exits with 0 whatever happens; what went wrong is in ~/.recoup/logs/hooks.log.
    Hook(hook::HookArgs),
    /// Remember nothing for a while
    Pause(pause::PauseArgs),
    /// Remember again
    Resume(pause::ResumeArgs),
    /// Serve memory and cache to agents, over MCP
    Mcp(mcp::McpArgs),
    /// Show and check the configuration
    Config(config::ConfigArgs),
    /// Print a cache key, without touching any cache
    Key(key::KeyArgs),
    /// Trust this repository's configuration and team rules
    ///
    /// A repository's recoup.toml, .ai-agent.json and .loa.config.yaml may say how long things are
    /// kept. Where they are kept, who shares them, and which variables are read counts only once you
    /// have trusted the file here, and only until it changes. The same goes for the team's rules in
    /// recoup-rules.md: what you accept becomes instructions for the agents that work here. When the
    /// file changes, what you accepted before stays in force until you accept the change.
    ///
    /// A checkout that claims to be a clone of a project which you use elsewhere, and that git did
    /// not clone on this machine, is kept separate from it until you have confirmed it here.
    Trust(trust::TrustArgs),
    /// Print a shell's completions
    Completions(completions::CompletionsArgs),
    /// Offer what may stand in place of the last word; shells call this
    #[command(hide = true)]
    Complete(complete::CompleteArgs),
    /// Show a manual page, or write all of them
    Man(man::ManArgs),
    /// Show the main job end to end, in a temporary home
    Tour,
}

impl RecoupCommand {
    /// Parses the commands that agents run all the time. Building the whole command tree costs as
    /// much as a hit, and these need only their own flags. `None` leaves everything else to the
    /// complete parser: other commands, help, and wrong usage with its message.
    pub(super) fn parse_hot(args: &[OsString]) -> Option<Self> {
        let name = |at: usize| args.get(at).and_then(|arg| arg.to_str());
        match (name(1)?, name(2)) {
            ("exec", _) => parse_command_args(&args[1..]).map(Self::Exec),
            ("cache", Some("get")) => {
                parse_command_args(&args[2..]).map(cache::CacheArgs::get).map(Self::Cache)
            }
            ("mcp", Some("proxy")) => {
                parse_command_args(&args[2..]).map(mcp::McpArgs::proxy).map(Self::Mcp)
            }
            ("early-exit", Some("check")) => parse_command_args(&args[2..])
                .map(early_exit::EarlyExitArgs::check)
                .map(Self::EarlyExit),
            _ => None,
        }
    }

    pub(super) fn run(self) -> CommandResult {
        match self {
            Self::Init(args) => args.run(),
            Self::Uninstall(args) => args.run(),
            Self::Doctor(args) => args.run(),
            Self::Exec(args) => Ok(args.run()),
            Self::Explain(args) => args.run(),
            Self::Cache(args) => args.run(),
            Self::Condense(args) => args.run(),
            Self::EarlyExit(args) => args.run(),
            Self::Stats(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Memory(args) => args.run(),
            Self::Judge(args) => args.run(),
            Self::Hook(args) => Ok(args.run()),
            Self::Pause(args) => args.run(),
            Self::Resume(args) => args.run(),
            Self::Mcp(args) => args.run(),
            Self::Config(args) => args.run(),
            Self::Key(args) => args.run(),
            Self::Trust(args) => args.run(),
            Self::Completions(args) => args.run(),
            Self::Complete(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Tour => tour::run(),
        }
    }
}

/// Parses the arguments of one command, whose name is the first of them.
fn parse_command_args<A: Args>(args: &[impl AsRef<OsStr>]) -> Option<A> {
    let leaf = A::augment_args(clap::Command::new("recoup"));
    let matches = leaf.try_get_matches_from(args.iter().map(AsRef::as_ref)).ok()?;
    A::from_arg_matches(&matches).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use clap::Parser as _;

    use super::*;
    use crate::cli::CommandLine;

    fn split(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn hot_commands_are_parsed_as_by_the_whole_tree() {
        for line in [
            "recoup cache get --key abc",
            "recoup cache get --paths a,b --query q --operation o --json --max-age 1h",
            "recoup cache get --key abc --token --sources a,b --scope global --store file:x",
            "recoup exec true",
            "recoup exec -v --source src --source -x --env A --tag t --store memory: -- sh -c exit",
            "recoup exec --ttl 7d --scope tenant:x ls --help",
            "recoup exec --stdin -- -x",
            "recoup early-exit check s",
            "recoup early-exit check s --json --store redis://h",
            "recoup mcp proxy -- server --http --flag",
            "recoup mcp proxy --name x --cred-env A,B --store memory: https://h/mcp",
        ] {
            let hot = RecoupCommand::parse_hot(&split(line)).expect(line);
            let whole = CommandLine::try_parse_from(split(line)).expect(line).command;
            assert_eq!(format!("{hot:?}"), format!("{whole:?}"), "{line}");
        }
    }

    #[test]
    fn help_and_wrong_usage_are_left_to_the_whole_tree() {
        for line in [
            "recoup",
            "recoup cache",
            "recoup cache --scope global get --key abc",
            "recoup cache get --help",
            "recoup cache get --key a --bogus",
            "recoup exec",
            "recoup exec --help",
            "recoup exec --refresh --no-cache true",
            "recoup early-exit check",
            "recoup early-exit check s t",
            "recoup mcp",
            "recoup mcp --with-hooks",
            "recoup mcp proxy",
            "recoup mcp proxy --http 1 -- x",
            "recoup mcp proxy --help",
            "recoup cache set --key a",
        ] {
            assert!(RecoupCommand::parse_hot(&split(line)).is_none(), "{line}");
        }
        let not_text = OsString::from_vec(vec![0xff]);
        let line = ["recoup".into(), not_text, "exec".into(), "ls".into()];
        assert!(RecoupCommand::parse_hot(&line).is_none(), "a word that is no text is no command");
    }
}
