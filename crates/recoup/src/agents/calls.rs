//! The calls that a model asks for: tools, and other agents as tools.

use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};

use recoup_core::base::text::shorten_text;
use recoup_core::{Error, ErrorKind, Result};
use serde_json::{Value, json};

use super::agent_file::{AgentFile, FormatKind};
use super::answer::{AgentAnswer, AnswerOrigin, RunCost};
use super::run::RunState;
use super::runner::{AgentRunner, PreparedRun};
use super::tools::{ToolCallLimits, Toolset};
use crate::llm::{ModelTool, ToolCallRequest, ToolCallResult};

/// Argument in which a model says, for people, why it calls something.
const REASON: &str = "reason";
/// Argument with the question for another agent.
const PROMPT: &str = "prompt";
/// Tool by which a router chooses.
const ROUTE: &str = "hand_over_to";
/// Argument with the agent that a router chooses.
const DESTINATION: &str = "agent";
/// Longest reason, and longest arguments, that are shown.
const MAX_REASON_CHARS: usize = 200;
/// Longest failure of a tool that is shown.
const MAX_NOTICE_CHARS: usize = 400;

impl AgentRunner<'_> {
    /// Lets the agent take over that a router chose; none if it chose none.
    pub(super) fn route(
        &self,
        prepared: &PreparedRun<'_>,
        calls: &[ToolCallRequest],
    ) -> Result<Option<AgentAnswer>> {
        let router = &prepared.agent.router;
        let Some(call) = calls.iter().find(|call| call.name == ROUTE && !router.is_empty()) else {
            return Ok(None);
        };
        let chosen = call.arguments.get(DESTINATION).and_then(Value::as_str).unwrap_or_default();
        let Some(next) = router.iter().find(|agent| agent.tool_name == chosen) else {
            let message =
                format!("{} chose {chosen:?}, which is none of its agents", prepared.agent.name);
            return Err(Error::new(ErrorKind::Invalid, message));
        };
        self.show_call(&next.name, call);
        self.ask_agent(prepared, next, prepared.turns[0].text.clone()).map(Some)
    }

    /// Makes the calls of one reply: those that only read, and other agents, at the same time; the
    /// others one after the other.
    pub(super) fn call_all(
        &self,
        prepared: &PreparedRun<'_>,
        toolset: &Toolset,
        calls: &[ToolCallRequest],
        state: &mut RunState,
    ) -> Result<Vec<ToolCallResult>> {
        let most = prepared.agent.limits.max_tool_calls_per_turn as usize;
        let sub_agent = |call: &ToolCallRequest| {
            prepared.agent.agents.iter().find(|agent| agent.tool_name == call.name)
        };
        let mut outcomes: Vec<Option<Result<CallOutcome>>> = thread::scope(|scope| {
            let begun = calls.iter().take(most).map(|call| {
                let agent = sub_agent(call);
                let at_once = agent.is_some() || toolset.is_read_only(&call.name);
                at_once.then(|| {
                    scope.spawn(move || match agent {
                        Some(agent) => Ok(self.call_agent(prepared, agent, call)),
                        None => self.call_tool(prepared, toolset, call),
                    })
                })
            });
            let begun: Vec<_> = begun.collect();
            begun.into_iter().map(|running| running.map(joined)).collect()
        });
        outcomes.resize_with(calls.len(), || None);
        let mut results = Vec::with_capacity(calls.len());
        for (number, (call, outcome)) in calls.iter().zip(outcomes).enumerate() {
            let outcome = match outcome {
                Some(outcome) => outcome?,
                None if number >= most => CallOutcome::failed(format!(
                    "not called: at most {most} calls are allowed at once; repeat it in the next turn"
                )),
                None => self.call_tool(prepared, toolset, call)?,
            };
            let CallOutcome { text, is_error, paid, missing } = outcome;
            state.add_call(&paid, missing);
            results.push(ToolCallResult { id: call.id.clone(), text, is_error });
        }
        Ok(results)
    }

    fn call_tool(
        &self,
        prepared: &PreparedRun<'_>,
        toolset: &Toolset,
        call: &ToolCallRequest,
    ) -> Result<CallOutcome> {
        self.show_call(&call.name, call);
        let limits = ToolCallLimits {
            timeout: prepared.agent.limits.tool_timeout,
            max_bytes: prepared.agent.limits.tool_response_max_bytes,
            deadline: self.deadline(),
        };
        let answer = toolset.call(call, &limits, &|| self.observer.is_cancelled())?;
        if answer.is_error && answer.unkept.is_some() {
            // The user can do something about it; the model cannot.
            self.observer.notice(format_args!("{}", shorten_text(&answer.text, MAX_NOTICE_CHARS)));
        } else if answer.from_cache {
            self.observer.detail(format_args!("{}: from the cache", call.name));
        }
        Ok(CallOutcome {
            text: answer.text,
            is_error: answer.is_error,
            paid: RunCost::default(),
            missing: answer.unkept,
        })
    }

    fn call_agent(
        &self,
        prepared: &PreparedRun<'_>,
        agent: &AgentFile,
        call: &ToolCallRequest,
    ) -> CallOutcome {
        self.show_call(&agent.name, call);
        let prompt = match prompt_of(&call.arguments) {
            Ok(prompt) => prompt,
            Err(error) => return CallOutcome::failed(error.to_string()),
        };
        match self.ask_agent(prepared, agent, prompt) {
            Ok(AgentAnswer { text, origin, paid, missing }) => {
                if let AnswerOrigin::Cached { .. } = origin {
                    self.observer.detail(format_args!("{}: from the cache", agent.name));
                }
                CallOutcome { text, is_error: false, paid, missing }
            }
            Err(error) => {
                let missing = Some(format!("the agent {} failed", agent.name));
                CallOutcome { missing, ..CallOutcome::failed(error.to_string()) }
            }
        }
    }

    /// Shows people what is called, and why.
    fn show_call(&self, name: &str, call: &ToolCallRequest) {
        let reason = call.arguments.get(REASON).and_then(Value::as_str);
        if let Some(reason) = reason {
            let reason = shorten_text(reason, MAX_REASON_CHARS);
            self.observer.detail(format_args!("{name}: {reason}"));
        } else {
            let arguments = call.arguments.to_string();
            let arguments = shorten_text(&arguments, MAX_REASON_CHARS);
            self.observer.detail(format_args!("{name} {arguments}"));
        }
    }
}

