//! Wire types of the two model APIs: Anthropic's Messages
//! (<https://docs.anthropic.com/en/api/messages>), and chat completions
//! (<https://platform.openai.com/docs/api-reference/chat>), as `OpenAI` has them, and Ollama, vLLM,
//! llama.cpp, Mistral, Groq and many others.

use recoup_core::memory::judge::JudgePrompt;
use recoup_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::ModelEndpoint;
use super::client::ApiRequest;

/// Answer of a model API.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ModelReply {
    /// Text of the model, if any.
    pub(super) text: Option<String>,
    /// Number of tokens used, if reported.
    pub(super) tokens: Option<u64>,
}

/// A message, the same in both APIs.
#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: &'a str,
}

/// The tool that takes the answer.
const TOOL: &str = "report";

#[derive(Serialize)]
struct AnthropicRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [ChatMessage<'a>; 1],
    tools: [AnthropicTool<'a>; 1],
    tool_choice: AnthropicToolChoice,
}

#[derive(Serialize)]
struct AnthropicTool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct AnthropicToolChoice {
    r#type: &'static str,
    name: &'static str,
}

#[derive(Deserialize)]
struct AnthropicResponse {
    content: Vec<AnthropicContentBlock>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct AnthropicContentBlock {
    #[serde(default)]
    r#type: String,
    text: Option<String>,
    input: Option<Box<RawValue>>,
}

/// Asks Anthropic's API. The answer comes as the input of a tool that the model has to call, so that
/// it is JSON of our shape.
pub(super) fn anthropic_request(endpoint: &ModelEndpoint, prompt: &JudgePrompt) -> ApiRequest {
    let question = AnthropicRequest {
        model: &endpoint.model,
        max_tokens: prompt.most_output,
        system: prompt.system,
        messages: [ChatMessage { role: "user", content: &prompt.user }],
        tools: [AnthropicTool {
            name: TOOL,
            description: "Takes the JSON object that is the answer.",
            input_schema: &prompt.schema,
        }],
        tool_choice: AnthropicToolChoice { r#type: "tool", name: TOOL },
    };
    ApiRequest {
        url: endpoint.url.join("v1/messages"),
        headers: &[("anthropic-version", "2023-06-01")],
        key_header: ("x-api-key", ""),
        body: serde_json::to_vec(&question).expect("text and numbers always serialize"),
    }
}

pub(super) fn anthropic_reply(body: &[u8]) -> Result<ModelReply, Error> {
    let AnthropicResponse { content, usage } =
        serde_json::from_slice(body).map_err(unexpected_answer_error)?;
    let called = content.iter().find(|block| block.r#type == "tool_use");
    let input = called.and_then(|block| block.input.as_ref()).map(|input| input.get().to_owned());
    let spoken = || content.iter().find_map(|block| block.text.clone());
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached = cached.into_iter().filter_map(number).fold(0, u64::saturating_add);
    let total = || {
        let both = number("input_tokens")?.saturating_add(number("output_tokens")?);
        Some(both.saturating_add(cached))
    };
    Ok(ModelReply { text: input.or_else(spoken), tokens: total() })
}

/// Host that has renamed `max_tokens`, and refuses the old name.
const OPENAI_HOST: &str = "api.openai.com";

/// Field of the JSON mode, as named by servers that reject it.
pub(super) const JSON_MODE_FIELD: &str = "response_format";

/// Requested format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerFormat {
    /// A JSON object, and the server sees to it.
    Json,
    /// Whatever the model says.
    Any,
}

#[derive(Serialize)]
struct OpenAiRequest<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    messages: [ChatMessage<'a>; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<OpenAiResponseFormat>,
}

#[derive(Serialize)]
struct OpenAiResponseFormat {
    r#type: &'static str,
}

#[derive(Deserialize)]
struct OpenAiResponse {
    choices: Vec<OpenAiChoice>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct OpenAiChoice {
    message: OpenAiReplyMessage,
}

#[derive(Deserialize)]
struct OpenAiReplyMessage {
    content: Option<String>,
}

pub(super) fn openai_request(
    endpoint: &ModelEndpoint,
    prompt: &JudgePrompt,
    form: AnswerFormat,
) -> ApiRequest {
    let (most, own_name) = (Some(prompt.most_output), endpoint.url.host() == OPENAI_HOST);
    let question = OpenAiRequest {
        model: &endpoint.model,
        max_tokens: most.filter(|_| !own_name),
        max_completion_tokens: most.filter(|_| own_name),
        messages: [
            ChatMessage { role: "system", content: prompt.system },
            ChatMessage { role: "user", content: &prompt.user },
        ],
        response_format: (form == AnswerFormat::Json)
            .then_some(OpenAiResponseFormat { r#type: "json_object" }),
    };
    ApiRequest {
        url: endpoint.url.join("chat/completions"),
        headers: &[],
        key_header: ("authorization", "Bearer "),
        body: serde_json::to_vec(&question).expect("text and numbers always serialize"),
    }
}

pub(super) fn openai_reply(body: &[u8]) -> Result<ModelReply, Error> {
    let OpenAiResponse { choices, usage } =
        serde_json::from_slice(body).map_err(unexpected_answer_error)?;
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let parts = || Some(number("prompt_tokens")?.saturating_add(number("completion_tokens")?));
    let text = choices.into_iter().find_map(|choice| choice.message.content);
    Ok(ModelReply { text, tokens: parts().max(number("total_tokens")) })
}

/// Error for an answer that does not match the API's documentation.
fn unexpected_answer_error(error: serde_json::Error) -> Error {
    let message = "the answer does not match this API: check judge.url and judge.provider";
    Error::new(ErrorKind::Invalid, message).with_source(error)
}
