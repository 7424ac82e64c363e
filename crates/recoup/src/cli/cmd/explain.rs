//! `recoup explain`: explains why something is a hit or a miss.

use clap::{Args, Subcommand};
use recoup_core::cache::{LookupExplanation, LookupRequest};
use recoup_core::key::agent_run::AgentRunRecipe;
use recoup_core::key::command::shell_quoted;
use recoup_core::key::{EntryId, Key, KeyPart, KeyRecipe, Kind, Scope};
use recoup_core::{Error, ErrorKind, Result};
use serde_json::json;
use serde_json::value::RawValue;

use super::cache::{ResultSelectorArgs, find_entry};
use super::exec::ExecArgs;
use super::key::AgentRunArgs;
use super::mcp::McpProxyArgs;
use super::place::StoreScopeArgs;
use super::run::RunArgs;
use crate::cli::app::App;
use crate::cli::explain::ExplainReport;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, input, ui};
use crate::exec::agent_command::AgentCommand;
use crate::gateway::{DescribedRequest, LoggedRequest, PromptCacheMiss, RequestHistory};
use crate::toolbox::PassReason;

#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct ExplainArgs {
    #[command(subcommand)]
    asked: Option<ExplainTarget>,
    /// The entry's key, or at least the first 8 characters of a generated key; or the
    /// Recoup-Request-Id of an answer of `recoup gateway`
    #[arg(value_name = "KEY", conflicts_with = "key")]
    entry: Option<String>,
    #[command(flatten)]
    named: ResultSelectorArgs,
    /// Explain why the provider's own prompt cache missed: for one request behind `recoup gateway`,
    /// or for all in its log
    #[arg(long, conflicts_with_all = ["key", "paths", "query", "operation"])]
    prompt_cache: bool,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(flatten)]
    place: StoreScopeArgs,
}

const AFTER_HELP: &str = "\
Examples:
  recoup explain exec --source 'src/**/*.rs' -- claude -p 'review src'
  recoup explain --paths src/auth.rs --query 'find sql injection' --operation security-audit
  recoup explain tool --tool search --arguments '{\"query\":\"x\"}' --name docs -- npx -y docs-server
  recoup explain command 'cd web && npm test'
  recoup explain gateway --path /v1/messages < request.json
  recoup explain 29a54c34e14371b5
  recoup explain --prompt-cache

`recoup exec` and `recoup cache get` print the same with --explain. Nothing is run, \
counted or changed. If there is no entry, the most similar one is shown, with the differences.

Exit codes: 0 a hit, 1 a miss, 2 wrong usage; 126 and 127 as `recoup exec`, if the \
command cannot be run or is not found.";

#[derive(Debug, Subcommand)]
enum ExplainTarget {
    /// Explain whether a command would be replayed or run; takes the arguments of `recoup exec`
    Exec(Box<ExecArgs>),
    /// Explain whether `recoup run` would answer from the cache; takes the same arguments
    Run(Box<RunArgs>),
    /// Explain whether there is an answer for an agent run
    AgentRun(AgentRunArgs),
    /// Explain a call of an MCP tool: give what you would give `recoup mcp proxy`
    Tool(Box<ExplainToolArgs>),
    /// Explain whether a command of an agent would be replayed or run: give the command line
    Command(ExplainCommandArgs),
    /// Explain a request to `recoup gateway`: its body is read from stdin
    Gateway(ExplainGatewayArgs),
}

/// A call of a tool behind `recoup mcp proxy`.
#[derive(Debug, Args)]
struct ExplainToolArgs {
    /// Name of the tool
    #[arg(long, value_name = "TOOL")]
    tool: String,
    /// Its arguments, as JSON
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    proxy: McpProxyArgs,
}

/// A command that an agent runs itself.
#[derive(Debug, Args)]
struct ExplainCommandArgs {
    /// The command line, as one word or as several
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true)]
    command: Vec<String>,
}

impl ExplainCommandArgs {
    fn explain(&self, app: &App) -> Result<Result<LookupExplanation, &'static str>> {
        let line = match &self.command[..] {
            [line] => line.clone(),
            words => {
                let words = words.iter().map(|word| shell_quoted(word.as_ref()));
                words.collect::<Vec<_>>().join(" ")
            }
        };
        let Some(command) = AgentCommand::find(app, &line, &app.settings.cwd) else {
            return Ok(Err("no entry of [commands] names this line (`recoup help suggest`)"));
        };
        let entry = command.entry()?;
        Ok(entry.map(|it| it.explain()).ok_or("its program was not found"))
    }
}

