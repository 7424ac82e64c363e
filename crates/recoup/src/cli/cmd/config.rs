//! `recoup config`: shows and checks the configuration, and lists keys and variables.

use std::borrow::Cow;

use clap::{Args, Subcommand};
use recoup_core::base::project::Project;
use serde::Serialize;
use serde_json::Value;

use super::place::StoreScopeArgs;
use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::show::{
    self, ConfigLayer, InactiveReason, InactiveValue, SettingRow, ShownSettings,
};
use crate::config::{
    BaseDirs, ConfigFile, ConfigProblem, FlagOverrides, GatheredConfig, VARIABLES,
};

#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    #[command(subcommand)]
    action: ConfigCommand,
    #[command(flatten)]
    place: StoreScopeArgs,
}

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Show every key with its value
    Show(ConfigShowArgs),
    /// Report all problems; exit 2 if there are any
    Check(ConfigCheckArgs),
    /// List every key with its possible values and its meaning
    Keys(KeysArgs),
    /// List every environment variable that recoup reads, with its meaning
    Env(EnvArgs),
    /// Print the path of your configuration file, whether or not it exists
    Path(PathArgs),
}

impl ConfigArgs {
    pub(in crate::cli) fn run(self) -> CommandResult {
        let Self { action, place } = self;
        match action {
            ConfigCommand::Show(args) => args.run(&place.overrides()),
            ConfigCommand::Check(args) => args.run(&place.overrides()),
            ConfigCommand::Keys(args) => args.run(),
            ConfigCommand::Env(args) => args.run(),
            ConfigCommand::Path(args) => args.run(),
        }
    }
}

