//! `recoup mcp proxy`: another MCP server, with a cache in front of it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use recoup_core::base::FaultLog;
use recoup_core::cache::CacheMode;
use recoup_core::error::IoContext as _;
use recoup_core::store::without_credentials;
use recoup_core::{Error, ErrorKind, Result};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::app::tools::{ServerCredential, ToolCacheRequest, ToolProtocol};
use crate::cli::app::App;
use crate::cli::cmd::place::StoreScopeArgs;
use crate::cli::failure::{self, CommandError, DataLocation};
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::config::{env, is_variable_name};
use crate::mcp_client::HttpServerOptions;
use crate::process;
use crate::proxy::{ServerSpec, run_proxy};
use crate::toolbox::{ServerIdentity, ToolCache};

/// Exit codes if the server can't be started, as a shell has them.
const NOT_STARTED: i32 = 126;
const NOT_FOUND: i32 = 127;
/// Time limit for a whole call over HTTP.
const CALL_TIMEOUT: Duration = Duration::from_hours(1);

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli::cmd) struct McpProxyArgs {
    /// The server's name in the configuration (mcpServers.NAME) [default: the program's name, or the
    /// host]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    name: Option<String>,
    /// A configuration file that counts before all others
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Variables with the server's credentials: with other values, nothing is shared. May be given
    /// several times, or with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    cred_env: Vec<String>,
    /// Ask the server in any case, and keep the results
    #[arg(long, conflicts_with_all = ["no_store", "only_if_cached"])]
    refresh: bool,
    /// Keep nothing that is not kept already
    #[arg(long, conflicts_with = "only_if_cached")]
    no_store: bool,
    /// Answer what may be cached from the cache alone: with an error if it is not there
    #[arg(long)]
    only_if_cached: bool,
    /// Accept no result that is older than this, whatever its own duration
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    max_age: Option<String>,
    /// A header for an HTTP server, with variables as ${VAR}; may be given several times
    #[arg(long = "header", value_name = "NAME: VALUE", allow_hyphen_values = true)]
    headers: Vec<String>,
    /// A header whose value is in a variable; may be given several times
    #[arg(long, value_name = "NAME=VARIABLE", allow_hyphen_values = true)]
    header_env: Vec<String>,
    /// The variable that holds the server's URL, in place of COMMAND|URL: other users can see a
    /// command line, and a URL may hold a token
    #[arg(long, value_name = "VARIABLE", conflicts_with = "server")]
    url_env: Option<String>,
    /// How long a call over HTTP may take in all [default: 1h]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    call_timeout: Option<String>,
    /// The command that starts the server, and its arguments; or its URL
    #[arg(
        value_name = "COMMAND|URL",
        required_unless_present = "url_env",
        trailing_var_arg = true
    )]
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
    pub(super) fn run(self, place: &StoreScopeArgs) -> CommandResult {
        ui::prefix_lines();
        super::report_panics();
        let server = self.server_spec()?;
        self.check_credential_variables()?;
        // A mistake in the configuration is told before the server is started.
        let cache =
            self.open_cache(&server, App::load_with(&place.overrides(), UnblockedFaults)?)?;
        let streams = ui::client_streams().with_context(|| "opening our streams".to_owned())?;
        match run_proxy(server, streams, cache) {
            Ok(code) => Ok(CommandAnswer::Exit(code)),
            Err(error) => {
                let code = if error.kind() == ErrorKind::Absent { NOT_FOUND } else { NOT_STARTED };
                CommandError::from(error).report(DataLocation::InFiles);
                Ok(CommandAnswer::Exit(code))
            }
        }
    }

    /// The cache of the server that the arguments name.
    pub(in crate::cli::cmd) fn tool_cache(&self, app: &App) -> Result<Option<ToolCache>> {
        self.open_cache(&self.server_spec()?, app)
    }

    /// The cache; none if it can't be opened, with a warning.
    fn open_cache(&self, server: &ServerSpec, app: &App) -> Result<Option<ToolCache>> {
        let max_age = input::duration("--max-age", self.max_age.as_deref())?;
        let cwd = &app.settings.cwd;
        let (identity, default_name, credentials) = match server {
            ServerSpec::Command(words) => {
                let root = app.settings.project.root();
                let program = words.first().map(PathBuf::from).unwrap_or_default();
                let program =
                    program.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (ServerIdentity::of_command(words, cwd, root), program, Vec::new())
            }
            ServerSpec::Http(options) => {
                let HttpServerOptions { url, headers, .. } = &**options;
                let value = |(name, value): (&HeaderName, &HeaderValue)| ServerCredential {
                    name: format!("header {name}"),
                    value: value.as_bytes().to_vec(),
                    may_be_plain: false,
                };
                let host = url.host_str().unwrap_or_default().to_owned();
                (ServerIdentity::of_url(url.as_str()), host, headers.iter().map(value).collect())
            }
        };
        let mode = match (self.refresh, self.no_store, self.only_if_cached) {
            (true, ..) => CacheMode::Refresh,
            (_, true, _) => CacheMode::NoStore,
            (_, _, true) => CacheMode::OnlyIfCached,
            (false, false, false) => CacheMode::Use,
        };
        let opened = app.tool_cache(ToolCacheRequest {
            name: self.name.as_deref().unwrap_or(&default_name),
            server: identity,
            directory: cwd.clone(),
            config: self.config.as_deref(),
            credential_variables: &self.cred_env,
            credentials,
            mode,
            max_age,
            protocol: ToolProtocol::Mcp,
            cache: None,
        });
        match opened {
            Ok(cache) => Ok(Some(cache)),
            Err(error) if error.kind() == ErrorKind::Usage => Err(error),
            Err(error) => {
                failure::warn(&error);
                ui::warn("nothing is cached: calls only pass through");
                Ok(None)
            }
        }
    }

    /// Checks the names of variables, and warns of those that are not set.
    fn check_credential_variables(&self) -> Result<()> {
        for name in &self.cred_env {
            if !is_variable_name(name) {
                // It is not repeated: it may be the credential itself.
                return Err(Error::usage("--cred-env: expected names of variables"));
            }
            if env::verbatim(name).is_none() {
                ui::warn(format!("--cred-env: the variable {name} is not set"));
            }
        }
        Ok(())
    }

    fn server_spec(&self) -> Result<ServerSpec> {
        let is_url = |word: &&str| {
            let scheme = word.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
            matches!(scheme.as_deref(), Some("http" | "https"))
        };
        let url = if let Some(name) = &self.url_env {
            let value = read_variable("--url-env", name)?;
            let url = Some(value.trim()).filter(is_url).and_then(|it| Url::parse(it).ok());
            let wrong = || Error::usage(format!("--url-env: {name} holds no URL of a server"));
            url.ok_or_else(wrong)?
        } else {
            let url = self.server.first().and_then(|word| word.to_str()).filter(is_url);
            let Some(url) = url else {
                if !self.headers.is_empty() || !self.header_env.is_empty() {
                    return Err(Error::usage("headers are for servers with a URL"));
                }
                return Ok(ServerSpec::Command(self.server.clone()));
            };
            if self.server.len() > 1 {
                return Err(Error::usage("nothing may follow the URL: options go before it"));
            }
            let masked = without_credentials(url);
            let wrong = |_| Error::usage(format!("{masked:?} is no URL of a server"));
            Url::parse(url).map_err(wrong)?
        };
        let mut headers = HeaderMap::new();
        for header in &self.headers {
            let (name, value) = parse_header(header)?;
            headers.append(name, value);
        }
        for header in &self.header_env {
            let (name, variable) = header
                .split_once('=')
                .ok_or_else(|| Error::usage("--header-env: expected NAME=VARIABLE"))?;
            let value = read_variable("--header-env", variable)?;
            let (name, value) = sensitive_header("--header-env", name, &value)?;
            headers.append(name, value);
        }
        let limit = input::duration("--call-timeout", self.call_timeout.as_deref())?;
        let call_timeout = limit.map_or(CALL_TIMEOUT, |limit| {
            limit.as_millis().map_or(Duration::MAX, Duration::from_millis)
        });
        let options = HttpServerOptions {
            url,
            headers,
            proxy: env::proxy(),
            call_timeout,
            credentials_hint: "credentials are given with --header",
        };
        Ok(ServerSpec::Http(Box::new(options)))
    }
}

