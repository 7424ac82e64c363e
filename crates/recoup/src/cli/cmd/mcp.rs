//! `recoup mcp`: arguments of the MCP server, and the commands below it. No settings are loaded before
//! a client has said hello, except to serve agents.
//! Clients of the HTTP server send a token: the user's own, or one that is made once and kept in a
//! file that only the user can read.

mod proxy;
mod stats;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::os::unix::fs::MetadataExt as _;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use recoup_core::base::clock::Deadline;
use recoup_core::base::digest::encode_hex;
use recoup_core::base::fsx::{self, FileLock};
use recoup_core::{Error, ErrorKind, Result};
use rustix::rand::{GetRandomFlags, getrandom};

use crate::cli::cmd::mcp_wrap::{UnwrapArgs, WrapArgs};
use crate::cli::cmd::place::StoreScopeArgs;
use crate::cli::failure::FaultPrinter;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::clients::{AgentClient, has_our_server};
use crate::config::{BaseDirs, ask_client_settings, env};
use crate::hooks::ClientEntrypoint;
use crate::mcp::{
    HttpOptions, ServerOptions, ServerState, TOKEN_FILE, ToolSet, serve_http, serve_stdio,
};
use crate::mcp_client::run_guard;
use crate::toolbox::NamePattern;
pub(super) use proxy::McpProxyArgs;

/// Serve memory and cache to agents, over MCP.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub(in crate::cli) struct McpArgs {
    #[command(subcommand)]
    action: Option<McpCommand>,
    #[command(flatten)]
    serve: ServeArgs,
    #[command(flatten)]
    place: StoreScopeArgs,
}

/// The default of `--tools`.
const COMMON_TOOLS: &str = "common";

/// Commands about other MCP servers.
#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Stand in front of another MCP server, and answer repeated calls from the cache
    ///
    /// Everything passes through as it is, in both directions. Only calls for which the
    /// configuration gives a duration are answered from the cache.
    Proxy(McpProxyArgs),
    /// Put the caching proxy in front of the MCP servers of your clients
    ///
    /// Every server that a client starts or has a URL of is reached through `recoup mcp proxy`
    /// afterwards, which answers repeated calls from the cache where you have given a time. Shows
    /// what would change, asks, keeps a copy of every file, and leaves everything else in it as it
    /// is. `recoup mcp unwrap` and `recoup uninstall` undo it.
    Wrap(WrapArgs),
    /// Take the caching proxy away from the MCP servers of your clients
    ///
    /// A file that nobody else has changed since is as it was before, to the byte; in any other only
    /// the proxy goes. The times that `wrap --ttl` wrote go, too, unless you have changed them since.
    Unwrap(UnwrapArgs),
    /// Calls, hits and savings of each tool behind the proxy, and what is worth caching
    Stats(stats::McpStatsArgs),
    /// Be the process that ends the server of a killed proxy.
    #[command(hide = true)]
    ProxyGuard,
}

/// Flags of the server.
#[derive(Debug, Args)]
struct ServeArgs {
    /// Do not tell the agent to load rules: hooks deliver them already
    #[arg(long)]
    with_hooks: bool,
    /// The client whose plugin starts it: nothing is offered if its settings have recoup's server
    #[arg(long, value_name = "CLIENT", hide = true)]
    plugin: Option<String>,
    /// The tools to list: `common`, described in 1,000 tokens, or `all`, with complete schemas
    #[arg(long, value_name = "SET", default_value = COMMON_TOOLS, value_parser = [COMMON_TOOLS, "all"])]
    tools: String,
    /// Serve the agent files of this directory as tools, too; may be given several times
    #[arg(long = "agents", value_name = "DIR")]
    agents: Vec<PathBuf>,
    /// Let the agents use tools with this name that are not read-only: `files__write_*`
    #[arg(long = "allow", value_name = "PATTERN", requires = "agents")]
    allowed: Vec<String>,
    /// Serve HTTP at this address, instead of stdin and stdout [default: 127.0.0.1:7333]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7333")]
    http: Option<String>,
    /// Allow an address that other machines can reach
    #[arg(long, requires = "http")]
    public: bool,
    /// A host name by which other machines reach it, required for an address such as 0.0.0.0; may
    /// be given several times
    #[arg(long = "host", value_name = "NAME", requires = "public")]
    hosts: Vec<String>,
    /// The file with the token that clients must send [default: `RECOUP_MCP_TOKEN`, or
    /// ~/.recoup/mcp-token, which is created]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
}

