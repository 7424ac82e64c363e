//! One run of an agent: its model is asked, tools and other agents are called for it, and the answer
//! is checked.

use std::thread;

use recoup_core::base::clock::{Clock as _, Deadline, SystemClock, Timestamp};
use recoup_core::{Error, ErrorKind, Result};
use std::fmt;

use super::agent_file::{AgentFile, FormatKind};
use super::answer::{AgentAnswer, AnswerHistory, AnswerOrigin, RunCost};
use super::calls::{agent_spec, joined, route_spec};
use super::observer::RunObserver;
use super::runner::{AgentQuestion, AgentRunner, PreparedRun};
use super::tools::Toolset;
use crate::human;
use crate::llm::{
    ChatMessage, ChatObserver, ChatReply, ChatRequest, ModelCallLimits, StopReason,
    ToolCallRequest, ToolSpec,
};

/// State of one agent's run.
pub(super) struct RunState {
    conversation: Vec<ChatMessage>,
    chunks: Vec<usize>,
    pub(super) cost: RunCost,
    pub(super) is_complete: bool,
    requests_left: u32,
}

/// End of a turn.
enum TurnEnd {
    Answer(String),
    /// Another agent has taken over.
    HandedOver(AgentAnswer),
}

impl AgentRunner<'_> {
    /// Runs an agent for real.
    pub(super) fn run(&self, prepared: &PreparedRun<'_>) -> Result<AgentAnswer> {
        let PreparedRun { agent, turns, check, .. } = prepared;
        let began = SystemClock.now();
        let limits = &agent.limits;
        if prepared.is_root
            && let Some(time) = limits.max_time
        {
            self.deadline.get_or_init(|| Deadline::after(time));
        }
        let mut state = RunState {
            conversation: if prepared.is_root { self.options.history.clone() } else { Vec::new() },
            chunks: Vec::new(),
            cost: RunCost::default(),
            is_complete: true,
            requests_left: limits.max_turns,
        };
        let toolset = self.toolset(agent)?;
        let mut tools = toolset.specs()?;
        tools.extend(agent.agents.iter().map(|other| agent_spec(other)));
        if !agent.router.is_empty() {
            tools.push(route_spec(&agent.router));
        }
        let advice = self.ask_advisors(prepared, &mut state);
        let mut answer = String::new();
        for (number, turn) in turns.iter().enumerate() {
            if turn.clear {
                state.conversation.clear();
            }
            let text =
                if number == 0 { format!("{}{advice}", turn.text) } else { turn.text.clone() };
            state.conversation.push(ChatMessage::User(text));
            answer = match self.converse(prepared, &toolset, &tools, &mut state)? {
                TurnEnd::Answer(text) => text,
                TurnEnd::HandedOver(other) => {
                    state.cost.add(&other.paid);
                    state.is_complete &= other.is_complete;
                    return Ok(self.finished(other.text, state, began));
                }
            };
        }
        let mut tries = 0;
        let text = loop {
            match check.read(&answer) {
                Ok(text) => break text,
                Err(wrong) if tries < limits.max_retries && !answer.trim().is_empty() => {
                    tries += 1;
                    self.observer.detail(format_args!("{}: asking again: {wrong}", agent.name));
                    let again = format!("This answer cannot be used: {wrong}. Answer again.");
                    state.conversation.push(ChatMessage::User(again));
                    // A repetition is not a turn of its own.
                    state.requests_left = state.requests_left.max(1);
                    answer = match self.converse(prepared, &toolset, &tools, &mut state)? {
                        TurnEnd::Answer(text) => text,
                        TurnEnd::HandedOver(other) => other.text,
                    };
                }
                Err(wrong) => {
                    let message = format!("{} gave no usable answer: {wrong}", agent.name);
                    return Err(Error::new(ErrorKind::Invalid, message));
                }
            }
        };
        let text = match &agent.handoff {
            None => text,
            Some(next) => {
                let prompt = format!(
                    "{}\n\n<answer from=\"{}\">\n{text}\n</answer>",
                    turns[0].text, agent.tool_name
                );
                let next = self.ask_agent(prepared, next, prompt)?;
                state.cost.add(&next.paid);
                state.is_complete &= next.is_complete;
                next.text
            }
        };
        // Kept under the identity of tools that are gone, it would be served for them.
        state.is_complete &= !toolset.is_outdated();
        Ok(self.finished(text, state, began))
    }

    fn finished(&self, text: String, state: RunState, began: Timestamp) -> AgentAnswer {
        let RunState { conversation, chunks, mut cost, is_complete, .. } = state;
        cost.millis = SystemClock.now().millis_since(began);
        let origin = AnswerOrigin::Fresh(AnswerHistory { conversation, chunks });
        AgentAnswer { text, origin, paid: cost, is_complete }
    }

    /// Asks the model until it answers without calling anything.
    fn converse(
        &self,
        prepared: &PreparedRun<'_>,
        toolset: &Toolset,
        tools: &[ToolSpec],
        state: &mut RunState,
    ) -> Result<TurnEnd> {
        let PreparedRun { agent, system, kind, is_root, .. } = prepared;
        loop {
            let Some(left) = state.requests_left.checked_sub(1) else {
                let message = format!(
                    "{} has no answer after {} turns (max_turns)",
                    agent.name, agent.limits.max_turns
                );
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
                deadline: self.deadline.get().copied(),
                max_retries: agent.limits.max_retries,
            };
            let mut relay = TextRelay {
                observer: self.observer,
                // JSON is shown when it is known to be valid.
                shows: *is_root && *kind != FormatKind::Json,
                chunks: Vec::new(),
            };
            let reply = self
                .client
                .ask(self.models_of(agent), &request, &limits, &mut relay)
                .map_err(|error| error.context(agent.name.clone()))?;
            state.chunks = relay.chunks;
            self.account(agent, &reply, state)?;
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
                return Ok(TurnEnd::HandedOver(routed));
            }
            let results = self.call_all(prepared, toolset, &calls, state)?;
            state.conversation.push(ChatMessage::ToolResults(results));
        }
    }

    /// Counts what a reply cost, and stops a run that has reached a limit.
    fn account(&self, agent: &AgentFile, reply: &ChatReply, state: &mut RunState) -> Result<()> {
        let usage = reply.usage;
        let price = self.app.settings.prices.price_of(&reply.model.model);
        let micro_dollars = price.map_or(0, |price| price.cost(usage.input, usage.output));
        let cost = RunCost { usage, micro_dollars, millis: 0, requests: 1 };
        state.cost.add(&cost);
        let mut total = self.total.lock();
        total.add(&cost);
        let tokens = total.usage.input.saturating_add(total.usage.output);
        let limits = &agent.limits;
        let exceeded = if limits.max_tokens.is_some_and(|most| tokens > most) {
            format!("{tokens} tokens are more than max_tokens allows")
        } else if limits.max_cost.is_some_and(|most| total.micro_dollars > most) {
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
                    state.cost.add(&answer.paid);
                    state.is_complete &= answer.is_complete;
                    let name = &advisor.tool_name;
                    advice += &format!("\n\n<advice from=\"{name}\">\n{}\n</advice>", answer.text);
                }
                Err(error) => {
                    state.is_complete = false;
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
