//! `recoup agents`: lists, checks and shows agent files. Nothing is started or called.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use recoup_core::base::text::shorten_text;
use recoup_core::cache::CacheMode;
use recoup_core::entry::{CostSavings, EntryHead};
use recoup_core::key::agent::{AgentAnswerRecipe, AgentIdentity};
use recoup_core::key::{KeyPart, KeyRecipe as _, Kind, PartKind};
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::run::{OpenLine, TerminalObserver};

use crate::agents::file::{
    AgentCheck, AgentContext, AgentProblem, check_agent, dialect_of, keys_of, load_agent,
};
use crate::agents::{
    AgentDialect, AgentFile, AgentRunner, DeclaredOutput, RunOptions, find_agent_files,
};
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::FlagOverrides;

#[derive(Debug, Args)]
pub(in crate::cli) struct AgentsArgs {
    #[command(subcommand)]
    action: AgentsCommand,
}

#[derive(Debug, Subcommand)]
enum AgentsCommand {
    /// List the agent files of the project
    ///
    /// These are .ai, .agent.md and .lifecycle.yaml files, and .md files whose front matter names
    /// models as provider/model. Hidden and ignored files are left out.
    List(AgentsListArgs),
    /// Report all problems of agent files; exit 2 if there are any
    ///
    /// Reads each file with everything that it refers to: included files, schemas, sub-agents,
    /// advisors, tools. No model is asked and no server is started.
    Check(AgentsCheckArgs),
    /// Show what a file says, and what of it can change the answer
    Show(AgentsShowArgs),
    /// List every key of agent files, by dialect
    Keys(AgentKeysArgs),
}

impl AgentsArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        if let AgentsCommand::Keys(args) = &self.action {
            return args.run();
        }
        let app = App::load(&FlagOverrides::default())?;
        match self.action {
            AgentsCommand::List(args) => args.run(app),
            AgentsCommand::Check(args) => args.run(app),
            AgentsCommand::Show(args) => args.run(app),
            AgentsCommand::Keys(args) => args.run(),
        }
    }
}

