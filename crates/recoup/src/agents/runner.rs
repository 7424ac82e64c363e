//! State that the agents of one run share, and the way to an answer: from the cache, or by a run.
//!
//! ```text
//! answer ── look_up_answer ──► hit ─────────────────────────────────────────► outputs, hooks
//!               └► miss ─► advisors ─► turns ─► check ─► handoff ─► keep_answer ─┘
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use recoup_core::base::clock::{Clock as _, Deadline, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{Cache, CacheMode, PathContext, Ttl};
use recoup_core::entry::ProducerIdentity;
use recoup_core::key::agent::{AgentAnswerRecipe, AgentIdentity};
use recoup_core::key::agent_run::{AgentRunRecipe, TURN_SEPARATOR};
use recoup_core::key::{EntryId, Key, KeyPart, KeyRecipe as _, Kind};
use recoup_core::memory::recall::inject::{BlockBudget, RulesBlock};
use recoup_core::{Error, Result};
use serde_json::{Value, json};

use super::agent_file::{
    AgentDialect, AgentFile, FormatKind, MessageFormat, UserTurn, VariableSyntax,
};
use super::answer::{AgentAnswer, RunCost};
use super::cached::{AnswerLookup, AnswerSlot};
use super::calls::agent_spec;
use super::file::{expand_variables, variable_names};
use super::observer::RunObserver;
use super::output::AnswerCheck;
use super::run::RunBudget;
use super::tools::{ServerPool, ToolPermission, Toolset, ToolsetOptions};
use super::withheld::withheld_values;
use crate::app::App;
use crate::llm::{Cassette, ChatMessage, ModelClient, ModelName};

/// Options of a run.
#[derive(Debug, Default)]
pub(crate) struct RunOptions {
    pub(crate) mode: CacheMode,
    pub(crate) max_age: Option<Ttl>,
    /// TTL of the flag, for every agent of the run.
    pub(crate) ttl: Option<Ttl>,
    /// Format in place of the file's, for the agent that is asked.
    pub(crate) format: Option<FormatKind>,
    /// Model in place of the files' own.
    pub(crate) model: Option<ModelName>,
    pub(crate) variables: BTreeMap<String, String>,
    /// True if a recording answers: then hooks are not run, and outputs are not written.
    pub(crate) is_replay: bool,
    /// Permission for tools that are not read-only.
    pub(crate) permission: Arc<ToolPermission>,
    /// Conversation before the prompt.
    pub(crate) history: Vec<ChatMessage>,
}

/// A question to an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct AgentQuestion {
    /// None if the file's own turns are the question.
    pub(crate) prompt: Option<String>,
    /// TTL of the agent that asks, which counts if the file has none.
    pub(crate) parent_ttl: Option<Ttl>,
    /// True for the agent that the user asked.
    pub(crate) is_root: bool,
}

/// Runs agents. Everything that the agents of one run share.
pub(crate) struct AgentRunner<'a> {
    pub(super) app: &'a App,
    pub(super) client: ModelClient,
    pub(super) cassette: Option<Arc<Cassette>>,
    pub(super) options: RunOptions,
    pub(super) observer: &'a dyn RunObserver,
    pub(super) identities: Mutex<HashMap<PathBuf, AgentIdentity>>,
    pub(super) toolsets: Mutex<HashMap<PathBuf, Arc<Toolset>>>,
    /// Servers that the agents share.
    pool: Arc<ServerPool>,
    cache: Cache,
    /// Cost of the whole run so far.
    pub(super) total: Mutex<RunCost>,
    pub(super) budget: OnceLock<RunBudget>,
    /// The project's rules, read once: an answer is kept under those that it was given.
    rules: OnceLock<Option<RulesBlock>>,
}

/// An agent that is ready to be looked up or run: no model was asked so far.
pub(crate) struct PreparedRun<'r> {
    pub(crate) agent: &'r AgentFile,
    /// System prompt, with variables, rules and the format of the answer.
    pub(super) system: String,
    /// The user's turns, with variables; at least one.
    pub(super) turns: Vec<UserTurn>,
    pub(super) check: AnswerCheck,
    pub(super) kind: FormatKind,
    pub(crate) slot: AnswerSlot,
    pub(super) ttl: Option<Ttl>,
    pub(super) is_root: bool,
}

