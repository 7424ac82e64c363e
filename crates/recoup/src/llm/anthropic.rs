//! Anthropic's Messages: <https://docs.anthropic.com/en/api/messages>. The answer comes as the
//! input of a tool that the model has to call, so that it is JSON of our shape.

use recoup_core::Error;
use recoup_core::memory::judge::Prompt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::client::Request;
use super::endpoint::Endpoint;
use super::{Reply, not_the_api};

/// The tool that takes the answer.
const TOOL: &str = "report";

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    max_tokens: u32,
    system: &'a str,
    messages: [Message<'a>; 1],
    tools: [Tool<'a>; 1],
    tool_choice: Choice,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'static str,
    description: &'static str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct Choice {
    r#type: &'static str,
    name: &'static str,
}

#[derive(Deserialize)]
struct Answer {
    content: Vec<Block>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    text: Option<String>,
    input: Option<Box<RawValue>>,
}

pub(super) fn request(endpoint: &Endpoint, prompt: &Prompt) -> Request {
    let question = Question {
        model: &endpoint.model,
        max_tokens: prompt.most_output,
        system: prompt.system,
        messages: [Message { role: "user", content: &prompt.user }],
        tools: [Tool {
            name: TOOL,
            description: "Takes the JSON object that is the answer.",
            input_schema: &prompt.schema,
        }],
        tool_choice: Choice { r#type: "tool", name: TOOL },
    };
    Request {
        url: endpoint.url.at("v1/messages"),
        headers: &[("anthropic-version", "2023-06-01")],
        key_header: ("x-api-key", ""),
        body: serde_json::to_vec(&question).expect("text and numbers always serialize"),
    }
}

pub(super) fn reply(body: &[u8]) -> Result<Reply, Error> {
    let Answer { content, usage } = serde_json::from_slice(body).map_err(not_the_api)?;
    let called = content.iter().find(|block| block.r#type == "tool_use");
    let input = called.and_then(|block| block.input.as_ref()).map(|input| input.get().to_owned());
    let spoken = || content.iter().find_map(|block| block.text.clone());
    Ok(Reply { text: input.or_else(spoken), tokens: tokens(&usage) })
}

/// Total number of tokens, including cached ones.
fn tokens(usage: &Value) -> Option<u64> {
    let number = |name: &str| usage.get(name).and_then(Value::as_u64);
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached = cached.into_iter().filter_map(number).fold(0, u64::saturating_add);
    let both = number("input_tokens")?.saturating_add(number("output_tokens")?);
    Some(both.saturating_add(cached))
}