/// A request to the gateway.
#[derive(Debug, Args)]
struct ExplainGatewayArgs {
    /// Path of the request
    #[arg(long, value_name = "PATH", default_value = "/v1/messages")]
    path: String,
    /// A header of the request, `NAME: VALUE`; may be given several times
    #[arg(long = "header", value_name = "HEADER")]
    headers: Vec<String>,
    /// The tenant who asks
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
}

impl ExplainGatewayArgs {
    fn explain(self, app: &App) -> Result<Result<LookupExplanation, String>, CommandError> {
        let Self { path, headers, tenant } = self;
        let body = input::stdin()?;
        let request = DescribedRequest { path, headers, body, tenant };
        Ok(request.explain(&app.settings.gateway, &app.cache())?)
    }
}

impl ExplainToolArgs {
    fn explain(&self, app: &App) -> Result<Result<LookupExplanation, PassReason>> {
        let invalid = |error| Error::usage(format!("--arguments: expected JSON: {error}"));
        let arguments: Box<RawValue> = serde_json::from_str(&self.arguments).map_err(invalid)?;
        let params = format!("{{\"name\":{},\"arguments\":{arguments}}}", json!(self.tool));
        let params = RawValue::from_string(params).map_err(invalid)?;
        let cache = self.proxy.tool_cache(app)?;
        let unavailable = || Error::new(ErrorKind::Unavailable, "the tool cache cannot be opened");
        Ok(cache.ok_or_else(unavailable)?.explain(&params))
    }
}

impl ExplainArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { asked, entry, named, prompt_cache, json, place } = self;
        if asked.is_some() && (entry.is_some() || named.is_given()) {
            return Err(Error::usage("give either an entry or a command, not both").into());
        }
        if entry.is_some() && named.is_given() {
            return Err(Error::usage(
                "give either KEY or the options that select an entry, not both",
            )
            .into());
        }
        let app = || App::load(&place.overrides());
        if prompt_cache {
            return explain_prompt_cache(app()?, entry.as_deref(), json);
        }
        if let Some(id) = entry.as_deref().filter(|it| it.len() == REQUEST_ID_CHARS)
            && let Some(request) = request_history(app()?)?.find(id)
        {
            return explain_request(app()?, request, json);
        }
        let report = match (asked, entry) {
            (Some(ExplainTarget::Exec(args)), _) => match args.explain()? {
                Ok(report) => report,
                Err(end) => return Ok(CommandAnswer::Exit(end)),
            },
            (Some(ExplainTarget::Run(args)), _) => args.explain_lookup()?,
            (Some(ExplainTarget::AgentRun(args)), _) => {
                let (app, recipe) = (app()?, args.recipe()?);
                let (key, parts) = (recipe.key()?, recipe.parts());
                ExplainReport::new(&explain_parts(app, key, &parts, AgentRunRecipe::KIND))
            }
            (Some(ExplainTarget::Tool(args)), _) => match args.explain(app()?)? {
                Ok(explained) => ExplainReport::new(&explained),
                Err(reason) => return say_bypass(&reason.to_string(), json),
            },
            (Some(ExplainTarget::Command(args)), _) => match args.explain(app()?)? {
                Ok(explained) => ExplainReport::new(&explained),
                Err(reason) => return say_bypass(reason, json),
            },
            (Some(ExplainTarget::Gateway(args)), _) => match args.explain(app()?)? {
                Ok(explained) => ExplainReport::new(&explained),
                Err(reason) => return say_bypass(&reason, json),
            },
            (None, entry) => {
                let (key, parts) = match entry {
                    Some(key) => (Key::parse(&key)?, Vec::new()),
                    None => named.resolve().map(|named| (named.key, named.parts))?,
                };
                let explained = if parts.is_empty() {
                    explain_abbreviated(app()?, key.as_str())?
                } else {
                    explain_parts(app()?, key, &parts, Kind::Result)
                };
                ExplainReport::new(&explained)
            }
        };
        if json {
            ui::json(&report)?;
        } else {
            report.lines().into_iter().try_for_each(|line| ui::line(ui::printable(&line)))?;
        }
        Ok(if report.is_miss() { CommandAnswer::No } else { CommandAnswer::Yes })
    }
}

/// Length of the ids of requests. Keys are shorter (when abbreviated) or longer.
const REQUEST_ID_CHARS: usize = 26;