impl McpCommand {
    fn run(self, place: &StoreScopeArgs) -> CommandResult {
        match self {
            Self::Proxy(args) => args.run(place),
            Self::ProxyGuard => {
                run_guard(std::io::stdin());
                Ok(CommandAnswer::Yes)
            }
            Self::Stats(args) => {
                place.demand_none("recoup mcp stats")?;
                args.run()
            }
            Self::Wrap(args) => {
                place.demand_none("recoup mcp wrap")?;
                args.run()
            }
            Self::Unwrap(args) => {
                place.demand_none("recoup mcp unwrap")?;
                args.run()
            }
        }
    }
}

const AFTER_HELP: &str = "\
Clients start it themselves, and it ends with them:
  claude mcp add recoup -- recoup mcp
  codex mcp add recoup -- recoup mcp
  {\"mcpServers\": {\"recoup\": {\"command\": \"recoup\", \"args\": [\"mcp\"]}}}

With --agents an agent is a tool: its answers come from the cache where its file gives a duration.
  claude mcp add reviewers -- recoup mcp --agents agents

With --http the URL is printed, and clients send the header `Authorization: Bearer TOKEN`:
  claude mcp add --transport http recoup http://127.0.0.1:7333/mcp \\
    --header \"Authorization: Bearer $(cat ~/.recoup/mcp-token)\"

The token may also be in the variable RECOUP_MCP_TOKEN. The server uses the memories and results of the project that it is started in.";

/// Message for a person who starts the server by hand.
const TERMINAL_NOTICE: &str = "recoup mcp speaks MCP on stdin and stdout; clients start it \
    themselves (see `recoup mcp --help`). Ctrl-D ends it";

/// The arguments of `recoup mcp proxy` alone.
#[derive(Debug, Args)]
pub(in crate::cli) struct McpProxyLeafArgs {
    #[command(flatten)]
    proxy: McpProxyArgs,
    #[command(flatten)]
    place: StoreScopeArgs,
}

impl McpArgs {
    pub(in crate::cli) fn proxy(args: McpProxyLeafArgs) -> Self {
        let McpProxyLeafArgs { proxy, place } = args;
        let serve = ServeArgs {
            with_hooks: false,
            plugin: None,
            tools: COMMON_TOOLS.to_owned(),
            agents: Vec::new(),
            allowed: Vec::new(),
            http: None,
            public: false,
            hosts: Vec::new(),
            token_file: None,
        };
        Self { action: Some(McpCommand::Proxy(proxy)), serve, place }
    }

    pub(in crate::cli) fn run(self) -> CommandResult {
        match self.action {
            None => self.serve.run(&self.place),
            Some(command) => command.run(&self.place),
        }
    }
}

impl ServeArgs {
    fn run(self, place: &StoreScopeArgs) -> CommandResult {
        let options = ServerOptions {
            with_hooks: self.with_hooks,
            may_ask: !ClientEntrypoint::from_env().is_headless(),
            tools: self.tool_set()?,
        };
        // Faults go to stderr, which clients hide or keep in a log.
        let state = ServerState::new(place.overrides(), Arc::new(FaultPrinter));
        report_panics();
        let allowed = self.allowed.iter().map(NamePattern::new).collect();
        let state = state.with_agents(&self.agents, allowed)?;
        match self.http_options()? {
            None => {
                if ui::can_ask() {
                    ui::say(TERMINAL_NOTICE);
                }
                serve_stdio(state, options, ui::streams())?;
            }
            Some(http) => serve_http(&state, options, &http, |url| {
                ui::line(url).map_err(|_| Error::usage("cannot print the URL"))
            })?,
        }
        Ok(CommandAnswer::Yes)
    }

    fn tool_set(&self) -> Result<ToolSet> {
        if let Some(client) = &self.plugin {
            let (client, cwd) = (AgentClient::parse(client)?, BaseDirs::find()?.cwd);
            if ask_client_settings(&cwd, |settings| has_our_server(client, settings)) {
                return Ok(ToolSet::Nothing);
            }
        }
        Ok(if self.tools == "all" { ToolSet::All } else { ToolSet::Common })
    }

    fn http_options(&self) -> Result<Option<HttpOptions>> {
        let Some(address) = &self.http else { return Ok(None) };
        let address = parse_address(address)?;
        if !address.ip().is_loopback() && !self.public {
            return Err(Error::usage(format!(
                "--http {address}: other machines could reach this address; use --public to allow that"
            )));
        }
        let hosts = self.hosts.iter().map(|host| parse_host(host)).collect::<Result<Vec<_>>>()?;
        if address.ip().is_unspecified() && hosts.is_empty() {
            return Err(Error::usage(format!(
                "--http {address}: give the name by which other machines reach this one with \
                 --host NAME; requests to other names are refused"
            )));
        }
        let token = match &self.token_file {
            Some(file) => read_token_file(file)?,
            None => match env::mcp_token()? {
                Some(token) => validate_token("RECOUP_MCP_TOKEN", &token)?,
                None => load_or_create_token(&BaseDirs::find()?.home)?,
            },
        };
        Ok(Some(HttpOptions { address, token, hosts }))
    }
}

/// Reports the place of a panic but not its text, which may repeat what an agent sent.
fn report_panics() {
    panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        ui::error(format_args!("internal error in recoup at {place}: a call was not finished"));
    }));
}

