//! `recoup agents`: lists, checks and shows agent files. Nothing is started or called.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use recoup_core::cache::CacheMode;
use recoup_core::entry::{CostSavings, EntryHead};
use recoup_core::key::Kind;
use recoup_core::store::{ScanFilter, ScanFlow};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use super::run::{OpenLine, TerminalObserver};

use crate::agents::file::{
    AgentCheck, AgentContext, AgentProblem, check_agent, dialect_of, keys_of, load_agent,
};
use crate::agents::{
    AgentDialect, AgentFile, AgentRunner, DeclaredOutput, MessageFormat, RunOptions,
    find_agent_files,
};
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, human, ui};
use crate::config::FlagOverrides;
use crate::llm::{ModelName, Reasoning};

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
            ListedAgent {
                file: shown.display().to_string(),
                name: agent.map(|agent| agent.name.clone()),
                dialect: dialect_name(dialect_of(shown)),
                models: agent.map(|agent| model_names(&agent.models)).unwrap_or_default(),
                cache: agent.and_then(|agent| agent.cache).map(|ttl| ttl.to_string()),
                description: agent.and_then(|agent| agent.description.clone()),
                problems: problems.len(),
            }
        };
        let listed: Vec<ListedAgent> = find_agent_files(&dir).into_iter().map(list).collect();
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
    /// Hash over everything that can change the answer; none while the tools of a server are not
    /// known.
    identity: Option<String>,
    answers: AnswerTotals,
    /// Parts that can change the answer.
    hashed: Vec<AgentPart>,
    /// Parts that cannot.
    not_hashed: Vec<AgentPart>,
    notices: Vec<String>,
}

#[derive(Serialize)]
struct AgentPart {
    part: &'static str,
    value: String,
}

impl AgentsShowArgs {
    fn run(self, app: &App) -> CommandResult {
        let agent = load_agent(app, &self.file)?;
        let mut notices = Vec::new();
        collect_notices(Some(&agent), &mut notices);
        let report = AgentShowReport {
            file: agent.path.display().to_string(),
            name: agent.name.clone(),
            dialect: dialect_name(agent.dialect),
            identity: identity_of(app, &agent)?,
            answers: AnswerTotals::of_agent(app, &agent)?,
            hashed: hashed_parts(&agent),
            not_hashed: other_parts(&agent),
            notices,
        };
        if self.json {
            ui::json(&report)?;
            return Ok(CommandAnswer::Yes);
        }
        report.notices.iter().for_each(ui::warn);
        let row = |hashed: &str, AgentPart { part, value }: &AgentPart| {
            vec![(*part).to_owned(), hashed.to_owned(), value.clone()]
        };
        let mut rows = ui::RowStream::new(&["PART", "HASHED", "VALUE"]);
        for part in &report.hashed {
            rows.add(row("yes", part))?;
        }
        for part in &report.not_hashed {
            rows.add(row("no", part))?;
        }
        rows.finish()?;
        ui::line("")?;
        let AnswerTotals { cached, paid } = &report.answers;
        let identity = report.identity.as_deref();
        let mut fields = vec![
            ("identity", identity.unwrap_or("known once its servers have been asked").to_owned()),
            ("cached answers", cached.to_string()),
        ];
        if *cached > 0 {
            fields.push(("paid for them", human::savings(*paid).join(" · ")));
        }
        ui::fields(&fields)?;
        Ok(CommandAnswer::Yes)
    }
}

/// Cached answers of an agent, and what they cost.
#[derive(Debug, Default, Serialize)]
struct AnswerTotals {
    cached: u64,
    paid: CostSavings,
}

