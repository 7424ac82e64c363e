//! A conversation with a model, the same for every API.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A model and the provider that serves it: `provider/model`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct ModelName {
    /// Name of the provider in the configuration.
    pub(crate) provider: String,
    /// Name of the model at that provider.
    pub(crate) model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

/// One request to a model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChatRequest {
    pub(crate) system: String,
    pub(crate) messages: Vec<ChatMessage>,
    pub(crate) tools: Vec<ModelTool>,
    pub(crate) sampling: Sampling,
    pub(crate) max_output_tokens: u32,
    pub(crate) reasoning: Option<Reasoning>,
    /// True if the provider may cache the prompt (`cache_control` where the API has it).
    pub(crate) prompt_cache: bool,
    /// True if the answer is to be a JSON object: the API's JSON mode, where it has one.
    pub(crate) wants_json: bool,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", content = "content", rename_all = "snake_case")]
pub(crate) enum ChatMessage {
    User(String),
    Assistant(Vec<ReplyBlock>),
    /// Results of the tool calls in the message before.
    ToolResults(Vec<ToolCallResult>),
}

/// A part of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ReplyBlock {
    Text {
        text: String,
    },
    ToolCall(ToolCallRequest),
    /// Anything else, such as signed thinking, as the API sent it: it is sent back unchanged.
    Opaque {
        block: Value,
    },
}

/// A call that a model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolCallRequest {
    pub(crate) id: String,
    pub(crate) name: String,
    /// A JSON object, as the model wrote it.
    pub(crate) arguments: Value,
}

/// The result of a tool call, for the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolCallResult {
    /// Id of the call.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) input_schema: Value,
}

/// How the next token is chosen; none is not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sampling {
    pub(crate) temperature: Option<f64>,
    pub(crate) top_p: Option<f64>,
    pub(crate) top_k: Option<u32>,
    pub(crate) repeat_penalty: Option<f64>,
}

/// How much a model may think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reasoning {
    Minimal,
    Low,
    Medium,
    High,
    Tokens(u32),
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChatReply {
    /// The model that answered, of those that were asked in order.
    pub(crate) model: ModelName,
    pub(crate) blocks: Vec<ReplyBlock>,
    pub(crate) stop: StopReason,
    pub(crate) usage: TokenUsage,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    /// The model has said everything.
    End,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The limit of tokens was reached: the answer is cut off.
    Length,
    /// The model refused, or a filter stopped it.
    Refused,
}

/// Tokens of one or more answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TokenUsage {
    /// All tokens of the input, cached ones among them.
    pub(crate) input: u64,
    pub(crate) output: u64,
    /// Tokens of the input that the provider had cached.
    pub(crate) cached_input: u64,
}

impl AddAssign for TokenUsage {
    fn add_assign(&mut self, other: Self) {
        let Self { input, output, cached_input } = other;
        self.input = self.input.saturating_add(input);
        self.output = self.output.saturating_add(output);
        self.cached_input = self.cached_input.saturating_add(cached_input);
    }
}

impl ChatReply {
    /// The text of the answer.
    pub(crate) fn text(&self) -> String {
        let text = |block: &ReplyBlock| match block {
            ReplyBlock::Text { text } => Some(text.clone()),
            _ => None,
        };
        self.blocks.iter().filter_map(text).collect()
    }

    /// The calls that the model asks for.
    pub(crate) fn tool_calls(&self) -> impl Iterator<Item = &ToolCallRequest> {
        self.blocks.iter().filter_map(|block| match block {
            ReplyBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}
