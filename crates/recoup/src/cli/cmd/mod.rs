//! The commands, one file each.

mod agents;
mod cache;
mod cassette;
mod change_mode;
mod complete;
mod completions;
mod condense;
mod config;
mod doctor;
mod early_exit;
mod exec;
mod explain;
mod gateway;
pub(super) mod hook;
mod import;
mod init;
mod judge;
mod key;
mod learn;
mod man;
mod mcp;
mod mcp_wrap;
mod memory;
mod pause;
mod place;
mod replay;
mod run;
mod stats;
mod suggest;
mod tour;
mod trust;
mod uninstall;
mod waste;
mod watch;

use std::ffi::{OsStr, OsString};

use clap::{Args, Subcommand};

use super::CommandResult;

/// All commands of the program.
#[derive(Debug, Subcommand)]
pub(super) enum RecoupCommand {
    /// Set up recoup for the agents on this machine
    ///
    /// Finds Claude Code, Codex, Pi, Qwen Code, Copilot CLI, Factory Droid, Kimi Code, Gemini CLI,
    /// Cursor, Windsurf, VS Code, Zed and opencode, and sets up hooks (where there are any) and the
    /// MCP server for each. Says what it found, asks for confirmation (`d` shows every change),
    /// keeps a copy of every file, and leaves everything else in it as it is. Running it again
    /// changes nothing; entries of an older version are updated. `recoup uninstall` removes
    /// everything again.
    Init(init::InitArgs),
    /// Remove recoup from the agents on this machine
    ///
    /// Removes exactly what `recoup init` added: a file that has not changed since is restored byte
    /// for byte; from any other, only recoup's entries are removed. Memories and cached results
    /// stay in ~/.recoup, unless you use --purge.
    Uninstall(uninstall::UninstallArgs),
    /// Import what other programs keep: memories, results and rule files
    ///
    /// Reads the databases of claude-recall, claude-mem and ai-agent, JSON exports of claude-recall,
    /// directories of file-cache and semantic-cache entries, and files with rules for agents
    /// (CLAUDE.md, AGENTS.md, .cursorrules, .cursor/rules, .github/copilot-instructions.md and the
    /// like; a directory stands for those in it). Each is recognized by itself, and never changed.
    /// Only what you said counts as a rule; what another program or an agent made of it waits in
    /// `recoup memory review`. Rules of files are yours to choose, one by one. Running it again adds
    /// only what is new.
    Import(import::ImportCommandArgs),
    /// Check the installation, and report problems and their remedies
    ///
    /// Checks this program, its databases, the configuration, permissions, the worker, and the
    /// hooks and MCP servers in the settings of clients: each hook is run with an event as its
    /// client would, in a temporary home, and each server is started. Nothing is changed without
    /// --fix. Exits with 0 if nothing is broken, and with 1 if something is.
    Doctor(doctor::DoctorArgs),
    /// Run a command once, and replay it afterwards
    ///
    /// The first time, the command runs, and its output passes through as it comes. Afterwards the
    /// same bytes are replayed on stdout and stderr, with the same exit code, until the TTL expires
    /// or a source changes.
    ///
    /// The same command means: the same program, found at the same path, with the same interpreter
    /// or wrapped program and the same arguments, in the same directory of the project, with the
    /// same --env, --stdin, --source and --key-extra; and, for a client that has recoup's hooks,
    /// with the same rules in memory. It is replayed only while these programs and its sources are
    /// unchanged.
    Exec(exec::ExecArgs),
    /// Run an agent file, with cached answers
    ///
    /// The agent's model, tools and sub-agents are described by a file (see `recoup help agents`). An
    /// answer is served from the cache while the question, the agent and everything that it uses are
    /// the same; then nothing is asked, started or paid.
    Run(run::RunArgs),
    /// List, check and show agent files
    Agents(agents::AgentsArgs),
    /// Explain why something is a hit or a miss
    Explain(explain::ExplainArgs),
    /// Cache Manager: store results, and get them back while valid
    Cache(cache::CacheArgs),
    /// Condense: shorten a result or a report
    Condense(condense::CondenseArgs),
    /// Early Exit: the first agent to answer tells the others to stop
    EarlyExit(early_exit::EarlyExitArgs),
    /// Show what the cache saved: time, tokens, dollars
    Stats(stats::StatsArgs),
    /// Show what is paid for again and again, and how to save it
    ///
    /// Which commands of agents ran again although no file had changed, which tool calls were
    /// repeated with the same result, and the lines for the configuration that answer them from the
    /// cache.
    Suggest(suggest::SuggestArgs),
    /// Find what you told agents before, and keep it as rules
    ///
    /// Reads the transcripts of Claude Code, Codex and Pi on this machine, and finds what you have
    /// corrected or stated: what you said most often first, with your own words and their dates. Of
    /// what you have changed, the latest counts. What memory has, or was told to forget, is left
    /// out. Nothing is sent anywhere.
    Learn(learn::LearnArgs),
    /// Show what was paid for twice, by the transcripts of clients
    ///
    /// Reads the transcripts of Claude Code, Codex and Pi on this machine, and counts repeated work in
    /// time, tokens and dollars, by the clients' own figures, each kind with the command that helps.
    /// In doubt nothing is counted. Nothing is sent anywhere.
    Waste(waste::WasteArgs),
    /// Show hits and misses as they happen, in all processes
    Watch(watch::WatchArgs),
    /// Show and change what is remembered
    Memory(memory::MemoryArgs),
    /// Show and test the optional model that helps to recognize rules
    Judge(judge::JudgeArgs),
    /// Process an event of a client; called by clients
    ///
    /// Reads an event of a client with hooks from stdin (or, for Codex's `notify`, from an
    /// argument), records what happened and was said, and prints the answer for the client. Always
    /// exits with 0; errors are in ~/.recoup/logs/hooks.log.
    Hook(hook::HookArgs),
    /// Print the kept output of an agent's command
    ///
    /// Prints what the command printed on stdout and stderr, and exits as it did. A last line on
    /// stderr says how old that is, and how to run the command.
    Replay(replay::ReplayArgs),
    /// Pause memory: remember nothing new
    Pause(pause::PauseArgs),
    /// Resume memory after a pause
    Resume(pause::ResumeArgs),
    /// Serve memory and cache to agents, over MCP
    Mcp(mcp::McpArgs),
    /// Serve model APIs with cached answers
    ///
    /// An HTTP server in front of the APIs of models: programs only change their base URL. Requests
    /// and answers pass as they are. A request that was asked before is answered from the cache, where
    /// a duration is given.
    Gateway(gateway::GatewayArgs),
    /// Show, check and prune recorded exchanges
    ///
    /// A cassette is a file that `recoup gateway --record` or `recoup run --record` has written, and that --replay
    /// answers from.
    Cassette(cassette::CassetteArgs),
    /// Show and check the configuration
    Config(config::ConfigArgs),
    /// Print a cache key, without touching any cache
    Key(key::KeyArgs),
    /// Trust this repository's configuration, agent files and team rules
    ///
    /// A repository's recoup.toml, .ai-agent.json and .loa.config.yaml may set how long entries are
    /// kept. Settings of where they are stored, who shares them, and which variables are read take
    /// effect only after you have trusted the file here, and only until it changes. The same
    /// applies to the team's rules in recoup-rules.md: the rules that you accept become
    /// instructions for the agents that work here. When the file changes, the accepted rules stay
    /// in force until you accept the change. An agent file that names servers, hooks, outputs or
    /// environment variables runs only after you have trusted it.
    ///
    /// A checkout that claims to be a clone of a project that you use elsewhere, but that git did
    /// not clone on this machine, is kept separate from that project until you confirm it here.
    Trust(trust::TrustArgs),
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Print completions of the last word; called by shells
    #[command(hide = true)]
    Complete(complete::CompleteArgs),
    /// Show a manual page, or write all of them
    Man(man::ManArgs),
    /// Show how recoup works, step by step, in a temporary home
    Tour(tour::TourArgs),
}

