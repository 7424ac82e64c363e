//! One run of an agent: its model is asked, tools and other agents are called for it, and the answer
//! is checked.

use std::collections::HashSet;
use std::fmt;
use std::thread;

use recoup_core::base::clock::{Clock as _, Deadline, SystemClock};
use recoup_core::{Error, ErrorKind, Result};

use super::agent_file::{AgentDialect, AgentFile, FormatKind};
use super::answer::{AgentAnswer, AnswerHistory, AnswerOrigin, RunCost};
use super::calls::{agent_spec, joined, route_spec};
use super::observer::RunObserver;
use super::runner::{AgentQuestion, AgentRunner, PreparedRun};
use super::tools::Toolset;
use crate::human;
use crate::llm::{
    ChatMessage, ChatObserver, ChatReply, ChatRequest, ModelCallLimits, ModelName, ModelTool,
    StopReason, ToolCallRequest,
};

/// State of one agent's run.
pub(super) struct RunState {
    conversation: Vec<ChatMessage>,
    chunks: Vec<usize>,
    cost: RunCost,
    missing: Option<String>,
    requests_left: u32,
}

impl RunState {
    /// Adds what another agent cost, and what its answer lacks.
    fn add_answer(&mut self, other: &AgentAnswer) {
        self.add_call(&other.paid, other.missing.clone());
    }

    /// Adds what a call cost, and what its result lacks; the first that is missing is named.
    pub(super) fn add_call(&mut self, paid: &RunCost, missing: Option<String>) {
        self.cost.add(paid);
        self.missing = self.missing.take().or(missing);
    }
}

/// End of a turn.
enum TurnEnd {
    Answer(String),
    /// Another agent has taken over, and this is its answer.
    HandedOver(String),
}

/// Limits of a whole run: those of the agent that the user asked.
#[derive(Debug, Default)]
pub(super) struct RunBudget {
    pub(super) deadline: Option<Deadline>,
    max_tokens: Option<u64>,
    max_micro_dollars: Option<u64>,
}