#[derive(Debug, Args)]
struct AgentsListArgs {
    /// The directory to look in [default: the project's root]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// An agent file in a list.
#[derive(Serialize)]
struct ListedAgent {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    dialect: &'static str,
    models: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Number of problems, which `check` lists.
    problems: usize,
}

impl AgentsListArgs {
    fn run(self, app: &App) -> CommandResult {
        let settings = &app.settings;
        let dir =
            self.dir.map_or_else(|| settings.project.root().to_owned(), |it| settings.cwd.join(it));
        if !dir.is_dir() {
            return Err(Error::usage(format!("there is no directory {}", dir.display())).into());
        }
        let list = |path: PathBuf| {
            let shown = path.strip_prefix(&settings.cwd).unwrap_or(&path);
            let AgentCheck { agent, problems } = check_agent(AgentContext::of_app(app), shown);
            let agent = agent.as_deref();
            let models = agent.into_iter().flat_map(|agent| &agent.models);
            ListedAgent {
                file: shown.display().to_string(),
                name: agent.map(|agent| agent.name.clone()),
                dialect: dialect_name(dialect_of(shown)),
                models: models.map(ToString::to_string).collect(),
                cache: agent.and_then(|agent| agent.cache).map(|ttl| ttl.to_string()),
                description: agent.and_then(|agent| agent.description.clone()),
                problems: problems.len(),
            }
        };
        let files = find_agent_files(&dir, |notice| ui::warn(notice));
        let listed: Vec<ListedAgent> = files.into_iter().map(list).collect();
        if self.json {
            ui::json(&listed)?;
            return Ok(CommandAnswer::Yes);
        }
        let mut rows = ui::RowStream::new(&["FILE", "CACHE", "MODELS", "DIALECT", "DESCRIPTION"]);
        for ListedAgent { file, dialect, models, cache, description, problems, .. } in listed {
            let description = match problems {
                0 => description.unwrap_or_default(),
                1 => format!("1 problem: see `recoup agents check {file}`"),
                many => format!("{many} problems: see `recoup agents check {file}`"),
            };
            let cache = cache.unwrap_or_else(|| "-".to_owned());
            rows.add(vec![file, cache, models.join(", "), dialect.to_owned(), description])?;
        }
        if !rows.finish()? {
            ui::say(format_args!("No agent files in {}", dir.display()));
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
struct AgentsCheckArgs {
    /// The agent files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct AgentsCheckReport {
    ok: bool,
    problems: Vec<AgentProblem>,
    notices: Vec<String>,
}

impl AgentsCheckArgs {
    fn run(self, app: &App) -> CommandResult {
        let mut report = AgentsCheckReport { ok: true, problems: Vec::new(), notices: Vec::new() };
        for file in &self.files {
            let AgentCheck { agent, problems } = check_agent(AgentContext::of_app(app), file);
            // Files that several agents share are reported once.
            let new = problems.into_iter().filter(|problem| !report.problems.contains(problem));
            let new: Vec<AgentProblem> = new.collect();
            report.problems.extend(new);
            collect_notices(agent.as_deref(), &mut report.notices);
        }
        report.ok = report.problems.is_empty();
        if self.json {
            ui::json(&report)?;
        } else {
            report.notices.iter().for_each(ui::warn);
            report.problems.iter().for_each(ui::error);
            match self.files.len() {
                _ if !report.ok => {}
                1 => ui::say("The agent file is valid."),
                many => ui::say(format_args!("{many} agent files are valid.")),
            }
        }
        Ok(if report.ok { CommandAnswer::Yes } else { CommandAnswer::Unsound })
    }
}

/// Notices of an agent and of all that it refers to, each once.
fn collect_notices(agent: Option<&AgentFile>, notices: &mut Vec<String>) {
    let Some(agent) = agent else { return };
    for notice in &agent.notices {
        if !notices.contains(notice) {
            notices.push(notice.clone());
        }
    }
    for other in agent.referred_agents() {
        collect_notices(Some(other), notices);
    }
}

#[derive(Debug, Args)]
struct AgentsShowArgs {
    /// The agent file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// An agent as its file describes it.
#[derive(Serialize)]
struct AgentShowReport {
    file: String,
    name: String,
    dialect: &'static str,
    /// Hash over everything of the agent that can change its answers; none while the tools of a
    /// server are not known.
    identity: Option<String>,
    /// None without an identity.
    answers: Option<AnswerTotals>,
    parts: Vec<AgentPart>,
    notices: Vec<String>,
}

/// A part of an agent, and its effect on cached answers.
#[derive(Serialize)]
struct AgentPart {
    part: String,
    /// `yes` if another value is another key, `no` if it does not matter, or what it does instead.
    hashed: &'static str,
    value: String,
}

impl AgentsShowArgs {
    fn run(self, app: &App) -> CommandResult {
        let agent = load_agent(app, &self.file)?;
        let mut notices = Vec::new();
        collect_notices(Some(&agent), &mut notices);
        let options = RunOptions { mode: CacheMode::OnlyIfCached, ..RunOptions::default() };
        let observer =
            TerminalObserver { streams: false, verbose: false, line: OpenLine::default() };
        let runner = AgentRunner::new(app, app.model_client(None)?, None, options, &observer);
        let identity = match runner.identity_of(&agent) {
            Ok(identity) => Some(identity),
            Err(error) if error.kind() == ErrorKind::Absent => None,
            Err(error) => return Err(error.into()),
        };
        let hash = identity.as_ref().map(|identity| identity.digest().to_hex());
        let mut parts = hashed_parts(&agent, identity.as_ref(), runner.own_identity(&agent));
        parts.extend(other_parts(&agent));
        let report = AgentShowReport {
            file: agent.path.display().to_string(),
            name: agent.name.clone(),
            dialect: dialect_name(agent.dialect),
            answers: hash.as_deref().map(|hash| AnswerTotals::of_agent(app, hash)).transpose()?,
            identity: hash,
            parts,
            notices,
        };
        if self.json {
            ui::json(&report)?;
            return Ok(CommandAnswer::Yes);
        }
        report.notices.iter().for_each(ui::warn);
        let mut rows = ui::RowStream::new(&["PART", "HASHED", "VALUE"]);
        for AgentPart { part, hashed, value } in report.parts {
            rows.add(vec![part, hashed.to_owned(), value])?;
        }
        rows.finish()?;
        ui::line("")?;
        let mut fields =
            vec![("identity", report.identity.unwrap_or_else(|| NOT_KNOWN.to_owned()))];
        if let Some(AnswerTotals { cached, paid }) = report.answers {
            fields.push(("cached answers", cached.to_string()));
            if cached > 0 {
                fields.push(("paid for them", human::savings(paid).join(" · ")));
            }
        }
        ui::fields(&fields)?;
        Ok(CommandAnswer::Yes)
    }
}

/// Stands for values that depend on tools that nobody has seen.
const NOT_KNOWN: &str = "known once its servers have been asked";

/// Maximum number of characters of a text.
const MAX_VALUE_CHARS: usize = 72;
/// Digits of a digest that are shown.
const SHOWN_DIGITS: usize = 16;

/// Inputs of the key. Without an identity, `own` has those that are known.
fn hashed_parts(
    agent: &AgentFile,
    identity: Option<&AgentIdentity>,
    own: AgentIdentity,
) -> Vec<AgentPart> {
    let recipe = AgentAnswerRecipe {
        identity: AgentIdentity { rules: None, ..identity.cloned().unwrap_or(own) },
        prompt: "yours, with the values of variables".to_owned(),
        variables: BTreeMap::new(),
        format: agent.output.kind.as_str().to_owned(),
        schema: agent.output.schema.as_ref().map(ToString::to_string),
        history: None,
    };
    // The user's own key decides alone.
    let hashed = if agent.cache_key.is_some() { "no" } else { "yes" };
    let shown = |KeyPart { name, digest, preview }: KeyPart| {
        let value = match (preview, AgentAnswerRecipe::part_kind(&name)) {
            (Some(list), PartKind::List(_)) => list,
            (Some(text), _) => {
                let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
                shorten_text(&line, MAX_VALUE_CHARS).into_owned()
            }
            (None, _) => digest.to_hex()[..SHOWN_DIGITS].to_owned(),
        };
        AgentPart { part: name, hashed, value }
    };
    let mut parts: Vec<AgentPart> = recipe.parts().into_iter().map(shown).collect();
    let mut add = |part: &str, value: String| {
        parts.push(AgentPart { part: part.to_owned(), hashed, value });
    };
    match identity {
        None => add("tools, other agents, rules", NOT_KNOWN.to_owned()),
        Some(AgentIdentity { rules, .. }) if agent.memory => {
            add("rules", rules.as_ref().map_or(0, |it| it.rules.len()).to_string());
        }
        Some(_) => {}
    }
    parts
}

/// Everything else that the file says, and the conversation, which is no part of it.
fn other_parts(agent: &AgentFile) -> Vec<AgentPart> {
    let limits = &agent.limits;
    let millis =
        |time: Duration| human::duration(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let times = [
        ("model", Some(limits.llm_timeout)),
        ("tools", Some(limits.tool_timeout)),
        ("whole run", limits.max_time),
    ];
    let times = times.into_iter().filter_map(|(of, time)| Some(format!("{of} {}", millis(time?))));
    let output = |output: &DeclaredOutput| match output {
        DeclaredOutput::File { path } => path.clone(),
        DeclaredOutput::Http { url, method, .. } => format!("{method} {url}"),
    };
    let outputs: Vec<String> = agent.outputs.iter().map(output).collect();
    let hooks = &agent.hooks;
    let hooks = [&hooks.pre_run[..], &hooks.post_success, &hooks.post_error].concat();
    // The key of these formats has the name in it.
    let names_count = matches!(agent.dialect, AgentDialect::AgentMd | AgentDialect::Lifecycle)
        && agent.cache_key.is_none();
    let history = if agent.ignores_history || agent.cache_key.is_some() { "no" } else { "yes" };
    let parts = [
        ("key", "replaces the key", agent.cache_key.clone().unwrap_or_default()),
        ("sources", "checked", agent.sources.join(", ")),
        ("history", history, "the conversation before the prompt".to_owned()),
        ("file", "no", agent.path.display().to_string()),
        ("name", if names_count { "yes" } else { "no" }, agent.name.clone()),
        ("tool name", "no", agent.tool_name.clone()),
        ("cache", "no", agent.cache.map(|ttl| ttl.to_string()).unwrap_or_default()),
        ("tags", "no", agent.tags.join(", ")),
        ("time limits", "no", times.collect::<Vec<_>>().join(", ")),
        ("retries", "no", limits.max_retries.to_string()),
        ("outputs", "no", outputs.join(", ")),
        ("hooks", "no", hooks.join(", ")),
    ];
    let said = parts.into_iter().filter(|(.., value)| !value.is_empty());
    said.map(|(part, hashed, value)| AgentPart { part: part.to_owned(), hashed, value }).collect()
}

/// Cached answers of an agent as it is now, and what they cost.
#[derive(Debug, Default, Serialize)]
struct AnswerTotals {
    cached: u64,
    paid: CostSavings,
}

impl AnswerTotals {
    fn of_agent(app: &App, identity: &str) -> Result<Self> {
        let mut totals = Self::default();
        for kind in [Kind::Agent, Kind::AgentRun] {
            let filter = ScanFilter { kind: Some(kind), ..ScanFilter::of_scope(&app.scope()) };
            app.cache().scan_filtered(&filter, &mut |_, head| {
                let is_of =
                    |head: &&EntryHead| head.header.identity.hash.as_deref() == Some(identity);
                if let Some(head) = head.ok().filter(is_of) {
                    totals.cached += 1;
                    totals.paid = totals.paid.plus(CostSavings::by_hits(&head.header.cost, 1));
                }
                ScanFlow::Continue(())
            })?;
        }
        Ok(totals)
    }
}

#[derive(Debug, Args)]
struct AgentKeysArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

/// A key of a dialect.
#[derive(Serialize)]
struct ListedKey {
    dialect: &'static str,
    key: String,
    takes: &'static str,
}

impl AgentKeysArgs {
    fn run(&self) -> CommandResult {
        let dialects =
            [AgentDialect::Own, AgentDialect::Ai, AgentDialect::AgentMd, AgentDialect::Lifecycle];
        let listed: Vec<ListedKey> = dialects
            .into_iter()
            .flat_map(|dialect| {
                let dialect_name = dialect_name(dialect);
                keys_of(dialect).into_iter().map(move |(key, info)| ListedKey {
                    dialect: dialect_name,
                    key,
                    takes: info.takes,
                })
            })
            .collect();
        if self.json {
            ui::json(&listed)?;
        } else {
            let mut rows = ui::RowStream::new(&["KEY", "DIALECT", "TAKES"]);
            for ListedKey { dialect, key, takes } in listed {
                rows.add(vec![key, dialect.to_owned(), takes.to_owned()])?;
            }
            rows.finish()?;
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Name of a dialect, for people.
fn dialect_name(dialect: AgentDialect) -> &'static str {
    match dialect {
        AgentDialect::Ai => ".ai",
        AgentDialect::AgentMd => ".agent.md",
        AgentDialect::Lifecycle => ".lifecycle.yaml",
        AgentDialect::Own => "recoup",
    }
}