fn request_history(app: &App) -> Result<RequestHistory> {
    RequestHistory::read(&app.settings.home.join("logs"))
}

/// Explains a request that the gateway has answered: how it ended then, and how it would end now.
fn explain_request(app: &App, request: &LoggedRequest, json: bool) -> CommandResult {
    let reason = request.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let then = format!("at {} it was a {}{reason}", request.started_at(), request.cache);
    let Some(key) = &request.key else {
        if json {
            ui::json(
                &json!({ "request": request.id, "status": request.cache, "reason": request.reason }),
            )?;
        } else {
            ui::line(&then)?;
        }
        return Ok(CommandAnswer::No);
    };
    let (cache, view) = (app.cache(), app.view());
    let id = EntryId::new(Scope::parse(&request.scope)?, Key::parse(key)?);
    let lookup = LookupRequest::new(Kind::ModelRequest, &id, &view);
    let report =
        ExplainReport::new(&cache.explain(&LookupRequest { parts: &request.parts, ..lookup }));
    if json {
        let then = json!({ "id": request.id, "at": request.started_at(), "status": request.cache,
                           "reason": request.reason });
        ui::json(&json!({ "request": then, "now": report }))?;
    } else {
        ui::line(format_args!("{then}; now:"))?;
        report.lines().into_iter().try_for_each(|line| ui::line(ui::printable(&line)))?;
    }
    Ok(if report.is_miss() { CommandAnswer::No } else { CommandAnswer::Yes })
}

/// Explains misses of the provider's own prompt cache.
fn explain_prompt_cache(app: &App, id: Option<&str>, json: bool) -> CommandResult {
    let history = request_history(app)?;
    let misses: Vec<PromptCacheMiss> = match id {
        Some(id) => history.prompt_cache_miss(id)?.into_iter().collect(),
        None => history.prompt_cache_misses(),
    };
    if json {
        ui::json(&json!({ "requests": history.prompts(), "misses": misses }))?;
    } else if id.is_some() && misses.is_empty() {
        ui::line(
            "the provider's prompt cache did not miss: nothing of an earlier prompt was lost",
        )?;
    } else if id.is_none() {
        let (lost, all) = (misses.len(), history.prompts());
        ui::line(format_args!("{lost} of {all} requests lost what the provider had cached"))?;
    }
    if !json {
        for miss in &misses {
            ui::line(ui::printable(&describe_miss(miss)))?;
        }
    }
    Ok(if misses.is_empty() { CommandAnswer::Yes } else { CommandAnswer::No })
}

fn describe_miss(miss: &PromptCacheMiss) -> String {
    format!(
        "{} {}: {} ({} of {} cached tokens were read; compared with {})",
        miss.request, miss.model, miss.cause, miss.read_tokens, miss.cached_tokens, miss.continues
    )
}

fn say_bypass(reason: &str, json: bool) -> CommandResult {
    if json {
        ui::json(&json!({ "status": "bypass", "reason": reason }))?;
    } else {
        ui::line(format_args!("not cached: {reason}"))?;
    }
    Ok(CommandAnswer::No)
}

/// Explains the entry with exactly this key, or else the one whose key starts with it.
fn explain_abbreviated(app: &App, typed: &str) -> Result<LookupExplanation> {
    // Faults of the store are part of the explanation.
    let found = match find_entry(app, &app.cache(), typed) {
        Err(error) if error.kind() == ErrorKind::Usage => return Err(error),
        found => found.ok().flatten(),
    };
    match found {
        Some((id, _)) if id.key.as_str() != typed => {
            ui::say(format_args!("entry {}:", id.key));
            Ok(explain_key(app, id.key))
        }
        _ => Ok(explain_key(app, Key::parse(typed)?)),
    }
}

/// Explains a bare key, whose kind is known only if the entry exists.
fn explain_key(app: &App, key: Key) -> LookupExplanation {
    let id = EntryId::new(app.scope(), key.clone());
    let stored = app.cache().head(&id).ok().flatten().map(|head| head.header.kind);
    explain_parts(app, key, &[], stored.unwrap_or(Kind::Result))
}

fn explain_parts(app: &App, key: Key, parts: &[KeyPart], kind: Kind) -> LookupExplanation {
    let (cache, view, id) = (app.cache(), app.view(), EntryId::new(app.scope(), key));
    cache.explain(&LookupRequest { parts, ..LookupRequest::new(kind, &id, &view) })
}