impl AgentRunner<'_> {
    /// Runs an agent for real.
    pub(super) fn run(&self, prepared: &PreparedRun<'_>) -> Result<AgentAnswer> {
        let agent = prepared.agent;
        let began = SystemClock.now();
        let mut state = RunState {
            conversation: if prepared.is_root { self.options.history.clone() } else { Vec::new() },
            chunks: Vec::new(),
            cost: RunCost::default(),
            missing: None,
            requests_left: 0,
        };
        let toolset = self.toolset(agent)?;
        let mut tools = toolset.specs()?;
        tools.extend(agent.agents.iter().map(|other| agent_spec(other)));
        if !agent.router.is_empty() {
            tools.push(route_spec(&agent.router));
        }
        let mut names = HashSet::new();
        if let Some(twice) = tools.iter().find(|tool| !names.insert(&tool.name)) {
            let (path, name) = (agent.path.display(), &twice.name);
            return Err(Error::usage(format!("{path}: two tools have the name {name:?}")));
        }
        let text = match self.take_turns(prepared, &toolset, &tools, &mut state)? {
            TurnEnd::HandedOver(text) => text,
            TurnEnd::Answer(text) => match &agent.handoff {
                None => text,
                Some(next) => {
                    let answer = framed("answer", &agent.tool_name, &text);
                    let prompt = format!("{}{answer}", prepared.turns[0].text);
                    let next = self.ask_agent(prepared, next, prompt)?;
                    state.add_answer(&next);
                    state.chunks.clear();
                    next.text
                }
            },
        };
        if toolset.is_outdated() {
            // Kept under the identity of tools that are gone, it would be served for them.
            let changed = "the tools of a server have changed".to_owned();
            state.add_call(&RunCost::default(), Some(changed));
        }
        let RunState { conversation, chunks, mut cost, missing, .. } = state;
        cost.millis = SystemClock.now().millis_since(began);
        let origin = AnswerOrigin::Fresh(AnswerHistory { conversation, chunks });
        Ok(AgentAnswer { text, origin, paid: cost, missing })
    }

    /// Limits of a run that begins with this agent.
    pub(super) fn budget_of(&self, agent: &AgentFile) -> Result<RunBudget> {
        let limits = &agent.limits;
        let prices = &self.app.settings.prices;
        let unpriced = |name: &&ModelName| prices.price_of(&name.model).is_none();
        if limits.max_cost.is_some()
            && let Some(ModelName { model, .. }) = self.models_of(agent).iter().find(unpriced)
        {
            return Err(Error::usage(format!(
                "{}: max_cost: the price of {model} is not known; set prices.\"{model}\" in the \
                 configuration",
                agent.path.display()
            )));
        }
        Ok(RunBudget {
            deadline: limits.max_time.map(Deadline::after),
            max_tokens: limits.max_tokens,
            max_micro_dollars: limits.max_cost,
        })
    }

    /// Takes the user's turns one by one, and asks again until the last answer can be used.
    fn take_turns(
        &self,
        prepared: &PreparedRun<'_>,
        toolset: &Toolset,
        tools: &[ModelTool],
        state: &mut RunState,
    ) -> Result<TurnEnd> {
        let PreparedRun { agent, turns, check, .. } = prepared;
        let advice = self.ask_advisors(prepared, state);
        let mut answer = String::new();
        for (number, turn) in turns.iter().enumerate() {
            if turn.clear {
                state.conversation.clear();
            }
            state.requests_left = agent.limits.max_turns;
            let advice = if number == 0 { advice.as_str() } else { "" };
            state.conversation.push(ChatMessage::User(format!("{}{advice}", turn.text)));
            match self.converse(prepared, toolset, tools, state)? {
                TurnEnd::Answer(text) => answer = text,
                handed_over @ TurnEnd::HandedOver(_) => return Ok(handed_over),
            }
        }
        let mut tries = 0;
        loop {
            let wrong = match check.read(&answer) {
                Ok(text) => return Ok(TurnEnd::Answer(text)),
                Err(wrong) => wrong,
            };
            if tries == agent.limits.max_retries || answer.trim().is_empty() {
                let message = format!("{} gave no usable answer: {wrong}", agent.name);
                return Err(Error::new(ErrorKind::Invalid, message));
            }
            tries += 1;
            self.observer.detail(format_args!("{}: asking again: {wrong}", agent.name));
            let again = format!("This answer cannot be used: {wrong}. Answer again.");
            state.conversation.push(ChatMessage::User(again));
            // A repetition is not a turn of its own.
            state.requests_left = state.requests_left.max(1);
            match self.converse(prepared, toolset, tools, state)? {
                TurnEnd::Answer(text) => answer = text,
                handed_over @ TurnEnd::HandedOver(_) => return Ok(handed_over),
            }
        }
    }

    /// Asks the model until it answers without calling anything.
    fn converse(
        &self,
        prepared: &PreparedRun<'_>,
        toolset: &Toolset,
        tools: &[ModelTool],
        state: &mut RunState,
    ) -> Result<TurnEnd> {
        let PreparedRun { agent, system, kind, is_root, .. } = prepared;
        loop {
            let Some(left) = state.requests_left.checked_sub(1) else {
                let limit = match agent.dialect {
                    AgentDialect::AgentMd | AgentDialect::Lifecycle => "tool_rounds",
                    AgentDialect::Ai => "maxTurns",
                    AgentDialect::Own => "max_turns",
                };
                let turns = agent.limits.max_turns;
                let message = format!("{} has no answer after {turns} turns ({limit})", agent.name);
                return Err(Error::new(ErrorKind::Invalid, message));
            };
            state.requests_left = left;
            let request = ChatRequest {
                system: system.clone(),
                messages: state.conversation.clone(),
                tools: tools.to_vec(),
                sampling: agent.sampling.clone(),
                max_output_tokens: agent.limits.max_output_tokens,
                reasoning: agent.reasoning,
                prompt_cache: agent.prompt_cache,
                wants_json: *kind == FormatKind::Json,
            };
            let limits = ModelCallLimits {
                timeout: agent.limits.llm_timeout,
                deadline: self.deadline(),
                max_retries: agent.limits.max_retries,
            };
            let mut relay = TextRelay {
                observer: self.observer,
                // JSON is shown when it is known to be valid, and a draft for another agent not at all.
                shows: *is_root && *kind != FormatKind::Json && !prepared.is_answered_by_others(),
                chunks: Vec::new(),
            };
            let reply = self
                .client
                .ask(self.models_of(agent), &request, &limits, &mut relay)
                .map_err(|error| error.context(agent.name.clone()))?;
            state.chunks = relay.chunks;
            self.count_cost(agent, &reply, state)?;
            let calls: Vec<ToolCallRequest> = reply.tool_calls().cloned().collect();
            let text = reply.text();
            state.conversation.push(ChatMessage::Assistant(reply.blocks));
            match reply.stop {
                StopReason::Refused => {
                    let message = format!("{}: the model refused to answer", agent.name);
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
                StopReason::Length => {
                    let message = format!(
                        "{}: the answer was cut off after {} tokens; raise max_output_tokens",
                        agent.name, agent.limits.max_output_tokens
                    );
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
                StopReason::End | StopReason::ToolCalls if calls.is_empty() => {
                    return Ok(TurnEnd::Answer(text));
                }
                StopReason::End | StopReason::ToolCalls => {}
            }
            if let Some(routed) = self.route(prepared, &calls)? {
                state.add_answer(&routed);
                state.chunks.clear();
                return Ok(TurnEnd::HandedOver(routed.text));
            }
            let results = self.call_all(prepared, toolset, &calls, state)?;
            state.conversation.push(ChatMessage::ToolResults(results));
        }
    }

    /// Counts what a reply cost, and stops a run that has reached a limit.
    fn count_cost(&self, agent: &AgentFile, reply: &ChatReply, state: &mut RunState) -> Result<()> {
        let usage = reply.usage;
        let price = self.app.settings.prices.price_of(&reply.model.model);
        let micro_dollars = price.map_or(0, |price| price.cost(usage.input, usage.output));
        let cost = RunCost { usage, micro_dollars, millis: 0, requests: 1 };
        state.cost.add(&cost);
        let mut total = self.total.lock();
        total.add(&cost);
        let tokens = total.usage.input.saturating_add(total.usage.output);
        let Some(budget) = self.budget.get() else { return Ok(()) };
        let exceeded = if budget.max_tokens.is_some_and(|most| tokens > most) {
            format!("{tokens} tokens are more than max_tokens allows")
        } else if budget.max_micro_dollars.is_some_and(|most| total.micro_dollars > most) {
            format!("{} are more than max_cost allows", human::dollars(total.micro_dollars))
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Invalid, format!("{}: stopped: {exceeded}", agent.name)))
    }

    /// Asks the advisors, all at the same time; returns their advice for the prompt.
    fn ask_advisors(&self, prepared: &PreparedRun<'_>, state: &mut RunState) -> String {
        let prompt = &prepared.turns[0].text;
        let answers: Vec<(&AgentFile, Result<AgentAnswer>)> = thread::scope(|scope| {
            let advisors = prepared.agent.advisors.iter();
            let asked: Vec<_> = advisors
                .map(|it| (it, scope.spawn(|| self.ask_agent(prepared, it, prompt.clone()))))
                .collect();
            asked.into_iter().map(|(it, answer)| (&**it, joined(answer))).collect()
        });
        let mut advice = String::new();
        for (advisor, answer) in answers {
            match answer {
                Ok(answer) => {
                    state.add_answer(&answer);
                    advice += &framed("advice", &advisor.tool_name, &answer.text);
                }
                Err(error) => {
                    let missing = format!("the advisor {} failed", advisor.name);
                    state.add_call(&RunCost::default(), Some(missing));
                    self.observer.warn(&error.context(format!("advisor {}", advisor.name)));
                }
            }
        }
        advice
    }

    pub(super) fn ask_agent(
        &self,
        parent: &PreparedRun<'_>,
        agent: &AgentFile,
        prompt: String,
    ) -> Result<AgentAnswer> {
        let question =
            AgentQuestion { prompt: Some(prompt), parent_ttl: parent.ttl, is_root: false };
        self.answer(agent, &question)
    }
}

/// Another agent's text in a frame that it cannot leave.
fn framed(tag: &str, from: &str, text: &str) -> String {
    let text = text.replace(&format!("</{tag}"), &format!("<\\/{tag}"));
    format!("\n\n<{tag} from=\"{from}\">\n{text}\n</{tag}>")
}

/// Passes a model's text on, and remembers its pieces.
struct TextRelay<'a> {
    observer: &'a dyn RunObserver,
    shows: bool,
    chunks: Vec<usize>,
}

impl ChatObserver for TextRelay<'_> {
    fn text(&mut self, piece: &str) {
        self.chunks.push(piece.len());
        if self.shows {
            self.observer.text(piece);
        }
    }

    fn restarted(&mut self) {
        self.chunks.clear();
        if self.shows {
            self.observer.restarted();
        }
    }

    fn notice(&mut self, line: fmt::Arguments<'_>) {
        self.observer.notice(line);
    }

    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}