/// Prints faults, unless that would block: a client may never read our stderr.
#[derive(Debug)]
struct UnblockedFaults;

impl FaultLog for UnblockedFaults {
    fn fault(&self, _: &str, error: &Error) {
        if process::has_room(ui::outlets().err) {
            failure::warn(error);
        }
    }
}

/// Parses `Name: value` with variables; messages do not repeat the value.
fn parse_header(text: &str) -> Result<(HeaderName, HeaderValue)> {
    let wrong = |why: &str| Error::usage(format!("--header: {why}"));
    let (name, value) = text.split_once(':').ok_or_else(|| wrong("expected NAME: VALUE"))?;
    let mut expanded = String::new();
    let mut rest = value.trim();
    while let Some((before, after)) = rest.split_once("${") {
        let (variable, after) =
            after.split_once('}').ok_or_else(|| wrong(&format!("{name}: ${{ without }}")))?;
        expanded.push_str(before);
        expanded.push_str(&read_variable("--header", variable)?);
        rest = after;
    }
    expanded.push_str(rest);
    sensitive_header("--header", name, &expanded)
}

/// A header that is shown nowhere; messages do not repeat the value.
fn sensitive_header(flag: &str, name: &str, value: &str) -> Result<(HeaderName, HeaderValue)> {
    let wrong = |why: String| Error::usage(format!("{flag}: {why}"));
    let name: HeaderName =
        name.trim().parse().map_err(|_| wrong(format!("{name:?} is no name of a header")))?;
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| wrong(format!("{name}: its value can't be sent in a header")))?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// The value of a variable that a flag names. A wrong name is not repeated: it may be the value itself.
fn read_variable(flag: &str, name: &str) -> Result<String> {
    if !is_variable_name(name) {
        return Err(Error::usage(format!("{flag}: expected the name of a variable")));
    }
    let value = env::verbatim(name).and_then(|value| value.into_string().ok());
    value.ok_or_else(|| Error::usage(format!("{flag}: the variable {name} is not set")))
}