/// Parses an address and a port, or a port alone.
fn parse_address(text: &str) -> Result<SocketAddr> {
    let wrong =
        || Error::usage(format!("--http {text:?}: expected an address such as 127.0.0.1:7333"));
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    let mut found = text.to_socket_addrs().map_err(|_| wrong())?;
    found.next().ok_or_else(wrong)
}

/// Parses a host name or an IP address, as in a URL.
fn parse_host(host: &str) -> Result<String> {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_name = |host: &str| {
        !host.is_empty()
            && host.len() <= 253
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte))
    };
    if bare.parse::<IpAddr>().is_ok() || is_name(bare) {
        return Ok(bare.to_ascii_lowercase());
    }
    Err(Error::usage(format!(
        "--host {host:?}: expected a name such as recoup.example.org, or an address, without port and path"
    )))
}

/// Length of a generated token in bytes, before hex encoding.
const TOKEN_BYTES: usize = 32;
/// Minimum length: a shorter token could be guessed.
const MIN_TOKEN_CHARS: usize = 16;
/// Maximum size of a token file.
const MAX_FILE_BYTES: u64 = 4096;

/// Reads the token from a file, to which only its owner may have access.
fn read_token_file(file: &Path) -> Result<String> {
    let name = file.display().to_string();
    let read = fsx::read_checked(file, MAX_FILE_BYTES, |found| {
        ensure_private(file, found.mode() & 0o777)
    })?;
    let Some(bytes) = read else {
        return Err(Error::new(ErrorKind::Absent, format!("--token-file: no such file: {name}")));
    };
    let text = String::from_utf8(bytes).unwrap_or_default();
    validate_token(&name, &text)
}

/// Refuses a file that other users can read or write.
fn ensure_private(file: &Path, mode: u32) -> Result<()> {
    let of_others = mode & 0o077;
    if of_others == 0 {
        return Ok(());
    }
    let name = file.display();
    let message = format!(
        "{name}: other users of this machine can access this token (mode {mode:o}); run `chmod \
         600 {name}`, and replace the token if somebody may have read it"
    );
    Err(Error::new(ErrorKind::Invalid, message))
}

/// Reads our own token, or creates it. Several servers may start at once.
fn load_or_create_token(home: &Path) -> Result<String> {
    fsx::ensure_private_dir(home)?;
    let lock = fsx::with_suffix(&home.join(TOKEN_FILE), ".lock");
    let _lock = FileLock::acquire(&lock, Deadline::after(Duration::from_secs(5)))?;
    let file = home.join(TOKEN_FILE);
    if file.exists() {
        return read_token_file(&file);
    }
    let mut bytes = [0; TOKEN_BYTES];
    if getrandom(&mut bytes, GetRandomFlags::empty()) != Ok(TOKEN_BYTES) {
        return Err(Error::new(ErrorKind::Io, "cannot get random numbers from the system"));
    }
    let token = encode_hex(&bytes);
    fsx::write_atomic(&file, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// Checks that a token can be sent in a header and is hard to guess.
fn validate_token(place: &str, text: &str) -> Result<String> {
    let token = text.trim();
    if token.len() < MIN_TOKEN_CHARS || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Error::usage(format!(
            "{place}: invalid token: expected at least {MIN_TOKEN_CHARS} letters, digits and signs, without spaces"
        )));
    }
    Ok(token.to_owned())
}
