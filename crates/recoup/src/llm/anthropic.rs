//! Anthropic's Messages: <https://docs.anthropic.com/en/api/messages>. The answer comes as the
//! input of a tool that the model has to call, so that it is JSON of our shape.

use recoup_core::Error;
use recoup_core::memory::judge::JudgePrompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::ApiRequest;
use super::endpoint::ModelEndpoint;
use super::{ModelReply, unexpected_answer_error};

/// The tool that takes the answer.
const TOOL: &str = "report";

#[derive(Serialize)]
struct AnthropicRequest<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [AnthropicMessage<'a>; 1],
    tools: [AnthropicTool<'a>; 1],
    tool_choice: AnthropicToolChoice,
}

#[derive(Serialize)]
struct AnthropicMessage<'a> {
    role: &'static str,
    content: &'a str,
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

pub(super) fn build_request(endpoint: &ModelEndpoint, prompt: &JudgePrompt) -> ApiRequest {
    let question = AnthropicRequest {
        model: &endpoint.model,
        max_tokens: prompt.most_output,
        system: prompt.system,
        messages: [AnthropicMessage { role: "user", content: &prompt.user }],
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

pub(super) fn parse_reply(body: &[u8]) -> Result<ModelReply, Error> {
    let AnthropicResponse { content, usage } =
        serde_json::from_slice(body).map_err(unexpected_answer_error)?;
    let called = content.iter().find(|block| block.r#type == "tool_use");
    let input = called.and_then(|block| block.input.as_ref()).map(|input| input.get().to_owned());
    let spoken = || content.iter().find_map(|block| block.text.clone());
    Ok(ModelReply { text: input.or_else(spoken), tokens: total_tokens(&usage) })
}

/// Total number of tokens, including cached ones.
fn total_tokens(usage: &Value) -> Option<u64> {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached = cached.into_iter().filter_map(number).fold(0, u64::saturating_add);
    let both = number("input_tokens")?.saturating_add(number("output_tokens")?);
    Some(both.saturating_add(cached))
}