impl RecoupCommand {
    /// Parses the commands that agents run all the time. Building the whole command tree costs as
    /// much as a hit, and these need only their own flags. `None` leaves everything else to the
    /// complete parser: other commands, help, and wrong usage with its message.
    pub(super) fn parse_hot(args: &[OsString]) -> Option<Self> {
        let name = |at: usize| args.get(at).and_then(|arg| arg.to_str());
        match (name(1)?, name(2)) {
            ("exec", _) => parse_command_args(&args[1..]).map(Self::Exec),
            ("replay", _) => parse_command_args(&args[1..]).map(Self::Replay),
            ("run", _) => parse_command_args(&args[1..]).map(Self::Run),
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
            Self::Import(args) => args.run(),
            Self::Doctor(args) => args.run(),
            Self::Exec(args) => Ok(args.run()),
            Self::Run(args) => Ok(args.run()),
            Self::Agents(args) => args.run(),
            Self::Explain(args) => args.run(),
            Self::Cache(args) => args.run(),
            Self::Condense(args) => args.run(),
            Self::EarlyExit(args) => args.run(),
            Self::Stats(args) => args.run(),
            Self::Suggest(args) => args.run(),
            Self::Learn(args) => args.run(),
            Self::Waste(args) => args.run(),
            Self::Watch(args) => args.run(),
            Self::Memory(args) => args.run(),
            Self::Judge(args) => args.run(),
            Self::Hook(args) => Ok(args.run()),
            Self::Replay(args) => Ok(args.run()),
            Self::Pause(args) => args.run(),
            Self::Resume(args) => args.run(),
            Self::Mcp(args) => args.run(),
            Self::Gateway(args) => args.run(),
            Self::Cassette(args) => args.run(),
            Self::Config(args) => args.run(),
            Self::Key(args) => args.run(),
            Self::Trust(args) => args.run(),
            Self::Completions(args) => args.run(),
            Self::Complete(args) => args.run(),
            Self::Man(args) => args.run(),
            Self::Tour(args) => args.run(),
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
            "recoup replay 0123456789abcdef",
            "recoup run a.md hello --cache 1h --var a=b --allow x --json",
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
            "recoup", "recoup cache", "recoup cache --scope global get --key abc",
            "recoup cache get --help", "recoup cache get --key a --bogus", "recoup exec",
            "recoup exec --help", "recoup exec --refresh --no-cache true",
            "recoup early-exit check", "recoup early-exit check s t", "recoup mcp",
            "recoup mcp --with-hooks", "recoup mcp proxy", "recoup mcp proxy --http 1 -- x",
            "recoup mcp proxy --help", "recoup cache set --key a",
        ] {
            assert!(RecoupCommand::parse_hot(&split(line)).is_none(), "{line}");
        }
        let not_text = OsString::from_vec(vec![0xff]);
        let line = ["recoup".into(), not_text, "exec".into(), "ls".into()];
        assert!(RecoupCommand::parse_hot(&line).is_none(), "a word that is no text is no command");
    }
}