#[derive(Debug, Args)]
struct ConfigShowArgs {
    /// Also show where each value comes from, and what was overridden or ignored
    #[arg(long)]
    origin: bool,
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PlainSetting {
    key: Cow<'static, str>,
    value: Value,
}

impl ConfigShowArgs {
    fn run(self, overrides: &FlagOverrides) -> CommandResult {
        let ShownSettings { rows, left_out, notices } = show::load_rows(overrides)?;
        left_out.iter().for_each(ui::warn);
        // With origins, what was ignored is in the table.
        if !self.origin {
            notices.iter().for_each(ui::warn);
        }
        let plain = |SettingRow { key, value, .. }: SettingRow| PlainSetting { key, value };
        match (self.json, self.origin) {
            (true, true) => ui::json(&rows)?,
            (true, false) => ui::json(&rows.into_iter().map(plain).collect::<Vec<_>>())?,
            (false, true) => {
                // Each key's value, then overridden and ignored ones, except built-in defaults.
                let mut lines = Vec::new();
                for SettingRow { key, value, origin, others, .. } in &rows {
                    let origin = origin.as_ref().map_or("", |origin| &origin.place);
                    lines.push(vec![key.to_string(), value_text(value), origin.to_owned()]);
                    let said = |it: &&InactiveValue| it.origin.layer != ConfigLayer::BuiltIn;
                    for other in others.iter().filter(said) {
                        let why = match other.why {
                            InactiveReason::Overridden => "overridden",
                            InactiveReason::Untrusted => "ignored: not trusted",
                            InactiveReason::OtherScope => "ignored: for the project's own scope",
                        };
                        let origin = format!("{} ({why})", other.origin.place);
                        lines.push(vec![String::new(), value_text(&other.value), origin]);
                    }
                }
                ui::table(&["KEY", "VALUE", "ORIGIN"], &lines)?;
            }
            (false, false) => {
                let lines: Vec<_> = rows
                    .iter()
                    .map(|row| vec![row.key.to_string(), value_text(&row.value)])
                    .collect();
                ui::table(&["KEY", "VALUE"], &lines)?;
            }
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Formats a value as in a file, without quotes.
fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[derive(Debug, Args)]
struct ConfigCheckArgs {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct ConfigCheckReport {
    ok: bool,
    problems: Vec<ConfigProblem>,
    warnings: Vec<String>,
}

impl ConfigCheckArgs {
    fn run(self, overrides: &FlagOverrides) -> CommandResult {
        let (problems, warnings) = GatheredConfig::new(overrides)?.check();
        let report = ConfigCheckReport { ok: problems.is_empty(), problems, warnings };
        if self.json {
            ui::json(&report)?;
        } else {
            report.warnings.iter().for_each(ui::warn);
            report.problems.iter().for_each(ui::error);
            if report.ok {
                ui::say("The configuration is valid.");
            }
        }
        Ok(if report.ok { CommandAnswer::Yes } else { CommandAnswer::Unsound })
    }
}

#[derive(Debug, Args)]
struct KeysArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DescribedKey {
    key: &'static str,
    takes: &'static str,
    default: Option<&'static str>,
    variable: Option<&'static str>,
    meaning: &'static str,
    /// Permission for a repository's file: `yes`, `for itself`, `after trust`, `to switch it off`
    /// or `no`.
    repository: &'static str,
}

impl KeysArgs {
    fn run(self) -> CommandResult {
        let describe = |info: &'static show::KeyInfo| DescribedKey {
            key: info.name,
            takes: info.expected,
            default: info.default,
            variable: Some(info.variable.name),
            meaning: info.meaning,
            repository: match info.repository {
                show::RepositoryPermission::May => "yes",
                show::RepositoryPermission::MayForItself => "for itself",
                show::RepositoryPermission::AfterTrust => "after trust",
                show::RepositoryPermission::MaySwitchOff => "to switch it off",
                show::RepositoryPermission::MayNot => "no",
            },
        };
        // Tables and not keys, with a name for each server or model.
        let table = |key, takes, meaning| DescribedKey {
            key,
            takes,
            default: None,
            variable: None,
            meaning,
            repository: "after trust",
        };
        let tables = [
            table(
                "mcpServers",
                "a table for each server, with cache, toolsCache, readOnlyTools, neverCache and \
                 credentials; for agents with command or url, args, env, cwd, headers, \
                 toolsAllowed, toolsDenied, toolSchemas, requestTimeoutMs and enabled",
                "which results of an MCP server are cached, behind `recoup mcp proxy` and in \
                 agents, and how agents reach it, in `[mcpServers.NAME]`",
            ),
            table(
                "restTools",
                "a table for each tool, with url, method, headers, description, parametersSchema, \
                 bodyTemplate, timeout and cache",
                "HTTP requests that agents may use as tools, in `[restTools.NAME]`",
            ),
            table(
                "openapi",
                "a table for each OpenAPI document, with spec, baseUrl, headers, includeMethods, \
                 tagFilter and cache",
                "OpenAPI documents whose operations agents may use as tools, in `[openapi.NAME]`",
            ),
            table(
                "providers",
                "a table for each provider, with type, base_url and key_env",
                "further providers of models for agents, in `[providers.NAME]`, beside anthropic, \
                 openai, ollama and openrouter",
            ),
            table(
                "agents.variables",
                "a list of names of environment variables",
                "environment variables that agent files may use as `${NAME}`",
            ),
            table(
                "commands",
                "a duration or a table for each command, with ttl, sources, outputs, env and \
                 failures",
                "commands of agents that are answered from the cache, in `[commands]`",
            ),
        ];
        let gateway = DescribedKey {
            key: "gateway",
            takes: "a table, with ttl, cache, upstreams, tenants and more",
            default: None,
            variable: None,
            meaning: "how `recoup gateway` is set up",
            repository: "no",
        };
        let prices = DescribedKey {
            key: "prices",
            takes: "a table for each model, with input and output in dollars per million tokens",
            default: Some("built-in"),
            variable: None,
            meaning: "what the tokens of a model cost, in `[prices.\"MODEL\"]`: `cache set --model` \
                      computes costs from it",
            repository: "no",
        };
        let keys: Vec<DescribedKey> =
            show::all_keys().map(describe).chain(tables).chain([gateway, prices]).collect();
        if self.json {
            ui::json(&keys)?;
        } else {
            // Two columns, so that names stay whole on a narrow terminal.
            let mut rows = ui::RowStream::new(&["KEY", "MEANING"]);
            for DescribedKey { key, takes, default, variable, meaning, .. } in keys {
                let default = default.unwrap_or("none");
                let variable = variable.unwrap_or("none");
                rows.add(vec![key.to_owned(), meaning.to_owned()])?;
                rows.add(vec![String::new(), format!("takes: {takes}")])?;
                let more = format!("default: {default}; variable: {variable}");
                rows.add(vec![String::new(), more])?;
            }
            rows.finish()?;
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
struct EnvArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DescribedVariable {
    variable: &'static str,
    meaning: &'static str,
}

impl EnvArgs {
    fn run(self) -> CommandResult {
        if self.json {
            let described =
                VARIABLES.map(|var| DescribedVariable { variable: var.name, meaning: var.meaning });
            ui::json(&described.as_slice())?;
        } else {
            let rows = VARIABLES.map(|var| vec![var.name.to_owned(), var.meaning.to_owned()]);
            ui::table(&["VARIABLE", "MEANING"], &rows)?;
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
struct PathArgs {
    /// Print the path of the project's recoup.toml instead
    #[arg(long)]
    project: bool,
}

// Reads no configuration, so that a broken one can be found and mended.
impl PathArgs {
    fn run(self) -> CommandResult {
        let places = BaseDirs::find()?;
        let path = if self.project {
            Project::find(&places.cwd)?.root().join(ConfigFile::Project.name())
        } else {
            places.user_file()
        };
        ui::line(path.display())?;
        Ok(CommandAnswer::Yes)
    }
}