impl AnswerTotals {
    fn of_agent(app: &App, agent: &AgentFile) -> Result<Self> {
        let mut totals = Self::default();
        for kind in [Kind::Agent, Kind::AgentRun] {
            let filter = ScanFilter { kind: Some(kind), ..ScanFilter::of_scope(&app.scope()) };
            app.cache().scan_filtered(&filter, &mut |_, head| {
                let is_of =
                    |head: &&EntryHead| head.header.identity.name.as_ref() == Some(&agent.name);
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

/// The agent's identity; none while the tools of a server are not known. Starts nothing.
fn identity_of(app: &App, agent: &AgentFile) -> Result<Option<String>> {
    let options = RunOptions { mode: CacheMode::OnlyIfCached, ..RunOptions::default() };
    let observer = TerminalObserver { streams: false, verbose: false, line: OpenLine::default() };
    let runner = AgentRunner::new(app, app.model_client(None)?, None, options, &observer);
    match runner.identity_of(agent) {
        Ok(identity) => Ok(Some(identity.digest().to_hex())),
        Err(error) if error.kind() == ErrorKind::Absent => Ok(None),
        Err(error) => Err(error),
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

fn model_names(models: &[ModelName]) -> Vec<String> {
    models.iter().map(|ModelName { provider, model }| format!("{provider}/{model}")).collect()
}

/// Parts that are hashed, as far as the file says something about them.
fn hashed_parts(agent: &AgentFile) -> Vec<AgentPart> {
    let mut parts = Vec::new();
    let mut add = |part: &'static str, value: String| {
        if !value.is_empty() {
            parts.push(AgentPart { part, value });
        }
    };
    let paths =
        |agents: &[std::sync::Arc<AgentFile>]| join(agents.iter().map(|it| shown_path(&it.path)));
    let format = |format: &MessageFormat| {
        let schema = if format.schema.is_some() { ", with a schema" } else { "" };
        format!("{:?}{schema}", format.kind).to_lowercase()
    };
    add("prompt", format!("{} characters", human::count(agent.system.chars().count() as u64)));
    add("included files", join(agent.included.iter().map(|path| shown_path(path))));
    if !agent.turns.is_empty() {
        add("user turns", agent.turns.len().to_string());
    }
    add("models", model_names(&agent.models).join(", "));
    let sampling = &agent.sampling;
    let numbers = [
        ("temperature", sampling.temperature),
        ("top_p", sampling.top_p),
        ("top_k", sampling.top_k.map(f64::from)),
        ("repeat_penalty", sampling.repeat_penalty),
    ];
    let number = |(name, value): (&str, Option<f64>)| Some(format!("{name} {}", value?));
    add("sampling", join(numbers.into_iter().filter_map(number)));
    if let Some(reasoning) = agent.reasoning {
        add(
            "reasoning",
            match reasoning {
                Reasoning::Tokens(tokens) => format!("{tokens} tokens"),
                other => format!("{other:?}").to_lowercase(),
            },
        );
    }
    add("maximum output", format!("{} tokens", agent.limits.max_output_tokens));
    add("maximum turns", agent.limits.max_turns.to_string());
    add("input", format(&agent.input));
    add("output", format(&agent.output));
    add("tools", join(agent.tools.iter().map(|tool| tool.name.clone())));
    add("servers", join(agent.servers.iter().map(|server| server.name.clone())));
    add("agents", paths(&agent.agents));
    add("advisors", paths(&agent.advisors));
    add("router", paths(&agent.router));
    add("handoff", agent.handoff.iter().map(|it| shown_path(&it.path)).collect());
    if agent.memory {
        add("memory", "the project's rules".to_owned());
    }
    parts
}

/// Parts that are not hashed, as far as the file says something about them.
fn other_parts(agent: &AgentFile) -> Vec<AgentPart> {
    let mut parts = Vec::new();
    let mut add = |part: &'static str, value: String| {
        if !value.is_empty() {
            parts.push(AgentPart { part, value });
        }
    };
    let limits = &agent.limits;
    let millis = |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    add("file", shown_path(&agent.path));
    add("name", agent.name.clone());
    add("tool name", agent.tool_name.clone());
    add("cache", agent.cache.map(|ttl| ttl.to_string()).unwrap_or_default());
    add("key", agent.cache_key.clone().unwrap_or_default());
    add("sources", agent.sources.join(", "));
    add("tags", agent.tags.join(", "));
    add(
        "time limits",
        format!(
            "model {}, tools {}",
            human::duration(millis(limits.llm_timeout)),
            human::duration(millis(limits.tool_timeout))
        ),
    );
    add("retries", limits.max_retries.to_string());
    let output = |output: &DeclaredOutput| match output {
        DeclaredOutput::File { path } => path.clone(),
        DeclaredOutput::Http { url, method, .. } => format!("{method} {url}"),
    };
    add("outputs", join(agent.outputs.iter().map(output)));
    let hooks = &agent.hooks;
    let commands = hooks.pre_run.iter().chain(&hooks.post_success).chain(&hooks.post_error);
    add("hooks", join(commands.cloned()));
    parts
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

fn shown_path(path: &Path) -> String {
    path.display().to_string()
}
