//! An agent's answer, and what it cost.

use recoup_core::entry::ProductionCost;
use serde::{Deserialize, Serialize};

use crate::llm::{ChatMessage, TokenUsage};

/// The answer of an agent.
#[derive(Debug, Clone)]
pub(crate) struct AgentAnswer {
    pub(crate) text: String,
    pub(crate) origin: AnswerOrigin,
    /// Cost of this run, sub-agents included; nothing for a hit.
    pub(crate) paid: RunCost,
    /// Something that it lacks and that another run might have, such as an advisor's answer, or a
    /// tool that nobody allowed. Such an answer is not kept.
    pub(crate) missing: Option<String>,
}

/// Origin of an answer.
#[derive(Debug, Clone)]
pub(crate) enum AnswerOrigin {
    /// A model gave it just now.
    Fresh(AnswerHistory),
    /// The cache, and what a fresh one had cost.
    Cached { age_millis: u64, saved: ProductionCost },
}

/// How an answer came about; stored beside it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct AnswerHistory {
    /// The conversation that led to the answer.
    pub(crate) conversation: Vec<ChatMessage>,
    /// Lengths of the pieces in which the text arrived, in bytes; none if another agent gave it.
    pub(crate) chunks: Vec<usize>,
}

/// Tokens, money and time of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct RunCost {
    pub(crate) usage: TokenUsage,
    /// In millionths of a dollar, as far as prices are known.
    pub(crate) micro_dollars: u64,
    pub(crate) millis: u64,
    /// Requests to models.
    pub(crate) requests: u32,
}

impl RunCost {
    /// Adds what a sub-agent or another request cost. Time is not added: things run side by side.
    pub(crate) fn add(&mut self, other: &Self) {
        self.usage += other.usage;
        self.micro_dollars = self.micro_dollars.saturating_add(other.micro_dollars);
        self.requests += other.requests;
    }

    /// The cost as entries keep it.
    pub(crate) fn to_production_cost(self) -> ProductionCost {
        let Self { usage, micro_dollars, millis, requests } = self;
        let known = |value: u64| (requests > 0).then_some(value);
        ProductionCost {
            millis: Some(millis),
            input_tokens: known(usage.input),
            output_tokens: known(usage.output),
            micro_dollars: known(micro_dollars).filter(|cost| *cost > 0),
        }
    }
}
