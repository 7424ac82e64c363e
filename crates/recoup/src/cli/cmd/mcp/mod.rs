//! `recoup mcp`: arguments of the MCP server. No settings are loaded before a client has said
//! hello.

mod token;

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::panic;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use recoup_core::{Error, Result};

use super::place::StoreScopeArgs;
use crate::cli::failure::FaultPrinter;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::{BaseDirs, env};
use crate::hooks::ClientEntrypoint;
use crate::mcp::{HttpOptions, ServerOptions, ServerState, ToolSet, serve_http, serve_stdio};

/// Serve memory and cache to agents, over MCP.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct McpArgs {
    /// Hooks give the rules to the agent already: it is not told to load them
    #[arg(long)]
    with_hooks: bool,
    /// The tools to list: `common`, which are described in 1,000 tokens, or `all`, with complete
    /// schemas
    #[arg(long, value_name = "SET", default_value = "common", value_parser = ["common", "all"])]
    tools: String,
    /// Serve HTTP in place of stdin and stdout, at this address [default: 127.0.0.1:7333]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7333")]
    http: Option<String>,
    /// Let the address be one that other machines reach
    #[arg(long, requires = "http")]
    public: bool,
    /// A name by which they reach it, needed for an address such as 0.0.0.0; may be given several
    /// times
    #[arg(long = "host", value_name = "NAME", requires = "public")]
    hosts: Vec<String>,
    /// The file with the token that clients must send [default: the variable, or
    /// ~/.recoup/mcp-token, which is made]
    #[arg(long, value_name = "FILE", requires = "http")]
    token_file: Option<PathBuf>,
    #[command(flatten)]
    place: StoreScopeArgs,
}

const AFTER_HELP: &str = "\
Clients start it themselves, and it ends with them:
  claude mcp add recoup -- recoup mcp
  codex mcp add recoup -- recoup mcp
  {\"mcpServers\": {\"recoup\": {\"command\": \"recoup\", \"args\": [\"mcp\"]}}}

With --http the URL is printed, and clients send the header `Authorization: Bearer TOKEN`:
  claude mcp add --transport http recoup http://127.0.0.1:7333/mcp \\
    --header \"Authorization: Bearer $(cat ~/.recoup/mcp-token)\"

The token may also be in the variable RECOUP_MCP_TOKEN. Memories and results are those of the project that it is started in.";

/// Message for a person who starts the server by hand.
const TERMINAL_NOTICE: &str = "This speaks MCP on stdin and stdout, with clients that start it \
    themselves (see `recoup mcp --help`); Ctrl-D ends it";

impl McpArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let options = ServerOptions {
            with_hooks: self.with_hooks,
            may_ask: !ClientEntrypoint::from_env().is_headless(),
            tools: if self.tools == "all" { ToolSet::All } else { ToolSet::Common },
        };
        // Faults go to stderr, which clients hide or keep in a log.
        let state = ServerState::new(self.place.overrides(), Arc::new(FaultPrinter));
        // The place of a panic but not its text, which may repeat what an agent sent.
        panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            ui::error(format_args!("recoup itself broke, at {place}: a call was not finished"));
        }));
        match self.http_options()? {
            None => {
                if ui::can_ask() {
                    ui::say(TERMINAL_NOTICE);
                }
                serve_stdio(state, options, ui::streams())?;
            }
            Some(http) => serve_http(&state, options, &http, |url| {
                ui::line(url).map_err(|_| Error::usage("the URL can't be printed"))
            })?,
        }
        Ok(CommandAnswer::Yes)
    }

    fn http_options(&self) -> Result<Option<HttpOptions>> {
        let Some(address) = &self.http else { return Ok(None) };
        let address = parse_address(address)?;
        if !address.ip().is_loopback() && !self.public {
            return Err(Error::usage(format!(
                "--http {address}: other machines would reach that; say --public if they shall"
            )));
        }
        let hosts = self.hosts.iter().map(|host| parse_host(host)).collect::<Result<Vec<_>>>()?;
        if address.ip().is_unspecified() && hosts.is_empty() {
            return Err(Error::usage(format!(
                "--http {address}: say by which name others reach this machine, --host NAME: \
                 requests to other names are refused"
            )));
        }
        let token = match &self.token_file {
            Some(file) => token::read_token_file(file)?,
            None => match env::mcp_token()? {
                Some(token) => token::validate_token("RECOUP_MCP_TOKEN", &token)?,
                None => token::load_or_create(&BaseDirs::find()?.home)?,
            },
        };
        Ok(Some(HttpOptions { address, token, hosts }))
    }
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