impl PreparedRun<'_> {
    /// The check that a cached answer has to pass; none if another agent may have given it, whose
    /// run has checked it.
    fn final_check(&self) -> Option<&AnswerCheck> {
        (!self.is_answered_by_others()).then_some(&self.check)
    }

    /// True if another agent may have the last word.
    pub(crate) fn is_answered_by_others(&self) -> bool {
        self.agent.handoff.is_some() || !self.agent.router.is_empty()
    }
}

impl<'a> AgentRunner<'a> {
    /// A runner whose agents ask through `client`.
    pub(crate) fn new(
        app: &'a App,
        client: ModelClient,
        cassette: Option<Arc<Cassette>>,
        options: RunOptions,
        observer: &'a dyn RunObserver,
    ) -> Self {
        if let Err(error) = app.prepare_cache() {
            observer.warn(&error.context("nothing is cached"));
        }
        let (identities, toolsets, pool) = Default::default();
        let (total, budget, rules) = Default::default();
        let cache = app.cache();
        Self {
            app,
            client,
            cassette,
            options,
            observer,
            identities,
            toolsets,
            pool,
            cache,
            total,
            budget,
            rules,
        }
    }

    /// Answers a question, from the cache or by running the agent. Everything that an answer causes
    /// happens either way.
    pub(crate) fn answer(
        &self,
        agent: &AgentFile,
        question: &AgentQuestion,
    ) -> Result<AgentAnswer> {
        self.answer_prepared(&self.prepare(agent, question)?)
    }

    /// Like [`Self::answer`], for an agent that is prepared already.
    pub(crate) fn answer_prepared(&self, prepared: &PreparedRun<'_>) -> Result<AgentAnswer> {
        let agent = prepared.agent;
        let look_up = || prepared.slot.look_up_answer(prepared.final_check(), self.observer);
        // If nothing may be run, a miss runs no hooks either.
        let only_cached =
            (self.options.mode == CacheMode::OnlyIfCached).then(look_up).transpose()?;
        if !self.options.is_replay {
            self.before_answer(agent)?;
        }
        let answered = match only_cached.map_or_else(look_up, Ok) {
            Ok(AnswerLookup::Hit(answer)) => Ok(answer),
            Ok(AnswerLookup::Run(permit)) => self.run(prepared).inspect(|answer| {
                if let Some(permit) = permit {
                    prepared.slot.keep_answer(permit, answer, self.observer);
                }
            }),
            Err(error) => Err(error),
        };
        if self.options.is_replay {
            return answered;
        }
        self.after_answer(agent, answered)
    }