/// End of a call of a tool or of another agent.
struct CallOutcome {
    text: String,
    is_error: bool,
    paid: RunCost,
    missing: Option<String>,
}

impl CallOutcome {
    fn failed(text: String) -> Self {
        Self { text, is_error: true, paid: RunCost::default(), missing: None }
    }
}

/// An agent as a tool of another.
pub(crate) fn agent_spec(agent: &AgentFile) -> ModelTool {
    let described = [agent.description.as_deref(), agent.usage.as_deref()];
    let described: Vec<&str> = described.into_iter().flatten().collect();
    let prompt = match (agent.input.kind, &agent.input.schema) {
        (FormatKind::Json, Some(schema)) => schema.clone(),
        _ => {
            json!({ "type": "string", "description": "The question, with all that is needed to answer it." })
        }
    };
    let reason = json!({ "type": "string", "description": "Why you ask, in a few words, for people to read." });
    ModelTool {
        name: agent.tool_name.clone(),
        description: if described.is_empty() {
            format!("Asks the agent {}.", agent.name)
        } else {
            described.join("\n")
        },
        input_schema: json!({
            "type": "object",
            "properties": { PROMPT: prompt, REASON: reason },
            "required": [PROMPT],
        }),
    }
}

/// The question in the arguments of a call of an agent.
pub(crate) fn prompt_of(arguments: &Value) -> Result<String> {
    match arguments.get(PROMPT) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value) => Ok(value.to_string()),
        None => Err(Error::usage(format!("the argument {PROMPT:?} is missing"))),
    }
}

/// The tool by which a router chooses an agent.
pub(super) fn route_spec(agents: &[Arc<AgentFile>]) -> ModelTool {
    let names: Vec<&str> = agents.iter().map(|agent| agent.tool_name.as_str()).collect();
    let about = agents.iter().map(|agent| {
        let about = agent.description.as_deref().unwrap_or(&agent.name);
        format!("- {}: {about}", agent.tool_name)
    });
    let about: Vec<String> = about.collect();
    let reason =
        json!({ "type": "string", "description": "Why, in a few words, for people to read." });
    ModelTool {
        name: ROUTE.to_owned(),
        description: format!("Lets another agent answer the user:\n{}", about.join("\n")),
        input_schema: json!({
            "type": "object",
            "properties": { DESTINATION: { "type": "string", "enum": names }, REASON: reason },
            "required": [DESTINATION],
        }),
    }
}

/// Result of a thread.
pub(super) fn joined<T>(running: ScopedJoinHandle<'_, T>) -> T {
    running.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
