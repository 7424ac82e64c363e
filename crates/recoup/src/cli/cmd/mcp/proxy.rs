//! `recoup mcp proxy`: another MCP server, with a cache in front of it.

use std::ffi::OsString;
use std::time::Duration;

use clap::Args;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, Result};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::cli::cmd::place::StoreScopeArgs;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::env;
use crate::proxy::{HttpServerOptions, ServerSpec, run_proxy};

/// Time limit for a whole call over HTTP.
const CALL_TIMEOUT: Duration = Duration::from_secs(60 * 60);

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct McpProxyArgs {
    /// The server's name in the configuration (mcpServers.NAME) [default: the program's name, or the
    /// host]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// A header for an HTTP server, with variables as ${VAR}; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE")]
    headers: Vec<String>,
    /// How long a call over HTTP may take in all [default: 1h]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    call_timeout: Option<String>,
    /// The command that starts the server, and its arguments; or its URL
    #[arg(value_name = "COMMAND|URL", required = true, trailing_var_arg = true)]
    server: Vec<OsString>,
}

const AFTER_HELP: &str = "\
Examples:
  recoup mcp proxy --name github -- npx -y @modelcontextprotocol/server-github
  recoup mcp proxy --name docs --header 'Authorization: Bearer ${DOCS_TOKEN}' https://docs.example.org/mcp

Nothing is cached without a duration in recoup.toml or .ai-agent.json:
  [mcpServers.github]
  cache = \"5m\"                                # for every tool
  toolsCache.create_issue = \"off\"             # but not for this one

The exit code is the server's own.";

impl McpProxyArgs {
    pub(super) fn run(self, _place: &StoreScopeArgs) -> CommandResult {
        ui::prefix_lines();
        let server = self.server_spec()?;
        let streams = ui::client_streams().with_context(|| "opening our streams".to_owned())?;
        Ok(CommandAnswer::Exit(run_proxy(server, streams)?))
    }

    fn server_spec(&self) -> Result<ServerSpec> {
        let url = match &self.server[..] {
            [word] => word.to_str().filter(|word| is_url(word)),
            _ => None,
        };
        let Some(url) = url else {
            if !self.headers.is_empty() {
                return Err(Error::usage("--header is for servers with a URL"));
            }
            return Ok(ServerSpec::Command(self.server.clone()));
        };
        let wrong = |_| Error::usage(format!("{url:?} is no URL of a server"));
        let url = Url::parse(url).map_err(wrong)?;
        let mut headers = HeaderMap::new();
        for header in &self.headers {
            let (name, value) = parse_header(header)?;
            headers.append(name, value);
        }
        let limit = input::duration("--call-timeout", self.call_timeout.as_deref())?;
        let call_timeout = limit.map_or(CALL_TIMEOUT, |limit| {
            limit.as_millis().map_or(Duration::MAX, Duration::from_millis)
        });
        Ok(ServerSpec::Http(HttpServerOptions { url, headers, proxy: env::proxy(), call_timeout }))
    }
}

fn is_url(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

/// Parses `Name: value` with variables; messages do not repeat the value.
fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue)> {
    let wrong = |why: &str| Error::usage(format!("--header: {why}"));
    let (name, value) =
        text.split_once(':').ok_or_else(|| wrong("expected NAME: VALUE"))?;
    let name: HeaderName =
        name.trim().parse().map_err(|_| wrong(&format!("{name:?} is no name of a header")))?;
    let mut expanded = String::new();
    let mut rest = value.trim();
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) =
            after.split_once('}').ok_or_else(|| wrong(&format!("{name}: ${{ without }}")))?;
        let value = env::verbatim(variable).and_then(|value| value.into_string().ok());
        let value =
            value.ok_or_else(|| wrong(&format!("{name}: the variable {variable} is not set")))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    expanded.push_str(rest);
    let mut value = HeaderValue::from_str(&expanded)
        .map_err(|_| wrong(&format!("{name}: its value can't be sent in a header")))?;
    value.set_sensitive(true);
    Ok((name, value))
}