    /// Works out everything that an answer depends on.
    pub(crate) fn prepare<'r>(
        &self,
        agent: &'r AgentFile,
        question: &AgentQuestion,
    ) -> Result<PreparedRun<'r>> {
        if question.is_root {
            self.check_variables(agent)?;
            let budget = self.budget_of(agent)?;
            self.budget.get_or_init(|| budget);
        }
        let expand = |text: &str| self.expand(agent, text);
        let prompt = question
            .prompt
            .as_deref()
            .map(|prompt| UserTurn { text: prompt.to_owned(), clear: false });
        let own = agent
            .turns
            .iter()
            .map(|turn| Ok(UserTurn { text: expand(&turn.text)?, clear: turn.clear }));
        let turns: Vec<UserTurn> = prompt.into_iter().map(Ok).chain(own).collect::<Result<_>>()?;
        if turns.is_empty() {
            let message =
                format!("no prompt for {}: give it after the file, or - for stdin", agent.name);
            return Err(Error::usage(message));
        }
        let kind = self.options.format.filter(|_| question.is_root).unwrap_or(agent.output.kind);
        let schema = agent.output.schema.as_ref().filter(|_| kind == FormatKind::Json);
        let check = AnswerCheck::new(kind, schema)
            .map_err(|error| error.context(format!("{}: output.schema", agent.path.display())))?;
        let body = expand(&agent.system)?;
        let rules = self.rules_of(agent)?.map(|rules| rules.text().to_owned());
        let format = match (kind, schema) {
            (FormatKind::Text, _) => None,
            (FormatKind::Markdown, _) => Some("Answer in Markdown.".to_owned()),
            (FormatKind::Json, None) => {
                Some("Answer with one JSON value and nothing else.".to_owned())
            }
            (FormatKind::Json, Some(schema)) => Some(format!(
                "Answer with one JSON value that matches this JSON schema, and nothing else:\n{schema}"
            )),
        };
        let system: Vec<String> = [Some(body.clone()), rules, format]
            .into_iter()
            .flatten()
            .filter(|it| !it.is_empty())
            .collect();
        let ttl = self.options.ttl.or(agent.cache).or(question.parent_ttl);
        let prompt: Vec<&str> = turns.iter().map(|turn| turn.text.as_str()).collect();
        let history = &self.options.history[..];
        let counts = question.is_root && !agent.ignores_history && !history.is_empty();
        let recipe = AgentAnswerRecipe {
            identity: self.identity_of(agent)?,
            prompt: prompt.join(&TURN_SEPARATOR.to_string()),
            variables: self.used_variables(agent, ""),
            format: kind.as_str().to_owned(),
            schema: schema.map(Value::to_string),
            history: counts.then(|| Sha256Digest::of(json!(history).to_string().as_bytes())),
        };
        let slot = self.answer_slot(agent, recipe, &body, ttl)?;
        Ok(PreparedRun {
            agent,
            system: system.join("\n\n"),
            turns,
            check,
            kind,
            slot,
            ttl,
            is_root: question.is_root,
        })
    }

    /// Time limit of the run.
    pub(super) fn deadline(&self) -> Option<Deadline> {
        self.budget.get().and_then(|budget| budget.deadline)
    }

    /// The project's rules, if the agent is to be given them.
    pub(super) fn rules_of(&self, agent: &AgentFile) -> Result<Option<&RulesBlock>> {
        if !agent.memory {
            return Ok(None);
        }
        if self.rules.get().is_none() {
            let rules = self.app.rules(BlockBudget::default())?;
            return Ok(self.rules.get_or_init(|| rules).as_ref());
        }
        Ok(self.rules.get().and_then(Option::as_ref))
    }

    /// Checks that the variables of an agent, and of all that it may call, have values, and that its
    /// outputs have valid destinations.
    fn check_variables(&self, agent: &AgentFile) -> Result<()> {
        let texts = agent.turns.iter().map(|turn| &turn.text).chain([&agent.system]);
        texts.map(|text| self.expand(agent, text)).try_for_each(|text| text.map(drop))?;
        self.check_outputs(agent)?;
        agent.referred_agents().try_for_each(|other| self.check_variables(other))
    }

    /// The variables that an agent's text uses, with their values; those of the agents that it may
    /// call under `before` and their names.
    fn used_variables(&self, agent: &AgentFile, before: &str) -> BTreeMap<String, String> {
        let values = self.variables_of(agent);
        let texts = agent.turns.iter().map(|turn| &turn.text).chain([&agent.system]);
        let names = texts.flat_map(|text| variable_names(text, agent.variables));
        let mut used: BTreeMap<String, String> = names
            .filter_map(|name| {
                let name = name.strip_prefix("parameters.").unwrap_or(name);
                Some((format!("{before}{name}"), values.get(name)?.clone()))
            })
            .collect();
        for other in agent.referred_agents() {
            used.extend(self.used_variables(other, &format!("{before}{}.", other.tool_name)));
        }
        used
    }

    /// Values of the variables that an agent's text may use; what the user gives wins.
    fn variables_of(&self, agent: &AgentFile) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        match agent.variables {
            VariableSyntax::None => {}
            VariableSyntax::Dollar => {
                values = self.app.settings.agents.variable_values();
                values.retain(|name, _| agent.environment.contains(name));
            }
            VariableSyntax::Braces => {
                values.insert("agent_name".to_owned(), agent.name.clone());
                values.insert("now".to_owned(), SystemClock.now().to_second_string());
                values.insert("schedule".to_owned(), String::new());
                values.insert("tags".to_owned(), agent.tags.join(", "));
            }
        }
        values.extend(agent.parameters.iter().cloned());
        values.extend(self.options.variables.clone());
        values
    }

    /// The tools of an agent, opened once for a run.
    pub(super) fn toolset(&self, agent: &AgentFile) -> Result<Arc<Toolset>> {
        if let Some(known) = self.toolsets.lock().get(&agent.path) {
            return Ok(Arc::clone(known));
        }
        let options = ToolsetOptions {
            pool: Arc::clone(&self.pool),
            cache: self.cache.clone(),
            cassette: self.cassette.clone(),
            permission: Arc::clone(&self.options.permission),
            mode: self.options.mode,
            max_age: self.options.max_age,
        };
        let toolset = Arc::new(Toolset::open(self.app, agent, options)?);
        Ok(Arc::clone(self.toolsets.lock().entry(agent.path.clone()).or_insert(toolset)))
    }

    pub(super) fn models_of<'m>(&'m self, agent: &'m AgentFile) -> &'m [ModelName] {
        self.options.model.as_ref().map_or(&agent.models, std::slice::from_ref)
    }

    /// Digest of an agent as others see it: what it is, and how it presents itself.
    pub(super) fn as_tool(&self, agent: &AgentFile) -> Result<Sha256Digest> {
        let MessageFormat { kind, schema } = &agent.output;
        let output = json!({ "format": kind.as_str(), "schema": schema });
        let seen = json!([agent_spec(agent), self.identity_of(agent)?.digest(), output]);
        Ok(Sha256Digest::of(seen.to_string().as_bytes()))
    }

    /// The place of an answer in the cache.
    fn answer_slot(
        &self,
        agent: &AgentFile,
        recipe: AgentAnswerRecipe,
        system: &str,
        ttl: Option<Ttl>,
    ) -> Result<AnswerSlot> {
        let (parts, hash) = (recipe.parts(), recipe.identity.digest());
        let (kind, key, parts) = match (&agent.cache_key, agent.dialect) {
            // The user's own key decides alone.
            (Some(key), _) => {
                let text = self.expand(agent, key)?;
                let parts =
                    vec![KeyPart::shown("agent", &agent.name), KeyPart::shown("key", &text)];
                (Kind::Agent, Key::of(["agent key", &agent.name, &text]), parts)
            }
            (None, AgentDialect::AgentMd | AgentDialect::Lifecycle) => {
                let model = self.models_of(agent).first().map(|name| name.model.clone());
                let run = AgentRunRecipe {
                    agent: agent.name.clone(),
                    system: system.to_owned(),
                    user: recipe.prompt,
                    model: model.unwrap_or_default(),
                };
                (Kind::AgentRun, run.key()?, parts)
            }
            (None, AgentDialect::Ai | AgentDialect::Own) => (Kind::Agent, recipe.key()?, parts),
        };
        let root = self.app.settings.project.root().to_owned();
        let ttl = ttl.unwrap_or(Ttl::Off);
        Ok(AnswerSlot {
            cache: self.cache.clone(),
            kind,
            id: EntryId::new(self.app.scope(), key),
            identity: ProducerIdentity {
                name: Some(agent.name.clone()),
                namespace: None,
                hash: Some(hash.to_hex()),
            },
            parts,
            paths: PathContext { cwd: root.clone(), root },
            sources: all_sources(agent).into_iter().collect(),
            tags: agent.tags.clone(),
            ttl,
            mode: self.options.mode,
            max_age: self.options.max_age,
            withheld: withheld_values(self.app, agent),
        })
    }

    /// Puts the values of variables into a text of the agent's file.
    pub(super) fn expand(&self, agent: &AgentFile, text: &str) -> Result<String> {
        expand_variables(text, agent.variables, &self.variables_of(agent))
            .map_err(|unknown| Error::usage(format!("{}: {unknown}", agent.path.display())))
    }
}

/// Files that an agent's answer depends on, with those of the agents that it may call.
fn all_sources(agent: &AgentFile) -> BTreeSet<String> {
    let others = agent.referred_agents().flat_map(all_sources);
    others.chain(agent.sources.iter().cloned()).collect()
}
